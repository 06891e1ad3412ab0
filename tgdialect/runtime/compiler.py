"""`compile`: from a program in any form to something that can be called."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

from tgdialect.diagnostics import (
    CompilationError,
    Diagnostic,
    SourceFile,
    decode_source,
    diagnose,
    parse_module,
    verify_module,
)
from tgdialect.interpreter import run
from tgdialect.registry import make_context
from tgdialect.runtime.executable import Executable, compile_module

Array = np.ndarray[Any, np.dtype[Any]]
Callback = Callable[..., "Array | tuple[Array, ...]"]


def read_source(source: str | os.PathLike[str]) -> SourceFile:
    """MLIR text, or the text of the file at a path: a `str` with a newline or a brace is text."""
    if isinstance(source, str) and ("\n" in source or "{" in source):
        return SourceFile("<string>", source)
    try:
        return decode_source(os.fspath(source), Path(source).read_bytes())
    except OSError as error:
        message = f"cannot open input file '{os.fspath(source)}': {error.strerror}"
        raise CompilationError(Diagnostic(message)) from error


def load_module(source: str | os.PathLike[str] | ModuleOp) -> ModuleOp:
    """The verified module of MLIR text, a path, or a module itself.

    Raises CompilationError, which names file, line and column.
    """
    if isinstance(source, ModuleOp):
        verify_module(source)
        return source
    text = read_source(source)
    try:
        module = parse_module(make_context(), text)
        verify_module(module)
    except CompilationError as error:
        raise error.with_source(text) from error
    return module


def compile(
    source: str | os.PathLike[str] | ModuleOp,
    *,
    entry: str = "main",
    target: str = "cpu",
    opt: str = "none",
    allow_custom: bool = False,
) -> Executable | Callback:
    """Compile the function `entry` of a program at the tensor level.

    Args:
        source: MLIR text, a path, or an xDSL module, which is left as it is.
        entry: the name of the function to call.
        target: "cpu", or "interpreter" for the reference semantics.
        opt: the mode of `tg-optimize`.
        allow_custom: execute CUSTOM, CUSTOMFUNCTION, INS and BINARY, which carry code of their own.

    Returns:
        A callable on NumPy arrays (or anything with DLPack), one for each argument of the function;
        it returns an array, or a tuple of them where the function has several results.

    Raises:
        CompilationError: the program is not valid, or cannot be compiled.
        ValueError: there is no such target.
    """
    module = load_module(source)
    if target == "interpreter":
        return _interpreted(module, entry, allow_custom)
    if target != "cpu":
        raise ValueError(f"there is no target {target!r}; there are: cpu, interpreter")
    try:
        return compile_module(module, entry=entry, opt=opt, allow_custom=allow_custom)
    except DiagnosticException as error:
        raise CompilationError(diagnose(error)) from error


def _interpreted(module: ModuleOp, entry: str, allow_custom: bool) -> Callback:
    def call(*arrays: Any) -> Array | tuple[Array, ...]:
        inputs = [np.asarray(array) for array in arrays]
        results = cast(Sequence[Array], run(module, entry, inputs, allow_custom=allow_custom))
        return results[0] if len(results) == 1 else tuple(results)

    return call
