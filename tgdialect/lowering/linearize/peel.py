"""Loop peeling: the first and the last iterations of a loop are apart if only they need masks.

    for i in 0 .. 5:  x[i * 8 + [0 .. 8]] gate i * 8 + [0 .. 8] < 34
    ->
    for i in 0 .. 4:  x[i * 8 + [0 .. 8]]
    x[32 + [0 .. 8]] gate 32 + [0 .. 8] < 34

A row whose length is no multiple of the vectors has a mask in its last iteration alone, and a value
that is padded at the border of a stencil in the first ones or the last ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tgdialect.analysis.conditions import conjuncts
from tgdialect.analysis.index_sets import BORDER
from tgdialect.analysis.min_max import MinMax
from tgdialect.analysis.zeros import is_positive_zero
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg
from tgdialect.ops.numbering import next_axis

MOST_OPS = 256
"""The most ops that peeling a loop may add. Larger: more code to compile; smaller: more iterations
with masks. A stencil in two dimensions, with 9 copies of an iteration, takes 0.08 s more to compile
and a quarter of the time to run; with half of it a pool of 3x3 takes 1.5 times as long. With 1024 a
stencil in three dimensions takes a fifth less, but convolutions compile for 0.3 s more and gain
nothing."""

LEAST_ITERATIONS = 2
"""The iterations that a peeled loop has to keep. With fewer, most of it would be masked still. Not
measured."""


class _Peel(NamedTuple):
    """How many iterations are before a loop, and after it."""

    first: int
    last: int


_PEELS = [_Peel(*peel) for n in range(1, BORDER + 1) for peel in ((0, n), (n, 0), (n, n))]
"""The fewest iterations first."""


def peel_loops(block: Block) -> None:
    """Peel the loops of a LINEAR, the inner ones first."""
    wheres = [op for op in ops_of(block) if isinstance(op, tg.WhereOp)]
    of_loads = [op for op in wheres if isinstance(op.lhs.owner, tg.LoadOp)]
    _drop_masks([op for op in of_loads if not tg.tensor(op.condition).get_shape()])
    for op in reversed(ops_of(block)):
        if isinstance(op, tg.RangeOp) and (peel := _peel(op, body := list(_body(op)))) is not None:
            _apply(op, body, peel)


def _body(loop: tg.RangeOp) -> Iterator[Operation]:
    """The ops of a loop, with the ENDs of the loops in it that do not close it, too."""
    op = loop.next_op
    while op is not None and not (isinstance(op, tg.EndOp) and loop.result in op.ranges):
        yield op
        op = op.next_op


def _peel(loop: tg.RangeOp, body: Sequence[Operation]) -> _Peel | None:
    """The fewest iterations without which most conditions of a loop are decided; None if peeling it
    decides none, or takes too many ops."""
    extent = tg.known_index(loop.bound)
    if extent is None or loop.axis_type.data is tg.AxisType.THREAD:
        return None
    if any(isinstance(op, tg.BufferOp) for op in body):
        return None
    if not (conditions := _undecided(loop, body)):
        return None
    decided = dict.fromkeys(_PEELS, 0)
    for peel in _PEELS:
        left = extent - sum(peel)
        if left >= LEAST_ITERATIONS and sum(peel) * len(body) <= MOST_OPS:
            intervals = MinMax({loop.result: tg.Interval(peel.first, peel.first + left - 1)})
            decided[peel] = sum(intervals[condition].is_constant for condition in conditions)
    best = max(_PEELS, key=decided.__getitem__)
    return best if decided[best] else None


def _undecided(loop: tg.RangeOp, body: Sequence[Operation]) -> Sequence[SSAValue]:
    """The comparisons of the index of a loop that mask vectors in it, except those that are always
    true or false."""
    # Most loops have none: that is seen without intervals.
    computed: set[SSAValue] = {loop.result}
    for op in body:
        if not isinstance(op, tg.LoadOp) and not computed.isdisjoint(op.operands):
            computed.add(op.results[0])
    conditions = [c for c in dict.fromkeys(_conditions(body)) if c in computed]
    intervals = MinMax()
    return [condition for condition in conditions if not intervals[condition].is_constant]


def _conditions(body: Sequence[Operation]) -> Iterator[SSAValue]:
    """The comparisons that mask vectors in a loop: all lanes of them, or some."""
    walk: tg.Walk[SSAValue] = tg.Walk()
    for op in body:
        match op:
            case tg.LoadOp() if op.gate is not None and tg.tensor(op.result).get_shape():
                walk.add([op.gate])
            case tg.StoreOp() if op.gate is not None:
                walk.add([op.gate])
            case tg.WhereOp() if tg.tensor(op.result).get_shape():
                walk.add([op.condition])
            case _:
                pass
    for value in walk:
        if isinstance(value.owner, tg.AndOp):
            walk.add(value.owner.operands)
        elif isinstance(value.owner, tg.CompareOp):
            yield value


def _apply(loop: tg.RangeOp, body: Sequence[Operation], peel: _Peel) -> None:
    """Put iterations of a loop before it and after it."""
    extent = tg.known_index(loop.bound)
    assert extent is not None
    end = _end_of_its_own(loop)
    body = list(_body(loop))
    if (following := end.next_op) is not None:
        for number in range(extent - peel.last, extent):
            _iteration(tg.OpBuilder.before(following), loop, body, number)
    builder = tg.OpBuilder.before(loop)
    for number in range(peel.first):
        _iteration(builder, loop, body, number)
    # The loop itself.
    bound = builder.index_constant(extent - sum(peel))
    start = builder.index_constant(peel.first) if peel.first else None
    new = builder.put(tg.RangeOp(loop.axis.data, loop.axis_type.data, bound))
    end.operands = [end.body, new]
    index = new if start is None else builder.put(tg.AddOp(new, start))
    Rewriter.replace_op(loop, (), [index])
    _drop_masks(body)


def _is_of_gate(op: tg.WhereOp) -> bool:
    """Whether a WHERE is 0 where it masks a LOAD, which is 0 there by its own gate."""
    load = op.lhs.owner
    if not isinstance(load, tg.LoadOp) or load.gate is None or load.alt is None:
        return False
    if op.lhs.type != op.result.type or not all(map(is_positive_zero, (op.rhs, load.alt))):
        return False
    return {*conjuncts([(op.condition, True)])} <= {*conjuncts([(load.gate, True)])}


def _end_of_its_own(loop: tg.RangeOp) -> tg.EndOp:
    """The END of a loop, which is split if it closes others as well."""
    uses = (use for use in loop.result.uses if use.index)
    end = next(op for use in uses if isinstance(op := use.operation, tg.EndOp))
    ranges, builder = list(end.ranges), tg.OpBuilder.before(end)
    at = ranges.index(loop.result)
    body = end.body
    if at:
        body = builder.put(tg.EndOp(body, ranges[:at]))
    if not ranges[at + 1 :]:
        end.operands = [body, loop.result]
        return end
    own = builder.insert(tg.EndOp(body, [loop.result]))
    end.operands = [own.result, *ranges[at + 1 :]]
    return own


def _iteration(
    builder: tg.OpBuilder, loop: tg.RangeOp, body: Sequence[Operation], number: int
) -> None:
    """One iteration of a loop."""
    values: dict[SSAValue, SSAValue] = {loop.result: builder.index_constant(number)}
    axis = next_axis(builder.block.ops)
    ops: list[Operation] = []
    for op in body:
        new = op.clone(values)
        new.location = op.location
        ops.append(new)
        if isinstance(new, tg.RangeOp):
            new.properties["axis"] = tg.NumberAttr(axis)
            axis += 1
        builder.insert(new)
    _drop_masks(ops)


def _drop_masks(body: Sequence[Operation]) -> None:
    """Drop the masks of the ops of a loop that are always true, and the branches of WHEREs that are
    never taken."""
    intervals = MinMax()

    def holds(value: SSAValue | None) -> bool:
        return value is not None and tg.dtype_of(value).is_bool and intervals[value].lo == 1

    for op in body:
        match op:
            case tg.AndOp() if holds(op.lhs) and op.rhs.type == op.result.type:
                Rewriter.replace_op(op, (), [op.rhs])
            case tg.AndOp() if holds(op.rhs) and op.lhs.type == op.result.type:
                Rewriter.replace_op(op, (), [op.lhs])
            case tg.WhereOp() if intervals[op.condition].is_constant:
                chosen = op.lhs if holds(op.condition) else op.rhs
                if chosen.type == op.result.type:
                    Rewriter.replace_op(op, (), [chosen])
            case tg.WhereOp() if _is_of_gate(op):
                Rewriter.replace_op(op, (), [op.lhs])
            case tg.LoadOp() if holds(op.gate):
                Rewriter.replace_op(op, tg.LoadOp(op.buffer))
            case tg.StoreOp() if holds(op.gate):
                Rewriter.replace_op(op, tg.StoreOp(op.buffer, op.value))
            case _:
                pass
    for op in reversed(body):
        if (
            isinstance(op, tg.CompareOp | tg.AndOp)
            and op.parent
            and op.results[0].first_use is None
        ):
            op.parent.erase_op(op)
