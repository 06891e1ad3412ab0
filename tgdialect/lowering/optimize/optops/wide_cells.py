"""Cells that are next to each other in memory and in the copy that STAGE makes of them.

A factor of a matrix instruction may have pairs of steps next to each other in its block. Where they
are neighbours in memory as well, as where rows lie along the steps, the copy moves a pair as one
integer: it is a transpose of integers, which vectors do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, SSAValue

from tgdialect.analysis.ranges import is_expanded
from tgdialect.lowering.matrix_products import is_zero
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.optops.tile_loads import Digit
from tgdialect.ops import tg
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.dtypes import TYPES
from tgdialect.ops.properties import dtype_of, known_index, polynomial, tensor
from tgdialect.ops.walk import Walk

WIDEST = 8
"""The bytes of the widest integer."""


class WideCells(NamedTuple):
    """The cells of a LOAD of a tile, `width` neighbours along a range as one integer."""

    source: tg.LoadOp
    range: tg.RangeOp
    width: int

    @property
    def dtype(self) -> Attribute:
        """The integer."""
        bits = 8 * self.width * dtype_of(self.source.buffer).itemsize
        return TYPES[f"ui{bits}"]

    def digit_of(self, digit: Digit, part: SSAValue) -> Digit:
        """An axis of the copy, as an axis of integers, which lie along the range `part` of the
        copy."""
        if digit.range is not self.range or digit.divisor < self.width:
            return digit
        return Digit(cast(tg.RangeOp, part.owner), digit.extent, digit.divisor // self.width)

    def load(
        self, builder: OpBuilder, again: Callable[[SSAValue], SSAValue], part: SSAValue
    ) -> tg.LoadOp:
        """A LOAD of an integer; `again` computes a value for the ranges of the copy, in which
        integers lie along `part`."""
        index, put = self.source.buffer.owner, builder.put
        assert isinstance(index, tg.IndexOp)
        last = builder.index_constant(0)
        terms = polynomial(index.indices[-1])
        for product, coefficient in terms.terms.items():
            if product == (self.range.result,):
                last = put(tg.AddOp(last, part))
                continue
            value = builder.index_constant(coefficient // self.width)
            for atom in product:
                assert isinstance(atom, SSAValue)
                value = put(tg.MulOp(value, again(atom)))
            last = put(tg.AddOp(last, value))
        last = put(tg.AddOp(last, builder.index_constant(terms.constant // self.width)))
        view = put(tg.BitcastOp(index.source, self.dtype))
        cell = put(tg.IndexOp(view, [*map(again, index.indices[:-1]), last]))
        if self.source.gate is None:
            return tg.LoadOp(cell)
        return tg.LoadOp(cell, put(tg.ConstOp(0, self.dtype)), again(self.source.gate))


def wide_cells(axes: Axes, load: tg.LoadOp, last: Digit) -> WideCells | None:
    """How a LOAD of a tile loads several cells at once, which are the last axis of its copy; None
    if they are not known to be neighbours in memory, and in it all together or not at all."""
    range, width, index = last.range, last.extent, load.buffer.owner
    bytes = width * dtype_of(load.buffer).itemsize
    if width < 2 or last.divisor > 1 or bytes > WIDEST or bytes & (bytes - 1):
        return None
    if not is_expanded(range):
        return None  # It is no axis of the register tile: work items have a cell each.
    if not isinstance(index, tg.IndexOp) or not isinstance(index.source.owner, tg.ParamOp):
        return None
    *lead, at = index.indices
    shape = tensor(index.source).get_shape()
    if axes.extent(range) % width or DYNAMIC_INDEX in shape or shape[-1] % width:
        return None
    if any(axes.depends(i, range) for i in lead) or not _is_aligned(at, range, width):
        return None
    if load.gate is None:
        return WideCells(load, range, width)
    walk = Walk([load.gate])
    for value in walk:
        op = value.owner
        if isinstance(op, tg.AndOp):
            walk.add(op.operands)
        elif axes.depends(value, range):
            bound = known_index(op.rhs) if isinstance(op, tg.CmpLtOp) else None
            if not isinstance(op, tg.CmpLtOp) or bound is None or bound % width:
                return None
            if not _is_aligned(op.lhs, range, width):
                return None
    return WideCells(load, range, width) if load.alt is not None and is_zero(load.alt) else None


def _is_aligned(index: SSAValue, range: tg.RangeOp, width: int) -> bool:
    """Whether an index is the number of an iteration plus a multiple of a width."""
    found, own = polynomial(index), (range.result,)
    rest = [found.constant, *(c for product, c in found.terms.items() if product != own)]
    are_values = all(isinstance(atom, SSAValue) for product in found.terms for atom in product)
    return are_values and found.terms.get(own) == 1 and not any(c % width for c in rest)
