"""Random kernels compute what the interpreter says, as they are and with the default schedule.

A failure prints the module and the call of `random_kernel` that makes it; CONTRIBUTING.md says how
to try many.
"""

from __future__ import annotations

import pytest
from agreement import identical
from executors import EXECUTORS, interpret
from random_kernels import random_kernel
from random_seeds import batches


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_KERNELS", 50), ids=str)
def test_executors_agree(seeds: range):
    wrong = [failure for seed in seeds if (failure := _failure(seed))]
    assert not wrong, "\n\n".join(wrong)


def _failure(seed: int) -> str:
    """What is wrong with a kernel; nothing if all is right."""
    kernel = random_kernel(seed)
    kernel.module.verify()
    expected = interpret(kernel.module, [array.copy() for array in kernel.inputs])
    for name in ("cpu-none", "cpu-heuristic"):
        where = f"random_kernel({seed}) on {name}"
        try:
            results = EXECUTORS[name](kernel.module, kernel.inputs)
        except Exception as error:
            return f"{where}: {type(error).__name__}: {error}\n{kernel.module}"
        for x, y in zip(expected, results, strict=True):
            if not identical(x, y):
                return f"{where}:\n{x!r}\n{y!r}\n{kernel.module}"
    return ""
