"""The gradient of a SCAN: a SCAN over the same elements in the other order.

Its states are the gradients of the states, and sums of the gradients of the constants, unless these
are summed after the loop (`_factors_of`). A step computes the body again on the state that the
step began with, and differentiates that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set

from xdsl.ir import Block, Region, SSAValue

from tgdialect.ops import tg
from tgdialect.ops.source import parameters
from tgdialect.transforms.gradient.builder import Builder, is_float, zeros_like

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
    forward = _with_states(builder, op)
    states, sequences = op.states.data, op.sequences.data
    floats = [slot for slot in range(states) if is_float(op.arguments[slot])]
    stacked = sorted(position for position in elements if position >= states)
    inputs = [slot for slot in wanted if op.is_sequence(slot)]
    constants = [slot for slot in wanted if slot >= states + sequences]
    # The body takes its arguments, then the gradients of its results.
    given = {i: forward.results_of_body[i] for i in (*floats, *stacked)}
    body = gradient_body(forward, given, [*floats, *constants, *inputs])
    count = len(op.arguments)
    begun = _states_of_steps(forward)
    sequence = [
        *(builder.put(tg.GetTupleOp(forward, begun[slot])) for slot in range(states)),
        *op.arguments[states : states + sequences],
    ]
    last = body.last_op
    assert isinstance(last, tg.TupleOp)
    values = dict(zip([*floats, *constants, *inputs], last.values, strict=True))
    # Gradients of constants that are summed after the loop, from factors of all steps.
    known = dict[SSAValue, SSAValue]()
    for param in body.ops:
        if isinstance(param, tg.ParamOp) and (slot := param.slot.data) < count:
            whole = (1, *tg.tensor(param.result).get_shape())
            is_constant = slot >= states + sequences
            if is_constant:
                known[param.result] = builder.put(tg.ReshapeOp(op.arguments[slot], whole))
            else:
                known[param.result] = sequence[slot]
    of_inputs = {values[slot] for slot in inputs}
    later, factors = set[int](), dict[SSAValue, None]()
    for slot in sorted(constants, key=lambda s: -math.prod(tg.tensor(op.arguments[s]).get_shape())):
        kept = known.keys() | of_inputs
        if (found := _factors_of(values[slot], kept | factors.keys())) is not None:
            later.add(slot)
            factors |= dict.fromkeys(f for f in found if f not in kept)
    sums = {
        slot: count + len(given) + i
        for i, slot in enumerate(s for s in constants if s not in later)
    }
    results = [values[slot] for slot in (*floats, *sums, *inputs)]
    seed = {position: count + i for i, position in enumerate(given)}
    _add_to_sums(body, op, len(floats), sums, [*results, *factors])
    # Its parameters as states, sequences and constants.
    order = [
        *(seed[slot] for slot in floats),
        *sums.values(),
        *range(states + sequences),
        *(seed[position] for position in stacked),
        *range(states + sequences, count),
    ]
    slots = {old: new for new, old in enumerate(order)}
    for param in body.ops:
        if isinstance(param, tg.ParamOp):
            param.properties["slot"] = tg.NumberAttr(slots[param.slot.data])
    arguments = [
        *(elements.get(slot) or zeros_like(builder, op.arguments[slot]) for slot in floats),
        *(zeros_like(builder, op.arguments[slot]) for slot in sums),
        *sequence,
        *(elements[position] for position in stacked),
        *op.arguments[states + sequences :],
    ]
    scan = tg.ScanOp(
        arguments,
        Region(body),
        states=len(floats) + len(sums),
        sequences=states + sequences + len(stacked),
        steps=op.steps.data,
        reverse=op.reverse is None,
    )
    result = builder.put(scan)
    parts = {
        s: builder.put(tg.GetTupleOp(result, i)) for i, s in enumerate((*floats, *sums, *inputs))
    }
    known |= {values[slot]: parts[slot] for slot in inputs}
    for i, factor in enumerate(factors, len(parts)):
        known[factor] = builder.put(tg.GetTupleOp(result, i))
    parts |= {slot: _sum_over_steps(builder, values[slot], known) for slot in later}
    return {slot: part for slot, part in parts.items() if slot in wanted}


def _add_to_sums(
    body: Block, op: tg.ScanOp, before: int, sums: Mapping[int, int], values: list[SSAValue]
) -> None:
    """Let a body return some values, of which those after the first ones are added to the sums so
    far, which are parameters."""
    inside = Builder(body, at=op)
    last = body.last_op
    assert last is not None
    last.detach()
    for position, (slot, parameter) in enumerate(sums.items(), before):
        type = tg.tensor(op.arguments[slot])
        known = inside.put(
            tg.ParamOp(parameter, tg.tensor_type(type.element_type, type.get_shape()))
        )
        values[position] = inside.sum(known, values[position])
    inside.put(tg.TupleOp(values))
    last.erase()


def _states_of_steps(op: tg.ScanOp) -> Mapping[int, int]:
    """The positions of the stacked results that are the states which each step begins with."""
    count = op.states.data
    found: dict[int, int] = {}
    for position, value in enumerate(op.results_of_body[count:], count):
        slot = op.slot_of_parameter(value)
        if slot is not None and slot < count:
            found.setdefault(slot, position)
    return found


def _with_states(builder: Builder, op: tg.ScanOp) -> tg.ScanOp:
    """The SCAN, or one like it that also stacks the states which each step begins with.

    A SCAN with `while` becomes one of all steps, of which those that are not taken leave the states
    as they are.
    """
    count, known = op.states.data, _states_of_steps(op)
    missing = [slot for slot in range(count) if slot not in known]
    if not missing:
        return op
    region = op.body.clone()
    last = region.block.last_op
    assert isinstance(last, tg.TupleOp)
    params = [p.result for p in parameters(region.block)[:count]]
    inside = tg.OpBuilder.before(last)
    results = list(last.values)
    if op.is_while is not None:
        pairs = zip(params, results, strict=True)
        results = [inside.put(tg.WhereOp(params[0], new, old)) for old, new in pairs]
    inside.insert(tg.TupleOp([*results, *(params[slot] for slot in missing)]))
    region.block.erase_op(last)
    scan = tg.ScanOp(
        op.arguments,
        region,
        states=count,
        sequences=op.sequences.data,
        steps=op.steps.data,
        reverse=op.reverse is not None,
    )
    builder.put(scan)
    return scan


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
                len(op.operands) == 1
            ):
                stack.append((op.source, is_summed, is_multiplied))
            case _ if is_summed:
                factors[value_] = None
            case _:
                return None
    new = sum(math.prod(tg.tensor(f).get_shape()) for f in factors if f not in known)
    return list(factors) if new <= math.prod(tg.tensor(value).get_shape()) else None


def _adds(op: tg.ReduceOp) -> bool:
    return op.kind.data is tg.ReduceKind.ADD and op.ordered is None and not op.ranges


def _sum_over_steps(
    builder: Builder, value: SSAValue, of_steps: Mapping[SSAValue, SSAValue]
) -> SSAValue:
    """The sum of a value over the steps, given its factors with an axis of steps before the others:
    of one cell for what is the same in all steps."""

    def again(inner: SSAValue) -> SSAValue:
        op = inner.owner
        sources = [found[source] for source in tg.operands_of(inner)]
        lead = tg.shape_of(sources[0])[0]
        match op:
            case tg.ReduceOp():
                axes = [0, *(axis + 1 for axis in tg.integers(op, "axes"))]
                new = tg.ReduceOp(op.kind.data, sources[0], axes)
            case tg.AddOp():
                new = tg.AddOp(*sources)
            case tg.MulOp():
                rank = max(len(tg.tensor(source).get_shape()) for source in sources)
                new = tg.MulOp(*(_with_rank(builder, source, rank) for source in sources))
            case tg.CastOp():
                new = tg.CastOp(sources[0], tg.tensor(inner).element_type)
            case tg.PermuteOp():
                new = tg.PermuteOp(
                    sources[0], [0, *(axis + 1 for axis in tg.integers(op, "order"))]
                )
            case tg.ShrinkOp():
                offsets, shape = tg.integers(op, "offsets"), tg.tensor(inner).get_shape()
                new = tg.ShrinkOp(sources[0], [0, *offsets], [lead, *shape])
            case _:
                kind = tg.ReshapeOp if isinstance(op, tg.ReshapeOp) else tg.ExpandOp
                new = kind(sources[0], (lead, *tg.tensor(inner).get_shape()))
        return builder.put(new)

    found = dict(of_steps)
    total = tg.computed(value, found, tg.operands_of, again)
    return builder.put(tg.ReshapeOp(total, tg.tensor(value).get_shape()))


def _with_rank(builder: Builder, value: SSAValue, rank: int) -> SSAValue:
    """A value with axes of one cell after the first, for a rank in all."""
    first, *rest = tg.tensor(value).get_shape()
    missing = rank - 1 - len(rest)
    return builder.put(tg.ReshapeOp(value, (first, *[1] * missing, *rest))) if missing else value
