"""What gradients are made with: ops at the end of a block, and sums over what was broadcast."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import UnknownLoc
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import locate
from tgdialect.ops.attributes import PlaceAttr, ReduceKind
from tgdialect.ops.dtypes import INDEX, round_to
from tgdialect.ops.elementwise import AddOp, MulOp, SubOp
from tgdialect.ops.memory import CopyOp
from tgdialect.ops.movement import ExpandOp, PadOp, PermuteOp, ReshapeOp, ShrinkOp
from tgdialect.ops.multi import ReplicatedOp
from tgdialect.ops.properties import (
    Shape,
    UnknownDim,
    dtype_of,
    place,
    same_dim,
    same_shape,
    shape_of,
    show_shape,
    tensor,
)
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import ConstOp

MixedShape = tuple[int | SSAValue, ...]


@dataclass
class Builder:
    """Puts ops at the end of a block. `at` is the op that they are the gradient of."""

    block: Block
    at: Operation | None = None
    _constants: dict[tuple[float, Attribute], SSAValue] = field(
        default_factory=dict[tuple[float, Attribute], SSAValue]
    )

    def insert(self, op: Operation) -> SSAValue:
        """The result of an op, which goes to the end of the block."""
        op.location = UnknownLoc() if self.at is None else self.at.location
        self.block.add_op(op)
        return op.results[0]

    def constant(self, value: float, like: SSAValue) -> SSAValue:
        """A scalar of the dtype of `like`."""
        key = round_to(dtype_of(like), value), tensor(like).element_type
        if key not in self._constants:
            self._constants[key] = self.insert(ConstOp(*key))
        return self._constants[key]

    def known(self, shape: Shape) -> MixedShape:
        """A shape whose dynamic extents are all index values.

        Raises PassFailedException for one that is not known.
        """
        known = tuple(dim for dim in shape if not isinstance(dim, UnknownDim))
        if len(known) < len(shape):
            message = f"the gradient needs the extents of {show_shape(shape)}, which no value gives"
            error = PassFailedException(message)
            raise error if self.at is None else locate(error, self.at)
        return known

    def sum(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """The sum of two gradients of one value, where the first one is."""
        where = place(a)
        if None not in (where.device, place(b).device):
            b = self.moved(b, where)
        return self.insert(AddOp(a, b))

    def moved(self, value: SSAValue, where: PlaceAttr) -> SSAValue:
        """A value on a device or, sharded or replicated, on several; null is anywhere."""
        device, axis = where.device, where.axis
        if device is None or (device, axis) == (place(value).device, place(value).axis):
            return value
        if isinstance(device, str):
            return self.insert(CopyOp(value, device))
        shape = self.known(shape_of(value))
        if axis is None:
            copies = self.expanded(value, (len(device), *shape))
            return self.insert(ReplicatedOp(self.insert(CopyOp(copies, device)), 0))
        if axis == 0:
            return self.insert(CopyOp(value, device))
        # COPY shards axis 0.
        order = [axis, *(i for i in range(len(shape)) if i != axis)]
        copied = self.insert(CopyOp(self.insert(PermuteOp(value, order)), device))
        return self.insert(PermuteOp(copied, [order.index(i) for i in range(len(shape))]))

    def reshaped(self, value: SSAValue, shape: Shape) -> SSAValue:
        """A value in another shape of as many cells."""
        if same_shape(shape_of(value), shape):
            return value
        return self.insert(ReshapeOp(value, self.known(shape)))

    def expanded(self, value: SSAValue, shape: Shape) -> SSAValue:
        """A value broadcast to a shape."""
        missing = len(shape) - len(shape_of(value))
        value = self.reshaped(value, (1,) * missing + shape_of(value))
        if same_shape(shape_of(value), shape):
            return value
        return self.insert(ExpandOp(value, self.known(shape)))

    def summed_to(self, value: SSAValue, shape: Shape) -> SSAValue:
        """The sum over what broadcasting from `shape` has repeated: the inverse of `expanded`."""
        wide = shape_of(value)
        padded = (1,) * (len(wide) - len(shape)) + shape
        axes = [i for i, (a, b) in enumerate(zip(wide, padded, strict=True)) if not same_dim(a, b)]
        if axes:
            value = self.insert(ReduceOp(ReduceKind.ADD, value, axes))
        return self.reshaped(value, shape)

    def positions(self, size: int | SSAValue) -> SSAValue:
        """0, 1, ..., size - 1: the specification's arange, as a prefix sum."""
        one = self.insert(ConstOp(1, INDEX))
        if size == 0:
            return self.expanded(one, (0,))

        def times(a: int | SSAValue, b: int | SSAValue) -> int | SSAValue:
            if isinstance(a, int) and isinstance(b, int):
                return a * b
            return self.insert(MulOp(self._index(a), self._index(b)))

        def plus(a: int | SSAValue, b: int) -> int | SSAValue:
            if isinstance(a, int):
                return a + b
            return self.insert(AddOp(a, self.insert(ConstOp(b, INDEX))))

        row = plus(times(size, 2), -1)
        ones = self.expanded(one, (size,))
        padded = self.insert(PadOp(ones, [plus(size, -1)], [row]))
        tiled = self.expanded(self.reshaped(padded, (1, row)), (plus(size, 1), row))
        flat = self.reshaped(tiled, (times(plus(size, 1), row),))
        trimmed = self.insert(ShrinkOp(flat, [0], [times(times(size, size), 2)]))
        sliding = self.reshaped(trimmed, (size, times(size, 2)))
        windows = self.insert(ShrinkOp(sliding, [0, 0], [size, size]))
        counts = self.reshaped(self.insert(ReduceOp(ReduceKind.ADD, windows, [1])), (size,))
        return self.insert(SubOp(counts, one))

    def _index(self, size: int | SSAValue) -> SSAValue:
        return self.insert(ConstOp(size, INDEX)) if isinstance(size, int) else size


def zeros_like(builder: Builder, value: SSAValue) -> SSAValue:
    """A zero in every cell that a value has."""
    return builder.expanded(builder.constant(0, value), shape_of(value))
