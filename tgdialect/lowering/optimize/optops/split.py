"""SPLIT: one range in two, the outer and the inner."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Set

from xdsl.ir import SSAValue

from tgdialect.analysis.ranges import closed_ranges, excess, outermost_first
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError, padded_extent
from tgdialect.ops import tg
from tgdialect.ops.axis_types import EXPANDED
from tgdialect.targets.costs import own_cost

SPLIT_FROM: Mapping[tg.AxisType, tuple[Set[tg.AxisType], Set[bool]]] = {
    tg.AxisType.LOCAL: ({tg.AxisType.GLOBAL, tg.AxisType.LOOP}, {False}),
    tg.AxisType.THREAD: ({tg.AxisType.GLOBAL}, {True}),
    tg.AxisType.GROUP_REDUCE: ({tg.AxisType.REDUCE}, {False, True}),
    tg.AxisType.UPCAST: ({tg.AxisType.GLOBAL, tg.AxisType.LOCAL, tg.AxisType.LOOP}, {False}),
    tg.AxisType.UNROLL: ({tg.AxisType.REDUCE, tg.AxisType.GROUP_REDUCE}, {False}),
    tg.AxisType.LOOP: ({tg.AxisType.UPCAST}, {True}),
}
"""The specification's table: by target, the types that it is split from, and whether it may be the
outer part (`top`). The last row is ours: a loop over parts of a tile that is too wide. A range
that is not expanded may also be split into two of its own type, which is how loops are blocked."""


def split(axes: Axes, axis: int, factor: int, target: str, where: str = "") -> None:
    """Split a range of n into n/k and k; the new part gets the target's type.

    before -> after, besides that of `SplitPass`:
        split 0, 4, loop, top:  range 0 loop to 64 -> range 5 loop to 4, range 0 loop to 16
    and `%0` becomes `outer * extent of inner + inner`. A range that is all one part changes its
    type.
        split 0, 16, upcast, overlap:  range 0 loop to 41 -> range 0 loop to 3, range 5 upcast to 16
    and `%0` becomes `min(16 * outer, 41 - 16) + inner`: some iterations are done twice.
        split 0, 4, thread, top:  range 0 loop to n -> range 5 thread to 4, range 0 loop to
                                  (%5 + 1) * n / 4 - %5 * n / 4
    and `%0` becomes `%5 * n / 4 + inner`: chunks of a dynamic extent differ by
    one iteration at most.
    IDIV and MOD of the loop variable fold to the new loop variables. Of a dynamic extent, the inner
    part that is split off divides it in every call, as what PADTO has padded it to does.
    """
    kind, top, range = tg.AxisType(target), where == "top", axes[axis]
    old = range.axis_type.data
    _check_split(axes, range, kind, top=top)
    extent, count = tg.known_index(range.bound), None if top else _count(axes, range, factor)
    if count is not None and where == "overlap":
        if padded_extent(range) is None:
            raise IllegalOptError(f"parts of {factor} of range {axis} do not overlap")
        _check_repeatable(axes, range)
    if extent is None and top and kind is tg.AxisType.THREAD:
        _nest_outermost(axes, axes.share(range, factor, kind)[0])
        return
    if count is None:
        extent = axes.extent(range)
        count = -(-extent // factor)
        if factor == extent == 1 and kind in EXPANDED:
            raise IllegalOptError(f"can't {kind} a dimension with size 1: range {axis}")
        if factor == 1 < extent:
            raise IllegalOptError(f"a part of 1 of range {axis} to {extent} is no loop")
        if where == "overlap":
            _check_overlap(axes, range, factor)
        elif factor > extent or extent % factor:
            raise IllegalOptError(f"range {axis} to {extent} is not made of parts of {factor}")
    if kind is tg.AxisType.LOCAL:
        _check_copies(axes, range, factor)
    axes.check_work_items(range, kind, factor)
    if kind in EXPANDED:
        _check_size(axes, range, factor)
    has_copies = kind in EXPANDED or kind is tg.AxisType.LOCAL
    shared = axes.shared_buffers(range) if has_copies else ()
    if factor == extent:
        axes.set_type(range, kind)
        new = range
    else:
        parts = (factor, count) if top and isinstance(count, int) else (count, factor)
        kinds = (kind, old) if top else (old, kind)
        is_divided = bool(divisors(range))
        outer, inner = axes.split(range, parts, kinds, top=top, overlap=where == "overlap")
        new = outer if top else inner
        if is_divided and axes.simplify():
            if new.parent is None:
                return  # What was in the loop does not depend on it any more.
            shared = axes.shared_buffers(new) if has_copies else ()
    for buffer in shared:
        axes.privatize(buffer, new)
        new = axes[new.axis.data]
    if kind is tg.AxisType.THREAD:
        _nest_outermost(axes, new)


def _nest_outermost(axes: Axes, new: tg.RangeOp) -> None:
    axes.reorder([new, *(r for r in outermost_first(axes.ends[new]) if r is not new)])


def _check_size(axes: Axes, range: tg.RangeOp, factor: int) -> None:
    """Raise IllegalOptError if a kernel would be too much code with one more expanded range. That
    of a matrix instruction is less than its fragments' elements: `tg-expand` counts it."""
    if axes.fragments:
        return

    def extent(each: tg.RangeOp) -> int:
        known = tg.known_index(each.bound) if each.axis_type.data in EXPANDED else 1
        return (known or 1) * (factor if each is range else 1)

    if (too_much := excess(axes.open, extent, own_cost)) is not None:
        raise IllegalOptError(f"it makes {too_much.reason}")


def _count(axes: Axes, range: tg.RangeOp, factor: int) -> SSAValue | None:
    """How many parts of a size a dynamic extent has that is a multiple of the size."""
    bound = range.bound.owner
    if isinstance(bound, tg.MulOp) and tg.known_index(bound.rhs) == factor:
        return bound.lhs
    if tg.known_index(range.bound) is not None or not axes.is_multiple(range, factor):
        return None
    builder = tg.OpBuilder.before(range)
    return builder.put(tg.IDivOp(range.bound, builder.index_constant(factor)))


def divisors(range: tg.RangeOp) -> Set[int]:
    """The constants by which IDIV or MOD divides the loop variable."""
    users = (use.operation for use in range.result.uses if use.index == 0)
    found = (tg.known_index(u.operands[1]) for u in users if isinstance(u, tg.IDivOp | tg.ModOp))
    return {by for by in found if by is not None}


def may_split(axes: Axes, range: tg.RangeOp, kind: tg.AxisType, *, top: bool = False) -> bool:
    """Whether a part of this type may be split off a range."""
    return _passes(lambda: _check_split(axes, range, kind, top=top))


def may_overlap(axes: Axes, range: tg.RangeOp, factor: int) -> bool:
    """Whether a range may be split into parts of which the last begins in the one before."""
    if tg.known_index(range.bound) is not None:
        return _passes(lambda: _check_overlap(axes, range, factor))
    return not axes.is_multiple(range, factor) and _passes(lambda: _check_repeatable(axes, range))


def _passes(check: Callable[[], None]) -> bool:
    try:
        check()
    except IllegalOptError:
        return False
    return True


def _check_split(axes: Axes, range: tg.RangeOp, kind: tg.AxisType, *, top: bool) -> None:
    """Raise IllegalOptError unless the kernel may have a part of this type of a range."""
    axis, old = range.axis.data, range.axis_type.data
    if kind is not old or kind in EXPANDED:
        sources, sides = SPLIT_FROM.get(kind, (set[tg.AxisType](), set[bool]()))
        if old not in sources:
            names = " or ".join(sorted(sources)) or "nothing"
            raise IllegalOptError(f"{kind} is split from {names}, and range {axis} is {old}")
        if top not in sides:
            raise IllegalOptError(f"{kind} is the {'inner' if top else 'outer'} part")
    axes.check_no_fragment(range)
    if kind is tg.AxisType.LOCAL:
        if any(o.op.data == tg.OptOp.NOLOCALS for o in axes.kernel.sink.opts or ()):
            raise IllegalOptError("after nolocals there are no LOCAL ranges")
        for buffer in axes.shared_buffers(range):
            if not axes.is_private(buffer, range):
                raise IllegalOptError("the threads of a workgroup would share a buffer")
            axes.check_views(buffer)
    if kind is tg.AxisType.THREAD:
        _check_thread(axes, range)
    if kind not in EXPANDED:
        return
    axes.check_unordered(range)
    if (other := axes.bounding.get(range)) is not None:
        raise IllegalOptError(f"the extent of range {other.axis.data} depends on range {axis}")
    for op in axes.reductions.get(range, ()):
        if kind is tg.AxisType.GROUP_REDUCE and op.wmma is not None:
            raise IllegalOptError(f"the lanes of a warp share the REDUCE over range {axis}")
        if op.ordered is not None:
            if kind is tg.AxisType.GROUP_REDUCE:
                raise IllegalOptError(f"the REDUCE over range {axis} is ordered")
            if closed_ranges(op)[-1] is not range:
                raise IllegalOptError(f"range {axis} is not the innermost of an ordered REDUCE")
    for store in axes.stores(range):
        if axes.depends_on_index(store.buffer, range):
            continue
        memory = tg.memory_of(store.buffer).owner
        if not isinstance(memory, tg.BufferOp) or not axes.is_private(memory, range):
            raise IllegalOptError(f"each iteration of range {axis} writes the same cell")
        axes.check_views(memory)


def _check_copies(axes: Axes, range: tg.RangeOp, count: int) -> None:
    """Raise IllegalOptError if a workgroup has no memory for the copies of buffers that so many
    threads have for themselves."""
    # One after another, the REDUCEs that work items share exchange their parts.
    reduces = (op for op in axes.closers if isinstance(op, tg.ReduceOp))
    exchanged = max((_exchanged(axes, op, range, count) for op in reduces), default=0)
    axes.check_local({*axes.shared_buffers(range)}, count, exchanged)


def _exchanged(axes: Axes, op: tg.ReduceOp, split: tg.RangeOp, count: int) -> int:
    """The LOCAL memory through which work items exchange the parts of a REDUCE, at most."""
    groups = [r for r in closed_ranges(op) if r.axis_type.data is tg.AxisType.GROUP_REDUCE]
    if not groups or not axes.target.is_grid:
        return 0
    kinds = tg.AxisType.LOCAL, tg.AxisType.UPCAST
    copies = [r for r in axes.open[op] if r.axis_type.data in kinds]
    cells = math.prod(map(axes.extent, (*groups, *copies)))
    return cells * (count if split in axes.open[op] else 1) * tg.dtype_of(op.result).itemsize


def _check_overlap(axes: Axes, range: tg.RangeOp, factor: int) -> None:
    """Raise IllegalOptError if parts may not overlap: iterations that are done twice have to do the
    same again."""
    axis, extent = range.axis.data, axes.extent(range)
    if factor > extent or extent % factor == 0:
        raise IllegalOptError(f"parts of {factor} of range {axis} to {extent} do not overlap")
    _check_repeatable(axes, range)


def _check_repeatable(axes: Axes, range: tg.RangeOp) -> None:
    """Raise IllegalOptError if iterations that are done twice do not do the same again."""
    axis = range.axis.data
    if range not in axes.ends or range.axis_type.data is tg.AxisType.REDUCE:
        raise IllegalOptError(f"the iterations of range {axis} count once each")
    if axes.has_atomics(range):
        raise IllegalOptError(f"an ATOMICADD is in range {axis}, and would be done twice")
    written = {tg.memory_of(store.buffer) for store in axes.stores(range)}
    if any(tg.memory_of(load.buffer) in written for load in axes.reads(range)):
        raise IllegalOptError(f"range {axis} reads what it writes")
    if axes.has_shared_memory:
        raise IllegalOptError("a CALL of the kernel passes the same memory twice")


def _check_thread(axes: Axes, range: tg.RangeOp) -> None:
    axis = range.axis.data
    if axes.target.is_grid:
        raise IllegalOptError(f"{axes.target.name} is a grid, which has no threads")
    end = axes.ends.get(range)
    if end is None or end not in [e.owner for e in axes.kernel.sink.effects]:
        raise IllegalOptError(f"range {axis} is not closed by an END that the SINK has")
    outermost = {other for other in axes.ends.values() if not axes.open[other]}
    if len(axes.kernel.sink.effects) > 1 or outermost - {end}:
        raise IllegalOptError("the kernel has several loop nests")
    if any(r.axis_type.data is tg.AxisType.THREAD for r in axes.ranges.values()):
        raise IllegalOptError("there is a THREAD range already")
    for op in axes.ops:
        if isinstance(op, tg.StoreOp | tg.AtomicAddOp) and range not in axes.open[op]:
            raise IllegalOptError(f"a STORE is outside of range {axis}")
