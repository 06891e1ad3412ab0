"""A machine of LLVM: from LLVM IR to object code and assembly, by llvmlite's LLVM.

Nothing here imports xDSL's IR, so that a program from the object cache starts without it.

Floating point stays exact: nothing is contracted, reassociated or approximated unless the
instruction carries the fast-math flag that allows it.
"""

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, TypeVar, cast

import llvmlite.binding as llvm
from xdsl.utils.exceptions import LLVMTranslationException

from tgdialect.backends.headroom import check_memory_for
from tgdialect.backends.masked_accesses import (
    without_constant_loads,
    without_idle_registers,
    without_stores_of_one_lane,
)
from tgdialect.targets.architectures import (
    ALL_INTRINSICS,
    CHIPS,
    GPU_CONVENTIONS,
    INTRINSICS,
    LIBRARY_INTRINSICS,
)

# Two gaps of llvmlite 0.50, closed through its private interface: it leaks pass managers, and a
# child of `fork` may inherit its lock locked.
_ffi: Any = import_module("llvmlite.binding.ffi")
_newpassmanagers: Any = import_module("llvmlite.binding.newpassmanagers")


def _run_passes(module: llvm.ModuleRef, builder: llvm.PassBuilder) -> None:
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


T = TypeVar("T")

_PERHAPS_REFUSED = (*ALL_INTRINSICS, *LIBRARY_INTRINSICS, "\\")
"""Substrings of which a module has one if it declares such an intrinsic; names may be written with
escapes."""
_GPU_FUNCTION = re.compile(rf"(?<![\w@.$-])({'|'.join(GPU_CONVENTIONS)}) [^@\n]*@")
_PTX_VERSION = re.compile(r"\+ptx(\d+)")

MANY_ACCESSES = 512
"""The most loads and stores of a block that LLVM optimizes. Its vectorizer and its scheduler
compare each pair, and take ten seconds for 1,000 stores. With a smaller number, code of long
unrolled loops gets slower; with a greater one, its compilation. An order of magnitude: by counting,
kernels of `examples`, of `bench` and of `test_optimize.py` have at most 165."""
MANY_BLOCKS = 1024
"""The most basic blocks of a function with many accesses that LLVM optimizes. Its time grows faster
than their number, as for 1,000 gated stores in nested loops, which have 2,000 blocks. With a
smaller limit, code of many short loops gets slower; with a greater one, its compilation. An order
of magnitude: by counting, functions of `examples` have at most 24."""
_VECTOR = "<"
"""A part of each type of vectors, and of no other text of LLVM IR but strings. Without vectors the
schedule does little: loops of sorts take up to 1.3 times as long without the passes of O1."""
_ASKED_FOR = ("llvm.loop.", "alwaysinline")
"""Parts of modules that ask for passes which O1 has alone."""
_EXCLUDE_OPTNONE = (b"alwaysinline", b"minsize", b"optsize")


@cache
def _target(triple: str) -> llvm.Target:
    """LLVM's target, initialized. Raises LLVMTranslationException if LLVM has none."""
    if triple == llvm.get_process_triple():
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
    else:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    llvm.initialize_native_asmparser()  # For inline assembly.
    try:
        return llvm.Target.from_triple(triple)
    except RuntimeError as error:
        raise LLVMTranslationException(f"LLVM has no target '{triple}'") from error


@cache
def _tuning(level: int) -> llvm.PipelineTuningOptions:
    # The schedule has unrolled the loops.
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_unrolling = False
    return options


@cache
def _few_passes() -> Any:
    """A manager of the passes that code of vectors needs, which has been scheduled and whose
    invariants are outside of its loops: memory becomes registers, and ops are combined. They take a
    third of O1's time, for code as fast."""
    passes = _newpassmanagers.create_new_module_pass_manager()
    passes.add_sroa_pass()
    for prepare in (lambda: None, passes.add_loop_rotate_pass):
        prepare()
        passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
    return passes


def _exempt_long_functions(module: llvm.ModuleRef) -> None:
    """Have LLVM not optimize functions of more than MANY_BLOCKS, or with a block of more than
    MANY_ACCESSES, except those with an attribute that excludes `optnone`."""
    for function in module.functions:
        attributes = b" ".join(function.attributes)
        blocks = [_accesses(block) for block in function.blocks]
        is_long = len(blocks) > MANY_BLOCKS or max(blocks, default=0) > MANY_ACCESSES
        if is_long and not any(each in attributes for each in _EXCLUDE_OPTNONE):
            for attribute in ("noinline", "optnone"):
                function.add_function_attribute(attribute)


def _accesses(block: llvm.ValueRef) -> int:
    return sum(each.opcode in ("load", "store") for each in block.instructions)


@dataclass(frozen=True)
class Machine:
    """A processor in LLVM's terms, as in `llc -mtriple=... -mcpu=... -mattr=...`.

    `features` is LLVM's list of names after a `+` or a `-`, which adds to the features that `cpu`
    implies. Raises LLVMTranslationException for a chip that a GPU's architecture does not have.
    """

    triple: str
    cpu: str = ""
    features: str = ""

    def __post_init__(self) -> None:
        """Refuse what LLVM would end the process for."""
        if (chips := CHIPS.get(self._architecture)) is None:
            return
        if (first := chips.get(self.cpu)) is None:
            raise LLVMTranslationException(
                f"{self.triple} has no chip '{self.cpu}', only {', '.join(chips)}"
            )
        versions = [int(version) for version in _PTX_VERSION.findall(self.features)]
        if versions and versions[-1] < first:
            raise LLVMTranslationException(f"{self.cpu} needs +ptx{first}, not {self.features}")

    @property
    def _architecture(self) -> str:
        return self.triple.partition("-")[0]

    def object_code(
        self,
        ir: str,
        *,
        opt: int = 2,
        begun: Callable[[], object] = lambda: None,
    ) -> bytes:
        """Position-independent object code of a module of LLVM IR. Its external symbols are those
        of the C library and of the parallel runtime.

        Args:
            ir: the module as text; its triple and data layout are replaced by the target's.
            opt: the level of code generation, 0 to 3. The passes on IR are those of O1 at most,
                and a few of them for code of vectors.
            begun: called when the last and longest call of LLVM begins, which needs no Python.

        Raises LLVMTranslationException, with LLVM's message, for a module that LLVM rejects, and
        MemoryError if it is likely to run out of memory.
        """
        module, machine = self._compiled(ir, opt)
        begun()
        code = _emitted(machine.emit_object, module)
        if library := self._library_of(code):
            module, machine = self._compiled(ir, opt, library)
            code = _emitted(machine.emit_object, module)
        return code

    def _library_of(self, code: bytes) -> str:
        """LLVM IR of functions that object code calls, and that the processor's library lacks."""
        return ""

    def assembly(self, ir: str) -> str:
        """The same as text in the target's assembly language."""
        module, machine = self._compiled(ir, 2)
        return _emitted(machine.emit_assembly, module)

    def optimized_ir(self, ir: str) -> str:
        """The LLVM IR that code is generated from."""
        return str(self._compiled(ir, 2)[0])

    def _compiled(
        self, ir: str, opt: int, library: str = ""
    ) -> tuple[llvm.ModuleRef, llvm.TargetMachine]:
        check_memory_for(ir)
        # Each call of llvmlite releases Python's lock and may have to wait for it afterwards, so
        # there are as few calls as possible.
        # Passes and code generation change a machine's state: one machine per module.
        machine = self._machine(opt)
        module = self._verified(ir)
        linked = [llvm.parse_assembly(library)] if library else []
        triple, data_layout = self._module_target(machine)
        for part in (module, *linked):
            part.triple, part.data_layout = triple, data_layout
        for part in linked:
            module.link_in(part)
        if ir.count("load ") + ir.count("store ") > MANY_ACCESSES:
            _exempt_long_functions(module)
        builder = llvm.create_pass_builder(machine, _tuning(min(opt, 1)))
        is_for_few = opt and self._architecture not in CHIPS and _VECTOR in ir
        if is_for_few and not _has(ir, _ASKED_FOR):
            _few_passes().run(module, builder)
        else:
            _run_passes(module, builder)
        for repaired in (
            without_stores_of_one_lane,
            without_constant_loads,
            without_idle_registers,
        ):
            module = repaired(module)
        return module, machine

    def _machine(self, opt: int) -> llvm.TargetMachine:
        try:
            return _target(self.triple).create_target_machine(
                cpu=self.cpu, features=self.features, opt=opt, reloc="pic", codemodel="small"
            )
        except RuntimeError as error:
            raise LLVMTranslationException(f"LLVM has no target '{self.triple}'") from error

    def _module_target(self, machine: llvm.TargetMachine) -> tuple[str, str]:
        """The triple and the data layout of modules for this target, which one of its machines
        says."""
        if (known := _module_targets.get(self)) is None:
            known = _module_targets[self] = machine.triple, str(machine.target_data)
        return known

    def _verified(self, ir: str) -> llvm.ModuleRef:
        try:
            module = llvm.parse_assembly(ir)
            module.verify()
        except RuntimeError as error:
            raise LLVMTranslationException(f"LLVM rejects the module: {error}") from error
        self._check_for_target(module, ir)
        return module

    def _check_for_target(self, module: llvm.ModuleRef, ir: str) -> None:
        """Refuse intrinsics and calling conventions that the architecture lacks, for which LLVM
        would end the process."""
        own = INTRINSICS.get(self._architecture, "llvm.cpu.")
        refused = LIBRARY_INTRINSICS if self._architecture in CHIPS else ()
        for function in module.functions if _has(ir, _PERHAPS_REFUSED) else ():
            name = function.name
            is_foreign = name.startswith(ALL_INTRINSICS) and not name.startswith(own)
            if is_foreign or name.startswith(refused):
                raise LLVMTranslationException(f"{self.triple} has no intrinsic '{name}'")
        convention = _GPU_FUNCTION.search(ir) if _has(ir, GPU_CONVENTIONS) else None
        if convention is not None and GPU_CONVENTIONS[convention[1]] != self._architecture:
            raise LLVMTranslationException(
                f"{self.triple} has no calling convention '{convention[1]}'"
            )


def _emitted(emit: Callable[[llvm.ModuleRef], T], module: llvm.ModuleRef) -> T:
    """The code of a module. Raises LLVMTranslationException, with LLVM's message."""
    try:
        return emit(module)
    except RuntimeError as error:
        raise LLVMTranslationException(f"LLVM generates no code: {error}") from error


_module_targets: dict[Machine, tuple[str, str]] = {}
"""The cached triple and data layout of each machine (`Machine._module_target`): LLVM takes 0.25 to
0.8 ms to give them."""


def _has(text: str, parts: Iterable[str]) -> bool:
    """Whether a text has any of these substrings."""
    return any(part in text for part in parts)
