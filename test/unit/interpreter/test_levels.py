"""The examples, interpreted after every stage: each gives what the program on tensors gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func

from tgdialect.dialect import TG
from tgdialect.interpreter import run
from tgdialect.lowering.pipeline import stages
from tgdialect.ops.arrays import numpy_dtype_of
from tgdialect.ops.properties import tensor

EXAMPLES = Path(__file__).parents[3] / "examples"
NAMES = ["arange", "attention", "gather", "gemm", "layernorm", "mlp", "prefix_sum", "scatter_add"]


def make_inputs(function, seed):
    """Small integers, exact in every dtype, or indices."""
    rng = np.random.default_rng(seed)
    return [
        rng.integers(0, 3, tensor(value).get_shape()).astype(numpy_dtype_of(value))
        for value in function.body.block.args
    ]


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("lanes", "scalar"),
    [(1 << 24, False), (4, False), (1, True)],
    ids=["lanes", "lanes in parts", "scalar"],
)
@pytest.mark.parametrize("name", [*NAMES, "softmax", "threefry"])
def test_every_level_gives_the_same(parse, monkeypatch, name, lanes, scalar):
    monkeypatch.setattr("tgdialect.interpreter.lane_run._MAX_LANES_AT_ONCE", lanes)
    module = parse((EXAMPLES / f"{name}.mlir").read_text())
    function = module.body.block.first_op
    inputs = make_inputs(function, 0)
    expected = run(module, function.sym_name.data, inputs)
    context = Context()
    for dialect in (Builtin, Func, TG):
        context.load_dialect(dialect)
    for stage in replace(stages(), render=None):
        stage.apply(context, module)
        results = run(module, function.sym_name.data, inputs, scalar=scalar)
        assert len(results) == len(expected)
        for result, wanted in zip(results, expected, strict=True):
            assert result.dtype == wanted.dtype
            np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-6, err_msg=stage.name)
