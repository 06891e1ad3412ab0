"""FUNCTIONs that are large and alike are outlined by themselves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from parsing import tg_context
from stages import parse
from xdsl.dialects.func import FuncOp

from tgdialect.interpreter import run
from tgdialect.lowering.callify import CallifyPass
from tgdialect.lowering.callify.outlining import OUTLINED_OPS

TYPE = "tensor<4xf64>"


def chain(sizes: Sequence[int]) -> str:
    """FUNCTIONs one after the other; each doubles its argument over and over, in so many ops."""
    lines = [f"func.func @main(%x0: {TYPE}) -> {TYPE} {{"]
    for i, size in enumerate(sizes):
        lines += [f"%f{i} = tg.function(%x{i}) {{", f"%v{i}_0 = tg.param 0 : {TYPE}"]
        lines += [f"%v{i}_{j + 1} = tg.add %v{i}_{j}, %v{i}_{j} : {TYPE}" for j in range(size - 2)]
        lines += [
            f"tg.tuple %v{i}_{size - 2} : {TYPE} -> !tg.tuple<{TYPE}>",
            f"}} : {TYPE} -> !tg.tuple<{TYPE}>",
            f"%x{i + 1} = tg.gettuple %f{i} 0 : !tg.tuple<{TYPE}> -> {TYPE}",
        ]
    return "\n".join([*lines, f"func.return %x{len(sizes)} : {TYPE}", "}"])


@pytest.mark.parametrize(
    ("sizes", "outlined"),
    [
        ([OUTLINED_OPS - 1] * 3, 0),
        ([OUTLINED_OPS], 0),
        ([OUTLINED_OPS] * 3, 1),
        ([OUTLINED_OPS, OUTLINED_OPS + 1], 0),
        ([OUTLINED_OPS, OUTLINED_OPS + 1] * 2, 2),
    ],
)
def test_the_size_rule(sizes: list[int], outlined: int) -> None:
    module = parse(chain(sizes))
    x = np.array([0.0, 1.0, -2.0, 0.5])
    CallifyPass().apply(tg_context(), module)
    module.verify()
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    assert len(functions) == 1 + outlined
    (result,) = run(module, "main", [x])
    np.testing.assert_array_equal(result, x * 2.0 ** (sum(sizes) - 2 * len(sizes)))
