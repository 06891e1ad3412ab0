"""Memory as the oracle uses it: views are read and written one element after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import InterpretationError

from tgdialect.interpreter.block_analysis import Axis, BlockAnalysis, is_parallel
from tgdialect.interpreter.cell_maps import CellMap, flat_cells, from_cells, to_cells
from tgdialect.interpreter.elementwise import compute
from tgdialect.interpreter.instances import Instance, not_written, parallel_race, unordered_stores
from tgdialect.interpreter.kernel import Function, Given, KernelRun
from tgdialect.interpreter.live import LiveMemory, LiveView
from tgdialect.interpreter.run_context import RunContext
from tgdialect.interpreter.values import MaskedArray, check_size
from tgdialect.ops import tg
from tgdialect.ops.arrays import numpy_dtype_of
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.ops.properties import dtype_of

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


class ScalarMemory(KernelRun):
    """The part of a run that knows memory. `known` has the values of one iteration."""

    def __init__(
        self,
        analysis: BlockAnalysis,
        context: RunContext,
        functions: Mapping[str, Function],
        given: Given,
    ):
        super().__init__(analysis, context, functions, given)
        self.races = ScalarRaces(analysis.unordered)
        self._written = {
            root for root, uses in analysis.uses.items() if any(use.writes for use in uses)
        }
        self._buffers: dict[tuple[SSAValue, Iteration], LiveMemory] = {}
        self._roots: dict[LiveMemory, SSAValue] = {}
        self._errors: list[InterpretationError] = []
        """Reads of cells without contents since the last BARRIER."""

    def iteration(self, axes: Sequence[Axis]) -> Iteration:
        """The values of loop variables."""
        return tuple(int(self.array(axis, axis.result).data) for axis in axes)

    def buffer(self, op: tg.BufferOp, shape: tuple[int, ...]) -> LiveView:
        root = self.analysis.roots[op.result]
        if (root, ()) not in self._buffers:
            check_size(shape, dtype_of(root).itemsize)
            memory = self._zeros(shape, root, f"buffer {op.slot.data}")
            self._buffers[root, ()] = memory
            self._roots[memory] = root
        memory = self._buffers[root, ()]
        return LiveView(memory, CellMap(memory.shape, memory.dtype))

    def hold(self, op: Operation, array: MaskedArray) -> LiveView:
        memory = LiveMemory(
            array.materialised().copy(),
            dtype_of(op.results[0]),
            keep_snapshot=bool(self.analysis.snapshots),
        )
        return LiveView(memory, CellMap(memory.shape, memory.dtype))

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

    def raise_errors(self) -> None:
        """Raise the first error that would be a race, had another work item written the cell."""
        if self._errors:
            raise self._errors[0]

    def _own(self, memory: LiveMemory) -> LiveMemory:
        """The copy of a buffer that the iterations of parallel loops have each, if they have."""
        root = self._roots.get(memory)
        if root is None or not (axes := self.analysis.private[root]):
            return memory
        key = root, self.iteration(axes)
        if key not in self._buffers:
            own = self._buffers[key] = self._zeros(memory.shape, root, memory.name)
            self._roots[own] = root
        return self._buffers[key]

    def _zeros(self, shape: Sequence[int], root: SSAValue, name: str) -> LiveMemory:
        memory = LiveMemory(
            np.zeros(tuple(shape), numpy_dtype_of(root)),
            dtype_of(root),
            name=name,
            keep_snapshot=bool(self.analysis.snapshots),
        )
        if root in self.analysis.undefined:
            memory.written = np.zeros(memory.size, np.bool_)
        return memory

    def _check_written(self, op: Operation, memory: LiveMemory, bytes: Array) -> None:
        """Note a read of a cell without contents: an error, or a race with a later STORE."""
        if memory.written is None or self._roots.get(memory) not in self.analysis.undefined:
            return
        for cell in (bytes // memory.dtype.itemsize).ravel().tolist():
            if not memory.written[cell]:
                name = f"cell {cell} of {memory.name}"
                self._errors.append(not_written(self.instance(op), name))
                return

    def _is_written(self, view: SSAValue, memory: LiveMemory) -> bool:
        """Whether the block may write a memory, perhaps by another view that a LINEAR captures."""
        return self.analysis.roots[view] in self._written or memory.written is not None

    def instance(self, op: Operation, lane: Sequence[int] = ()) -> Instance:
        axes = [axis for axis in self.analysis.loops_around[op] if is_parallel(axis)]
        return Instance(op, tuple(zip(axes, self.iteration(axes), strict=True)))
