"""Equal ops of a module are verified once: of many, the wrong one is found wherever it is."""

from __future__ import annotations

from random import Random

import pytest
from random_seeds import batches
from xdsl.dialects.builtin import DenseArrayBase, f32, i64

from tgdialect.diagnostics import CompilationError, SourceFile, parse_module, verify_module
from tgdialect.ops.base import TgOp
from tgdialect.ops.movement import PermuteOp, ReshapeOp
from tgdialect.ops.properties import tensor_type
from tgdialect.registry import make_context

TYPE = "tensor<4x4xf32>"
LAYER = (
    "%a{n} = tg.add %x{n}, %x{n} : " + TYPE,
    "%p{n} = tg.permute %a{n} [1, 0] : " + TYPE + " -> " + TYPE,
    "%r{n} = tg.reshape %p{n} [16] : " + TYPE + " -> tensor<16xf32>",
    "%s{n} = tg.reshape %r{n} [4, 4] : tensor<16xf32> -> " + TYPE,
    "%x{m} = tg.mul %s{n}, %x{n} : " + TYPE,
)


def text(layers: int) -> str:
    """A function of equal layers."""
    lines = [line.format(n=n, m=n + 1) for n in range(layers) for line in LAYER]
    body = "\n".join([*lines, f"func.return %x{layers} : {TYPE}"])
    return f"func.func @main(%x0: {TYPE}) -> {TYPE} {{\n{body}\n}}"


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_KINDS", 20), ids=str)
def test_one_wrong_op_among_equal_ones(seeds: range):
    for seed in seeds:
        random = Random(seed)
        module = parse_module(make_context(), SourceFile("test", text(8), 1))
        verify_module(module)
        ops = [op for op in module.walk() if isinstance(op, TgOp)]
        wrong = random.choice(ops)
        if isinstance(wrong, PermuteOp) and random.random() < 0.5:
            wrong.properties["order"] = DenseArrayBase.from_list(i64, [0, 0])
        elif isinstance(wrong, ReshapeOp) and random.random() < 0.5:
            wrong.properties["shape"] = DenseArrayBase.from_list(i64, [3])
        else:
            setattr(wrong.results[0], "_type", tensor_type(f32, (2, 2)))  # noqa: B010
        with pytest.raises(CompilationError) as error:
            verify_module(module)
        assert str(error.value).startswith(f"test:{ops.index(wrong) + 2}:"), seed
