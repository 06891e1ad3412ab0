"""A module that says its target in `tg.target` computes what it computes anywhere."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr

import tgdialect as tg
from tgdialect.targets.attribute import TargetAttr, target_of
from tgdialect.targets.cpu import cpu

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


def test_a_feature_is_removed_where_it_stands_in_the_list():
    features = StringAttr("avx2"), StringAttr("-avx"), StringAttr("f16c")
    stated = TargetAttr(StringAttr("cpu"), DictionaryAttr({"features": ArrayAttr(features)}))
    module = ModuleOp([], {"tg.target": stated})
    assert target_of(module) == cpu(["f16c"])
    assert target_of(module, features=["avx512bw", "-avx512f"]) == cpu(["avx2", "f16c", "fma"])
    assert target_of(module, features=["-avx512f", "avx512bw"]) == cpu(["avx512bw"])


def test_armv8_has_a_multiply_accumulate_and_converts_f16():
    assert "mulacc" in cpu(["neon"]).native
    assert cpu(["neon"]).converted == cpu(["fp-armv8"]).converted == {"f16"}
