"""The pass."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.constants import constant_slots
from tgdialect.analysis.machine import machine_of
from tgdialect.lowering.levels import LoweringPass
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.heuristic import schedule, schedule_prepacking
from tgdialect.lowering.optimize.opts import apply_opts, mark_global, parse_opt
from tgdialect.ops.attributes import OptAttr
from tgdialect.ops.call import KernelOp
from tgdialect.transforms.simplify import simplify

EXPLICIT = "explicit"
MODES = ("none", "heuristic", EXPLICIT, "beam:N")
"""Those that there are; the last needs a machine to time on (`tgdialect/runtime/optimize.py`)."""


@dataclass(frozen=True)
class OptimizePass(LoweringPass):
    """Settle the axis type of every range, and record the OptOps on the kernel.

    `mode=none`, the tutorial's NOOPT, keeps the loops as rangeify wrote them: LOOP and REDUCE, in
    order, on one thread. `mode=heuristic` finds a schedule for a machine with the `features` of a
    CPU in LLVM's spelling, so many `threads`, and a second cache of `l2` bytes: unless they are
    said, the last two are those of this machine. `mode=explicit` applies `opts`, as
    `opts="split 0, 4, upcast","order 1, 0"`, to every kernel but those that a STAGE has made.
    """

    name = "tg-optimize"
    level_before = "kernels"
    level_after = "kernels"

    mode: str = "none"
    features: tuple[str, ...] = ()
    threads: int | None = None
    l2: int | None = None
    opts: tuple[str, ...] = ()

    def lower(self, module: ModuleOp) -> None:
        if self.mode not in MODES[:-1]:
            there_are = ", ".join(MODES)
            raise PassFailedException(
                f"mode {self.mode!r} is not one of the modes there are: {there_are}"
            )
        if self.mode != EXPLICIT:
            self.check_opts()
        try:
            machine = machine_of(self.features, self.threads, self.l2)
        except ValueError as error:
            raise PassFailedException(str(error)) from None
        opts = [parse_opt(text) for text in self.opts]
        constants = constant_slots(module)
        for kernel in list(module.ops):
            if not isinstance(kernel, KernelOp):
                continue
            if kernel.sink.opts is None:
                kernel.sink.opts = ArrayAttr[OptAttr]([])
            if self.mode == "none":
                continue
            axes = Axes(kernel, constants=constants.get(kernel.sym_name.data, frozenset()))
            mark_global(axes)
            if self.mode == EXPLICIT:
                apply_opts(axes, opts)
            else:
                schedule(axes, machine)
            schedule_prepacking(axes, machine)
        if self.mode != "none":
            simplify(module, loops=False)

    def check_opts(self) -> None:
        """Raise PassFailedException where `opts` are given to a mode that takes none."""
        if self.opts:
            raise PassFailedException(f"mode {self.mode!r} takes no opts: mode=explicit does")
