"""Ops without state: from the arrays of the operands to the array of the result.

They mean the same wherever they stand. On the host `lanes` is 0; in a kernel it is the number of
leading axes that stand for loops.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from tgdialect.interpreter.elementwise import ARITHMETIC, ELEMENTWISE, LOGICAL, compute
from tgdialect.interpreter.movement import stack
from tgdialect.interpreter.values import MaskedArray, aligned, all_valid, broadcast, broadcast_shape
from tgdialect.interpreter.wmma import wmma
from tgdialect.ops import tg
from tgdialect.ops.arrays import FLOAT32, FLOAT64, numpy_dtype, numpy_dtype_of, round_once
from tgdialect.ops.numpy_dtypes import Array

# -- REDUCE: identities, accumulator dtypes, and invalid cells, which are skipped ------------------

_UFUNCS: dict[tg.ReduceKind, np.ufunc] = {
    tg.ReduceKind.ADD: np.add,
    tg.ReduceKind.MUL: np.multiply,
    tg.ReduceKind.MAX: np.maximum,
}
_LOGICAL_UFUNCS: dict[tg.ReduceKind, Any] = {
    kind: LOGICAL[f"tg.{kind.value}"] for kind in tg.ReduceKind
}


def accumulator_dtype(kind: tg.ReduceKind, dtype: tg.DType, *, ordered: bool) -> np.dtype[Any]:
    """The dtype of an accumulator: f32 for narrower floats, otherwise the dtype itself.

    If the order is free, every order's rounding is allowed. The interpreter then adds and
    multiplies f32 in f64, for the most precise result.
    """
    if not dtype.is_float or dtype.name == "f64":
        return numpy_dtype(dtype)
    free = not ordered and kind is not tg.ReduceKind.MAX and dtype.name == "f32"
    return FLOAT64 if free else FLOAT32


def accumulate(
    kind: tg.ReduceKind, source: MaskedArray, axes: Sequence[int], dtype: tg.DType, *, ordered: bool
) -> Array:
    """The reduction of `source` over array axes, which become 1, in the accumulator's dtype.

    A sum begins with +0, and so is never -0.
    """
    accumulator = accumulator_dtype(kind, dtype, ordered=ordered)
    data = _filled(source, kind, dtype)
    ufunc = _LOGICAL_UFUNCS[kind] if dtype.is_bool else _UFUNCS[kind]
    in_order = ordered and dtype.is_float and kind is not tg.ReduceKind.MAX and data.size
    if in_order or not axes:
        wide = data.astype(accumulator)
        result = _in_order(ufunc, wide, axes) if axes else wide
        return result + 0 if kind is tg.ReduceKind.ADD and dtype.is_float else result
    start = np.asarray(tg.identity(kind, dtype)).astype(accumulator)[()]
    wide = data.astype(accumulator, copy=False) if dtype.bits < 32 and dtype.is_float else data
    result = ufunc.reduce(wide, axis=tuple(axes), dtype=accumulator, keepdims=True, initial=start)
    if kind is tg.ReduceKind.MAX and dtype.is_float:
        result = _positive_zero(result, wide, tuple(axes))
    return np.asarray(result)


def _filled(source: MaskedArray, kind: tg.ReduceKind, dtype: tg.DType) -> Array:
    """The data of an array, with the identity of a reduction in invalid cells."""
    if source.valid is None:
        return source.data
    neutral = np.asarray(tg.identity(kind, dtype)).astype(source.data.dtype)
    return np.where(source.valid, source.data, neutral)


def _in_order(ufunc: np.ufunc, data: Array, axes: Sequence[int]) -> Array:
    """One after the other, in row-major order of the reduced axes."""
    axes = sorted(axes)
    kept = tuple(1 if axis in axes else size for axis, size in enumerate(data.shape))
    moved = np.moveaxis(data, axes, range(len(axes)))
    flat = moved.reshape((-1, *moved.shape[len(axes) :]))
    return ufunc.accumulate(flat, axis=0)[-1].reshape(kept)


def _positive_zero(result: Array, data: Array, axes: tuple[int, ...]) -> Array:
    """The maximum of zeros is +0 where one of them is; np.maximum.reduce leaves that open."""
    if not bool((result == 0).any()):
        return result
    positive = ((data == 0) & ~np.signbit(data)).any(axis=axes, keepdims=True)
    zeros = np.where(positive, 0.0, -0.0).astype(result.dtype)
    return np.where(result == 0, zeros, result)


def initial(op: tg.ReduceOp) -> Array:
    """The initial value of a REDUCE, in the accumulator's dtype."""
    kind, dtype = op.kind.data, tg.dtype_of(op.source)
    accumulator = accumulator_dtype(kind, dtype, ordered=op.ordered is not None)
    return np.asarray(tg.identity(kind, dtype)).astype(accumulator)


def combine(op: tg.ReduceOp, total: Array, source: MaskedArray) -> Array:
    """A total and the elements of an array over the axes of a REDUCE, one after the other.

    The shape of the result is the array's, with 1 for each axis that is reduced.
    """
    kind, dtype, axes = op.kind.data, tg.dtype_of(op.source), tg.integers(op, "axes")
    data = _filled(source, kind, dtype)
    kept = tuple(1 if axis in axes else size for axis, size in enumerate(data.shape))
    wide = np.moveaxis(data.astype(total.dtype), axes, range(len(axes)))
    function = (LOGICAL if dtype.is_bool else ARITHMETIC)[f"tg.{kind.value}"]
    total = np.broadcast_to(total, kept)
    for elements in wide.reshape((-1, *kept)) if data.size else ():
        total = np.asarray(function(total, elements))
    return total


def finish(accumulated: Array, dtype: tg.DType) -> Array:
    """An accumulator rounded to the dtype of the reduction."""
    if not dtype.is_float or accumulated.dtype == numpy_dtype(dtype):
        return accumulated
    if accumulated.dtype == FLOAT64:
        return accumulated.astype(numpy_dtype(dtype))
    return round_once(accumulated, tg.DTYPES[tg.F32], dtype)


# -- ops without state -----------------------------------------------------------------------------

MAX_CELLS = 1 << 27
"""The most cells that an elementwise op computes at once. An f32 of so many is half a GiB, and a
product of broadcast operands may hold several; with more, a program of a few lines takes all memory
of the machine, and with fewer, fewer programs run here. An order of magnitude."""

PureFunction = Callable[[Any, Sequence[MaskedArray], int], MaskedArray]


def elementwise(op: Operation, operands: Sequence[MaskedArray], lanes: int) -> MaskedArray:
    """An elementwise op; a cell is invalid where any operand's is. WHERE: of the branch taken."""
    rank = max(x.data.ndim for x in operands) - lanes
    data = [aligned(x.data, lanes, rank) for x in operands]
    shape = broadcast_shape(data)
    if (cells := math.prod(shape)) > MAX_CELLS:
        raise InterpretationError(
            f"{op.name} of {cells} elements: the interpreter computes at most {MAX_CELLS} at once"
        )
    dtypes = [tg.dtype_of(operand) for operand in op.operands]
    result = compute(op.name, data, dtypes, tg.dtype_of(op.results[0]))
    masks = [None if x.valid is None else aligned(x.valid, lanes, rank) for x in operands]
    if all(mask is None for mask in masks):
        return MaskedArray(result)
    if op.name == "tg.where":
        chosen, a, b = (np.True_ if mask is None else mask for mask in masks)
        valid = np.logical_and(chosen, np.where(data[0], a, b))
    else:
        valid = all_valid(masks)
    return MaskedArray(result, broadcast(valid, shape))


def constant(op: tg.ConstOp, operands: Sequence[MaskedArray], lanes: int) -> MaskedArray:
    """CONST: a scalar, which may be an invalid cell."""
    shape = (1,) * lanes
    dtype = numpy_dtype_of(op.result)
    if isinstance(op.value, tg.InvalidAttr):
        return MaskedArray(np.zeros(shape, dtype), np.zeros(shape, np.bool_))
    return MaskedArray(np.full(shape, tg.number(op.value), dtype))


def constants(op: Operation, operands: Sequence[MaskedArray], lanes: int) -> MaskedArray:
    """VCONST: a vector of indices."""
    return MaskedArray(np.array(tg.integers(op, "values"), np.int64).reshape((1,) * lanes + (-1,)))


def binary(op: tg.BinaryDataOp, operands: Sequence[MaskedArray], lanes: int) -> MaskedArray:
    """BINARY: its bytes."""
    return MaskedArray(op.data.array.reshape((1,) * lanes + (-1,)))


def reduction(op: tg.ReduceOp, operands: Sequence[MaskedArray], lanes: int) -> MaskedArray:
    """REDUCE over axes of the shape; loops are the business of the kernel."""
    if op.ranges:
        raise InterpretationError("a REDUCE over ranges outside a kernel")
    axes = [lanes + axis for axis in tg.integers(op, "axes")]
    kind, dtype, ordered = op.kind.data, tg.dtype_of(op.source), op.ordered is not None
    return MaskedArray(finish(accumulate(kind, operands[0], axes, dtype, ordered=ordered), dtype))


def _materialised(op: Operation, operands: Sequence[MaskedArray], lanes: int) -> MaskedArray:
    return MaskedArray(operands[0].materialised())


def _replicated(op: tg.ReplicatedOp, operands: Sequence[MaskedArray], lanes: int) -> MaskedArray:
    """REPLICATED: the shards are copies of one value; entry 0 is it."""
    axis = lanes + op.axis.data
    return operands[0].rearranged(lambda x: np.take(x, 0, axis))


def load(
    op: Operation, read: MaskedArray, alt: MaskedArray | None, gate: MaskedArray | None, lanes: int
) -> MaskedArray:
    """LOAD from what the buffer shows; `alt` where it is gated off. The result is all valid."""
    data = read.materialised()
    if gate is None or alt is None:
        return MaskedArray(data)
    rank = max(data.ndim, alt.data.ndim) - lanes
    chosen = aligned(gate.materialised(), lanes, rank)
    return MaskedArray(np.where(chosen, aligned(data, lanes, rank), alt.materialised()))


PURE: dict[str, PureFunction] = {
    "tg.const": constant,
    "tg.vconst": constants,
    "tg.binary": binary,
    "tg.reduce": reduction,
    "tg.stack": lambda op, operands, lanes: stack(operands, lanes),
    "tg.replicated": _replicated,
    # A device holds all of a value or a part of it, but its elements are the same everywhere.
    "tg.copy": _materialised,
    # Without threads: of whole matrices only.
    "tg.wmma": lambda op, operands, lanes: wmma(op, operands, lanes, ()),
    "tg.contiguous": _materialised,
    **dict.fromkeys(ELEMENTWISE, elementwise),
}
"""Every op without state, by name. Movements and DETACH are not here: of memory they make views."""
