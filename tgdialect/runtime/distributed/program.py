"""The output of `tg-split-collectives` as the steps that each device runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from xdsl.dialects import builtin
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.shard import CollectiveCommunicationOp, RecvOp, ReductionKindAttr, SendOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.communication import Collective
from tgdialect.analysis.min_max import MinMax
from tgdialect.diagnostics import locate
from tgdialect.ops import tg
from tgdialect.ops.arrays import numpy_dtype_of
from tgdialect.ops.expressions import parsed
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.ops.source import name_of_input, parameters
from tgdialect.runtime.distributed.array import own_part
from tgdialect.runtime.distributed.exchange import Exchange
from tgdialect.runtime.program import Parameter
from tgdialect.transforms.shard.grids import DEVICES, WORLD, grids_of
from tgdialect.transforms.shard.lower import INPUTS, RESULTS
from tgdialect.transforms.shard.raise_collectives import KINDS
from tgdialect.transforms.shard.split import is_exchange


class Place(NamedTuple):
    """Where an input or a result is: the numbers of the devices, and the axis that is split.

    No devices: anywhere, so that each has it. `is_single` if the program names one device.
    """

    devices: tuple[int, ...] = ()
    axis: int | None = None
    is_single: bool = False

    def has(self, rank: int) -> bool:
        """Whether a device has it, or a part of it."""
        return not self.devices or rank in self.devices

    def part_of(self, array: Array, rank: int) -> Array:
        """The own part of a device that has one, as a view of the whole."""
        position = self.devices.index(rank) if self.devices else 0
        return own_part(array, self.axis, position, len(self.devices))


class Extent(NamedTuple):
    """An extent: a number, or the number of the value that it is."""

    number: int
    is_dynamic: bool = False


class Placed(NamedTuple):
    """An input or a result of a program: a result has the shape of the whole, or of a static part
    of it."""

    parameter: Parameter
    place: Place


Numbers = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class ProgramStep:
    """An op of the function that all devices run.

    Attributes:
        operands, results: the numbers of values.
        dropped: the values that no later step uses.
    """

    operands: tuple[int, ...]
    results: tuple[int, ...]
    dropped: tuple[int, ...]


@dataclass(frozen=True)
class CallStep(ProgramStep):
    """A call of the function of a part, on some devices."""

    name: str
    members: frozenset[int]


@dataclass(frozen=True)
class ExchangeStep(ProgramStep):
    """A collective, whose dynamic extents are unknown in `exchange`.

    Attributes:
        shape, result: the extents of the operand and of the result, if some are dynamic. The values
            that they are come after the operand in `operands`.
    """

    exchange: Exchange
    shape: Sequence[Extent] = ()
    result: Sequence[Extent] = ()


@dataclass(frozen=True)
class ReshapeStep(ProgramStep):
    """A RESHAPE to a shape, in which an extent that is an operand has None."""

    shape: tuple[int | None, ...]


@dataclass(frozen=True)
class ShardedProgram:
    """The program that each of `devices` runs.

    Values are numbered: first the inputs, then the numbers of the device in the grids of `ranks`,
    then the BUFFERs, then what the steps give.
    """

    devices: tuple[str, ...]
    inputs: Sequence[Placed]
    ranks: Sequence[tuple[int, ...]]
    buffers: Sequence[Parameter]
    steps: Sequence[ProgramStep]
    returned: Sequence[int]
    results: Sequence[Placed]
    parts: dict[str, builtin.ModuleOp]
    text: str
    """The program as text, which has to be the same on all devices."""


def program_of(module: builtin.ModuleOp, entry: str) -> ShardedProgram:
    """The program of a function that has been split at its collectives."""
    return _Reader(module, entry).program()


class _Reader:
    def __init__(self, module: builtin.ModuleOp, entry: str) -> None:
        found = SymbolTable.lookup_symbol(module, entry)
        assert isinstance(found, FuncOp)
        self.module, self.function = module, found
        self.grids = grids_of(module)
        self.world = self.grids[WORLD].devices
        self.numbers: dict[SSAValue, int] = {}
        self.bounds = MinMax()

    def members(self, devices: Sequence[str]) -> tuple[int, ...]:
        """The numbers of devices among all."""
        return tuple(self.world.index(device) for device in devices)

    def place(self, attribute: Attribute) -> Place:
        assert isinstance(attribute, tg.PlaceAttr)
        device = attribute.device
        if isinstance(device, tuple):
            return Place(self.members(device), attribute.axis)
        return Place(self.members([device]), is_single=True) if device in self.world else Place()

    def program(self) -> ShardedProgram:
        body = self.function.body.block
        places = cast("builtin.ArrayAttr[Attribute]", self.function.attributes[INPUTS]).data
        values = [*body.args, *(p.result for p in parameters(body))]
        self.numbers.update((value, number) for number, value in enumerate(values))
        buffers: dict[int, Parameter] = {}
        for op in body.ops:  # Several PARAMs, or BUFFERs, of a slot are one value.
            if isinstance(op, tg.ParamOp):
                self.numbers[op.result] = len(body.args) + op.slot.data
            elif isinstance(op, tg.BufferOp):
                slot = op.slot.data
                if slot not in buffers:
                    buffers[slot] = self.parameter(op.result, slot, Place(), "buffer")
                self.numbers[op.result] = len(values) + [*buffers].index(slot)
        inputs: list[Placed] = []
        ranks: list[tuple[int, ...]] = []
        for value, where in zip(values, places, strict=True):
            if isinstance(where, builtin.SymbolRefAttr):
                ranks.append(self.members(self.grids[where.string_value()].devices))
            else:
                where = self.place(where)
                inputs.append(Placed(self.parameter(value, len(inputs), where), where))
        steps, returned = self.steps(list(body.ops), len(values) + len(buffers))
        wheres = cast("builtin.ArrayAttr[Attribute]", self.function.attributes[RESULTS]).data
        last = body.last_op
        assert isinstance(last, ReturnOp)
        results = [
            Placed(self.parameter(value, i, self.place(where), "output"), self.place(where))
            for i, (value, where) in enumerate(zip(last.operands, wheres, strict=True))
        ]
        parts = {s.name: self.part(s.name) for s in steps if isinstance(s, CallStep)}
        return ShardedProgram(
            self.world,
            inputs,
            ranks,
            [*buffers.values()],
            steps,
            returned,
            results,
            parts,
            str(self.module),
        )

    def part(self, name: str) -> builtin.ModuleOp:
        """A module of the function of a part, and of the kernels that it calls."""
        function = SymbolTable.lookup_symbol(self.module, name)
        assert isinstance(function, FuncOp)
        copy = function.clone()
        copy.properties.pop("sym_visibility", None)
        called = {op.callee for op in copy.walk() if isinstance(op, tg.CallOp)}
        kernels = (SymbolTable.lookup_symbol(self.module, callee) for callee in called)
        return builtin.ModuleOp(
            [copy, *(kernel.clone() for kernel in kernels if kernel is not None)]
        )

    def parameter(
        self, value: SSAValue, number: int, where: Place, role: str | None = None
    ) -> Parameter:
        """How a value is described to callers: by the shape of the whole."""
        type = tg.tensor(value)
        shape = list(type.get_shape())
        if where.axis is not None:
            shape[where.axis] *= len(where.devices)
        is_scalar = type == tg.tensor_type(tg.INDEX)
        extents = tuple(None if d == builtin.DYNAMIC_INDEX else d for d in shape)
        dims = [e.number for e in self.extents(value) if e.is_dynamic]
        interval = self.bounds[value]
        owner = value.owner
        formula = tg.computed_attribute(owner.attributes if isinstance(owner, Operation) else {})
        default = "out" if role == "output" else "arg"
        return Parameter(
            name_of_input(value) or f"{default}{number}",
            role or ("scalar" if is_scalar else "input"),
            extents,
            numpy_dtype_of(value),
            tuple(dims),
            *((int(interval.lo), int(interval.hi)) if is_scalar else ()),
            computed=None if formula is None else parsed(formula),
            by_reference=role is None and tg.place_of(type).has_addrspace,
        )

    def extents(self, value: SSAValue) -> Sequence[Extent]:
        """The shape of a value, with the numbers of the values that dynamic extents are."""
        return [self._extent(dim) for dim in tg.shape_of(value)]

    def _extent(self, dim: tg.Dim) -> Extent:
        if isinstance(dim, int):
            return Extent(dim)
        if not isinstance(dim, SSAValue):
            message = f"extent {dim.axis} of {dim.value.type} is no size of an input"
        elif (number := self.numbers.get(dim)) is not None:
            return Extent(number, is_dynamic=True)
        else:
            message = "an extent of a BUFFER is no size of an input"
        raise locate(PassFailedException(message), self.function)

    def _sizes(self, op: Operation) -> Sequence[int]:
        """The numbers of the values that are dynamic extents of a collective."""
        if not is_exchange(op):
            return ()
        extents = [e for v in (op.operands[0], op.results[0]) for e in self.extents(v)]
        return list(dict.fromkeys(e.number for e in extents if e.is_dynamic))

    # -- steps

    def steps(self, ops: Sequence[Operation], first: int) -> tuple[list[ProgramStep], list[int]]:
        made: list[ProgramStep] = []
        returned: list[int] = []
        kept: list[tuple[Operation, tuple[int, ...]]] = []
        last_use: dict[int, int] = {}
        for op in ops:
            if isinstance(op, tg.ParamOp | tg.BufferOp):
                continue
            operands = (*(self.numbers[o] for o in op.operands), *self._sizes(op))
            last_use.update(dict.fromkeys(operands, len(kept)))
            kept.append((op, operands))
            if not is_step(op):  # The value stays what it is.
                self.numbers[op.results[0]] = operands[0]
                continue
            for result in op.results:
                self.numbers[result] = first
                first += 1
        for position, (op, operands) in enumerate(kept):
            if isinstance(op, ReturnOp):
                returned = list(operands)
            elif is_step(op):
                dropped = tuple(o for o in dict.fromkeys(operands) if last_use[o] == position)
                unused = tuple(self.numbers[r] for r in op.results if not r.uses)
                results = tuple(self.numbers[r] for r in op.results)
                made.append(self.step(op, (operands, results, (*dropped, *unused))))
        return made, returned

    def step(self, op: Operation, numbers: Numbers) -> ProgramStep:
        """An op, given the numbers of its operands, of its results and of what is dropped."""
        match op:
            case CallOp():
                names = cast(
                    "builtin.ArrayAttr[builtin.StringAttr] | None", op.attributes.get(DEVICES)
                )
                devices = self.world if names is None else [n.data for n in names]
                return CallStep(
                    *numbers, op.callee.string_value(), frozenset(self.members(devices))
                )
            case tg.ReshapeOp():
                shape = tuple(
                    None if d == builtin.DYNAMIC_INDEX else d for d in op.shape.get_values()
                )
                return ReshapeStep(*numbers, shape)
            case CollectiveCommunicationOp():
                shapes = [self.extents(v) for v in (op.operands[0], op.results[0])]
                if not any(e.is_dynamic for shape in shapes for e in shape):
                    shapes = []
                return ExchangeStep(*numbers, self.exchange(op), *shapes)
            case _:
                raise AssertionError(f"{op.name} is no step")

    def exchange(self, op: CollectiveCommunicationOp) -> Exchange:
        source, result = op.operands[0], op.results[0]
        members = self.members(self.grids[op.grid.string_value()].devices)
        shape, dtype = tg.tensor(source).get_shape(), numpy_dtype_of(source)
        if isinstance(op, RecvOp):
            ends = self.members([str(tg.place(v).device) for v in (source, result)])
            return Exchange(Collective.TRANSFER, ends, shape, dtype, shape)
        assert tg.is_tensor(result.type)
        reduction, root = (op.properties.get(name) for name in ("reduction", "root"))
        is_reduction = isinstance(reduction, ReductionKindAttr)
        return Exchange(
            Collective(op.name.removeprefix("shard.")),
            members,
            shape,
            dtype,
            result.type.get_shape(),
            axis=_axis(op, "split_axis", "scatter_axis", "gather_axis"),
            joined=_axis(op, "concat_axis"),
            reduction=KINDS[reduction.data].value if is_reduction else "add",
            root=root.get_values()[0] if isinstance(root, builtin.DenseArrayBase) else 0,  # pyright: ignore
        )


def is_step(op: Operation) -> bool:
    """Whether an op is executed. A SEND leaves the value where it is, and of RESHAPEs after one
    another the last one is enough."""
    if isinstance(op, tg.ReshapeOp) and len(op.operands) == 1:
        return not all(isinstance(use.operation, tg.ReshapeOp) for use in op.result.uses)
    return not isinstance(op, SendOp)


def _axis(op: Operation, *names: str) -> int:
    for name in names:
        if isinstance(axis := op.properties.get(name), builtin.IntegerAttr):
            return axis.value.data
    return 0
