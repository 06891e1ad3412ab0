"""Appending scalar ops to a kernel: ops (equal ones once), loops, positions as arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from functools import partial, reduce
from typing import NamedTuple, cast

from xdsl.ir import Attribute, Block, SSAValue
from xdsl.rewriter import InsertPoint

from tgdialect.analysis.affine.positions import (
    ZERO,
    Index,
    LoopVariable,
    Position,
    PositionAtom,
    Positions,
    interval_of,
)
from tgdialect.analysis.min_max import MinMax
from tgdialect.ops import tg
from tgdialect.ops.walk import driven, needing

Splits = Sequence[Sequence[int]]
"""For each axis, the divisors at which its loop is split, the greatest first."""


_Steps = Generator[Position, SSAValue, SSAValue]
"""A computation in progress: it yields the positions whose values it needs, is sent these values,
and returns its own. Positions nest too deeply for recursion."""


class _Part(NamedTuple):
    """A RANGE as a digit of a loop variable: `(i // divisor) % extent`."""

    divisor: int
    extent: int
    value: SSAValue


class ScalarEmitter(Positions, tg.UniquingBuilder):
    """The block of a kernel under construction. Ops are appended, and equal ops are one."""

    def __init__(self, function_interval: Callable[[SSAValue], tg.Interval]) -> None:
        """`function_interval` is that of a value of the function."""
        Positions.__init__(self)
        self.function_interval = function_interval
        tg.UniquingBuilder.__init__(self, InsertPoint.at_end(Block()))
        self.arguments: dict[SSAValue, SSAValue] = {}
        """The PARAM for each buffer and index scalar of the host, in the order of slots."""
        self.open_ranges: dict[SSAValue, frozenset[tg.RangeOp]] = {}
        """A cache: the RANGEs whose loops a value is in (`dependent_ranges`)."""
        self._values: dict[Position, SSAValue] = {}
        self._positions: dict[SSAValue, Position] = {}
        """The inverse of `_values`."""
        self._parts: dict[LoopVariable, tuple[_Part, ...]] = {}
        """The RANGEs that a loop is made of, outermost first."""

    def constant(self, value: float, dtype: Attribute = tg.INDEX) -> SSAValue:
        """A scalar. An index constant wraps to 64 bits, as computed indices do."""
        if dtype == tg.INDEX:
            value = tg.wrap_to(tg.DTYPES[tg.INDEX], int(value))
        return self.emit(tg.ConstOp, tg.number_attribute(value, dtype))

    def parameter(self, host: SSAValue) -> SSAValue:
        """The PARAM for a buffer or index scalar of the host."""
        if (known := self.arguments.get(host)) is None:
            where = tg.PlaceAttr.of(addrspace=tg.place(host).addrspace)
            type = tg.tensor_type(tg.tensor(host).element_type, tg.tensor(host).get_shape(), where)
            dims = [self.value(self.dim(d)) for d in tg.shape_of(host) if not isinstance(d, int)]
            param = self.insert(tg.ParamOp(len(self.arguments), type, dims))
            known = self.arguments[host] = param.result
            known.name_hint = host.name_hint
            # The bounds of an index scalar of the host.
            if not tg.is_memory(host) and (interval := MinMax()[host]).within(-(2**62), 2**62):
                param.min, param.max = map(tg.NumberAttr, (int(interval.lo), int(interval.hi)))
        return known

    # -- positions

    def position(self, value: SSAValue) -> Position:
        """A `tensor<index>` value of this kernel as a position."""
        if (known := self._positions.get(value)) is not None:
            return known
        ranges = tg.dependent_ranges(value, self.open_ranges)
        loops = (
            (loop, 1)
            for loop, parts in self._parts.items()
            if any(part.value.owner in ranges for part in parts)
        )
        return self.number_of(value, frozenset(loops))

    def value(self, position: Position) -> SSAValue:
        """A position as a `tensor<index>` value, the term with the greatest factor first."""
        if (known := self._values.get(position)) is not None:
            return known
        return driven(needing(position), self._values, self._added)

    def _added(self, position: Position) -> _Steps:
        """The sum of a position's terms."""
        total, constant = None, position.constant
        for atom, factor in sorted(position.terms.items(), key=lambda t: (-t[1], t[0].number)):
            term = yield from self._atom_value(atom)
            if factor == -1:
                if total is None:
                    total, constant = self.constant(constant), 0
                total = self.emit(tg.SubOp, total, term)
                continue
            if factor != 1:
                term = self.emit(tg.MulOp, term, self.constant(factor))
            total = term if total is None else self.emit(tg.AddOp, total, term)
        if total is None:
            total = self.constant(constant)
        elif constant:
            total = self.emit(tg.AddOp, total, self.constant(constant))
        self._positions.setdefault(total, position)
        return total

    def _atom_value(self, atom: PositionAtom) -> _Steps:
        """The value of one atom: a digit, a number, a product, a quotient or a remainder."""
        match atom.kind:
            case "digit":
                return self._digit_value(*atom.digit)
            case "value":
                (value,) = cast("tuple[SSAValue]", atom.parts)
                owner = value.owner
                inside = isinstance(owner, tg.TgOp) and owner.parent is self.block
                return value if inside else self.parameter(value)
            case "product":
                first, *others = cast("tuple[PositionAtom, ...]", atom.parts)
                product = yield from self._atom_value(first)
                for other in others:
                    factor = yield from self._atom_value(other)
                    product = self.emit(tg.MulOp, product, factor)
                return product
            case _:
                dividend, divisor = cast("tuple[Position, Position]", atom.parts)
                a = yield dividend
                b = yield divisor
                return self.emit(tg.IDivOp if atom.kind == "idiv" else tg.ModOp, a, b)

    def _digit_value(self, loop: LoopVariable, divisor: int, extent: int | None) -> SSAValue:
        """`(i // divisor) % extent` of a loop variable: the sum of the RANGEs that make up just
        this digit, if the loop is split so; else division of the whole variable."""
        parts = self._parts[loop]
        if extent is None:
            return parts[0].value
        inside = [
            p for p in parts if p.divisor >= divisor and p.divisor * p.extent <= divisor * extent
        ]
        if inside and math.prod(p.extent for p in inside) == extent:
            terms = [
                p.value
                if p.divisor == divisor
                else self.emit(tg.MulOp, p.value, self.constant(p.divisor // divisor))
                for p in inside
            ]
            return reduce(partial(self.emit, tg.AddOp), terms)
        value = self._digit_value(loop, 1, math.prod(p.extent for p in parts))
        if divisor != 1:
            value = self.emit(tg.IDivOp, value, self.constant(divisor))
        if divisor * extent != loop.extent:
            value = self.emit(tg.ModOp, value, self.constant(extent))
        return value

    def inside(self, index: Sequence[Position], extents: Sequence[tg.Dim]) -> SSAValue | None:
        """The condition for an index to be within a shape; None if intervals prove that it is."""
        condition: SSAValue | None = None
        for position, extent in zip(index, map(self.dim, extents), strict=True):
            if self.is_below(position, extent):
                continue
            value = self.value(position)
            if interval_of(position).lo < 0:
                not_before = self.emit(tg.NotOp, self.emit(tg.CmpLtOp, value, self.constant(0)))
                condition = self.both(condition, not_before)
            if interval_of(position).hi >= interval_of(extent).lo:
                before_end = self.emit(tg.CmpLtOp, value, self.value(extent))
                condition = self.both(condition, before_end)
        return condition

    def least(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """The smaller of two numbers."""
        return self.emit(tg.WhereOp, self.emit(tg.CmpLtOp, a, b), a, b)

    def both(self, a: SSAValue | None, b: SSAValue | None) -> SSAValue | None:
        """The conjunction of two conditions; None is true."""
        if a is None or b is None or a is b:
            return b if a is None else a
        return self.emit(tg.AndOp, a, b)

    # -- loops

    def loops(
        self,
        shape: tg.Shape,
        axis_type: tg.AxisType,
        splits: Splits = (),
        order: Sequence[int] = (),
    ) -> tuple[Index, list[SSAValue]]:
        """A loop for each axis of more than one cell; returns its index and its RANGEs.

        A loop that is split is several RANGEs. `order` has the axis of the outermost loop first.
        """
        index = [ZERO] * len(shape)
        ranges: list[SSAValue] = []
        for axis in order or range(len(shape)):
            extent = shape[axis]
            if extent == 1:
                continue
            bound = self.dim(extent)
            static = None if bound.terms else bound.constant
            trips = max(interval_of(bound).hi, 0)
            loop = LoopVariable(extent if static is None else static, trips)
            # A RANGE for each digit between two divisors, outermost first.
            parts: list[_Part] = []
            above = static or 0
            for divisor in (*(splits[axis] if splits else ()), 1):
                size = above // divisor
                end = self.value(bound) if static is None else self.constant(size)
                parts.append(_Part(divisor, size, self.new_range(end, axis_type)))
                above = divisor
            self._parts[loop] = tuple(parts)
            position = self.digit(loop)
            if len(parts) == 1:
                self._positions[parts[0].value] = position
            index[axis] = position
            ranges += (part.value for part in parts)
        return tuple(index), ranges

    def new_range(
        self, extent: SSAValue | int, axis_type: tg.AxisType = tg.AxisType.LOOP
    ) -> SSAValue:
        """A new RANGE."""
        bound = self.constant(extent) if isinstance(extent, int) else extent
        return self.put(tg.RangeOp(next(self.free_axes), axis_type, bound))

    def _digit_of(self, extent: int, *parts: _Part) -> Position:
        """The position along an axis in a new loop that is made of RANGEs."""
        loop = LoopVariable(extent, extent)
        self._parts[loop] = parts
        return self.digit(loop)

    def part_of_block(
        self,
        extent: int,
        size: int,
        outer: SSAValue,
        axis_type: tg.AxisType = tg.AxisType.LOOP,
        count: SSAValue | None = None,
    ) -> tuple[Position, SSAValue]:
        """A new loop over the `size` cells of block number `outer` of an axis, or over the first
        `count`; returns the position along the axis, and the RANGE.

        Positions take it to be less than the extent. In the last block it may not be: a LOAD reads
        other cells there, or 0 past the end of an axis of memory, and a STORE needs a gate.
        """
        inner = self.new_range(size if count is None else count, axis_type)
        block = _Part(size, -(-extent // size), outer)
        return self._digit_of(extent, block, _Part(1, size, inner)), inner

    def part_from(self, extent: int, size: int, start: SSAValue) -> tuple[Position, SSAValue]:
        """A new loop over `size` cells of an axis from a start; returns the position along the
        axis, and the RANGE."""
        inner = self.new_range(size)
        return self._digit_of(extent, _Part(1, extent, start), _Part(1, size, inner)), inner

    def loop_past(self, extent: int, size: int) -> tuple[Position, SSAValue]:
        """A new loop of some size that goes on past the end of an axis, as `part_of_block` may."""
        value = self.new_range(size)
        return self._digit_of(extent, _Part(1, size, value)), value
