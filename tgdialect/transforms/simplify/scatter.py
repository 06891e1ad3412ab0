"""Scatter: a sum over all updates for each cell becomes a loop over the updates.

for k: out[k] = base(k) + (sum over d where idx(d) = k of v(d))     O(K D)
for k: out[k] = base(k);  for d: out[idx(d)] += v(d)                O(K + D)

Maxima and products are rewritten alike where `Engine.may_order`: there is no atomic op for them, so
that their loop over the updates, which loads and stores, has an order.

A store that leaves all cells but one as they are is a store of that cell.

for k: out[k] = v(k) if k = p else out[k]                           O(K)
if 0 <= p < K: out[p] = v(p)                                        O(1)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from tgdialect.analysis.conditions import conjuncts
from tgdialect.analysis.ranges import closed_ranges
from tgdialect.ops import tg
from tgdialect.ops.reduce import ALU
from tgdialect.transforms.simplify.engine import Engine
from tgdialect.transforms.simplify.masks import constraints_of, emit_index, masked, where_all
from tgdialect.transforms.simplify.reductions import computed_at, summed


class _Total(NamedTuple):
    """A stored value as a sum, maximum or product of one REDUCE of this kind and other operands."""

    reduction: tg.ReduceOp
    others: list[SSAValue]


def scatter(engine: Engine, end: Operation) -> SSAValue | None:
    """Rewrite the loops that an END closes, if they store a total that scatters, or one cell.

    Returns the END of the loops over the updates, or what `_stored_once` does; None if no rewrite
    applies.
    """
    assert isinstance(end, tg.EndOp)
    store = end.body.owner
    if not isinstance(store, tg.StoreOp):
        return None
    if (last := _stored_once(engine, end, store)) is not None or store.gate is not None:
        return last
    # The body must be one STORE without a gate, of a total with one REDUCE.
    location, dtype = store.buffer.owner, tg.dtype_of(store.value)
    if not isinstance(location, tg.IndexOp):
        return None
    total = _total(store.value)
    if total is None or total.reduction.ordered is not None:
        return None
    # Totals of narrow floats are rounded once; there is no ATOMICADD of bools.
    kind, is_exact = total.reduction.kind.data, dtype.is_integer or dtype.bits >= 32
    has_loop = engine.may_order if kind is not tg.ReduceKind.ADD else not dtype.is_bool
    if not has_loop or not (is_exact or kind is tg.ReduceKind.MAX):
        return None
    # No loop may carry an accumulator: its order of iterations would change.
    loops = closed_ranges(end)
    if any(axis.axis_type.data is tg.AxisType.REDUCE for axis in loops):
        return None
    # Try each loop whose variable is one of the STORE's indices, and in no other index.
    around = engine.loops.open(total.reduction.source) - set(closed_ranges(total.reduction))
    for axis in _indices(engine, location, loops):
        last = _scattered(engine, end, store, location, total, axis) if axis in around else None
        if last is not None:
            return last
    return None


def _indices(
    engine: Engine, location: tg.IndexOp, loops: Sequence[tg.RangeOp]
) -> Iterator[tg.RangeOp]:
    """The loops whose variable is one index of a location, and in no other index."""
    for axis in loops:
        others = [i for i in location.indices if i is not axis.result]
        if len(others) == len(location.indices) - 1 and not any(
            axis in engine.loops.open(i) for i in others
        ):
            yield axis


def _stored_once(engine: Engine, end: tg.EndOp, store: tg.StoreOp) -> SSAValue | None:
    """Drop a loop of which one iteration changes a cell, the others store what is there.

    Returns the END of the other loops, the STORE if there are none; None if no loop is dropped.
    """
    location, value = store.buffer.owner, store.value
    if not isinstance(location, tg.IndexOp):
        return None
    if store.gate is not None:
        condition = store.gate
    else:
        choice = value.owner
        old = choice.rhs.owner if isinstance(choice, tg.WhereOp) else None
        if not isinstance(old, tg.LoadOp) or old.gate is not None or old.buffer is not store.buffer:
            return None
        assert isinstance(choice, tg.WhereOp)
        condition, value = choice.condition, choice.lhs
    if tg.tensor(condition).get_shape():
        return None
    conditions, loops = list(conjuncts([(condition, True)])), closed_ranges(end)
    for axis in _indices(engine, location, loops):
        constraints = constraints_of(engine, conditions, axis)
        if len(constraints.equal) != 1 or constraints.unknown:
            continue
        if constraints.lows or constraints.highs or axis.axis_type.data is tg.AxisType.REDUCE:
            continue
        others = [loop for loop in loops if loop is not axis]
        if any(axis in engine.loops.open(loop.bound) for loop in others):
            continue
        _, factor, rest = constraints.equal[0]
        if abs(factor) != 1 or (at := emit_index(engine, rest * -factor, wraps=True)) is None:
            continue
        if (found := computed_at(engine, [store.buffer, value], axis, at)) is None:
            continue
        zero = engine.constant(tg.number_attribute(0, tg.INDEX))
        tests = [
            (engine.apply("tg.cmplt", (at, zero)), False),
            (engine.apply("tg.cmplt", (at, axis.bound)), True),
            *constraints.others,
        ]
        whole = [test if holds else engine.apply("tg.not", (test,)) for test, holds in tests]
        gate = reduce(lambda a, b: engine.apply("tg.and", (a, b)), whole)
        new: Operation = engine.builder.insert(tg.StoreOp(found[0], found[1], gate))
        if others:
            new = engine.builder.insert(tg.EndOp(new.results[0], [r.result for r in others]))
        end.result.replace_all_uses_with(new.results[0])
        for op in (end, store):
            Rewriter.erase_op(op)
        return new.results[0]
    return None


def _total(value: SSAValue) -> _Total | None:
    """A value split into its operands, if exactly one of them is a REDUCE with one use, of the kind
    of the ops that join it with the others."""
    root = value.owner
    kinds = (kind for kind, joins in ALU.items() if isinstance(root, joins))
    kind = root.kind.data if isinstance(root, tg.ReduceOp) else next(kinds, None)
    if kind is None:
        return None
    reductions: list[tg.ReduceOp] = []
    others: list[SSAValue] = []
    stack = [value]
    while stack:
        value = stack.pop()
        op, once = value.owner, value.has_one_use()
        if isinstance(op, ALU[kind]) and once:
            stack += reversed(op.operands)
        elif isinstance(op, tg.ReduceOp) and once and op.kind.data is kind:
            reductions.append(op)
        else:
            others.append(value)
    return _Total(reductions[0], others) if len(reductions) == 1 else None


def _scattered(
    engine: Engine,
    end: tg.EndOp,
    store: tg.StoreOp,
    location: tg.IndexOp,
    total: _Total,
    axis: tg.RangeOp,
) -> SSAValue | None:
    """Store the other operands in each cell, then join each update with its cell.

    `axis` is the loop over cells that the rewrite removes from the updates.
    """
    # The loop must reach every cell that an update may have: it drops updates of other cells.
    shape = tg.shape_of(location.source)
    if not tg.same_dim(shape[list(location.indices).index(axis.result)], axis.bound):
        return None
    # An ATOMICADD out of bounds adds 0 to the first cell, so that there has to be one.
    dynamic = [extent for extent in shape if isinstance(extent, SSAValue)]
    if any(engine.interval(tg.Affine({extent: 1})).lo < 1 for extent in dynamic):
        return None
    # No other bound may depend on `axis`, or on a loop that gets a new RANGE.
    loops = closed_ranges(end)
    others = [loop for loop in loops if loop is not axis]
    inner = closed_ranges(total.reduction)
    if any(engine.loops.open(loop.bound).intersection(loops) for loop in (*others, *inner)):
        return None
    # The mask must fix the cell of an update: its one condition on `axis` is an equation.
    mask = masked(engine, total.reduction)
    constraints = constraints_of(engine, mask.conditions, axis)
    if len(constraints.equal) != 1 or constraints.unknown or constraints.lows or constraints.highs:
        return None
    _, factor, rest = constraints.equal[0]
    if abs(factor) != 1 or axis in engine.loops.open(mask.value):
        return None
    if (at := emit_index(engine, rest * -factor, wraps=True)) is None:
        return None
    index = [at if i is axis.result else i for i in location.indices]
    values = [mask.value, *index, *(condition for condition, _ in constraints.others)]
    # The other loops run twice, for the STORE and for the additions, so they need new RANGEs.
    copies: list[SSAValue] = []
    for loop in others:
        number = next(engine.builder.free_axes)
        copies.append(engine.builder.put(tg.RangeOp(number, loop.axis_type.data, loop.bound)))
        copied = computed_at(engine, values, loop, copies[-1])
        if copied is None:
            return None
        values = copied
    # An update adds the value where the other conditions hold, and otherwise 0.
    value, index, tests = values[0], values[1 : 1 + len(index)], values[1 + len(index) :]
    conditions = [(test, holds) for test, (_, holds) in zip(tests, constraints.others, strict=True)]
    value = where_all(engine, total.reduction, conditions, value)
    # Build the loops that store, and after them the loops over the updates.
    base = tg.StoreOp(store.buffer, _first(engine, total))
    first = tg.EndOp(base, end.ranges)
    kind, updates = total.reduction.kind.data, [loop.result for loop in reversed(inner)]
    is_sum = kind is tg.ReduceKind.ADD
    after = tg.AfterOp(location.source, [first.result, *(() if is_sum else updates)])
    cell = tg.IndexOp(after, index)
    for op in (base, first, after, cell):
        engine.builder.insert(op)
    if is_sum:
        joined = engine.builder.insert(tg.AtomicAddOp(cell, value))
    else:
        old = engine.builder.put(tg.LoadOp(cell.result))
        joined = engine.builder.insert(
            tg.StoreOp(cell.result, engine.apply(ALU[kind].name, (old, value)))
        )
    last = engine.builder.insert(tg.EndOp(joined.results[0], [*copies, *updates]))
    end.result.replace_all_uses_with(last.result)
    for op in (end, store):
        Rewriter.erase_op(op)
    return last.result


def _first(engine: Engine, total: _Total) -> SSAValue:
    """The initial value of each cell, before the updates."""
    kind, element = total.reduction.kind.data, tg.tensor(total.reduction.result).element_type
    if not total.others:
        neutral = tg.identity(kind, tg.DTYPES[element])
        return engine.constant(tg.number_attribute(neutral, element))
    joined = reduce(lambda a, b: engine.apply(ALU[kind].name, (a, b)), total.others)
    # An empty sum is +0, so a summand -0 becomes +0 also without updates.
    return summed(engine, joined) if kind is tg.ReduceKind.ADD else joined
