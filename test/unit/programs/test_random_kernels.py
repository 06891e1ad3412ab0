"""Random kernels compute what the interpreter says, as they are and with the default schedule.

A failure is the reproducer of a reduced kernel, and the call of `random_kernel` that makes the
whole one; CONTRIBUTING.md says how to try many.
"""

from __future__ import annotations

import pytest
from agreement import identical
from executors import EXECUTORS, interpret
from random_kernels import random_kernel
from random_seeds import batches
from reproduced import Failed, check_all


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_KERNELS", 50), ids=str)
def test_executors_agree(seeds: range):
    check_all(found for seed in seeds if (found := failed(seed)))


def failed(seed: int) -> Failed | None:
    """The failure of a kernel; None if all is right."""
    kernel = random_kernel(seed)
    kernel.module.verify()
    expected = interpret(kernel.module, [array.copy() for array in kernel.inputs])
    for name in ("cpu-none", "cpu-heuristic"):
        try:
            results = EXECUTORS[name](kernel.module, kernel.inputs)
        except Exception as error:
            message = f"{type(error).__name__}: {error}"
        else:
            pairs = zip(expected, results, strict=True)
            message = "\n".join(f"{x!r}\n{y!r}" for x, y in pairs if not identical(x, y))
        if message:
            made = f"random_kernel({seed})"
            return Failed.on(name, made, kernel.module, kernel.inputs, message)
    return None
