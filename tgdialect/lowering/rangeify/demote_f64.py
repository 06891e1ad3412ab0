"""The pass that computes f64 values in f32, for targets without f64."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Block

from tgdialect.lowering.rangeify.function_pass import TargetFunctionPass
from tgdialect.targets import Target
from tgdialect.transforms.demotion import demote_f64


@dataclass(frozen=True)
class DemoteF64Pass(TargetFunctionPass):
    """Compute f64 in f32, for a target without f64.

    That is done for values that are f64 only between CASTs from and to narrower floats. Elsewhere
    the pass changes nothing.
    """

    name = "tg-demote-f64"

    def rewrite(self, block: Block, target: Target) -> None:
        if not target.has_f64:
            demote_f64(block)
