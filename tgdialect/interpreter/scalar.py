"""The oracle of kernels: a nest of Python loops that executes one iteration at a time.

An op is executed on the values of one iteration, and a STORE changes memory at once. Races between
what is executed one after the other here, and by a device in any order, are errors. Work items
take turns: each of them runs up to its next BARRIER, then all go on. What an elementwise op or a
movement computes is in `pure.py` and `movement.py`, the order of ops and loops in `nesting.py`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence, Set

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from tgdialect.diagnostics import errors_at
from tgdialect.interpreter.block_analysis import (
    Axis,
    BlockAnalysis,
    Instance,
    is_parallel,
    is_work_item,
    not_reached,
    not_written,
    parallel_race,
    unordered_stores,
)
from tgdialect.interpreter.elementwise import compute
from tgdialect.interpreter.kernel import COMMON, Function, Given, KernelRun, LiveValue, ordering
from tgdialect.interpreter.memory import LiveMemory, LiveView, flat_cells, from_cells, to_cells
from tgdialect.interpreter.nesting import Accumulate, Item, LoopBody, items_of
from tgdialect.interpreter.pure import combine, finish, initial
from tgdialect.interpreter.run_context import RunContext
from tgdialect.interpreter.values import MaskedArray, all_valid, check_size
from tgdialect.interpreter.wmma import of_warp
from tgdialect.ops import tg
from tgdialect.ops.arrays import numpy_dtype_of
from tgdialect.ops.numpy_dtypes import Array

_Byte = tuple[LiveMemory, int]

_Accesses = dict[Instance, int]
"""Accesses to a byte, the latest last, each with the number of barriers before it."""


class ScalarRaces:
    """Which STOREs have written the present value of each byte, what has added to it, and what has
    read it since.

    Two STOREs race if the second one changes the byte, and neither op waits for the other or
    parallel iterations execute them. A read races with a STORE or an ATOMICADD of a parallel
    iteration, an ATOMICADD with a STORE of one, or with one that it does not wait for. A BARRIER
    orders what the work items of a workgroup do before it and after it: accesses carry the number
    of barriers that the workgroup had reached.
    """

    def __init__(self, unordered: Mapping[Operation, Set[Operation]]):
        self._unordered = unordered
        self._barriers = 0
        self._writers: dict[_Byte, _Accesses] = {}
        self._adders: dict[_Byte, _Accesses] = {}
        self._readers: dict[_Byte, _Accesses] = {}

    def barrier(self) -> None:
        """All work items of a workgroup have reached this point."""
        self._barriers += 1

    def read(self, memory: LiveMemory, bytes: Array, now: Instance) -> None:
        """An op reads bytes."""
        if not now.iteration:
            return
        for byte in bytes.ravel().tolist():
            key = memory, byte
            self._check_parallel(key, now, "reads", self._writers, "has written")
            self._check_parallel(key, now, "reads", self._adders, "has added to")
            self._record(self._readers, key, now)

    def write(self, memory: LiveMemory, bytes: Array, now: Instance, *, changes: bool) -> None:
        """A STORE writes the bytes of an element, whose value it `changes` or not."""
        for byte in bytes.tolist():
            key = memory, byte
            self._check_parallel(key, now, "writes", self._readers, "has read")
            self._check_parallel(key, now, "writes", self._adders, "has added to")
            self._readers.pop(key, None)
            self._check_order(key, now.op, self._adders.get(key, ()))
            if changes:
                self._check_order(key, now.op, self._writers.get(key, ()))
                did = "has written with another value"
                self._check_parallel(key, now, "writes", self._writers, did)
                self._adders.pop(key, None)
                self._writers.pop(key, None)
            self._record(self._writers, key, now)

    def add(self, memory: LiveMemory, bytes: Array, now: Instance) -> None:
        """An ATOMICADD adds to bytes."""
        for byte in bytes.tolist():
            key = memory, byte
            self._check_parallel(key, now, "adds to", self._readers, "has read")
            self._check_parallel(key, now, "adds to", self._writers, "has written")
            self._check_order(key, now.op, self._writers.get(key, ()))
            self._record(self._adders, key, now)

    def _check_order(self, byte: _Byte, now: Operation, before: Iterable[Instance]) -> None:
        unordered = self._unordered.get(now, set())
        if (other := next((i.op for i in before if i.op in unordered), None)) is not None:
            raise unordered_stores(_cell(byte), now, other)

    def _check_parallel(
        self, byte: _Byte, now: Instance, does: str, others: dict[_Byte, _Accesses], did: str
    ) -> None:
        for before, barriers in others.get(byte, {}).items():
            if now.is_parallel_to(before, is_ordered=barriers != self._barriers):
                raise parallel_race(_cell(byte), now, does, before, did)

    def _record(self, accesses: dict[_Byte, _Accesses], byte: _Byte, now: Instance) -> None:
        """Make an access the latest; an earlier one by the same op and iteration is forgotten."""
        known = accesses.setdefault(byte, {})
        known.pop(now, None)
        known[now] = self._barriers


def _cell(byte: _Byte) -> str:
    memory, position = byte
    return f"cell {position // memory.dtype.itemsize} of {memory.name}"


Iteration = tuple[int, ...]
"""The values of some loop variables."""


class ScalarRun(KernelRun):
    """One run of a block; `known` has the values of the iteration and work item that is running."""

    def __init__(self, analysis: BlockAnalysis, context: RunContext, given: Given):
        super().__init__(analysis, context, SCALAR, given)
        self.races = ScalarRaces(analysis.unordered)
        self._written = {
            root for root, uses in analysis.uses.items() if any(use.writes for use in uses)
        }
        self._buffers: dict[tuple[SSAValue, Iteration], LiveMemory] = {}
        self._roots: dict[LiveMemory, SSAValue] = {}
        self._items = _loop_nest(analysis)
        ifs = [op for op in analysis.block.ops if isinstance(op, tg.IfOp)]
        self._conditions = {
            op: inside
            for op, scope in analysis.scopes.of.items()
            if (inside := [c for c in ifs if c in scope])
        }
        self._totals: dict[tuple[Operation, Iteration], Array] = {}
        self._fragments: dict[tuple[Operation, int], Sequence[MaskedArray]] = {}
        self._done: set[tuple[Operation, Iteration]] = set()

    # -- loops

    def run(self) -> None:
        """Execute the block."""
        for reached in self._execute(self._items):
            if isinstance(reached, tg.BarrierOp):
                self.raise_errors()
                self.races.barrier()
        self.raise_errors()

    def _execute(self, items: Sequence[Item]) -> Generator[Operation]:
        """Execute items in order. Yields for the other work items to catch up: at each BARRIER, and
        at each op of a warp."""
        stack: list[Iterator[Item]] = [iter(items)]
        while stack:
            for item in stack[-1]:
                if isinstance(item, Accumulate):
                    with errors_at(item.op):
                        self._accumulate(item.op)
                elif isinstance(item, LoopBody):
                    if not self._is_reached(item.axis):
                        continue
                    if is_work_item(item.axis):
                        yield from self._work_items(item)
                    else:
                        stack.append(self._iterations(item))
                        break
                elif self._is_reached(item):
                    if isinstance(item, tg.BarrierOp):
                        yield item
                    elif tg.warp_of(item) > 1:
                        key = item, self._work_item()[0]
                        self._fragments[key] = [self.array(item, x) for x in item.operands]
                        yield item
                    self.execute(item)
            else:
                stack.pop()

    def _is_reached(self, op: Operation) -> bool:
        """Whether the gates of the IFs that an op is inside of are true."""
        return all(bool(self.array(c, c.gate).data) for c in self._conditions.get(op, ()))

    def _iterations(self, loop: LoopBody) -> Iterator[Item]:
        """The body again and again, the loop variable having the next value each time."""
        for i in range(self._bound(loop.axis)):
            self.known[loop.axis.result] = _index(i)
            yield from loop.body

    def _work_items(self, loop: LoopBody) -> Generator[Operation]:
        """The body of each work item up to its next BARRIER, and again until all are done."""
        outer = self.known
        work_items = [
            ({**outer, loop.axis.result: _index(i)}, self._execute(loop.body))
            for i in range(self._bound(loop.axis))
        ]
        while True:
            reached: list[Operation | None] = []
            for known, work_item in work_items:
                self.known = known
                reached.append(next(work_item, None))
            waiting = next((op for op in reached if op is not None), None)
            if waiting is not None and any(op is not waiting for op in reached):
                first = reached.index(waiting)
                other = next(i for i, op in enumerate(reached) if op is not waiting)
                at: list[Instance] = []
                for self.known, _ in (work_items[first], work_items[other]):
                    at.append(self.instance(waiting))
                raise not_reached(at[0], at[1], self.analysis)
            self.known = outer
            if waiting is None:
                break
            yield waiting

    def _bound(self, axis: Axis) -> int:
        with errors_at(axis):
            return int(self.array(axis, axis.bound).materialised())

    def _work_item(self) -> tuple[int, int]:
        """The number of the work item that is running in its workgroup, and how many it has."""
        number, count = 0, 1
        # The axes that number the work item, the fastest first.
        axes = [a for a in self.analysis.work_items if a.result in self.known]
        for axis, i in zip(axes, self.iteration(axes), strict=True):
            number += i * count
            count *= self._bound(axis)
        return number, count

    def is_first(self, op: Operation) -> bool:
        """Whether this is the first time that an op is executed in an iteration of its loops.

        Expanded ranges are the innermost loops here, while tg-expand makes axes of values of them.
        So a STORE in an expanded range can have loops around it that it does not depend on: one
        that clears the accumulators of a tile is inside the loop of the reduction. It is executed
        in the first iteration of those loops alone, as if it stood before them.
        """
        key = op, self.iteration(self.analysis.loops_around[op])
        is_first = key not in self._done
        self._done.add(key)
        return is_first

    # -- memory: views are read and written one element after the other

    def iteration(self, axes: Sequence[Axis]) -> Iteration:
        """The values of loop variables."""
        return tuple(int(self.array(axis, axis.result).data) for axis in axes)

    def buffer(self, op: tg.BufferOp, shape: tuple[int, ...]) -> LiveView:
        root = self.analysis.roots[op.result]
        return self._copy(root, (), shape, f"buffer {op.slot.data}").view()

    def hold(self, op: Operation, array: MaskedArray) -> LiveView:
        data, dtype = array.materialised().copy(), tg.dtype_of(op.results[0])
        return LiveMemory(data, dtype, keep_snapshot=bool(self.analysis.snapshots)).view()

    def read(self, op: Operation, operand: SSAValue, view: LiveView, gate: Array | None) -> Array:
        self.check_bounds(op, operand, view, gate)
        memory, numbers = self._own(view.memory), view.cell_map.byte_numbers
        there = numbers != 0 if gate is None else (numbers != 0) & gate[..., np.newaxis]
        self._check_written(op, memory, numbers[there] - 1)
        contents = memory.contents
        if operand in self.analysis.snapshots:
            contents = memory.first_contents
        elif self._is_written(operand, memory):
            self.races.read(memory, numbers[there] - 1, self.instance(op))
        bytes = np.zeros(there.shape, np.uint8)
        bytes[there] = flat_cells(contents, True)[numbers[there] - 1]
        return from_cells(bytes, view.cell_map.element_dtype, True)

    def write(
        self, op: Operation, view: LiveView, value: Array, mask: Array | None, *, adds: bool = False
    ) -> None:
        """Write the elements of a value where `mask` is true, or add them to what is there."""
        self.check_bounds(op, op.operands[0], view, mask)
        memory, dtype = self._own(view.memory), view.cell_map.element_dtype
        contents, numbers = flat_cells(memory.contents, True), view.cell_map.byte_numbers
        if adds and view.cell_map.is_bytewise:
            raise InterpretationError("an atomic add to memory through a BITCAST of its elements")
        shape = numbers.shape[:-1]
        value = np.broadcast_to(value, shape)
        chosen = np.broadcast_to(True if mask is None else mask, shape)
        instance = self.instance(op)
        for element in np.ndindex(shape):
            there = numbers[element] != 0
            if not chosen[element] or not there.any():
                continue
            cells, new = numbers[element][there] - 1, np.asarray(value[element])
            if adds:
                self._check_written(op, memory, cells)
                old = from_cells(contents[cells], dtype, True)
                new = compute("tg.add", [old, new], [dtype, dtype], dtype)
            bytes = to_cells(new, dtype, True)[there]
            if adds:
                self.races.add(memory, cells, instance)
            else:
                changes = bool((contents[cells] != bytes).any())
                self.races.write(memory, cells, instance, changes=changes)
            contents[cells] = bytes
            if memory.written is not None:
                memory.written[cells // memory.dtype.itemsize] = True

    def _own(self, memory: LiveMemory) -> LiveMemory:
        """The copy of a buffer that the iterations of parallel loops have each, if they have."""
        root = self._roots.get(memory)
        if root is None or not (axes := self.analysis.private[root]):
            return memory
        return self._copy(root, self.iteration(axes), memory.shape, memory.name)

    def _copy(
        self, root: SSAValue, iteration: Iteration, shape: tuple[int, ...], name: str
    ) -> LiveMemory:
        """The copy of a buffer for an iteration, which is made of zeros when it is first used."""
        if (memory := self._buffers.get((root, iteration))) is None:
            check_size(shape, tg.dtype_of(root).itemsize)
            memory = self._buffers[root, iteration] = LiveMemory(
                np.zeros(shape, numpy_dtype_of(root)),
                tg.dtype_of(root),
                name=name,
                keep_snapshot=bool(self.analysis.snapshots),
            )
            if root in self.analysis.undefined:
                memory.written = np.zeros(memory.size, np.bool_)
            self._roots[memory] = root
        return memory

    def _check_written(self, op: Operation, memory: LiveMemory, bytes: Array) -> None:
        """Note a read of a cell without contents: an error, or a race with a later STORE."""
        if memory.written is None or self._roots.get(memory) not in self.analysis.undefined:
            return
        cells = bytes // memory.dtype.itemsize
        for cell in cells[~memory.written[cells]][:1].tolist():
            self.errors.append(not_written(self.instance(op), f"cell {cell} of {memory.name}"))

    def _is_written(self, view: SSAValue, memory: LiveMemory) -> bool:
        """Whether the block may write a memory, perhaps by another view that a LINEAR captures."""
        return self.analysis.roots[view] in self._written or memory.written is not None

    def instance(self, op: Operation, lane: Sequence[int] = ()) -> Instance:
        axes = [axis for axis in self.analysis.loops_around[op] if is_parallel(axis)]
        return Instance(op, tuple(zip(axes, self.iteration(axes), strict=True)))

    # -- reductions and matrices

    def _accumulate(self, op: tg.ReduceOp) -> None:
        """A REDUCE in one iteration of its loops: add the elements of its operand, in order."""
        key = op, self.iteration(self.analysis.loops_around[op])
        total = self._totals.get(key, initial(op))
        self._totals[key] = combine(op, total, self.array(op, op.source))

    def reduce(self, op: tg.ReduceOp) -> LiveValue:
        """The value of a REDUCE, once its loops are done."""
        key = op, self.iteration(self.analysis.loops_around[op])
        if not op.ranges:
            total = combine(op, initial(op), self.array(op, op.source))
        else:
            total = self._totals.pop(key, initial(op))
        total = np.broadcast_to(total, tg.tensor(op.result).get_shape())
        return MaskedArray(finish(total, tg.dtype_of(op.source)))

    def of_warp(self, op: Operation) -> LiveValue:
        """The part of a product, or the value of a SHUFFLE, that the running work item gets from
        its warp."""
        if tg.warp_of(op) == 1:
            return COMMON[op.name](self, op)
        number, count = self._work_item()
        fragments = zip(*(self._fragments[op, item] for item in range(count)), strict=True)
        operands = [MaskedArray(np.stack([x.materialised() for x in each])) for each in fragments]
        return self.result(op, MaskedArray(of_warp(op, operands, 1, [0]).data[number]))


def _index(i: int) -> MaskedArray:
    return MaskedArray(np.asarray(i, np.int64))


def _loop_nest(analysis: BlockAnalysis) -> Sequence[Item]:
    """All ranges as loops; SPECIALs are loops around everything, workgroups outside work items."""
    block, ranges = analysis.block, analysis.scopes.ranges
    items = items_of(analysis, ranges, analysis.connected(analysis.private))
    if not analysis.specials:
        return items
    for special in sorted(analysis.specials, key=is_work_item, reverse=True):
        items: list[Item] = [LoopBody(special, items)]
    needed = {special.bound.owner for special in analysis.specials}
    for op in reversed(list(block.ops)):
        if op in needed:
            needed.update(operand.owner for operand in op.operands)
    return [*(op for op in block.ops if op in needed), *items]


def _store(run: ScalarRun, op: Operation) -> LiveValue:
    """STORE and ATOMICADD: valid cells of the value, where the gate is true."""
    view = run.known[op.operands[0]]
    assert isinstance(view, LiveView)
    value = run.array(op, op.operands[1])
    gate = run.array(op, op.operands[2]).materialised() if len(op.operands) > 2 else None
    mask = all_valid([value.valid, gate])
    if run.is_first(op):
        run.write(op, view, value.data, mask, adds=isinstance(op, tg.AtomicAddOp))
    return None


SCALAR: Mapping[str, Function] = {
    **COMMON,
    **dict.fromkeys(("tg.store", "tg.atomicadd"), _store),
    "tg.reduce": ScalarRun.reduce,
    **dict.fromkeys(("tg.wmma", "tg.ins", "tg.shuffle"), ScalarRun.of_warp),
    "tg.special": lambda run, op: run.known[op.result],  # A loop variable, which has its value.
    **dict.fromkeys(("tg.barrier", "tg.if"), ordering),
}
"""Every op of a kernel but RANGE, by name."""
