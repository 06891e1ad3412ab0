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

from tgdialect.interpreter.elementwise import ELEMENTWISE, compute
from tgdialect.interpreter.movement import stack
from tgdialect.interpreter.reduction import accumulate, finish
from tgdialect.interpreter.values import (
    MaskedArray,
    aligned,
    all_valid,
    broadcast,
    broadcast_shape,
)
from tgdialect.interpreter.wmma import wmma
from tgdialect.ops import tg
from tgdialect.ops.arrays import numpy_dtype_of
from tgdialect.ops.properties import dtype_of, integers, number

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
    dtypes = [dtype_of(operand) for operand in op.operands]
    result = compute(op.name, data, dtypes, dtype_of(op.results[0]))
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
    return MaskedArray(np.full(shape, number(op.value), dtype))


def constants(op: Operation, operands: Sequence[MaskedArray], lanes: int) -> MaskedArray:
    """VCONST: a vector of indices."""
    return MaskedArray(np.array(integers(op, "values"), np.int64).reshape((1,) * lanes + (-1,)))


def binary(op: tg.BinaryDataOp, operands: Sequence[MaskedArray], lanes: int) -> MaskedArray:
    """BINARY: its bytes."""
    return MaskedArray(np.frombuffer(op.data.data, np.uint8).reshape((1,) * lanes + (-1,)))


def reduction(op: tg.ReduceOp, operands: Sequence[MaskedArray], lanes: int) -> MaskedArray:
    """REDUCE over axes of the shape; loops are the business of the kernel."""
    if op.ranges:
        raise InterpretationError("a REDUCE over ranges outside a kernel")
    axes = [lanes + axis for axis in integers(op, "axes")]
    kind, dtype, ordered = op.kind.data, dtype_of(op.source), op.ordered is not None
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
