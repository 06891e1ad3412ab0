"""Calls: what runs kernels, programs, functions and LINEARs for one another."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from xdsl.dialects import func
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import InterpretationError

from tgdialect.diagnostics import errors_at
from tgdialect.interpreter.accesses import Roots, accesses
from tgdialect.interpreter.custom import CustomCode
from tgdialect.interpreter.host import (
    Frame,
    Tensor,
    Value,
    View,
    Void,
    allocate,
    check_parameter,
    waits_for,
    whole,
)
from tgdialect.interpreter.kernel import Execution, run_block
from tgdialect.interpreter.kernel import Value as LiveValue
from tgdialect.interpreter.live import LiveMemory, LiveView
from tgdialect.interpreter.locations import Location
from tgdialect.interpreter.schedule import Schedule
from tgdialect.interpreter.values import Array
from tgdialect.interpreter.versions import Memory, Stores
from tgdialect.ops.arrays import Data
from tgdialect.ops.attributes import AddrSpace
from tgdialect.ops.call import CallOp, KernelOp, parameters
from tgdialect.ops.codegen import CustomFunctionOp, ProgramOp
from tgdialect.ops.ordering import LinearOp
from tgdialect.ops.properties import dtype_of, is_memory, place
from tgdialect.ops.source import BufferOp, ParamOp

_MAX_DEPTH = 100
"""How deep calls and FUNCTIONs may nest; a function that calls itself never ends."""


@dataclass(frozen=True)
class Contents:
    """What a memory argument holds after a call, and which of its elements the callee wrote."""

    data: Data
    written: Callable[[], Data]


@dataclass(frozen=True)
class Outcome:
    """Of a call: its results, and for each argument its new contents if it was written."""

    results: Sequence[Data]
    contents: Sequence[Contents | None]


Slots = frozenset[int]


@dataclass
class Machine:
    """What one run of the interpreter has in common."""

    custom: CustomCode = field(default_factory=CustomCode)
    buffers: Mapping[int, Data] = field(default_factory=dict[int, Data])
    _effects: dict[Operation, tuple[Slots, Slots]] = field(
        default_factory=dict[Operation, tuple[Slots, Slots]]
    )
    _depth: int = 0

    @contextmanager
    def nested(self, what: str) -> Generator[None]:
        """Count a call, and refuse to go on without end."""
        if self._depth >= _MAX_DEPTH:
            raise InterpretationError(f"{what} nests more than {_MAX_DEPTH} deep")
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    # -- calls

    def call(
        self, callee: Operation, arguments: Sequence[Data], extra: Sequence[Data] = ()
    ) -> Outcome:
        """Run a callee on arrays, which it does not change.

        `extra` are the arguments of the PARAMs of a `func.func`, by slot.
        """
        with errors_at(callee):
            match callee:
                case func.FuncOp():
                    with self.nested(f"the call of @{callee.sym_name.data}"):
                        return self._function(callee, arguments, extra)
                case KernelOp():
                    return self._kernel(callee, callee.body.block, arguments, graph=True)
                case ProgramOp():
                    return self._kernel(callee, callee.linear.body.block, arguments, graph=False)
                case CustomFunctionOp():
                    return self._custom_function(callee, arguments)
                case _:
                    raise InterpretationError(f"{callee.name} is not callable")

    def _function(
        self, callee: func.FuncOp, arguments: Sequence[Data], extra: Sequence[Data]
    ) -> Outcome:
        if len(callee.body.blocks) != 1:
            raise InterpretationError(
                f"@{callee.sym_name.data} has {len(callee.body.blocks)} blocks, not one"
            )
        block = callee.body.block
        values = [
            _argument(argument, data, f"argument {argument.index}")
            for argument, data in zip(block.args, arguments, strict=True)
        ]
        slots = parameters(block)[: len(extra)]
        params = [
            _argument(param.result, data, f"parameter {param.slot.data}")
            for param, data in zip(slots, extra, strict=True)
        ]
        frame = Frame(self, params)
        returned = frame.run(block, values)
        end = block.last_op
        assert end is not None
        # Copies, because what they may share storage with is written next.
        with errors_at(end):
            results = [np.array(frame.read(end, value).materialised()) for value in returned]
        frame.journal.check_races()
        write_back(
            (self.buffers[slot], memory.contents(memory.stores, frame.journal))
            for (_, slot), memory in frame.buffers.items()
            if slot in self.buffers and memory.stores
        )
        return Outcome(results, [_contents(frame, value) for value in (*values, *params)])

    def _kernel(
        self, callee: Operation, block: Block, arguments: Sequence[Data], *, graph: bool
    ) -> Outcome:
        params = parameters(block)
        _, written = self.effects(callee)

        def bind(plan: Schedule) -> tuple[list[LiveValue], dict[SSAValue, LiveValue]]:
            values: list[LiveValue] = []
            for param, data in zip(params, arguments, strict=True):
                slot = param.slot.data
                if not is_memory(param.result):
                    with errors_at(param):
                        check_parameter(param, data)
                    values.append(Array(data))
                    continue
                memory = LiveMemory(
                    data.copy() if slot in written else data,
                    dtype_of(param.result),
                    name=f"parameter {slot}",
                    keep_snapshot=slot in written and bool(plan.snapshots),
                )
                if slot in written:
                    memory.written = np.zeros(memory.size, np.bool_)
                values.append(LiveView(memory, Location(memory.shape, memory.dtype)))
            return values, {}

        values, _ = run_block(block, self, graph=graph, bind=bind)
        return Outcome([], [_live_contents(value) for value in values])

    def _custom_function(self, callee: CustomFunctionOp, arguments: Sequence[Data]) -> Outcome:
        function = self.custom.function(callee.name, callee.sym_name.data)
        arrays = [data.copy() for data in arguments]
        function(*arrays)
        changed = [
            new.tobytes() != old.tobytes() for new, old in zip(arrays, arguments, strict=True)
        ]
        return Outcome(
            [],
            [
                Contents(new, partial(np.ones, new.shape, np.bool_)) if is_changed else None
                for new, is_changed in zip(arrays, changed, strict=True)
            ],
        )

    def call_live(self, op: Operation, operands: Sequence[LiveValue], run: Execution) -> None:
        """A CALL in a LINEAR: what the callee writes is in memory at once."""
        assert isinstance(op, CallOp)
        callee = SymbolTable.lookup_symbol(op, op.callee)
        if callee is None:
            raise InterpretationError(f"there is no symbol @{op.callee.string_value()}")
        lanes = run.plan.lanes
        arrays: list[Data] = []
        for operand in op.operands:
            data = run.array(op, operand).materialised()
            if any(size != 1 for size in data.shape[:lanes]):
                raise InterpretationError("a CALL differs between the iterations of a loop")
            arrays.append(data.reshape(data.shape[lanes:]))
        outcome = self.call(callee, arrays)
        for view, content in zip(operands, outcome.contents, strict=True):
            if content is not None and isinstance(view, LiveView):
                shape = (1,) * lanes + content.data.shape
                view.memory.scatter(
                    view.location, content.data.reshape(shape), content.written().reshape(shape)
                )

    def linear(self, frame: Frame, op: LinearOp, known: Mapping[SSAValue, Value]) -> Void:
        """A LINEAR of a host program: its ops one after the other, on live memory."""
        outer = {
            operand: known[operand]
            for inner in op.body.walk()
            for operand in inner.operands
            if operand in known
        }
        views = [v for v in (*outer.values(), *frame.parameters) if isinstance(v, View)]
        after = waits_for([*outer.values(), *frame.parameters])
        versions: dict[Memory, Stores] = {}
        for view in views:
            versions[view.memory] = versions.get(view.memory, 0) | view.version
        lived: dict[Memory, LiveMemory] = {}

        def live(value: Value) -> LiveValue:
            if isinstance(value, Tensor):
                return value.array
            return (
                LiveView(lived[value.memory], value.location) if isinstance(value, View) else None
            )

        def bind(plan: Schedule) -> tuple[list[LiveValue], dict[SSAValue, LiveValue]]:
            for memory, version in versions.items():
                contents = memory.contents(version, frame.journal)
                lived[memory] = LiveMemory(contents.copy(), memory.dtype, name=memory.name)
                lived[memory].written = np.zeros(contents.size, np.bool_)
            return (
                [live(value) for value in frame.parameters],
                {operand: live(value) for operand, value in outer.items()},
            )

        run_block(op.body.block, self, graph=False, bind=bind)
        done = after
        for memory, now in lived.items():
            if now.written is not None and now.written.any():
                mask = now.written.reshape(now.shape)
                done |= frame.store(op, whole(memory), now.contents, mask, after)
        return Void(done)

    # -- what a callee does to its arguments

    def effects(self, callee: Operation) -> tuple[Slots, Slots]:
        """The arguments that a callee reads, and those that it writes."""
        if (known := self._effects.get(callee)) is not None:
            return known
        if not callee.regions:
            everything = frozenset(range(1 << 10))
            return everything, everything
        with self.nested(f"the call of {callee.name}"):
            read: set[int] = set()
            written: set[int] = set()
            roots = Roots()
            for op in callee.regions[0].walk():
                inner: tuple[Slots, Slots] | None = None
                if isinstance(op, CallOp | func.CallOp):
                    target = SymbolTable.lookup_symbol(op, op.callee.string_value())
                    inner = None if target is None else self.effects(target)
                for access in accesses(op, roots):
                    if (slot := _slot(access.root)) is None:
                        continue
                    if access.reads and (inner is None or access.position in inner[0]):
                        read.add(slot)
                    if access.writes and (inner is None or access.position in inner[1]):
                        written.add(slot)
        result = self._effects[callee] = (frozenset(read), frozenset(written))
        return result

    # -- buffers

    def buffer(self, frame: Frame, op: BufferOp, shape: Sequence[int]) -> Memory:
        """The memory of a BUFFER: one per slot and address space."""
        slot = op.slot.data
        space = place(op.result).addrspace
        assert space is not None
        key = (space.value, slot)
        if (memory := frame.buffers.get(key)) is None:
            contents = self.buffers.get(slot) if space is AddrSpace.GLOBAL else None
            if contents is None:
                contents = allocate(shape, op.result)
            memory = frame.buffers[key] = Memory(contents, dtype_of(op.result), f"buffer {slot}")
        if memory.initial.shape != tuple(shape) or memory.dtype != dtype_of(op.result):
            raise InterpretationError(
                f"buffer {slot} is {memory.dtype.name} of shape {memory.initial.shape}, not "
                f"{op.result.type}"
            )
        return memory


def write_back(contents: Iterable[tuple[Data, Data]]) -> None:
    """Write the second array of each pair to the first, which the other seconds may share."""
    pairs = list(contents)
    targets = [target for target, _ in pairs]
    detached = [
        data.copy() if any(np.may_share_memory(data, target) for target in targets) else data
        for _, data in pairs
    ]
    for target, data in zip(targets, detached, strict=True):
        target[...] = data


def _slot(root: SSAValue) -> int | None:
    """Which argument a memory is: the slot of a PARAM, or the position of a block argument."""
    if isinstance(root, BlockArgument):
        return root.index
    return root.owner.slot.data if isinstance(root.owner, ParamOp) else None


def _argument(value: SSAValue, data: Data, name: str) -> Value:
    """An argument as a function's body sees it."""
    if is_memory(value):
        return whole(Memory(data, dtype_of(value), name))
    return Tensor(Array(data))


def _contents(frame: Frame, value: Value) -> Contents | None:
    if not isinstance(value, View) or not value.memory.stores:
        return None
    memory = value.memory
    return Contents(
        memory.contents(memory.stores, frame.journal),
        lambda: frame.journal.written(memory.stores, memory),
    )


def _live_contents(value: LiveValue) -> Contents | None:
    if not isinstance(value, LiveView) or value.memory.written is None:
        return None
    memory, written = value.memory, value.memory.written
    return Contents(memory.contents, lambda: written.reshape(memory.shape))
