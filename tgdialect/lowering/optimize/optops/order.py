"""SWAP and ORDER: the order in which ranges nest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import SSAValue

from tgdialect.analysis.ranges import closed_ranges, is_expanded, loops_of, outermost_first
from tgdialect.lowering.kernel_memory import new_buffer, version
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.lowering.recomputation import computed_again
from tgdialect.ops import tg
from tgdialect.ops.axis_types import WORK_ITEMS
from tgdialect.ops.reduce import ALU


def swap(axes: Axes, first: int, second: int) -> None:
    """Exchange two ranges in the nest that both are in (`SwapPass`)."""
    a, b = axes[first], axes[second]
    order = outermost_first(axes.nest(a))
    if b not in order:
        raise IllegalOptError(f"ranges {first} and {second} are not closed together")
    i, j = order.index(a), order.index(b)
    order[i], order[j] = order[j], order[i]
    _reorder(axes, [r for r in order if r in (a, b) or r.axis_type.data is not tg.AxisType.THREAD])


def order(axes: Axes, *numbers: int) -> None:
    """Nest ranges that are closed together in this order, the outermost first (`OrderPass`). The
    first may be the loop of a REDUCE that is in the others (`accumulate_outside`)."""
    wanted = [axes[number] for number in numbers]
    if wanted[0] not in axes.ends and any(range in axes.ends for range in wanted):
        accumulate_outside(axes, wanted[0], wanted[1:])
        return
    nest = closed_ranges(axes.nest(wanted[0]))
    for range in wanted:
        if range not in nest:
            raise IllegalOptError(f"range {range.axis.data} is not closed with {numbers[0]}")
    if len(set(wanted)) < len(wanted):
        raise IllegalOptError("a range is named twice")
    _reorder(axes, wanted)


def _reorder(axes: Axes, ranges: Sequence[tg.RangeOp]) -> None:
    for range in ranges:
        if range.axis_type.data is tg.AxisType.THREAD:
            raise IllegalOptError(f"range {range.axis.data} is of threads, outside of all others")
        axes.check_unordered(range)
        bounded = [other.axis.data for other in ranges if axes.depends(other.bound, range)]
        if bounded:
            what = f"the extent of range {bounded[0]} depends on range {range.axis.data}"
            raise IllegalOptError(what)
    kinds = [range.axis_type.data for range in ranges if not is_expanded(range)]
    if tg.AxisType.WARP in kinds[:-1]:
        raise IllegalOptError("the lanes of a warp are the innermost loop")
    if any(op.ordered is not None for r in ranges for op in axes.reductions.get(r, ())):
        raise IllegalOptError("the REDUCE over them is ordered")
    axes.reorder(ranges)


# -- the loop of a REDUCE outside of other loops ---------------------------------------------------


def accumulate_outside(axes: Axes, reduced: tg.RangeOp, inside: Sequence[tg.RangeOp]) -> None:
    """Move the loop of a REDUCE outside of loops that it is in: one step of the reduction is done
    for all of their iterations before the next step begins.

    before -> after:
        order 1, 0:  in the loop of range 0, store %x[%0], (reduce add %v over %1, %2) ->
            %b = buffer local; store %b[%3], 0; end over %3
            store %b[%0], (load %b[%0]) + (reduce add %v over %2); end over %0, %1
            in the loop of range 4, store %x[%4], (load %b[%4])
    Then consecutive loads are neighbours in memory, or find what they load in a cache: the loop
    over blocks of k of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication",
    2008.
    """
    reduce, end = _checked(axes, reduced, inside)
    parts = [r for r in reversed(closed_ranges(end)) if is_expanded(r)]
    kept = {*inside, *parts}
    outer = {*axes.open[end], *closed_ranges(end)} - kept
    builder = tg.OpBuilder.before(reduce)
    put = builder.put
    loops = (*inside, *parts)

    def again(numbers: Iterable[int]) -> list[SSAValue]:
        """New ranges for the loops that move inside."""
        bounds = [builder.index_constant(axes.extent(range)) for range in loops]
        own = WORK_ITEMS | {tg.AxisType.UPCAST}
        kinds = [r.axis_type.data if r.axis_type.data in own else tg.AxisType.LOOP for r in loops]
        ranges = zip(kinds, bounds, numbers, strict=False)
        return [put(tg.RangeOp(number, kind, bound)) for kind, bound, number in ranges]

    kind, dtype = reduce.kind.data, tg.tensor(reduce.result).element_type
    wide = tg.accumulated_dtype(reduce)
    buffer = new_buffer(builder, wide, [*map(axes.extent, loops)], tg.AddrSpace.LOCAL)

    # First nest: set every partial result to the neutral element.
    first = again(builder.free_axes)
    around = sorted(outer, key=lambda r: r.axis.data)
    start = version(builder, buffer, [r.result for r in around])
    zero = put(tg.ConstOp(tg.identity(kind, tg.DTYPES[wide]), wide))
    ready = put(tg.EndOp(put(tg.StoreOp(put(tg.IndexOp(start, first)), zero)), first[::-1]))

    # Second nest: add one step of the reduction to every partial result.
    second = again([r.axis.data for r in loops])
    copies: dict[SSAValue, SSAValue] = dict(zip((r.result for r in loops), second, strict=True))
    partial = computed_again(builder, reduce.source, copies)
    if wide != dtype:
        partial = put(tg.CastOp(partial, wide))
    if rest := [r.result for r in closed_ranges(reduce) if r is not reduced]:
        partial = put(reduce.over(partial, (), rest))
    cell = put(tg.IndexOp(put(tg.AfterOp(buffer, [ready, reduced.result])), second))
    sums = [put(tg.LoadOp(cell)), partial]
    total = put(ALU[kind].create(operands=sums, result_types=[partial.type]))
    done = put(tg.EndOp(put(tg.StoreOp(cell, total)), [*second[::-1], reduced.result]))

    # Third nest, which keeps the ops that used the REDUCE: load the results.
    for range, number in zip(loops, builder.free_axes, strict=False):
        range.axis = tg.NumberAttr(number)
    results = put(tg.AfterOp(buffer, [done]))
    total = put(tg.LoadOp(put(tg.IndexOp(results, [r.result for r in loops]))))
    if wide != dtype:
        total = put(tg.CastOp(total, dtype))
    reduce.result.replace_all_uses_with(total)
    axes.erase_dead_ops()


def _checked(
    axes: Axes, reduced: tg.RangeOp, inside: Sequence[tg.RangeOp]
) -> tuple[tg.ReduceOp, tg.EndOp]:
    """The REDUCE of a range, and the END of the loops around it. Raises IllegalOptError with the
    reason where they cannot change places."""
    axis, reduce = reduced.axis.data, axes.reduction(reduced)
    # The nest: the loops are its inner ones, and the REDUCE is in all of its loops.
    end = axes.ends.get(inside[0])
    if end is None:
        raise IllegalOptError(f"range {inside[0].axis.data} is no loop that an END closes")
    loops = loops_of(end)
    if loops[len(loops) - len(inside) :] != [*inside]:
        message = f"the ranges after {axis} are not the inner loops of a nest, in order"
        raise IllegalOptError(message)
    for range in inside:
        if range.axis_type.data is tg.AxisType.THREAD:
            raise IllegalOptError(f"range {range.axis.data} is of threads, outside of all others")
        axes.check_unordered(range)
    if set(axes.open[reduce]) != {*closed_ranges(end), *axes.open[end]}:
        message = f"the REDUCE over range {axis} is not in all loops of that nest alone"
        raise IllegalOptError(message)
    kept = {*inside, *closed_ranges(end)} - {*loops[: len(loops) - len(inside)]}
    if any(r.axis_type.data in WORK_ITEMS for r in {*axes.open[reduce]} - kept):
        raise IllegalOptError("the threads of a workgroup would share the partial results")
    # Extents: no loop that moves decides one.
    if any(range in axes.bounding for range in (*kept, reduced)):
        raise IllegalOptError("the extent of a range depends on one of them")
    # Memory: what the REDUCE reads is the same in every iteration that moves.
    for op in tg.computed_from(reduce.source):
        if isinstance(op, tg.LoadOp) and tg.memory_of(op.buffer) in axes.written:
            raise IllegalOptError("the REDUCE is of memory that this kernel writes")
    if axes.is_bound_to(reduce.source, kept):
        raise IllegalOptError("the REDUCE is of what a loop in that nest computes")
    return reduce, end
