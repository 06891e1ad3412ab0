"""The pass that plans which values are stored, and the loops of kernels."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block

from tgdialect.diagnostics import begins
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.rangeify.analyses import analyses_of
from tgdialect.lowering.rangeify.function_pass import TargetFunctionPass
from tgdialect.lowering.rangeify.planning.fusion import plan_fusion
from tgdialect.lowering.rangeify.planning.plan import is_realised, write_plan
from tgdialect.lowering.rangeify.results import Donors, store_of_result
from tgdialect.lowering.rangeify.tasks import early_reads, tasks_of
from tgdialect.targets import Target


@dataclass(frozen=True)
class PlanFusionPass(TargetFunctionPass):
    """Plan which values kernels store, which they keep in LOCAL buffers, and their loops.

    The plan is stated on the ops as attributes, such as `tg.realised`, `tg.local_axes` and
    `tg.loop_order`; a value without one is computed again wherever it is used. Any plan gives the
    same results. Values that are `tg.realised` before stay so. `--mlir-print-remarks` shows the
    reasons. Where values of what memory was are used after a STORE to it, they are stored before.
    """

    name = "tg-plan-fusion"

    def rewrite(self, block: Block, target: Target) -> None:
        analyses = analyses_of(block)
        is_valid = analyses.validity.__getitem__
        function = block.parent_op()
        assert isinstance(function, FuncOp)
        if not begins("plan", function):
            return
        donors = Donors(function)
        windows = [op for op in donors.windows() if store_of_result(op.results[0], is_valid)]
        donors.erase_views()
        apart = {op for op in ops_of(block) if is_realised(op)}
        while True:
            plan = plan_fusion(block, analyses.is_closed, is_valid, apart, target)
            plan.realised.update(windows)
            if not (early := early_reads(tasks_of(block, plan.realised)) - apart):
                break
            apart |= early
        analyses.online = {group.greatest: group for group, _ in plan.online.values()}
        write_plan(block, plan)
