"""The ops that a SINK needs, the RANGEs whose loops they are in, how much code they become, and
loops whose index chooses registers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from xdsl.ir import Block, Operation

from tgdialect.analysis.limits import MANY
from tgdialect.analysis.memory_order import accesses
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg
from tgdialect.ops.axis_types import EXPANDED
from tgdialect.ops.ordering import ranges_after

Ranges = frozenset[tg.RangeOp]

MAX_LANES = 1 << 11
"""The most elements that a value may have for its expanded ranges. Their code is straight: larger
limits accept schedules that take long to compile (so many exponentials take 8 s), smaller ones
refuse schedules. Those of `test_work.py` have up to 1,792."""

MAX_EXPANDED = 1 << 16
"""The greatest cost of the elements of all values of a kernel that have expanded ranges, where one
of an ADD is 1, as in the cost model. Larger: longer compilation; smaller: schedules are refused.
Those of `test_work.py` have up to a third of it."""

_NONE: Ranges = frozenset()
_CHANGES_RANGES = frozenset({tg.RangeOp, tg.EndOp, tg.ReduceOp})


def is_expanded(axis: tg.RangeOp) -> bool:
    """Whether `tg-expand` turns a range into an axis of values."""
    return axis.axis_type.data in EXPANDED


def is_loop(axis: tg.RangeOp) -> bool:
    """Whether a range stays a loop."""
    return not is_expanded(axis)


def needed_ops(block: Block) -> list[Operation]:
    """The ops that the SINK of a block needs, and its PARAMs, in the block's order."""
    ops = ops_of(block)
    roots = (op.results[0] for op in ops if type(op) in (tg.ParamOp, tg.SinkOp))
    needed = {*tg.computed_from(*roots)}
    return [op for op in ops if op in needed]


def closed_ranges(op: tg.EndOp | tg.ReduceOp) -> list[tg.RangeOp]:
    """The RANGE ops that an END or REDUCE closes, in its order."""
    return [value.owner for value in op.ranges if isinstance(value.owner, tg.RangeOp)]


def outermost_first(op: tg.EndOp | tg.ReduceOp) -> list[tg.RangeOp]:
    """The ranges that an op closes; an END lists the innermost first."""
    return closed_ranges(op)[::-1] if isinstance(op, tg.EndOp) else closed_ranges(op)


def extents_by_depth(
    ops: Iterable[Operation],
    around: Mapping[Operation, Ranges],
    extents: Callable[[tg.RangeOp], Sequence[int | None]],
) -> list[set[int | None]]:
    """The extents of loops over work items, by how many such loops are around each. `extents` are
    those of the loops over work items that a range is: of other loops none."""
    levels: list[set[int | None]] = []
    for op in ops:
        if isinstance(op, tg.EndOp | tg.ReduceOp):
            depth = sum(len(extents(range)) for range in around[op])
            own = [extent for range in outermost_first(op) for extent in extents(range)]
            levels += [set[int | None]() for _ in range(depth + len(own) - len(levels))]
            for level, extent in zip(levels[depth:], own, strict=False):
                level.add(extent)
    return levels


def loops_of(end: tg.EndOp) -> list[tg.RangeOp]:
    """The loops that an END closes, outermost first."""
    return [axis for axis in reversed(closed_ranges(end)) if is_loop(axis)]


def open_ranges(ops: Sequence[Operation]) -> dict[Operation, Ranges]:
    """The RANGEs whose loops the result of each op is in; ops come in topological order."""
    known: dict[int, Ranges] = {}
    for op in ops:
        sources = {known.get(id(operand.owner), _NONE) for operand in op.operands}
        if len(sources) > 1 or type(op) in _CHANGES_RANGES:
            known[id(op)] = ranges_after(op, list(sources))
        else:
            known[id(op)] = sources.pop() if sources else _NONE
    return dict(zip(ops, known.values(), strict=True))


class Excess(NamedTuple):
    """An op for which a limit is exceeded, and what is too much."""

    op: Operation
    reason: str


def excess(
    open: Mapping[Operation, Ranges],
    extent: Callable[[tg.RangeOp], int],
    cost: Callable[[type], float],
) -> Excess | None:
    """Where the expanded ranges of a kernel are too much code; None if they are not.

    `open` has the ranges around each op, `extent` gives how many elements an expanded range adds,
    and 1 for others, and `cost` what an element of an op costs.
    """

    @cache
    def lanes(ranges: Ranges) -> int:
        return math.prod(map(extent, ranges))

    return too_much_code(((op, lanes(ranges)) for op, ranges in open.items() if ranges), cost)


def too_much_code(
    elements: Iterable[tuple[Operation, int]], cost: Callable[[type], float]
) -> Excess | None:
    """Where the elements of ops are too much code, each with the number of those that its result
    has; None if they are not."""
    total = 0.0
    for op, count in elements:
        if count <= 1:
            continue
        if count > MAX_LANES:
            return Excess(op, f"a value of {count} elements in code, and {MAX_LANES} are the most")
        total += count * max(cost(type(op)), 1)
        if total > MAX_EXPANDED:
            reason = f"code that costs more than {MAX_EXPANDED} operations on one element"
            return Excess(op, reason)
    return None


def register_loops(ops: Sequence[Operation]) -> Ranges:
    """The loops of a LINEAR that the index of an access to REG memory depends on.

    A processor cannot compute the number of a register, so the memory is in registers only if these
    loops are unrolled; a GPU would have it in its slowest memory.
    """
    locations = [
        access.location.owner
        for access in accesses(ops)
        if tg.place(access.memory).addrspace is tg.AddrSpace.REG
    ]
    indices = [i for op in locations if isinstance(op, tg.IndexOp) for i in op.indices]
    return frozenset(
        op
        for op in tg.computed_from(*indices, until=(tg.RangeOp,))
        if isinstance(op, tg.RangeOp)
        and (extent := tg.known_index(op.bound)) is not None
        and extent <= MANY
    )
