"""Reductions: REDUCE over loops becomes an accumulator, over unrolled ranges a REDUCE over axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.ranges import closed_ranges, is_expanded, is_loop
from tgdialect.diagnostics import locate, noted
from tgdialect.lowering.expand.expansion import Expansion
from tgdialect.lowering.expand.fragments import FragmentAccumulator, WarpProduct
from tgdialect.lowering.kernel_memory import buffer_type, grouped
from tgdialect.ops import tg
from tgdialect.ops.reduce import ALU

Result = Callable[[SSAValue], SSAValue]
"""The result of a REDUCE, by the END of its loops."""


def expand_reductions(
    expansion: Expansion, group: Sequence[tg.ReduceOp], fragments: Mapping[tg.ReduceOp, WarpProduct]
) -> None:
    """Expand REDUCEs that share their loops, once their operands have been expanded.

    rewrite:
        %r = reduce add %v over %k
        ->
        %acc = buffer reg; %init = store (after %acc, outer ranges), identity
        %in = after %acc, %init, %k; %s = store %in, (load %in) + %v; %e = end %s over %k
        %r = load (after %acc, %e)

    WMMAs add to that of a REDUCE with `fragments`. An accumulator has a lane of its own for each
    iteration of a GROUP_REDUCE range: these are added up after the loop.
    """
    loops = [axis.result for axis in closed_ranges(group[0]) if is_loop(axis)]
    # The ops in the loops.
    accumulators: list[tuple[tg.ReduceOp, SSAValue, Result]] = []
    for op in group:
        expansion.location = op.location
        noted("reduce", op)
        if (known := fragments.get(op)) is not None:
            warp = FragmentAccumulator(expansion, op, known)
            if loops:
                accumulators.append((op, warp.update(loops), warp.result))
            else:
                _finish(expansion, op, warp.total())
        elif loops:
            accumulators.append((op, *_accumulate(expansion, op, loops)))
        else:
            value = _widened(expansion, op)
            _finish(expansion, op, _reduced(expansion, op, value, _expanded(op)))
    if not accumulators:
        return
    # One END for all, and the results after it.
    updates = grouped(expansion, [update for _, update, _ in accumulators])
    end = expansion.put(tg.EndOp(updates, loops[::-1]))
    for op, _, result in accumulators:
        expansion.location = op.location
        _finish(expansion, op, result(end))


def _expanded(op: tg.ReduceOp, kind: tg.AxisType | None = None) -> list[tg.RangeOp]:
    """The expanded ranges of a REDUCE, all or those of a kind."""
    axes = [axis for axis in closed_ranges(op) if is_expanded(axis)]
    return [axis for axis in axes if kind in (None, axis.axis_type.data)]


def _accumulate(
    expansion: Expansion, op: tg.ReduceOp, loops: Sequence[SSAValue]
) -> tuple[SSAValue, Result]:
    """The accumulator of a REDUCE: the STORE in the loops, and the result after them."""
    # The buffer, with an axis for each expanded range but those that are unrolled.
    kind, value = op.kind.data, _widened(expansion, op)
    unrolled = _expanded(op, tg.AxisType.UNROLL)
    groups = _expanded(op, tg.AxisType.GROUP_REDUCE)
    axes = expansion.sorted({*expansion.union([value])} - {*unrolled} | {*groups})
    dtype = tg.tensor(value).element_type
    type = buffer_type(dtype, expansion.shape(axes), tg.AddrSpace.REG)
    buffer = expansion.put(tg.BufferOp(next(expansion.free_slots), type), axes)
    buffer.name_hint = "acc"
    # The identity is stored inside the outer loops, before the loops of the reduction.
    around = sorted(filter(is_loop, expansion.open[op]), key=lambda r: r.axis.data)
    outer = [range.result for range in around]
    version = expansion.put(tg.AfterOp(buffer, outer), axes) if outer else buffer
    start = expansion.broadcast(
        expansion.constant(tg.identity(kind, tg.DTYPES[dtype]), dtype), axes
    )
    init = expansion.put(tg.StoreOp(version, start))
    # Inside the loops: load, combine with each unrolled iteration, store.
    version = expansion.put(tg.AfterOp(buffer, [init, *loops]), axes)
    result = expansion.put(tg.LoadOp(version), axes)
    if (factors := _factors(expansion, op, value)) is not None:
        for a, b in zip(*(_lanes(expansion, factor, unrolled) for factor in factors), strict=True):
            result = expansion.elementwise(tg.MulAccOp, a, b, result)
    elif _is_in_order(op):
        for part in _lanes(expansion, value, unrolled):
            result = _combined(expansion, op, result, part)
    else:
        result = _combined(expansion, op, result, _reduced(expansion, op, value, unrolled))
    update = expansion.put(tg.StoreOp(version, expansion.broadcast(result, axes)))

    def result_after(end: SSAValue) -> SSAValue:
        memory = expansion.put(tg.AfterOp(buffer, [end]), axes)
        return _reduced(expansion, op, expansion.put(tg.LoadOp(memory), axes), groups)

    return update, result_after


def _combined(expansion: Expansion, op: tg.ReduceOp, total: SSAValue, value: SSAValue) -> SSAValue:
    """One step of a REDUCE. A relaxed max is the total where it does not compare with the value."""
    if op.relaxed is None:
        return expansion.elementwise(ALU[op.kind.data], total, value)
    is_less = expansion.elementwise(tg.CmpLtOp, total, value)
    return expansion.elementwise(tg.WhereOp, is_less, value, total)


def _factors(expansion: Expansion, op: tg.ReduceOp, value: SSAValue) -> tuple[SSAValue, ...] | None:
    """The factors of a float sum of products, whose MULs and ADDs may be contracted to MULACCs."""
    product = op.source.owner
    is_sum = op.kind.data is tg.ReduceKind.ADD and op.ordered is None
    if not is_sum or not isinstance(product, tg.MulOp) or value is not expansion.value(op.source):
        return None
    if not tg.DTYPES[tg.tensor(value).element_type].is_float:
        return None
    return tuple(expansion.value(factor) for factor in product.operands)


def _is_in_order(op: tg.ReduceOp) -> bool:
    """Whether the order of accumulation matters: of floats, if `ordered` is set."""
    dtype = tg.DTYPES[tg.tensor(op.source).element_type]
    if op.ordered is None or not dtype.is_float or op.kind.data is tg.ReduceKind.MAX:
        return False
    if _expanded(op, tg.AxisType.GROUP_REDUCE):
        message = "an ordered REDUCE has one accumulator: it has no GROUP_REDUCE range"
        raise locate(PassFailedException(message), op)
    kinds = [is_expanded(axis) for axis in closed_ranges(op)]
    if kinds != sorted(kinds):
        message = "an ordered REDUCE over a loop inside an UNROLL range would not be in order"
        raise locate(PassFailedException(message), op)
    return True


def _widened(expansion: Expansion, op: tg.ReduceOp) -> SSAValue:
    """The operand, cast to the dtype of the accumulator."""
    value = expansion.value(op.source)
    wide = tg.accumulated_dtype(op)
    if wide != tg.tensor(value).element_type:
        return expansion.put(tg.CastOp(value, wide), expansion.axes(value))
    return value


def _finish(expansion: Expansion, op: tg.ReduceOp, result: SSAValue) -> None:
    dtype: Attribute = tg.tensor(op.result).element_type
    if tg.tensor(result).element_type != dtype:
        result = expansion.put(tg.CastOp(result, dtype), expansion.axes(result))
    result.name_hint = op.result.name_hint
    expansion.values[op.result] = result


def _reduced(
    expansion: Expansion, op: tg.ReduceOp, value: SSAValue, over: Sequence[tg.RangeOp]
) -> SSAValue:
    """REDUCE over the axes of some expanded ranges, which the result does not have."""
    if not over:
        return value
    value = expansion.broadcast(value, expansion.sorted({*expansion.axes(value), *over}))
    axes = expansion.axes(value)
    positions = [axes.index(axis) for axis in over]
    ones = expansion.put(op.over(value, sorted(positions), ()))
    kept = tuple(axis for axis in axes if axis not in over)
    return expansion.put(tg.ReshapeOp(ones, expansion.shape(kept)), kept)


def _lanes(expansion: Expansion, value: SSAValue, over: Sequence[tg.RangeOp]) -> Iterator[SSAValue]:
    """The parts of a value for each iteration of some expanded ranges, in order."""
    axes = expansion.axes(value)
    own = [axis for axis in over if axis in axes]
    kept = tuple(axis for axis in axes if axis not in own)
    order = [axes.index(axis) for axis in (*own, *kept)]
    if order != sorted(order):
        value = expansion.put(tg.PermuteOp(value, order))
    for cell in product(*(range(extent) for extent in expansion.shape(tuple(over)))):
        lane = [expansion.constant(i) for axis, i in zip(over, cell, strict=True) if axis in own]
        yield expansion.put(tg.IndexOp(value, lane), kept) if lane else value
