"""`compile`: from a program in any form to something that can be called.

A text that was compiled before comes from the object cache, and then the compiler is not even
imported.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tgdialect.analysis.machine import machine_of
from tgdialect.backends.headroom import check_memory_for_library
from tgdialect.backends.host import host_cpu
from tgdialect.runtime.cache import cache_key, object_cache
from tgdialect.runtime.executable import Executable
from tgdialect.runtime.program import DEFAULT_OPT, Array, Program

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tgdialect.runtime.build import Build

Callback = Callable[..., "Array | tuple[Array, ...]"]

TARGETS = ("cpu", "interpreter")


def compile(
    source: str | os.PathLike[str] | ModuleOp,
    *,
    entry: str = "main",
    target: str = "cpu",
    opt: str = DEFAULT_OPT,
    allow_custom: bool = False,
) -> Executable | Callback:
    """Compile the function `entry` of a program at the tensor level.

    Args:
        source: MLIR text, a path, or an xDSL module, which is left as it is. A `str` with a newline
            or a brace is text.
        entry: the name of the function to call.
        target: "cpu", or "interpreter" for the reference semantics.
        opt: the mode of `tg-optimize`: "heuristic", "none" for the loops as they are, or "beam:N"
            for a search that times schedules on this machine (`tgdialect/runtime/optimize.py`).
        allow_custom: execute CUSTOM, CUSTOMFUNCTION, INS and BINARY, which carry code of their own.

    Returns:
        A callable on NumPy arrays (or anything with DLPack), one for each argument of the function;
        it returns an array, or a tuple of them where the function has several results.

    Raises:
        CompilationError: the program is not valid, or cannot be compiled.
        ValueError: there is no such target.
        MemoryError: there is too little memory to compile.
    """
    if target not in TARGETS:
        raise ValueError(f"there is no target {target!r}; there are: {', '.join(TARGETS)}")
    if target == "interpreter":
        return _interpreted(load_module(source), entry, allow_custom)
    name, text = _name_and_text(source)
    how = entry, opt, allow_custom
    cache = object_cache()
    key = (
        "" if cache is None else cache_key(text, host_cpu(), repr(machine_of(())), *map(repr, how))
    )
    data = None if cache is None else cache.get(key)
    if data is not None:
        program = Program.from_bytes(data)
    else:
        check_memory_for_library()
        is_text = isinstance(source, str | os.PathLike)
        program = _compiled(_parse(name, text) if is_text else load_module(source), how)
        if cache is not None:
            cache.put(key, program.to_bytes())
    return Executable(program, lambda: _build(_parse(name, text), how))


def _build(module: ModuleOp, how: tuple[str, str, bool]) -> Build:
    from tgdialect.runtime.build import Build

    return Build(module, *how)


def _compiled(module: ModuleOp, how: tuple[str, str, bool]) -> Program:
    from xdsl.utils.exceptions import DiagnosticException

    from tgdialect.diagnostics import CompilationError, diagnose

    try:
        return _build(module, how).program()
    except DiagnosticException as error:
        raise CompilationError(diagnose(error)) from None


def load_module(source: str | os.PathLike[str] | ModuleOp) -> ModuleOp:
    """The verified module of MLIR text, a path, or a module itself.

    Raises CompilationError, which names file, line and column.
    """
    from tgdialect.diagnostics import verify_module

    if isinstance(source, str | os.PathLike):
        return _parse(*_name_and_text(source))
    verify_module(source)
    return source


def _name_and_text(source: str | os.PathLike[str] | ModuleOp) -> tuple[str, str]:
    """Where a program comes from, and its text."""
    if isinstance(source, str) and ("\n" in source or "{" in source):
        return "<string>", source
    if not isinstance(source, str | os.PathLike):
        return "<module>", str(source)
    try:
        return os.fspath(source), Path(source).read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        from tgdialect.diagnostics import read_source

        file = read_source(os.fspath(source))  # Says what is wrong with it.
        return file.name, file.text


def _parse(name: str, text: str) -> ModuleOp:
    from xdsl.context import Context
    from xdsl.dialects.builtin import Builtin
    from xdsl.dialects.func import Func

    from tgdialect.diagnostics import CompilationError, SourceFile, parse_module, verify_module
    from tgdialect.dialect import TG
    from tgdialect.registry import make_context

    source, context = SourceFile(name, text), Context()
    for dialect in (Builtin, Func, TG):
        context.load_dialect(dialect)
    try:
        try:
            module = parse_module(context, source)
        except CompilationError:
            # Finding all dialects takes long, and is worth it for what the error may say.
            module = parse_module(make_context(), source)
        verify_module(module)
    except CompilationError as error:
        raise error.with_source(source) from None
    return module


def _interpreted(module: ModuleOp, entry: str, allow_custom: bool) -> Callback:
    from tgdialect.interpreter import run

    def call(*arrays: Any) -> Array | tuple[Array, ...]:
        inputs = [np.asarray(array) for array in arrays]
        results = cast(Sequence[Array], run(module, entry, inputs, allow_custom=allow_custom))
        return results[0] if len(results) == 1 else tuple(results)

    return call
