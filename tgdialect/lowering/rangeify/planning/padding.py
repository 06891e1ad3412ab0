"""Padded operands of reductions: when a copy of the padding pays.

A PAD that is fused is a mask in each step of a reduction. A copy takes one pass over the operand,
and the steps of the reduction then load without masks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.affine.movement import moved
from tgdialect.analysis.affine.positions import Index, Position, loops_of
from tgdialect.lowering.rangeify.planning.contractions import summed_product
from tgdialect.lowering.rangeify.planning.demand import Demands
from tgdialect.ops import tg
from tgdialect.ops.properties import excess

MANY_MASKS = 16
"""Reads per element of a padded operand of a product from which on a kernel of its own stores the
padded operand. Larger: more steps have masks; smaller: more copies, each a pass over memory. A load
with a mask serves the rows of a register tile, so that few reads make few masks. Where an element
was read 62 times, as in a transposed convolution, steps with masks took three to five times as
long."""

MANY_WINDOWS = 4
"""The same for other reductions over windows, such as a depthwise convolution. They load as often
as they compute, so masks take longer than the rest, and a copy pays for fewer reads. A depthwise
3x3 convolution reads an element 9 times and takes half the time with a copy; one with stride 2
reads it 2 times and takes longer."""


def padding(op: tg.ReduceOp) -> Iterator[tg.PadOp]:
    """The PADs with `fill` among the movement ops on the operand of a reduction, or on its factors.
    Without `fill` a copy needs masks as well."""
    product = summed_product(op)
    for value in (op.source,) if product is None else product.operands:
        for movement in tg.through(value, tg.MovementOp):
            if isinstance(movement, tg.PadOp) and movement.fill is not None:
                yield movement


class AxisPlace(NamedTuple):
    """Where a value is along one axis of memory that has more cells."""

    parts: tuple[tuple[int, int], ...]
    """The axes of the value that are in this axis, with their strides; of more than one cell."""
    offset: int

    def at(self, index: Index) -> Position:
        """Where an element of the value is."""
        position: Position = tg.Affine(constant=self.offset)
        for axis, stride in self.parts:
            position += index[axis] * stride
        return position


class Padded(NamedTuple):
    """A value, and where the result of a PAD has it."""

    pad: tg.PadOp
    value: SSAValue
    places: tuple[AxisPlace, ...]

    @property
    def op(self) -> Operation:
        """The op that computes the value."""
        assert isinstance(self.value.owner, Operation)
        return self.value.owner

    def at(self, index: Index) -> Index:
        """The index in the result of the PAD of an element of the value."""
        return tuple(place.at(index) for place in self.places)

    def order(self, order: Sequence[int]) -> tuple[int, ...]:
        """The axes of the value in the order that the result of the PAD has them in."""
        inner = [axis for outer in order for axis, _ in self.places[outer].parts]
        return (*(a for a in range(len(tg.tensor(self.value).shape)) if a not in inner), *inner)


def padded_value(op: tg.PadOp) -> Padded | None:
    """The value that a PAD pads, before PERMUTEs and RESHAPEs that only merge axes; None if it has
    sizes that are no constants, or no cells."""
    value, positions = op.source, Demands()
    shape = tg.tensor(value).get_shape()
    if not tg.tensor(op.result).has_static_shape() or {0, DYNAMIC_INDEX} & {*shape}:
        return None
    whole = index = positions.loops(shape)
    while isinstance(movement := value.owner, tg.PermuteOp | tg.ReshapeOp):
        if not tg.tensor(movement.source).has_static_shape():
            break
        before = moved(positions, movement, index)
        if before is None or not all(map(_is_digit, before)):
            break
        value, index = movement.source, before
    places: list[AxisPlace] = []
    for at, offset in zip(whole, tg.integers(op, "offsets"), strict=True):
        parts = [
            (axis, each.atom.digit[1])
            for axis, each in enumerate(index)
            if each.atom and loops_of(each) == loops_of(at)
        ]
        places.append(AxisPlace(tuple(sorted(parts, key=lambda part: -part[1])), offset))
    return Padded(op, value, tuple(places))


def may_hold(inside: Padded, is_valid: Callable[[SSAValue], bool]) -> bool:
    """Whether a kernel can store a value inside of the buffer of its PAD, if both are realised:
    they are in no result of the function, and have no invalid cells."""
    return (
        isinstance(inside.value.owner, Operation)
        and not tg.is_memory(inside.value)
        and inside.pad.fill is not None
        and all(map(is_valid, (inside.value, inside.pad.result)))
        and not any(
            isinstance(u, tg.StoreOp) for op in (inside.op, inside.pad) for u in tg.users_of(op)
        )
    )


def _is_digit(position: Position) -> bool:
    """Whether a position is a digit of one loop, or 0: that along an axis that RESHAPE splits is
    a sum."""
    return not position.terms or (position.atom is not None and position.atom.kind == "digit")


class Slabs(NamedTuple):
    """Cells around what a PAD pads: for each of `starts` those of one shape from there on."""

    shape: tuple[int, ...]
    starts: Sequence[tuple[int, ...]]


def border(op: tg.PadOp, order: Sequence[int]) -> Iterator[Slabs]:
    """The cells of the result of a PAD, of constant sizes, that are not in what it pads: each cell
    once. Slabs across the outer axes are whole rows of the inner ones. `order` has the outermost
    axis first."""
    inner, extents = tg.tensor(op.source).get_shape(), [*tg.tensor(op.result).get_shape()]
    offsets = tg.integers(op, "offsets")
    start = [0] * len(extents)
    for axis in order or range(len(extents)):
        before, old = offsets[axis], inner[axis]
        after = extents[axis] - old - before
        # Slabs of one shape share a kernel.
        firsts: dict[int, list[int]] = {}
        for width, first in ((before, 0), (after, before + old)):
            if width:
                firsts.setdefault(width, []).append(first)
        for width, places in firsts.items():
            shape = (*extents[:axis], width, *extents[axis + 1 :])
            yield Slabs(shape, [(*start[:axis], at, *start[axis + 1 :]) for at in places])
        start[axis], extents[axis] = before, old


def is_of_prefix(op: tg.PadOp) -> bool | None:
    """Whether padding is as long as what is padded, or of a size that is not known: the windows of
    a prefix reduction, which becomes an accumulator that the loop over its results carries. None
    where an extent is dynamic, but a known number of cells is added, as for a convolution."""
    source, result = tg.tensor(op.source).get_shape(), tg.tensor(op.result).get_shape()
    offsets = tg.integers(op, "offsets")
    if DYNAMIC_INDEX not in (*source, *result, *offsets):
        return any(
            max(offset, new - old - offset) >= max(old - 1, 1)
            for old, new, offset in zip(source, result, offsets, strict=True)
        )
    pairs = zip(tg.shape_of(op.result), tg.shape_of(op.source), strict=True)
    is_known = DYNAMIC_INDEX in result and all(excess((n,), old) is not None for n, old in pairs)
    return None if is_known else True
