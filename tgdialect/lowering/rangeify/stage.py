"""The stage: from the function level to kernels, by passes that can also be run one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from tgdialect.diagnostics import kept_facts, running
from tgdialect.lowering.levels import LoweringPass
from tgdialect.lowering.rangeify.analyses import ANALYSES
from tgdialect.lowering.rangeify.build_kernels import BuildKernelsPass
from tgdialect.lowering.rangeify.copy_non_contiguous import CopyNonContiguousPass
from tgdialect.lowering.rangeify.demote_f64 import DemoteF64Pass
from tgdialect.lowering.rangeify.plan_fusion import PlanFusionPass
from tgdialect.lowering.rangeify.relax_maxima import RelaxMaximaPass
from tgdialect.lowering.rangeify.split_reductions import SplitReductionsPass
from tgdialect.lowering.rangeify.split_residues import SplitResiduesPass
from tgdialect.lowering.rangeify.store_before_movement import StoreBeforeMovementPass


@dataclass(frozen=True)
class RangeifyPass(LoweringPass):
    """Split each function into kernels, and break everything in them down to shape ().

    Then simplify: masks become fewer iterations, and reductions that select become LOADs. Kernels
    that record OptOps stay as they are. It is `tg-demote-f64`, `tg-relax-maxima`,
    `tg-copy-non-contiguous`, `tg-split-residues`, `tg-store-before-movement`,
    `tg-split-reductions`, `tg-plan-fusion` and `tg-build-kernels`, in this order.
    """

    name = "tg-rangeify"
    level_before = "function"
    level_after = "kernels"

    target: str | None = None
    """The kind of machine, as `cpu`: its LOCAL memory limits what a kernel keeps there, and its
    vectors decide in which order buffers have their axes."""

    def passes(self) -> Sequence[LoweringPass]:
        """The passes that this one stands for."""
        return (
            DemoteF64Pass(self.target),
            RelaxMaximaPass(self.target),
            CopyNonContiguousPass(),
            SplitResiduesPass(),
            StoreBeforeMovementPass(),
            SplitReductionsPass(self.target),
            PlanFusionPass(self.target),
            BuildKernelsPass(self.target),
        )

    def lower(self, module: ModuleOp) -> None:
        with kept_facts(ANALYSES):
            for step in self.passes():
                with running(step, module) as is_allowed:
                    if is_allowed:
                        step.lower(module)
