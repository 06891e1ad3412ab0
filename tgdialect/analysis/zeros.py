"""The sign of zero: a float sum is never -0, and what replaces it must not be either.

`reduce add` begins with +0, and +0 + -0 = +0: a sum that is 0 is +0 in any order of its terms. So
is an accumulator that begins with +0. A lowering that begins with the first term, or drops the sum,
adds +0.0 unless it can rule out -0.
"""

from __future__ import annotations

import math

from xdsl.ir import SSAValue

from tgdialect.ops import tg

_REARRANGING = (tg.ExpandOp, tg.PermuteOp, tg.ReshapeOp)
"""Movements whose cells are all cells of their source."""


def may_be_negative_zero(value: SSAValue) -> bool:
    """Whether a cell may be -0, as far as the op that makes it and its operands say."""
    if not tg.dtype_of(value).is_float:
        return False
    value = _without_movements(value)
    op = value.owner
    match op:
        case tg.ConstOp():
            return _is_constant_negative_zero(op)
        case tg.CastOp():
            return tg.dtype_of(op.source).is_float
        case tg.ReduceOp():
            return op.kind.data is not tg.ReduceKind.ADD
        case tg.AddOp():  # -0 + -0 alone is -0.
            sides = (_without_movements(side).owner for side in op.operands)
            return all(
                not isinstance(s, tg.ConstOp) or _is_constant_negative_zero(s) for s in sides
            )
        case tg.LoadOp():
            return not _is_accumulated(op)
        case _:
            return True


def shows_negative_zero(value: SSAValue) -> bool:
    """Whether a use of a value can tell -0 from +0.

    An ADD with an operand that cannot be -0 gives the same for both. That operand must not be a
    REDUCE: of two that are added up, each would leave it to the other to be +0.
    """
    walk = tg.Walk([value])
    for value in walk:
        for use in value.uses:
            op = use.operation
            if isinstance(op, _REARRANGING) and use.index == 0:
                walk.add(op.results)
            elif not isinstance(op, tg.AddOp):
                return True
            else:
                other = _without_movements(op.operands[1 - use.index])
                if isinstance(other.owner, tg.ReduceOp) or may_be_negative_zero(other):
                    return True
    return False


def is_positive_zero(value: SSAValue) -> bool:
    """Whether a value is the constant +0 in all of its cells: all of their bits are 0."""
    op = _without_movements(value).owner
    if not isinstance(op, tg.ConstOp) or isinstance(op.value, tg.InvalidAttr):
        return False
    constant = tg.number(op.value)
    return constant == 0 and math.copysign(1, constant) > 0


def _without_movements(value: SSAValue) -> SSAValue:
    """The value whose cells a movement in registers shows."""
    while isinstance(op := value.owner, _REARRANGING) and not tg.is_memory(value):
        value = op.operands[0]
    return value


def _is_constant_negative_zero(op: tg.ConstOp) -> bool:
    if isinstance(op.value, tg.InvalidAttr):
        return True
    constant = tg.number(op.value)
    return constant == 0 and math.copysign(1, constant) < 0


def _is_accumulated(load: tg.LoadOp) -> bool:
    """Whether a LOAD reads an accumulator that began with a constant other than -0.

    Such a LOAD is `load (after %buffer, (store %buffer, 0.0), %range)`, perhaps of an INDEX, and
    perhaps with an END around the STORE. The loop is taken to add to what is there.
    """
    if load.gate is not None:
        return False
    op = tg.behind(load.buffer, tg.IndexOp, *_REARRANGING).owner
    if not isinstance(op, tg.AfterOp):
        return False
    for effect in op.operands[1:]:
        if isinstance(store := tg.behind(effect, tg.EndOp).owner, tg.StoreOp):
            start = _without_movements(store.value).owner
            return isinstance(start, tg.ConstOp) and not _is_constant_negative_zero(start)
    return False
