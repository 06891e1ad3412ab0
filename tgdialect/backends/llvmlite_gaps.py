"""What llvmlite 0.50 leaves undone, by means that its interface does not have."""

import os
from importlib import import_module
from typing import Any, cast

import llvmlite.binding as llvm

_ffi: Any = import_module("llvmlite.binding.ffi")
_newpassmanagers: Any = import_module("llvmlite.binding.newpassmanagers")


def run_passes(module: llvm.ModuleRef, builder: llvm.PassBuilder) -> None:
    """Run the passes of a builder on a module, and free them.

    llvmlite frees none: of the two bases of its `ModulePassManager`, the one whose `_dispose` does
    nothing comes first.
    """
    manager = builder.getModulePassManager()
    try:
        manager.run(module, builder)
    finally:
        _newpassmanagers.NewPassManager._dispose(manager)
        cast(Any, manager).detach()


def _hold_llvm_while_forking() -> None:
    """Have a fork wait until no thread is in LLVM: its child could not call it any more.

    llvmlite holds its lock in every call.
    """
    lock = _ffi.lib._lock._lock
    os.register_at_fork(
        before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
    )


if hasattr(os, "register_at_fork"):
    _hold_llvm_while_forking()
