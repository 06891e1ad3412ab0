"""Symbolic indices: constants, a value plus a constant, and ramps along lanes.

They are put into registers lazily: ops are emitted only for the indices that an access uses.
"""

from __future__ import annotations

from typing import NamedTuple, cast

from typing_extensions import TypeIs
from xdsl.ir import SSAValue

from tgdialect.ops import tg
from tgdialect.ops.folding import constant_attribute


class Sum(NamedTuple):
    """The index `base + distance`, where `base` is a `tensor<index>`; not yet in a register."""

    base: SSAValue
    distance: int


Extent = int | SSAValue
"""A constant index, or a `tensor<index>`."""

Scalar = Extent | Sum
"""One index: a constant, a `tensor<index>`, or a `tensor<index>` plus a constant."""


class Ramp(NamedTuple):
    """The indices start, start + step, ..., one for each lane; not yet in a register."""

    start: Scalar
    step: int
    lanes: int


LaneIndex = Scalar | Ramp
"""One index, or one for each lane: a ramp, or a vector in a register."""

TilePiece = SSAValue | Ramp
"""A register, or a ramp that has not been put into one."""


def is_ramp(piece: object) -> TypeIs[Ramp]:
    # An exact type check is enough: a Ramp is a tuple, never an SSAValue.
    return type(piece) is Ramp


def is_sum(index: object) -> TypeIs[Sum]:
    return type(index) is Sum


def lanes_of(piece: LaneIndex) -> int:
    """The number of elements of an index or register: 1 for a scalar."""
    if isinstance(piece, int) or is_sum(piece):
        return 1
    if is_ramp(piece):
        return piece.lanes
    shape = tg.static_shape(tg.tensor(piece))
    return shape[0] if shape else 1


def apart(index: LaneIndex) -> tuple[LaneIndex, int]:
    """Split an index into a base and the constant that is added to the base."""
    if isinstance(index, int):
        return 0, index
    if is_sum(index):
        return index
    if not is_ramp(index) and isinstance(op := index.owner, tg.AddOp):
        attribute = constant_attribute(op.operands[1])
        if attribute is not None and not tg.static_shape(tg.tensor(op.operands[1])):
            return op.operands[0], int(tg.number(attribute))
    return index, 0


def ramp(start: Scalar, step: int, lanes: int) -> LaneIndex:
    """The indices `start + step * lane`; the start alone where the step is 0."""
    return Ramp(start, step, lanes) if step else start


def known_positions(ramp: Ramp) -> range:
    """The indices of a ramp whose start is a constant."""
    start = cast(int, ramp.start)
    return range(start, start + ramp.step * ramp.lanes, ramp.step)
