"""`tg-to-llvm` with BEAM, the mode that times kernels on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tgdialect.lowering.optimize import OptimizePass
from tgdialect.lowering.pipeline import ToLlvmPass
from tgdialect.runtime.optimize import MeasuringOptimizePass


@dataclass(frozen=True)
class MeasuringToLlvmPass(ToLlvmPass):
    """All stages, from a program on tensors to the `llvm` dialect."""

    optimize: ClassVar[type[OptimizePass]] = MeasuringOptimizePass
