"""`tg-plan` merges the buffers of a program in whatever order they and their views are."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from compositions import sort
from executors import run_grid
from random_seeds import batches
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from tgdialect.lowering.pipeline import run_stages, stages
from tgdialect.ops.codegen import ProgramOp
from tgdialect.ops.elementwise import AddOp, MulOp
from tgdialect.ops.movement import IndexOp, ReshapeOp
from tgdialect.ops.source import BufferOp, ConstOp, VConstOp

MOVED = (BufferOp, ConstOp, VConstOp, IndexOp, ReshapeOp, AddOp, MulOp)


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_BUFFERS", 10), ids=str)
def test_sorts(seeds: range):
    """Comparisons in registers use many buffers for a short time."""
    merged = 0
    for seed in seeds:
        program = sort((9 + seed % 4,), 0)
        lowering = stages(target="opencl", mode="heuristic")
        module = program.module.clone()
        *before, plan = [*lowering.module, *lowering.kernels]
        run_stages(module, tuple(before))
        for op in module.ops:
            if isinstance(op, ProgramOp):
                shuffle(op.linear.body.block, Random(seed))
        module.verify()
        count = buffers(module)
        plan.lower(module)
        module.verify()
        merged += count - buffers(module)
        (result,) = run_grid(module, program.inputs)
        np.testing.assert_array_equal(result, program.expected, f"seed {seed}")
    assert merged


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
