"""Random legal schedules compute the same, between pages without access, on any number of threads.

A failure prints the module, the OptOps of each kernel, and the seed; CONTRIBUTING.md says how to
try many.
"""

from __future__ import annotations

from random import Random

import pytest
from executors import between_fences, interpret, on_threads
from random_cases import random_case
from random_schedules import RandomOptimizePass, ScheduledBuild
from random_seeds import batches

from tgdialect.runtime.host_executable import HostExecutable


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_SCHEDULES", 100), ids=str)
def test_legal_schedules_change_nothing(seeds: range):
    wrong = [failure for seed in seeds if (failure := _failure(seed))]
    assert not wrong, "\n\n".join(wrong)


def _failure(seed: int) -> str:
    """What is wrong with the schedule of a seed; nothing if all is right."""
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
    return f"seed {seed}: {wrong}\n{optimize}\n{module}" if wrong else ""
