"""The executors that programs are compared on: each takes a module and arrays, and gives arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from expression import Array
from xdsl.dialects.builtin import ModuleOp

from tgdialect.interpreter import run
from tgdialect.runtime.executable import compile_module

Executor = Callable[[ModuleOp, Sequence[Array]], Sequence[Array]]


def interpret(module: ModuleOp, inputs: Sequence[Array]) -> Sequence[Array]:
    """The oracle."""
    return as_sequence(run(module, "main", inputs))


def compiled(opt: str) -> Executor:
    """The CPU, with a mode of `tg-optimize`."""

    def execute(module: ModuleOp, inputs: Sequence[Array]) -> Sequence[Array]:
        return as_sequence(compile_module(module, opt=opt)(*inputs))

    return execute


def as_sequence(results: Array | Sequence[Array]) -> Sequence[Array]:
    return results if isinstance(results, tuple | list) else [results]


EXECUTORS: dict[str, Executor] = {"interpreter": interpret, "cpu": compiled("none")}
