"""Rules for the ops that compute nothing: leaves, movement, ordering, and access to memory.

A rule gives what becomes of an op's result; None of memory, which accesses look through
(`locations.py`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.lowering.select.kernel import Kernel, Lanes, static_shape
from tgdialect.lowering.select.lanes import Shape, cells, moved
from tgdialect.lowering.select.scalars import TYPES, Index, dtype_name
from tgdialect.ops.attributes import InvalidAttr
from tgdialect.ops.base import TgOp
from tgdialect.ops.codegen import AtomicAddOp
from tgdialect.ops.dtypes import DTYPES
from tgdialect.ops.memory import LoadOp, StoreOp
from tgdialect.ops.movement import IndexOp, StackOp
from tgdialect.ops.ordering import AfterOp, GroupOp, RangeOp
from tgdialect.ops.properties import is_memory, number
from tgdialect.ops.source import BufferOp, ConstOp, ParamOp
from tgdialect.transforms.soft_float import NARROW_FORMATS

# -- leaves --------------------------------------------------------------------------------------


def param(k: Kernel, op: ParamOp) -> Lanes | None:
    return k.locations.add_param(op) if is_memory(op.result) else k.rebuilt(op)


def buffer(k: Kernel, op: BufferOp) -> None:
    k.locations.add_buffer(op)


def const(k: Kernel, op: ConstOp) -> Lanes:
    if isinstance(op.value, InvalidAttr):
        raise PassFailedException("an invalid constant: tg-rangeify makes conditions of them")
    if dtype_name(op.result) in NARROW_FORMATS:
        return (k.scalars.constant(number(op.value), "f32"),)
    return (k.scalars.literal(op.value),)


# -- movement ------------------------------------------------------------------------------------


def movement(k: Kernel, op: Operation) -> Lanes | None:
    if is_memory(op.operands[0]):
        return None
    _ = static_shape(op.results[0])
    lanes = k.lanes(op.operands[0])
    return [lanes[i] for i in moved(op)]


def stack(k: Kernel, op: StackOp) -> Lanes:
    return [lane for source in op.sources for lane in k.lanes(source)]


def index(k: Kernel, op: IndexOp) -> Lanes | None:
    """INDEX of a value: known elements, or a choice among them; 0 out of bounds."""
    if is_memory(op.source):
        return None
    shape = static_shape(op.source)
    indexed, rest = shape[: len(op.indices)], shape[len(op.indices) :]
    lanes, size = k.lanes(op.source), math.prod(rest)
    rows = {cell: lanes[i * size : (i + 1) * size] for i, cell in enumerate(cells(indexed))}
    zero = k.scalars.constant(0, k.narrow.computed_dtype(dtype_name(op.result)))
    axes = [[k.scalars.known_index(i) for i in k.lanes(index)] for index in op.indices]
    result: list[Sequence[Index]] = []
    for pick in cells(tuple(len(axis) for axis in axes)):
        result.append([axis[i] for axis, i in zip(axes, pick, strict=True)])
    return [lane for cell in result for lane in _row(k, cell, rows, [zero] * size)]


def _row(k: Kernel, cell: Sequence[Index], rows: dict[Shape, Lanes], otherwise: Lanes) -> Lanes:
    """The row at a cell, or `otherwise` where there is none."""
    result = otherwise
    for candidate, row in rows.items():
        pairs = list(zip(cell, candidate, strict=True))
        if any(isinstance(i, int) and i != c for i, c in pairs):
            continue
        here = k.scalars.all_of(
            [k.scalars.compare("cmpeq", i, c) for i, c in pairs if not isinstance(i, int)]
        )
        if here is None:
            return row
        result = [
            k.scalars.apply("where", (here, a, b), dtype_name(a))
            for a, b in zip(row, result, strict=True)
        ]
    return result


# -- ordering ------------------------------------------------------------------------------------


def range_(k: Kernel, op: RangeOp) -> Lanes:
    bound = k.scalars.index(k.scalars.known_index(k.lanes(op.bound)[0]))
    return (k.scalars.append(RangeOp(op.axis.data, op.axis_type.data, bound)),)


def after(k: Kernel, op: AfterOp) -> None:
    """Memory: what accesses it waits."""


def in_order(k: Kernel, op: TgOp) -> Lanes:
    return k.rebuilt(op)


# -- memory --------------------------------------------------------------------------------------


def load(k: Kernel, op: LoadOp) -> Lanes:
    if op.addrspace is not None:
        raise PassFailedException("a load into memory: inside a kernel it is a BUFFER and a STORE")
    if not is_memory(op.buffer):
        return k.lanes(op.buffer)
    shape = static_shape(op.result)
    alts, gates = _optional(k, op.alt, shape), _optional(k, op.gate, shape)
    accesses = zip(cells(shape), alts, gates, strict=True)
    return [k.load_cell(op.buffer, cell, alt, gate) for cell, alt, gate in accesses]


def _optional(k: Kernel, value: SSAValue | None, shape: Shape) -> Sequence[SSAValue | None]:
    return [None] * math.prod(shape) if value is None else k.aligned(value, shape)


def store(k: Kernel, op: StoreOp) -> Lanes:
    shape, dtype = static_shape(op.value), dtype_name(op.value)
    gates = _optional(k, op.gate, shape)
    stores: list[SSAValue] = []
    for cell, value, gate in zip(cells(shape), k.lanes(op.value), gates, strict=True):
        where = k.locations.locate(op.buffer, cell)
        gate = k.bounds.gate(where.checks, gate)
        cell = k.locations.reference(where.view, where.position)
        stores.append(k.scalars.append(StoreOp(cell, k.stored(value, dtype), gate)))
    return _grouped(k, stores)


def _grouped(k: Kernel, effects: Lanes) -> Lanes:
    return effects if len(effects) == 1 else (k.scalars.append(GroupOp(effects)),)


def atomic_add(k: Kernel, op: AtomicAddOp) -> Lanes:
    """Where a cell does not exist, the neutral element is added to the first cell instead."""
    shape, dtype = static_shape(op.value), dtype_name(op.value)
    if dtype in NARROW_FORMATS:
        raise PassFailedException(f"the target {k.target.name} has no atomic add of {dtype}")
    neutral = k.scalars.constant(-0.0 if DTYPES[TYPES[dtype]].is_float else 0, dtype)
    adds: list[SSAValue] = []
    for cell, value in zip(cells(shape), k.lanes(op.value), strict=True):
        where = k.locations.locate(op.buffer, cell)
        index = k.scalars.index(where.position)
        if (gate := k.bounds.gate(where.checks, None)) is not None:
            if not k.bounds.is_positive(where.extent):
                raise PassFailedException("an atomic add to a buffer that may be empty")
            index = k.scalars.apply("where", (gate, index, k.scalars.index(0)), "index")
            value = k.scalars.apply("where", (gate, value, neutral), dtype)
        location = k.locations.reference(where.view, index)
        adds.append(k.scalars.append(AtomicAddOp(location, value)))
    return _grouped(k, adds)
