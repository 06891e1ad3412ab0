"""Which axes of shape the values of an expanded kernel have.

A value has an axis for each expanded range that it depends on, and for no other. The axes are in one
order for all values: UNROLL before UPCAST, and the innermost last, so that vectors lie along the
innermost UPCAST.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import locate
from tgdialect.ops.attributes import AxisType
from tgdialect.ops.base import TgOp
from tgdialect.ops.dtypes import INDEX
from tgdialect.ops.movement import ExpandOp, ReshapeOp, StackOp
from tgdialect.ops.ordering import EndOp, RangeOp
from tgdialect.ops.properties import number
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import BufferOp, ConstOp
from tgdialect.transforms.private_ranges import closed_ranges, open_ranges

EXPANDED = (AxisType.UNROLL, AxisType.UPCAST)
"""The axis types whose ranges become shape, in the order of their axes."""

Axes = tuple[RangeOp, ...]
"""The expanded ranges that a value has an axis for."""


def is_expanded(range: RangeOp) -> bool:
    return range.axis_type.data in EXPANDED


def is_loop(range: RangeOp) -> bool:
    return range.axis_type.data not in EXPANDED


class Tile:
    """The new block of a kernel, and the axes of the values in it."""

    def __init__(self, ops: Sequence[Operation]) -> None:
        self.block = Block()
        self.open = open_ranges(ops)
        """The ranges around each op of the old block."""
        self.values: dict[SSAValue, SSAValue] = {}
        """What became of the values of the old block; those not here are still themselves."""
        self.location = ops[0].location
        """Where new ops say that they come from."""
        self._order = {range: i for i, range in enumerate(_ordered_ranges(ops))}
        self._extent = {range: _extent(range) for range in self._order}
        self._axes: dict[SSAValue, Axes] = {}
        self._shaped: dict[tuple[SSAValue, tuple[int, ...]], SSAValue] = {}
        self._constants: dict[tuple[float, Attribute], SSAValue] = {}
        self._slots = max((op.slot.data for op in ops if isinstance(op, BufferOp)), default=-1)

    # -- values and their axes

    def value(self, old: SSAValue) -> SSAValue:
        return self.values.get(old, old)

    def axes(self, value: SSAValue) -> Axes:
        return self._axes.get(value, ())

    def union(self, values: Iterable[SSAValue]) -> Axes:
        """The axes that any of the values has."""
        ranges = {range for value in values for range in self.axes(value)}
        return self.sorted(ranges)

    def sorted(self, ranges: Iterable[RangeOp]) -> Axes:
        return tuple(sorted(ranges, key=self._order.__getitem__))

    def shape(self, axes: Axes) -> tuple[int, ...]:
        return tuple(self._extent[range] for range in axes)

    # -- emitting

    def emit(self, op: TgOp, axes: Axes = ()) -> SSAValue:
        """Append an op; its result has these axes."""
        op.location = self.location
        self.block.add_op(op)
        return self.shaped(op.results[0], axes)

    def shaped(self, value: SSAValue, axes: Axes) -> SSAValue:
        """Record the axes of a value."""
        if axes:
            self._axes[value] = axes
        return value

    def elementwise(self, kind: type[TgOp], *operands: SSAValue) -> SSAValue:
        """An op whose operands broadcast."""
        axes = self.union(operands)
        return self.emit(kind(*(self.align(o, axes) for o in operands)), axes)

    def constant(self, value: float, dtype: Attribute = INDEX) -> SSAValue:
        key = (value, dtype)
        if (known := self._constants.get(key)) is None:
            known = self._constants[key] = self.emit(ConstOp(value, dtype))
        return known

    def new_slot(self) -> int:
        self._slots += 1
        return self._slots

    def lanes(self, range: RangeOp) -> SSAValue:
        """What becomes of an expanded range: the vector 0, 1, ..., n - 1."""
        numbers = [self.constant(i) for i in builtin_range(self._extent[range])]
        return self.emit(StackOp(numbers), (range,))

    # -- broadcasting

    def align(self, value: SSAValue, axes: Axes) -> SSAValue:
        """A value with size-1 axes where it needs them to broadcast with one that has `axes`."""
        own = self.axes(value)
        shape = [self._extent[r] if r in own else 1 for r in axes]
        leading = next((i for i, r in enumerate(axes) if r in own), len(axes))
        return self._reshaped(value, tuple(shape[leading:]))

    def broadcast(self, value: SSAValue, axes: Axes) -> SSAValue:
        """A value, or a view of memory, with the whole shape of `axes`."""
        own = self.axes(value)
        if own == axes:
            return value
        shape = self.shape(axes)
        if (known := self._shaped.get((value, shape))) is None:
            ones = tuple(self._extent[r] if r in own else 1 for r in axes)
            known = self.emit(ExpandOp(self._reshaped(value, ones), shape), axes)
            self._shaped[value, shape] = known
        return known

    def _reshaped(self, value: SSAValue, shape: tuple[int, ...]) -> SSAValue:
        """A reshape that adds size-1 axes, which are not axes of a range."""
        own = self.axes(value)
        if shape == self.shape(own):
            return value
        if (known := self._shaped.get((value, shape))) is None:
            known = self._shaped[value, shape] = self.emit(ReshapeOp(value, shape), own)
        return known

    def flattened(self, value: SSAValue) -> SSAValue:
        """A value with all its axes in one, for INDEX; it is not known by its axes any more."""
        shape = self.shape(self.axes(value))
        if len(shape) <= 1:
            return value
        return self.emit(ReshapeOp(value, [math.prod(shape)]))


builtin_range = range


def _ordered_ranges(ops: Sequence[Operation]) -> list[RangeOp]:
    """The expanded ranges, outermost first as ENDs and REDUCEs nest them, UNROLL before UPCAST."""
    nested: dict[RangeOp, None] = {}
    for op in ops:
        match op:
            case EndOp():
                nested |= dict.fromkeys(reversed(closed_ranges(op)))
            case ReduceOp():
                nested |= dict.fromkeys(closed_ranges(op))
            case RangeOp():
                nested.setdefault(op)
            case _:
                pass
    return [range for kind in EXPANDED for range in nested if range.axis_type.data is kind]


def _extent(range: RangeOp) -> int:
    """The bound of an expanded range, which is a positive constant."""
    bound = range.bound.owner
    extent = number(bound.value) if isinstance(bound, ConstOp) else 0
    if extent < 1:
        raise locate(
            PassFailedException(
                f"{range.axis_type.data} range {range.axis.data} becomes an axis of shape: its "
                "bound has to be a positive constant"
            ),
            range,
        )
    return int(extent)
