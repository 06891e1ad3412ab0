"""Optimize: decide how each range of a kernel is executed.

Kernels level to kernels level. `mode=none`, the tutorial's NOOPT, keeps the loops as rangeify wrote
them: LOOP and REDUCE, in order, on one thread. It records that no OptOp was applied.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from tgdialect.ops.attributes import OptAttr
from tgdialect.ops.call import KernelOp

MODES = ("none",)


@dataclass(frozen=True)
class OptimizePass(ModulePass):
    """Settle the axis type of every range, and record the OptOps on the kernel."""

    name = "tg-optimize"
    level_before = "kernels"
    level_after = "kernels"

    mode: str = "none"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.mode not in MODES:
            raise PassFailedException(
                f"mode {self.mode!r} is not one of the modes there are: {', '.join(MODES)}"
            )
        for kernel in op.ops:
            if isinstance(kernel, KernelOp) and kernel.sink.opts is None:
                kernel.sink.opts = ArrayAttr[OptAttr]([])
