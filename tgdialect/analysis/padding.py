"""Padded operands of reductions: when a copy of the padding pays.

A PAD that is fused is a mask in each step of a reduction. A copy takes one pass over the operand,
and the steps of the reduction then load without masks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX

from tgdialect.analysis.affine.positions import Index
from tgdialect.analysis.contractions import summed_product
from tgdialect.ops.movement import MovementOp, PadOp
from tgdialect.ops.properties import integers, tensor
from tgdialect.ops.reduce import ReduceOp

MANY_MASKS = 16
"""Reads per element of a padded operand of a product from which on a kernel of its own stores the
padded operand. A load with a mask serves the rows of a register tile, so that with fewer reads the
steps have few masks, and the copy is a pass over memory. Where an element was read 62 times, as in
a transposed convolution, steps with masks took three to five times as long."""

MANY_WINDOWS = 4
"""The same for other reductions over windows, such as a depthwise convolution. They load as often
as they compute, so masks take longer than the rest. A depthwise 3x3 convolution reads an element 9
times and takes half the time with a copy; one with stride 2 reads it 2 times and takes longer."""


def padding(op: ReduceOp) -> Iterator[PadOp]:
    """The PADs with `fill` among the movement ops on the operand of a reduction, or on its factors.
    Without `fill` a copy needs masks as well."""
    product = summed_product(op)
    for value in (op.source,) if product is None else product.operands:
        while isinstance(movement := value.owner, MovementOp):
            if isinstance(movement, PadOp) and movement.fill is not None:
                yield movement
            value = movement.operands[0]


def moved_into(op: PadOp, index: Index) -> Index:
    """The index in the result of a PAD of a cell of what it pads, by constant offsets."""
    return tuple(at + offset for at, offset in zip(index, integers(op, "offsets"), strict=True))


class Slabs(NamedTuple):
    """Cells around what a PAD pads: for each of `starts` those of one shape from there on."""

    shape: tuple[int, ...]
    starts: Sequence[tuple[int, ...]]


def border(op: PadOp, order: Sequence[int]) -> Iterator[Slabs]:
    """The cells of the result of a PAD, of constant sizes, that are not in what it pads: each cell
    once. Slabs across the outer axes are whole rows of the inner ones. `order` has the outermost
    axis first."""
    inner, extents = tensor(op.source).get_shape(), [*tensor(op.result).get_shape()]
    offsets = integers(op, "offsets")
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


def is_of_prefix(op: PadOp) -> bool:
    """Whether padding is as long as what is padded, or of a size that is not known: the windows of
    a prefix reduction, which becomes an accumulator that the loop over its results carries."""
    source, result = tensor(op.source).get_shape(), tensor(op.result).get_shape()
    offsets = integers(op, "offsets")
    if DYNAMIC_INDEX in (*source, *result, *offsets):
        return True
    return any(
        max(offset, new - old - offset) >= max(old - 1, 1)
        for old, new, offset in zip(source, result, offsets, strict=True)
    )
