"""`tg-plan` merges the buffers of a program in whatever order they and their views are."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from executors import run_grid
from expression import Expression, function
from programs import Program
from random_seeds import batches
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from tgdialect.lowering.pipeline import run_stages, stages
from tgdialect.ops.attributes import ReduceKind
from tgdialect.ops.codegen import ProgramOp
from tgdialect.ops.dtypes import F32
from tgdialect.ops.elementwise import AddOp, MulOp
from tgdialect.ops.movement import IndexOp, ReshapeOp
from tgdialect.ops.source import BufferOp, ConstOp, VConstOp

MOVED = (BufferOp, ConstOp, VConstOp, IndexOp, ReshapeOp, AddOp, MulOp)


REPEATS = 4


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_BUFFERS", 10), ids=str)
def test_maxima(seeds: range):
    """Each of the maxima of a row takes buffers for a short time: REG, and LOCAL for long rows."""
    for seed in seeds:
        random = Random(seed)
        rows, columns = random.randint(1, 80), random.choice((5, 300, 1000))
        program = distances_to_maxima(rows, columns)
        lowering = stages(target="opencl", mode="heuristic")
        *before, plan, _ = lowering
        module = program.module
        run_stages(module, tuple(before))
        for op in module.ops:
            if isinstance(op, ProgramOp):
                shuffle(op.linear.body.block, random)
        module.verify()
        count = buffers(module)
        plan.lower(module)
        module.verify()
        assert buffers(module) < count, f"seed {seed}"
        (result,) = run_grid(module, program.inputs)
        np.testing.assert_array_equal(result, program.expected, f"seed {seed}")


def distances_to_maxima(rows: int, columns: int) -> Program:
    """Take each row from its maximum, again and again."""
    x = np.random.default_rng(rows).integers(-50, 50, (rows, columns)).astype(np.float32)

    def body(x: Expression) -> Expression:
        for _ in range(REPEATS):
            x = x.reduce(ReduceKind.MAX, -1).expand(*x.shape) - x
        return x

    expected = x
    for _ in range(REPEATS):
        expected = expected.max(-1, keepdims=True) - expected
    return Program(function([(x.shape, F32)], body), (x,), expected)


def buffers(module: ModuleOp) -> int:
    programs = [op for op in module.ops if isinstance(op, ProgramOp)]
    return sum(isinstance(op, BufferOp) for program in programs for op in program.walk())


def shuffle(block: Block, random: Random) -> None:
    """Move the buffers, and what is computed from them and constants, to the start of a block: in
    any order, each view as early as it can be."""
    moved: list[Operation] = []
    for op in block.ops:
        if isinstance(op, MOVED) and all(o.owner in moved for o in op.operands):
            moved.append(op)
    for op in moved:
        op.detach()
    first, left = block.first_op, set(moved)
    while left:
        ready = [op for op in moved if op in left and left.isdisjoint(o.owner for o in op.operands)]
        op = random.choice([op for op in ready if not isinstance(op, BufferOp)] or ready)
        left.remove(op)
        block.insert_op_before(op, first) if first else block.add_op(op)
