"""Host programs: `func.func` at every level, and the bodies of FUNCTIONs.

Each op is a pure function of its operands' values. That includes memory (`versions.py`): a view
holds the contents that a read through it sees, and every value records the stores that it waits
for. So ops can be evaluated one at a time, and `calls.py` registers the same functions with
xDSL's interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from tgdialect.diagnostics import errors_at
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.interpreter.block_analysis import BlockAnalysis
from tgdialect.interpreter.kernel import Given, LiveValue
from tgdialect.interpreter.lane_run import LaneRun
from tgdialect.interpreter.memory import AssumptionError, LiveMemory, LiveView
from tgdialect.interpreter.movement import MOVEMENTS, AppliedMovement, extents
from tgdialect.interpreter.nesting import lane_schedule
from tgdialect.interpreter.pure import PURE, load
from tgdialect.interpreter.run_context import RunContext, symbol_of
from tgdialect.interpreter.scalar import ScalarRun
from tgdialect.interpreter.signature import check_bounds
from tgdialect.interpreter.values import MaskedArray, all_valid, broadcast, check_size
from tgdialect.interpreter.versions import (
    HostValue,
    Journal,
    Store,
    Stores,
    TensorValue,
    Tuple,
    VersionedMemory,
    VersionedView,
    Void,
    waits_for,
    whole,
)
from tgdialect.ops import tg
from tgdialect.ops.arrays import numpy_dtype_of
from tgdialect.ops.numpy_dtypes import Array


def run_block(
    block: Block, context: RunContext, *, graph: bool, bind: Callable[[bool], Given]
) -> Sequence[LiveValue]:
    """Execute a kernel's block, or the block of a LINEAR, and return the values of its PARAMs.

    `bind` makes the values that it is given, with fresh memory. Its argument says whether memory
    that is written keeps its first contents for later reads. Lanes assume that each iteration of a
    loop uses a buffer privately. If an iteration reads what another one has written to it, the
    oracle runs the block again.
    """
    analysis = BlockAnalysis(block, graph=graph)
    # A loop of CALLs runs a kernel by itself in each iteration.
    if not context.scalar and not {tg.CallOp, tg.RangeOp} <= {type(op) for op in block.ops}:
        given = bind(bool(analysis.snapshots))
        with suppress(AssumptionError):
            LaneRun(lane_schedule(analysis), context, given).run()
            return given.parameters
    given = bind(bool(analysis.snapshots))
    ScalarRun(analysis, context, given).run()
    return given.parameters


class CycleError(InterpretationError):
    """An op reads memory as it was before a STORE that it waits for."""


@dataclass
class Frame:
    """One run of a function: its stores, its buffers, and the values of its PARAMs."""

    context: RunContext
    parameters: Sequence[HostValue] = ()
    journal: Journal = field(default_factory=Journal)
    buffers: dict[tuple[str, int], VersionedMemory] = field(
        default_factory=dict[tuple[str, int], VersionedMemory]
    )
    is_function: bool = False
    """Whether this is an evaluation of a FUNCTION, whose buffers the caller gives no contents."""

    def run(self, block: Block, arguments: Sequence[HostValue] = ()) -> Sequence[HostValue]:
        """Evaluate a block. Returns the operands of its `func.return` or of a final `tg.tuple`."""
        known: dict[SSAValue, HostValue] = dict(zip(block.args, arguments, strict=True))
        last_use = _last_uses(block)
        # The results of a cycle that nothing needs, and what is computed from them.
        left_out: set[SSAValue] = set()
        for op in block.ops:
            if not left_out.isdisjoint(op.operands):
                left_out.update(op.results)
                continue
            operands = [known[operand] for operand in op.operands]
            if isinstance(op, func.ReturnOp) or (isinstance(op, tg.TupleOp) and op.next_op is None):
                return operands
            try:
                results = self.evaluate(op, operands, known)
            except CycleError:
                if op not in _unneeded(block):
                    raise
                left_out.update(op.results)
                continue
            known.update(zip(op.results, results, strict=True))
            for value in last_use.get(op, ()):
                known.pop(value, None)
        return ()

    def evaluate(
        self, op: Operation, operands: Sequence[HostValue], known: Mapping[SSAValue, HostValue] = {}
    ) -> Sequence[HostValue]:
        """The values of an op's results. `known` holds the values that a LINEAR captures."""
        with errors_at(op):
            if isinstance(op, tg.LinearOp):
                return [self._linear(op, known)]
            if isinstance(op, func.CallOp):
                return self.call(op, op.callee.string_value(), operands)
            if (function := HOST.get(op.name)) is None:
                raise InterpretationError(f"{op.name} is not an op of a host program")
            try:
                return [function(self, op, operands)]
            except MemoryError as e:
                raise InterpretationError(f"{op.name} of {op.results[0].type}: {e}") from e

    # -- reading and making memory

    def read(self, op: Operation, value: HostValue, after: Stores | None = None) -> MaskedArray:
        """The array of an operand, for an op that waits for the stores `after`.

        A view shows one version of its memory. If the op waits for a store to that memory which the
        version lacks, it would have to run both before and after that store: an error.
        """
        if isinstance(value, TensorValue):
            return value.array
        if not isinstance(value, VersionedView):
            raise InterpretationError(f"{op.name} takes a tensor")
        waits_for = value.after if after is None else after
        if waits_for & value.memory.stores & ~value.version:
            raise CycleError(
                f"cycle: {op.name} reads {value.memory.name} as it was before a store that "
                "it waits for"
            )
        return value.array

    def fresh(self, value: SSAValue, array: MaskedArray, after: Stores) -> HostValue:
        """The run-time value of `value`: a tensor, or new memory that holds the array."""
        if not tg.is_memory(value):
            return TensorValue(array, after)
        memory = VersionedMemory(np.asarray(array.materialised(), order="C"), tg.dtype_of(value))
        return replace(whole(memory), after=after)

    def refresh(self, view: VersionedView, after: Stores) -> VersionedView:
        """AFTER: the same view, of the version that includes the stores `after`."""
        version = view.version | (after & view.memory.stores)
        if version == view.version:
            return replace(view, after=view.after | after)
        contents = MaskedArray(view.memory.contents(version, self.journal))
        return VersionedView(
            view.cell_map.read(contents), view.memory, view.cell_map, version, view.after | after
        )

    def store(
        self,
        op: Operation,
        view: VersionedView,
        value: Array,
        mask: Array | None,
        after: Stores,
        *,
        adds: bool = False,
    ) -> Stores:
        """Record a store through a view, of the elements where `mask` is true. Returns the store
        and all stores that it waits for."""
        shape = view.array.data.shape
        if value.shape != shape:
            raise InterpretationError(f"a value of shape {value.shape} is stored to {shape}")
        mask = broadcast(mask, shape)
        return self.journal.add(Store(op, view.memory, view.cell_map, value, mask, after, adds))

    # -- calls

    def _linear(self, op: tg.LinearOp, known: Mapping[SSAValue, HostValue]) -> Void:
        """LINEAR: run its ops one after the other, on live memory, and record one store for each
        memory that they have changed."""
        used = {operand for inner in op.body.walk() for operand in inner.operands}
        outer = {operand: value for operand, value in known.items() if operand in used}
        values = [*outer.values(), *self.parameters]
        versions: dict[VersionedMemory, Stores] = {}
        for view in values:
            if isinstance(view, VersionedView):
                versions[view.memory] = versions.get(view.memory, 0) | view.version
        lived: dict[VersionedMemory, LiveMemory] = {}

        def live(value: HostValue) -> LiveValue:
            if isinstance(value, VersionedView):
                return LiveView(lived[value.memory], value.cell_map)
            return value.array if isinstance(value, TensorValue) else None

        def bind(snapshots: bool) -> Given:
            for memory, version in versions.items():
                contents = memory.contents(version, self.journal)
                lived[memory] = LiveMemory(contents.copy(), memory.dtype, name=memory.name)
                lived[memory].written = np.zeros(contents.size, np.bool_)
            captured = {operand: live(value) for operand, value in outer.items()}
            return Given([live(value) for value in self.parameters], captured)

        run_block(op.body.block, self.context, graph=False, bind=bind)
        done = after = waits_for(values)
        for memory, now in lived.items():
            if now.written is not None and now.written.any():
                mask = now.written.reshape(now.shape)
                done |= self.store(op, whole(memory), now.contents, mask, after)
        return Void(done)

    def call(
        self, op: Operation, symbol: str, operands: Sequence[HostValue]
    ) -> Sequence[HostValue]:
        """CALL or `func.call`: the results, after the stores of the callee to its arguments."""
        # The arguments as arrays. Memory that the callee only writes may be an old version.
        callee = symbol_of(op, symbol)
        after = waits_for(operands)
        read, written = self.context.effects(callee, len(operands))
        arrays: list[Array] = []
        for slot, operand in enumerate(operands):
            if isinstance(operand, VersionedView) and slot in written and slot not in read:
                arrays.append(operand.array.materialised())
            else:
                arrays.append(self.read(op, operand, after).materialised())
        # Run the callee, and record what it wrote to memory arguments.
        outcome = self.context.run_call(op, callee, arrays)
        done = after
        for operand, content in zip(operands, outcome.contents, strict=True):
            if content is not None and isinstance(operand, VersionedView):
                done |= self.store(op, operand, content.data, content.written(), after)
        # The results: several for a `func.call`, a tuple or an ordering edge for a CALL.
        if isinstance(op, func.CallOp):
            return [
                self.fresh(result, MaskedArray(data), done)
                for result, data in zip(op.results, outcome.results, strict=True)
            ]
        if isinstance(op.results[0].type, tg.TupleType):
            return [Tuple([TensorValue(MaskedArray(data), done) for data in outcome.results], done)]
        return [Void(done)]


def _unneeded(block: Block) -> Set[Operation]:
    """The ops that compute values which no result and no effect depends on."""
    unneeded: set[Operation] = set()
    for op in reversed(ops_of(block)):
        users = (use.operation for result in op.results for use in result.uses)
        # A value that a region uses counts as needed.
        if HOST.get(op.name) in _VALUES and all(user in unneeded for user in users):
            unneeded.add(op)
    return unneeded


def _last_uses(block: Block) -> dict[Operation, list[SSAValue]]:
    """For each op, the values that are not used after it, so that their storage can be freed.
    Values that a region of an op captures are kept."""
    result: dict[Operation, list[SSAValue]] = {}
    seen = {
        operand
        for op in block.ops
        for region in op.regions
        for inner in region.walk()
        for operand in inner.operands
    }
    for op in reversed(ops_of(block)):
        for value in (*op.operands, *op.results):
            if value not in seen:
                seen.add(value)
                result.setdefault(op, []).append(value)
    return result


# -- one function per op -------------------------------------------------------------------------


def _pure(frame: Frame, op: Operation, operands: Sequence[HostValue]) -> HostValue:
    after = waits_for(operands)
    arrays = [frame.read(op, operand, after) for operand in operands]
    return frame.fresh(op.results[0], PURE[op.name](op, arrays, 0), after)


def _movement(frame: Frame, op: Operation, operands: Sequence[HostValue]) -> HostValue:
    """A movement op: a view of memory if the source is memory, and otherwise a tensor."""
    source, after = operands[0], waits_for(operands)
    movement = AppliedMovement(op, [frame.read(op, operand, after) for operand in operands[1:]])
    if isinstance(source, VersionedView):
        cell_map = source.cell_map.moved(movement)
        return VersionedView(
            movement.of(source.array), source.memory, cell_map, source.version, after
        )
    return TensorValue(movement.of(frame.read(op, source)), after)


def _identity(frame: Frame, op: Operation, operands: Sequence[HostValue]) -> HostValue:
    return operands[0]


def _param(frame: Frame, op: tg.ParamOp, operands: Sequence[HostValue]) -> HostValue:
    slot = op.slot.data
    if slot >= len(frame.parameters):
        raise InterpretationError(f"parameter {slot} has no argument")
    value = frame.parameters[slot]
    if isinstance(value, TensorValue | VersionedView):
        check_parameter(op, value.array.materialised())
        if op.dims:
            sizes = [frame.read(op, operand) for operand in operands]
            shape = extents(tg.tensor(op.result).get_shape(), sizes)
            if (given := value.array.data.shape) != shape:
                raise InterpretationError(
                    f"parameter {slot} has shape {shape}, the argument {given}"
                )
    return value


def check_parameter(op: tg.ParamOp, value: Array) -> None:
    """Raise InterpretationError if an argument is outside the bounds of its parameter."""
    name = op.slot.data if op.symbol is None else op.symbol.data
    low, high = (None if bound is None else bound.data for bound in (op.min, op.max))
    check_bounds(f"parameter {name}", value, low, high)


def _buffer(frame: Frame, op: tg.BufferOp, operands: Sequence[HostValue]) -> HostValue:
    """BUFFER: one memory per slot and address space. It begins as the caller's contents for the
    slot if it is global and there are some, and otherwise as zeros."""
    sizes = [frame.read(op, operand) for operand in operands]
    shape = extents(tg.tensor(op.result).get_shape(), sizes)
    slot, space, dtype = op.slot.data, tg.place(op.result).addrspace, numpy_dtype_of(op.result)
    assert space is not None
    key = (space.value, slot)
    if (memory := frame.buffers.get(key)) is None:
        is_given = space is tg.AddrSpace.GLOBAL and not frame.is_function
        contents = frame.context.buffers.get(slot) if is_given else None
        if contents is None:
            check_size(shape, dtype.itemsize)
            contents = np.zeros(shape, dtype)
        if contents.dtype != dtype:
            raise InterpretationError(f"buffer {slot} is {dtype}, the contents {contents.dtype}")
        memory = frame.buffers[key] = VersionedMemory(
            contents, tg.dtype_of(op.result), f"buffer {slot}"
        )
    if memory.initial.shape != shape or memory.dtype != tg.dtype_of(op.result):
        raise InterpretationError(
            f"buffer {slot} is {memory.dtype.name} of shape {memory.initial.shape}, not "
            f"{op.result.type}"
        )
    return whole(memory)


def _load(frame: Frame, op: tg.LoadOp, operands: Sequence[HostValue]) -> HostValue:
    after = waits_for(operands)
    buffer, *rest = (frame.read(op, operand, after) for operand in operands)
    alt, gate = rest if rest else (None, None)
    return frame.fresh(op.results[0], load(op, buffer, alt, gate, 0), after)


def _store(frame: Frame, op: Operation, operands: Sequence[HostValue]) -> HostValue:
    """STORE and ATOMICADD: write the valid cells of the value where the gate is true."""
    after = waits_for(operands)
    view, value = operands[0], frame.read(op, operands[1], after)
    assert isinstance(view, VersionedView)
    mask = value.valid
    if len(operands) > 2:
        mask = all_valid([mask, frame.read(op, operands[2], after).materialised()])
    return Void(frame.store(op, view, value.data, mask, after, adds=isinstance(op, tg.AtomicAddOp)))


def _after(frame: Frame, op: Operation, operands: Sequence[HostValue]) -> HostValue:
    view, *dependencies = operands
    assert isinstance(view, VersionedView)
    return frame.refresh(view, waits_for(dependencies))


def _ordering(frame: Frame, op: Operation, operands: Sequence[HostValue]) -> HostValue:
    return Void(waits_for(operands))


def _tuple(frame: Frame, op: Operation, operands: Sequence[HostValue]) -> HostValue:
    return Tuple(tuple(operands), waits_for(operands))


def _get_tuple(frame: Frame, op: tg.GetTupleOp, operands: Sequence[HostValue]) -> HostValue:
    source = operands[0]
    assert isinstance(source, Tuple)
    value = source.values[op.index.data]
    if tg.is_memory(op.result) and isinstance(value, TensorValue):
        return frame.fresh(op.result, value.array, value.after)
    return value


def _function(frame: Frame, op: tg.FunctionOp, operands: Sequence[HostValue]) -> HostValue:
    """FUNCTION: evaluate the body with argument k as the value of PARAM k."""
    inner = Frame(frame.context, operands, frame.journal, is_function=True)
    with frame.context.nested("a FUNCTION"):
        values = inner.run(op.body.block)
    return Tuple(tuple(values), waits_for((*values, *operands)))


def _scan(frame: Frame, op: tg.ScanOp, operands: Sequence[HostValue]) -> HostValue:
    """SCAN: evaluate the body for one step after the other."""
    after = waits_for(operands)
    arguments = [frame.read(op, operand, after).materialised() for operand in operands]
    states, count = op.states.data, op.sequences.data
    extent = op.extent
    steps = extent if isinstance(extent, int) else int(arguments[op.operands.index(extent)])
    current, sequences = arguments[:states], arguments[states : states + count]
    constants = [TensorValue(MaskedArray(data), after) for data in arguments[states + count :]]

    def step(current: Sequence[Array], elements: Sequence[Array]) -> Sequence[Array]:
        given = [TensorValue(MaskedArray(np.asarray(x)), after) for x in (*current, *elements)]
        inner = Frame(frame.context, [*given, *constants], frame.journal, is_function=True)
        with frame.context.nested("a SCAN"):
            values = inner.run(op.body.block)
        return [inner.read(op, value).materialised() for value in values]

    stacks: list[Array] = []
    for element in reversed(range(steps)) if op.reverse is not None else range(steps):
        if op.is_while is not None and not current[0]:
            break
        new = step(current, [sequence[element] for sequence in sequences])
        current = new[:states]
        stacks = stacks or _zeros(steps, new[states:])
        for stack, value in zip(stacks, new[states:], strict=True):
            stack[element] = value
    if not stacks and (rows := op.results_of_body[states:]):
        # No step is taken. Where the arguments tell the shapes, none is computed: it may be wrong,
        # or endless.
        length = max(steps, 0)
        if (empty := _unwritten(op, rows, length, arguments)) is None:
            elements = [np.zeros(sequence.shape[1:], sequence.dtype) for sequence in sequences]
            empty = _zeros(length, step(current, elements)[states:])
        stacks = empty
    results = [TensorValue(MaskedArray(np.asarray(data)), after) for data in (*current, *stacks)]
    return Tuple(tuple(results), after)


def _unwritten(
    op: tg.ScanOp, rows: Sequence[SSAValue], steps: int, arguments: Sequence[Array]
) -> list[Array] | None:
    """The empty stacks of a SCAN's values if no step is taken; None if one of their extents is
    neither static nor a constant argument."""
    constants = op.states.data + op.sequences.data
    stacks: list[Array] = []
    for row in rows:
        shape = [steps]
        for dim in tg.shape_of(row):
            slot = op.slot_of_parameter(dim) if isinstance(dim, SSAValue) else None
            if isinstance(dim, int):
                shape.append(dim)
            elif slot is not None and slot >= constants:
                shape.append(int(arguments[slot]))
            else:
                return None
        stacks.append(np.zeros(shape, numpy_dtype_of(row)))
    return stacks


def _zeros(steps: int, rows: Sequence[Array]) -> list[Array]:
    return [np.zeros((steps, *row.shape), row.dtype) for row in rows]


def _call(frame: Frame, op: tg.CallOp, operands: Sequence[HostValue]) -> HostValue:
    return frame.call(op, op.callee.string_value(), operands)[0]


HOST: dict[str, Callable[[Frame, Any, Sequence[HostValue]], HostValue]] = {
    **dict.fromkeys(PURE, _pure),
    **dict.fromkeys(MOVEMENTS, _movement),
    **dict.fromkeys(("tg.detach", "tg.contiguous_backward"), _identity),
    "tg.param": _param,
    "tg.buffer": _buffer,
    "tg.load": _load,
    **dict.fromkeys(("tg.store", "tg.atomicadd"), _store),
    "tg.after": _after,
    # A CUSTOMFUNCTION is a declaration: a CALL runs it.
    **dict.fromkeys(("tg.group", "tg.sink", "tg.customfunction"), _ordering),
    "tg.tuple": _tuple,
    "tg.gettuple": _get_tuple,
    "tg.function": _function,
    "tg.scan": _scan,
    "tg.call": _call,
}
"""Every op of a host program, by name."""

_VALUES = (_pure, _movement, _identity, _load, _after, _tuple, _get_tuple)
"""The functions of ops that have no effect."""
