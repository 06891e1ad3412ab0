"""The gradient of a SCAN: a SCAN over the same elements in the other order.

Its states are the gradients of the states, and sums of the gradients of the constants, unless these
are summed after the loop (`_factors_of`). A step computes the body again on the state that the
step began with, and differentiates that. The gradient of a `while` of one step is one as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.estimates import cells_of
from tgdialect.analysis.min_max import MinMax
from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg
from tgdialect.ops.source import parameters
from tgdialect.transforms.builder import Builder, is_float, zeros_like

_MOST_STEPS = 1 << 20
"""The most steps of a `while` that has a gradient, which goes through all of them. Larger: loops
without a bound of their own, whose states of all steps need memory."""

_SUMMED = 16
"""The fewest cells that a kept value sums for each of its own. Larger: more is computed again in
the gradient of a step; smaller: more memory, which has each for all steps. A kept cell is stored
and loaded, in the time in which a core adds about as many."""

GradientBody = Callable[[tg.ScanOp, Mapping[int, SSAValue], Sequence[int]], Block]
"""Makes a body that returns the gradients of wanted arguments, from the arguments and from the
gradients of given results, which are like the values of the mapping."""


def scan_gradient(
    builder: Builder,
    op: tg.ScanOp,
    elements: Mapping[int, SSAValue],
    wanted: Sequence[int],
    gradient_body: GradientBody,
) -> Mapping[int, SSAValue]:
    """The gradients of the arguments `wanted` of a SCAN, by slot.

    `elements` are the gradients of its results, by position.
    """
    is_choice = op.is_while is not None and op.steps is not None and op.steps.data == 1
    forward = op if is_choice else _with_states(op)
    states, sequences = op.states.data, op.sequences.data
    floats = [slot for slot in range(states) if is_float(op.arguments[slot])]
    stacked = sorted(position for position in elements if position >= states)
    inputs = [slot for slot in wanted if op.is_sequence(slot)]
    constants = [slot for slot in wanted if slot >= states + sequences]
    # The body takes its arguments, then the gradients of its results.
    given = {i: forward.results_of_body[i] for i in (*floats, *stacked)}
    body = gradient_body(forward, given, [*floats, *constants, *inputs])
    count = len(op.arguments)
    # Gradients of constants that are summed after the loop, from factors of all steps.
    known = dict[SSAValue, SSAValue]()
    if is_choice:
        begun = [builder.reshaped(v, (1, *tg.shape_of(v))) for v in op.arguments[:states]]
    else:
        kept = _kept(forward, body)
        forward = _inserted(builder, op, forward, [*kept.values()])
        rows = _states_of_steps(forward)
        begun = [builder.put(tg.GetTupleOp(forward, rows[slot])) for slot in range(states)]
        first = len(forward.results_of_body) - len(kept)
        for i, value in enumerate(kept):
            param = tg.ParamOp(count + len(given) + i, tg.tensor(value))
            tg.OpBuilder(InsertPoint.at_start(body)).insert(param)
            value.replace_all_uses_with(param.result)
            known[param.result] = builder.put(tg.GetTupleOp(forward, first + i))
    stacks = [*known.values()]
    sequence = [*begun, *op.arguments[states : states + sequences]]
    last = body.last_op
    assert isinstance(last, tg.TupleOp)
    values = dict(zip([*floats, *constants, *inputs], last.values, strict=True))
    outside: dict[SSAValue, SSAValue] = {}
    for param in body.ops:
        if isinstance(param, tg.ParamOp) and (slot := param.slot.data) < count:
            argument = op.arguments[slot]
            if argument.type == tg.tensor_type(tg.INDEX):
                outside[param.result] = argument
            elif slot >= states + sequences:
                whole = builder.reshaped(argument, (1, *tg.shape_of(argument)))
                known[param.result] = whole
            else:
                known[param.result] = sequence[slot]
    of_inputs = {values[slot] for slot in inputs}
    later, factors = set[int](), dict[SSAValue, None]()
    cells = {slot: cells_of(op.arguments[slot], MinMax()) for slot in constants}
    for slot in () if is_choice else sorted(constants, key=lambda s: -cells[s]):
        kept = known.keys() | of_inputs
        if (found := _factors_of(values[slot], kept | factors.keys())) is not None:
            later.add(slot)
            factors |= dict.fromkeys(f for f in found if f not in kept)
    sums = {
        slot: count + len(given) + len(stacks) + i
        for i, slot in enumerate(s for s in constants if s not in later)
    }
    results = [values[slot] for slot in (*floats, *sums, *inputs)]
    seed = {position: count + i for i, position in enumerate(given)}
    flag = count + len(given) + len(stacks) + len(sums)
    _add_to_sums(body, op, len(floats), sums, [*results, *factors], flag if is_choice else None)
    # Its parameters as states, sequences and constants.
    order = [
        *([flag] if is_choice else ()),
        *(seed[slot] for slot in floats),
        *sums.values(),
        *range(states + sequences),
        *(seed[position] for position in stacked),
        *range(count + len(given), count + len(given) + len(stacks)),
        *range(states + sequences, count),
    ]
    slots = {old: new for new, old in enumerate(order)}
    for param in body.ops:
        if isinstance(param, tg.ParamOp):
            param.properties["slot"] = tg.NumberAttr(slots[param.slot.data])
    arguments = [
        *(op.arguments[:1] if is_choice else ()),
        *(elements.get(slot) or zeros_like(builder, op.arguments[slot]) for slot in floats),
        *(zeros_like(builder, op.arguments[slot]) for slot in sums),
        *sequence,
        *(elements[position] for position in stacked),
        *stacks,
        *op.arguments[states + sequences :],
    ]
    scan = tg.ScanOp(
        arguments,
        Region(body),
        states=is_choice + len(floats) + len(sums),
        sequences=states + sequences + len(stacked) + len(stacks),
        steps=None if op.steps is None else op.steps.data,
        steps_at=_steps_at(op, slots),
        reverse=op.reverse is None and not is_choice,
        is_while=is_choice,
    )
    result = builder.put(scan)
    parts = {
        s: builder.put(tg.GetTupleOp(result, i))
        for i, s in enumerate((*floats, *sums, *inputs), is_choice)
    }
    known |= {values[slot]: parts[slot] for slot in inputs}
    for i, factor in enumerate(factors, len(parts)):
        known[factor] = builder.put(tg.GetTupleOp(result, i))
    parts |= {slot: _sum_over_steps(builder, values[slot], known, outside) for slot in later}
    return {slot: part for slot, part in parts.items() if slot in wanted}


def _add_to_sums(
    body: Block,
    op: tg.ScanOp,
    before: int,
    sums: Mapping[int, int],
    values: list[SSAValue],
    flag: int | None,
) -> None:
    """Let a body return some values, of which those after the first ones are added to the sums so
    far, which are parameters. With a parameter `flag` it returns false before them."""
    inside = Builder(body, at=op)
    last = body.last_op
    assert last is not None
    last.detach()
    params = parameters(body)
    sizes = [p.result for p in params if p.result.type == tg.tensor_type(tg.INDEX)]
    values = [inside.with_extents(value, sizes) for value in values]
    for position, (slot, parameter) in enumerate(sums.items(), before):
        type = tg.tensor(params[slot].result)
        where = tg.tensor_type(type.element_type, type.get_shape())
        known = inside.put(tg.ParamOp(parameter, where, params[slot].dims))
        values[position] = inside.sum(known, values[position])
    if flag is not None:
        inside.put(tg.ParamOp(flag, tg.tensor_type(tg.BOOL)))
        values.insert(0, inside.put(tg.ConstOp(False, tg.BOOL)))
    inside.put(tg.TupleOp(values))
    last.erase()


def _steps_at(op: tg.ScanOp, slots: Mapping[int, int] | None = None) -> int | None:
    """The argument that is the number of steps, with new slots for the arguments."""
    if op.steps_at is None:
        return None
    return op.steps_at.data if slots is None else slots[op.steps_at.data]


def _states_of_steps(op: tg.ScanOp) -> Mapping[int, int]:
    """The positions of the stacked results that are the states which each step begins with."""
    count = op.states.data
    found: dict[int, int] = {}
    for position, value in enumerate(op.results_of_body[count:], count):
        slot = op.slot_of_parameter(value)
        if slot is not None and slot < count:
            found.setdefault(slot, position)
    return found


def _with_states(op: tg.ScanOp) -> tg.ScanOp:
    """The SCAN, or one like it that also stacks the states which each step begins with.

    A SCAN with `while` becomes one of all steps, of which those that are not taken leave the states
    as they are.
    """
    count, known = op.states.data, _states_of_steps(op)
    missing = [slot for slot in range(count) if slot not in known]
    if not missing and op.is_while is None:
        return op
    if op.is_while is not None and op.steps is not None and op.steps.data > _MOST_STEPS:
        message = "the gradient goes through all steps that may be taken: give `max_steps`"
        raise locate(PassFailedException(message), op)
    region = op.body.clone()
    last = region.block.last_op
    assert isinstance(last, tg.TupleOp)
    params = [p.result for p in parameters(region.block)[:count]]
    inside = tg.OpBuilder.before(last)
    results = list(last.values)
    if op.is_while is not None:
        for position, new in enumerate(results):
            old = params[position] if position < count else _zero(inside, new)
            results[position] = inside.put(tg.WhereOp(params[0], new, old))
    return _returning(op, region, [*results, *(params[slot] for slot in missing)])


def _returning(op: tg.ScanOp, region: Region, results: Sequence[SSAValue]) -> tg.ScanOp:
    """A SCAN like another one, over all of its steps, with another body that gives some results."""
    last = region.block.last_op
    assert last is not None
    tg.OpBuilder.before(last).insert(tg.TupleOp(results))
    region.block.erase_op(last)
    scan = tg.ScanOp(
        op.arguments,
        region,
        states=op.states.data,
        sequences=op.sequences.data,
        steps=None if op.steps is None else op.steps.data,
        steps_at=_steps_at(op),
        reverse=op.reverse is not None,
    )
    scan.location = op.location
    return scan


def _inserted(
    builder: Builder, op: tg.ScanOp, forward: tg.ScanOp, kept: Sequence[SSAValue]
) -> tg.ScanOp:
    """The SCAN that has the states of all steps, and then values of its body: `op` itself, or a new
    one."""
    if kept:
        region = forward.body.clone()
        both = zip(ops_of(forward.body.block), ops_of(region.block), strict=True)
        inner: dict[SSAValue, SSAValue] = {old.results[0]: new.results[0] for old, new in both}
        results = [inner[value] for value in (*forward.results_of_body, *kept)]
        scan = _returning(op, region, results)
        if forward is not op:
            forward.erase()
        forward = scan
    return forward if forward is op else builder.insert(forward)


def _kept(forward: tg.ScanOp, body: Block) -> Mapping[SSAValue, SSAValue]:
    """The values of a step that the body of the gradient, which computes the step first, needs, and
    that are stacked instead: sums of many cells. For each, the value of the forward body."""
    count = forward.states.data + forward.sequences.data
    varying = set[SSAValue]()
    found: dict[SSAValue, SSAValue] = {}
    intervals = MinMax()
    for op, copy in zip(ops_of(forward.body.block)[:-1], ops_of(body), strict=False):
        if isinstance(op, tg.ParamOp):
            if op.slot.data < count:
                varying.add(op.result)
        elif any(operand in varying for operand in op.operands):
            varying.add(op.results[0])
            if (
                isinstance(op, tg.ReduceOp)
                and DYNAMIC_INDEX not in tg.tensor(op.source).get_shape()
                and cells_of(op.source, intervals) >= _SUMMED * cells_of(op.result, intervals)
            ):
                found[copy.results[0]] = op.result
    last = body.last_op
    assert last is not None
    walk = tg.Walk(last.operands)
    for value in walk:
        if value not in found:
            walk.add(tg.operands_of(value))
    return {value: inner for value, inner in found.items() if value in walk.seen}


def _zero(builder: tg.OpBuilder, like: SSAValue) -> SSAValue:
    return builder.put(tg.ConstOp(0, tg.tensor(like).element_type))


# -- sums over the steps -------------------------------------------------------------------------
#
# The gradient of a weight is a product of what a layer was given and of its result's gradient,
# summed over a batch. Its two factors are much smaller, so that they are kept for all steps, and
# one product after the loop goes over steps and batch.


def _factors_of(value: SSAValue, known: Set[SSAValue]) -> list[SSAValue] | None:
    """The values of a step that its part of a sum is computed from, by movements, one product and a
    sum. None if it is computed in another way, or if those that are not `known` for all steps have
    more elements than the sum."""
    factors: dict[SSAValue, None] = {}
    stack = [(value, False, False)]
    while stack:
        value_, is_summed, is_multiplied = stack.pop()
        match value_.owner:
            case tg.ReduceOp() as op if not is_summed and _adds(op):
                stack.append((op.source, True, is_multiplied))
            case tg.AddOp(operands=(a, b)) if not is_summed and a.type == b.type:
                stack += [(a, False, False), (b, False, False)]
            case tg.MulOp(operands=(a, b)) if is_summed and not is_multiplied:
                stack += [(a, True, True), (b, True, True)]
            case tg.CastOp() as op if (
                tg.dtype_of(op.source).is_float and tg.dtype_of(op.result).is_float
            ):
                stack.append((op.source, is_summed, is_multiplied))
            case tg.ReshapeOp() | tg.PermuteOp() | tg.ExpandOp() | tg.ShrinkOp() as op if (
                not isinstance(op, tg.ShrinkOp) or len(op.operands) == 1
            ):
                stack.append((op.source, is_summed, is_multiplied))
            case _ if is_summed:
                factors[value_] = None
            case _:
                return None
    intervals = MinMax()
    new = sum(cells_of(factor, intervals) for factor in factors if factor not in known)
    return list(factors) if new <= cells_of(value, intervals) else None


def _adds(op: tg.ReduceOp) -> bool:
    return op.kind.data is tg.ReduceKind.ADD and op.ordered is None and not op.ranges


def _sum_over_steps(
    builder: Builder,
    value: SSAValue,
    of_steps: Mapping[SSAValue, SSAValue],
    sizes: Mapping[SSAValue, SSAValue],
) -> SSAValue:
    """The sum of a value over the steps, given its factors with an axis of steps before the others:
    of one cell for what is the same in all steps. `sizes` are the sizes of a step outside of it."""
    inner_sizes = dict(sizes)

    def shape_of(inner: SSAValue) -> list[int | SSAValue]:
        dims = [dim for dim in tg.shape_of(inner) if not isinstance(dim, tg.UnknownDim)]
        return [d if isinstance(d, int) else builder.clone(d, inner_sizes) for d in dims]

    def again(inner: SSAValue) -> SSAValue:
        op = inner.owner
        sources = [found[source] for source in data_of(inner)]
        lead = builder.known(tg.shape_of(sources[0]))[0]
        match op:
            case tg.ReduceOp():
                axes = [0, *(axis + 1 for axis in tg.integers(op, "axes"))]
                new = tg.ReduceOp(op.kind.data, sources[0], axes)
            case tg.AddOp():
                new = tg.AddOp(*sources)
            case tg.MulOp():
                rank = max(len(tg.shape_of(source)) for source in sources)
                new = tg.MulOp(*(_with_rank(builder, source, rank) for source in sources))
            case tg.CastOp():
                new = tg.CastOp(sources[0], tg.tensor(inner).element_type)
            case tg.PermuteOp():
                new = tg.PermuteOp(
                    sources[0], [0, *(axis + 1 for axis in tg.integers(op, "order"))]
                )
            case tg.ShrinkOp():
                offsets = tg.integers(op, "offsets")
                new = tg.ShrinkOp(sources[0], [0, *offsets], [lead, *shape_of(inner)])
            case _:
                kind = tg.ReshapeOp if isinstance(op, tg.ReshapeOp) else tg.ExpandOp
                new = kind(sources[0], (lead, *shape_of(inner)))
        return builder.put(new)

    def data_of(value: SSAValue) -> Sequence[SSAValue]:
        """The operands that are no sizes."""
        op = value.owner
        return op.operands[:1] if isinstance(op, tg.MovementOp) else tg.operands_of(value)

    found = dict(of_steps)
    total = tg.computed(value, found, data_of, again)
    return builder.put(tg.ReshapeOp(total, shape_of(value)))


def _with_rank(builder: Builder, value: SSAValue, rank: int) -> SSAValue:
    """A value with axes of one cell after the first, for a rank in all."""
    first, *rest = builder.known(tg.shape_of(value))
    missing = rank - 1 - len(rest)
    return builder.put(tg.ReshapeOp(value, (first, *[1] * missing, *rest))) if missing else value
