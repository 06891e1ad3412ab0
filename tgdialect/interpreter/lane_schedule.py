"""Which loops of a kernel are run all at once, as lanes of NumPy arrays, and which are stepped.

A RANGE is a *lane* axis of every array that depends on it, unless memory carries something from one
iteration to the next: then it is *stepped*, a Python loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from tgdialect.interpreter.block_analysis import Axis, BlockAnalysis, is_parallel, is_work_item
from tgdialect.interpreter.nesting import GraphNest, Item, linear_items
from tgdialect.ops import tg
from tgdialect.ops.properties import place


@dataclass
class LaneSchedule:
    """The ops of a kernel in the order of execution.

    `axes` gives the lane axis of each range that is not stepped and of each SPECIAL. `private[b]`
    are the ranges and SPECIALs over which memory b has a copy per iteration; memory in `assumed`
    has copies only because no iteration is expected to read what another one wrote. Every access to
    memory that the kernel writes is inside each of `sliceable`, so one of these can be run in parts
    to save space.
    """

    analysis: BlockAnalysis
    items: list[Item]
    axes: dict[Axis, int]
    private: dict[SSAValue, list[Axis]]
    assumed: set[SSAValue]
    sliceable: list[Axis]

    @property
    def lanes(self) -> int:
        return len(self.axes)


def lane_schedule(analysis: BlockAnalysis) -> LaneSchedule:
    """Plan the execution of a kernel's block, a graph, or of the block of a LINEAR."""
    block, scopes, specials = analysis.block, analysis.scopes, analysis.specials
    private, assumed = _with_assumptions(analysis)
    stepped = analysis.connected(private) | _with_barriers(analysis)
    _limit_lanes(analysis, stepped)
    lanes = [r for r in scopes.ranges if r not in stepped]
    if analysis.is_graph:
        items = GraphNest(block, scopes, analysis.before, stepped, stepped).items()
    else:
        items = linear_items(block, stepped)
    axes: dict[Axis, int] = {op: i for i, op in enumerate([*specials, *lanes])}
    return LaneSchedule(analysis, items, axes, private, assumed, _sliceable(analysis, lanes))


def _with_assumptions(
    analysis: BlockAnalysis,
) -> tuple[dict[SSAValue, list[Axis]], set[SSAValue]]:
    """The axes over which a buffer has copies, if iterations in order do not exchange values.

    That is assumed of every buffer but those that work items share: in those, values pass from one
    iteration to the next at a BARRIER.
    """
    private = {root: list(axes) for root, axes in analysis.private.items()}
    assumed: set[SSAValue] = set()
    for root, axes in private.items():
        is_local = place(root).addrspace is tg.AddrSpace.LOCAL
        if place(root).addrspace is tg.AddrSpace.GLOBAL or (is_local and analysis.work_items):
            continue
        in_order = [r for r in analysis.common_ranges(root) if not is_parallel(r)]
        if in_order:
            axes += in_order
            assumed.add(root)
    return private, assumed


def _with_barriers(analysis: BlockAnalysis) -> set[tg.RangeOp]:
    """The loops around BARRIERs: work items of different iterations do not run in parallel."""
    around = [scope for op, scope in analysis.scopes.of.items() if isinstance(op, tg.BarrierOp)]
    return {r for r in analysis.scopes.ranges if not is_parallel(r) and any(r in s for s in around)}


_MAX_LANES = 24
"""NumPy arrays have 32 axes before version 2; the rest is for shapes."""


def _limit_lanes(analysis: BlockAnalysis, stepped: set[tg.RangeOp]) -> None:
    """Step outer ranges too where there would be more lane axes than an array can have."""
    ranges = analysis.scopes.ranges
    candidates = [
        r for r in ranges if r not in stepped and not is_work_item(r) and not _is_reduced(r)
    ]
    excess = len(analysis.specials) + len(ranges) - len(stepped) - _MAX_LANES
    stepped.update(candidates[: max(excess, 0)])


def _is_reduced(range: tg.RangeOp) -> bool:
    """Whether a REDUCE closes a range: it needs all iterations, and several may."""
    return any(isinstance(use.operation, tg.ReduceOp) for use in range.result.uses)


def _sliceable(analysis: BlockAnalysis, lanes: Sequence[tg.RangeOp]) -> list[Axis]:
    """The axes that can be run in parts: not threads of a group, and not ranges of a REDUCE."""
    scopes = [
        analysis.scopes.of[use.op]
        for uses in analysis.uses.values()
        if any(use.writes for use in uses)
        for use in uses
    ]
    ranges = [r for r in lanes if all(r in scope for scope in scopes) and not _is_reduced(r)]
    return [axis for axis in (*analysis.specials, *ranges) if not is_work_item(axis)]
