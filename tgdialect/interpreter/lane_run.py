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
from tgdialect.interpreter.block_analysis import Axis, is_work_item
from tgdialect.interpreter.cell_maps import CellMap
from tgdialect.interpreter.kernel import Function, KernelRun, LiveValue
from tgdialect.interpreter.lane_schedule import LaneSchedule
from tgdialect.interpreter.live import Lanes, LiveMemory, LiveView
from tgdialect.interpreter.movement import MOVEMENTS
from tgdialect.interpreter.nesting import Accumulate, Item, LoopBody
from tgdialect.interpreter.pure import PURE
from tgdialect.interpreter.reduction import accumulate, finish, initial
from tgdialect.interpreter.run_context import RunContext
from tgdialect.interpreter.scopes import NO_SCOPE, Scope
from tgdialect.interpreter.values import Array, all_valid, check_size
from tgdialect.ops.arrays import Data, numpy_dtype_of
from tgdialect.ops.attributes import AddrSpace
from tgdialect.ops.codegen import SpecialOp
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.properties import dtype_of, integers, place, tensor
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import BufferOp, ParamOp

_MAX_LANES_AT_ONCE = 1 << 24
"""How many lanes are run at once: f32 arrays of 64 MiB."""


class LaneRun(KernelRun):
    """One execution of a lane schedule; `functions` say what each op does, by name."""

    def __init__(
        self,
        plan: LaneSchedule,
        context: RunContext,
        functions: Mapping[str, Function],
        parameters: Sequence[LiveValue],
        captured: Mapping[SSAValue, LiveValue],
    ):
        super().__init__(context, functions, plan.lanes, parameters, captured)
        self.plan = plan
        self.analysis = plan.analysis
        self.extents = [1] * plan.lanes
        self.buffers: dict[SSAValue, LiveMemory] = {}
        self._slice: tuple[Operation | None, slice] = (None, slice(None))
        # Where a range has iterations that other lanes do not, and where an IF's gate is true.
        self.masks: dict[Operation, Data] = {}
        self._partial: dict[ReduceOp, list[Data]] = {}
        self.writers = {op: number for number, op in enumerate(self.analysis.unordered)}

    # -- control

    def run(self) -> None:
        """Execute everything, in parts if all lanes at once would take too much space."""
        before = dict(self.known)
        for at, part in self._slices():
            self.known = dict(before)
            self._slice = (at, part)
            # What the lanes of the last part had to themselves has other contents in these.
            for memory in [m for m, over in self.plan.private.items() if at in over]:
                self.buffers.pop(memory, None)
            for special in self.analysis.specials:
                self._evaluate_with_sources(special)
            self._run_items(self.plan.items)

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

    def _known_size(self, op: Operation) -> int:
        """How many values a range has, where that can be found before the loops are run; else 1."""
        assert isinstance(op, RangeOp | SpecialOp)
        # Memory and loop variables have no values yet.
        stack, seen, stateless = [op.bound.owner], set[Operation](), PURE.keys() | MOVEMENTS
        while stack:
            source = stack.pop()
            if not isinstance(source, Operation) or source in seen:
                continue
            if source.name not in stateless and not isinstance(source, ParamOp):
                return 1
            seen.add(source)
            stack.extend(operand.owner for operand in source.operands)
        if isinstance(source := op.bound.owner, Operation):
            self._evaluate_with_sources(source)
        return max(int(self.bound(op).max(initial=0)), 0)

    def values_of(self, op: Axis, size: int) -> Data:
        """All the values of a range or SPECIAL, or those of the part that is run now."""
        at, part = self._slice
        check_size((size,), 8)
        values = np.arange(size)[part if at is op else slice(None)]
        axis = self.plan.axes[op]
        self.extents[axis] = values.size
        shape = [1] * self.lanes
        shape[axis] = values.size
        return values.reshape(shape)

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
            elif (op := stack.pop()).results[0] not in self.known:
                self.execute(op)

    def _run_items(self, items: Sequence[Item]) -> None:
        """Execute items in order; loops by a stack of what is left to do in each."""
        stack: list[Iterator[Item]] = [iter(items)]
        while stack:
            for item in stack[-1]:
                if isinstance(item, LoopBody):
                    stack.append(self._iterations(item))
                    break
                if isinstance(item, Accumulate):
                    self._accumulate(item.op)
                else:
                    self.execute(item)
            else:
                stack.pop()

    def _iterations(self, loop: LoopBody) -> Iterator[Item]:
        """The body again and again, the range having the next value each time."""
        with errors_at(loop.axis):
            bound = self.bound(loop.axis)
        for i in range(int(bound.max(initial=0))):
            self.known[loop.axis.result] = Array(self._scalar(i))
            self.mask_range(loop.axis, bound, i)
            yield from loop.body

    def _scalar(self, value: int) -> Data:
        return np.full((1,) * self.lanes, value, np.int64)

    def bound(self, op: Axis) -> Data:
        return self.array(op, op.bound).materialised()

    def mask_range(self, op: Axis, bound: Data, index: Data | int) -> None:
        """Where bounds differ between lanes, some have fewer iterations."""
        if bound.size > 1:
            self.masks[op] = index < bound
        else:
            self.masks.pop(op, None)

    def mask(self, scope: Scope) -> Data | None:
        """Where the iterations of the scope take place and its conditions hold."""
        if not self.masks or not scope:
            return None
        return all_valid([self.masks.get(op) for op in scope])

    def active(self, op: Operation) -> Data | None:
        """The lanes in which an op is executed; None if all."""
        return self.mask(self.analysis.scopes.of.get(op, NO_SCOPE))

    def lane_shape(self, op: Operation) -> tuple[int, ...]:
        """The lanes that execute an op, as the shape of the lane axes."""
        scope = self.analysis.scopes.of.get(op, NO_SCOPE)
        return tuple(
            self.extents[axis] if isinstance(at, SpecialOp) or at in scope else 1
            for at, axis in self.plan.axes.items()
        )

    def group_axes(self) -> list[int]:
        """The lane axes of the threads of a workgroup, the one that numbers them fastest first."""
        return [self.plan.axes[axis] for axis in self.analysis.work_items]

    # -- memory

    def read(self, op: Operation, operand: SSAValue, view: LiveView, gate: Data | None) -> Data:
        """In the lanes that `op` is run in."""
        active = all_valid([self._shaped(self.active(op), operand), gate])
        snapshot = operand in self.analysis.snapshots
        return view.memory.gather(view.cell_map, active, snapshot=snapshot)

    def write(self, op: Operation, view: LiveView, value: Data, mask: Data | None) -> None:
        view.memory.scatter(view.cell_map, value, mask)

    def _shaped(self, active: Data | None, operand: SSAValue) -> Data | None:
        """A mask of lanes as a mask of a value's elements."""
        if active is None:
            return None
        return active.reshape(active.shape + (1,) * len(tensor(operand).get_shape()))

    def hold(self, op: Operation, array: Array) -> LiveView:
        """Memory with a copy per lane."""
        lanes = self.lanes
        data = array.materialised()
        shape = data.shape[lanes:]
        dtype = dtype_of(op.results[0])
        copies = Lanes(data.shape[:lanes], range(lanes))
        memory = LiveMemory(np.zeros(shape, data.dtype), dtype, copies=lambda: copies)
        cell_map = CellMap(shape, dtype, lanes)
        memory.scatter(cell_map, data, None)
        if self.analysis.snapshots:
            memory.take_snapshot()
        return LiveView(memory, cell_map)

    def buffer(self, op: BufferOp, shape: tuple[int, ...]) -> LiveView:
        """The memory of a BUFFER: zeros, with a copy per iteration of the loops that have one."""
        root = self.analysis.roots[op.result]
        if (memory := self.buffers.get(root)) is None:
            check_size(shape, dtype_of(root).itemsize)
            # A loop that is stepped has one iteration at a time, and needs no copies.
            private = self.plan.private.get(root, ())
            axes = [self.plan.axes[at] for at in private if at in self.plan.axes]
            memory = self.buffers[root] = LiveMemory(
                np.zeros(shape, numpy_dtype_of(root)),
                dtype_of(root),
                name=f"buffer {op.slot.data}",
                copies=(lambda: Lanes(self.extents, axes)) if axes else None,
                assumed=root in self.plan.assumed,
                keep_snapshot=bool(self.analysis.snapshots),
                threads=self._thread_numbers if self._is_shared(root) else None,
            )
        return LiveView(memory, CellMap(memory.shape, memory.dtype, self.lanes))

    def _is_shared(self, buffer: SSAValue) -> bool:
        """Whether the threads that SPECIALs number share a buffer."""
        return place(buffer).addrspace is AddrSpace.LOCAL and any(
            is_work_item(s) for s in self.analysis.specials
        )

    def _thread_numbers(self) -> Data:
        """A different number for each thread of a workgroup, as lanes."""
        return Lanes(self.extents, self.group_axes()).number

    # -- reductions

    def _accumulate(self, op: ReduceOp) -> None:
        """A REDUCE in one iteration of its stepped ranges: over the other ranges, and the axes."""
        with errors_at(op):
            self._partial.setdefault(op, []).append(self._reduced(op))

    def _reduced(self, op: ReduceOp) -> Data:
        """Over lane axes and shape axes, in the accumulator's dtype."""
        lanes = self.lanes
        source = self.array(op, op.source)
        ranges = [r.owner for r in op.ranges]
        axes = [self.plan.axes[r] for r in ranges if isinstance(r, RangeOp) and r in self.plan.axes]
        # Iterations beyond a bound that differs between lanes are not valid.
        mask = self.mask(frozenset(r for r in ranges if isinstance(r, RangeOp)))
        shape = list(source.data.shape)
        for axis in axes:
            shape[axis] = self.extents[axis]
        valid = source.valid
        if mask is not None:
            valid = all_valid([valid, mask.reshape(mask.shape + (1,) * (len(shape) - lanes))])
            assert valid is not None
            shape = list(np.broadcast_shapes(shape, valid.shape))
        # An element is reduced once per iteration, also if it does not vary along the range.
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
        # A part for each iteration of the stepped ranges; none if there was no iteration.
        parts = self._partial.pop(op, [])
        if not parts:
            shape = (1,) * self.lanes + tensor(op.result).get_shape()
            return Array(finish(np.broadcast_to(initial(op), shape), dtype))
        together = Array(np.stack(np.broadcast_arrays(*parts)))
        total = accumulate(op.kind.data, together, [0], dtype, ordered=ordered)[0]
        return Array(finish(total, dtype))
