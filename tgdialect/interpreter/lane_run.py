"""Vectorised lanes: many iterations of a kernel's loops at once, as one NumPy operation per op.

It computes what `scalar.py` does, faster. Every array has one leading *lane* axis per RANGE that is
run all at once and per SPECIAL, of extent 1 where the array does not vary along it. The work items
of a workgroup are lanes too: each op is done by all of them before the next, so a BARRIER only has
to check that all of them reach it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from xdsl.ir import Operation, SSAValue

from tgdialect.diagnostics import errors_at
from tgdialect.interpreter.block_analysis import (
    NO_SCOPE,
    Axis,
    Instance,
    Scope,
    is_parallel,
    not_reached,
)
from tgdialect.interpreter.kernel import COMMON, Function, Given, KernelRun, LiveValue
from tgdialect.interpreter.lane_races import LaneInstances, LaneRaces, Numbering
from tgdialect.interpreter.memory import AssumptionError, CellMap, Lanes, LiveMemory, LiveView
from tgdialect.interpreter.movement import MOVEMENTS, extent
from tgdialect.interpreter.nesting import Accumulate, Item, LaneSchedule, LoopBody
from tgdialect.interpreter.pure import PURE, accumulate, finish, initial
from tgdialect.interpreter.run_context import RunContext
from tgdialect.interpreter.values import MaskedArray, aligned, all_valid, check_size
from tgdialect.interpreter.wmma import of_warp
from tgdialect.ops import tg
from tgdialect.ops.arrays import numpy_dtype_of
from tgdialect.ops.numpy_dtypes import Array

_MAX_LANES_AT_ONCE = 1 << 24
"""The most lanes that are run at once: f32 arrays of 64 MiB. Larger: more memory; smaller: more
calls of NumPy."""


class LaneRun(KernelRun):
    """One execution of a lane schedule."""

    def __init__(self, plan: LaneSchedule, context: RunContext, given: Given):
        super().__init__(plan.analysis, context, LANES, given, plan.lanes)
        self.plan = plan
        self.extents = [1] * plan.lanes
        self.buffers: dict[SSAValue, LiveMemory] = {}
        self._slice: tuple[Operation | None, slice] = (None, slice(None))
        # Where a range has iterations that other lanes do not, and where an IF's gate is true.
        self.masks: dict[Operation, Array] = {}
        self._partial: dict[tg.ReduceOp, list[Array]] = {}
        self._watched: set[SSAValue | LiveMemory] = set()
        self._barriers = np.zeros((1,) * plan.lanes, np.int64)
        self._numbering = Numbering(self.parallel_around, self.analysis.loops_around)

    # -- control

    def run(self) -> None:
        """Execute everything, in parts if all lanes at once would take too much space."""
        before = dict(self.known)
        for at, part in self._slices():
            self.known = dict(before)
            self._slice = (at, part)
            self._barriers = np.zeros((1,) * self.lanes, np.int64)
            # Memory of the last part's lanes alone has other contents in these.
            for memory in [m for m, over in self.plan.private.items() if at in over]:
                self.buffers.pop(memory, None)
            for special in self.analysis.specials:
                self._evaluate_with_sources(special)
            self._run_items(self.plan.items)
            self.raise_errors()

    def _slices(self) -> Iterator[tuple[Operation | None, slice]]:
        """A range or SPECIAL, and the parts of its values to run one after the other."""
        sizes = {op: self._known_size(op) for op in self.plan.axes}
        lanes = math.prod(sizes.values())
        largest = max(self.plan.sliceable, key=lambda op: sizes[op], default=None)
        if lanes <= _MAX_LANES_AT_ONCE or largest is None:
            yield None, slice(None)
            return
        step = max(1, _MAX_LANES_AT_ONCE * sizes[largest] // lanes)
        for start in range(0, sizes[largest], step):
            yield largest, slice(start, start + step)

    def _known_size(self, op: tg.RangeOp | tg.SpecialOp) -> int:
        """How many values a range has, where that can be found before the loops are run; else 1."""
        # Memory and loop variables have no values yet.
        stateless = PURE.keys() | MOVEMENTS
        for source in tg.computed_from(op.bound):
            if source.name not in stateless and not isinstance(source, tg.ParamOp):
                return 1
        if isinstance(source := op.bound.owner, Operation):
            self._evaluate_with_sources(source)
        return max(int(self.bound(op).max(initial=0)), 0)

    def values_of(self, op: Axis, size: int) -> Array:
        """All the values of a range or SPECIAL, or those of the part that is run now."""
        at, part = self._slice
        check_size((size,), 8)
        values = np.arange(size)[part if at is op else slice(None)]
        axis = self.plan.axes[op]
        if self.extents[axis] != values.size and any(
            op in over and root in self.buffers and self.buffers[root].is_copied
            for root, over in self.plan.private.items()
        ):
            raise AssumptionError  # A loop in order may go on with the copies of the last extent.
        self.extents[axis] = values.size
        shape = [1] * self.lanes
        shape[axis] = values.size
        return values.reshape(shape)

    def _evaluate_with_sources(self, op: Operation) -> None:
        """Execute an op before its turn, and what it needs."""

        def sources(op: Operation) -> Iterator[Operation]:
            unknown = (o.owner for o in op.operands if o not in self.known)
            return (owner for owner in unknown if isinstance(owner, Operation))

        for each in tg.postorder([op], sources):
            if each.results[0] not in self.known:
                self.execute(each)

    def _run_items(self, items: Sequence[Item]) -> None:
        """Execute items in order; loops by a stack of what is left to do in each."""
        stack: list[Iterator[Item]] = [iter(items)]
        while stack:
            for item in stack[-1]:
                if isinstance(item, LoopBody):
                    stack.append(self._iterations(item))
                    break
                if isinstance(item, Accumulate):
                    with errors_at(item.op):
                        self._partial.setdefault(item.op, []).append(self._reduced(item.op))
                else:
                    self.execute(item)
            else:
                stack.pop()

    def _iterations(self, loop: LoopBody) -> Iterator[Item]:
        """The body again and again, the range having the next value each time."""
        with errors_at(loop.axis):
            bound = self.bound(loop.axis)
        own = [root for root, axes in self.analysis.private.items() if loop.axis in axes]
        for i in range(int(bound.max(initial=0))):
            # Each iteration of a parallel loop has another copy of such memory.
            for root in own if i else ():
                if (memory := self.buffers.get(root)) is not None:
                    memory.renew()
                    self._watched.discard(root)
            self.known[loop.axis.result] = MaskedArray(self._scalar(i))
            self.mask_range(loop.axis, bound, i)
            yield from loop.body

    def _scalar(self, value: int) -> Array:
        return np.full((1,) * self.lanes, value, np.int64)

    def bound(self, op: Axis) -> Array:
        return self.array(op, op.bound).materialised()

    def mask_range(self, op: Axis, bound: Array, index: Array | int) -> None:
        """Where bounds differ between lanes, some have fewer iterations."""
        if bound.size > 1:
            self.masks[op] = index < bound
        else:
            self.masks.pop(op, None)

    def mask(self, scope: Scope) -> Array | None:
        """Where the iterations of the scope take place and its conditions hold."""
        if not self.masks or not scope:
            return None
        return all_valid([self.masks.get(op) for op in scope])

    def active(self, op: Operation) -> Array | None:
        """The lanes in which an op is executed; None if all."""
        return self.mask(self.analysis.scopes.of.get(op, NO_SCOPE))

    def lane_shape(self, op: Operation) -> tuple[int, ...]:
        """The lanes that execute an op, as the shape of the lane axes."""
        scope = self.analysis.scopes.of.get(op, NO_SCOPE)
        return tuple(
            self.extents[axis] if isinstance(at, tg.SpecialOp) or at in scope else 1
            for at, axis in self.plan.axes.items()
        )

    def group_axes(self) -> list[int]:
        """The lane axes of the threads of a workgroup, the one that numbers them fastest first."""
        return [self.plan.axes[axis] for axis in self.analysis.work_items]

    # -- memory

    def read(self, op: Operation, operand: SSAValue, view: LiveView, gate: Array | None) -> Array:
        """In the lanes that `op` is run in."""
        active = all_valid([self.active_elements(op, operand), gate])
        self.check_bounds(op, operand, view, active)
        self.watch(view.memory, operand)
        snapshot = operand in self.analysis.snapshots
        return view.memory.gather(
            view.cell_map, active, lambda: self.instances(op), snapshot=snapshot
        )

    def write(self, op: Operation, view: LiveView, value: Array, mask: Array | None) -> None:
        view.memory.scatter(view.cell_map, value, mask)

    def watch(self, memory: LiveMemory, view: SSAValue) -> None:
        """Look for races in a memory that parallel iterations of a LINEAR share."""
        root = self.analysis.roots[view]
        watched = memory if memory.is_shared else root
        if self.analysis.is_graph or watched in self._watched:
            return
        self._watched.add(watched)
        private = self.analysis.private.get(root, ())
        axes = [axis for axis in self._numbering.stride if axis not in private]
        if axes and (
            memory.is_shared or any(use.writes for use in self.analysis.uses.get(root, ()))
        ):
            memory.watch = lambda cells, show: LaneRaces(cells, self._numbering, axes, show)

    def parallel_around(self, op: Operation) -> list[Axis]:
        """The parallel loops around an op."""
        return [axis for axis in self.analysis.loops_around[op] if is_parallel(axis)]

    def instances(self, op: Operation) -> LaneInstances:
        """An op in the lanes that execute it now."""
        numbers = self._scalar(0)
        for axis in self.parallel_around(op):
            index = self.known[axis.result]
            assert isinstance(index, MaskedArray)
            numbers = numbers + index.data * self._numbering.stride[axis]
        return LaneInstances(op, self._numbering, numbers, self._barriers)

    def instance(self, op: Operation, lane: Sequence[int] = ()) -> Instance:
        numbers = np.broadcast_to(self.instances(op).numbers, self.lane_shape(op))
        at = tuple(i if n > 1 else 0 for i, n in zip(lane, numbers.shape, strict=True))
        return self._numbering.instance(op, int(numbers[at]))

    def check_reached(self, op: Operation) -> Array:
        """Refuse an op that some work items of a workgroup reach and others do not. Returns the
        workgroups that reach it."""
        active = self.active(op)
        reached = np.broadcast_to(True if active is None else active, self.lane_shape(op))
        axes = tuple(self.group_axes())
        some, all = (x.any(axis=axes, keepdims=True) for x in (reached, ~reached))
        if bool((some & all).any()):
            group = np.broadcast_to(some & all, reached.shape)
            now, missing = (
                self.instance(op, np.argwhere(group & x)[0].tolist()) for x in (reached, ~reached)
            )
            raise not_reached(now, missing, self.analysis)
        return np.asarray(some)

    def barrier(self, op: Operation) -> LiveValue:
        """Count a BARRIER, which all work items of a workgroup reach, or none."""
        self._barriers = self._barriers + self.check_reached(op)
        self.raise_errors()

    def active_elements(self, op: Operation, operand: SSAValue) -> Array | None:
        """The lanes in which an op is executed, as a mask of a value's elements."""
        if (active := self.active(op)) is None:
            return None
        return active.reshape(active.shape + (1,) * len(tg.tensor(operand).get_shape()))

    def hold(self, op: Operation, array: MaskedArray) -> LiveView:
        """Memory with a copy per lane."""
        lanes = self.lanes
        data = array.materialised()
        shape = data.shape[lanes:]
        dtype = tg.dtype_of(op.results[0])
        copies = Lanes(data.shape[:lanes], range(lanes))
        memory = LiveMemory(np.zeros(shape, data.dtype), dtype, copies=lambda: copies)
        cell_map = CellMap(shape, dtype, lanes)
        memory.scatter(cell_map, data, None)
        if self.analysis.snapshots:
            memory.take_snapshot()
        return LiveView(memory, cell_map)

    def buffer(self, op: tg.BufferOp, shape: tuple[int, ...]) -> LiveView:
        """The memory of a BUFFER: zeros, with a copy per iteration of the loops that have one."""
        root = self.analysis.roots[op.result]
        if (memory := self.buffers.get(root)) is None:
            check_size(shape, tg.dtype_of(root).itemsize)
            # A loop that is stepped has one iteration at a time, and needs no copies.
            private = self.plan.private.get(root, ())
            axes = [self.plan.axes[at] for at in private if at in self.plan.axes]
            memory = self.buffers[root] = LiveMemory(
                np.zeros(shape, numpy_dtype_of(root)),
                tg.dtype_of(root),
                name=f"buffer {op.slot.data}",
                copies=(lambda: Lanes(self.extents, axes)) if axes else None,
                assumed=root in self.plan.assumed,
                undefined=self.errors.append if root in self.analysis.undefined else None,
                keep_snapshot=bool(self.analysis.snapshots),
            )
            self._watched.discard(root)
        return memory.view(self.lanes)

    # -- reductions

    def _reduced(self, op: tg.ReduceOp) -> Array:
        """A REDUCE in one iteration of its stepped ranges: over the other ranges, which are lane
        axes, and the axes of its shape, in the accumulator's dtype."""
        lanes = self.lanes
        source = self.array(op, op.source)
        ranges = [r.owner for r in op.ranges]
        axes = [
            self.plan.axes[r] for r in ranges if isinstance(r, tg.RangeOp) and r in self.plan.axes
        ]
        # Iterations beyond a bound that differs between lanes are not valid.
        mask = self.mask(frozenset(r for r in ranges if isinstance(r, tg.RangeOp)))
        shape = list(source.data.shape)
        for axis in axes:
            shape[axis] = self.extents[axis]
        valid = source.valid
        if mask is not None:
            valid = all_valid([valid, mask.reshape(mask.shape + (1,) * (len(shape) - lanes))])
            assert valid is not None
            shape = list(np.broadcast_shapes(shape, valid.shape))
        # An element is reduced once per iteration, also if it does not vary along the range.
        whole = MaskedArray(
            np.broadcast_to(source.data, shape),
            None if valid is None else np.broadcast_to(valid, shape),
        )
        axes += [lanes + axis for axis in tg.integers(op, "axes")]
        dtype = tg.dtype_of(op.source)
        return accumulate(op.kind.data, whole, axes, dtype, ordered=op.ordered is not None)

    def reduce(self, op: tg.ReduceOp) -> MaskedArray:
        """The value of a REDUCE, once its stepped ranges are done."""
        dtype, ordered = tg.dtype_of(op.source), op.ordered is not None
        if all(r.owner in self.plan.axes for r in op.ranges):
            return MaskedArray(finish(self._reduced(op), dtype))
        # A part for each iteration of the stepped ranges; none if there was no iteration.
        parts = self._partial.pop(op, [])
        if not parts:
            shape = (1,) * self.lanes + tg.tensor(op.result).get_shape()
            return MaskedArray(finish(np.broadcast_to(initial(op), shape), dtype))
        together = MaskedArray(np.stack(np.broadcast_arrays(*parts)))
        total = accumulate(op.kind.data, together, [0], dtype, ordered=ordered)[0]
        return MaskedArray(finish(total, dtype))


def _range(run: LaneRun, op: tg.RangeOp) -> LiveValue:
    """A range that is not stepped: all its values, along its axis."""
    bound = run.bound(op)
    index = run.values_of(op, int(bound.max(initial=0)))
    run.mask_range(op, bound, index)
    return MaskedArray(index)


def _store(run: LaneRun, op: Operation) -> LiveValue:
    """STORE and ATOMICADD: valid cells of the value, where the gate is true, in active lanes."""
    view = run.known[op.operands[0]]
    assert isinstance(view, LiveView)
    value = run.array(op, op.operands[1])
    rank = len(tg.tensor(op.operands[0]).get_shape())
    masks = [value.valid, run.active_elements(op, op.operands[0])]
    if len(op.operands) > 2:
        masks.append(aligned(run.array(op, op.operands[2]).materialised(), run.lanes, rank))
    adds = isinstance(op, tg.AtomicAddOp)
    shape = run.lane_shape(op)
    mask = all_valid(masks)
    run.check_bounds(op, op.operands[0], view, mask)
    run.watch(view.memory, op.operands[0])
    unordered = run.analysis.unordered.get(op)
    view.memory.scatter(
        view.cell_map,
        value.data,
        mask,
        (lambda: run.instances(op)) if run.parallel_around(op) else None,
        adds=adds,
        # Every lane makes its own addition. A store that does not vary with the lane is made once,
        # if any lane is active.
        shape=shape if adds else [min(size, 1) for size in shape],
        unordered=None if unordered is None else (op, unordered),
    )
    return None


def _special(run: LaneRun, op: tg.SpecialOp) -> LiveValue:
    """SPECIAL: all its values, along its axis. `LaneRun.run` has evaluated it before the block."""
    if (known := run.known.get(op.result)) is not None:
        return known
    return MaskedArray(run.values_of(op, max(extent(run.array(op, op.bound)), 0)))


def _if(run: LaneRun, op: tg.IfOp) -> LiveValue:
    run.masks[op] = run.array(op, op.gate).materialised()
    return None


def _of_warp(run: LaneRun, op: Operation) -> LiveValue:
    """SHUFFLE, WMMA and INS. All work items have to reach one of a warp, whose operands get an
    element for each."""
    if tg.warp_of(op) == 1:
        return COMMON[op.name](run, op)
    operands = [run.array(op, operand).materialised() for operand in op.operands]
    run.check_reached(op)
    shape, lanes = run.lane_shape(op), run.lanes
    shapes = [np.broadcast_shapes(shape + (1,) * (x.ndim - lanes), x.shape) for x in operands]
    whole = [MaskedArray(x) for x in map(np.broadcast_to, operands, shapes)]
    return run.result(op, of_warp(op, whole, lanes, run.group_axes()))


LANES: Mapping[str, Function] = {
    **COMMON,
    **dict.fromkeys(("tg.store", "tg.atomicadd"), _store),
    "tg.reduce": LaneRun.reduce,
    "tg.range": _range,
    "tg.special": _special,
    "tg.barrier": LaneRun.barrier,
    "tg.if": _if,
    **dict.fromkeys(("tg.wmma", "tg.ins", "tg.shuffle"), _of_warp),
}
"""Every op of a kernel, by name."""
