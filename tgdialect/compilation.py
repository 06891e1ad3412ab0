"""The public `compile`: of MLIR, and of Python functions on tensors.

The front end is imported for functions only, so that a text from the object cache starts without
it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, overload

from tgdialect.runtime import compiler
from tgdialect.runtime.executable import Executable
from tgdialect.runtime.program import DEFAULT_OPT

if TYPE_CHECKING:
    from collections.abc import Callable

    from xdsl.dialects.builtin import ModuleOp

    from tgdialect.custom import Registered
    from tgdialect.frontend.lowered import CompiledFunction


@overload
def compile(
    source: str | os.PathLike[str] | ModuleOp,
    *,
    entry: str = ...,
    target: str | None = ...,
    opt: str = ...,
    check: bool = ...,
    allow_custom: bool = ...,
    custom: Registered | None = ...,
    data_folder: str | os.PathLike[str] | None = ...,
) -> Executable | compiler.Callback: ...


@overload
def compile(
    source: Callable[..., Any],
    *specs: Any,
    entry: str = ...,
    target: str | None = ...,
    opt: str = ...,
    check: bool = ...,
) -> Executable | CompiledFunction | compiler.Callback: ...


def compile(
    source: str | os.PathLike[str] | ModuleOp | Callable[..., Any],
    *specs: Any,
    entry: str = "main",
    target: str | None = None,
    opt: str = DEFAULT_OPT,
    check: bool = False,
    allow_custom: bool = False,
    custom: Registered | None = None,
    data_folder: str | os.PathLike[str] | None = None,
) -> Executable | CompiledFunction | compiler.Callback:
    """Compile the function `entry` of a program at any level (docs/ir.md), or a Python function.

    Args:
        source: MLIR text, a path, an xDSL module, which is not changed, or a Python function on
            tensors. A `str` with a newline or a brace is text.
        specs: for each argument of a Python function a `tgdialect.spec`, or an array or tensor of
            its shape and dtype, or a list, tuple or dict of these.
        entry: the name of the function to call; for a Python function, its name in the program.
        target: a device, as "CL:0", or one of `targets.TARGETS`, whose programs run on the first
            device that can; or "interpreter" for the reference semantics. By default the devices
            that the program names, or else the one that `TG_DEVICE` names, or this CPU
            (docs/devices.md).
        opt: the mode of `tg-optimize`: "heuristic", "heuristic:tf32" if f32 products may round
            their factors to tf32, "none" for the loops as they are, "beam:N" for a search that
            times schedules on this machine (`tgdialect/runtime/optimize.py`), or OptOps, as
            "explicit:split 0, 8, upcast; @main_1: order 1, 0". Kernels that record OptOps keep
            them, and have others applied only if they are explicit.
        check: compare each kernel, and the program, with the interpreter in the first call with
            each signature, which takes seconds (docs/debugging.md, "Checking"). A call raises
            `tgdialect.actions.check.CheckError` where a result is wrong.
        allow_custom: execute CUSTOM, CUSTOMFUNCTION, INS of unknown targets and the BINARY of a
            PROGRAM, which carry code of their own, and modules from level `linear` on, where
            nothing checks memory accesses.
        custom: functions that stand for CUSTOMs and CUSTOMFUNCTIONs, by name: Python callables on
            arrays, Executables, or function pointers of ctypes; and kernels (docs/embedding.md).
            They need `allow_custom`.
        data_folder: the folder of the files whose bytes a text names (`#tg.data<file ...>`), by
            default that of the text's own file, or the working directory for a text without one.

    Returns:
        A callable on NumPy arrays (or anything with DLPack), one for each argument of the function;
        it returns an array, or a tuple of them where the function has several results. For a
        Python function it is what `Lowered.compile` returns.

    Raises:
        CompilationError: the program is not valid, or cannot be compiled, or a file has not got the
            bytes that it names.
        TypeError: the source is none of these, or has specs that do not fit; or what is registered
            is no function.
        DeviceError: there is no such device, or it refuses a kernel.
        ValueError: there is no such target, functions are registered without `allow_custom`, or
            there is a `data_folder` for a program that is no text; or see `Lowered.compile`.
        MemoryError: there is too little memory to compile.
    """
    if not callable(source):
        if specs:
            raise TypeError("specs are for Python functions: a program declares its own arguments")
        return compiler.compile(
            source,
            entry=entry,
            target=target,
            opt=opt,
            check=check,
            allow_custom=allow_custom,
            custom=custom,
            data_folder=data_folder,
        )
    if data_folder is not None:
        raise ValueError("data_folder= is for programs in text, and not for a Python function")
    from tgdialect.frontend.function import traceable
    from tgdialect.frontend.lowered import check_specs

    check_specs(specs)
    lowered = traceable(source).lowered(specs, {}, entry, target)
    return lowered.compile(target=target, opt=opt, check=check)
