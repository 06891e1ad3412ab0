"""If, Loop and Scan."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np
from onnx import GraphProto

from tgdialect.frontend.loops import cond, scan, while_loop
from tgdialect.frontend.symbolic import Dim, SymInt
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx.ops.movement import axis_of
from tgdialect.interop.onnx.rules import NodeCall, Rules, raw
from tgdialect.interop.onnx.values import DependsOnStep, Refused, Undecided, Value, as_tensor, dims

FEW_STEPS = 4
"""The most steps of a loop of which each is compiled, so that the number of a step is known in it.
Larger: longer compilation; smaller: loops of a few steps have a loop's costs."""

MOST_STEPS = 1000
"""The most steps of a loop that is unrolled because its shapes differ between steps. Larger: models
that compile for hours; smaller: models that are refused."""

MOST_TURNS = 2**31 - 1
"""The greatest number of steps of a loop without a trip count."""


# -- If --------------------------------------------------------------------------------------------


def _if(
    call: NodeCall, condition: Value, *, then_branch: GraphProto, else_branch: GraphProto
) -> tuple[Value, ...]:
    try:
        holds = bool(call.known(condition, call.node.input[0]).reshape(()))
    except DependsOnStep:
        return _chosen(call, as_tensor(condition).reshape(()), then_branch, else_branch)
    except Undecided:
        if not call.is_for_all:
            raise
        flag = as_tensor(condition).reshape(())
        found = call.attempt(lambda: _chosen(call, flag, then_branch, else_branch))
        if found is None:  # One is refused, as for sizes that only the other takes.
            raise
        return found
    return tuple(call.graph(then_branch if holds else else_branch, ()))


def _chosen(
    call: NodeCall, condition: Tensor, then: GraphProto, other: GraphProto
) -> tuple[Value, ...]:
    """The results of a branch that the program chooses. Raises ValueError for branches of other
    shapes, and DependsOnStep if one asks a question."""

    def branch(graph: GraphProto) -> Any:
        def results() -> list[Tensor]:
            with call.step():
                return [as_tensor(value) for value in call.graph(graph, ())]

        return results

    return tuple(cond(condition, branch(then), branch(other)))


# -- Loop ------------------------------------------------------------------------------------------


def _loop(
    call: NodeCall,
    trips: Value = None,
    condition: Value = None,
    *states: Value,
    body: GraphProto,
) -> tuple[Value, ...]:
    if isinstance(condition, np.ndarray):
        if not condition.reshape(()):
            trips = np.array(0)
        condition = None
    limit: Dim | None = dims(trips)[0] if isinstance(trips, np.ndarray) else None
    is_short = limit is not None and not isinstance(limit, SymInt) and 0 < limit <= FEW_STEPS
    if not is_short and not any(isinstance(state, list) or state is None for state in states):
        found = call.attempt(lambda: _traced(call, trips, condition, states, body))
        if found is not None:
            return found
    return _unrolled(call, trips, condition, states, body)


def _traced(
    call: NodeCall, trips: Value, condition: Value, states: Sequence[Value], body: GraphProto
) -> tuple[Value, ...]:
    """A loop whose step is compiled once."""
    first = [as_tensor(state) for state in states]
    limit: Any = dims(trips)[0] if isinstance(trips, np.ndarray) else None
    if isinstance(limit, int):
        limit = max(limit, 0)
    if trips is not None and limit is None:
        limit = as_tensor(trips).reshape(()).cast("int64")
    is_computed = condition is not None
    outputs = len(body.output) - 1 - len(states)

    def step(number: Tensor, values: Sequence[Tensor]) -> tuple[Value, list[Tensor]]:
        with call.step():
            more, *found = call.graph(body, [number, np.array(True), *values])
            return more, [as_tensor(value) for value in found]

    def turn(values: Any) -> Any:
        number, _, current = values
        more, found = step(number, current)
        following = found[: len(current)]
        return number + 1, as_tensor(more).reshape(()).cast("bool"), following

    def holds(values: Any) -> Tensor:
        number, more, _ = values
        return more if limit is None else (number < limit) & more

    if not is_computed:
        # Whether a step decides on the next one shows when it is imported.
        try:
            if isinstance(limit, int | SymInt):
                return _of_steps(step, limit, first)
        except _Decides:
            pass
        is_computed = trips is None or isinstance(limit, int | SymInt)
    if not is_computed:
        try:
            assert isinstance(limit, Tensor)
            steps = call.count(limit.maximum(0), MOST_TURNS, "the trip count")
            return _of_steps(step, steps, first)
        except _Decides:
            pass
    start = Tensor.full((), 0, "int64")
    more = Tensor.full((), True, "bool") if condition is None else as_tensor(condition).reshape(())
    most = limit if isinstance(limit, int) else MOST_TURNS
    number, _, last = while_loop(holds, turn, (start, more.cast("bool"), first), most)
    if not outputs:
        return tuple(last)
    # The number of steps is what outputs have along their first axis.
    steps = call.count(number, most, "the number of steps of the loop")
    return _of_steps(step, steps, first, decides=True)


class _Decides(Exception):
    """A step of a loop decides whether there is another one."""


def _of_steps(
    step: Any, steps: Dim, first: Sequence[Tensor], *, decides: bool = False
) -> tuple[Value, ...]:
    """The results of a loop of a number of steps."""

    def f(values: Any, number: Tensor) -> tuple[Any, Any]:
        more, found = step(number, values)
        if not decides and not (isinstance(more, np.ndarray) and more.reshape(())):
            raise _Decides
        return found[: len(first)], found[len(first) :]

    numbers = Tensor.arange(steps, dtype="int64")  # pyright: ignore[reportArgumentType]
    last, outputs = scan(f, list(first), numbers, steps)  # pyright: ignore[reportArgumentType]
    return (*last, *outputs)


def _unrolled(
    call: NodeCall, trips: Value, condition: Value, states: Sequence[Value], body: GraphProto
) -> tuple[Value, ...]:
    """A loop whose steps are imported one by one."""
    names = [*call.node.input, "", ""]
    limit = None if trips is None else dims(call.known(trips, names[0]))[0]
    current, outputs = list(states), list[list[Value]]()
    for number in count():
        if limit is not None and call.sign(number, limit) >= 0:
            break
        if condition is not None and not call.known(condition, names[1]).reshape(()):
            break
        if number >= MOST_STEPS:
            raise Refused(f"a loop whose values change their shapes has {MOST_STEPS} steps or more")
        condition, *found = call.graph(body, [np.array(number), np.array(True), *current])
        current = found[: len(states)]
        outputs.append(found[len(states) :])
    if not outputs and len(body.output) - 1 > len(states):
        return _traced(call, np.array(0), None, states, body)
    stacked = [_stacked(column) for column in zip(*outputs, strict=True)]
    return (*current, *stacked)


def _stacked(values: Sequence[Value]) -> Value:
    if all(isinstance(value, np.ndarray) for value in values):
        return np.stack(values)  # type: ignore[arg-type]
    return Tensor.stack(*(as_tensor(value) for value in values))


# -- Scan ------------------------------------------------------------------------------------------


def _scan(
    call: NodeCall,
    *values: Value,
    body: GraphProto,
    num_scan_inputs: int,
    scan_input_axes: Sequence[int] | None = None,
    scan_input_directions: Sequence[int] | None = None,
    scan_output_axes: Sequence[int] | None = None,
    scan_output_directions: Sequence[int] | None = None,
) -> tuple[Value, ...]:
    if not 0 < num_scan_inputs <= len(values):
        raise Refused(f"num_scan_inputs is {num_scan_inputs}: a Scan goes through 1 input or more")
    given = [as_tensor(value) for value in values]
    states, sequences = given[:-num_scan_inputs], given[-num_scan_inputs:]
    axes = scan_input_axes or [0] * num_scan_inputs
    sequences = [x.movedim(axis_of(x, a), 0) for x, a in zip(sequences, axes, strict=True)]
    for i, is_reverse in enumerate(scan_input_directions or ()):
        sequences[i] = sequences[i].flip(0) if is_reverse else sequences[i]

    def f(current: Any, elements: Any) -> tuple[Any, Any]:
        with call.step():
            found = [as_tensor(v) for v in call.graph(body, [*current, *elements])]
        return found[: len(states)], found[len(states) :]

    last, outputs = scan(f, states, sequences)
    for i, is_reverse in enumerate(scan_output_directions or ()):
        outputs[i] = outputs[i].flip(0) if is_reverse else outputs[i]
    for i, axis in enumerate(scan_output_axes or ()):
        outputs[i] = outputs[i].movedim(0, axis_of(outputs[i], axis))
    return (*last, *outputs)


def _batched_scan(
    call: NodeCall,
    lengths: Value,
    *values: Value,
    body: GraphProto,
    num_scan_inputs: int,
    directions: Sequence[int] | None = None,
) -> tuple[Value, ...]:
    """Scans of the rows of a first axis."""
    if lengths is not None:
        raise Refused("sequence_lens is not supported: cut the sequences, or use opset 9")
    given = [as_tensor(value) for value in values]
    batch = given[0].shape[0]
    if isinstance(batch, SymInt):
        raise Refused(f"a batch of symbolic size {batch} is not supported: use opset 9")
    rows = [
        _scan(
            call,
            *(x[i] for x in given),
            body=body,
            num_scan_inputs=num_scan_inputs,
            scan_input_directions=directions,
        )
        for i in range(batch)
    ]
    return tuple(_stacked(column) for column in zip(*rows, strict=True))


RULES: Rules = {
    "If": {1: raw(_if)},
    "Loop": {1: raw(_loop)},
    "Scan": {8: raw(_batched_scan), 9: raw(_scan)},
}
