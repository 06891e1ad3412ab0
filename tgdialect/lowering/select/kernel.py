"""The kernel under construction: every value of the old one is a list of scalars, row by row."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.lowering.select.bounds import Bounds
from tgdialect.lowering.select.lanes import Shape, broadcast, cells
from tgdialect.lowering.select.locations import Cell, Locations
from tgdialect.lowering.select.narrow import NarrowFloats
from tgdialect.lowering.select.scalars import Index, Scalars, dtype_name
from tgdialect.lowering.select.targets import TargetOps
from tgdialect.ops.base import TgOp
from tgdialect.ops.memory import LoadOp, segments
from tgdialect.ops.properties import is_memory, tensor
from tgdialect.transforms.recipe import Dtype
from tgdialect.transforms.soft_float import NARROW_FORMATS

Lanes = Sequence[SSAValue]
"""The elements of a value in row-major order; of an op that only has an effect, that edge."""


def static_shape(value: SSAValue) -> Shape:
    """The shape of a value in registers, which is known."""
    shape = tensor(value).get_shape()
    if DYNAMIC_INDEX in shape:
        raise PassFailedException(f"a value in registers has a static shape, not {value.type}")
    return shape


class Kernel:
    """The new block, and what became of the values of the old one."""

    def __init__(self, target: TargetOps) -> None:
        self.target = target
        self.block = Block()
        self.scalars = Scalars(self.block, target)
        self.narrow = NarrowFloats(self.scalars)
        self.bounds = Bounds(self.scalars)
        self.values: dict[SSAValue, Lanes] = {}
        self.locations = Locations(self.scalars, self.narrow, self.lane, self.values)

    def lanes(self, value: SSAValue) -> Lanes:
        """The elements of a value; memory is read."""
        if value not in self.values and is_memory(value):
            return [self.load_cell(value, cell) for cell in cells(static_shape(value))]
        return self.values[value]

    def aligned(self, value: SSAValue, shape: Shape) -> Lanes:
        """The elements of a value that broadcasts to a shape."""
        lanes = self.lanes(value)
        return [lanes[i] for i in broadcast(static_shape(value), shape)]

    def lane(self, value: SSAValue, position: Index) -> SSAValue:
        """The element of a value of one axis, or of none, at a position that is in range."""
        lanes = self.lanes(value)
        if isinstance(position, int):
            return lanes[position]
        result = lanes[0]
        for i, lane in islice(enumerate(lanes), 1, None):
            here = self.scalars.compare("cmpeq", position, i)
            result = self.scalars.apply("where", (here, lane, result), dtype_name(lane))
        return result

    def rebuilt(self, op: TgOp) -> Lanes:
        """An op in order, on what became of its operands."""
        operands = [o for value in op.operands for o in self.waited_for(value)]
        return (self.scalars.append(op.rebuild(operands)),)

    def waited_for(self, value: SSAValue) -> Lanes:
        """The edges to what became of a value, without reading it."""
        if value not in self.values and is_memory(value):
            return (self.locations.version(value),)
        return self.values[value]

    # -- memory

    def load_cell(
        self,
        memory: SSAValue,
        cell: Cell,
        alt: SSAValue | None = None,
        gate: SSAValue | None = None,
    ) -> SSAValue:
        """The register form of a cell: `alt` where it is gated off, 0 where it does not exist."""
        dtype = dtype_name(memory)
        zero = self.zero(dtype)
        where = self.locations.locate(memory, cell)
        exists = self.bounds.gate(where.checks, gate)
        otherwise = zero if alt is None else self.stored(alt, dtype)
        direct = exists is gate or otherwise is zero
        operands = [self.locations.reference(where.view, where.position)]
        if exists is not None:
            operands += [otherwise if direct else zero, exists]
        gated = int(exists is not None)
        stored = self.scalars.emit(
            LoadOp,
            operands,
            {"operandSegmentSizes": segments(1, gated, gated)},
            zero.type,
        )
        if gate is not None and not direct:
            operands = gate, stored, otherwise
            stored = self.scalars.apply("where", operands, self.narrow.stored_dtype(dtype))
        return self.computed(stored, dtype)

    # -- the two forms of a value (`narrow.py`)

    def stored(self, value: SSAValue, dtype: Dtype) -> SSAValue:
        """What memory holds of a value."""
        return self.narrow.stored(value, dtype) if dtype in NARROW_FORMATS else value

    def computed(self, stored: SSAValue, dtype: Dtype) -> SSAValue:
        """What a register holds of a value in memory."""
        return self.narrow.computed(stored, dtype) if dtype in NARROW_FORMATS else stored

    def zero(self, dtype: Dtype) -> SSAValue:
        """The stored form of 0."""
        return self.scalars.constant(0, self.narrow.stored_dtype(dtype))
