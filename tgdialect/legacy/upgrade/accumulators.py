"""Loops that reduce: an accumulator that each iteration adds to becomes a REDUCE."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from tgdialect.ops import tg
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.properties import dtype_of, number, tensor
from tgdialect.ops.reduce import ALU, identity
from tgdialect.ops.walk import Walk, operands_of

KINDS: Mapping[object, tg.ReduceKind] = {
    tg.AddOp: tg.ReduceKind.ADD,
    tg.MulOp: tg.ReduceKind.MUL,
    tg.MaxOp: tg.ReduceKind.MAX,
    tg.MulAccOp: tg.ReduceKind.ADD,
}
"""The reduction that a chain of an op computes."""


Loops = Callable[[SSAValue], frozenset[tg.RangeOp]]
"""Which loops a value is in."""


def reduced(
    b: OpBuilder,
    loops: Sequence[tg.RangeOp],
    initial: SSAValue,
    old: SSAValue,
    new: SSAValue,
    loops_of: Loops,
) -> SSAValue | None:
    """The value of an accumulator after loops, as a REDUCE; None if they do not reduce.

    `old` is its value at the beginning of an iteration and `new` that at the end. The loops reduce
    if `new` is a chain of one operation, `(old + a) + b` say, whose other operands depend on the
    loops but not on `old`, nor on what the loops store: a REDUCE is a loop of its own.
    """
    kind = KINDS.get(type(new.owner))
    if kind is None or tensor(new).get_shape():
        return None
    chain = _chain(kind, old, new)
    if chain is None:
        return None
    terms = [_term(b, op, link) for op, link in chain]
    term = terms[-1]
    for other in reversed(terms[:-1]):
        term = b.put(ALU[kind](term, other))
    if not loops_of(term).issuperset(loops) or _reads_stores(term, loops, loops_of):
        return None
    ranges = [loop.result for loop in loops]
    inner = term.owner
    if isinstance(inner, tg.ReduceOp) and inner.kind.data is kind and term.first_use is None:
        # The loop of a loop that reduces: one REDUCE over both.
        term, ranges = inner.source, [*ranges, *inner.ranges]
    for loop in loops:
        loop.properties["axis_type"] = tg.AxisTypeAttr(tg.AxisType.REDUCE)
    result = b.put(tg.ReduceOp(kind, term, (), ranges))
    if _is_identity(kind, initial):
        return result
    return b.put(ALU[kind](initial, result))


def _chain(kind: tg.ReduceKind, old: SSAValue, new: SSAValue) -> list[tuple[Operation, int]] | None:
    """The ops from `new` down to `old`, each with the position of the operand on the way; None if
    something else depends on `old`."""
    path: list[tuple[Operation, int]] = []
    value = old
    while value is not new:
        uses = list(value.uses)
        if len(uses) != 1:
            return None
        op, position = uses[0].operation, uses[0].index
        if KINDS.get(type(op)) is not kind or (isinstance(op, tg.MulAccOp) and position != 2):
            return None
        path.append((op, position))
        (value,) = op.results
    return None if new.first_use is not None else path[::-1]


def _reads_stores(term: SSAValue, loops: Sequence[tg.RangeOp], loops_of: Loops) -> bool:
    """Whether a value depends on versions of memory that loops make."""
    walk = Walk([term])
    for value in walk:
        if isinstance(value.owner, tg.AfterOp):
            return True
        walk.add(o for o in operands_of(value) if not loops_of(o).isdisjoint(loops))
    return False


def _term(b: OpBuilder, op: Operation, link: int) -> SSAValue:
    """The summand that an op of a chain adds to the accumulator."""
    if isinstance(op, tg.MulAccOp):
        return b.put(tg.MulOp(op.operands[0], op.operands[1]))
    return op.operands[1 - link]


def _is_identity(kind: tg.ReduceKind, initial: SSAValue) -> bool:
    constant = initial.owner
    if not isinstance(constant, tg.ConstOp):
        return False
    return number(constant.value) == identity(kind, dtype_of(initial))
