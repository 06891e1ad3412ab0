"""tinygrad's UOps as an MLIR-style dialect and compiler, on xDSL.

`compile` makes an executable of a program; `Executable` is what it makes. The dialect is
`tgdialect.dialect.TG`. Names are imported when they are first used, so that tools start quickly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tgdialect.forking import prepare_for_forks

if TYPE_CHECKING:
    from tgdialect import nn
    from tgdialect.compilation import compile
    from tgdialect.diagnostics import CompilationError
    from tgdialect.frontend.function import function
    from tgdialect.frontend.spec import spec
    from tgdialect.frontend.symbolic import Variable
    from tgdialect.frontend.tensor import Tensor
    from tgdialect.runtime.executable import Executable

__all__ = [
    "CompilationError",
    "Executable",
    "Tensor",
    "Variable",
    "compile",
    "function",
    "nn",
    "spec",
]

_HOMES = {
    "CompilationError": "tgdialect.diagnostics",
    "Executable": "tgdialect.runtime.executable",
    "Tensor": "tgdialect.frontend.tensor",
    "Variable": "tgdialect.frontend.symbolic",
    "function": "tgdialect.frontend.function",
    "spec": "tgdialect.frontend.spec",
    "compile": "tgdialect.compilation",
}

prepare_for_forks()  # Before another thread may be importing the rest.


def __getattr__(name: str) -> Any:
    if name == "nn":
        return import_module("tgdialect.nn")
    if (home := _HOMES.get(name)) is None:
        raise AttributeError(f"module 'tgdialect' has no attribute {name!r}")
    return getattr(import_module(home), name)
