"""Values computed again from other values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue

from tgdialect.ops.base import TgOp
from tgdialect.ops.walk import computed


def copied(
    value: SSAValue,
    copies: dict[SSAValue, SSAValue],
    put: Callable[[TgOp], SSAValue],
    *,
    shared: tuple[type[Operation], ...] = (),
    everything: bool = False,
) -> SSAValue:
    """A value computed once more, where the keys of `copies` are their values.

    `put` places an op and gives its result; operands come first. Ops that depend on no key, and
    those of the types in `shared`, are used as they are. With `everything` there is a copy of every
    op. `copies` gains an entry for each value that was looked at.
    """

    def operands(value: SSAValue) -> Sequence[SSAValue]:
        op = value.owner
        return op.operands[::-1] if isinstance(op, TgOp) and not isinstance(op, shared) else ()

    def copy(value: SSAValue) -> SSAValue:
        op = value.owner
        if not isinstance(op, TgOp) or isinstance(op, shared):
            return value
        new = [copies[operand] for operand in op.operands]
        return put(op.rebuild(new)) if everything or new != list(op.operands) else value

    return computed(value, copies, operands, copy)
