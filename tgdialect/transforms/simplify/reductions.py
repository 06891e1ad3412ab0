"""REDUCE rewrites. The one of this file replaces a reduction of n equal values by arithmetic.

All values are equal if the operand does not depend on the range.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from tgdialect.ops import tg
from tgdialect.ops.properties import dtype_of, integers
from tgdialect.transforms.simplify.engine import Engine
from tgdialect.transforms.simplify.loops import ONCE, trips
from tgdialect.transforms.simplify.masked_reductions import (
    accumulated,
    collapse_masked,
    repeated_sum,
    split_alternative,
    summed,
)
from tgdialect.transforms.simplify.scans import carry


def simplify_reduction(engine: Engine, op: Operation) -> SSAValue | None:
    """Replace a REDUCE by ops without a loop, or with a cheaper one, where that is possible.

    `loops.py` has pinned the ranges of REDUCEs that must keep their loop. A sum of n equal floats v
    is n * v, which may round differently. A product of n equal values uses repeated squaring. Both
    are computed in f32 for narrower floats, as in the accumulator of a loop.
    """
    assert isinstance(op, tg.ReduceOp)
    if not op.ranges:
        return None
    # If the operand depends on every range, try the rewrites of masks and prefix reductions.
    found = repeat_reduction(engine, op)
    if found is not None or integers(op, "axes"):
        return found
    found = split_alternative(engine, op) or collapse_masked(engine, op)
    return carry(engine, op) if found is None and engine.may_store else found


def repeat_reduction(engine: Engine, op: Operation) -> SSAValue | None:
    """Reduce over the ranges that the operand depends on, and repeat the result for the others.
    None if there are no others."""
    assert isinstance(op, tg.ReduceOp)
    if not op.ranges:
        return None
    inside = engine.loops.open(op.source)
    lost = [v for v in op.ranges if v.owner not in inside]
    if not lost:
        return None
    kind, axes = op.kind.data, integers(op, "axes")
    kept = [v for v in op.ranges if v not in lost]

    def reduced(value: SSAValue) -> SSAValue:
        if axes or kept:
            value = engine.insert(op.over(value, axes, kept))
        for over in lost:
            value = _repeated(engine, kind, value, over)
        return value

    return (
        reduced(op.source) if kind is tg.ReduceKind.MAX else accumulated(engine, op.source, reduced)
    )


def _repeated(engine: Engine, kind: tg.ReduceKind, value: SSAValue, over: SSAValue) -> SSAValue:
    """Reduce equal values, one for each iteration of the range `over`, which has at least one."""
    times = trips(over, engine.min_max)
    if times == ONCE and kind is tg.ReduceKind.ADD:
        return summed(engine, value)
    if times == ONCE or kind is tg.ReduceKind.MAX or dtype_of(value).is_bool:
        return value
    if kind is tg.ReduceKind.ADD:
        axis = over.owner
        assert isinstance(axis, tg.RangeOp)
        return repeated_sum(engine, value, axis.bound)
    # A product is a power, computed by repeated squaring.
    exponent = int(times.hi)
    power: SSAValue | None = None
    while exponent:
        if exponent & 1:
            power = value if power is None else engine.apply("tg.mul", (power, value))
        exponent >>= 1
        if exponent:
            value = engine.apply("tg.mul", (value, value))
    assert power is not None
    return power
