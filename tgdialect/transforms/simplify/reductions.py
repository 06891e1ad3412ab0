"""REDUCE over a masked range without its loop, or with a shorter one: arange, gather, one-hot. And
a reduction of n equal values, of an operand that does not depend on the range, by arithmetic.

* A condition `a r + b = 0` fixes the range variable r. At most one iteration contributes, so the
  result is the value at that r, if the loop reaches it.
* Conditions `a r + b < 0` bound r. If the value does not depend on r, the result is a reduction of
  n equal values, for n integers between the bounds. Otherwise constant bounds shorten the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.conditions import Condition, conjuncts
from tgdialect.analysis.ranges import closed_ranges
from tgdialect.analysis.zeros import may_be_negative_zero
from tgdialect.ops import tg
from tgdialect.transforms.simplify.engine import Engine
from tgdialect.transforms.simplify.loops import ONCE
from tgdialect.transforms.simplify.masks import (
    Constraints,
    Masked,
    constraints_of,
    emit_index,
    masked,
    neutral,
    where_all,
)
from tgdialect.transforms.simplify.matching import constant_of

_MAX_BODY = 256
"""The greatest number of ops that a rewrite copies to compute a loop body at another position. It
bounds the size of the code; a REDUCE with a longer body keeps its loop."""


def collapse_masked(engine: Engine, op: tg.ReduceOp) -> SSAValue | None:
    """Rewrite a REDUCE over RANGEs to one without, or with fewer iterations of, a masked range."""
    mask = masked(engine, op)
    if not mask.conditions:
        return None
    for axis in closed_ranges(op):
        constraints = constraints_of(engine, mask.conditions, axis)
        for rewrite in (_fixed, _counted, _narrowed):
            if (result := rewrite(engine, op, axis, mask, constraints)) is not None:
                return result
    return None


def split_alternative(engine: Engine, op: tg.ReduceOp) -> SSAValue | None:
    """Split a maximum over `where(mask, value, constant)` into two maxima over one mask each.

    The result is the maximum of the values where the mask holds and, if the mask fails for some
    iteration, of the constant.
    """
    # Take the operand apart: one branch must be a constant, but not the identity of MAX.
    choice = op.source.owner
    if op.kind.data is not tg.ReduceKind.MAX or len(op.ranges) != 1:
        return None
    if not isinstance(choice, tg.WhereOp) or tg.dtype_of(op.source).is_bool:
        return None
    (axis,), identity = closed_ranges(op), neutral(engine, op, op.source)
    holds = constant_of(choice.rhs) is not None
    value, other = (choice.lhs, choice.rhs) if holds else (choice.rhs, choice.lhs)
    if constant_of(other) in (None, constant_of(identity)) or constant_of(value) is not None:
        return None
    # Each conjunct of the mask must be a comparison that the other rewrites can solve.
    conditions = list(conjuncts([(choice.condition, holds)]))
    constraints = constraints_of(engine, conditions, axis)
    if constraints.unknown or (constraints.equal and engine.min_max[axis.bound].lo < 2):
        return None
    fixed = {condition for condition, _, _ in constraints.equal}

    def maximum(source: SSAValue) -> SSAValue:
        return engine.insert(tg.ReduceOp(tg.ReduceKind.MAX, source, (), op.ranges))

    # The mask fails in an iteration if one of its conjuncts fails.
    result = maximum(where_all(engine, op, conditions, value))
    for condition, must_hold in conditions:
        if condition in fixed:  # At least one of two or more iterations fails.
            failing = other
        else:
            failing = maximum(where_all(engine, op, [(condition, not must_hold)], other))
        result = engine.apply("tg.max", (result, failing))
    return result


def _fixed(
    engine: Engine, op: tg.ReduceOp, axis: tg.RangeOp, mask: Masked, constraints: Constraints
) -> SSAValue | None:
    """Replace a range that a condition fixes by the operand at that position.

    The result is the identity if the loop does not reach the position.
    """
    for solved, factor, rest in constraints.equal:
        if abs(factor) != 1 or (at := emit_index(engine, rest * -factor, wraps=True)) is None:
            continue
        # Compute the value and the other conditions at the solution `at`.
        others = [c for c in mask.conditions if c[0] is not solved]
        if (there := masked_at(engine, Masked(mask.value, others), axis, at)) is None:
            return None
        # The solution must lie in the loop, and the other conditions must hold there.
        zero = engine.constant(tg.number_attribute(0, tg.INDEX))
        conditions = [
            (engine.apply("tg.cmplt", (at, zero)), False),
            (engine.apply("tg.cmplt", (at, axis.bound)), True),
            *there.conditions,
        ]
        # The REDUCE keeps its other ranges, and disappears if it has none.
        kept = [value for value in op.ranges if value is not axis.result]
        value = there.value
        if not kept and op.kind.data is tg.ReduceKind.ADD:
            value = summed(engine, value)
        result = where_all(engine, op, conditions, value)
        if not kept:
            return result
        ordered = op.ordered is not None
        return engine.insert(tg.ReduceOp(op.kind.data, result, (), kept, ordered=ordered))
    return None


def computed_at(
    engine: Engine, roots: Sequence[SSAValue], axis: tg.RangeOp, at: SSAValue
) -> list[SSAValue] | None:
    """Copy values to the iteration of a range in which its variable is `at`.

    Returns None if a copy is too large, or needs an op that cannot be copied.
    """
    # Copy the ops that depend on the range in postorder; share all others.
    new: dict[SSAValue, SSAValue] = {axis.result: at}
    made = 0
    for root in roots:
        stack = [root]
        while stack:
            value = stack[-1]
            op = value.owner
            if value in new:
                stack.pop()
            elif axis not in engine.loops.open(value):
                new[value] = value
            elif not isinstance(
                op, tg.ElementwiseOp | tg.BitcastOp | tg.IndexOp | tg.LoadOp | tg.ReduceOp
            ):
                return None
            elif missing := [o for o in op.operands if o not in new]:
                stack.extend(missing)
            elif made > _MAX_BODY:
                return None
            else:
                new[value] = engine.insert(op.rebuild([new[o] for o in op.operands]))
                made += 1
    return [new[root] for root in roots]


def masked_at(engine: Engine, mask: Masked, axis: tg.RangeOp, at: SSAValue) -> Masked | None:
    """A value and its conditions in the iteration of a range in which its variable is `at`."""
    roots = [mask.value, *(value for value, _ in mask.conditions)]
    if (values := computed_at(engine, roots, axis, at)) is None:
        return None
    pairs = zip(values[1:], mask.conditions, strict=True)
    return Masked(values[0], [(new, holds) for new, (_, holds) in pairs])


def _counted(
    engine: Engine, op: tg.ReduceOp, axis: tg.RangeOp, mask: Masked, constraints: Constraints
) -> SSAValue | None:
    """Replace a reduction of equal values between bounds by a closed form.

    It is the value itself for MAX, and the value times the number of iterations for ADD.
    """
    # The value must not depend on the range, and the reduction must be one with a closed form.
    kind, dtype = op.kind.data, tg.dtype_of(mask.value)
    if constraints.equal or constraints.unknown or axis in engine.loops.open(mask.value):
        return None
    if (
        len(op.ranges) > 1
        or kind is tg.ReduceKind.MUL
        or (dtype.is_float and op.ordered is not None)
    ):
        return None
    if kind is tg.ReduceKind.ADD and dtype.is_bool:
        return None
    # Emit the greatest lower bound and the least upper bound, those of the loop included.
    lows = [emit_index(engine, form) for form in constraints.lows]
    highs = [emit_index(engine, form) for form in constraints.highs]
    low, high = engine.constant(tg.number_attribute(0, tg.INDEX)), axis.bound
    for bound in lows:
        if bound is None:
            return None
        low = engine.apply("tg.max", (low, bound))
    for bound in highs:
        if bound is None:
            return None
        less = engine.apply("tg.cmplt", (bound, high))
        high = engine.apply("tg.where", (less, bound, high))
    # MAX is the value if at least one iteration is in bounds.
    some = (engine.apply("tg.cmplt", (low, high)), True)
    if kind is tg.ReduceKind.MAX:
        return where_all(engine, op, [*constraints.others, some], mask.value)
    # ADD is the value times the count. An infinity or NaN times 0 is not 0, so it needs the test.
    zero = engine.constant(tg.number_attribute(0, tg.INDEX))
    count = engine.apply("tg.max", (engine.apply("tg.sub", (high, low)), zero))
    total = accumulated(engine, mask.value, lambda v: repeated_sum(engine, v, count))
    finite = dtype.is_integer or constant_of(mask.value) is not None
    conditions = constraints.others if finite else [*constraints.others, some]
    return where_all(engine, op, conditions, total)


def _narrowed(
    engine: Engine, op: tg.ReduceOp, axis: tg.RangeOp, mask: Masked, _: Constraints
) -> SSAValue | None:
    """Shorten a loop to the iterations that constant bounds allow."""
    # Intersect the constant bounds of the mask; keep all other conditions.
    trip_count = engine.min_max[axis.bound]
    low, high = 0, int(trip_count.hi)
    kept: list[Condition] = []
    for condition in mask.conditions:
        of = constraints_of(engine, [condition], axis)
        constant = [form.constant for form in (*of.lows, *of.highs) if not form.terms]
        if not constant:
            kept.append(condition)
        elif of.lows:
            low = max(low, *constant)
        else:
            high = min(high, *constant)
    if not trip_count.is_constant or not 0 < high - low < trip_count.hi:
        return None
    # Make the shorter loop, and copy the operand with the variable shifted by `low`.
    size = engine.constant(tg.number_attribute(high - low, tg.INDEX))
    number = next(engine.builder.free_axes)
    shorter = engine.builder.put(tg.RangeOp(number, axis.axis_type.data, size))
    at = engine.apply("tg.add", (shorter, engine.constant(tg.number_attribute(low, tg.INDEX))))
    if (there := masked_at(engine, Masked(mask.value, kept), axis, at)) is None:
        return None
    source = where_all(engine, op, there.conditions, there.value)
    ranges = [shorter if value is axis.result else value for value in op.ranges]
    ordered = op.ordered is not None
    return engine.insert(tg.ReduceOp(op.kind.data, source, (), ranges, ordered=ordered))


def accumulated(
    engine: Engine, value: SSAValue, compute: Callable[[SSAValue], SSAValue]
) -> SSAValue:
    """Apply `compute` to a value: in f32 for a narrower float, as in the accumulator of a loop."""
    element = tg.tensor(value).element_type
    if not tg.dtype_of(value).is_float or tg.dtype_of(value).bits >= 32:
        return compute(value)
    wide = compute(engine.insert(tg.CastOp(value, tg.F32)))
    return engine.insert(tg.CastOp(wide, element))


def repeated_sum(engine: Engine, value: SSAValue, count: SSAValue) -> SSAValue:
    """The sum of `count` equal terms as a product; float rounding may differ from a loop's."""
    element = tg.tensor(value).element_type
    if tg.tensor(count).element_type != element:
        count = engine.insert(tg.CastOp(count, element))
    return summed(engine, engine.apply("tg.mul", (value, count)))


def summed(engine: Engine, value: SSAValue) -> SSAValue:
    """The sum of a single term, as a REDUCE computes it: adding +0 turns a term -0 into +0."""
    if not may_be_negative_zero(value):
        return value
    zero = engine.constant(tg.number_attribute(0, tg.tensor(value).element_type))
    return engine.apply("tg.add", (value, zero))


# -- equal values --------------------------------------------------------------------------------


def repeat_reduction(engine: Engine, op: Operation) -> SSAValue | None:
    """Reduce over the ranges that the operand depends on, and repeat the result for the others.
    None if there are no others."""
    assert isinstance(op, tg.ReduceOp)
    if not op.ranges:
        return None
    ranges, inside = closed_ranges(op), engine.loops.open(op.source)
    lost = [r for r in ranges if r not in inside]
    if not lost:
        return None
    kind, axes = op.kind.data, tg.integers(op, "axes")
    kept = [r.result for r in ranges if r not in lost]

    def reduced(value: SSAValue) -> SSAValue:
        if axes or kept:
            value = engine.insert(op.over(value, axes, kept))
        for over in lost:
            value = _repeated(engine, kind, value, over)
        return value

    return (
        reduced(op.source) if kind is tg.ReduceKind.MAX else accumulated(engine, op.source, reduced)
    )


def _repeated(engine: Engine, kind: tg.ReduceKind, value: SSAValue, over: tg.RangeOp) -> SSAValue:
    """Reduce equal values, one for each iteration of the range `over`, which has at least one."""
    times = engine.min_max[over.bound]
    if times == ONCE and kind is tg.ReduceKind.ADD:
        return summed(engine, value)
    if times == ONCE or kind is tg.ReduceKind.MAX or tg.dtype_of(value).is_bool:
        return value
    if kind is tg.ReduceKind.ADD:
        return repeated_sum(engine, value, over.bound)
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
