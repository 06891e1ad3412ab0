"""MERGE: one loop in place of two whose indices are one flat index."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint

from tgdialect.analysis.ranges import closed_ranges, outermost_first
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.ops import tg
from tgdialect.ops.axis_types import EXPANDED


def merge(axes: Axes, first: int, second: int) -> None:
    """Replace two ranges that nest directly by one, which keeps the id of the first: the inverse of
    a SPLIT.

    Wherever they are used they index neighbouring axes, so that no division is needed. Then vectors
    run on from one row to the next, and threads have more iterations to share (`MergePass`).
    """
    outer, inner = axes[first], axes[second]
    kind = outer.axis_type.data
    if outer is inner or kind is not inner.axis_type.data:
        raise IllegalOptError(f"ranges {first} and {second} are not two of one type")
    if kind in EXPANDED or kind is tg.AxisType.THREAD:
        raise IllegalOptError(f"range {first} is {kind}")
    extents = _extent(outer), _extent(inner)
    whole = math.prod(extent for extent in extents if isinstance(extent, int))
    if whole > tg.DTYPES[tg.INDEX].high:
        message = f"ranges {first} and {second} have {whole} iterations, more than an index counts"
        raise IllegalOptError(message)
    users = dict.fromkeys(use.operation for r in (outer, inner) for use in r.result.uses)
    closers = [op for op in users if isinstance(op, tg.EndOp | tg.ReduceOp | tg.AfterOp)]
    if not all(_nest_directly(op, outer, inner) for op in closers):
        raise IllegalOptError(f"range {second} is not directly inside of range {first}")
    views: list[tuple[tg.IndexOp, Sequence[int]]] = []
    for op in users:
        if isinstance(op, tg.IndexOp):
            views.append((op, _positions(op, outer, inner)))
        elif op not in closers:
            raise IllegalOptError(f"{op.name} uses range {first} or {second} by itself")
    block = axes.kernel.body.block
    # The merged range is where both of its parts are known.
    last = max(outer, inner, key=block.get_operation_index)
    builder = tg.OpBuilder(InsertPoint.before(last), outer.location)
    bound = _times(builder, *extents)
    value = builder.index_constant(bound) if isinstance(bound, int) else bound
    merged_range = builder.put(tg.RangeOp(first, kind, value))
    # Each view merges the axes that the two ranges index.
    for op, positions in views:
        memory = tg.behind(op.source, tg.ReshapeOp)
        start, stop = positions[0], positions[-1] + 1
        shape = tg.shape_of(op.source)
        before = tg.OpBuilder.before(op)
        # An axis of memory may be longer than the outer range.
        is_whole = tg.same_dim(shape[start], extents[0])
        axis = bound if is_whole else _times(before, shape[start], extents[1])
        merged = [*shape[:start], axis, *shape[stop:]]
        reshaped = before.put(tg.ReshapeOp(memory, merged))
        op.operands = (reshaped, *op.indices[:start], merged_range, *op.indices[stop:])
    # The nests name the merged range once.
    for op in closers:
        kept = [o for o in op.operands if o is not inner.result]
        op.operands = [merged_range if o is outer.result else o for o in kept]
    axes.erase_dead_ops()


def _positions(op: tg.IndexOp, outer: tg.RangeOp, inner: tg.RangeOp) -> Sequence[int]:
    """The axes of memory that two ranges go through, and those of 1 between them."""
    shape, indices = tg.shape_of(op.source), list(op.indices)
    owners = [index.owner for index in indices]
    if owners.count(outer) == owners.count(inner) == 1:
        start, stop = owners.index(outer), owners.index(inner)
        # A position beyond the one element of an axis of 1 would be another cell of the view.
        between = zip(shape[start + 1 : stop], indices[start + 1 : stop], strict=True)
        are_ones = all(size == 1 and tg.known_index(index) == 0 for size, index in between)
        is_whole = tg.same_dim(shape[stop], _extent(inner))
        if start < stop and is_whole and are_ones:
            return range(start, stop + 1)
    message = f"memory has other axes than ranges {outer.axis.data} and {inner.axis.data}"
    raise IllegalOptError(message)


def _extent(range: tg.RangeOp) -> int | SSAValue:
    """The extent of a range."""
    known = tg.known_index(range.bound)
    return range.bound if known is None else known


def _times(builder: tg.OpBuilder, a: tg.Dim, b: int | SSAValue) -> int | SSAValue:
    """The product of two extents."""
    assert not isinstance(a, tg.UnknownDim)
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    values = (builder.index_constant(d) if isinstance(d, int) else d for d in (a, b))
    return builder.put(tg.MulOp(*values))


def _nest_directly(
    op: tg.EndOp | tg.ReduceOp | tg.AfterOp, outer: tg.RangeOp, inner: tg.RangeOp
) -> bool:
    """Whether an op that names ranges names them as those of one loop."""
    if isinstance(op, tg.AfterOp):
        return {outer, inner} <= {d.owner for d in op.dependencies}
    pair = (inner, outer) if isinstance(op, tg.EndOp) else (outer, inner)
    # A REDUCE may also reduce the number of an iteration.
    return pair in pairwise(closed_ranges(op)) and op.operands[0].owner not in pair


def mergeable(axes: Axes) -> Iterator[tuple[int, int]]:
    """Pairs of ranges that are closed together, one directly in the other, the inner ones first."""
    for op in axes.ops:
        if isinstance(op, tg.EndOp | tg.ReduceOp):
            for inner, outer in pairwise(outermost_first(op)[::-1]):
                yield outer.axis.data, inner.axis.data
