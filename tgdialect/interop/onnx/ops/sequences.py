"""Sequences and optionals, as lists of Python and None."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import GraphProto

from tgdialect.frontend.symbolic import SymInt
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx.ops.movement import axis_of
from tgdialect.interop.onnx.rules import NodeCall, Rules, raw
from tgdialect.interop.onnx.values import Refused, Value, as_tensor, dims


def _sequence(value: Value) -> list[Any]:
    if not isinstance(value, list):
        raise Refused("the operand is no sequence")
    return value


def _position(call: NodeCall, sequence: list[Any], position: Value, most: int) -> int:
    """A position in a sequence, an operand of a node; negative ones count from the end."""
    at = int(call.known(position, call.node.input[-1]).item())
    if not -len(sequence) <= at <= most:
        raise Refused(f"position {at} of a sequence of {len(sequence)}")
    return at


def _at(call: NodeCall, sequence: Value, position: Value) -> Value:
    given = _sequence(sequence)
    return given[_position(call, given, position, len(given) - 1)]


def _inserted(call: NodeCall, sequence: Value, value: Value, position: Value = None) -> list[Any]:
    given = _sequence(sequence)
    if position is None:
        return [*given, value]
    at = _position(call, given, position, len(given))
    return [*given[:at], value, *given[at:]]


def _erased(call: NodeCall, sequence: Value, position: Value = None) -> list[Any]:
    given = _sequence(sequence)
    at = len(given) - 1
    if position is not None:
        at = _position(call, given, position, at) % len(given)
    return [value for i, value in enumerate(given) if i != at]


def _joined(_: NodeCall, sequence: Value, *, axis: int, new_axis: int = 0) -> Value:
    parts = _sequence(sequence)
    if not parts:
        raise Refused("a sequence without tensors is joined")
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.stack(parts, axis) if new_axis else np.concatenate(parts, axis)
    tensors = [as_tensor(part) for part in parts]
    if new_axis:
        return Tensor.stack(*tensors, dim=axis)
    return tensors[0] if len(tensors) == 1 else Tensor.cat(*tensors, dim=axis)


def _split(
    call: NodeCall, x: Value, split: Value = None, *, axis: int = 0, keepdims: int = 1
) -> list[Any]:
    """Parts of one size, the last one smaller, or of the sizes of a vector."""
    given = as_tensor(x)
    extent = given.shape[axis_of(given, axis)]
    lengths = None if split is None else call.known(split, call.node.input[1])
    if lengths is None or lengths.ndim == 0:
        size = 1 if lengths is None else int(lengths)
        if isinstance(extent, SymInt) or size < 1:
            raise Refused(f"the number of parts of {size} of {extent} is not known")
        lengths = np.array([min(size, extent - at) for at in range(0, extent, size)])
    parts = given.split(dims(lengths), axis)  # pyright: ignore[reportArgumentType]
    if split is None and not keepdims:
        return [part.squeeze(axis) for part in parts]
    return list(parts)


def _mapped(call: NodeCall, *operands: Value, body: GraphProto) -> tuple[list[Any], ...]:
    """The results of a graph for each element; operands that are tensors are the same in all."""
    count = len(_sequence(operands[0]))
    if any(isinstance(o, list) and len(o) != count for o in operands):
        raise Refused("the sequences have different lengths")
    found = [
        call.graph(body, [o[i] if isinstance(o, list) else o for o in operands])
        for i in range(count)
    ]
    return tuple([each[j] for each in found] for j in range(len(body.output)))


def _element(_: NodeCall, value: Value) -> Value:
    if value is None:
        raise Refused("the optional is empty")
    return value


RULES: Rules = {
    "ConcatFromSequence": {11: raw(_joined)},
    "Optional": {15: raw(lambda _, value=None, **__: value)},
    "OptionalGetElement": {15: raw(_element)},
    "OptionalHasElement": {15: raw(lambda _, value=None: np.array(value is not None))},
    "SequenceAt": {11: raw(_at)},
    "SequenceConstruct": {11: raw(lambda _, *values: list(values))},
    "SequenceEmpty": {11: raw(lambda _, **__: [])},
    "SequenceErase": {11: raw(_erased)},
    "SequenceInsert": {11: raw(_inserted)},
    "SequenceLength": {11: raw(lambda _, sequence: np.array(len(_sequence(sequence))))},
    "SequenceMap": {17: raw(_mapped)},
    "SplitToSequence": {11: raw(_split)},
}
