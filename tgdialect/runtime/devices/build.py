"""From a module at any level to a `DeviceProgram`: the remaining stages, then code for kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from xdsl.dialects.builtin import ModuleOp

from tgdialect.backends.ptx import kernel_ir
from tgdialect.lowering.pipeline import Stages
from tgdialect.lowering.render.stage import default_output
from tgdialect.ops.codegen import ProgramOp, SourceOp
from tgdialect.ops.source import BinaryDataOp
from tgdialect.runtime.codegen import CodeGenerator
from tgdialect.runtime.devices.commands import command_buffer
from tgdialect.runtime.devices.program import DeviceProgram
from tgdialect.runtime.inspection import Kernel, kernels_of
from tgdialect.runtime.speed import at_full_speed
from tgdialect.runtime.staged import StagedModule, entry_function
from tgdialect.targets import Target
from tgdialect.targets.attribute import target_of


@dataclass(frozen=True)
class DeviceBuild(StagedModule):
    """The compilation of a program for a device."""

    target: Target | None = None
    """What the device is. A `tg.target` of the module takes precedence."""

    def described_target(self) -> Target:
        assert self.target is not None
        return self.target

    @cached_property
    def passes(self) -> Stages:
        passes = super().passes
        return replace(passes, render=None) if _has_code(self.source) else passes

    def program(self) -> DeviceProgram:
        """Compile.

        Raises VerifyException or PassFailedException for programs that cannot be compiled.
        """
        with at_full_speed():
            module, by_reference = self.copy()
            windows = self.until_kernels(module, self.passes)
            for stage in self.passes.kernels:
                stage.lower(module)
            parameters = self.signature(module, by_reference)
            if (render := self.passes.render) is not None:
                target = target_of(module)
                if default_output(target) == "gpu":
                    _assemble(module, target)
                else:
                    render.lower(module)
            buffer = command_buffer(entry_function(module, self.entry))
            return DeviceProgram(tuple(parameters), *buffer, windows)

    @property
    def kernels(self) -> Sequence[Kernel]:
        """Each kernel of the program, in the order of the calls."""
        return self._kernels

    @cached_property
    def _kernels(self) -> Sequence[Kernel]:
        code = {kernel.name: kernel for kernel in self.program().kernels}

        def code_of(name: str) -> tuple[str, str]:
            kernel = code[name]
            if kernel.is_binary:
                return "", kernel.code.hex()
            return ("", kernel.text) if kernel.is_ptx else (kernel.text, "")

        return kernels_of(entry_function(self._linear, self.entry), code_of)

    @cached_property
    def _linear(self) -> ModuleOp:
        """The program after tg-linearize: as it is if it was at that level before."""
        return self.module("linearize") if "linearize" in self.snapshots else self.source

    @property
    def programs(self) -> Mapping[str, ProgramOp]:
        """The kernels in order, by their names."""
        return {op.sym_name.data: op for op in self._linear.ops if isinstance(op, ProgramOp)}


def _assemble(module: ModuleOp, target: Target) -> None:
    """Give the programs of a module at level `planned` their SOURCEs in the assembly of a GPU."""
    kernels = kernel_ir(module, target)
    with CodeGenerator(kernels.machine.assembly) as generator:
        coming = {name: generator.submit(text) for name, text in kernels.texts.items()}
        codes = {name: code.result() for name, code in coming.items()}
    for program in module.ops:
        if isinstance(program, ProgramOp):
            source = SourceOp(codes[program.sym_name.data])
            source.location = program.location
            program.body.block.insert_op_after(source, program.linear)


def _has_code(module: ModuleOp) -> bool:
    """Whether every program of a module has its code already, if it has programs."""
    programs = [op for op in module.ops if isinstance(op, ProgramOp)]
    return bool(programs) and all(
        any(isinstance(op, SourceOp | BinaryDataOp) for op in program.body.block.ops)
        for program in programs
    )
