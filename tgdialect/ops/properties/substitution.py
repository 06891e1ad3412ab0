"""The result types of ops with a body: of a FUNCTION that of its TUPLE once arguments replace the
PARAMs, of a SCAN the states and the stacked results."""

from __future__ import annotations

from collections.abc import Callable, Collection

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from tgdialect.ops.attributes import NumberAttr, PlaceAttr, TupleType, is_tensor
from tgdialect.ops.properties import device
from tgdialect.ops.properties.symbolic import known_dim, known_index
from tgdialect.ops.properties.values import integer, place, scan_extent, tensor, tensor_type


def function_type(op: Operation, derive: Callable[[Operation], Attribute]) -> Attribute:
    """The type that a FUNCTION's result would have after inlining.

    In a copy of the body, PARAMs get the types of their arguments, and `derive` recomputes the type
    of every other op. If all PARAMs already have those types, no copy is made.
    """
    body = op.regions[0].block
    if body.last_op is None or body.last_op.name != "tg.tuple":
        raise VerifyException("the body of a function ends in a tg.tuple")
    if all(p.results[0].type == a.type for p, a in _parameters(body, op)):
        return body.last_op.results[0].type
    copy = op.regions[0].clone().block
    assert copy.last_op is not None
    _substitute(copy, op)
    _derive_types(copy, derive)
    return copy.last_op.results[0].type


def scan_type(op: Operation, derive: Callable[[Operation], Attribute]) -> Attribute:
    """The type of a SCAN's result: the types of its states, and of what it stacks with an axis for
    the steps. They are on the devices that the results of all steps would have after unrolling: a
    state on that of its argument, or else on that of what a step computes it from.
    """
    states, sequences = integer(op, "states"), integer(op, "sequences")
    assert states is not None
    assert sequences is not None
    body = op.regions[0].clone().block
    if (last := body.last_op) is None or last.name != "tg.tuple":
        raise VerifyException("the body of a scan ends in a tg.tuple")
    device.common(op)
    params = _parameters(body, op)
    if any(DYNAMIC_INDEX in tensor(param.results[0]).get_shape() for param, _ in params):
        _substitute(body, op, range(states, states + sequences))
    devices = [place(argument).device for argument in op.operands]
    while True:
        for param, _ in params:
            slot = integer(param, "slot")
            assert slot is not None
            known = tensor(param.results[0])
            where = PlaceAttr.of(devices[slot], place(param.results[0]).addrspace)
            type = tensor_type(known.element_type, known.get_shape(), where)
            Rewriter.replace_value_with_new_type(param.results[0], type)
        _derive_types(body, derive)
        found = [place(value).device for value in last.operands]
        before = devices[:states]
        devices[:states] = [a or b for a, b in zip(before, found, strict=False)]
        if devices[:states] == before:
            break
    found[:states] = before
    steps = known_dim(scan_extent(op))
    types: list[Attribute] = []
    for position, (value, where) in enumerate(zip(last.operands, found, strict=True)):
        type, shape = tensor(value), tensor(value).get_shape()
        if position < states:
            shape = tensor(op.operands[position]).get_shape()
        else:
            shape = (DYNAMIC_INDEX if steps is None else steps, *shape)
        types.append(tensor_type(type.element_type, shape, PlaceAttr.of(where)))
    return TupleType(ArrayAttr(types))


def _derive_types(body: Block, derive: Callable[[Operation], Attribute]) -> None:
    """Compute the types of the values of a body again from those of its PARAMs."""
    for inner in body.ops:
        if inner.name.startswith("tg.") and inner.name != "tg.param":
            try:
                type = derive(inner)
            except VerifyException as e:
                raise VerifyException(f"with these arguments, {inner.name}: {e}") from e
            Rewriter.replace_value_with_new_type(inner.results[0], type)


def _parameters(body: Block, function: Operation) -> list[tuple[Operation, SSAValue]]:
    """The PARAMs of a body, each with its argument."""
    pairs: list[tuple[Operation, SSAValue]] = []
    for param in body.ops:
        if param.name == "tg.param":
            slot, count = integer(param, "slot"), len(function.operands)
            if slot is None or not 0 <= slot < count:
                raise VerifyException(
                    f"the body has a slot {slot}, but there are {count} arguments"
                )
            pairs.append((param, function.operands[slot]))
    return pairs


def _substitute(body: Block, function: Operation, sequences: Collection[int] = ()) -> None:
    """Give each PARAM the type of its argument, or of an element of it for the slots of
    `sequences`, and each index PARAM its value, if known.

    The value comes from a constant argument, or from an extent that is static in an argument's type
    and that the PARAM's type takes from the index PARAM.
    """
    pairs = _parameters(body, function)
    for param, argument in pairs:
        if (value := known_index(argument)) is not None:
            _bind(param, value)
    for param, argument in pairs:
        if not is_tensor(type := argument.type):
            continue
        if integer(param, "slot") in sequences:
            type = tensor_type(type.element_type, type.get_shape()[1:], place(argument))
        given = iter(type.get_shape())
        dims = list(param.operands)
        kept: list[SSAValue] = []
        for wanted, extent in zip(tensor(param.results[0]).get_shape(), given, strict=False):
            if wanted != DYNAMIC_INDEX or not dims:
                continue
            dim = dims.pop(0)
            if extent == DYNAMIC_INDEX:
                kept.append(dim)
            elif isinstance(dim.owner, Operation) and dim.owner.name == "tg.param":
                _bind(dim.owner, extent)
        param.operands = kept
        Rewriter.replace_value_with_new_type(param.results[0], type)


def _bind(param: Operation, value: int) -> None:
    """Give an index PARAM a value, by setting both bounds to it. Raises VerifyException if the
    value is out of bounds."""
    slot, low, high = (integer(param, name) for name in ("slot", "min", "max"))
    if low is not None and value < low:
        raise VerifyException(f"parameter {slot} is {value}, and its min is {low}")
    if high is not None and value > high:
        raise VerifyException(f"parameter {slot} is {value}, and its max is {high}")
    param.properties["min"] = param.properties["max"] = NumberAttr(value)
