"""Modules as executables for this CPU: without the object cache, and with errors as they are."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tgdialect.custom import CustomCode
from tgdialect.runtime.compiler import prepared
from tgdialect.runtime.host_executable import HostExecutable
from tgdialect.runtime.program import DEFAULT_OPT, Program
from tgdialect.targets import Target
from tgdialect.targets.cpu import PORTABLE


def compile_module(
    module: ModuleOp,
    *,
    entry: str = "main",
    opt: str = DEFAULT_OPT,
    allow_custom: bool = False,
    target: Target | None = None,
) -> HostExecutable:
    """The function `entry` of a module at any level, which is not changed, by LLVM, or as the
    target says."""
    code = CustomCode(allow_custom)
    build = prepared(module, entry, opt, code, target)
    program = build.program()
    assert isinstance(program, Program)
    return HostExecutable(program, lambda: build, custom=code)


def compile_c(module: ModuleOp) -> HostExecutable:
    """The same by the system's C compiler."""
    return compile_module(module, target=PORTABLE)
