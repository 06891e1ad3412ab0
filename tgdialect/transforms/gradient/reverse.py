"""Reverse mode: the gradients of a block, from its results back to what they depend on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import locate
from tgdialect.ops.attributes import TupleType, is_tensor
from tgdialect.ops.call import CallOp, FunctionOp, GetTupleOp, TupleOp
from tgdialect.ops.elementwise import ElementwiseOp
from tgdialect.ops.movement import BitcastOp
from tgdialect.ops.ordering import AfterOp
from tgdialect.ops.properties import dtype_of, dtype_row, shape_of, tensor, tensor_type
from tgdialect.ops.source import ParamOp
from tgdialect.transforms.gradient.builder import Builder, zeros_like
from tgdialect.transforms.gradient.memory import Versions, operands_with_captured
from tgdialect.transforms.gradient.rules import RULES

Differentiate = Callable[[CallOp], FuncOp]
"""The function that has the gradients of a CALL's callee: see `gradient_function`."""


def gradients(
    builder: Builder,
    seeds: Mapping[SSAValue, SSAValue],
    wrt: Sequence[SSAValue],
    differentiate: Differentiate | None = None,
) -> list[SSAValue | None]:
    """The gradients of a scalar with respect to values of the builder's block.

    Args:
        builder: where the gradients go.
        seeds: for values of the block, the scalar's gradients with respect to them.
        wrt: the values to differentiate with respect to; None stands for the gradient of one that
            the scalar does not depend on. For memory it is that of its contents before all STOREs.
        differentiate: what differentiates callees; without it a CALL has no gradient.

    Raises PassFailedException for an op that has no gradient.
    """
    return _Reverse(builder, dict(seeds), differentiate).run(wrt)


class _Reverse:
    def __init__(
        self,
        builder: Builder,
        found: dict[SSAValue, SSAValue],
        differentiate: Differentiate | None,
    ) -> None:
        self._builder = builder
        self._found = found
        self._differentiate = differentiate
        self._elements: dict[Operation, dict[int, SSAValue]] = {}
        """The gradients of the tuples that GETTUPLEs read, for FUNCTIONs and CALLs."""
        self._versions = Versions(builder.block)
        self._ops = list(builder.block.ops)
        self._varying: set[SSAValue] = set()

    def run(self, wrt: Sequence[SSAValue]) -> list[SSAValue | None]:
        self._varying = _varying(self._ops, wrt, self._versions)
        for op in reversed(self._ops):
            self._builder.at = op
            self._visit(op)
        for argument in self._builder.block.args:
            self._add_initial(argument)
        return [self._found.get(value) for value in wrt]

    def _visit(self, op: Operation) -> None:
        for value, part in self._versions.write(self._builder, op):
            if value in self._varying:
                self._add(value, part)
        for result in op.results:
            self._add_initial(result)
        if isinstance(op, FunctionOp):
            self._function(op)
            return
        if isinstance(op, CallOp):
            self._call(op)
            return
        gradient = self._found.get(op.results[0]) if op.results else None
        if gradient is None or op.results[0] not in self._varying:
            return
        if isinstance(op, GetTupleOp):
            self._element(op, gradient)
        elif isinstance(op, AfterOp) and self._versions.read(self._builder, op, gradient):
            pass
        elif any(operand in self._varying for operand in op.operands):
            self._apply(op, gradient)

    def _apply(self, op: Operation, gradient: SSAValue) -> None:
        rule = RULES.get(type(op))
        if rule is None:
            raise locate(PassFailedException(f"{op.name} has no gradient"), op)
        for operand, part in zip(op.operands, rule(self._builder, op, gradient), strict=True):
            if part is None or operand not in self._varying:
                continue
            if isinstance(op, ElementwiseOp):
                part = self._builder.summed_to(part, shape_of(operand))
            self._add(operand, part)

    def _add(self, value: SSAValue, part: SSAValue) -> None:
        known = self._found.get(value)
        self._found[value] = part if known is None else self._builder.sum(known, part)

    def _add_initial(self, memory: SSAValue) -> None:
        part = self._versions.initial(memory)
        if part is not None and memory in self._varying:
            self._add(memory, part)

    def _element(self, op: GetTupleOp, gradient: SSAValue) -> None:
        source, index = op.source.owner, op.index.data
        if isinstance(source, TupleOp):
            self._add(source.values[index], gradient)
            return
        if not isinstance(source, FunctionOp | CallOp):
            raise locate(PassFailedException("an element of this tuple has no gradient"), op)
        known = self._elements.setdefault(source, {})
        known[index] = self._builder.sum(known[index], gradient) if index in known else gradient

    def _function(self, op: FunctionOp) -> None:
        """The gradient of a FUNCTION is a FUNCTION of its arguments and its results' gradients."""
        elements = self._elements.pop(op, None)
        wanted = [i for i, argument in enumerate(op.arguments) if argument in self._varying]
        if elements is None or not wanted:
            return
        body = _gradient_body(op, sorted(elements), wanted)
        arguments = [*op.arguments, *(elements[i] for i in sorted(elements))]
        function = FunctionOp(arguments, Region(body))
        function.attributes.update(op.attributes)
        result = self._builder.put(function)
        for position, slot in enumerate(wanted):
            self._add(op.arguments[slot], self._builder.put(GetTupleOp(result, position)))

    def _call(self, op: CallOp) -> None:
        """The gradient of a CALL is a CALL of the function that has its callee's gradients."""
        elements = self._elements.pop(op, None)
        if elements is None:
            return
        if self._differentiate is None:
            raise locate(PassFailedException("a CALL has no gradient here"), op)
        callee = self._differentiate(op)
        results = [self._builder.put(GetTupleOp(op.result, i)) for i in _float_results(op)]
        seeds = [
            elements[i] if i in elements else zeros_like(self._builder, value)
            for i, value in zip(_float_results(op), results, strict=True)
        ]
        types = TupleType(callee.function_type.outputs)
        call = CallOp(callee.sym_name.data, [*op.arguments, *seeds], types)
        result = self._builder.put(call)
        for position, argument in enumerate(a for a in op.arguments if _is_float(a)):
            if argument in self._varying:
                self._add(argument, self._builder.put(GetTupleOp(result, position)))


def _float_results(op: CallOp) -> list[int]:
    """The positions of the floats among the results of a CALL."""
    types = op.result.type
    assert isinstance(types, TupleType)
    return [
        i
        for i, type in enumerate(types.types)
        if is_tensor(type) and dtype_row(type.element_type).is_float
    ]


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
        seed = builder.put(_parameter(builder, slot, value))
        seeds[value] = builder.sum(seeds[value], seed) if value in seeds else seed
    parameters: dict[int, list[SSAValue]] = {}
    for inner in block.ops:
        if isinstance(inner, ParamOp):
            parameters.setdefault(inner.slot.data, []).append(inner.result)
    results = gradient_sums(builder, seeds, [parameters[slot] for slot in wanted])
    builder.put(TupleOp(results))
    end.erase()
    return block


def gradient_sums(
    builder: Builder,
    seeds: Mapping[SSAValue, SSAValue],
    wrt: Sequence[Sequence[SSAValue]],
    differentiate: Differentiate | None = None,
) -> list[SSAValue]:
    """As `gradients`, the sum for each group of values that are one, such as PARAMs of a slot; 0
    where there is none."""
    values = [value for group in wrt for value in group]
    found = iter(gradients(builder, seeds, values, differentiate))
    sums: list[SSAValue] = []
    for group in wrt:
        parts = [part for part in (next(found) for _ in group) if part is not None]
        total = parts[0] if parts else zeros_like(builder, group[0])
        for part in parts[1:]:
            total = builder.sum(total, part)
        sums.append(total)
    return sums


def _parameter(builder: Builder, slot: int, like: SSAValue) -> ParamOp:
    """A parameter of the shape and dtype of a value."""
    type = tensor(like)
    dims = [d for d in builder.known(shape_of(like)) if not isinstance(d, int)]
    return ParamOp(slot, tensor_type(type.element_type, type.get_shape()), dims)


def _varying(
    ops: Sequence[Operation], wrt: Sequence[SSAValue], versions: Versions
) -> set[SSAValue]:
    """The floats that depend on any of these values, and tuples with some.

    A BITCAST of a float to an integer has its bits: what is computed from bits and is BITCAST to a
    float depends on the first one, though no integer has a gradient.
    """
    varying, bits = set(wrt), set[SSAValue]()
    for op in ops:
        depends = any(operand in varying for operand in operands_with_captured(op))
        has_bits = not depends and any(o in bits for o in operands_with_captured(op))
        if isinstance(op, AfterOp):
            depends = op.buffer in varying or versions.is_varying(op)
            has_bits = op.buffer in bits
        if depends or has_bits:
            versions.mark_varying(op)
        for result in op.results:
            if isinstance(result.type, TupleType) or _is_float(result):
                if depends or (has_bits and isinstance(op, BitcastOp)):
                    varying.add(result)
            elif has_bits or (depends and isinstance(op, BitcastOp)):
                bits.add(result)
    return varying | bits


def _is_float(value: SSAValue) -> bool:
    return is_tensor(value.type) and dtype_of(value).is_float
