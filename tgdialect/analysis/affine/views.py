"""Chains of movement ops as affine views of their source.

A window of a convolution is a chain of repeats, cuts and splits; what it says is that axis i of the
source is read at `stride * p + dilation * k - padding`. This analysis reads that from the chain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from tgdialect.analysis.affine.movement import moved
from tgdialect.analysis.affine.positions import (
    Index,
    LoopVariable,
    Position,
    Positions,
    interval_of,
)
from tgdialect.ops import tg


@dataclass(frozen=True)
class AxisView:
    """Where an axis of the source is read: at `(constant + sum of coefficient * i) / divisor`, for
    the indices i of axes of the view. Cells where that is no integer, or is outside of the source,
    are padding."""

    terms: Mapping[int, int]
    """The coefficients by axis of the view; none is 0."""
    constant: int = 0
    divisor: int = 1

    def is_split(self, extent: int, shape: Sequence[int]) -> bool:
        """Whether the axes of the view are the digits of all positions, as after a RESHAPE."""
        if self.constant or self.divisor != 1:
            return False
        weight = 1
        for axis, coefficient in sorted(self.terms.items(), key=lambda term: term[1]):
            if coefficient != weight:
                return False
            weight *= shape[axis]
        return weight == extent


@dataclass(frozen=True)
class AffineView:
    """A value as a view of a source; axes that no `AxisView` names are repeated."""

    source: SSAValue
    axes: tuple[AxisView, ...]
    """One for each axis of the source."""
    has_zeros: bool
    """Whether all padding is 0, or invalid."""


def affine_views(value: SSAValue) -> Iterator[AffineView]:
    """The views that a value of static shape is of the values that it is moved from, nearest first.
    Values of which it is no affine view are left out."""
    shape = tg.tensor(value).get_shape()
    if DYNAMIC_INDEX in shape or 0 in shape:
        return
    positions = Positions()
    loops = [LoopVariable(extent, extent) for extent in shape]
    index: Index | None = tuple(positions.digit(loop) for loop in loops)
    axis_of = {loop: axis for axis, loop in enumerate(loops)}
    masks: list[tuple[Position, int]] = []
    has_zeros = True
    while isinstance(op := value.owner, tg.MovementOp):
        value = op.operands[0]
        extents = tg.tensor(value).get_shape()
        if len(op.operands) > 1 or DYNAMIC_INDEX in extents or 0 in extents:
            return
        if (index := moved(positions, op, index)) is None:
            return
        if isinstance(op, tg.PadOp):
            for i, extent in zip(index, extents, strict=True):
                if not interval_of(i).within(0, extent - 1):
                    masks.append((i, extent))
                    has_zeros &= op.fill is None or op.fill == tg.number_attribute(
                        0, tg.tensor(value).element_type
                    )
        axes = [_axis(i, axis_of) for i in index]
        known = tuple(axis for axis in axes if axis is not None)
        named = [axis for each in known for axis in each.terms]
        if (
            len(known) == len(axes)
            and len(named) == len({*named})
            and all(_is_implied(q, n, index, extents, known) for q, n in masks)
            and all(_is_masked(i, masks) for i in index)
        ):
            yield AffineView(value, known, has_zeros)


def _quotient(position: Position) -> tuple[Position, int] | None:
    """The dividend, including the constant of the position, and the divisor of `u // n + c`."""
    if len(position.terms) != 1:
        return None
    ((atom, coefficient),) = position.terms.items()
    if atom.kind != "idiv" or coefficient != 1:
        return None
    dividend, divisor = cast("tuple[Position, Position]", atom.parts)
    if divisor.terms:
        return None
    return dividend + position.constant * divisor.constant, divisor.constant


def _axis(position: Position, axis_of: Mapping[LoopVariable, int]) -> AxisView | None:
    """A position that is affine in whole axes, or the quotient of one."""
    divisor = 1
    if (quotient := _quotient(position)) is not None:
        position, divisor = quotient
    terms: dict[int, int] = {}
    for atom, coefficient in position.terms.items():
        if atom.kind != "digit":
            return None
        loop, unit, extent = atom.digit
        if unit != 1 or extent != loop.extent:
            return None
        terms[axis_of[loop]] = coefficient
    return AxisView(terms, position.constant, divisor)


def _is_implied(
    position: Position, extent: int, index: Index, extents: Sequence[int], axes: Sequence[AxisView]
) -> bool:
    """Whether a mask `0 <= position < extent` holds for all cells of the source, so that it masks
    no more than the bounds of the source and divisibility do."""
    for i, n, axis in zip(index, extents, axes, strict=True):
        steps = [(i, 1)]
        if axis.divisor > 1 and (quotient := _quotient(i)) is not None:
            steps.append(quotient)
        for u, step in steps:
            # The position is `step * cell + shift` for a cell of the source.
            if u.terms == position.terms:
                shift = position.constant - u.constant
                if shift >= 0 and step * (n - 1) + shift < extent:
                    return True
            if step > 1 and extent == 1 and _is_remainder(position, i):
                return True
    return False


def _is_masked(position: Position, masks: Sequence[tuple[Position, int]]) -> bool:
    """Whether cells where a quotient is not exact are masked."""
    if _quotient(position) is None:
        return True
    return any(n == 1 and _is_remainder(q, position) for q, n in masks)


def _is_remainder(position: Position, quotient: Position) -> bool:
    """Whether a position is the remainder that belongs to a quotient."""
    atom, (divided,) = position.atom, quotient.terms
    return atom is not None and atom.kind == "mod" and atom.parts == divided.parts


def span(axis: AxisView, shape: Sequence[int]) -> tuple[int, int]:
    """The least and the greatest value of `constant + sum of coefficient * i`."""
    ends = [(coefficient * (shape[a] - 1)) for a, coefficient in axis.terms.items()]
    low = axis.constant + sum(min(end, 0) for end in ends)
    return low, axis.constant + sum(max(end, 0) for end in ends)
