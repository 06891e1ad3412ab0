"""Random programs and kernels with inputs, and how to compare what they compute."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agreement import differences, identical
from expression import Array
from random_kernels import random_kernel
from random_programs import random_program
from xdsl.dialects.builtin import ModuleOp

Compare = Callable[[Sequence[Array], Sequence[Array]], str]
"""What differs between expected and other results, in words."""


def random_case(seed: int) -> tuple[ModuleOp, Sequence[Array], Compare]:
    """A random kernel, or the kernels of a program on tensors; its inputs, and what differs."""
    if seed % 2:
        program = random_program(seed, 1 + seed % 13)
        outputs = program.outputs
        return program.module, program.inputs, lambda a, b: "\n".join(differences(outputs, a, b))
    kernel = random_kernel(seed)
    return kernel.module, kernel.inputs, _different


def _different(expected: Sequence[Array], results: Sequence[Array]) -> str:
    pairs = zip(expected, results, strict=True)
    return "\n".join(f"{x!r}\n{y!r}" for x, y in pairs if not identical(x, y))
