"""`tg-shard`: from a few annotations to a sharding of each value, by cost.

Each value has one variable: the axis that is split, or none, if each device has the whole. Each op
has a table of costs over the variables of its operands and of its result: the least, over the
shardings that the op's rule allows, of its computation, its communication, and the moves of
operands that are split otherwise. `elimination.py` finds the choice with the least sum.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple, cast, get_args

import numpy as np
from xdsl.context import Context
from xdsl.dialects import builtin
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException, VerifyException

from tgdialect.analysis.communication import Algorithm, Collective, Link, seconds
from tgdialect.analysis.symbols import own_functions
from tgdialect.analysis.validity import Validity
from tgdialect.diagnostics import RemarkKind, emit_remark, locate, noted
from tgdialect.ops import tg
from tgdialect.ops.multi import placing
from tgdialect.ops.numbering import op_key
from tgdialect.ops.source import parameters
from tgdialect.transforms.shard.elimination import Table, cheapest, summed
from tgdialect.transforms.substitution import Flattening, finished, with_arguments

SHARDING = "tg.sharding"
"""The attribute of an argument, a result or an op that says how the value is split: a
`#tg.place`, or for a result the number of the input that it is split like."""

Axis = int | None

_PER_BYTE = 1e-14
"""The cost of a byte that a device holds, in seconds: so small that it only decides between
shardings that take the same time, for those which need less memory."""

_FEW_OPERANDS = 3
"""The most operands of an op that has one table of costs, with an axis for each. Larger: tables
grow exponentially, and a STACK may have hundreds of operands; smaller: more variables, which take
longer to eliminate."""


@dataclass(frozen=True)
class ShardPass(ModulePass):
    """Choose how each value is split among devices, and insert the moves that this needs.

    `tg.sharding = #tg.place<["CPU:0", "CPU:1"], axis = 0>` on arguments, results and ops says how
    some values are split; or `devices` names the devices, and all is chosen. `tg.sharding = 2` on a
    result says that it is split like input 2: the new state of a training step is given to the next
    one. The rest gets the sharding that makes a run of the program cheapest. Functions without
    annotations stay as they are if `devices` is empty. With `--mlir-print-remarks` each move is
    reported, with its cost. FUNCTIONs and calls are substituted.
    """

    name = "tg-shard"

    devices: tuple[str, ...] = ()
    """The names of the devices, where annotations do not say them."""
    flops: float = 2e10
    """How many elements a device computes in a second."""
    bandwidth: float = 1e10
    """How many bytes a device sends in a second."""
    latency: float = 1e-5
    """How long a message without contents takes, in seconds."""

    def apply(self, ctx: Context, op: builtin.ModuleOp) -> None:
        shard(op, self)


def shard(module: builtin.ModuleOp, options: ShardPass | None = None) -> None:
    """Apply the pass."""
    options = options or ShardPass()
    functions = list(own_functions(module))
    entries = [f for f in functions if f.sym_visibility != builtin.StringAttr("private")]
    changed: list[FuncOp] = []
    for function in entries:
        flat = Flattening(function).run()
        annotations = _annotations(flat)
        devices = _devices(flat, annotations, options.devices)
        if devices:
            new = _Sharding(_Problem(flat, devices, annotations, options)).run()
            module.body.block.insert_op_before(new, function)
            changed.append(function)
    for function in changed:
        module.body.block.erase_op(function, safe_erase=False)


# -- annotations -----------------------------------------------------------------------------------


class _Annotation(NamedTuple):
    """How a value is to be split, as a user has said, and what to call the value."""

    place: tg.PlaceAttr
    what: str
    op: Operation


class _Annotations(NamedTuple):
    """Those of values, and those of the operands of the RETURN: how they are split, or the input
    that they are split like."""

    values: Mapping[SSAValue, _Annotation]
    results: Mapping[int, _Annotation]
    alike: Mapping[int, SSAValue]


def _annotations(function: FuncOp) -> _Annotations:
    values: dict[SSAValue, _Annotation] = {}
    results: dict[int, _Annotation] = {}
    alike: dict[int, SSAValue] = {}
    for i, attribute in _listed(function.arg_attrs):
        values[function.args[i]] = _annotation(attribute, f"argument {i}", function)
    for i, attribute in _listed(function.res_attrs):
        if isinstance(attribute, builtin.IntegerAttr):
            alike[i] = _input(attribute.value.data, i, function)
        else:
            results[i] = _annotation(attribute, f"result {i}", function)
    for op in function.body.block.ops:
        if SHARDING in op.attributes:
            values[op.results[0]] = _annotation(op.attributes[SHARDING], op.name, op)
    return _Annotations(values, results, alike)


def _input(number: int, result: int, function: FuncOp) -> SSAValue:
    """The input that a result is split like. Raises PassFailedException if there is none of its
    type."""
    block = function.body.block
    inputs = [*block.args, *(p.result for p in parameters(block))]
    last = block.last_op
    assert last is not None
    if not 0 <= number < len(inputs):
        message = f"{SHARDING} of result {result}: there is no input {number}"
    elif inputs[number].type != (type := last.operands[result].type):
        message = f"{SHARDING} of result {result}, {type}: input {number} is {inputs[number].type}"
    else:
        return inputs[number]
    raise locate(PassFailedException(message), function)


def _listed(
    attributes: builtin.ArrayAttr[builtin.DictionaryAttr] | None,
) -> Iterator[tuple[int, Attribute]]:
    for i, each in enumerate(attributes or ()):
        if SHARDING in each.data:
            yield i, each.data[SHARDING]


def _annotation(attribute: Attribute, what: str, op: Operation) -> _Annotation:
    if not isinstance(attribute, tg.PlaceAttr) or not isinstance(attribute.device, tuple):
        message = f"{SHARDING} of {what} is a #tg.place with several devices, not {attribute}"
        raise locate(PassFailedException(message), op)
    return _Annotation(attribute, what, op)


def _devices(
    function: FuncOp, annotations: _Annotations, given: tuple[str, ...]
) -> tuple[str, ...]:
    """The devices of a function, which all annotations name alike."""
    found = given
    for wanted, what, op in (*annotations.values.values(), *annotations.results.values()):
        assert isinstance(wanted.device, tuple)
        if found and wanted.device != found:
            message = (
                f"{SHARDING} of {what} names {', '.join(wanted.device)}, "
                f"where others name {', '.join(found)}"
            )
            raise locate(PassFailedException(message), op)
        found = wanted.device
    return found


# -- the problem -----------------------------------------------------------------------------------


class _Rule(NamedTuple):
    """A sharding that an op allows.

    Attributes:
        operands: the axis of each operand.
        result: that of the result.
        seconds: what the op takes then, for computation and its own communication.
    """

    operands: tuple[Axis, ...]
    result: Axis
    seconds: float


_Signature = tuple[object, ...]


class _Problem:
    """The shardings of the values of a function, and what they cost."""

    def __init__(
        self,
        function: FuncOp,
        devices: tuple[str, ...],
        annotations: _Annotations,
        options: ShardPass,
    ) -> None:
        self.function = function
        self.devices = devices
        self.annotations = annotations
        self.options = options
        self.link = Link(options.latency, options.bandwidth)
        self.validity = Validity()
        self.axes: dict[SSAValue, Sequence[Axis]] = {}
        """The shardings that each value may have."""
        self._constants: set[SSAValue] = set()
        """The values that depend on no argument: each device computes them where they are used."""
        self._rules: dict[_Signature, Sequence[_Rule]] = {}

    def error(self, message: str, op: Operation) -> Exception:
        return locate(PassFailedException(message), op)

    def solve(self) -> dict[SSAValue, Axis]:
        """The sharding of each value that has some choice."""
        block = self.function.body.block
        values: list[SSAValue] = [*block.args, *(r for op in block.ops for r in op.results)]
        for value in values:
            self.axes[value] = self._axes_of(value)
        variables = {v: i for i, v in enumerate(values)}
        tables = [
            Table((variables[v],), np.array([self._held(v, axis) for axis in self.axes[v]]))
            for v in values
        ]
        sizes = [len(self.axes[v]) for v in values]
        for op in block.ops:
            if isinstance(op, tg.TgOp) and op.operands:
                tables += self._tables(op, variables, sizes)
        last = block.last_op
        assert last is not None
        for i, value in enumerate(last.operands):
            if (wanted := self.annotations.results.get(i)) is not None:
                axis = self._checked(value, wanted)
                # A returned value is in memory, so that its invalid cells are 0.
                costs = [self.moving(value, each, axis) for each in self.axes[value]]
                tables.append(Table((variables[value],), np.array(costs)))
            like = self.annotations.alike.get(i)
            if like is not None and like is not value:
                rows = [
                    [self.moving(value, a, b) for b in self.axes[like]] for a in self.axes[value]
                ]
                tables.append(Table((variables[value], variables[like]), np.array(rows)))
        chosen = cheapest(sizes, tables)
        return {v: self.axes[v][chosen[variables[v]]] for v in values}

    def _axes_of(self, value: SSAValue) -> Sequence[Axis]:
        """The shardings that a value may have."""
        type, owner = value.type, value.owner
        if (wanted := self.annotations.values.get(value)) is not None:
            return [self._checked(value, wanted)]
        if not tg.is_tensor(type):
            return [None]
        if tg.place_of(type).device is not None:
            where = self.function if isinstance(owner, Block) else owner
            raise self.error(f"a program for tg-shard names no device in types: {type}", where)
        if isinstance(owner, tg.BufferOp):
            return [None]
        if isinstance(owner, Operation) and not isinstance(owner, tg.ParamOp):
            if self._constants.issuperset(owner.operands):
                self._constants.add(value)
                return [None]
        elif type.element_type == tg.INDEX:
            return [None]
        return [None, *splittable(type, len(self.devices))]

    def _checked(self, value: SSAValue, wanted: _Annotation) -> Axis:
        """The axis of an annotation. Raises PassFailedException if the value has no such parts."""
        axis = wanted.place.axis
        try:
            type = tg.tensor(value)
            tg.tensor_type(
                type.element_type, type.get_shape(), tg.PlaceAttr.of(self.devices, None, axis)
            )
        except VerifyException as error:
            raise self.error(f"{SHARDING} of {wanted.what}: {error}", wanted.op) from None
        return axis

    def _held(self, value: SSAValue, axis: Axis) -> float:
        """The cost of a value's memory on each device."""
        return _PER_BYTE * _bytes(value) / (1 if axis is None else len(self.devices))

    def _tables(
        self, op: tg.TgOp, variables: Mapping[SSAValue, int], sizes: list[int]
    ) -> Iterable[Table]:
        """The costs of an op over the variables of its operands and its result. For many operands
        with one more variable, the number of the outcome: a table for each of them, in place of one
        that grows exponentially with them."""
        result, choice, outcomes = op.results[0], len(sizes), list(self.outcomes(op))
        costs = [
            [rule.seconds + after if given == axis else math.inf for axis in self.axes[result]]
            for rule, given, after in outcomes
        ]
        tables = [Table((choice, variables[result]), np.array(costs))]
        for i, v in enumerate(op.operands):
            moves = [
                [self.move(v, a, rule.operands[i]) for a in self.axes[v]] for rule, *_ in outcomes
            ]
            tables.append(Table((choice, variables[v]), np.array(moves)))
        if len(op.operands) > _FEW_OPERANDS:
            sizes.append(len(outcomes))
            return tables
        values = tuple(dict.fromkeys(variables[v] for v in (*op.operands, result)))
        total = summed(tables, (*values, choice), [*sizes, len(outcomes)])
        return [Table(values, total.min(-1))]

    def outcomes(self, op: tg.TgOp) -> Iterator[tuple[_Rule, Axis, float]]:
        """The rules of an op, each with the axis of what it gives, and the time that this takes: an
        annotated result is moved."""
        result = op.results[0]
        for rule in self.rules(op):
            if result in self.annotations.values:
                (axis,) = self.axes[result]
                yield rule, axis, self.move(result, rule.result, axis)
            elif rule.result in self.axes[result]:
                yield rule, rule.result, 0.0

    # -- costs

    def move(self, value: SSAValue, axis: Axis, wanted: Axis) -> float:
        """The time to split a value otherwise, in seconds. Infinite for memory, since a copy is
        other memory, and for values with invalid cells, since a copy has 0 there."""
        if axis != wanted and (tg.is_memory(value) or not self.validity[value]):
            return math.inf
        return self.moving(value, axis, wanted)

    def moving(self, value: SSAValue, axis: Axis, wanted: Axis) -> float:
        """The time to copy a value that is split otherwise, in seconds."""
        if axis == wanted:
            return 0.0
        moved = self.moved(value, axis, wanted)
        return 0.0 if moved is None else self.seconds(*moved)

    def moved(self, value: SSAValue, axis: Axis, wanted: Axis) -> tuple[Collective, int] | None:
        """The collective that splits a value otherwise, and the bytes of its operand on each
        device. None if each device has what it needs."""
        if axis is None:
            return None
        own = _bytes(value) // len(self.devices)
        return (Collective.ALL_GATHER if wanted is None else Collective.ALL_TO_ALL), own

    def seconds(self, kind: Collective, size: int) -> float:
        """The time of a collective, by the better algorithm, in seconds."""
        n = len(self.devices)
        return min(seconds(kind, size, n, self.link, each) for each in get_args(Algorithm))

    # -- rules

    def rules(self, op: tg.TgOp) -> Sequence[_Rule]:
        """The shardings that an op allows. Ops that are alike share them."""
        key = op_key(op, [v.type for v in op.operands]), op.results[0].type
        if key not in self._rules:
            self._rules[key] = list(self._made_rules(op))
        return self._rules[key]

    def _made_rules(self, op: tg.TgOp) -> Iterator[_Rule]:
        possible = [
            (None, *splittable(v.type, len(self.devices))) if tg.is_tensor(v.type) else (None,)
            for v in op.operands
        ]
        if isinstance(op, tg.IndexOp):
            candidates = product(*possible)
        else:
            # The same axis of all operands, counted from the right as in a broadcast.
            ranks = [len(v.type.get_shape()) if tg.is_tensor(v.type) else 0 for v in op.operands]
            candidates = dict.fromkeys(
                tuple(r - d if r - d in p else None for r, p in zip(ranks, possible, strict=True))
                for d in range(max(ranks, default=0) + 1)
            )
        for axes in candidates:
            try:
                result = self.result_axis(op, axes)
            except VerifyException:
                continue
            yield _Rule(tuple(axes), result, self._op_seconds(op, axes))

    def result_axis(self, op: tg.TgOp, axes: Sequence[Axis]) -> Axis:
        """The axis of the result on operands that are split like this. Raises VerifyException if
        the op does not allow it."""
        if all(axis is None for axis in axes):
            return None
        if tg.is_type_written(op):
            raise VerifyException(f"{op.name} takes whole values")
        types = [self.placed(v.type, axis) for v, axis in zip(op.operands, axes, strict=True)]
        new = op.rebuild(Block(arg_types=types).args)
        new.verify_rule()
        type = new.results[0].type
        return tg.place_of(type).axis if tg.is_tensor(type) else None

    def placed(self, type: Attribute, axis: Axis) -> Attribute:
        """A type on all devices, split along an axis."""
        if axis is None or not tg.is_tensor(type):
            return type
        where = tg.PlaceAttr.of(self.devices, tg.place_of(type).addrspace, axis)
        return tg.tensor_type(type.element_type, type.get_shape(), where)

    def _op_seconds(self, op: tg.TgOp, axes: Sequence[Axis]) -> float:
        """The time of an op, apart from moves of its operands, in seconds."""
        share = 1 if all(axis is None for axis in axes) else len(self.devices)
        total = 0.0
        if not isinstance(op, tg.MovementOp):
            total = max(map(_elements, (*op.operands, op.results[0]))) / share / self.options.flops
        if (collective := self.reduction(op, axes)) is not None:
            total += self.seconds(*collective)
        return total

    def reduction(self, op: Operation, axes: Sequence[Axis]) -> tuple[Collective, int] | None:
        """The collective of a REDUCE of the split axis, and the bytes of its operand on each
        device."""
        if not isinstance(op, tg.ReduceOp) or axes[0] not in op.axes.get_values():
            return None
        if op.ordered is not None:
            return Collective.ALL_GATHER, _bytes(op.source) // len(self.devices)
        return Collective.ALL_REDUCE, _bytes(op.results[0])


def splittable(type: builtin.TensorType[Attribute], parts: int) -> Sequence[int]:
    """The axes that split into equal parts, none of them empty."""
    return [
        axis
        for axis, extent in enumerate(type.get_shape())
        if extent != builtin.DYNAMIC_INDEX and extent > 0 and extent % parts == 0
    ]


def _elements(value: SSAValue) -> int:
    """The number of cells; a dynamic axis counts as one."""
    shape = value.type.get_shape() if tg.is_tensor(value.type) else (0,)
    return math.prod(1 if d == builtin.DYNAMIC_INDEX else d for d in shape)


def _bytes(value: SSAValue) -> int:
    return _elements(value) * tg.dtype_of(value).itemsize if tg.is_tensor(value.type) else 0


# -- rewriting -------------------------------------------------------------------------------------


class _Sharding:
    """A function whose values are split as the solution of a problem says."""

    def __init__(self, problem: _Problem) -> None:
        self.problem = problem
        self.chosen = problem.solve()
        self.builder, self.values = with_arguments(problem.function, self._argument)
        self.moved: dict[tuple[SSAValue, Axis], SSAValue] = {}
        """The values that are split otherwise as well."""

    def run(self) -> FuncOp:
        old = self.problem.function
        for i, value in enumerate(old.args):
            if tg.is_tensor(value.type) and value not in self.problem.annotations.values:
                emit_remark(old, f"argument {i} is {_how(self.chosen[value])}", "Split")
        for op in old.body.block.ops:
            self.builder.location = op.location
            if isinstance(op, ReturnOp):
                self.builder.insert(ReturnOp(*self.returned(op)))
            else:
                self.convert(cast(tg.TgOp, op))
        new = finished(old, self.builder.block, _without(old.res_attrs))
        new.arg_attrs = _without(old.arg_attrs)
        return new

    def _argument(self, value: SSAValue) -> Attribute:
        """The type of an argument: on all devices, but for a size."""
        type = value.type
        if not tg.is_tensor(type) or (type.element_type == tg.INDEX and not type.get_shape()):
            return type
        where = tg.PlaceAttr.of(
            self.problem.devices, tg.place_of(type).addrspace, self.chosen[value]
        )
        return tg.tensor_type(type.element_type, type.get_shape(), where)

    def convert(self, op: tg.TgOp) -> None:
        """Rebuild an op on operands that are split as its cheapest rule says."""
        problem, result = self.problem, op.results[0]
        noted("split", op)
        if isinstance(op, tg.ParamOp):
            new = op.rebuild([self.values[v] for v in op.operands], self._argument(result))
            self.values[result] = self.builder.put(new)
            return
        rule, cost = None, math.inf
        for each, given, after in problem.outcomes(op):
            price = self._cost(op, each) + after
            if given == self.chosen[result] and price < cost:
                rule, cost = each, price
        if op.operands and rule is None:
            message = f"{op.name} gives no value that is {_how(self.chosen[result])}"
            if not problem.validity[result]:
                message += ", and what has invalid cells (a PAD without fill) cannot be moved"
            raise problem.error(message, op)
        axes = rule.operands if rule is not None else ()
        operands = [
            self.values[v] if self.chosen[v] is None else self.split(v, axis, op)
            for v, axis in zip(op.operands, axes, strict=True)
        ]
        # An op slices what each device has whole as its other operands are split, if any is.
        is_split = any(
            tg.is_tensor(v.type) and tg.place_of(v.type).axis is not None for v in operands
        )
        if isinstance(op, tg.IndexOp) or not is_split:
            operands = [self.split(v, axis, op) for v, axis in zip(op.operands, axes, strict=True)]
        new = op.rebuild(operands)
        new.attributes.update({k: v for k, v in op.attributes.items() if k != SHARDING})
        if (kind := problem.reduction(op, axes)) is not None:
            self.report(op, op.results[0], *kind)
        built = self.builder.put(new)
        given = tg.place_of(built.type).axis if tg.is_tensor(built.type) else None
        assert rule is None or given == rule.result, f"{op.name} is split along {given}"
        self.values[result] = self.moved_to(built, result, given, self.chosen[result], op)

    def returned(self, op: ReturnOp) -> list[SSAValue]:
        annotations = self.problem.annotations
        wanted = {i: each.place.axis for i, each in annotations.results.items()}
        wanted |= {i: self.chosen[like] for i, like in annotations.alike.items()}
        return [
            self.split(v, wanted[i], op) if i in wanted else self.values[v]
            for i, v in enumerate(op.operands)
        ]

    def _cost(self, op: tg.TgOp, rule: _Rule) -> float:
        moves = (
            self.problem.move(v, self.chosen[v], axis)
            for v, axis in zip(op.operands, rule.operands, strict=True)
        )
        return rule.seconds + sum(moves)

    def split(self, value: SSAValue, axis: Axis, op: Operation) -> SSAValue:
        """A value that is split along an axis, moved once if it is split otherwise."""
        if (value, axis) not in self.moved:
            before = self.chosen[value]
            self.moved[value, axis] = self.moved_to(self.values[value], value, before, axis, op)
        return self.moved[value, axis]

    def moved_to(
        self, new: SSAValue, value: SSAValue, before: Axis, axis: Axis, op: Operation
    ) -> SSAValue:
        """A value, moved to be split along another axis."""
        if before == axis:
            return new
        kind = self.problem.moved(value, before, axis)
        if kind is None:
            message = f"{value.type} is sliced along axis {axis}: no bytes are sent"
            emit_remark(op, message, "Move", RemarkKind.PASSED, Bytes=0)
        else:
            self.report(op, value, *kind)
        shape, devices = tg.shape_of(new), self.problem.devices
        for move, argument in placing(shape, tg.place(new), devices, axis):
            new = self.builder.put(move(new, argument))
        return new

    def report(self, op: Operation, value: SSAValue, kind: Collective, size: int) -> None:
        """Remark on a collective that gives a value, with its cost."""
        time = self.problem.seconds(kind, size) * 1e6
        emit_remark(
            op,
            f"{kind.value} of {value.type}: its operand has {size} bytes on each of "
            f"{len(self.problem.devices)} devices, about {time:.3g} us",
            "Move",
            RemarkKind.MISSED,
            Collective=kind.value,
            Bytes=size,
            Devices=len(self.problem.devices),
            Microseconds=time,
        )


def _how(axis: Axis) -> str:
    return "whole on each device" if axis is None else f"split along axis {axis}"


def _without(
    attributes: builtin.ArrayAttr[builtin.DictionaryAttr] | None,
) -> builtin.ArrayAttr[builtin.DictionaryAttr] | None:
    """The attributes of arguments or results but for the annotations; None if there are none."""
    rest = [{k: v for k, v in each.data.items() if k != SHARDING} for each in attributes or ()]
    return builtin.ArrayAttr(map(builtin.DictionaryAttr, rest)) if any(rest) else None
