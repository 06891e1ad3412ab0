"""TC: the sum of products that a REDUCE computes, by matrix instructions of a warp."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import SSAValue

from tgdialect.analysis.ranges import closed_ranges, is_expanded
from tgdialect.lowering.matrix_products import (
    Move,
    Product,
    assembled,
    c_fields,
    places,
    product_of,
)
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.lowering.optimize.optops.padto import padto
from tgdialect.lowering.recomputation import NAMING, renumber
from tgdialect.ops import tg
from tgdialect.targets.matrix import MatrixInstruction, matrix_instructions

Level = IntEnum("Level", "EXACT CASTS PADDED", start=0)
"""Loops of whole tiles on loads alone; also factors that are computed; also ranges to be padded."""


def tc(axes: Axes, axis: int, index: int, level: int, mode: int) -> None:
    """Compute a REDUCE by matrix instructions: split its range, and those of the rows and columns
    of its results, into tiles, which are the WARP, UPCAST and UNROLL ranges of a fragment.

    `index` is that of one of the target's instructions, -1 for the first that fits, does not round
    its operands, and has them in registers. One that reads them from LOCAL memory is used if STAGE
    has copied both there, in the order of `cores`; else the REDUCE is computed without it. `level`
    0 takes products of loads in tiles that divide the ranges, 1 also products of values that are
    computed, 2 also pads ranges: with zeros, if the instruction reads LOCAL memory. With `mode` 2
    the ranges are split, and no matrix instruction is used.

    In the example of `TcPass`, `%0` becomes `16 * %0 + m` and `%1` `8 * %1 + n`, the row and the
    column of the elements of C that a lane has; until `tg-expand` makes WMMAs, the REDUCE means
    what it meant.
    """
    rows, columns, instruction = _match(axes, axis, index, level)
    config = instruction.fragments.config
    if level >= Level.PADDED:
        for range, multiple in zip((rows, columns, axes[axis]), config.m_n_k, strict=True):
            if axes.extent(range) % multiple:
                where = "zero" if instruction.reads_local else ""
                padto(axes, range.axis.data, multiple, where)
    steps = axes[axis]
    # The ranges of a fragment: the lane, the elements of C, and the steps.
    first = next(op for op in axes.kernel.body.block.ops if op in (rows, columns, steps))
    builder = tg.OpBuilder.before(first)
    lanes = [builder.range(tg.AxisType.WARP, config.threads)] if config.threads > 1 else []
    runs = reversed(c_fields(config))
    elements = [builder.range(tg.AxisType.UPCAST, 1 << len(run)) for run in runs]
    inner = builder.range(tg.AxisType.UNROLL, config.m_n_k[2])
    # The number of an iteration, by bits of the lane and of the elements.
    lane = lanes[0].result if lanes else None
    values = [range.result for range in reversed(elements)]
    at = places(lane, values, config.layout("c"), config.threads)
    sizes: dict[SSAValue, int] = {
        range.result: axes.extent(range).bit_length() - 1 for range in (*lanes, *elements)
    }
    moves = ([Move(*at[b], int(b[1:])) for b in at if b[0] == letter] for letter in "mn")
    m, n = (assembled(builder, each, sizes) for each in moves)
    parts = zip((rows, columns, steps), (m, n, inner.result), config.m_n_k, strict=True)
    for range, part, size in parts:
        own = (inner,) if range is steps else (*lanes, *elements)
        _shorten(axes, range, size, part, own)
    axes.changed()
    if mode == 1:
        (reduce,) = axes.reductions[inner]
        numbers = [range.axis.data for range in (*elements, inner)]
        reduce.properties["wmma"] = config
        reduce.properties["fragment"] = DenseArrayBase.from_list(i64, numbers)


def _shorten(
    axes: Axes, range: tg.RangeOp, size: int, part: SSAValue, own: Sequence[tg.RangeOp]
) -> None:
    """Make a range one of tiles: its iteration i becomes `size * i + part`, where the ranges `own`
    count the parts of a tile, inside of all loops that are closed with it."""
    before = tg.OpBuilder.before(range)
    range.operands = (before.index_constant(axes.extent(range) // size),)
    after = tg.OpBuilder.after(range)
    start = after.put(tg.MulOp(range, after.index_constant(size)))
    whole = after.insert(tg.AddOp(start, part))
    renumber(range, whole.results[0], start.owner)
    new = [each.result for each in own]
    for op in dict.fromkeys(use.operation for use in range.result.uses):
        if not isinstance(op, NAMING) or any(value in op.operands for value in new):
            continue
        body, *others = op.operands
        is_end = isinstance(op, tg.EndOp)
        op.operands = (body, *new[::-1], *others) if is_end else (body, *others, *new)


# -- legality -------------------------------------------------------------------------------------


def _match(
    axes: Axes, axis: int, index: int, level: int
) -> tuple[tg.RangeOp, tg.RangeOp, MatrixInstruction]:
    """The ranges of rows and columns of the results, and the instruction. Raises IllegalOptError
    with the reason where TC is not legal."""
    if axes.kernel.sink.opts:
        raise IllegalOptError("TC is the first OptOp of a kernel")
    known = matrix_instructions(axes.target)
    if not known:
        raise IllegalOptError(f"the target {axes.target.name} has no matrix instructions")
    if index >= len(known):
        message = f"there is no instruction {index}; {axes.target.name} has {len(known)}"
        raise IllegalOptError(message)
    reduce = axes.reduction(axes[axis])
    if reduce.kind.data is not tg.ReduceKind.ADD:
        raise IllegalOptError(f"the REDUCE over range {axis} is {reduce.kind.data}, and not add")
    product = product_of(reduce.source)
    if product is None:
        raise IllegalOptError(f"the REDUCE over range {axis} is not of products of one dtype")
    if level < Level.CASTS and not all(isinstance(f.owner, tg.LoadOp) for f in product[:2]):
        raise IllegalOptError("a factor is computed, which level 1 allows")
    rows, columns = sides_of(axes, product, axes[axis])
    if axes.is_bound_to(reduce.source, {rows, columns, axes[axis]}):
        raise IllegalOptError("a factor is computed by a REDUCE or STORE in these loops")
    for range in (rows, columns, axes[axis]):
        _check_range(axes, range)
    # The instruction, by dtypes and then by extents.
    dtypes = tg.dtype_of(product.a).name, tg.DTYPES[tg.accumulated_dtype(reduce)].name
    implied = [i for i in known if not i.rounds and not i.reads_local]
    chosen = implied if index < 0 else [known[index]]
    fitting = [i for i in chosen if (i.factor, i.accumulator) == dtypes]
    if not fitting:
        names = ", ".join(i.name for i in chosen)
        raise IllegalOptError(
            f"no instruction multiplies {dtypes[0]} and adds {dtypes[1]}; there are: {names}"
        )
    extents = [axes.extent(range) for range in (rows, columns, axes[axis])]
    for instruction in fitting:
        tile = instruction.fragments.dims
        if level >= Level.PADDED or not any(e % d for e, d in zip(extents, tile, strict=True)):
            return rows, columns, instruction
    sizes = "x".join(map(str, extents))
    raise IllegalOptError(f"{sizes} is not made of tiles of {fitting[0].name}; level 2 pads")


def sides_of(axes: Axes, product: Product, steps: tg.RangeOp) -> tuple[tg.RangeOp, tg.RangeOp]:
    """The ranges of the rows and the columns: the innermost ones that one factor alone depends on.
    Columns are those whose results are neighbours, or else the inner ones. Raises IllegalOptError
    where there are none."""
    if any(steps not in axes.around(factor) for factor in product[:2]):
        raise IllegalOptError(f"a factor does not depend on range {steps.axis.data}")
    around = [axes.around(factor) for factor in product[:2]]
    sides: list[tg.RangeOp] = []
    for own, other in (around, around[::-1]):
        nest = [r for end in dict.fromkeys(axes.ends.values()) for r in closed_ranges(end)]
        found = [r for r in nest if r in own - other and not is_expanded(r)]
        if not found:
            raise IllegalOptError("each factor needs a loop of results that the other lacks")
        sides.append(found[0])
    rows, columns = sides
    if axes.ends[rows] is not axes.ends[columns]:
        raise IllegalOptError("the loops of rows and columns are not closed together")
    inner_first = closed_ranges(axes.ends[rows])
    along = [axes.strides(store.buffer) for store in axes.stores(columns)]
    stores_rows, stores_columns = (any(s.get(r) == 1 for s in along) for r in sides)
    is_inner = inner_first.index(rows) < inner_first.index(columns)
    if stores_rows or (is_inner and not stores_columns):
        rows, columns = columns, rows
    return rows, columns


class KernelProduct(NamedTuple):
    """The one sum of products of a kernel: its factors, and the ranges of rows, columns and
    steps."""

    factors: Product
    ranges: tuple[tg.RangeOp, tg.RangeOp, tg.RangeOp]
    extents: Sequence[int]
    loads: Sequence[tg.LoadOp | None]
    """The LOADs that the factors with the rows and the columns are; None for computed ones."""


def product_in(axes: Axes) -> KernelProduct | None:
    """The product that a kernel computes; None if it is none whose rows, columns and steps have
    known extents."""
    reduces = [op for op in axes.closers if isinstance(op, tg.ReduceOp)]
    factors = product_of(reduces[0].source) if len(reduces) == 1 and reduces[0].ranges else None
    if factors is None:
        return None
    steps = max(closed_ranges(reduces[0]), key=lambda range: tg.known_index(range.bound) or 0)
    try:
        ranges = *sides_of(axes, factors, steps), steps
        extents = [axes.extent(range) for range in ranges]
    except IllegalOptError:
        return None
    own = [next(f for f in factors[:2] if side in axes.around(f)).owner for side in ranges[:2]]
    loads = [owner if isinstance(owner, tg.LoadOp) else None for owner in own]
    return KernelProduct(factors, ranges, extents, loads)


def _check_range(axes: Axes, range: tg.RangeOp) -> None:
    axis, kind = range.axis.data, range.axis_type.data
    if kind not in (tg.AxisType.GLOBAL, tg.AxisType.LOOP, tg.AxisType.REDUCE):
        raise IllegalOptError(f"range {axis} is {kind}")
    axes.extent(range)
    axes.check_unordered(range)
    axes.check_bounds_none(range)
    if range not in axes.ends:
        return
    if axes.has_atomics(range):
        raise IllegalOptError(f"an ATOMICADD is in range {axis}")
    if axes.shared_buffers(range):
        raise IllegalOptError(f"the iterations of range {axis} share a buffer")
    if any(not axes.depends_on_index(store.buffer, range) for store in axes.stores(range)):
        raise IllegalOptError(f"each iteration of range {axis} writes the same cell")
