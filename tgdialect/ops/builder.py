"""Placing the ops that a rewrite makes: where they go, and the location that they have."""

from __future__ import annotations

from xdsl.ir import Attribute, Block, Operation, SSAValue

from tgdialect.ops.base import TgOp
from tgdialect.ops.dtypes import INDEX
from tgdialect.ops.source import ConstOp


class OpBuilder:
    """Places ops before an op, or at the end of a block, with the location of their origin.

    `put` gives the result of the op it places, and is what `copies.copied` takes.
    """

    def __init__(self, block: Block, origin: Operation, before: Operation | None = None) -> None:
        self._block = block
        self._location = origin.location
        self._before = before

    @classmethod
    def before(cls, op: Operation) -> OpBuilder:
        """A builder that places ops before one whose location they have."""
        block = op.parent
        assert block is not None
        return cls(block, op, op)

    def put(self, op: TgOp) -> SSAValue:
        """The result of an op, which is placed."""
        op.location = self._location
        if self._before is None:
            self._block.add_op(op)
        else:
            self._block.insert_op_before(op, self._before)
        return op.results[0]

    def constant(self, value: float, dtype: Attribute = INDEX) -> SSAValue:
        """A scalar constant."""
        return self.put(ConstOp(value, dtype))
