"""`check=True` reports no random program: the bounds of errors hold.

`TG_RANDOM_CHECKS=1000` in the environment makes that many.
"""

from __future__ import annotations

import numpy as np
import pytest
from mixture_runs import program_of
from random_programs import random_program
from random_seeds import batches

import tgdialect as tg


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_CHECKS", 100), ids=str)
def test_random_programs_are_right(seeds: range):
    for seed in seeds:
        program = random_program(seed, 1 + seed % 14)
        mixture = program_of(seed)
        cases = [(program.module, program.inputs), *((mixture.module, r) for r in mixture.runs)]
        for module, inputs in cases:
            # A failure has a reproducer of its own (`tgdialect/actions/check.py`).
            try:
                executable = tg.compile(module, check=True)
            except tg.CompilationError:
                continue  # A rule refuses it: `mixture_runs.py`.
            executable(*[np.array(each) for each in inputs])
