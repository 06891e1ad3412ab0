"""Running a kernel or LINEAR: by the oracle, one iteration at a time, or by vectorised lanes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.ir import Block, SSAValue

from tgdialect.interpreter.block_analysis import BlockAnalysis
from tgdialect.interpreter.kernel import LiveValue
from tgdialect.interpreter.lane_ops import LANES
from tgdialect.interpreter.lane_run import LaneRun
from tgdialect.interpreter.lane_schedule import lane_schedule
from tgdialect.interpreter.live import AssumptionError
from tgdialect.interpreter.run_context import RunContext
from tgdialect.interpreter.scalar import ScalarRun
from tgdialect.ops import tg

Bind = Callable[[bool], tuple[Sequence[LiveValue], Mapping[SSAValue, LiveValue]]]
"""Makes the values of a block's PARAMs by slot, and of what it captures, with fresh memory.

The argument says whether memory that is written keeps its first contents for later reads.
"""


def run_block(block: Block, context: RunContext, *, graph: bool, bind: Bind) -> Sequence[LiveValue]:
    """Execute a kernel's block, or the block of a LINEAR, and return the values of its PARAMs.

    Lanes assume that each iteration of a loop uses a buffer privately. If an iteration reads what
    another one has written to it, the oracle runs the block again.
    """
    analysis = BlockAnalysis(block, graph=graph)
    if not context.scalar and not _calls_in_loops(block):
        parameters, captured = bind(bool(analysis.snapshots))
        schedule = lane_schedule(block, analysis, graph=graph)
        try:
            LaneRun(schedule, context, LANES, parameters, captured).run()
            return parameters
        except AssumptionError:
            pass
    parameters, captured = bind(bool(analysis.snapshots))
    ScalarRun(block, analysis, context, parameters, captured, graph=graph).run()
    return parameters


def _calls_in_loops(block: Block) -> bool:
    """Whether a block has loops of CALLs, each of which runs a kernel by itself."""
    kinds = {type(op) for op in block.ops}
    return {tg.CallOp, tg.RangeOp} <= kinds
