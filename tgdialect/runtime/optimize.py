"""`tg-optimize` with BEAM, the mode that times kernels on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

from tgdialect.lowering.optimize import OptimizePass, Scheduled, settled
from tgdialect.lowering.optimize.explicit import explicit_opts
from tgdialect.lowering.optimize.modes import BEAM
from tgdialect.ops import tg
from tgdialect.transforms.simplify import simplify_kernels

DEFAULT_WIDTH = 4
"""The schedules that a beam search keeps for the next round, unless `opt` says how many. Larger:
longer searches; smaller: local optima."""


@dataclass(frozen=True)
class MeasuringOptimizePass(OptimizePass):
    """Settle the axis type of every range, and record the OptOps on the kernel.

    `mode=none`, the tutorial's NOOPT, keeps the loops as rangeify wrote them: LOOP and REDUCE, in
    order, on one thread. `mode=heuristic` finds a schedule for a machine with these `features`,
    `threads` and `l2`. An option that is not given is read from the module's `tg.target`; options
    that are given are written to it. A kernel whose SINK records OptOps has its schedule: these
    modes leave it alone. `mode="heuristic:tf32"` may also round the factors of f32 products to
    tf32, 10 bits after the point, where the target has matrix instructions for that.

    `mode=explicit` applies `opts`, as `opts="split 0, 4, upcast","@main_1: order 1, 0"`, to every
    kernel but those that a STAGE has made, or to the one that an OptOp names. In one word that is
    `mode="explicit:split 0, 4, upcast; @main_1: order 1, 0"`.

    `mode="beam:N"` times schedules on this machine: a beam of width N (4 if it is not given) is
    searched for `TG_BEAM_SECONDS` seconds for each kernel at most, by default 20. The best schedule
    is kept in the object cache. Kernels whose sizes are dynamic have the heuristic's.

    With a schedule index arithmetic is simplified: SPLITs have made more of it.
    A kernel that overwrites what it reads in another iteration reads a copy instead, whatever the
    mode is.
    """

    def scheduled(self, module: ModuleOp) -> Iterator[Scheduled]:
        width = beam_width(self.mode)
        if width is None:
            yield from super().scheduled(module)
            return
        self.check_opts()
        from tgdialect.runtime.host_bench import search_on_host  # Imports LLVM and NumPy.

        search_on_host(module, width, self.features, self.threads, self.l2)
        simplify_kernels(module)
        yield from settled(op for op in module.ops if isinstance(op, tg.KernelOp))

    def check_opts(self) -> None:
        """Raise PassFailedException for opts where the mode takes none."""
        explicit_opts(self.mode, self.opts)


def beam_width(mode: str) -> int | None:
    """The width that a mode asks for, as "beam:4"; None for other modes.

    Raises PassFailedException where it is no positive number.
    """
    name, colon, width = mode.partition(":")
    if name != BEAM:
        return None
    if not colon:
        return DEFAULT_WIDTH
    if not (width.isascii() and width.isdigit() and int(width) > 0):
        raise PassFailedException(f"mode {mode!r}: the width of a beam is a positive number")
    return int(width)
