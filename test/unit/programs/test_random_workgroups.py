"""Random programs for a grid, with the BARRIERs that `insert_barriers` finds.

No access races then, and the interpreter's two ways and the cpu agree. Without any one of these
BARRIERs the interpreter reports a race: they are where they are needed, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pytest
from parsing import parse_module
from random_seeds import batches
from random_workgroups import RandomWorkgroup
from reproduced import check_program, raised
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import InterpretationError

import tgdialect as tg
from tgdialect.interpreter import run
from tgdialect.ops.codegen import BarrierOp, ProgramOp
from tgdialect.transforms.barriers import insert_barriers


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_WORKGROUPS", 20), ids=str)
def test_barriers_are_where_they_are_needed(seeds: range):
    for seed in seeds:
        program = RandomWorkgroup(seed)
        module = parse_module(f"{program.text}\n{_host(program.size)}")
        x = np.random.default_rng(seed).integers(-(2**31), 2**31, program.size).astype("i4")
        wrong = raised(partial(_difference, seed=seed))
        check_program(wrong, f"RandomWorkgroup({seed})", module, [x], again="tg-opt")


def _difference(module: ModuleOp, inputs: Sequence[np.ndarray], *, seed: int) -> str:
    """The failure of a program after `insert_barriers`; nothing if all is right."""
    kernel = module.body.block.first_op
    assert isinstance(kernel, ProgramOp)
    block = kernel.linear.body.block
    insert_barriers(block)
    (x,) = inputs
    lanes, scalar = (_interpreted(module, x, scalar=each) for each in (False, True))
    cpu = tg.compile(module, allow_custom=True)(x)
    if not np.array_equal(lanes, scalar) or not np.array_equal(lanes, cpu):
        return f"{lanes}\n{scalar}\n{cpu}"
    barriers = [op for op in block.ops if isinstance(op, BarrierOp)]
    # One of them for each program, in one of the two ways: that keeps the test short.
    if barriers:
        barriers[seed % len(barriers)].detach()
        if not _races(module, x, scalar=bool(seed % 2)):
            return "a barrier is not needed"
    return ""


def _interpreted(module: ModuleOp, x: np.ndarray, *, scalar: bool) -> np.ndarray:
    out = np.zeros_like(x)
    run(module, "k", [out, x], scalar=scalar)
    return out


def _races(module: ModuleOp, x: np.ndarray, *, scalar: bool) -> bool:
    try:
        _interpreted(module, x, scalar=scalar)
    except InterpretationError as error:
        return str(error).startswith("race: work item")
    return False


def _host(size: int) -> str:
    memory = f'tensor<{size}xi32, #tg.place<"CPU", global>>'
    return f"""func.func @main(%o: {memory} {{tg.output}}, %x: {memory}) {{
      %l = tg.linear {{ %c = tg.call @k(%o, %x) : ({memory}, {memory}) -> !tg.void }}
      func.return }}"""
