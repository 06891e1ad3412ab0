"""Random legal schedules compute the same, between pages without access, on any number of threads.

A failure is the reproducer of reduced kernels with their OptOps; CONTRIBUTING.md says how to try
many.
"""

from __future__ import annotations

from contextlib import suppress
from random import Random

import pytest
from executors import between_fences, interpret, on_threads
from random_cases import random_case
from random_schedules import RandomOptimizePass, ScheduledBuild
from random_seeds import batches
from reproduced import Failed, check_all

from tgdialect.lowering.pipeline import run_stages, stages
from tgdialect.runtime.host_executable import HostExecutable


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_SCHEDULES", 100), ids=str)
def test_legal_schedules_change_nothing(seeds: range):
    check_all(failed for seed in seeds if (failed := _failed(seed)))


def _failed(seed: int) -> Failed | None:
    """The failure of the schedule of a seed; None if all is right."""
    module, inputs, compare = random_case(seed)
    module.verify()
    expected = interpret(module, [array.copy() for array in inputs])
    optimize = RandomOptimizePass(Random(seed))
    build = ScheduledBuild(module, optimize=optimize)
    wrong = ""
    try:
        executable = HostExecutable(build.program(), lambda: build)
        for threads, at_start in ((1, False), (2, True), (5, False)):
            with on_threads(threads):
                results = between_fences(executable, inputs, at_start=at_start)
            if wrong := compare(expected, results):
                wrong = f"on {threads} threads: {wrong}"
                break
    except Exception as error:
        wrong = f"{type(error).__name__}: {error}"
    if not wrong:
        return None
    made = f"random_case({seed})"
    with suppress(Exception):  # The kernels with their OptOps show it as well.
        scheduled = module.clone()
        run_stages(scheduled, [*stages().module, RandomOptimizePass(Random(seed))])
        if (failed := Failed.on("cpu-none", made, scheduled, inputs, wrong)).shows():
            return failed
    return Failed.on("cpu-none", made, module, inputs, f"{wrong}\n{optimize}")
