"""The `asm` target of tg-opt."""

from dataclasses import dataclass
from typing import IO

import llvmlite.binding as llvm
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.backends.llvm_ir import llvm_ir


@dataclass(frozen=True)
class AsmTarget(Target):
    """Writes a module of the `llvm` dialect as assembly of a CPU, by default this machine's.

    `triple`, `cpu` and `features` are LLVM's, as in `llc -mtriple=... -mcpu=... -mattr=...`.
    """

    name = "asm"

    triple: str = ""
    cpu: str = ""
    features: str = ""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        given = self.triple or self.cpu or self.features
        target = (
            CpuTarget(self.triple or llvm.get_process_triple(), self.cpu, self.features)
            if given
            else CpuTarget.host()
        )
        output.write(target.assembly(llvm_ir(module)))
