"""Views as lists of factors: how the cells of a chain of RESHAPE, PERMUTE and EXPAND lie in its
source.

Each axis is a product of factors, the outermost first. RESHAPE splits and joins factors, PERMUTE
reorders them, and EXPAND adds factors on which no cell depends. So the order in which movements
were written, or simplified to, makes no difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from typing_extensions import TypeIs
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation, SSAValue

from tgdialect.ops import tg
from tgdialect.transforms.affine_views import reshaped

VIEWS = (tg.ReshapeOp, tg.PermuteOp, tg.ExpandOp, tg.DetachOp)
"""The ops that a chain consists of."""


@dataclass(eq=False)
class AxisFactor:
    """A part of an axis, which may be split into an outer and an inner one later."""

    size: int
    is_repeated: bool = False
    """Whether an EXPAND has added it."""
    parts: tuple[AxisFactor, AxisFactor] | None = field(default=None, init=False)

    def split(self, outer: int) -> tuple[AxisFactor, AxisFactor]:
        """The two factors of which this one consists from now on."""
        assert self.parts is None
        assert self.size % outer == 0
        inner = AxisFactor(self.size // outer, self.is_repeated)
        self.parts = AxisFactor(outer, self.is_repeated), inner
        return self.parts


FactoredAxes = list[list[AxisFactor]]
"""The factors of each axis."""


class Layout:
    """The factors of a value in terms of those of a source."""

    def __init__(self, axes: FactoredAxes) -> None:
        self._axes = axes

    @classmethod
    def of(cls, shape: Sequence[int]) -> Layout:
        """A factor for each axis."""
        return cls([[AxisFactor(extent)] for extent in shape])

    @property
    def axes(self) -> FactoredAxes:
        """The factors as they are split by now; those of size 1 are left out."""
        return [leaves(axis) for axis in self._axes]

    def leading(self, axis: int, size: int) -> list[AxisFactor] | None:
        """The outermost factors of an axis whose product is `size`; None if that is in the middle
        of a factor that does not split there."""
        return _taken(leaves(self._axes[axis])[::-1], size)

    def without(self, dropped: Iterable[AxisFactor]) -> Layout:
        """The layout without some factors, whose axes stay."""
        gone = set(leaves(dropped))
        return Layout([[f for f in axis if f not in gone] for axis in self.axes])

    def reshaped(self, shape: Sequence[int]) -> Layout | None:
        """The factors of the axes of a RESHAPE; None if one of them is not a product of whole
        factors."""
        rest = [f for axis in self.axes for f in axis][::-1]
        result: FactoredAxes = []
        for extent in shape:
            if (axis := _taken(rest, extent)) is None:
                return None
            result.append(axis)
        return Layout(result)

    def viewed(self, view: SSAValue) -> Layout | None:
        """The layout of what an op of `VIEWS` makes of a value of this layout."""
        op = view.owner
        shape = tg.tensor(view).get_shape()
        match op:
            case tg.ReshapeOp():
                return self.reshaped(shape)
            case tg.PermuteOp():
                return Layout([self._axes[axis] for axis in tg.integers(op, "order")])
            case tg.ExpandOp():
                old = tg.tensor(op.source).get_shape()
                return Layout(
                    [
                        axis if before == after else [AxisFactor(after, is_repeated=True)]
                        for axis, before, after in zip(self._axes, old, shape, strict=True)
                    ]
                )
            case _:
                return self


def _taken(rest: list[AxisFactor], size: int) -> list[AxisFactor] | None:
    """The last factors of a list, which it loses, whose product is `size`: one that is too large is
    split. None if `size` is no product of whole factors."""
    result: list[AxisFactor] = []
    while size > 1:
        if not rest:
            return None
        factor = rest.pop()
        if factor.size > size:
            if factor.size % size:
                return None
            factor, inner = factor.split(size)
            rest.append(inner)
        if size % factor.size:
            return None
        size //= factor.size
        result.append(factor)
    return result


def leaves(factors: Iterable[AxisFactor]) -> list[AxisFactor]:
    """Factors as they are split by now, without those of size 1."""
    result: list[AxisFactor] = []
    for factor in factors:
        if factor.parts is not None:
            result += leaves(factor.parts)
        elif factor.size != 1:
            result.append(factor)
    return result


def chain_of(value: SSAValue) -> list[SSAValue]:
    """A value and what it is a view of, down to what is no view."""
    return [value, *(view.operands[0] for view in tg.through(value, *VIEWS))]


def is_plain(value: SSAValue) -> bool:
    """Whether the extents of a value are known, and none is 0."""
    shape = tg.tensor(value).get_shape()
    return DYNAMIC_INDEX not in shape and 0 not in shape


def layout_in(chain: Sequence[SSAValue], source: Layout) -> Layout | None:
    """The layout of the first value of a chain, from that of the last one."""
    layout: Layout | None = source
    for view in reversed(chain[:-1]):
        layout = None if layout is None else layout.viewed(view)
    return layout


def emit(builder: tg.OpBuilder, value: SSAValue, old: Layout, new: Layout) -> SSAValue:
    """The view of a value of layout `old` that has the layout `new`.

    All factors of `old` are in `new`, where repeated ones may come in addition.
    """
    # Split into factors, and put them into their order.
    have = [f for axis in old.axes for f in axis]
    wanted = [f for axis in new.axes for f in axis]
    known = [f for f in wanted if f in have]
    assert len(known) == len(have), "a factor of the source is missing"
    if known != have:
        value = reshaped(builder, value, [f.size for f in have])
        value = builder.put(tg.PermuteOp(value, [have.index(f) for f in known]))
    # Repeat.
    if len(known) < len(wanted):
        value = reshaped(builder, value, [f.size if f in have else 1 for f in wanted])
        value = builder.put(tg.ExpandOp(value, [f.size for f in wanted]))
    return reshaped(builder, value, [math.prod(f.size for f in axis) for axis in new.axes])


def is_reshape(op: Operation | Block) -> TypeIs[tg.ReshapeOp | tg.PermuteOp]:
    """Whether an op leaves the order of the cells as it is: a RESHAPE, or a PERMUTE that moves only
    axes of extent 1."""
    if isinstance(op, tg.PermuteOp):
        shape = tg.tensor(op.source).get_shape()
        moved = [axis for axis in tg.integers(op, "order") if shape[axis] != 1]
        return moved == sorted(moved)
    return isinstance(op, tg.ReshapeOp)
