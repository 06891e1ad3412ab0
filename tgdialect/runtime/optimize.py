"""BEAM's timer: the search of `tg-optimize` for schedules, on this machine or on a device, and what
times kernels there.

The pass finds it by its name in `universe.py`.
"""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.backends.llvm_ir import llvm_ir
from tgdialect.lowering.optimize import OptimizePass
from tgdialect.lowering.pipeline import run_stages, stages
from tgdialect.lowering.render import RenderPass
from tgdialect.lowering.render.names import OBJECT
from tgdialect.ops import tg
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.beam import Bench, Run, search_schedules
from tgdialect.runtime.codegen import generated
from tgdialect.runtime.devices.array import DeviceArray
from tgdialect.runtime.devices.build import CommandBuffer, command_buffer, give_code
from tgdialect.runtime.devices.device import DEVICES
from tgdialect.runtime.devices.driver import DeviceError, Driver, bound
from tgdialect.runtime.loader import Image, load
from tgdialect.runtime.memory import address
from tgdialect.runtime.program import HOST
from tgdialect.runtime.staged import entry_function
from tgdialect.targets import Target
from tgdialect.targets.attribute import MODULE_ATTRIBUTE, lacking_here, settle_target
from tgdialect.targets.host import host_features


def search(module: ModuleOp, width: int, options: OptimizePass) -> None:
    """Apply to each kernel of a module the fastest schedule that a beam of a width finds.

    Raises PassFailedException if there is no machine to time on, and SettingError for a wrong
    `TG_BEAM_SECONDS`.
    """
    if not options.features:
        target = settle_target(module, options.target, threads=options.threads, l2=options.l2)
        if target.is_grid:
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
    search_on_host(module, width, options.features, options.threads, options.l2)


def search_on_host(
    module: ModuleOp, width: int, features: tuple[str, ...], threads: int | None, l2: int | None
) -> None:
    """`search_schedules` on this machine.

    `features`, `threads` and `l2` are the options of `OptimizePass`. With neither `features` nor a
    `tg.target` the target is this machine.

    Raises PassFailedException for an invalid `TG_BEAM_SECONDS`, feature or number of threads, and
    for a target that this CPU cannot execute.
    """
    # The target of the schedules, and the processor that LLVM compiles candidates for: this one, or
    # one of just the features that were asked for.
    cpu = CpuTarget.host()
    if features:
        target = settle_target(module, features=features, threads=threads, l2=l2)
        names = ",".join(f"+{name}" for name in sorted(target.features))
        cpu = replace(cpu, cpu="", features=names)
    else:
        known = () if MODULE_ATTRIBUTE in module.attributes else host_features()
        target = settle_target(module, features=known, threads=threads, l2=l2)
    if lacks := lacking_here(target):
        raise PassFailedException(
            f"mode=beam times kernels on this CPU, which lacks {', '.join(lacks)}: schedule for it "
            "by mode=heuristic"
        )
    search_schedules(module, width, target, lambda _, call: HostBench(call, cpu, target))


class HostBench(Bench):
    """Runs candidates on arrays of this process, by the clock of this process."""

    def __init__(self, call: tg.CallOp, cpu: CpuTarget, target: Target) -> None:
        """`cpu` is what LLVM generates code for."""
        super().__init__(call, target)
        self._cpu = cpu
        self._stages = replace(stages(), module=(), optimize=None)

    @property
    def key(self) -> Sequence[str]:
        return (repr(self._cpu),)

    @property
    def name(self) -> None:
        return None

    def _run(self, module: ModuleOp, entry: str, arrays: Sequence[Array]) -> Run:
        run_stages(module, self._stages)
        code = load(generated(self._cpu.object_code, llvm_ir(module)))
        return _HostRun(code, OBJECT.symbol(entry), arrays)


class _HostRun(Run):
    """Machine code in this process."""

    def __init__(self, code: Image, symbol: str, arrays: Sequence[Array]) -> None:
        super().__init__(arrays)
        self._code = code  # Its memory is this code's.
        pointers = [ctypes.c_void_p] * len(arrays)
        self._function: Any = ctypes.CFUNCTYPE(None, *pointers)(code.address(symbol))
        self._addresses = [address(array) for array in arrays]

    def __call__(self) -> float:
        start = time.perf_counter()
        self._function(*self._addresses)
        return time.perf_counter() - start

    def results(self, arrays: Sequence[Array]) -> Mapping[int, Array]:
        copies = [array.copy() for array in arrays]
        self._function(*map(address, copies))
        return dict(enumerate(copies))


class DeviceBench(Bench):
    """Runs candidates on arrays of a device, by the clock of the device."""

    def __init__(self, call: tg.CallOp, driver: Driver, target: Target) -> None:
        super().__init__(call, target)
        self._driver = driver
        self._kernels = replace(stages(), module=(), optimize=None, render=None)

    @property
    def key(self) -> Sequence[str]:
        return self._driver.identity

    @property
    def name(self) -> str:
        return self._target.name

    def _run(self, module: ModuleOp, entry: str, arrays: Sequence[Array]) -> Run:
        run_stages(module, self._kernels)
        give_code(module, RenderPass())
        function = entry_function(module, entry)
        assert len(function.args) == len(arrays), "a single kernel has no intermediates"
        return _DeviceRun(self._driver, command_buffer(function), self._placed(arrays))

    @cached_property
    def _copies(self) -> Mapping[int, DeviceArray]:
        """The arrays of the call on the device, by their identities. All candidates use them."""
        return {id(array): DeviceArray.of(self._driver, array) for array in self._arrays}

    def _placed(self, arrays: Sequence[Array]) -> Sequence[DeviceArray]:
        """Arrays on the device. Those that the candidate has packed are new."""
        return [self._copies.get(id(a)) or DeviceArray.of(self._driver, a) for a in arrays]


class _DeviceRun(Run):
    """A kernel on a device."""

    def __init__(
        self, driver: Driver, buffer: CommandBuffer, arrays: Sequence[DeviceArray]
    ) -> None:
        """Raises DeviceError if the device refuses the kernel."""
        super().__init__(arrays)
        self._arrays = arrays
        self._driver = driver
        self._buffer = buffer
        self._loaded = driver.load(buffer.kernels)
        self._commands = bound(buffer.launches, [array.span for array in arrays])

    def __call__(self) -> float:
        try:
            return sum(self._loaded.timed(self._commands))
        except DeviceError:
            return math.inf

    def results(self, arrays: Sequence[Array]) -> Mapping[int, Array]:
        for copy, array in zip(self._arrays, arrays, strict=True):
            copy.assign(array)
        self._loaded.submit(self._commands)
        written = {slot for kernel in self._buffer.kernels for slot in kernel.written}
        return {slot: self._arrays[slot].numpy() for slot in written}
