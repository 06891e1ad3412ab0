"""A module that says its target in `tg.target` computes what it computes anywhere."""

import numpy as np
import pytest

import tgdialect as tg

PROGRAM = """
module attributes {tg.target = #tg.target<"cpu", TARGET>} {
  func.func @main(%a: tensor<33x24xf32>, %b: tensor<24x19xf32>) -> tensor<33x19xf32> {
    %columns = tg.reshape %a [33, 24, 1] : tensor<33x24xf32> -> tensor<33x24x1xf32>
    %rows = tg.reshape %b [1, 24, 19] : tensor<24x19xf32> -> tensor<1x24x19xf32>
    %p = tg.mul %columns, %rows : (tensor<33x24x1xf32>, tensor<1x24x19xf32>)
        -> tensor<33x24x19xf32>
    %dots = tg.reduce add %p [1] : tensor<33x24x19xf32> -> tensor<33x1x19xf32>
    %result = tg.reshape %dots [33, 19] : tensor<33x1x19xf32> -> tensor<33x19xf32>
    return %result : tensor<33x19xf32>
  }
}
"""


@pytest.mark.parametrize(
    "target",
    [
        "vector_bits = 64, vector_registers = 2, threads = 1, l1 = 4096",
        'features = ["avx2"], threads = 2, llc = 1024',
        "threads = 1",
    ],
)
def test_numbers(target: str) -> None:
    generator = np.random.default_rng(0)
    a, b = (generator.standard_normal(s).astype(np.float32) for s in ((33, 24), (24, 19)))
    executable = tg.compile(PROGRAM.replace("TARGET", target))
    np.testing.assert_allclose(executable(a, b), a @ b, rtol=1e-4, atol=1e-5)
