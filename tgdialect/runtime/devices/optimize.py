"""`tg-optimize` with BEAM, the mode that times kernels, on this machine or on a device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

from tgdialect.lowering.optimize import Scheduled, settled
from tgdialect.ops import tg
from tgdialect.runtime.devices.device import DEVICES
from tgdialect.runtime.devices.driver import DeviceError, Driver
from tgdialect.runtime.optimize import MeasuringOptimizePass, beam_width
from tgdialect.targets import Target
from tgdialect.targets.attribute import settle_target
from tgdialect.transforms.simplify import simplify_kernels


@dataclass(frozen=True)
class DeviceOptimizePass(MeasuringOptimizePass):
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

    `mode="beam:N"` times schedules on this machine or, for the target of a device, on that device:
    a beam of width N (4 if it is not given) is searched for `TG_BEAM_SECONDS` seconds for each
    kernel at most, by default 20. The best schedule is kept in the object cache. Kernels whose
    sizes are dynamic have the heuristic's.

    With a schedule index arithmetic is simplified: SPLITs have made more of it.
    A kernel that overwrites what it reads in another iteration reads a copy instead, whatever the
    mode is.
    """

    device: str | None = None
    """The device that times schedules for a grid, as `CL:0`; the first that runs programs for the
    target unless given."""

    def scheduled(self, module: ModuleOp) -> Iterator[Scheduled]:
        width = beam_width(self.mode)
        target = None
        if width is not None and self.features == ():
            target = settle_target(module, self.target, threads=self.threads, l2=self.l2)
        if width is None or target is None or not target.is_grid:
            yield from super().scheduled(module)
            return
        self.check_opts()
        from tgdialect.runtime.beam import search_schedules  # Imports NumPy's random numbers.
        from tgdialect.runtime.devices.bench import DeviceBench  # Imports LLVM.

        driver = self._driver(target)
        search_schedules(module, width, target, lambda _, call: DeviceBench(call, driver, target))
        simplify_kernels(module)
        yield from settled(op for op in module.ops if isinstance(op, tg.KernelOp))

    def _driver(self, target: Target) -> Driver:
        """The device that schedules are timed on."""
        try:
            device = DEVICES[self.device] if self.device else DEVICES.for_target(target.name)
            return device.driver
        except DeviceError as error:
            raise PassFailedException(
                f"mode {self.mode!r} times schedules for {target.name} on a device: {error}"
            ) from None
