"""The passes that `tg-rangeify` is a sequence of."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation
from xdsl.traits import SymbolTable

from tgdialect.analysis.memory_order import kernels_unchanged
from tgdialect.analysis.symbols import callees_first, own_functions
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.levels import LoweringPass
from tgdialect.ops import tg
from tgdialect.targets import Target
from tgdialect.targets.attribute import settle_target


class FunctionPass(LoweringPass):
    """A pass that rewrites each function by itself, for any target."""

    level_before = "function"
    level_after = "function"

    def lower(self, module: ModuleOp) -> None:
        for block in _bodies(module):
            self.rewrite(block)

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
        for block in _bodies(module):
            self.rewrite(block, target)

    @abstractmethod
    def rewrite(self, block: Block, target: Target) -> None:
        """Rewrite the body of a function."""


def _bodies(module: ModuleOp) -> Iterator[Block]:
    """The bodies of functions, of the callees first. What each of them accesses is found once."""
    with kernels_unchanged():
        for symbol in functions_in_order(module):
            if isinstance(symbol, FuncOp):
                yield symbol.body.block


def functions_in_order(module: ModuleOp) -> Sequence[FuncOp | tg.KernelOp]:
    """The functions of the dialect, and the kernels that call functions, after what they call.

    Raises PassFailedException if one calls itself.
    """
    kernels = (op for op in ops_of(module.body.block) if isinstance(op, tg.KernelOp))
    calling = [k for k in kernels if any(map(called_function, ops_of(k.body.block)))]
    return callees_first([*own_functions(module), *calling])


def called_function(op: Operation) -> FuncOp | None:
    """The function that an op calls; None if it calls none."""
    callee = SymbolTable.lookup_symbol(op, op.callee) if isinstance(op, tg.CallOp) else None
    return callee if isinstance(callee, FuncOp) else None
