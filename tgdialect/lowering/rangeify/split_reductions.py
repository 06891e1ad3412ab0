"""Reductions in two steps: of parts, and of their results.

Long reductions of few results have parts that threads or the workgroups of a grid share. Gradients
of weights have parts whose operands stay in a cache: each is read for many weights.

Source: tinygrad's schedule does the same (`split_reduceop`), for the same reason.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import Rewriter

from tgdialect.analysis.affine.views import affine_views
from tgdialect.analysis.one_hot import constant_values, may_be_one_hot, scatters
from tgdialect.analysis.parts import (
    NEIGHBOURS,
    Parts,
    parts_of,
    product_parts_of,
)
from tgdialect.diagnostics import RemarkKind, begins, emit_remark
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.rangeify.analyses import analyses_of
from tgdialect.lowering.rangeify.function_pass import TargetFunctionPass
from tgdialect.lowering.rangeify.planning.contractions import summed_product
from tgdialect.lowering.rangeify.planning.plan import realise
from tgdialect.ops import tg
from tgdialect.ops.reduce import ALU
from tgdialect.targets import Target

WHOLE = 128
"""The multiple that the length of a part of the last axis is, so that vectors and unrolled loops
fill it without masks. Smaller: masks; larger: fewer parts to choose from. Parts of odd sizes took
twice as long (a sum of 10^6)."""

WHOLE_COLUMN = 8
"""The multiple that the length of a part of another axis on a grid is: so many of 256 work items
share a column, if 32 columns have a workgroup."""

WHOLE_STEPS = 64
"""The multiple that the length of a part of the steps of a product is: 128 bytes of 16-bit factors,
the longest block of a matrix instruction (`targets/local_factors.py`)."""

TILE_USES = 16
"""The least uses of each element of both factors for which a product is computed in tiles: the
shortest side of one of a matrix instruction or of a workgroup."""

TILE_REGISTERS = 2
"""The vector registers of an operand in a step of a register tile, by which the length of a part
that stays in L1 is estimated."""

MANY_USES = 64
"""The fewest uses of each element of a packed factor for which a product is split. Smaller: packing
for each part takes longer than the parts save; larger: fewer products are split. With 64 rows of
results the gradients of weights took two thirds of the time, with 32 up to twice the time."""

PARTS_OF_L2 = 8
"""The most memory of the results of all parts of a sum, in sizes of L2: they are written and read
once. Larger: more traffic; smaller: fewer sums have parts. An order of magnitude."""


@dataclass(frozen=True)
class SplitReductionsPass(TargetFunctionPass):
    """Split long reductions of few results.

    The reductions of the parts are `tg.realised`: their results have to be stored. A REDUCE stays
    whole if it has a closed form, or skips invalid cells.

    rewrite: `reduce %x [0] : 1048576 -> 1` ->
    `reduce (reshape %x [64, 16384]) [1]`, `reduce ... [0]`, `reshape ... [1]`

    The remainder that does not fill a part is reduced by itself, and combined with the rest.
    """

    name = "tg-split-reductions"

    def rewrite(self, block: Block, target: Target) -> None:
        analyses, constants = analyses_of(block), constant_values(block)
        for op in ops_of(block):
            if (
                not isinstance(op, tg.ReduceOp)
                or analyses.is_closed(op)
                or not analyses.validity[op.source]
                or not _is_splittable(op)
            ):
                continue
            is_scatter = not target.is_grid and scatters(op, constants)
            if (split := _axis(op, target, is_scatter=is_scatter)) is not None:
                if not begins("split", op):
                    continue
                axis, (count, size) = split
                message = f"split along axis {axis} into {count} parts of {size}"
                more = {"Axis": axis, "Parts": count, "Size": size}
                emit_remark(op, message, "SplitReduction", RemarkKind.PASSED, **more)
                # Parts are the batch of a product or scatter, whose results lie as the whole's do.
                realise(_split(op, *split, is_first=is_scatter or _is_tiled(op)))
                continue
            sizes = {} if target.is_grid else _cached_parts(op, target)
            if sizes and begins("split into cached parts", op):
                message = f"split into parts of {[*sizes.values()]} along axes {[*sizes]}, for L1"
                emit_remark(op, message, "SplitReduction", RemarkKind.PASSED, L1=target.l1)
                partial, result = _in_parts(op, op.source, sizes)
                Rewriter.replace_op(op, (), [result])
                realise(partial)


def _is_splittable(op: tg.ReduceOp) -> bool:
    """Whether a reduction is free to be done in parts, which are not rounded."""
    is_static = DYNAMIC_INDEX not in tg.tensor(op.source).get_shape()
    return (
        op.ordered is None
        and is_static
        and tg.accumulated_dtype(op) == tg.tensor(op.source).element_type
    )


def _axis(op: tg.ReduceOp, target: Target, *, is_scatter: bool) -> tuple[int, Parts] | None:
    """The axis to split, and its parts; None where splitting does not pay. That of a scatter is the
    axis of the updates."""
    source, results = tg.tensor(op.source).get_shape(), math.prod(tg.tensor(op.result).get_shape())
    cells, itemsize = math.prod(source), tg.dtype_of(op.source).itemsize
    if may_be_one_hot(op) and not is_scatter:
        return None
    for axis in tg.integers(op, "axes"):
        extent, is_last = source[axis], math.prod(source[axis + 1 :]) == 1
        if is_scatter:
            parts = parts_of(extent, extent, itemsize, results, target, workgroups=1)
        elif target.is_grid and _is_tiled(op):
            parts = product_parts_of(extent, results, target.units, WHOLE_STEPS)
        else:
            columns = NEIGHBOURS if target.is_grid and not is_last else 1
            whole = WHOLE if is_last else WHOLE_COLUMN if target.is_grid else 1
            workgroups = math.ceil(results / columns)
            parts = parts_of(
                extent, cells, itemsize, results, target, workgroups=workgroups, whole=whole
            )
        if parts is not None:
            return axis, parts
    return None


def _split(op: tg.ReduceOp, axis: int, parts: Parts, *, is_first: bool) -> tg.ReduceOp:
    """Replace a REDUCE by two, and one of the remainder; returns the first. The axis of parts
    `is_first` if it is to be."""
    kind, source = op.kind.data, tg.tensor(op.source).get_shape()
    put, even, (count, size) = tg.OpBuilder.before(op).put, op.source, parts
    whole = count * size
    start, before, after = [0] * len(source), source[:axis], source[axis + 1 :]
    if left := source[axis] - whole:
        even = put(tg.ShrinkOp(even, start, (*before, whole, *after)))
    partial, result = _in_parts(op, even, {axis: size}, is_first=is_first)
    if left:
        start[axis] = whole
        rest = put(tg.ShrinkOp(op.source, start, (*before, left, *after)))
        result = put(ALU[kind](result, put(tg.ReduceOp(kind, rest, tg.integers(op, "axes")))))
    Rewriter.replace_op(op, (), [result])
    return partial


def _in_parts(
    op: tg.ReduceOp, source: SSAValue, sizes: Mapping[int, int], *, is_first: bool = False
) -> tuple[tg.ReduceOp, SSAValue]:
    """A REDUCE as two, of parts of some sizes that divide the extents of their axes, and of their
    results: the first, and the result of both. The axis of parts `is_first` if it is to be."""
    kind, builder = op.kind.data, tg.OpBuilder.before(op)
    shape: list[int] = []
    inside: list[int] = []
    outside: list[int] = []
    for axis, extent in enumerate(tg.tensor(source).get_shape()):
        if axis in sizes:
            outside.append(len(shape))
            shape.append(extent // sizes[axis])
            extent = sizes[axis]
        if axis in tg.integers(op, "axes"):
            inside.append(len(shape))
        shape.append(extent)
    view = builder.put(tg.ReshapeOp(source, shape))
    if is_first:
        order = sorted(range(len(shape)), key=lambda axis: axis not in outside)
        view = builder.put(tg.PermuteOp(view, order))
        inside, outside = [order.index(axis) for axis in inside], [0]
    partial = builder.insert(tg.ReduceOp(kind, view, inside))
    whole = builder.put(tg.ReduceOp(kind, partial, outside))
    return partial, builder.put(tg.ReshapeOp(whole, tg.tensor(op.result).get_shape()))


def _is_tiled(op: tg.ReduceOp) -> bool:
    """Whether a REDUCE sums products, and each element of both factors is used for many results.

    Factors that are normalised by another reduction are left to the kernels that do both in one
    pass (`online.py`).
    """
    product = op.source.owner
    return isinstance(product, tg.MulOp) and all(
        _uses(product, factor) >= TILE_USES and not _is_normalised(factor)
        for factor in product.operands
    )


def _is_normalised(factor: SSAValue) -> bool:
    """Whether a factor is computed from a reduction that is no product."""
    ops = tg.computed_from(factor, until=(tg.ReduceOp,))
    return any(isinstance(op, tg.ReduceOp) and summed_product(op) is None for op in ops)


def _uses(product: tg.MulOp, factor: SSAValue) -> int:
    """For how many products each element of a factor is used."""
    whole, own = tg.tensor(product.results[0]).get_shape(), tg.tensor(factor).get_shape()
    aligned = (*([1] * (len(whole) - len(own))), *own)
    return math.prod(n for n, each in zip(whole, aligned, strict=True) if each == 1)


def _cached_parts(op: tg.ReduceOp, target: Target) -> dict[int, int]:
    """The sizes of the parts by axis, so that a vector register of each step of a part fits into
    L1; empty if the sum need not be split, or its parts do not fit into the caches.

    Only sums over windows are split that have fewer cells than there are windows: the gradients of
    weights.
    """
    source, cells = tg.tensor(op.source).get_shape(), math.prod(tg.tensor(op.result).get_shape())
    axes = [axis for axis in tg.integers(op, "axes") if source[axis] > 1]
    itemsize = tg.dtype_of(op.source).itemsize
    steps = 8 * target.l1 // (TILE_REGISTERS * target.vector_bits) if target.vector_bits else 0
    if math.prod(source[axis] for axis in axes) <= steps or not _sums_over_windows(op):
        return {}
    sizes: dict[int, int] = {}
    parts = 1
    for axis in reversed(axes):
        size = next(
            n for n in range(min(source[axis], max(steps, 1)), 0, -1) if not source[axis] % n
        )
        if size < source[axis]:
            sizes[axis] = size
            parts *= source[axis] // size
        steps //= size
    return sizes if parts * cells * itemsize <= PARTS_OF_L2 * target.l2 else {}


def _sums_over_windows(op: tg.ReduceOp) -> bool:
    """Whether a factor of a product is read in windows that a sum is over, with fewer cells than
    there are windows, and each of its elements is used for MANY_USES results at least."""
    factors = op.source.owner
    if not isinstance(factors, tg.MulOp):
        return False
    summed, whole = {*tg.integers(op, "axes")}, tg.tensor(op.source).get_shape()
    for factor in factors.operands:
        shape = tg.tensor(factor).get_shape()
        missing = len(whole) - len(shape)
        if _uses(factors, factor) < MANY_USES:
            continue
        for view in affine_views(factor):
            for axis in view.axes:
                over = [a for a in axis.terms if a + missing in summed]
                rest = [a for a in axis.terms if a + missing not in summed]
                if len(over) == len(rest) == 1 and shape[over[0]] > shape[rest[0]]:
                    return True
    return False
