"""The pass."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.machine import machine_of
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.heuristic import schedule
from tgdialect.lowering.optimize.opts import mark_global
from tgdialect.ops.attributes import OptAttr
from tgdialect.ops.call import KernelOp

MODES = ("none", "heuristic")


@dataclass(frozen=True)
class OptimizePass(ModulePass):
    """Settle the axis type of every range, and record the OptOps on the kernel.

    `mode=none`, the tutorial's NOOPT, keeps the loops as rangeify wrote them: LOOP and REDUCE, in
    order, on one thread. `mode=heuristic` finds a schedule for this machine, with the `features` of
    a CPU in LLVM's spelling and as many `threads` as it says.
    """

    name = "tg-optimize"
    level_before = "kernels"
    level_after = "kernels"

    mode: str = "none"
    features: tuple[str, ...] = ()
    threads: int | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.mode not in MODES:
            raise PassFailedException(
                f"mode {self.mode!r} is not one of the modes there are: {', '.join(MODES)}"
            )
        machine = machine_of(self.features, self.threads)
        for kernel in op.ops:
            if not isinstance(kernel, KernelOp):
                continue
            if kernel.sink.opts is None:
                kernel.sink.opts = ArrayAttr[OptAttr]([])
            if self.mode == "heuristic":
                axes = Axes(kernel)
                mark_global(axes)
                schedule(axes, machine)
