"""`tg-assemble`: gives each program of a module its machine code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import LLVMTranslationException, PassFailedException

from tgdialect.analysis.symbols import called_symbols
from tgdialect.backends.commands import cubin, hsaco
from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.backends.llvm_ir import llvm_ir
from tgdialect.backends.ptx import kernel_ir
from tgdialect.diagnostics import locate
from tgdialect.lowering.levels import LoweringPass
from tgdialect.lowering.render.llvm import render_symbols
from tgdialect.lowering.render.names import SOURCE
from tgdialect.lowering.render.stage import default_output
from tgdialect.ops import tg
from tgdialect.targets import DEFAULT_TARGET, Target
from tgdialect.targets.attribute import state_target, target_of
from tgdialect.targets.cpu import with_arithmetic_alone


@dataclass(frozen=True)
class AssemblePass(LoweringPass):
    """Give each program its machine code, a `tg.binary` beside its LINEAR.

    It is object code for a CPU, and for a GPU a cubin, which needs ptxas, or an hsaco, which needs
    LLVM's linker. `tgdialect.compile(module, allow_custom=True)` runs it as it
    is: the programs are not compiled again. The module states the target: a CPU needs its features.
    """

    name = "tg-assemble"
    level_before = "planned"
    level_after = "planned"

    target: str | None = None
    """The kind of machine."""

    def lower(self, module: ModuleOp) -> None:
        target = with_arithmetic_alone(target_of(module, self.target))
        state_target(module, target)
        codes = dict(_codes(module, target))
        for program in _programs(module):
            if (before := program.binary) is not None:
                before.detach()
            binary = tg.BinaryDataOp(codes[program.sym_name.data])
            binary.location = program.location
            program.body.block.add_op(binary)


def _programs(module: ModuleOp) -> list[tg.ProgramOp]:
    """The programs that compute: one that only calls others has no machine code."""
    return [op for op in module.ops if isinstance(op, tg.ProgramOp) and not op.calls]


def _codes(module: ModuleOp, target: Target) -> Iterator[tuple[str, bytes]]:
    """The machine code of each program, by its name."""
    if target.name == DEFAULT_TARGET:
        machine = CpuTarget.of(target)
        for program in _programs(module):
            functions = render_symbols([program], called_symbols([program]), target)
            try:
                code = machine.object_code(llvm_ir(ModuleOp(list(functions))))
            except LLVMTranslationException as error:
                raise locate(PassFailedException(str(error)), program) from error
            yield program.sym_name.data, code
        return
    if default_output(target) != "gpu":
        message = f"the target {target.name} has sources, which its own compiler takes"
        raise locate(
            PassFailedException(f"{message}: only a CPU or a GPU has machine code"), module
        )
    kernels = kernel_ir(module, target)
    for program in _programs(module):
        name = program.sym_name.data
        text = kernels.texts[SOURCE.symbol(name)]
        try:
            if kernels.language == "ptx":
                code = cubin(kernels.machine.assembly(text), kernels.machine.cpu)
            else:
                code = hsaco(kernels.machine.object_code(text))
        except LLVMTranslationException as error:
            raise locate(PassFailedException(str(error)), program) from error
        yield name, code
