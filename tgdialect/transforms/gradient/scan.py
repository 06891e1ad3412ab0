"""The gradient of a SCAN: a SCAN over the same elements in the other order.

Its states are the gradients of the states, and sums of the gradients of the constants, unless these
are summed after the loop (`step_sums.py`). A step computes the body again on the state that the
step began with, and differentiates that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from xdsl.ir import Block, Region, SSAValue

from tgdialect.ops import tg
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.properties import tensor, tensor_type
from tgdialect.ops.source import parameters
from tgdialect.transforms.gradient.builder import Builder, is_float, zeros_like
from tgdialect.transforms.gradient.step_sums import factors_of, sum_over_steps

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
            whole = (1, *tensor(param.result).get_shape())
            is_constant = slot >= states + sequences
            if is_constant:
                known[param.result] = builder.put(tg.ReshapeOp(op.arguments[slot], whole))
            else:
                known[param.result] = sequence[slot]
    of_inputs = {values[slot] for slot in inputs}
    later, factors = set[int](), dict[SSAValue, None]()
    for slot in sorted(constants, key=lambda s: -math.prod(tensor(op.arguments[s]).get_shape())):
        kept = known.keys() | of_inputs
        if (found := factors_of(values[slot], kept | factors.keys())) is not None:
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
    parts |= {slot: sum_over_steps(builder, values[slot], known) for slot in later}
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
        type = tensor(op.arguments[slot])
        known = inside.put(tg.ParamOp(parameter, tensor_type(type.element_type, type.get_shape())))
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
    inside = OpBuilder.before(last)
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
