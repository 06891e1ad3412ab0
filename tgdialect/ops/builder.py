"""The builders of ops: where new ops go, which source location and which numbers they get."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import cached_property
from itertools import count
from typing import Self, TypeVar

from xdsl.dialects.builtin import LocationAttr, UnknownLoc
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from tgdialect.diagnostics import UNKNOWN
from tgdialect.fast_xdsl.walk import nested_ops
from tgdialect.ops.attributes import AxisType
from tgdialect.ops.base import TgOp
from tgdialect.ops.dtypes import INDEX
from tgdialect.ops.numbering import next_axis, next_slot
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.source import ConstOp
from tgdialect.ops.walk import computed

OpT = TypeVar("OpT", bound=Operation)


class OpBuilder:
    """Inserts new ops at one point, one after the other, as MLIR's OpBuilder does.

    Ops that have no source location get the builder's, those in regions too. xDSL's own Builder
    knows no locations, and takes twice the time because it also serves listeners.
    """

    def __init__(self, insertion_point: InsertPoint, location: LocationAttr = UNKNOWN) -> None:
        self.insertion_point = insertion_point
        self.location = location

    @classmethod
    def before(cls, op: Operation) -> Self:
        """A builder that inserts before an op, with its location."""
        return cls(InsertPoint.before(op), op.location)

    @classmethod
    def after(cls, op: Operation) -> Self:
        """A builder that inserts after an op, with its location."""
        return cls(InsertPoint.after(op), op.location)

    @classmethod
    def at_end(cls, block: Block, location: LocationAttr = UNKNOWN) -> Self:
        """A builder that appends to a block."""
        return cls(InsertPoint.at_end(block), location)

    def move_before(self, op: Operation) -> None:
        """Insert before an op from now on, with its location."""
        self.insertion_point, self.location = InsertPoint.before(op), op.location

    @property
    def block(self) -> Block:
        """The block that ops go to."""
        return self.insertion_point.block

    def insert(self, op: OpT) -> OpT:
        """Insert an op, and return it."""
        if type(op.location) is UnknownLoc:
            op.location = self.location
            for nested in nested_ops(op) if op.regions else ():
                if type(nested.location) is UnknownLoc:
                    nested.location = self.location
        point = self.insertion_point
        if point.insert_before is None:
            point.block.add_op(op)
        else:
            point.block.insert_op_before(op, point.insert_before)
        return op

    def put(self, op: Operation) -> SSAValue:
        """Insert an op, and return its only result."""
        return self.insert(op).results[0]

    def index_constant(self, value: int) -> SSAValue:
        """A new index constant."""
        return self.put(ConstOp(value, INDEX))

    def range(self, kind: AxisType, extent: int) -> RangeOp:
        """A new RANGE of a known extent, with an axis id of its own."""
        return self.insert(RangeOp(next(self.free_axes), kind, self.index_constant(extent)))

    def clone(
        self,
        value: SSAValue,
        mapping: dict[SSAValue, SSAValue],
        *,
        shared: tuple[type[Operation], ...] = (),
        everything: bool = False,
    ) -> SSAValue:
        """Compute a value again, with other values for the keys of `mapping`.

        Ops that depend on no key, and those of the types in `shared`, are used as they are; with
        `everything` each op is cloned. Clones keep their locations. `mapping` gains an entry for
        every value on the way, so that several values can share their clones.
        """

        def operands(value: SSAValue) -> Sequence[SSAValue]:
            op = value.owner
            return op.operands[::-1] if isinstance(op, TgOp) and not isinstance(op, shared) else ()

        def clone(value: SSAValue) -> SSAValue:
            op = value.owner
            if not isinstance(op, TgOp) or isinstance(op, shared):
                return value
            new = [mapping[operand] for operand in op.operands]
            is_same = not everything and new == list(op.operands)
            return value if is_same else self.put(op.rebuild(new))

        return computed(value, mapping, operands, clone)

    @cached_property
    def free_slots(self) -> Iterator[int]:
        """The slots after those of the block's BUFFERs when the first one is asked for."""
        return count(next_slot(self.block.ops))

    @cached_property
    def free_axes(self) -> Iterator[int]:
        """The axis ids after those of the block's RANGEs when the first one is asked for."""
        return count(next_axis(self.block.ops))


class UniquingBuilder(OpBuilder):
    """A builder that can make equal ops once (hash consing), for the graphs of kernels.

    The first of equal ops stays where it is: it has to dominate what is built later.
    """

    def __init__(self, insertion_point: InsertPoint, location: LocationAttr = UNKNOWN) -> None:
        super().__init__(insertion_point, location)
        self._known: dict[Hashable, SSAValue] = {}

    def emit(self, kind: Callable[..., TgOp], *arguments: Hashable) -> SSAValue:
        """The result of `kind(*arguments)`, an op without effects: one op for all equal calls."""
        key = (kind, *arguments)
        if (known := self._known.get(key)) is None:
            known = self._known[key] = self.put(kind(*arguments))
        return known
