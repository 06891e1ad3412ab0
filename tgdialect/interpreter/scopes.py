"""Which loops and conditions each op of a kernel is in, for a graph and for a LINEAR."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from xdsl.ir import Block, Operation, SSAValue

from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops.attributes import AxisType
from tgdialect.ops.codegen import EndIfOp, IfOp
from tgdialect.ops.ordering import EndOp, RangeOp, ranges_after
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.walk import nesting

Scope = frozenset[Operation]
"""RANGEs and IFs."""

NO_SCOPE: Scope = frozenset()

_Nesting = dict[RangeOp, set[RangeOp]]
"""The ranges that each range is nested in."""


def axis_type(range: RangeOp) -> AxisType:
    """How a range is executed."""
    return range.axis_type.data


@dataclass
class Scopes:
    """`of[op]` is what an op executes in; `ranges` are in nesting order, the outermost first.

    An END or REDUCE executes outside the ranges that it closes, a RANGE outside itself.
    """

    of: dict[Operation, Scope] = field(default_factory=dict[Operation, Scope])
    ranges: list[RangeOp] = field(default_factory=list[RangeOp])


def graph_scopes(block: Block) -> Scopes:
    """By dependence: an op is inside each range that it depends on and that nothing closed."""
    scopes = Scopes()
    outside: _Nesting = {}
    opened: dict[SSAValue, Scope] = {}
    for op in block.ops:
        sources = [opened.get(operand, NO_SCOPE) for operand in op.operands]
        inside: Scope = NO_SCOPE.union(*sources)
        after = _ranges_after(op, inside)
        if isinstance(op, EndIfOp):
            after = after - {op.begin.owner}
        scopes.of[op] = inside & after
        if isinstance(op, IfOp):
            after = after | {op}
        if isinstance(op, RangeOp):
            scopes.ranges.append(op)
            outside[op] = _only_ranges(inside)
        for result in op.results:
            opened[result] = after
    for op in block.ops:
        if isinstance(op, EndOp | ReduceOp):
            _nest(op, _only_ranges(scopes.of[op]), outside)
    scopes.ranges = _nesting_order(scopes.ranges, outside)
    return scopes


def _ranges_after(op: Operation, inside: Scope) -> Scope:
    """`ranges_after` of ops.ordering, with IFs left alone."""
    ranges = frozenset(_only_ranges(inside))
    return (inside - ranges) | ranges_after(op, [ranges])


def _only_ranges(scope: Scope) -> set[RangeOp]:
    return {op for op in scope if isinstance(op, RangeOp)}


def _nest(closer: EndOp | ReduceOp, around: set[RangeOp], outside: _Nesting) -> None:
    """The ranges around a closer are outside those that it closes. END lists inner ones first."""
    closed = [r.owner for r in closer.ranges]
    for range in reversed(closed):
        if isinstance(range, RangeOp):
            outside.setdefault(range, set()).update(around)
            if isinstance(closer, EndOp):
                around = around | {range}


def _nesting_order(ranges: Sequence[RangeOp], outside: _Nesting) -> list[RangeOp]:
    """Outer ranges first; by axis id where there is no one nesting."""
    by_id = sorted(ranges, key=lambda range: range.axis.data)
    known = set(by_id)
    sorter: TopologicalSorter[RangeOp] = TopologicalSorter()
    for range in by_id:
        sorter.add(range, *(outside[range] & known))
    try:
        order = list(sorter.static_order())
    except CycleError:
        # Reductions may nest two ranges both ways; then their order does not matter: lanes run both
        # at once, and the oracle nests them as each closer lists them.
        return by_id
    depth: dict[RangeOp, int] = {}
    for range in order:
        depth[range] = 1 + max((depth[r] for r in outside[range] & known), default=0)
    return sorted(by_id, key=lambda range: depth[range])


def linear_scopes(block: Block) -> Scopes:
    """By position: an op is inside each block that is open where it stands."""
    of = {op: frozenset(around) for op, around in nesting(ops_of(block)).items()}
    return Scopes(of, [op for op in of if isinstance(op, RangeOp)])
