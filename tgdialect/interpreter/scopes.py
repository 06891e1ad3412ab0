"""Which loops and conditions each op of a kernel is in, for a graph and for a LINEAR."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from xdsl.ir import Block, Operation, SSAValue

from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg
from tgdialect.ops.ordering import ranges_after
from tgdialect.ops.walk import nesting

Scope = frozenset[Operation]
"""RANGEs and IFs."""

NO_SCOPE: Scope = frozenset()

_Nesting = dict[tg.RangeOp, set[tg.RangeOp]]
"""The ranges that each range is nested in."""


def axis_type(range: tg.RangeOp) -> tg.AxisType:
    """How a range is executed."""
    return range.axis_type.data


@dataclass
class Scopes:
    """`of[op]` is what an op executes in; `ranges` are in nesting order, the outermost first.

    An END or REDUCE executes outside the ranges that it closes, a RANGE outside itself.
    """

    of: dict[Operation, Scope] = field(default_factory=dict[Operation, Scope])
    ranges: list[tg.RangeOp] = field(default_factory=list[tg.RangeOp])


def graph_scopes(block: Block) -> Scopes:
    """By dependence: an op is inside each range that it depends on and that nothing closed."""
    scopes = Scopes()
    outside: _Nesting = {}
    opened: dict[SSAValue, Scope] = {}
    for op in block.ops:
        sources = [opened.get(operand, NO_SCOPE) for operand in op.operands]
        inside: Scope = NO_SCOPE.union(*sources)
        after = _ranges_after(op, inside)
        if isinstance(op, tg.EndIfOp):
            after = after - {op.begin.owner}
        scopes.of[op] = inside & after
        if isinstance(op, tg.IfOp):
            after = after | {op}
        if isinstance(op, tg.RangeOp):
            scopes.ranges.append(op)
            outside[op] = _only_ranges(inside)
        for result in op.results:
            opened[result] = after
    for op in block.ops:
        if isinstance(op, tg.EndOp | tg.ReduceOp):
            _nest(op, _only_ranges(scopes.of[op]), outside)
    scopes.ranges = _nesting_order(scopes.ranges, outside)
    return scopes


def _ranges_after(op: Operation, inside: Scope) -> Scope:
    """`ranges_after` of ops.ordering, with IFs left alone."""
    ranges = frozenset(_only_ranges(inside))
    return (inside - ranges) | ranges_after(op, [ranges])


def _only_ranges(scope: Scope) -> set[tg.RangeOp]:
    return {op for op in scope if isinstance(op, tg.RangeOp)}


def _nest(closer: tg.EndOp | tg.ReduceOp, around: set[tg.RangeOp], outside: _Nesting) -> None:
    """The ranges around a closer are outside those that it closes. END lists inner ones first."""
    closed = [r.owner for r in closer.ranges]
    for range in reversed(closed):
        if isinstance(range, tg.RangeOp):
            outside.setdefault(range, set()).update(around)
            if isinstance(closer, tg.EndOp):
                around = around | {range}


def _nesting_order(ranges: Sequence[tg.RangeOp], outside: _Nesting) -> list[tg.RangeOp]:
    """Outer ranges first; by axis id where there is no one nesting."""
    by_id = sorted(ranges, key=lambda range: range.axis.data)
    known = set(by_id)
    sorter: TopologicalSorter[tg.RangeOp] = TopologicalSorter()
    for range in by_id:
        sorter.add(range, *(outside[range] & known))
    try:
        order = list(sorter.static_order())
    except CycleError:
        # Reductions may nest two ranges both ways; then their order does not matter: lanes run both
        # at once, and the oracle nests them as each closer lists them.
        return by_id
    depth: dict[tg.RangeOp, int] = {}
    for range in order:
        depth[range] = 1 + max((depth[r] for r in outside[range] & known), default=0)
    return sorted(by_id, key=lambda range: depth[range])


def linear_scopes(block: Block) -> Scopes:
    """By position: an op is inside each block that is open where it stands."""
    of = {op: frozenset(around) for op, around in nesting(ops_of(block)).items()}
    return Scopes(of, [op for op in of if isinstance(op, tg.RangeOp)])
