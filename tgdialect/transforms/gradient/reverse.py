"""Reverse mode: propagates gradients through a block, from its results to its inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import cast

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import PassFailedException, VerifyException

from tgdialect.analysis.validity import Validity
from tgdialect.diagnostics import SHAPES, kept_facts, locate, noted
from tgdialect.ops import tg
from tgdialect.ops.source import parameter_values, parameters
from tgdialect.transforms.builder import Builder, is_float, zeros_like
from tgdialect.transforms.gradient.memory import Versions, operands_with_captured
from tgdialect.transforms.gradient.rules import RULES
from tgdialect.transforms.gradient.scan import scan_gradient
from tgdialect.transforms.gradient.windows import gradient_of_windows

Differentiate = Callable[[tg.CallOp], FuncOp]
"""Maps a CALL to the gradient function of its callee: see `gradient_function`."""


@kept_facts(SHAPES)
def gradients(
    builder: Builder,
    seeds: Mapping[SSAValue, SSAValue],
    wrt: Sequence[SSAValue],
    differentiate: Differentiate | None = None,
    validity: Validity | None = None,
) -> list[SSAValue | None]:
    """The gradients of a scalar with respect to values of the builder's block.

    Args:
        builder: emits the gradients.
        seeds: the scalar's known gradients, with respect to values of the block.
        wrt: the values to differentiate with respect to. Memory stands for its contents before all
            STOREs.
        differentiate: makes the gradient function of a callee; without it a CALL has no gradient.
        validity: which values of the block may have invalid cells.

    Returns None as the gradient of a value that the scalar does not depend on.
    Raises PassFailedException for an op that has no gradient.
    """
    return _Reverse(builder, dict(seeds), differentiate, validity or Validity()).run(wrt)


class _Reverse:
    """The reverse walk over a block, and the gradients it has accumulated."""

    def __init__(
        self,
        builder: Builder,
        found: dict[SSAValue, SSAValue],
        differentiate: Differentiate | None,
        validity: Validity,
    ) -> None:
        self._builder = builder
        self._found = found
        self._differentiate = differentiate
        self._elements: dict[Operation, dict[int, SSAValue]] = {}
        """For each FUNCTION, SCAN and CALL, the gradients of its results by position."""
        self._validity = validity
        self._versions = Versions(builder.block, validity)
        self._ops = list(builder.block.ops)
        self._varying: set[SSAValue] = set()
        self._ends: set[SSAValue] = set()

    def run(self, wrt: Sequence[SSAValue]) -> list[SSAValue | None]:
        """Walk the block backwards. Returns the gradients with respect to `wrt`."""
        self._varying = _varying(self._ops, wrt, self._versions)
        self._ends = set(wrt)
        for op in reversed(self._ops):
            self._builder.at = op
            self._visit(op)
        for argument in self._builder.block.args:
            self._add_initial(argument)
        return [self._found.get(value) for value in wrt]

    def _visit(self, op: Operation) -> None:
        """Add the gradients of an op's operands, and of the values that it writes."""
        # The effects of the op on memory.
        for value, part in self._versions.write(self._builder, op):
            if value in self._varying:
                self._add(value, part)
        for result in op.results:
            self._add_initial(result)
        # Its results. Only a result that depends on `wrt` needs a gradient.
        if isinstance(op, tg.FunctionOp | tg.ScanOp):
            self._body(op)
            return
        if isinstance(op, tg.CallOp):
            self._call(op)
            return
        gradient = self._found.get(op.results[0]) if op.results else None
        if gradient is None or op.results[0] not in self._varying:
            return
        if isinstance(op, tg.GetTupleOp):
            self._element(op, gradient)
        elif isinstance(op, tg.AfterOp) and self._versions.read(self._builder, op, gradient):
            pass
        elif any(operand in self._varying for operand in op.operands):
            self._apply(op, gradient)

    def _apply(self, op: Operation, gradient: SSAValue) -> None:
        """Apply the rule of an op to the gradient of its result.

        Where a split value meets one that each device has whole, the gradient of the latter is
        split, too. If the rule would cut that axis, as FLIP's may, it is applied to all parts.
        """
        try:
            parts = list(self._parts(op, gradient))
        except VerifyException:
            if tg.place(gradient).axis is None:
                raise
            whole = self._builder.moved(gradient, tg.PlaceAttr.of(tg.place(gradient).device))
            parts = list(self._parts(op, whole))
        for value, part in parts:
            self._add(value, part)

    def _parts(self, op: Operation, gradient: SSAValue) -> Iterator[tuple[SSAValue, SSAValue]]:
        """Values that an op depends on, and their gradients by its rule.

        Raises VerifyException if the rule would cut the axis that the gradient is split along.
        """
        if isinstance(op, tg.MovementOp):
            found = gradient_of_windows(self._builder, op.result, gradient, self._ends)
            if found is not None:
                noted("gradient of windows", op)
                yield found
                return
        rule = RULES.get(type(op))
        if rule is None:
            raise locate(PassFailedException(f"{op.name} has no gradient"), op)
        noted("gradient", op)
        for operand, part in zip(op.operands, rule(self._builder, op, gradient), strict=True):
            if part is None or operand not in self._varying:
                continue
            if isinstance(op, tg.ElementwiseOp):
                part = self._where_valid(op, operand, part)
                part = self._builder.summed_to(part, tg.shape_of(operand))
            yield operand, part

    def _where_valid(self, op: tg.ElementwiseOp, operand: SSAValue, part: SSAValue) -> SSAValue:
        """The part of an operand's gradient without cells where the result is invalid because
        another operand is. What the gradient is where the operand itself is invalid means nothing:
        PAD drops it."""
        if all(other is operand or self._validity[other] for other in op.operands):
            return part
        b = self._builder
        return b.put(tg.WhereOp(b.valid_cells(op.results[0]), part, b.constant(0, part)))

    def _add(self, value: SSAValue, part: SSAValue) -> None:
        """Add a part to the gradient of a value."""
        self._builder.add_to(self._found, value, part)

    def _add_initial(self, memory: SSAValue) -> None:
        """Add the gradient of the initial contents of memory to that of the memory's value."""
        part = self._versions.initial(memory)
        if part is not None and memory in self._varying:
            self._add(memory, part)

    def _element(self, op: tg.GetTupleOp, gradient: SSAValue) -> None:
        """Add the gradient of a GETTUPLE to that of the tuple's element."""
        source, index = op.source.owner, op.index.data
        if isinstance(source, tg.TupleOp):
            self._add(source.values[index], gradient)
            return
        if not isinstance(source, tg.FunctionOp | tg.ScanOp | tg.CallOp):
            raise locate(PassFailedException("an element of this tuple has no gradient"), op)
        self._builder.add_to(self._elements.setdefault(source, {}), index, gradient)

    def _body(self, op: tg.FunctionOp | tg.ScanOp) -> None:
        """Add the gradients of the arguments of a FUNCTION or SCAN."""
        elements = self._elements.pop(op, None)
        wanted = [i for i, argument in enumerate(op.arguments) if argument in self._varying]
        if elements is None or not wanted:
            return
        if isinstance(op, tg.FunctionOp):
            parts = self._function(op, dict(sorted(elements.items())), wanted)
        else:
            body = partial(_gradient_body, validity=Validity())  # SCAN takes valid values.
            parts = scan_gradient(self._builder, op, elements, wanted, body).items()
        for slot, part in parts:
            self._add(op.arguments[slot], part)

    def _function(
        self, op: tg.FunctionOp, elements: Mapping[int, SSAValue], wanted: Sequence[int]
    ) -> Iterator[tuple[int, SSAValue]]:
        """Differentiate a FUNCTION by a FUNCTION of its arguments and its results' gradients."""
        body = _gradient_body(op, elements, wanted, self._validity)
        function = tg.FunctionOp([*op.arguments, *elements.values()], Region(body))
        function.attributes.update(op.attributes)
        result = self._builder.put(function)
        for position, slot in enumerate(wanted):
            part = self._builder.put(tg.GetTupleOp(result, position))
            shape = tg.shape_of(op.arguments[slot])
            if not tg.same_shape(tg.shape_of(part), shape):
                # The body computes an extent, which is therefore unknown outside of it.
                part = self._builder.put(
                    tg.ShrinkOp(part, [0] * len(shape), self._builder.known(shape))
                )
            yield slot, part

    def _call(self, op: tg.CallOp) -> None:
        """Differentiate a CALL by a CALL of its callee's gradient function."""
        elements = self._elements.pop(op, None)
        if elements is None:
            return
        if self._differentiate is None:
            raise locate(PassFailedException("a CALL has no gradient here"), op)
        callee = self._differentiate(op)
        # The gradient function takes a gradient for each float result, so missing ones are zeros.
        results = {
            i: self._builder.put(tg.GetTupleOp(op.result, i))
            for i, type in enumerate(cast(tg.TupleType, op.result.type).types)
            if tg.is_tensor(type) and tg.dtype_row(type.element_type).is_float
        }
        seeds = [elements.get(i) or zeros_like(self._builder, v) for i, v in results.items()]
        types = tg.TupleType(callee.function_type.outputs)
        call = tg.CallOp(callee.sym_name.data, [*op.arguments, *seeds], types)
        result = self._builder.put(call)
        for position, argument in enumerate(a for a in op.arguments if is_float(a)):
            if argument in self._varying:
                self._add(argument, self._builder.put(tg.GetTupleOp(result, position)))


def _gradient_body(
    op: tg.FunctionOp | tg.ScanOp,
    given: Mapping[int, SSAValue],
    wanted: Sequence[int],
    validity: Validity,
) -> Block:
    """The body of the FUNCTION that differentiates `op`, or of one that differentiates a step.

    Its last parameters are the gradients `given` of some results. It returns the gradients of the
    arguments `wanted`. `validity` is that of the arguments.
    """
    region = op.body.clone()
    block = region.detach_block(0)
    end = block.last_op
    assert isinstance(end, tg.TupleOp)
    builder = Builder(block, at=op)
    # Add a parameter for the gradient of each given result.
    values = [end.values[i] for i in given]
    params = parameters(block)
    sizes = [p.result for p in params if p.result.type == tg.tensor_type(tg.INDEX)]
    seeds: dict[SSAValue, SSAValue] = {}
    end.detach()
    pairs = zip(values, given.values(), strict=True)
    for slot, (value, gradient) in enumerate(pairs, len(op.arguments)):
        like = builder.with_extents(value, sizes)
        seed = builder.put(_parameter(builder, slot, like, tg.place(gradient)))
        builder.add_to(seeds, value, seed)
    # Return the gradients of the wanted parameters in place of the results.
    by_slot = parameter_values(block)
    inside = Validity(
        {
            value: isinstance(op, tg.ScanOp) or validity[op.arguments[slot]]
            for slot, values in by_slot.items()
            if slot < len(op.arguments)
            for value in values
        }
    )
    wrt = [by_slot[slot] for slot in wanted]
    results = gradient_sums(builder, seeds, wrt, validity=inside)
    builder.put(tg.TupleOp(results))
    end.erase()
    return block


def gradient_sums(
    builder: Builder,
    seeds: Mapping[SSAValue, SSAValue],
    wrt: Sequence[Sequence[SSAValue]],
    differentiate: Differentiate | None = None,
    validity: Validity | None = None,
) -> list[SSAValue]:
    """The sums of `gradients` over groups of values that stand for one value, such as PARAMs of one
    slot. A group without a gradient gets zeros."""
    values = [value for group in wrt for value in group]
    found = iter(gradients(builder, seeds, values, differentiate, validity))
    sums: list[SSAValue] = []
    for group in wrt:
        parts = [part for part in (next(found) for _ in group) if part is not None]
        total = parts[0] if parts else zeros_like(builder, group[0])
        for part in parts[1:]:
            total = builder.sum(total, part)
        sums.append(total)
    return sums


def _parameter(builder: Builder, slot: int, like: SSAValue, where: tg.PlaceAttr) -> tg.ParamOp:
    """A PARAM with the shape and dtype of a value, on the devices of a place."""
    type = tg.tensor(like)
    where = tg.PlaceAttr.of(where.device, None, where.axis)
    dims = [d for d in builder.known(tg.shape_of(like)) if not isinstance(d, int)]
    return tg.ParamOp(slot, tg.tensor_type(type.element_type, type.get_shape(), where), dims)


def _varying(
    ops: Sequence[Operation], wrt: Sequence[SSAValue], versions: Versions
) -> set[SSAValue]:
    """The values that depend on any value of `wrt`.

    They are floats, tuples, and the bits of floats. A BITCAST gives the bits of a float as an
    integer. Integers have no gradient, but a float that is BITCAST from such bits depends on `wrt`.
    """
    varying, bits = set(wrt), set[SSAValue]()
    for op in ops:
        depends = any(operand in varying for operand in operands_with_captured(op))
        has_bits = not depends and any(o in bits for o in operands_with_captured(op))
        if isinstance(op, tg.AfterOp):
            depends = op.buffer in varying or versions.is_varying(op)
            has_bits = op.buffer in bits
        if depends or has_bits:
            versions.mark_varying(op)
        for result in op.results:
            if isinstance(result.type, tg.TupleType) or is_float(result):
                if depends or (has_bits and isinstance(op, tg.BitcastOp)):
                    varying.add(result)
            elif has_bits or (depends and isinstance(op, tg.BitcastOp)):
                bits.add(result)
    return varying | bits
