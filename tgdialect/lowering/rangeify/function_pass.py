"""The passes that `tg-rangeify` is a sequence of."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block

from tgdialect.analysis.symbols import own_functions
from tgdialect.lowering.levels import LoweringPass
from tgdialect.targets import Target
from tgdialect.targets.attribute import settle_target


class FunctionPass(LoweringPass):
    """A pass that rewrites each function by itself, for any target."""

    level_before = "function"
    level_after = "function"

    def lower(self, module: ModuleOp) -> None:
        for function in own_functions(module):
            self.rewrite(function.body.block)

    @abstractmethod
    def rewrite(self, block: Block) -> None:
        """Rewrite the body of a function."""


@dataclass(frozen=True)
class TargetFunctionPass(LoweringPass):
    """A pass that rewrites each function by itself, for the target of the module."""

    level_before = "function"
    level_after = "function"

    target: str | None = None
    """The kind of machine, as `cpu`. By default that of the module, or of this machine."""

    def lower(self, module: ModuleOp) -> None:
        target = settle_target(module, self.target)
        for function in own_functions(module):
            self.rewrite(function.body.block, target)

    @abstractmethod
    def rewrite(self, block: Block, target: Target) -> None:
        """Rewrite the body of a function."""
