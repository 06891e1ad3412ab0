"""The interpreter's lanes compute what its oracle does, which runs one iteration at a time.

Kernels are random ones as they are, and those that random programs become after each stage. Where
the order of a reduction is free, the two may differ by a rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from agreement import identical
from expression import Array
from parsing import tg_context
from random_kernels import random_kernel
from random_programs import random_program
from random_seeds import batches
from reproduced import Failed, check_all
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import InterpretationError

from tgdialect.interpreter import run
from tgdialect.lowering.pipeline import stages

CELLS = 40
"""Of a kernel's loop nest: the oracle takes some 50 us for an op."""


def difference(module: ModuleOp, inputs: Sequence[Array], agree: Callable[..., bool]) -> str:
    """What the lanes do otherwise than the oracle; nothing if they agree."""
    lanes, scalar = (_outcome(module, inputs, scalar=scalar) for scalar in (False, True))
    if isinstance(lanes, str) or isinstance(scalar, str):
        return f"lanes: {lanes}\nscalar: {scalar}\n{module}"
    wrong = [f"{x!r}\n{y!r}" for x, y in zip(lanes, scalar, strict=True) if not agree(x, y)]
    return "\n".join([*wrong, str(module)]) if wrong else ""


def check(made: str, module: ModuleOp, inputs: Sequence[Array], agree: Callable[..., bool]) -> None:
    """Fail with a reproducer where the lanes do otherwise than the oracle."""

    def wrong(module: ModuleOp, inputs: Sequence[Array]) -> str:
        found = difference(module, inputs, agree)
        return found and f"differs: {found.partition(chr(10))[0]}"

    if found := wrong(module, inputs):
        again = "tg-run --target=interpreter --scalar --run-reproducer"
        check_all([Failed(made, module, inputs, found, wrong, command=lambda *_: again)])


def _outcome(module: ModuleOp, inputs: Sequence[Array], *, scalar: bool) -> Sequence[Array] | str:
    try:
        return run(module, "main", [array.copy() for array in inputs], scalar=scalar)
    except InterpretationError as error:
        return str(error)


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_KERNELS", 100), ids=str)
def test_random_kernels(seeds: range):
    for seed in seeds:
        kernel = random_kernel(seed, CELLS)
        check(f"random_kernel({seed}, {CELLS})", kernel.module, kernel.inputs, identical)


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_PROGRAMS", 50), ids=str)
def test_random_programs_after_each_stage(seeds: range):
    context = tg_context()
    for seed in seeds:
        program = random_program(seed, 1 + seed % 14)
        for stage in replace(stages(), render=None):
            stage.apply(context, program.module)
            if stage.name == "tg-callify":
                continue
            made = f"random_program({seed}, {1 + seed % 14}), {stage.name}"
            check(made, program.module, program.inputs, _within_a_rounding)


def _within_a_rounding(x: Array, y: Array) -> bool:
    """Whether arrays are the same but for the order in which floats were added."""
    if identical(x, y):
        return True
    if x.dtype.kind in "biu":
        return False
    wide = x.astype(np.float64), y.astype(np.float64)
    rtol = {1: 1e-2, 2: 1e-2, 4: 1e-6, 8: 1e-13}[x.itemsize]
    with np.errstate(invalid="ignore"):
        return bool(np.allclose(*wide, rtol=rtol, atol=0, equal_nan=True))
