"""Values that several work items have alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.ir import Operation, SSAValue

from tgdialect.ops import tg

_COMMUTATIVE = (tg.AddOp, tg.MulOp, tg.MaxOp, tg.AndOp, tg.OrOp)


_ALL = 1 << 32
"""More work items than a workgroup has."""


def uniform_blocks(ops: Iterable[Operation]) -> Mapping[SSAValue, int]:
    """For constants and results of elementwise ops, how many neighbouring work items have the same
    value: a power of two, of work items whose numbers differ in the lowest bits only.

    A commutative op on a value and its SHUFFLE over a distance makes blocks of twice the distance
    of blocks of the distance. Values that are not in the result are in blocks of 1.
    """
    found: dict[SSAValue, int] = {}
    for op in ops:
        match op:
            case tg.ElementwiseOp() | tg.BitcastOp():
                size = min((found.get(operand, 1) for operand in op.operands), default=1)
                if isinstance(op, _COMMUTATIVE) and (value := _exchanged(op)) is not None:
                    value, distance = value
                    if found.get(value, 1) >= distance:
                        size = max(size, 2 * distance)
                if size > 1:
                    found[op.results[0]] = size
            case tg.ConstOp() | tg.VConstOp():
                found[op.results[0]] = _ALL
            case tg.ShuffleOp() if op.value in found:
                found[op.result] = found[op.value]
            case _:
                pass
    return found


def _exchanged(op: Operation) -> tuple[SSAValue, int] | None:
    """The value that a commutative op combines with its own SHUFFLE, and the distance of that, a
    power of two."""
    a, b = op.operands
    for value, other in ((a, b), (b, a)):
        shuffle = other.owner
        if isinstance(shuffle, tg.ShuffleOp) and shuffle.value is value:
            distance = shuffle.distance.data
            return None if distance & (distance - 1) else (value, distance)
    return None
