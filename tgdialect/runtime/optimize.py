"""BEAM's timer: the search of `tg-optimize` for schedules, on this machine or on a device.

The pass finds it by its name in `universe.py`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

from tgdialect.lowering.optimize import OptimizePass
from tgdialect.runtime.devices.device import DEVICES
from tgdialect.runtime.devices.driver import DeviceError
from tgdialect.runtime.program import HOST
from tgdialect.targets.attribute import settle_target


def search(module: ModuleOp, width: int, options: OptimizePass) -> None:
    """Apply to each kernel of a module the fastest schedule that a beam of a width finds.

    Raises PassFailedException if there is no machine to time on, and SettingError for a wrong
    `TG_BEAM_SECONDS`.
    """
    given = options.features, options.threads, options.l2
    if not options.features:
        target = settle_target(module, options.target, threads=options.threads, l2=options.l2)
        if target.is_grid:
            from tgdialect.runtime.beam import search_schedules  # Imports NumPy's random numbers.
            from tgdialect.runtime.devices.bench import DeviceBench  # Imports LLVM.

            try:
                named = options.device not in (None, HOST)
                device = DEVICES[options.device or ""] if named else DEVICES.for_target(target.name)
                driver = device.driver
            except DeviceError as error:
                raise PassFailedException(
                    f"mode {options.mode!r} times schedules for {target.name} on a device: {error}"
                ) from None
            search_schedules(
                module, width, target, lambda _, call: DeviceBench(call, driver, target)
            )
            return
    from tgdialect.runtime.host_bench import search_on_host  # Imports LLVM and NumPy.

    search_on_host(module, width, *given)
