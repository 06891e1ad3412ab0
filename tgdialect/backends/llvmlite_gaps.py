"""Two gaps of llvmlite 0.50, closed through its private interface: it leaks pass managers, and a
child of `fork` may inherit its lock locked."""

import os
from importlib import import_module
from typing import Any, cast

import llvmlite.binding as llvm

_ffi: Any = import_module("llvmlite.binding.ffi")
_newpassmanagers: Any = import_module("llvmlite.binding.newpassmanagers")


def run_passes(module: llvm.ModuleRef, builder: llvm.PassBuilder) -> None:
    """Run the passes of a builder on a module, and free them.

    llvmlite does not free them: `ModulePassManager` has two base classes, and the first one has a
    `_dispose` that does nothing.
    """
    manager = builder.getModulePassManager()
    try:
        manager.run(module, builder)
    finally:
        _newpassmanagers.NewPassManager._dispose(manager)
        cast(Any, manager).detach()


def _hold_llvm_while_forking() -> None:
    """Make a fork wait until no other thread is in LLVM.

    llvmlite holds a lock in every call. A child that inherited it locked could never call LLVM.
    """
    lock = _ffi.lib._lock._lock
    os.register_at_fork(
        before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
    )


if hasattr(os, "register_at_fork"):
    _hold_llvm_while_forking()
