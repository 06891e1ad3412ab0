"""Loop peeling: the first and the last iterations of a loop are apart if only they need masks.

    for i in 0 .. 5:  x[i * 8 + [0 .. 8]] gate i * 8 + [0 .. 8] < 34
    ->
    for i in 0 .. 4:  x[i * 8 + [0 .. 8]]
    x[32 + [0 .. 8]] gate 32 + [0 .. 8] < 34

A row whose length is no multiple of the vectors has a mask in its last iteration alone, and a value
that is padded at the border of a stencil in the first ones or the last ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence, Set
from typing import Any, NamedTuple

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tgdialect.analysis.affine.bounds import interval, minimum
from tgdialect.analysis.affine.lanes import lane_indices, scalar_of
from tgdialect.analysis.conditions import conjuncts
from tgdialect.analysis.index_sets import BORDER
from tgdialect.analysis.min_max import MinMax
from tgdialect.analysis.zeros import is_positive_zero
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.recomputation import emit_sum
from tgdialect.ops import tg
from tgdialect.ops.affine import monomials
from tgdialect.ops.axis_types import PARALLEL, WORKGROUP
from tgdialect.ops.numbering import next_axis, next_slot

MOST_OPS = 256
"""The most ops that peeling a loop may add. Larger: more code to compile; smaller: more iterations
with masks. A stencil in two dimensions, with 9 copies of an iteration, takes 0.08 s more to compile
and a quarter of the time to run; with half of it a pool of 3x3 takes 1.5 times as long. With 1024 a
stencil in three dimensions takes a fifth less, but convolutions compile for 0.3 s more and gain
nothing."""

MOST_SPLIT = 512
"""The most ops of a loop of dynamic extent that is split, all of which has masks otherwise. Larger:
more code to compile; smaller: more loops with masks. The first call of a text detector (rapidocr's)
takes 7.2 s with none, 7.7 with 128 and 8.7 with this, later ones 40.0, 39.8 and 39.0 ms; of a text
classifier 5.5, 5.8 and 6.3 s, 0.7, 0.7 and 0.6 ms (docs/notes/heuristic.md has the processor)."""

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
        if not isinstance(op, tg.RangeOp):
            continue
        body = list(_body(op))
        if tg.known_index(op.bound) is None:
            _split(op, body)
        elif (peel := _peel(op, body)) is not None:
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
    builder: tg.OpBuilder, loop: tg.RangeOp, body: Sequence[Operation], number: int | SSAValue
) -> dict[SSAValue, SSAValue]:
    """One iteration of a loop. Returns the values that stand for those of the loop."""
    index = builder.index_constant(number) if isinstance(number, int) else number
    values = {loop.result: index, **_own_buffers(builder, loop, body)}
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
    return values


def _own_buffers(
    builder: tg.OpBuilder, loop: tg.RangeOp, body: Sequence[Operation]
) -> dict[SSAValue, SSAValue]:
    """BUFFERs for a copy of a parallel loop, and their views, by those that only the loop uses.

    Each iteration of a parallel loop has a copy of a REG or LOCAL buffer if all uses are in the
    loop. With uses in two loops one buffer would connect the iterations of each.
    """
    kind = loop.axis_type.data
    if kind not in PARALLEL:
        return {}
    shared = {tg.AddrSpace.LOCAL} if kind in WORKGROUP else set[tg.AddrSpace]()
    inside = {*body}
    copies: dict[SSAValue, SSAValue] = {}
    for buffer in ops_of(builder.block):
        if not isinstance(buffer, tg.BufferOp) or tg.place(buffer.result).addrspace in shared:
            continue
        views: tg.Walk[Operation] = tg.Walk([buffer])
        used: list[Operation] = []
        for view in views:
            for user in tg.users_of(view):
                is_view = user not in inside and tg.is_memory(user.results[0])
                views.add([user]) if is_view else used.append(user)
        if not used or not inside.issuperset(used):
            continue
        slot = next_slot(builder.block.ops)
        for view in views.seen:
            new = tg.OpBuilder.after(view).insert(view.clone(copies))
            if isinstance(new, tg.BufferOp):
                new.properties["slot"] = tg.NumberAttr.of(slot)
    return copies


# -- loops of dynamic extent -----------------------------------------------------------------------


class _Start(NamedTuple):
    """A value that grows with the index of a loop: the index, or the lesser of `offset + step *
    index` and of `last`, where the last tile of a row begins in the one before. The offset is that
    of the chunk of a thread."""

    value: SSAValue
    step: int
    offset: tg.Polynomial
    last: SSAValue | None


class _Bounds(NamedTuple):
    """The values of a start for which a condition holds: either from `least` or up to `greatest`,
    both divided by `divisor` and rounded down."""

    start: _Start
    least: tg.Polynomial | None
    greatest: tg.Polynomial | None
    divisor: int

    @property
    def key(self) -> Any:
        """Equal for those that differ in a constant alone."""
        bound = self.greatest if self.least is None else self.least
        assert bound is not None
        return self.start.value, self.divisor, self.least is None, frozenset(bound.terms.items())

    @property
    def constant(self) -> int:
        """Greater for those that hold less often, of those with equal keys."""
        if self.least is not None:
            return self.least.constant
        assert self.greatest is not None
        return -self.greatest.constant


def _split(loop: tg.RangeOp, body: Sequence[Operation]) -> None:
    """Split a loop of dynamic extent into three: iterations in which all conditions that are linear
    in its index hold, without these masks, and those before and after them.

        for i in 0 .. (n + 7) / 8:  x[i * 8 + [0 .. 8]] gate i * 8 + [0 .. 8] < n
        ->
        for i in 0 .. n / 8:  x[i * 8 + [0 .. 8]]
        for i in n / 8 .. (n + 7) / 8:  x[i * 8 + [0 .. 8]] gate i * 8 + [0 .. 8] < n
    """
    if loop.axis_type.data is tg.AxisType.THREAD or len(body) > MOST_SPLIT:
        return
    if any(isinstance(op, tg.BufferOp) for op in body):
        return
    inside = {result for op in body for result in op.results}
    conditions, intervals = _undecided(loop, body), MinMax()
    bounds = ((c, _bounds(c, loop, inside, intervals)) for c in conditions)
    found = {c: b for c, b in bounds if b is not None}
    if not found:
        return
    before = tg.OpBuilder.before(loop)
    zero = before.index_constant(0)
    tightest: dict[Any, _Bounds] = {}
    for each in found.values():
        if each.key not in tightest or tightest[each.key].constant < each.constant:
            tightest[each.key] = each
    starts = [_first(before, loop, b) for b in tightest.values() if b.least is not None]
    ends = [_end(before, loop, b) for b in tightest.values() if b.greatest is not None]
    end = loop.bound
    for each in ends:
        end = _less(before, each, end)
    start = zero
    for each in starts:
        start = before.put(tg.MaxOp(start, each))
    if starts:
        start = _less(before, start, loop.bound)
    # After the loop: the iterations from its end on.
    closing = _end_of_its_own(loop)
    body = list(_body(loop))
    kind, axis = loop.axis_type.data, loop.axis.data
    if ends:
        end = before.put(tg.MaxOp(end, start))
        rest = before.put(tg.SubOp(loop.bound, end))
        following = closing.next_op
        assert following is not None
        _copy_of_loop(tg.OpBuilder.before(following), loop, body, closing, rest, end)
    if starts:
        _copy_of_loop(before, loop, body, closing, start, None)
    builder = tg.OpBuilder.before(loop)
    count = builder.put(tg.SubOp(end, start)) if starts else end
    new = builder.put(tg.RangeOp(axis, kind, count))
    closing.operands = [closing.body, new]
    index = builder.put(tg.AddOp(new, start)) if starts else new
    Rewriter.replace_op(loop, (), [index])
    _drop_masks(body, found.keys())


def _copy_of_loop(
    builder: tg.OpBuilder,
    loop: tg.RangeOp,
    body: Sequence[Operation],
    end: tg.EndOp,
    count: SSAValue,
    start: SSAValue | None,
) -> None:
    """A copy of a loop, over so many iterations from `start` on."""
    axis = next_axis(builder.block.ops)
    copy = builder.put(tg.RangeOp(axis, loop.axis_type.data, count))
    index = copy if start is None else builder.put(tg.AddOp(copy, start))
    values = _iteration(builder, loop, body, index)
    builder.insert(tg.EndOp(values.get(end.body, end.body), [copy]))


def _first(builder: tg.OpBuilder, loop: tg.RangeOp, bounds: _Bounds) -> SSAValue:
    """The first iteration in which a condition holds, before a loop; its bound if there is none."""
    start, put = bounds.start, builder.put
    assert bounds.least is not None
    if start.last is None and bounds.divisor == 1:
        return _quotient(builder, bounds.least + (start.step - 1), start.step)
    least = _quotient(builder, bounds.least, bounds.divisor)
    first = _quotient(builder, tg.polynomial(least) - start.offset + (start.step - 1), start.step)
    if start.last is None:
        return first
    return put(tg.WhereOp(put(tg.CmpLtOp(start.last, least)), loop.bound, first))


def _end(builder: tg.OpBuilder, loop: tg.RangeOp, bounds: _Bounds) -> SSAValue:
    """The iteration from which on a condition does not hold, before a loop."""
    start, put = bounds.start, builder.put
    assert bounds.greatest is not None
    if start.last is None and bounds.divisor == 1:
        return _quotient(builder, bounds.greatest + start.step, start.step)
    greatest = _quotient(builder, bounds.greatest, bounds.divisor)
    end = _quotient(builder, tg.polynomial(greatest) - start.offset + start.step, start.step)
    if start.last is None:
        return end
    return put(tg.WhereOp(put(tg.CmpLtOp(greatest, start.last)), end, loop.bound))


def _quotient(builder: tg.OpBuilder, of: tg.Polynomial, divisor: int) -> SSAValue:
    """A polynomial divided by a number, rounded down, before a loop."""
    value = emit_sum(builder, of)
    if divisor == 1 or not of.terms:
        return value if divisor == 1 else builder.index_constant(of.constant // divisor)
    return builder.put(tg.IDivOp(value, builder.index_constant(divisor)))


def _less(builder: tg.OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    return builder.put(tg.WhereOp(builder.put(tg.CmpLtOp(a, b)), a, b))


def _bounds(
    condition: SSAValue, loop: tg.RangeOp, inside: Set[SSAValue], intervals: MinMax
) -> _Bounds | None:
    """The iterations in which a comparison holds for all lanes; None unless it compares sums that
    are linear in the index, with values from outside of the loop."""
    op = condition.owner
    match op:
        case tg.CmpLtOp():
            less, greater, strict = op.lhs, op.rhs, 1
        case tg.CmpLeOp():
            less, greater, strict = op.lhs, op.rhs, 0
        case tg.CmpGtOp():
            less, greater, strict = op.rhs, op.lhs, 1
        case tg.CmpGeOp():
            less, greater, strict = op.rhs, op.lhs, 0
        case _:
            return None
    low, high = _lanes(greater, intervals), _lanes(less, intervals)
    if low is None or high is None:
        return None
    margin = low.shared + low.least - high.shared - high.greatest - strict
    terms = dict(monomials(margin))
    moving = {atom for product in terms for atom in product if atom in {*inside, loop.result}}
    if len(moving) != 1 or (start := _start(value := moving.pop(), loop, inside)) is None:
        return None
    slope = terms.pop((value,), 0)
    if not slope or any(value in product for product in terms):
        return None
    rest = margin - tg.Affine({(value,): slope})
    if slope < 0:
        return _Bounds(start, None, rest, -slope)
    return _Bounds(start, -rest + (slope - 1), None, slope)


def _start(value: Any, loop: tg.RangeOp, inside: Set[SSAValue]) -> _Start | None:
    """A value of a loop as a start; None if it is none."""
    if value is loop.result:
        return _Start(value, 1, tg.Affine(), None)
    if (pair := minimum(value)) is None or pair[1] in inside or pair[1] is loop.result:
        return None
    of = tg.polynomial(pair[0])
    step = of.terms.get((loop.result,), 0)
    if step <= 0:
        return None
    offset = of - tg.Affine({(loop.result,): step})
    moving = {*inside, loop.result}
    if any(atom in moving for product in offset.terms for atom in product):
        return None
    return _Start(value, step, offset, pair[1])


class _Lanes(NamedTuple):
    """A sum that all lanes of a vector share, and the bounds of what is added in each."""

    shared: tg.Polynomial
    least: int
    greatest: int


def _lanes(value: SSAValue, intervals: MinMax) -> _Lanes | None:
    """The lanes of a vector of integers, or a scalar that all share; None if they are no such sum,
    or if a CAST may wrap them."""
    dtypes = [tg.dtype_of(value)]
    while True:
        if isinstance(cast := value.owner, tg.CastOp):
            value = cast.source
            dtypes.append(tg.dtype_of(value))
        elif (scalar := scalar_of(value)) is not None and scalar is not value:
            value = scalar
        else:
            break
    if not all(dtype.is_integer for dtype in dtypes):
        return None
    if scalar is not None:
        found = _Lanes(tg.polynomial(scalar), 0, 0)
    elif (lanes := lane_indices(value)) is not None:
        shared: tg.Polynomial = tg.Affine()
        for atom, coefficient in lanes.scalars.terms.items():
            shared += tg.polynomial(atom) * coefficient
        found = _Lanes(shared, min(lanes.numbers), max(lanes.numbers))
    else:
        return None
    if len(dtypes) > 1:
        around = interval(found.shared, intervals)
        low, high = max(dtype.low for dtype in dtypes), min(dtype.high for dtype in dtypes)
        if around.lo + found.least < low or around.hi + found.greatest > high:
            return None
    return found


def _drop_masks(body: Sequence[Operation], true: Collection[SSAValue] = ()) -> None:
    """Drop the masks of the ops of a loop that are always true, and the branches of WHEREs that are
    never taken. Those in `true` are true."""
    intervals = MinMax({value: tg.Interval(1, 1) for value in true})

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
