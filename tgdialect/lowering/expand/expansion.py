"""The axes of the values of an expanded kernel.

A value has an axis for each expanded range that it depends on. The axes are in one order for all
values: UNROLL, UPCAST, then GROUP_REDUCE, the innermost range last in each kind. So vectors lie
along the innermost UPCAST, or along the lanes that an accumulator sums separately.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence, Set
from itertools import count

from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.ranges import excess, is_expanded, open_ranges, outermost_first
from tgdialect.diagnostics import locate
from tgdialect.ops import tg
from tgdialect.ops.axis_types import EXPANDED
from tgdialect.ops.numbering import next_slot
from tgdialect.targets.costs import own_cost

ExpandedRanges = tuple[tg.RangeOp, ...]
"""The expanded ranges that a value has axes for."""


class Expansion(tg.UniquingBuilder):
    """The new block of a kernel: appends ops, and knows the axes of each value."""

    def __init__(self, ops: Sequence[Operation], unused: Set[Operation] = frozenset()) -> None:
        """`unused` are ops that become no code, of any number of elements."""
        super().__init__(InsertPoint.at_end(Block()), ops[0].location)
        self.free_slots = count(next_slot(ops))
        self.open = open_ranges(ops)
        """The ranges around each op of the old block."""
        self.values: dict[SSAValue, SSAValue] = {}
        """The new values of old ones; a value that is not here stays."""
        self._order = {axis: i for i, axis in enumerate(_ordered_axes(ops))}
        self._extent = {axis: _extent(axis) for axis in self._order}
        code = {op: ranges for op, ranges in self.open.items() if op not in unused}
        if (too_much := excess(code, lambda r: self._extent.get(r, 1), own_cost)) is not None:
            message = f"UPCAST and UNROLL ranges make {too_much.reason}"
            raise locate(PassFailedException(message), too_much.op)
        self._axes: dict[SSAValue, ExpandedRanges] = {}
        self._broadcast: dict[tuple[SSAValue, ExpandedRanges], SSAValue] = {}

    # -- values and their axes

    def value(self, old: SSAValue) -> SSAValue:
        return self.values.get(old, old)

    def axes(self, value: SSAValue) -> ExpandedRanges:
        return self._axes.get(value, ())

    def union(self, values: Iterable[SSAValue]) -> ExpandedRanges:
        """The axes that any of the values has."""
        return self.sorted({axis for value in values for axis in self.axes(value)})

    def around(self, op: Operation) -> ExpandedRanges:
        """The axes of the expanded ranges that an op of the old block is in."""
        return self.sorted(filter(is_expanded, self.open[op]))

    def sorted(self, axes: Iterable[tg.RangeOp]) -> ExpandedRanges:
        return tuple(sorted(axes, key=self._order.__getitem__))

    def shape(self, axes: ExpandedRanges) -> tuple[int, ...]:
        return tuple(self._extent[axis] for axis in axes)

    # -- emitting

    def put(self, op: Operation, axes: ExpandedRanges = ()) -> SSAValue:
        """Append an op; its result has these axes."""
        value = super().put(op)
        if axes:
            self._axes[value] = axes
        return value

    def elementwise(self, kind: type[tg.TgOp], *operands: SSAValue) -> SSAValue:
        """An elementwise op on operands that are aligned for broadcasting."""
        axes = self.union(operands)
        return self.put(kind(*(self.align(o, axes) for o in operands)), axes)

    def constant(self, value: float, dtype: Attribute = tg.INDEX) -> SSAValue:
        return self.emit(tg.ConstOp, tg.number_attribute(value, dtype))

    def reuse(self, constant: tg.ConstOp) -> None:
        """Register a constant of the old block for reuse."""
        self._known.setdefault((tg.ConstOp, constant.value), constant.result)

    def lanes(self, axis: tg.RangeOp) -> SSAValue:
        """The value of an expanded range: the vector 0, 1, ..., n - 1."""
        return self.put(tg.VConstOp(range(self._extent[axis])), (axis,))

    # -- broadcasting

    def align(self, value: SSAValue, axes: ExpandedRanges) -> SSAValue:
        """A value with axes of size 1 where it lacks axes, so that it broadcasts with one of
        `axes`.

        The result is used as an operand only: its axes are not recorded.
        """
        own = self.axes(value)
        leading = next((i for i, axis in enumerate(axes) if axis in own), len(axes))
        return self._with_ones(value, axes[leading:])

    def broadcast(self, value: SSAValue, axes: ExpandedRanges) -> SSAValue:
        """A value, or a view of memory, with the whole shape of `axes`."""
        if self.axes(value) == axes:
            return value
        if (known := self._broadcast.get((value, axes))) is None:
            op = tg.ExpandOp(self._with_ones(value, axes), self.shape(axes))
            known = self._broadcast[value, axes] = self.put(op, axes)
        return known

    def _with_ones(self, value: SSAValue, axes: ExpandedRanges) -> SSAValue:
        own = self.axes(value)
        if own == axes:
            return value
        shape = tuple(self._extent[axis] if axis in own else 1 for axis in axes)
        return self.emit(tg.ReshapeOp, value, shape)

    def flattened(self, value: SSAValue) -> SSAValue:
        """A value with its axes flattened into one, as an index of INDEX. Its axes are not
        recorded."""
        shape = self.shape(self.axes(value))
        if len(shape) <= 1:
            return value
        return self.put(tg.ReshapeOp(value, [math.prod(shape)]))


def _ordered_axes(ops: Sequence[Operation]) -> list[tg.RangeOp]:
    """The expanded ranges in the order of axes: by kind, then outermost first."""
    nests = [outermost_first(op) for op in ops if isinstance(op, tg.EndOp | tg.ReduceOp)]
    nested = dict.fromkeys(axis for nest in nests for axis in nest)
    return [axis for kind in EXPANDED for axis in nested if axis.axis_type.data is kind]


def _extent(axis: tg.RangeOp) -> int:
    """The bound of an expanded range, which is a positive constant."""
    extent = tg.known_index(axis.bound) or 0
    if extent < 1:
        message = (
            f"{axis.axis_type.data} range {axis.axis.data} becomes an axis of shape: "
            "its bound has to be a positive constant"
        )
        raise locate(PassFailedException(message), axis)
    return extent
