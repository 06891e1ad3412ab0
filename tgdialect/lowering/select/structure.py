"""Selection rules of the ops that compute nothing: leaves, movement, ordering, loads and stores.

A rule returns the register tile of an op's result. It returns None where the result is memory,
because loads and stores resolve views of memory themselves (`locations.py`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import cast

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.lowering.kernel_memory import grouped
from tgdialect.lowering.select.indices import LaneIndex
from tgdialect.lowering.select.kernel import SelectedKernel, static_shape
from tgdialect.lowering.select.scalars import dtype_name
from tgdialect.lowering.select.tiles import (
    RegisterTile,
    StaticShape,
    broadcast_tile,
    cells,
    moved,
    moved_tile,
    ones,
    reshaped_tile,
    row_length,
    scalar,
)
from tgdialect.ops import tg
from tgdialect.transforms.soft_float import NARROW_FORMATS

# -- leaves --------------------------------------------------------------------------------------


def param(k: SelectedKernel, op: tg.ParamOp) -> RegisterTile | None:
    return k.locations.add_param(op) if tg.is_memory(op.result) else k.rebuilt(op)


def buffer(k: SelectedKernel, op: tg.BufferOp) -> None:
    k.locations.add_buffer(op)


def const(k: SelectedKernel, op: tg.ConstOp) -> RegisterTile:
    if isinstance(op.value, tg.InvalidAttr):
        raise PassFailedException("an invalid constant: tg-rangeify makes conditions of them")
    if dtype_name(op.result) in NARROW_FORMATS:
        return scalar(k.scalars.constant(tg.number(op.value), "f32"))
    return scalar(k.scalars.literal(op.value))


def vconst(k: SelectedKernel, op: tg.VConstOp) -> RegisterTile:
    values = tg.integers(op, "values")
    row = RegisterTile((len(values),), k.cut(len(values)), ())
    pieces = [k.scalars.numbers(values[at : at + width]) for at, width in row.runs]
    return row._replace(pieces=pieces)


# -- movement ------------------------------------------------------------------------------------


def movement(k: SelectedKernel, op: Operation) -> RegisterTile | None:
    source, result = op.operands[0], op.results[0]
    if tg.is_memory(source):
        return None
    shape = static_shape(result)
    if isinstance(op, tg.ReshapeOp):
        return reshaped_tile(k.scalars, k.tile(source), shape, k.cut(row_length(shape)))
    if isinstance(op, tg.ExpandOp):
        (tile,) = k.aligned((source,), shape)
        return tile
    return moved_tile(k.scalars, k.tile(source), moved(op), k.cut(row_length(shape)))


def stack(k: SelectedKernel, op: tg.StackOp) -> RegisterTile:
    shape = static_shape(op.result)
    if len(shape) > 1:
        tiles = [k.tile(source) for source in op.sources]
        widths = min((tile.widths for tile in tiles), key=len)
        rows = [broadcast_tile(k.scalars, tile, tile.shape, widths) for tile in tiles]
        return RegisterTile(shape, widths, [piece for tile in rows for piece in tile.pieces])
    lanes = [k.tile(source).pieces[0] for source in op.sources]
    row = RegisterTile(shape, k.cut(row_length(shape)), ())
    pieces = [k.scalars.gathered(lanes[at : at + width]) for at, width in row.runs]
    return row._replace(pieces=pieces)


def index(k: SelectedKernel, op: tg.IndexOp) -> RegisterTile | None:
    """INDEX of a value: constant indices pick elements, others choose among all elements by WHERE.
    An element out of bounds is 0."""
    if tg.is_memory(op.source):
        return None
    # `axes` has the indices of each indexed axis, `picks` those of each element (or row) picked.
    shape, result = static_shape(op.source), static_shape(op.result)
    indexed, rest = shape[: len(op.indices)], shape[len(op.indices) :]
    axes = [[k.scalars.known_index(i) for i in k.elements(index)] for index in op.indices]
    picks, tile = list(product(*axes)), k.tile(op.source)
    # Constant indices in range: move elements between registers.
    pairs = ((i, end) for axis, end in zip(axes, indexed, strict=True) for i in axis)
    if all(isinstance(i, int) and 0 <= i < end for i, end in pairs):
        positions = np.arange(math.prod(shape)).reshape(shape)
        taken = [positions[cast("tuple[int, ...]", pick)] for pick in picks]
        at = np.array(taken, dtype=np.intp).reshape(result)
        widths = tile.widths if rest else k.cut(row_length(result))
        return moved_tile(k.scalars, tile, at, widths)
    # Otherwise choose each result among the rows of all cells.
    lanes, size = k.elements(op.source), math.prod(rest)
    rows = {cell: lanes[i * size : (i + 1) * size] for i, cell in enumerate(cells(indexed))}
    zero = k.scalars.constant(0, k.narrow.computed_dtype(dtype_name(op.result)))
    pieces = [lane for pick in picks for lane in _row(k, pick, rows, [zero] * size)]
    return RegisterTile(result, ones(result), pieces)


def _row(
    k: SelectedKernel,
    cell: Sequence[LaneIndex],
    rows: Mapping[StaticShape, Sequence[SSAValue]],
    otherwise: Sequence[SSAValue],
) -> Sequence[SSAValue]:
    """The row whose cell the indices in `cell` name, by a chain of WHEREs; `otherwise` where they
    name none."""
    result = otherwise
    for candidate, row in rows.items():
        pairs = list(zip(cell, candidate, strict=True))
        if any(isinstance(i, int) and i != c for i, c in pairs):
            continue
        unknown = [pair for pair in pairs if not isinstance(pair[0], int)]
        here = k.scalars.all_of([k.scalars.compare("cmpeq", *pair) for pair in unknown])
        if here is None:
            return row
        choices = [(here, *pair) for pair in zip(row, result, strict=True)]
        result = [k.scalars.apply("where", each, dtype_name(each[1])) for each in choices]
    return result


# -- ordering ------------------------------------------------------------------------------------


def range_(k: SelectedKernel, op: tg.RangeOp) -> RegisterTile:
    bound = k.scalars.index(k.scalars.known_index(k.tile(op.bound).pieces[0]))
    return scalar(k.scalars.put(tg.RangeOp(op.axis.data, op.axis_type.data, bound)))


def after(k: SelectedKernel, op: tg.AfterOp) -> None:
    """AFTER of memory: the accesses through it emit it (`Locations.version`)."""


# -- memory --------------------------------------------------------------------------------------


def load(k: SelectedKernel, op: tg.LoadOp) -> RegisterTile:
    if op.addrspace is not None:
        raise PassFailedException("a load into memory: inside a kernel it is a BUFFER and a STORE")
    return k.load(op.buffer, op.alt, op.gate) if tg.is_memory(op.buffer) else k.tile(op.buffer)


def store(k: SelectedKernel, op: tg.StoreOp) -> RegisterTile:
    return scalar(grouped(k.scalars, k.store(op.buffer, op.value, op.gate)))


def atomic_add(k: SelectedKernel, op: tg.AtomicAddOp) -> RegisterTile:
    """ATOMICADD, one element at a time. It has no gate: where an index is out of bounds, the
    neutral element is added to the first cell instead."""
    shape, dtype = static_shape(op.value), dtype_name(op.value)
    is_narrow = dtype in NARROW_FORMATS
    if is_narrow and k.narrow.stored_dtype(dtype) != dtype:
        message = f"the target {k.target.name} has no atomic add of {dtype}: it has only its bits"
        raise PassFailedException(message)
    computed = k.narrow.computed_dtype(dtype) if is_narrow else dtype
    neutral = k.scalars.constant(-0.0 if tg.DTYPES[tg.TYPES[dtype]].is_float else 0, computed)
    adds: list[SSAValue] = []
    for cell, value in zip(cells(shape), k.elements(op.value), strict=True):
        where = k.locations.locate(op.buffer, cell)
        index = k.scalars.index(where.position)
        if (gate := k.bounds.gate(where.checks, None)) is not None:
            if not k.bounds.is_positive(where.extent):
                raise PassFailedException("an atomic add to a buffer that may be empty")
            index = k.scalars.apply("where", (gate, index, k.scalars.index(0)), "index")
            value = k.scalars.apply("where", (gate, value, neutral), computed)
        if is_narrow:
            value = k.narrow.stored(value, dtype)
        location = k.locations.reference(where.view, index)
        adds.append(k.scalars.put(tg.AtomicAddOp(location, value)))
    return scalar(grouped(k.scalars, adds))
