"""The executors that programs are compared on: each takes a module and arrays, and gives arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from expression import Array
from xdsl.dialects.builtin import ModuleOp

from tgdialect.interpreter import run
from tgdialect.runtime.build import compile_module

Executor = Callable[[ModuleOp, Sequence[Array]], Sequence[Array]]


def interpret(module: ModuleOp, inputs: Sequence[Array]) -> Sequence[Array]:
    """The oracle."""
    return as_sequence(run(module, "main", inputs))


def compiled(opt: str) -> Executor:
    """The CPU, with a mode of `tg-optimize`. Results begin as junk: what is not written shows."""

    def execute(module: ModuleOp, inputs: Sequence[Array]) -> Sequence[Array]:
        executable = compile_module(module, opt=opt)
        out = [junk(p.shape, p.dtype) for p in executable.outputs]
        return as_sequence(executable(*inputs, out=out))

    return execute


def junk(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """An array of bytes that are no result of anything."""
    array = np.empty(shape, dtype)
    array.reshape(-1).view(np.uint8)[:] = 0xA5
    return array


def as_sequence(results: Array | Sequence[Array]) -> Sequence[Array]:
    return results if isinstance(results, tuple | list) else [results]


EXECUTORS: dict[str, Executor] = {
    "interpreter": interpret,
    **{f"cpu-{mode}": compiled(mode) for mode in ("none", "heuristic")},
}
