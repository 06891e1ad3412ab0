"""REDUCE over a range that its source does not depend on: of n equal values."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from tgdialect.ops.attributes import ReduceKind
from tgdialect.ops.dtypes import F32
from tgdialect.ops.elementwise import CastOp
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.properties import dtype_of, integers, tensor
from tgdialect.ops.reduce import ReduceOp
from tgdialect.transforms.simplify.engine import Engine
from tgdialect.transforms.simplify.loops import ONCE, trips


def simplify_reduction(engine: Engine, op: Operation) -> SSAValue | None:
    """Say without a loop what need not be in it. `loops.py` has pinned the ranges of other REDUCEs.

    A float's sum of n equal values in any order is n times the value but for rounding, and so is
    n * v; its product by repeated squaring is a product in some order. Both are in f32 for the
    narrower dtypes, as the accumulator of the loop is.
    """
    assert isinstance(op, ReduceOp)
    if not op.ranges:
        return None
    inside = engine.loops.open(op.source)
    lost = [v for v in op.ranges if v.owner not in inside]
    if not lost:
        return None
    result = op.source
    axes, kept = integers(op, "axes"), [v for v in op.ranges if v not in lost]
    if axes or kept:
        ordered = op.ordered is not None
        result = engine.insert(ReduceOp(op.kind.data, result, axes, kept, ordered=ordered))
    element = tensor(result).element_type
    narrow = dtype_of(result).is_float and dtype_of(result).bits < 32
    if narrow:
        result = engine.insert(CastOp(result, F32))
    for value in lost:
        result = _repeated(engine, op.kind.data, result, value)
    return engine.insert(CastOp(result, element)) if narrow else result


def _repeated(engine: Engine, kind: ReduceKind, value: SSAValue, over: SSAValue) -> SSAValue:
    """The reduction of as many equal values as the range `over` has iterations, at least one."""
    times = trips(over, engine.min_max)
    if times == ONCE or kind is ReduceKind.MAX or dtype_of(value).is_bool:
        return value
    if kind is ReduceKind.ADD:
        range = over.owner
        assert isinstance(range, RangeOp)
        count, element = range.bound, tensor(value).element_type
        if tensor(count).element_type != element:
            count = engine.insert(CastOp(count, element))
        return engine.apply("tg.mul", (value, count))
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
