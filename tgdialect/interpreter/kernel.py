"""Kernels and LINEARs: loops, live memory, workgroups.

Every array has one leading *lane* axis per range that is run all at once and per SPECIAL, of extent 1
where the array does not vary along it. The threads of a workgroup are lanes too: each op is done by
all of them before the next, so a BARRIER only has to check that all threads reach it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from tgdialect.interpreter.dtypes import Data, numpy_dtype_of
from tgdialect.interpreter.live import AssumptionError, Lanes, LiveMemory, LiveView
from tgdialect.interpreter.locations import Location
from tgdialect.interpreter.movement import MOVEMENTS, Movement, extent, extents
from tgdialect.interpreter.pure import PURE, load
from tgdialect.interpreter.reduction import accumulate, finish, identity
from tgdialect.interpreter.schedule import Accumulate, Item, Loop, Schedule, schedule
from tgdialect.interpreter.scopes import GROUP_AXES, NO_SCOPE, Scope, axis_type
from tgdialect.interpreter.values import Array, aligned, all_valid, check_size, lifted
from tgdialect.interpreter.wmma import wmma
from tgdialect.ops.attributes import AxisType
from tgdialect.ops.codegen import (
    AtomicAddOp,
    BarrierOp,
    CustomOp,
    IfOp,
    InsOp,
    SpecialOp,
    WmmaOp,
)
from tgdialect.ops.memory import LoadOp
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.properties import dtype_of, integers, is_memory, tensor
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import BufferOp, ParamOp

if TYPE_CHECKING:
    from tgdialect.interpreter.machine import Machine

Value = Array | LiveView | None
"""A value, memory, or an ordering edge."""


def run_block(
    block: Block,
    machine: Machine,
    *,
    graph: bool,
    bind: Callable[[Schedule], tuple[Sequence[Value], Mapping[SSAValue, Value]]],
) -> tuple[Sequence[Value], Mapping[SSAValue, Value]]:
    """Execute a kernel's block, or the block of a LINEAR, and return what `bind` made for it.

    `bind` makes the values of the PARAMs by slot and of what the block captures, its memories fresh:
    where an assumption about private memory proves wrong, all is done again without it.
    """
    for assume_private in (True, False):
        plan = schedule(block, graph=graph, assume_private=assume_private)
        parameters, captured = bind(plan)
        try:
            Execution(plan, machine, parameters, captured).run()
        except AssumptionError:
            continue
        return parameters, captured
    raise InterpretationError("a private memory is read before it is written")


class Execution:
    """One execution of a schedule."""

    def __init__(
        self,
        plan: Schedule,
        machine: Machine,
        parameters: Sequence[Value],
        captured: Mapping[SSAValue, Value],
    ):
        self.plan = plan
        self.machine = machine
        self.parameters = parameters
        self.known: dict[SSAValue, Value] = {
            value: self.lift(what) for value, what in captured.items()
        }
        self.extents = [1] * plan.lanes
        self._buffers: dict[SSAValue, LiveMemory] = {}
        # Where a range has iterations that other lanes do not, and where an IF's gate is true.
        self._masks: dict[Operation, Data] = {}
        self._partial: dict[ReduceOp, list[Data]] = {}
        self._writers = {op: number for number, op in enumerate(plan.unordered)}

    # -- control

    def run(self) -> None:
        """Execute everything."""
        for special in self.plan.specials:
            self._evaluate_with_sources(special)
        self._run_items(self.plan.items)

    def _evaluate_with_sources(self, op: Operation) -> None:
        """Execute an op before its turn, and what it needs."""
        stack = [op]
        while stack:
            sources = [
                o.owner
                for o in stack[-1].operands
                if o not in self.known and isinstance(o.owner, Operation)
            ]
            if sources:
                stack.extend(sources)
            else:
                self._execute(stack.pop())

    def _run_items(self, items: Sequence[Item]) -> None:
        """Execute items in order; loops by a stack of what is left to do in each."""
        stack: list[Iterator[Item]] = [iter(items)]
        while stack:
            for item in stack[-1]:
                if isinstance(item, Loop):
                    stack.append(self._iterations(item))
                    break
                if isinstance(item, Accumulate):
                    self._accumulate(item.op)
                else:
                    self._execute(item)
            else:
                stack.pop()

    def _iterations(self, loop: Loop) -> Iterator[Item]:
        """The body again and again, the range having the next value each time."""
        bound = self._bound(loop.range)
        for i in range(int(bound.max(initial=0))):
            self.known[loop.range.result] = Array(self._scalar(i))
            self._mask_range(loop.range, bound, i)
            yield from loop.body

    def _scalar(self, value: int) -> Data:
        return np.full((1,) * self.plan.lanes, value, np.int64)

    def _bound(self, op: RangeOp | SpecialOp) -> Data:
        return self.array(op, op.bound).materialised()

    def _mask_range(self, op: RangeOp, bound: Data, index: Data | int) -> None:
        """Where bounds differ between lanes, some have fewer iterations."""
        if bound.size > 1:
            self._masks[op] = index < bound

    def mask(self, scope: Scope) -> Data | None:
        """Where the iterations of the scope take place and its conditions hold."""
        if not self._masks or not scope:
            return None
        return all_valid([self._masks.get(op) for op in scope])

    def active(self, op: Operation) -> Data | None:
        """The lanes in which an op is executed; None if all."""
        return self.mask(self.plan.scopes.of.get(op, NO_SCOPE))

    def lane_shape(self, op: Operation) -> tuple[int, ...]:
        """The lanes that execute an op, as the shape of the lane axes."""
        scope = self.plan.scopes.of.get(op, NO_SCOPE)
        return tuple(
            self.extents[axis] if isinstance(at, SpecialOp) or at in scope else 1
            for at, axis in self.plan.axes.items()
        )

    def _execute(self, op: Operation) -> None:
        if (function := KERNEL.get(op.name)) is None:
            raise InterpretationError(f"{op.name} is not an op of a kernel")
        try:
            value = function(self, op)
        except MemoryError as e:
            raise InterpretationError(f"{op.name} of {op.results[0].type}: {e}") from e
        if op.results:
            self.known[op.results[0]] = value

    def group_axes(self) -> list[int]:
        """The lane axes of the threads of a workgroup, the one that numbers them fastest first."""
        specials = sorted(
            (s.symbol.data, axis)
            for s, axis in self.plan.axes.items()
            if isinstance(s, SpecialOp) and s.symbol.data.startswith("lidx")
        )
        ranges = sorted(
            (axis_type(r) is not AxisType.WARP, r.axis.data, axis)
            for r, axis in self.plan.axes.items()
            if isinstance(r, RangeOp) and axis_type(r) in GROUP_AXES
        )
        return [axis for *_, axis in ranges] + [axis for _, axis in specials]

    def writer(self, op: Operation) -> tuple[int, frozenset[int]] | None:
        """The number of a write, and those of the writes it may not meet; None if it may meet any."""
        if (others := self.plan.unordered.get(op)) is None:
            return None
        return self._writers[op], frozenset(self._writers[other] for other in others)

    # -- operands

    def array(self, op: Operation, operand: SSAValue, mask: Data | None = None) -> Array:
        """The value of an operand; of memory, what it holds, in the lanes that `op` is run in."""
        value = self.value(operand)
        if isinstance(value, Array):
            return value
        if value is None:
            raise InterpretationError(f"{op.name} takes a tensor")
        active = all_valid([self._shaped(self.active(op), operand), mask])
        snapshot = operand in self.plan.snapshots
        return Array(value.memory.gather(value.location, active, snapshot=snapshot)[0])

    def _shaped(self, active: Data | None, operand: SSAValue) -> Data | None:
        """A mask of lanes as a mask of a value's elements."""
        if active is None:
            return None
        return active.reshape(active.shape + (1,) * len(tensor(operand).get_shape()))

    def value(self, operand: SSAValue) -> Value:
        """What stands for an operand."""
        return self.known[operand]

    def lift(self, value: Value) -> Value:
        """A value from outside, which has no lane axes."""
        if isinstance(value, LiveView):
            return LiveView(value.memory, value.location.lifted(self.plan.lanes))
        return None if value is None else lifted(value, self.plan.lanes)

    def result(self, op: Operation, array: Array) -> Value:
        """A value; or memory that holds it, where the op's result is memory."""
        return self._held(op, array) if is_memory(op.results[0]) else array

    def _held(self, op: Operation, array: Array) -> LiveView:
        """Memory with a copy per lane."""
        lanes = self.plan.lanes
        data = array.materialised()
        shape = data.shape[lanes:]
        dtype = dtype_of(op.results[0])
        copies = Lanes(data.shape[:lanes], range(lanes))
        memory = LiveMemory(np.zeros(shape, data.dtype), dtype, copies=lambda: copies)
        location = Location(shape, dtype, lanes)
        memory.scatter(location, data, None)
        return LiveView(memory, location)

    def buffer(self, op: BufferOp, shape: tuple[int, ...]) -> LiveView:
        """The memory of a BUFFER: zeros, with a copy per iteration of the loops that have one."""
        root = self.plan.roots[op.result]
        if (memory := self._buffers.get(root)) is None:
            check_size(shape, dtype_of(root).itemsize)
            axes = [self.plan.axes[at] for at in self.plan.private.get(root, ())]
            memory = self._buffers[root] = LiveMemory(
                np.zeros(shape, numpy_dtype_of(root)),
                dtype_of(root),
                name=f"buffer {op.slot.data}",
                copies=(lambda: Lanes(self.extents, axes)) if axes else None,
                assumed=root in self.plan.assumed,
                keep_snapshot=bool(self.plan.snapshots),
            )
        return LiveView(memory, Location(memory.shape, memory.dtype, self.plan.lanes))

    # -- reductions

    def _accumulate(self, op: ReduceOp) -> None:
        """A REDUCE in one iteration of its stepped ranges: over the other ranges, and the axes."""
        self._partial.setdefault(op, []).append(self._reduced(op))

    def _reduced(self, op: ReduceOp) -> Data:
        """Over lane axes and shape axes, in the accumulator's dtype."""
        lanes = self.plan.lanes
        source = self.array(op, op.source)
        ranges = [r.owner for r in op.ranges]
        axes = [self.plan.axes[r] for r in ranges if r in self.plan.axes]
        mask = self.mask(frozenset(r for r in ranges if isinstance(r, RangeOp)))
        shape = list(source.data.shape)
        for axis in axes:
            shape[axis] = self.extents[axis]
        valid = source.valid
        if mask is not None:
            valid = all_valid([valid, mask.reshape(mask.shape + (1,) * (len(shape) - lanes))])
            assert valid is not None
            shape = list(np.broadcast_shapes(shape, valid.shape))
        whole = Array(
            np.broadcast_to(source.data, shape),
            None if valid is None else np.broadcast_to(valid, shape),
        )
        axes += [lanes + axis for axis in integers(op, "axes")]
        dtype = dtype_of(op.source)
        return accumulate(op.kind.data, whole, axes, dtype, ordered=op.ordered is not None)

    def reduce(self, op: ReduceOp) -> Array:
        """The value of a REDUCE, once its stepped ranges are done."""
        dtype, ordered = dtype_of(op.source), op.ordered is not None
        if all(r.owner in self.plan.axes for r in op.ranges):
            return Array(finish(self._reduced(op), dtype))
        parts = self._partial.pop(op, [])
        if not parts:
            start = np.asarray(identity(op.kind.data, dtype)).astype(numpy_dtype_of(op.result))
            shape = tensor(op.result).get_shape()
            return Array(np.broadcast_to(start, (1,) * self.plan.lanes + shape))
        together = Array(np.stack(np.broadcast_arrays(*parts)))
        total = accumulate(op.kind.data, together, [0], dtype, ordered=ordered)[0]
        return Array(finish(total, dtype))


# -- one function per op -------------------------------------------------------------------------


def _pure(run: Execution, op: Operation) -> Value:
    operands = [run.array(op, operand) for operand in op.operands]
    return run.result(op, PURE[op.name](op, operands, run.plan.lanes))


def _movement(run: Execution, op: Operation) -> Value:
    source = run.value(op.operands[0])
    operands = [run.array(op, operand) for operand in op.operands[1:]]
    movement = Movement(op, operands, run.plan.lanes)
    if isinstance(source, LiveView):
        return LiveView(source.memory, source.location.moved(movement))
    assert source is not None
    return movement.of(source)


def _identity(run: Execution, op: Operation) -> Value:
    return run.value(op.operands[0])


def _ordering(run: Execution, op: Operation) -> Value:
    return None


def _param(run: Execution, op: Operation) -> Value:
    assert isinstance(op, ParamOp)
    if op.slot.data >= len(run.parameters):
        raise InterpretationError(f"parameter {op.slot.data} has no argument")
    return run.lift(run.parameters[op.slot.data])


def _buffer(run: Execution, op: Operation) -> Value:
    assert isinstance(op, BufferOp)
    sizes = [run.array(op, operand) for operand in op.operands]
    return run.buffer(op, extents(tensor(op.result).get_shape(), sizes))


def _range(run: Execution, op: Operation) -> Value:
    """A range that is not stepped: all its values, along its axis."""
    assert isinstance(op, RangeOp)
    bound = run._bound(op)  # pyright: ignore[reportPrivateUsage]
    size = int(bound.max(initial=0))
    check_size((size,), 8)
    axis = run.plan.axes[op]
    run.extents[axis] = size
    shape = [1] * run.plan.lanes
    shape[axis] = size
    index = np.arange(size).reshape(shape)
    run._mask_range(op, bound, index)  # pyright: ignore[reportPrivateUsage]
    return Array(index)


def _load(run: Execution, op: Operation) -> Value:
    """LOAD: memory is touched only where the gate is true."""
    assert isinstance(op, LoadOp)
    buffer = run.value(op.buffer)
    lanes = run.plan.lanes
    alt = gate = None
    if op.alt is not None and op.gate is not None:
        alt, gate = run.array(op, op.alt), run.array(op, op.gate)
    if isinstance(buffer, LiveView):
        mask = None
        if gate is not None:
            rank = len(tensor(op.buffer).get_shape())
            mask = aligned(gate.materialised(), lanes, rank)
        data = run.array(op, op.buffer, mask)
    else:
        assert buffer is not None
        data = buffer
    return run.result(op, load(op, data, alt, gate, lanes))


def _store(run: Execution, op: Operation) -> Value:
    """STORE and ATOMICADD: valid cells of the value, where the gate is true, in active lanes."""
    view = run.value(op.operands[0])
    assert isinstance(view, LiveView)
    value = run.array(op, op.operands[1])
    rank = len(tensor(op.operands[0]).get_shape())
    lanes = run.plan.lanes
    masks = [value.valid]
    if (active := run.active(op)) is not None:
        masks.append(active.reshape(active.shape + (1,) * rank))
    if len(op.operands) > 2:
        masks.append(aligned(run.array(op, op.operands[2]).materialised(), lanes, rank))
    adds = isinstance(op, AtomicAddOp)
    view.memory.scatter(
        view.location,
        value.data,
        all_valid(masks),
        adds=adds,
        shape=run.lane_shape(op) if adds else (),
        writer=run.writer(op),
    )
    return None


def _reduce(run: Execution, op: Operation) -> Value:
    assert isinstance(op, ReduceOp)
    return run.reduce(op)


def _special(run: Execution, op: Operation) -> Value:
    """A thread or workgroup index: an axis that is never left."""
    assert isinstance(op, SpecialOp)
    if (known := run.known.get(op.result)) is not None:
        return known
    size = extent(run.array(op, op.bound))
    axis = run.plan.axes[op]
    run.extents[axis] = max(size, 0)
    shape = [1] * run.plan.lanes
    shape[axis] = run.extents[axis]
    return Array(np.arange(run.extents[axis]).reshape(shape))


def _barrier(run: Execution, op: Operation) -> Value:
    """All threads of a workgroup reach a BARRIER, or none."""
    assert isinstance(op, BarrierOp)
    active = run.active(op)
    if active is not None:
        active = np.broadcast_to(active, run.lane_shape(op))
        axes = tuple(run.group_axes())
        if bool((active.any(axis=axes) != active.all(axis=axes)).any()):
            raise InterpretationError("a barrier is not reached by all threads of a workgroup")
    return None


def _if(run: Execution, op: Operation) -> Value:
    assert isinstance(op, IfOp)
    run._masks[op] = run.array(op, op.gate).materialised()  # pyright: ignore[reportPrivateUsage]
    return None


def _wmma(run: Execution, op: Operation) -> Value:
    assert isinstance(op, WmmaOp)
    operands = [run.array(op, operand) for operand in op.operands]
    lanes = run.plan.lanes
    threads = run.group_axes()
    if op.config.threads > 1:
        if (active := run.active(op)) is not None and not bool(active.all()):
            raise InterpretationError("a wmma is not reached by all threads of a warp")
        shape = run.lane_shape(op)
        operands = [
            Array(
                np.broadcast_to(
                    x.materialised(),
                    np.broadcast_shapes(shape + (1,) * (x.data.ndim - lanes), x.data.shape),
                )
            )
            for x in operands
        ]
    return run.result(op, wmma(op, operands, lanes, threads))


def _custom(run: Execution, op: Operation) -> Value:
    assert isinstance(op, CustomOp | InsOp)
    key = op.fmt.data if isinstance(op, CustomOp) else op.mnemonic.data
    function = run.machine.custom.function(op.name, key)
    value = function(*(run.array(op, operand).materialised() for operand in op.operands))
    if value is None:
        return None
    return run.result(op, Array(np.asarray(value, numpy_dtype_of(op.result))))


def _call(run: Execution, op: Operation) -> Value:
    """A CALL in a LINEAR: what the callee writes is written at once."""
    run.machine.call_live(op, [run.value(operand) for operand in op.operands], run)
    return None


KERNEL: dict[str, Callable[[Execution, Operation], Value]] = {
    **dict.fromkeys(PURE, _pure),
    **dict.fromkeys(MOVEMENTS, _movement),
    "tg.detach": _identity,
    "tg.contiguous_backward": _identity,
    "tg.after": _identity,
    "tg.param": _param,
    "tg.buffer": _buffer,
    "tg.load": _load,
    "tg.store": _store,
    "tg.atomicadd": _store,
    "tg.reduce": _reduce,
    "tg.range": _range,
    "tg.end": _ordering,
    "tg.group": _ordering,
    "tg.sink": _ordering,
    "tg.special": _special,
    "tg.barrier": _barrier,
    "tg.if": _if,
    "tg.endif": _ordering,
    "tg.wmma": _wmma,
    "tg.custom": _custom,
    "tg.ins": _custom,
    "tg.call": _call,
}
"""Every op of a kernel, by name."""
