"""Prefix reductions (scans): a REDUCE over the elements up to the iteration of an outer loop.

    for i: out[i] = sum over r <= i of f(r)      O(n^2)
    acc = 0; for i: acc += f(i); out[i] = acc    O(n)

The mask `r <= i` may be written in other ways. The specification's prefix sum reads
`x[i + r - n + 1]` where that index is in bounds. The change of variable u = i + r gives it the form
above.

The outer loop then carries the accumulator. It becomes a REDUCE loop, and moves inside all other
loops that the sum depends on. For a suffix reduction the outer loop is reversed first: `n - 1 - i`
replaces `i`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import SSAValue

from tgdialect.analysis.conditions import Condition
from tgdialect.analysis.ranges import Ranges, closed_ranges
from tgdialect.ops import tg
from tgdialect.ops.affine import Linear
from tgdialect.ops.reduce import ALU
from tgdialect.transforms.simplify.engine import Engine
from tgdialect.transforms.simplify.masks import (
    Constraints,
    Masked,
    constraints_of,
    emit_index,
    masked,
    where_all,
)
from tgdialect.transforms.simplify.reductions import computed_at, masked_at


class _Growth(NamedTuple):
    """A set of integers that grows with the outer loop. Each iteration adds its element `newest` if
    that is in bounds."""

    newest: Linear
    """The element of an iteration: the outer variable or its negative, plus an invariant."""
    lows: Sequence[Linear]
    """The lower bounds of the elements, inclusive."""
    highs: Sequence[Linear]
    """The upper bounds of the elements, exclusive."""


class _Prefix(NamedTuple):
    """A reduction of `value` over the elements u of a growing set."""

    variable: tg.RangeOp
    """The RANGE of the variable u."""
    value: SSAValue
    growth: _Growth
    others: list[Condition]
    """Conditions that do not depend on u."""


def carry(engine: Engine, op: tg.ReduceOp) -> SSAValue | None:
    """Replace a prefix reduction over one range by an accumulator that an outer loop carries."""
    if len(op.ranges) != 1 or tg.dtype_of(op.source).is_bool:
        return None
    mask = masked(engine, op)
    (axis,) = closed_ranges(op)
    if not mask.conditions and not engine.loops.open(axis.bound):
        # Each iteration reduces as many elements.
        return None
    around = engine.loops.open(op.source) - {axis}
    for outer in sorted(around, key=lambda r: r.axis.data):
        if _only_end(outer, around) is None:
            continue
        # Try the range variable r, then u = i + r.
        for skewed in (False, True):
            prefix = _prefix(engine, op, axis, outer, mask, skewed)
            if prefix is not None:
                return _accumulate(engine, op, outer, around, prefix)
    return None


def _only_end(outer: tg.RangeOp, around: Ranges) -> tg.EndOp | None:
    """The only op that closes `outer`, if it is an END that closes all loops in `around`."""
    closing = [
        use.operation
        for use in outer.result.uses
        if isinstance(use.operation, tg.EndOp | tg.ReduceOp) and use.index > 0
    ]
    if len(closing) != 1 or not isinstance(end := closing[0], tg.EndOp):
        return None
    return end if around <= set(closed_ranges(end)) else None


def _prefix(
    engine: Engine, op: tg.ReduceOp, axis: tg.RangeOp, outer: tg.RangeOp, mask: Masked, skewed: bool
) -> _Prefix | None:
    """A REDUCE as a prefix reduction; None if it is not one.

    Its elements must not depend on the outer loop. With `skewed` they are indexed by u = i + r. If
    only a reversed outer loop makes the REDUCE a prefix, this reverses it and restarts the walk.
    """
    value, conditions = mask.value, mask.conditions
    n, m = (engine.form(r.bound) for r in (axis, outer))
    known = Constraints([tg.Affine()], [n])
    if skewed:
        # Make u = i + r the variable of a new RANGE, so that its bounds are known.
        extent = emit_index(engine, n + m - 1)
        if extent is None:
            return None
        number = next(engine.builder.free_axes)
        new = engine.builder.insert(tg.RangeOp(number, tg.AxisType.REDUCE, extent))
        at = engine.apply("tg.sub", (new.result, outer.result))
        if (there := masked_at(engine, mask, axis, at)) is None:
            return None
        value, conditions = there.value, there.conditions
        i: Linear = tg.Affine({outer.result: 1})
        known = Constraints([i], [i + n])
        axis = new
    # A condition on an element itself, and not on its position, becomes part of the element.
    data = [
        c
        for c in conditions
        if outer not in engine.loops.open(c[0]) and constraints_of(engine, [c], axis).unknown
    ]
    value = where_all(engine, op, data, value)
    conditions = [c for c in conditions if c not in data]
    if outer in engine.loops.open(value):
        return None
    # The bounds on u must describe a set that grows with the outer loop.
    constraints = constraints_of(engine, conditions, axis, known)
    if constraints.equal or constraints.unknown:
        return None
    is_free = op.ordered is None
    growth = _upwards(engine, constraints, outer)
    if growth is None and is_free:
        growth = _downwards(engine, constraints, outer)
    if growth is not None:
        return _Prefix(axis, value, growth, constraints.others)
    # The bounds of a suffix describe such a set in the reversed loop.
    if is_free and outer.axis_type.data is tg.AxisType.LOOP:
        mirrored = _mirrored(engine, constraints, outer)
        if _upwards(engine, mirrored, outer) or _downwards(engine, mirrored, outer):
            engine.run_backwards(outer)
    return None


def _mirrored(engine: Engine, constraints: Constraints, outer: tg.RangeOp) -> Constraints:
    """Rewrite bounds for the reversed outer loop: `bound - 1 - i` replaces `i`."""
    last = engine.form(outer.bound) - 1

    def mirrored(form: Linear) -> Linear:
        factor = form.terms.get(outer.result, 0)
        return form + (last - tg.Affine({outer.result: 2})) * factor

    lows, highs = (list(map(mirrored, forms)) for forms in (constraints.lows, constraints.highs))
    return Constraints(lows, highs, others=constraints.others)


def _upwards(engine: Engine, constraints: Constraints, outer: tg.RangeOp) -> _Growth | None:
    """The growth by the next greater integer in each iteration; None if the bounds differ.

    The set must be empty before the first iteration.
    """
    # One upper bound must increase by 1 per iteration; its last integer is the newest element.
    moving, highs = _moving(constraints.highs, outer)
    others, lows = _moving(constraints.lows, outer)
    if len(moving) != 1 or moving[0].terms[outer.result] != 1:
        return None
    newest = moving[0] - 1
    # A fixed lower bound must be at least `newest` at i = 0, so that the set is empty before.
    # It must also be at least each moving lower bound.
    first = newest - tg.Affine({outer.result: 1})
    last = engine.form(outer.bound) - 1
    greatest = [first]
    for other in others:
        factor = other.terms[outer.result]
        fixed = other - tg.Affine({outer.result: factor})
        greatest.append(fixed + last * factor if factor > 0 else fixed)
    fixed = {atom for form in (*greatest, *lows, *highs) for atom in form.terms}
    if any(outer in engine.loops.open(atom) for atom in fixed):
        return None
    if not all(any(engine.interval(low - g).lo >= 0 for low in lows) for g in greatest):
        return None
    return _Growth(newest, lows, highs)


def _downwards(engine: Engine, constraints: Constraints, outer: tg.RangeOp) -> _Growth | None:
    """The growth by the next smaller integer in each iteration: `_upwards`, applied to -u."""
    lows, highs = ([-f + 1 for f in forms] for forms in (constraints.highs, constraints.lows))
    found = _upwards(engine, Constraints(lows, highs), outer)
    if found is None:
        return None
    lows, highs = ([-f + 1 for f in forms] for forms in (found.highs, found.lows))
    return _Growth(-found.newest, lows, highs)


def _moving(forms: Sequence[Linear], outer: tg.RangeOp) -> tuple[list[Linear], list[Linear]]:
    """The bounds that depend on a loop variable, and the bounds that do not."""
    moving = [form for form in forms if form.terms.get(outer.result)]
    return moving, [form for form in forms if not form.terms.get(outer.result)]


def _move_inside(end: tg.EndOp, outer: tg.RangeOp, others: Ranges) -> bool:
    """Move `outer` inside the loops `others`, among those that an END closes.

    Returns whether that is possible.
    """
    order = closed_ranges(end)
    position = order.index(outer)
    target = min((order.index(r) for r in others), default=position)
    if target >= position:
        return True
    if any(r.axis_type.data is tg.AxisType.REDUCE for r in order):
        return False  # A loop that carries an accumulator cannot move.
    order.insert(target, order.pop(position))
    end.operands = (end.body, *(r.result for r in order))
    return True


def _accumulate(
    engine: Engine, op: tg.ReduceOp, outer: tg.RangeOp, around: Ranges, prefix: _Prefix
) -> SSAValue | None:
    """Emit the accumulator and its update in the outer loop. Returns the updated value."""
    # Compute the element that an iteration adds, or the identity if it is out of bounds.
    kind, element = op.kind.data, tg.tensor(op.result).element_type
    at = emit_index(engine, prefix.growth.newest)
    values = None if at is None else computed_at(engine, [prefix.value], prefix.variable, at)
    if at is None or values is None:
        return None
    conditions: list[Condition] = []
    for forms, below in ((prefix.growth.lows, False), (prefix.growth.highs, True)):
        for form in forms:
            if (bound := emit_index(engine, form)) is None:
                return None
            conditions.append((engine.apply("tg.cmplt", (at, bound)), below))
    term = where_all(engine, op, conditions, values[0])
    # The ops inserted above may have given another loop an accumulator, so check the order again.
    end = _only_end(outer, around)
    if end is None or not _move_inside(end, outer, around - {outer}):
        return None
    if (wide := tg.accumulated_dtype(op)) != element:
        term = engine.insert(tg.CastOp(term, wide))
    slot = next(engine.builder.free_slots)
    place = tg.PlaceAttr.of(addrspace=tg.AddrSpace.REG)
    buffer = engine.builder.put(tg.BufferOp(slot, tg.tensor_type(wide, (), place)))
    order = closed_ranges(end)
    # The initial STORE runs in each iteration of all enclosing loops, those of other ENDs included.
    outside = [*order[order.index(outer) + 1 :], *engine.loops.open(end.result)]
    enclosing = [r.result for r in sorted(outside, key=lambda r: r.axis.data)]
    start = engine.constant(tg.number_attribute(tg.identity(kind, tg.dtype_row(wide)), wide))
    before = engine.builder.put(tg.AfterOp(buffer, enclosing)) if enclosing else buffer
    init = engine.builder.put(tg.StoreOp(before, start))
    # Update the accumulator in the outer loop, which becomes a REDUCE loop.
    version = engine.builder.put(tg.AfterOp(buffer, [init, outer.result]))
    total = engine.apply(ALU[kind].name, (engine.builder.put(tg.LoadOp(version)), term))
    update = tg.StoreOp(version, total)
    engine.builder.insert(update)
    engine.loops.before[update] = frozenset((outer, *outside))
    _hold(end, outer, update.result)
    outer.axis_type = tg.AxisTypeAttr(tg.AxisType.REDUCE)
    result = engine.insert(tg.CastOp(total, element)) if wide != element else total
    return where_all(engine, op, prefix.others, result)


def _hold(end: tg.EndOp, outer: tg.RangeOp, update: SSAValue) -> None:
    """Let an END also close `outer` around an update that is in none of its inner loops.

    The inner loops get an END of their own, which a GROUP joins with the update.
    """
    order = closed_ranges(end)
    inside = [r.result for r in order[: order.index(outer)]]
    builder, body = tg.OpBuilder.before(end), end.body
    if inside:
        body = builder.put(tg.EndOp(body, inside))
    group = builder.put(tg.GroupOp([body, update]))
    end.operands = (group, *(r.result for r in order[order.index(outer) :]))
