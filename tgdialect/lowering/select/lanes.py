"""Movement of values that are in registers: which element of the source each element is.

Shapes are static here and an index picks a scalar when the program is compiled, so that no
movement op is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from typing import Any

from xdsl.ir import Operation

from tgdialect.ops.movement import ExpandOp, FlipOp, PermuteOp, ReshapeOp, ShrinkOp
from tgdialect.ops.properties import integers, tensor

Shape = tuple[int, ...]


def cells(shape: Shape) -> Iterator[tuple[int, ...]]:
    """Every index of a shape, in row-major order."""
    return product(*(range(extent) for extent in shape))


def position(cell: Sequence[int], shape: Shape) -> int:
    """The row-major position of a cell."""
    result = 0
    for index, extent in zip(cell, shape, strict=True):
        result = result * extent + index
    return result


@cache
def broadcast(shape: Shape, result: Shape) -> Sequence[int]:
    """For each element of `result`, the element of a `shape` that broadcasts to it."""
    if shape == result:
        return range(math.prod(shape))
    missing = len(result) - len(shape)
    return [
        position([0 if e == 1 else i for i, e in zip(c[missing:], shape, strict=True)], shape)
        for c in cells(result)
    ]


def _permute(op: PermuteOp, shape: Shape, cell: Sequence[int]) -> Sequence[int]:
    by_axis = dict(zip(integers(op, "order"), cell, strict=True))
    return [by_axis[axis] for axis in range(len(cell))]


def _flip(op: FlipOp, shape: Shape, cell: Sequence[int]) -> Sequence[int]:
    flags = integers(op, "flags")
    return [e - 1 - i if f else i for i, e, f in zip(cell, shape, flags, strict=True)]


def _expand(op: ExpandOp, shape: Shape, cell: Sequence[int]) -> Sequence[int]:
    return [0 if e == 1 else i for i, e in zip(cell, shape, strict=True)]


def _shrink(op: ShrinkOp, shape: Shape, cell: Sequence[int]) -> Sequence[int]:
    return [i + o for i, o in zip(cell, integers(op, "offsets"), strict=True)]


_SOURCES: dict[type[Operation], Callable[[Any, Shape, Sequence[int]], Sequence[int]]] = {
    PermuteOp: _permute,
    FlipOp: _flip,
    ExpandOp: _expand,
    ShrinkOp: _shrink,
}


def moved(op: Operation) -> Sequence[int]:
    """For each element of the result of a movement op, the position in its source."""
    shape, result = (tensor(v).get_shape() for v in (op.operands[0], op.results[0]))
    if isinstance(op, ReshapeOp):
        return range(math.prod(result))
    source = _SOURCES[type(op)]
    return [position(source(op, shape, cell), shape) for cell in cells(result)]
