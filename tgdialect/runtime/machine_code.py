"""The targets `obj`, `so`, `cubin` and `hsaco` of tg-opt: modules as machine code."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import IO, ClassVar

from xdsl.context import Context
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from tgdialect.analysis.symbols import SIGNATURE
from tgdialect.backends.asm import AmdgcnTarget, AsmTarget, PtxTarget
from tgdialect.backends.c_compiler import shared_library
from tgdialect.backends.commands import cubin, hsaco
from tgdialect.backends.guarded import guarded
from tgdialect.backends.llvm_ir import llvm_ir
from tgdialect.runtime.ahead import native_code
from tgdialect.runtime.shared_library import threads_of_library

_THREADS = """\
#include "threads.c"
__attribute__((constructor)) static void start(void) { start_threads(); }
"""
"""C of a library whose functions are the program's own: the threads of its loops."""


@dataclass(frozen=True)
class MachineCodeTarget(Target):
    """Writes bytes, each as the character of its number."""

    writes_bytes: ClassVar[bool] = True

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(self.code(module).decode("latin-1"))

    @abstractmethod
    def code(self, module: ModuleOp) -> bytes:
        """The machine code of a module."""


@dataclass(frozen=True)
class ObjectTarget(MachineCodeTarget, AsmTarget):
    """Writes a module of the `llvm` dialect as an object file of a CPU, by default this machine's.

    The options are those of `asm`.
    """

    name = "obj"

    def code(self, module: ModuleOp) -> bytes:
        return guarded(self.machine.object_code, llvm_ir(module))


@dataclass(frozen=True)
class SharedLibraryTarget(ObjectTarget):
    """Writes a module of the `llvm` dialect as a shared library, which exports its functions.

    It is linked by the system's C compiler. `tg-compile` makes libraries with functions for C.
    """

    name = "so"

    def code(self, module: ModuleOp) -> bytes:
        objects = [super().code(module)]
        exported = [
            op.sym_name.data
            for op in module.ops
            if isinstance(op, llvm.FuncOp) and SIGNATURE in op.attributes
        ]
        source, files = "", dict[str, bytes]()
        if b"tg_parallel" in objects[0]:
            source, files = _THREADS, threads_of_library()
            objects += [n.code for n in native_code(has_threads=True) if n.name == "pool"]
        return shared_library(source, objects, exported, files)


@dataclass(frozen=True)
class CubinTarget(MachineCodeTarget, PtxTarget):
    """Writes the `gpu.module` of a module as a cubin of NVIDIA's GPUs, which needs `ptxas`."""

    name = "cubin"

    def code(self, module: ModuleOp) -> bytes:
        machine, ir = self.translated(module)
        return cubin(guarded(machine.assembly, ir), machine.cpu)


@dataclass(frozen=True)
class HsacoTarget(MachineCodeTarget, AmdgcnTarget):
    """Writes the `gpu.module` of a module as a code object of AMD's GPUs, which needs `ld.lld`."""

    name = "hsaco"

    def code(self, module: ModuleOp) -> bytes:
        machine, ir = self.translated(module)
        return hsaco(guarded(machine.object_code, ir))
