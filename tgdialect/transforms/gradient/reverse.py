"""Reverse mode: the gradients of a block, from its results back to what they depend on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import locate
from tgdialect.ops.attributes import is_tensor
from tgdialect.ops.call import FunctionOp, GetTupleOp, TupleOp
from tgdialect.ops.elementwise import ElementwiseOp
from tgdialect.ops.properties import dtype_of, shape_of, tensor, tensor_type
from tgdialect.ops.source import ParamOp
from tgdialect.transforms.gradient.builder import Builder, zeros_like
from tgdialect.transforms.gradient.rules import RULES


def gradients(
    builder: Builder, seeds: Mapping[SSAValue, SSAValue], wrt: Sequence[SSAValue]
) -> list[SSAValue | None]:
    """The gradients of a scalar with respect to values of the builder's block.

    Args:
        builder: where the gradients go.
        seeds: for values of the block, the scalar's gradients with respect to them.
        wrt: the values to differentiate with respect to; None stands for the gradient of one that
            the scalar does not depend on.

    Raises PassFailedException for an op that has no gradient.
    """
    return _Reverse(builder, dict(seeds)).run(wrt)


class _Reverse:
    def __init__(self, builder: Builder, found: dict[SSAValue, SSAValue]) -> None:
        self._builder = builder
        self._found = found
        self._elements: dict[FunctionOp, dict[int, SSAValue]] = {}
        """The gradients of what GETTUPLEs took out of FUNCTIONs."""

    def run(self, wrt: Sequence[SSAValue]) -> list[SSAValue | None]:
        ops = list(self._builder.block.ops)
        varying = _varying(ops, wrt)
        for op in reversed(ops):
            self._builder.at = op
            if isinstance(op, FunctionOp):
                self._function(op, varying)
                continue
            gradient = self._found.get(op.results[0]) if op.results else None
            if gradient is None or op.results[0] not in varying:
                continue
            if isinstance(op, GetTupleOp):
                self._element(op, gradient)
            elif any(operand in varying for operand in op.operands):
                self._apply(op, gradient, varying)
        return [self._found.get(value) for value in wrt]

    def _apply(self, op: Operation, gradient: SSAValue, varying: set[SSAValue]) -> None:
        rule = RULES.get(type(op))
        if rule is None:
            raise locate(PassFailedException(f"{op.name} has no gradient"), op)
        for operand, part in zip(op.operands, rule(self._builder, op, gradient), strict=True):
            if part is None or operand not in varying:
                continue
            if isinstance(op, ElementwiseOp):
                part = self._builder.summed_to(part, shape_of(operand))
            self._add(operand, part)

    def _add(self, value: SSAValue, part: SSAValue) -> None:
        known = self._found.get(value)
        self._found[value] = part if known is None else self._builder.sum(known, part)

    def _element(self, op: GetTupleOp, gradient: SSAValue) -> None:
        source, index = op.source.owner, op.index.data
        if isinstance(source, TupleOp):
            self._add(source.values[index], gradient)
            return
        if not isinstance(source, FunctionOp):
            raise locate(PassFailedException("what a CALL gives has no gradient"), op)
        known = self._elements.setdefault(source, {})
        known[index] = self._builder.sum(known[index], gradient) if index in known else gradient

    def _function(self, op: FunctionOp, varying: set[SSAValue]) -> None:
        """The gradient of a FUNCTION is a FUNCTION of its arguments and its results' gradients."""
        elements = self._elements.pop(op, None)
        wanted = [i for i, argument in enumerate(op.arguments) if argument in varying]
        if elements is None or not wanted:
            return
        body = _gradient_body(op, sorted(elements), wanted)
        arguments = [*op.arguments, *(elements[i] for i in sorted(elements))]
        function = FunctionOp(arguments, Region(body))
        function.attributes.update(op.attributes)
        result = self._builder.insert(function)
        for position, slot in enumerate(wanted):
            self._add(op.arguments[slot], self._builder.insert(GetTupleOp(result, position)))


def _gradient_body(op: FunctionOp, given: Sequence[int], wanted: Sequence[int]) -> Block:
    """The body that makes the gradients of the arguments `wanted`, from those of the results
    `given`, which are its last parameters."""
    region = op.body.clone()
    block = region.detach_block(0)
    end = block.last_op
    assert isinstance(end, TupleOp)
    builder = Builder(block, at=op)
    values = [end.values[i] for i in given]
    seeds: dict[SSAValue, SSAValue] = {}
    end.detach()
    for position, value in enumerate(values):
        slot = len(op.arguments) + position
        seed = builder.insert(_parameter(builder, slot, value))
        seeds[value] = builder.sum(seeds[value], seed) if value in seeds else seed
    parameters: dict[int, list[SSAValue]] = {}
    for inner in block.ops:
        if isinstance(inner, ParamOp):
            parameters.setdefault(inner.slot.data, []).append(inner.result)
    slots = [parameters[slot] for slot in wanted]
    found = iter(gradients(builder, seeds, [p for same in slots for p in same]))
    results: list[SSAValue] = []
    for same in slots:
        parts = [part for part in (next(found) for _ in same) if part is not None]
        total = parts[0] if parts else zeros_like(builder, same[0])
        for part in parts[1:]:
            total = builder.sum(total, part)
        results.append(total)
    builder.insert(TupleOp(results))
    end.erase()
    return block


def _parameter(builder: Builder, slot: int, like: SSAValue) -> ParamOp:
    """A parameter of the shape and dtype of a value."""
    type = tensor(like)
    dims = [d for d in builder.known(shape_of(like)) if not isinstance(d, int)]
    return ParamOp(slot, tensor_type(type.element_type, type.get_shape()), dims)


def _varying(ops: Sequence[Operation], wrt: Sequence[SSAValue]) -> set[SSAValue]:
    """The floats that depend on any of these values, and tuples with some."""
    varying = set(wrt)
    for op in ops:
        if any(operand in varying for operand in op.operands):
            varying.update(r for r in op.results if op.name in _TUPLES or _is_float(r))
    return varying


_TUPLES = frozenset({TupleOp.name, FunctionOp.name})


def _is_float(value: SSAValue) -> bool:
    return is_tensor(value.type) and dtype_of(value).is_float
