"""Values of a block, and the bounds of their errors as further ops of it."""

from __future__ import annotations

from xdsl.ir import Block, SSAValue
from xdsl.rewriter import InsertPoint

from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg
from tgdialect.transforms.tg_semantics import Tg, TgSemantics

F64 = tg.TYPES["f64"]


class BoundedValues:
    """The values of a block as f64, and their bounds; `Tg` has the arithmetic of both."""

    def __init__(self, block: Block) -> None:
        self.bounds: dict[SSAValue, SSAValue] = {}
        """By value, as f64; none of a value that has no error."""
        first = next(iter(ops_of(block)))
        self.builder = tg.UniquingBuilder(InsertPoint.before(first), first.location)
        self._semantics = TgSemantics(self.builder)

    def number(self, value: float) -> Tg:
        return self.of(self._semantics.constant(value, "f64"))

    def of(self, handle: SSAValue) -> Tg:
        return self._semantics.value(handle)

    def value(self, value: SSAValue) -> Tg:
        """A value as an f64."""
        if tg.dtype_of(value).name == "f64":
            return self.of(value)
        return self.of(self.builder.emit(tg.CastOp, value, F64))

    def magnitude(self, value: SSAValue) -> Tg:
        """The absolute value as an f64."""
        wide = self.value(value)
        return wide.applied("max", -wide)

    def error(self, value: SSAValue) -> Tg | None:
        """The bound of a value; None if it has no error."""
        known = self.bounds.get(value)
        return None if known is None else self.of(known)

    def full(self, value: SSAValue) -> SSAValue:
        """The bound of a value, of its shape."""
        known = self.bounds.get(value)
        error = self.number(0.0) if known is None else self.of(known)
        wide = self.value(value)
        return wide.eq(wide).where(error, error).handle
