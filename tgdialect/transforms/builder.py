"""The builder of gradients and sorts: emits ops at the end of a block, and sums over broadcast
axes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import UNKNOWN, locate
from tgdialect.ops import tg
from tgdialect.ops.multi import placing

K = TypeVar("K", bound=Hashable)

MixedShape = tuple[int | SSAValue, ...]
"""A shape of static extents, and of dynamic extents that are index values."""


class Builder(tg.UniquingBuilder):
    """Appends ops to a block. They take the location of `at`, the op that is differentiated."""

    def __init__(self, block: Block, at: Operation | None = None) -> None:
        super().__init__(InsertPoint.at_end(block))
        self.at = at

    @property
    def at(self) -> Operation | None:
        return self._at

    @at.setter
    def at(self, op: Operation | None) -> None:
        self._at, self.location = op, UNKNOWN if op is None else op.location

    def constant(self, value: float, like: SSAValue) -> SSAValue:
        """A scalar constant of the dtype of `like`."""
        exact = tg.round_to(tg.dtype_of(like), value)
        return self.emit(tg.ConstOp, tg.number_attribute(exact, tg.tensor(like).element_type))

    def known(self, shape: tg.Shape) -> MixedShape:
        """A shape, after a check that each of its dynamic extents is an index value.

        Raises PassFailedException if an extent is unknown.
        """
        known = tuple(dim for dim in shape if not isinstance(dim, tg.UnknownDim))
        if len(known) < len(shape):
            message = (
                f"the gradient needs the extents of {tg.show_shape(shape)}, which no value gives"
            )
            error = PassFailedException(message)
            raise error if self.at is None else locate(error, self.at)
        return known

    def sum(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """The sum of two gradients of one value, on the device of the first one."""
        where = tg.place(a)
        if None not in (where.device, tg.place(b).device):
            b = self.moved(b, where)
        return self.put(tg.AddOp(a, b))

    def add_to(self, sums: dict[K, SSAValue], key: K, part: SSAValue) -> None:
        """Add a part to one of several sums, or begin it."""
        sums[key] = self.sum(sums[key], part) if key in sums else part

    def moved(self, value: SSAValue, where: tg.PlaceAttr) -> SSAValue:
        """Copy a value to the place `where`: to one device, or sharded or replicated to several.

        A place without a device is anywhere, and needs no copy.
        """
        device, axis = where.device, where.axis
        if device is None or (device, axis) == (tg.place(value).device, tg.place(value).axis):
            return value
        if isinstance(device, str):
            return self.put(tg.CopyOp(value, device))
        shape = self.known(tg.shape_of(value))
        for move, argument in placing(shape, tg.place(value), device, axis):
            value = self.put(move(value, argument))
        return value

    def valid_cells(self, value: SSAValue) -> SSAValue:
        """Where a value is valid: a bool of its shape, all of whose cells are."""
        is_same = self.put(tg.CmpEqOp(value, value))
        true = self.emit(tg.ConstOp, tg.number_attribute(1, tg.BOOL))
        return self.put(tg.LoadOp(self.put(tg.OrOp(is_same, true))))

    def reshaped(self, value: SSAValue, shape: tg.Shape) -> SSAValue:
        """A value reshaped to a shape with the same number of cells."""
        if tg.same_shape(tg.shape_of(value), shape):
            return value
        return self.put(tg.ReshapeOp(value, self.known(shape)))

    def expanded(self, value: SSAValue, shape: tg.Shape) -> SSAValue:
        """A value broadcast to a shape."""
        missing = len(shape) - len(tg.shape_of(value))
        value = self.reshaped(value, (1,) * missing + tg.shape_of(value))
        if tg.same_shape(tg.shape_of(value), shape):
            return value
        return self.put(tg.ExpandOp(value, self.known(shape)))

    def summed_to(self, value: SSAValue, shape: tg.Shape) -> SSAValue:
        """Sum a value over the axes that broadcasting from `shape` adds or expands.

        This is the gradient of `expanded`.
        """
        wide = tg.shape_of(value)
        padded = (1,) * (len(wide) - len(shape)) + shape
        axes = [
            i for i, (a, b) in enumerate(zip(wide, padded, strict=True)) if not tg.same_dim(a, b)
        ]
        if axes:
            value = self.put(tg.ReduceOp(tg.ReduceKind.ADD, value, axes))
        return self.reshaped(value, shape)

    def with_extents(self, value: SSAValue, extents: Iterable[SSAValue]) -> SSAValue:
        """A value whose dynamic extents are those of the given index values that equal them."""
        known = {tg.polynomial(extent): extent for extent in extents}
        old = self.known(tg.shape_of(value))
        new = tuple(d if isinstance(d, int) else known.get(tg.polynomial(d), d) for d in old)
        return value if new == old else self.put(tg.ShrinkOp(value, [0] * len(new), new))

    def positions(self, size: int | SSAValue) -> SSAValue:
        """The vector 0, 1, ..., size - 1, as the specification's arange: a prefix sum of ones."""
        one = self.index_constant(1)
        if size == 0:
            return self.expanded(one, (0,))

        def times(a: int | SSAValue, b: int | SSAValue) -> int | SSAValue:
            if isinstance(a, int) and isinstance(b, int):
                return a * b
            return self.put(tg.MulOp(self._index(a), self._index(b)))

        def plus(a: int | SSAValue, b: int) -> int | SSAValue:
            if isinstance(a, int):
                return a + b
            return self.put(tg.AddOp(a, self.index_constant(b)))

        # Pad `size` ones to a row with as many zeros in front, and repeat the row.
        row = times(size, 2)
        ones = self.expanded(one, (size,))
        padded = self.put(tg.PadOp(ones, [size], [row]))
        tiled = self.expanded(self.reshaped(padded, (1, row)), (plus(size, 1), row))
        flat = self.reshaped(tiled, (times(plus(size, 1), row),))
        # Cut the repeated rows into rows one cell longer, so that each starts one cell later.
        trimmed = self.put(tg.ShrinkOp(flat, [0], [times(size, plus(row, 1))]))
        sliding = self.reshaped(trimmed, (size, plus(row, 1)))
        # Row i of the windows then has i ones.
        windows = self.put(tg.ShrinkOp(sliding, [0, 0], [size, size]))
        return self.reshaped(self.put(tg.ReduceOp(tg.ReduceKind.ADD, windows, [1])), (size,))

    def _index(self, size: int | SSAValue) -> SSAValue:
        return self.index_constant(size) if isinstance(size, int) else size


def is_float(value: SSAValue) -> bool:
    """Whether a value has a gradient by its dtype."""
    return tg.is_tensor(value.type) and tg.dtype_of(value).is_float


def zeros_like(builder: Builder, value: SSAValue) -> SSAValue:
    """A tensor of zeros with the shape and dtype of a value."""
    return builder.expanded(builder.constant(0, value), tg.shape_of(value))
