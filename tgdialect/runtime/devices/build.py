"""From a module at any level to a `DeviceProgram`: the remaining stages, then code for kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp

from tgdialect.lowering.pipeline import Stages
from tgdialect.ops import tg
from tgdialect.runtime.devices.commands import command_buffer, give_code
from tgdialect.runtime.devices.program import DeviceProgram
from tgdialect.runtime.inspection import CodeOf
from tgdialect.runtime.progress import GENERATING, progress
from tgdialect.runtime.speed import at_full_speed
from tgdialect.runtime.staged import StagedModule, entry_function
from tgdialect.targets import Target


@dataclass(frozen=True)
class DeviceBuild(StagedModule):
    """The compilation of a program for a device."""

    target: Target | None = None
    """The description of the device. A `tg.target` of the module takes precedence."""
    on_host: ClassVar[bool] = False

    def described_target(self) -> Target:
        assert self.target is not None
        return self.target

    @cached_property
    def passes(self) -> Stages:
        passes = super().passes
        return replace(passes, render=None) if _has_code(self.source) else passes

    def program(self) -> DeviceProgram:
        with progress(f"compiling {self.entry}") as shown, at_full_speed():
            module, parameters, windows = self.planned(shown)
            if (render := self.passes.render) is not None:
                shown.note = GENERATING
                give_code(module, render)
            buffer = command_buffer(entry_function(module, self.entry))
            return DeviceProgram(parameters, *buffer, windows)

    def _code_of(self) -> CodeOf:
        code = {kernel.name: kernel for kernel in self.program().kernels}

        def code_of(name: str) -> tuple[str, str]:
            kernel = code[name]
            if kernel.is_binary:
                return "", kernel.code.hex()
            return ("", kernel.text) if kernel.is_ptx else (kernel.text, "")

        return code_of


def _has_code(module: ModuleOp) -> bool:
    """Whether every program of a module has its code already, if it has programs."""
    programs = [op for op in module.ops if isinstance(op, tg.ProgramOp) and not op.calls]
    return bool(programs) and all(
        any(isinstance(op, tg.SourceOp | tg.BinaryDataOp) for op in program.body.block.ops)
        for program in programs
    )
