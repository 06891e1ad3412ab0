"""Programs whose passes are stopped after any action verify, and mean the same.

`TG_RANDOM_STOPS=500` in the environment makes that many programs, each of which is stopped four
times.
"""

from __future__ import annotations

import numpy as np
import pytest
from random_seeds import batches
from reproduced import check_all
from stopped_programs import stoppable, traced
from stopping import failures
from xdsl.dialects.builtin import ModuleOp

from tgdialect.actions.listening import listening
from tgdialect.diagnostics import Action, Actions, Limit, verify_module
from tgdialect.interpreter import run
from tgdialect.lowering.pipeline import run_stages, stages

STOPS = 4
"""The stops of each program: one is between two passes, where it is compiled as well."""


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_STOPS", 300), ids=str)
def test_stopped_programs_mean_the_same(seeds: range):
    check_all(failed for seed in seeds for failed in failures(stoppable(seed), seed, STOPS))


def test_memory_that_a_result_has_taken():
    """The STORE of a result is done where the kernel of its value has written it to the memory of a
    donated argument."""
    module, inputs = traced("training")
    wanted = run(module, "main", [array.copy() for array in inputs])
    log: list[Action] = []
    lowered(module, None, log)
    kernels = [action.number for action in log if action.pattern == "kernel"]
    for number in kernels[-8:]:
        stopped = lowered(module, Limit(number), [])
        verify_module(stopped)
        found = run(stopped, "main", [array.copy() for array in inputs])
        for x, y in zip(found, wanted, strict=True):
            np.testing.assert_allclose(x, y, 1e-5, err_msg=f"after {number} actions")


def lowered(module: ModuleOp, limit: Limit | None, log: list[Action]) -> ModuleOp:
    """A copy of a module after some actions of `tg-callify` and `tg-rangeify`."""
    copy = module.clone()
    with listening(Actions(limit, on_action=log.append)):
        run_stages(copy, stages().module)
    return copy
