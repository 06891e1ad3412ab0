"""`check=True` reports no random program: the bounds of errors hold.

`TG_RANDOM_CHECKS=1000` in the environment makes that many.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from expression import Array
from mixture_runs import program_of
from random_programs import random_program
from random_seeds import batches
from reproduced import check_program, raised
from xdsl.dialects.builtin import ModuleOp

import tgdialect as tg


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_CHECKS", 100), ids=str)
def test_random_programs_are_right(seeds: range):
    for seed in seeds:
        program = random_program(seed, 1 + seed % 14)
        mixture = program_of(seed)
        cases = [(program.module, program.inputs), *((mixture.module, r) for r in mixture.runs)]
        for module, inputs in cases:
            check_program(raised(run_checked), f"the programs of seed {seed}", module, inputs)


def run_checked(module: ModuleOp, inputs: Sequence[Array]) -> None:
    try:
        executable = tg.compile(module, check=True)
    except tg.CompilationError:
        return  # A rule refuses it: `mixture_runs.py`.
    executable(*inputs)
