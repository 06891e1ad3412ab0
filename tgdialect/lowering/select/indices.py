"""Indices that are not in registers: numbers, distances from a value, ramps along lanes.

Only what an access uses in the end becomes ops.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from typing_extensions import TypeIs
from xdsl.ir import SSAValue

from tgdialect.ops.elementwise import AddOp
from tgdialect.ops.folding import constant_attribute
from tgdialect.ops.properties import number, tensor


class Sum(NamedTuple):
    """An index that is a known distance from a `tensor<index>`; no register yet."""

    base: SSAValue
    distance: int


Extent = int | SSAValue
"""An index that is known, or a `tensor<index>`."""

Scalar = Extent | Sum
"""An index that is that, or what comes a known distance after it."""


class Ramp(NamedTuple):
    """The indices start, start + step, ..., one for each lane of a vector; no register yet."""

    start: Scalar
    step: int
    lanes: int


Index = Scalar | Ramp
"""An index, or one for each lane: a ramp, or a vector in a register."""

Piece = SSAValue | Ramp
"""A register, or the indices that one would hold."""


def is_ramp(piece: object) -> TypeIs[Ramp]:
    # A Ramp is a tuple, and so is no SSAValue.
    return type(piece) is Ramp


def is_sum(index: object) -> TypeIs[Sum]:
    return type(index) is Sum


def lanes_of(piece: Index) -> int:
    """How many elements there are: 1 of a scalar."""
    if isinstance(piece, int) or is_sum(piece):
        return 1
    if is_ramp(piece):
        return piece.lanes
    shape = tensor(piece).get_shape()
    return shape[0] if shape else 1


def apart(index: Index) -> tuple[Index, int]:
    """A sum, and the constant that is added to it."""
    if isinstance(index, int):
        return 0, index
    if is_sum(index):
        return index
    if not is_ramp(index) and isinstance(op := index.owner, AddOp):
        attribute = constant_attribute(op.operands[1])
        if attribute is not None and not tensor(op.operands[1]).get_shape():
            return op.operands[0], int(number(attribute))
    return index, 0


def ramp(start: Scalar, step: int, lanes: int) -> Index:
    """The indices from a start on; one index where they do not differ."""
    return Ramp(start, step, lanes) if step else start


def known_positions(ramp: Ramp) -> Sequence[int]:
    """The indices of a ramp with a known start."""
    start = cast(int, ramp.start)
    return range(start, start + ramp.step * ramp.lanes, ramp.step)
