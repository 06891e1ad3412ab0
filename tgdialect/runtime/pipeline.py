"""The pipelines with BEAM, the mode that times kernels on this machine or on a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tgdialect.lowering.optimize import OptimizePass
from tgdialect.lowering.pipeline import ToLlvmPass, ToSourcePass
from tgdialect.runtime.devices.optimize import DeviceOptimizePass


@dataclass(frozen=True)
class MeasuringToLlvmPass(ToLlvmPass):
    """All stages, from a program on tensors to the `llvm` dialect."""

    optimize: ClassVar[type[OptimizePass]] = DeviceOptimizePass


@dataclass(frozen=True)
class MeasuringToSourcePass(ToSourcePass):
    """All stages, from a program on tensors to programs with a SOURCE in a C-like language."""

    optimize: ClassVar[type[OptimizePass]] = DeviceOptimizePass
