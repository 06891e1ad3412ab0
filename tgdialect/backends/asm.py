"""The targets `asm`, `ptx` and `amdgcn` of tg-opt: modules of the `llvm` dialect as assembly."""

from dataclasses import dataclass
from typing import IO, ClassVar

import llvmlite.binding as llvm
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import LLVMTranslationException
from xdsl.utils.target import Target

from tgdialect.backends.guarded import guarded
from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.backends.llvm_ir import llvm_ir
from tgdialect.backends.llvm_machine import Machine
from tgdialect.diagnostics import locate
from tgdialect.gpu_dialect import gpu
from tgdialect.gpu_dialect.target import ChipAttr, NVVMTargetAttr, ROCDLTargetAttr


@dataclass(frozen=True)
class AsmTarget(Target):
    """Writes a module of the `llvm` dialect as assembly of a CPU, by default this machine's.

    `triple`, `cpu` and `features` are LLVM's, as in `llc -mtriple=... -mcpu=... -mattr=...`.
    """

    name = "asm"

    triple: str = ""
    cpu: str = ""
    features: str = ""

    @property
    def machine(self) -> CpuTarget:
        """The CPU that the options describe."""
        if not (self.triple or self.cpu or self.features):
            return CpuTarget.host()
        return CpuTarget(self.triple or llvm.get_process_triple(), self.cpu, self.features)

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(guarded(self.machine.assembly, llvm_ir(module)))


@dataclass(frozen=True)
class DeviceTarget(Target):
    """Writes the `gpu.module` of a module, which holds the `llvm` dialect, as assembly of a GPU.

    `chip` and `features` are LLVM's; by default they are those of the `gpu.module`'s target.
    """

    kind: ClassVar[type[ChipAttr]]
    """The attribute of a `gpu.module` for such chips."""

    chip: str = ""
    features: str = ""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        machine, ir = self.translated(module)
        output.write(guarded(machine.assembly, ir))

    def translated(self, module: ModuleOp) -> tuple[Machine, str]:
        """The chip of a module's `gpu.module`, and the LLVM IR of its kernels."""
        found = [op for op in module.ops if isinstance(op, gpu.ModuleOp)]
        if len(found) != 1:
            raise LLVMTranslationException(
                f"expected a single gpu.module, which tg-to-gpu makes; found {len(found)}"
            )
        (device,) = found
        targets = () if device.targets is None else device.targets.data
        others = [t for t in targets if isinstance(t, ChipAttr) and not isinstance(t, self.kind)]
        if others and len(others) == len(targets):
            there_are = " and ".join(t.chip for t in others)
            other = assembly_language(others[0])
            message = f"the gpu.module is for {there_are}, print it by -t {other}"
            raise locate(LLVMTranslationException(message), device)
        stated = next((t for t in targets if isinstance(t, self.kind)), self.kind.of(self.chip))
        chip, features = self.chip or stated.chip, self.features or stated.features
        return Machine(stated.triple, chip, features), llvm_ir(device)


@dataclass(frozen=True)
class PtxTarget(DeviceTarget):
    """Writes the `gpu.module` of a module as PTX, the assembly of NVIDIA's GPUs."""

    name = "ptx"
    kind = NVVMTargetAttr


@dataclass(frozen=True)
class AmdgcnTarget(DeviceTarget):
    """Writes the `gpu.module` of a module as assembly of AMD's GPUs."""

    name = "amdgcn"
    kind = ROCDLTargetAttr


def assembly_language(chip: ChipAttr) -> str:
    """The name of the target that prints assembly for a chip."""
    return next(t.name for t in (PtxTarget, AmdgcnTarget) if isinstance(chip, t.kind))
