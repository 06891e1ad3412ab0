"""Passes that need a program at a level, and how they find out whether it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException, VerifyException

from tgdialect.analysis.symbols import own_functions
from tgdialect.diagnostics import begins, errors_at
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.verify import LEVELS, verify_level
from tgdialect.ops import tg
from tgdialect.registry import upgrades_for

STAGES = {
    "tensor": ("tg-callify",),
    "function": ("tg-rangeify",),
    "kernels": ("tg-optimize", "tg-expand"),
    "tiles": ("tg-select",),
    "target": ("tg-linearize",),
    "linear": ("tg-plan",),
    "planned": ("tg-render",),
}
"""The stages from each level to the next."""

_PIPELINES = {("tensor", "planned"): "tg-to-source", ("tensor", "llvm"): "tg-to-llvm"}
_ORDER = tuple(LEVELS)
_TRIED = ("tensor", "kernels", "function", *_ORDER[3:])
"""The order in which `level_of` tries the levels."""


class LoweringPass(ModulePass, ABC):
    """A pass from one level to another, or to the same.

    `apply` checks the level of the module, for users who run the pass by itself. `lower` does not:
    a pipeline checks once, before its first pass.
    """

    level_before: ClassVar[str]
    level_after: ClassVar[str]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        check_level(op, self)
        self.lower(op)

    @abstractmethod
    def lower(self, module: ModuleOp) -> None:
        """Rewrite a module that is at the level of the pass."""


class KernelPass(LoweringPass):
    """A pass that takes each kernel by itself, and each function around them."""

    @abstractmethod
    def lower_kernel(self, kernel: tg.KernelOp | tg.ProgramOp) -> tg.KernelOp | tg.ProgramOp:
        """Lower a kernel in place. Returns the op that replaces it, or the kernel itself if it is
        not at the level that the pass takes."""

    def lower_function(self, function: FuncOp) -> None:
        """Lower a function."""

    def lower(self, module: ModuleOp) -> None:
        for symbol in ops_of(module.body.block):
            if isinstance(symbol, tg.KernelOp | tg.ProgramOp):
                with errors_at(symbol):
                    if begins("kernel", symbol):
                        self.lower_kernel(symbol)
        if type(self).lower_function is KernelPass.lower_function:
            return
        # Functions last: the effects of their CALLs are those of the lowered kernels.
        for function in own_functions(module):
            with errors_at(function):
                if begins("function", function):
                    self.lower_function(function)


def check_level(module: ModuleOp, wanted: LoweringPass) -> None:
    """Raise PassFailedException unless a module is at the level that a pass takes.

    The error is at the first op that does not belong there, and names the passes that are missing.
    """
    try:
        verify_level(module, wanted.level_before)
    except VerifyException as error:
        needs = f"{wanted.name} needs level {wanted.level_before}"
        failure = PassFailedException(f"{needs}{_reason(module, wanted.level_before, error)}")
        vars(failure).update(vars(error))  # Where it is (`locate`).
        raise failure from None


def _reason(module: ModuleOp, wanted: str, error: VerifyException) -> str:
    for dialect, upgrade in upgrades_for(module).items():
        return f", and the module has ops of {dialect}: run {upgrade} first"
    level = level_of(module)
    if level is None:
        return f": {error}"
    if is_before(wanted, level):
        return f", and the module is at level {level} already"
    return f", and the module is at level {level}: {stages_to_run(level, wanted)}"


def stages_to_run(level: str, wanted: str) -> str:
    """Which stages take a module from one level to a later one, for messages."""
    whole = _PIPELINES.get((level, wanted))
    said = f" ({whole} runs all of these)" if whole else ""
    return f"run {', '.join(stages_between(level, wanted))} first{said}"


def level_of(module: ModuleOp) -> str | None:
    """The first level, in the order of the stages, that a module is at; None if it is at none.

    A module may be at several levels: a kernel without vectors is at `kernels`, `tiles` and
    `target`. Starting from the first, no stage that it needs is left out. A function that only
    calls kernels needs no tg-rangeify: it is at `kernels` rather than at `function`.
    """
    level = next((level for level in _TRIED if _is_at(module, level)), None)
    return "planned" if level == "linear" and _is_planned(module) else level


def _is_at(module: ModuleOp, level: str) -> bool:
    try:
        verify_level(module, level)
    except VerifyException:
        return False
    return True


def find_level(module: ModuleOp) -> str:
    """The first level that a module is at.

    Raises VerifyException at the first op that keeps it from the level that it resembles.
    """
    level = level_of(module)
    if level is None:
        verify_level(module, level := _resembled(module))
    return level


def _resembled(module: ModuleOp) -> str:
    """The level that a module with an error was probably meant to be at."""
    if any(isinstance(op, tg.ProgramOp) for op in module.ops):
        return "planned" if _is_planned(module) else "linear"
    arguments = [argument for function in own_functions(module) for argument in function.args]
    if all(tg.ALLOCATED.isdisjoint(tg.argument_attributes(argument)) for argument in arguments):
        return "tensor"
    return "kernels" if any(isinstance(op, tg.KernelOp) for op in module.ops) else "function"


def _is_planned(module: ModuleOp) -> bool:
    """Whether tg-plan has run: it records the size of the workspace of each function."""
    return any("tg.workspace_bytes" in function.attributes for function in own_functions(module))


def is_before(level: str, other: str) -> bool:
    """Whether a level comes before another one in the order of the stages."""
    return _ORDER.index(level) < _ORDER.index(other)


def stages_between(level: str, wanted: str) -> Sequence[str]:
    """The names of the stages that take a module from one level to a later one."""
    levels = _ORDER[_ORDER.index(level) : _ORDER.index(wanted)]
    return [stage for each in levels for stage in STAGES[each]]
