"""REDUCE over a range that its operand does not depend on: a reduction of n equal values."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from tgdialect.ops.attributes import ReduceKind
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.properties import dtype_of, integers
from tgdialect.ops.reduce import ReduceOp
from tgdialect.transforms.simplify.engine import Engine
from tgdialect.transforms.simplify.loops import ONCE, trips
from tgdialect.transforms.simplify.masks import (
    accumulated,
    collapse_masked,
    repeated_sum,
    split_alternative,
    summed,
)
from tgdialect.transforms.simplify.scans import carry


def simplify_reduction(engine: Engine, op: Operation) -> SSAValue | None:
    """Replace a REDUCE by ops without a loop where its value has such a form.

    `loops.py` has pinned the ranges of REDUCEs that must keep their loop. The sum of n equal floats
    is n * v but for rounding, and their product is computed by repeated squaring, which is a
    product in some order. Both are in f32 for narrower dtypes, as the accumulator of the loop is.
    """
    assert isinstance(op, ReduceOp)
    if not op.ranges:
        return None
    inside = engine.loops.open(op.source)
    lost = [v for v in op.ranges if v.owner not in inside]
    if not lost:
        if integers(op, "axes"):
            return None
        found = split_alternative(engine, op) or collapse_masked(engine, op)
        return carry(engine, op) if found is None and engine.may_store else found
    result = op.source
    axes, kept = integers(op, "axes"), [v for v in op.ranges if v not in lost]
    if axes or kept:
        ordered = op.ordered is not None
        result = engine.insert(ReduceOp(op.kind.data, result, axes, kept, ordered=ordered))

    def repeated(value: SSAValue) -> SSAValue:
        for over in lost:
            value = _repeated(engine, op.kind.data, value, over)
        return value

    return accumulated(engine, result, repeated)


def _repeated(engine: Engine, kind: ReduceKind, value: SSAValue, over: SSAValue) -> SSAValue:
    """The reduction of as many equal values as the range `over` has iterations, at least one."""
    times = trips(over, engine.min_max)
    if times == ONCE and kind is ReduceKind.ADD:
        return summed(engine, value)
    if times == ONCE or kind is ReduceKind.MAX or dtype_of(value).is_bool:
        return value
    if kind is ReduceKind.ADD:
        axis = over.owner
        assert isinstance(axis, RangeOp)
        return repeated_sum(engine, value, axis.bound)
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
