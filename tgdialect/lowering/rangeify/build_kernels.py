"""The pass that builds a kernel for each task, and a function that calls the kernels in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeGuard

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.affine.positions import Index
from tgdialect.analysis.overwriting import overwritten_reads
from tgdialect.analysis.ranges import needed_ops
from tgdialect.diagnostics import SHAPES, kept_facts, locate
from tgdialect.fast_xdsl import unchecked
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.levels import LoweringPass
from tgdialect.lowering.rangeify.alike import LoweredTask, Parts, TaskPlace, Tasks
from tgdialect.lowering.rangeify.analyses import analyses_of
from tgdialect.lowering.rangeify.cells import Cell, materialised
from tgdialect.lowering.rangeify.donated import Donors
from tgdialect.lowering.rangeify.function_pass import called_function, functions_in_order
from tgdialect.lowering.rangeify.host import CallingKernel, HostFunction
from tgdialect.lowering.rangeify.index_sets import split_index_sets
from tgdialect.lowering.rangeify.kernel import KernelBuilder, MemoryCell, Realised
from tgdialect.lowering.rangeify.online import OnlineKernel
from tgdialect.lowering.rangeify.phases import split_phases
from tgdialect.lowering.rangeify.planning.online import OnlineSums
from tgdialect.lowering.rangeify.planning.online_blocks import Blocks
from tgdialect.lowering.rangeify.planning.padding import border
from tgdialect.lowering.rangeify.planning.plan import read_plan
from tgdialect.lowering.rangeify.relax_maxima import has_cheap_maxima
from tgdialect.lowering.rangeify.results import is_result, only_store_of_result, store_of_result
from tgdialect.lowering.rangeify.schedule import Task, schedule, tasks_of
from tgdialect.lowering.rangeify.updates import nest_updates
from tgdialect.ops import tg
from tgdialect.ops.affine import Affine
from tgdialect.ops.base import TgOp
from tgdialect.ops.dtypes import BOOL
from tgdialect.ops.numbering import next_symbol, symbols
from tgdialect.ops.properties import Shape, integers, is_memory, place, shape_of, tensor
from tgdialect.ops.views import is_storage, memory_of, movements
from tgdialect.ops.walk import Walk, operands_of
from tgdialect.targets import Target
from tgdialect.targets.attribute import settle_target
from tgdialect.transforms.simplify import simplify

MANY_PARTS = 32
"""The most operands of a STACK of which an iteration of its kernel stores an element each. Larger:
code for each of them; smaller: the kernel chooses the operand of each element."""


MANY_INTERLEAVED = 8
"""The fewest operands of a STACK along the last axis for which a kernel chooses the operand of an
element: it transposes squares in registers. Smaller: choices for few operands; larger: STOREs of
one element each, which are far apart. For 8 arrays of 10^6 f32 it took 2.8 ms, and 4.5 ms by
STOREs; for 4 arrays both took 2.2 ms."""


class _Emitted(NamedTuple):
    """A kernel that is not finished: its ops, STOREs and loops."""

    builder: KernelBuilder
    stores: Sequence[SSAValue]
    ranges: Sequence[SSAValue]

    def reads(self, memory: SSAValue) -> bool:
        return memory in self.builder.loads


class _Finished(NamedTuple):
    """The kernels that one has become, and the memory that is passed for its parameters."""

    parts: Parts
    arguments: Sequence[SSAValue]


class _FunctionKernels:
    """The splitting of one function into kernels and calls."""

    def __init__(self, function: FuncOp, device: str, taken: set[str], target: Target) -> None:
        """`taken` are the names of all symbols of the module."""
        self.function = function
        self.taken = taken
        self.target = target
        self.kernels: list[tg.KernelOp] = []
        self.symbols: dict[str, Parts] = {}
        """The kernels by their structure: those that are alike are one, and one that is split is
        several."""
        self.online: list[OnlineKernel] = []
        """The kernels that go over blocks of scores."""
        self.realised: dict[Operation, Realised] = {}
        self.stored: dict[tg.StoreOp, SSAValue | None] = {}
        """STOREs that the kernel which realises their value has done, and its CALL."""
        block = function.body.block
        analyses = analyses_of(block)
        self.structures, self.intervals = analyses.structures, analyses.intervals
        self.validity, self.is_closed = analyses.validity, analyses.is_closed
        for op in block.ops:
            if isinstance(op, tg.ReduceOp):
                self.is_closed(op)  # The forms of those that read no memory.
        self.donors = Donors(function)
        self.fusion = read_plan(block, self.validity.__getitem__)
        self.scheduled = tasks_of(block, self.fusion.realised)
        self.host = HostFunction(function, device)
        self.tasks = Tasks(self.structures, self.fusion, self.realised, self.intervals, is_result)
        self.number = 0
        """The number of the present task in the order of execution."""

    def run(self) -> None:
        overwrites = ((self.writer(store), memory) for store, memory in self.donors.pairs())
        tasks = schedule(self.scheduled, overwrites)
        self.tasks.are_several = len(tasks) > 1
        for number, task in enumerate(tasks):
            self.donors.last_read.update((memory, number) for memory, _ in task.reads)
        effects: dict[SSAValue | None, None] = {}
        for self.number, task in enumerate(tasks):
            effects[self.run_task(task)] = None
        self.donors.erase_views()
        self.host.finish(effect for effect in effects if effect is not None)
        self.donors.finish()

    def writer(self, store: tg.StoreOp) -> Operation:
        """The op whose task does a STORE of a result."""
        op = store.value.owner
        if not isinstance(op, TgOp) or op not in self.fusion.realised:
            return store
        return op if self.store_of_result(store.value) is store else store

    def store_of_result(self, value: SSAValue) -> tg.StoreOp | None:
        """The STORE of just this value in a whole result of the function, if there is one."""
        return store_of_result(value, self.validity.__getitem__)

    def builder(self, local_axes: Mapping[Operation, tuple[int, ...]] = {}) -> KernelBuilder:
        builder = KernelBuilder(
            self.realised, local_axes, intervals=self.intervals, forms=self.is_closed.forms
        )
        builder.location = self.host.location
        return builder

    # -- tasks

    def run_task(self, task: Task) -> SSAValue | None:
        """The effect of a task; None where it has none, since no cell is stored."""
        self.host.location = task.op.location
        match task.op:
            case tg.StoreOp() as op if _is_empty(op.buffer):
                return None
            case tg.StoreOp() as op:
                return self.stored[op] if op in self.stored else self.store(op)
            case tg.CallOp() as op:
                if (callee := called_function(op)) is not None:
                    return self.host.inline(op, callee)
                return self.host.repeat(op)
            case op:
                return self.realise(op)

    def realise(self, op: Operation, *, apart: bool = False) -> SSAValue | None:
        """A kernel that stores a value, and its validity in a buffer beside it if cells may be
        invalid.

        The buffer is the function's result, if the value is one and is not to be stored `apart`;
        else it is new.
        """
        result = op.results[0]
        if op in self.fusion.online:
            return self.realise_online(op, *self.fusion.online[op], apart=apart)
        if isinstance(op, tg.PadOp) and (inside := self.fusion.paddings.get(op)) is not None:
            return self.realise_border(op, self.realised[inside.op])
        builder = self.builder(self.fusion.local_axes)
        # The buffer, which users of the value read from now on.
        store = None if apart else self.store_of_result(result)
        if store is not None and (donor := self.overwrite(store, op, result)) is not None:
            self.realised[op] = Realised(donor, None)
            return self.stored[store]
        pad = self.fusion.padded_by.get(op)
        whole = pad or op
        order = () if store else self.fusion.axis_orders.get(whole, ())
        if store:
            data = store.buffer
        else:
            data = self.host.buffer(whole.results[0], tensor(result).element_type, order)
        inside = self.fusion.paddings[pad] if pad else None
        self.realised[op] = made = Realised(data, None, order, inside)
        if _is_empty(result):
            return None
        about = self.is_stored_in_parts(op, result), made.place
        where = self.tasks.place(op, [result], [data], about)
        if where is not None and (known := self.tasks.lowered.get(where.text)) is not None:
            written = [data]
            if known.is_masked:
                mask = self.host.buffer(result, BOOL, order)
                self.realised[op] = Realised(data, mask, order)
                where.buffers.append(mask)
                written.append(mask)
            return self.effect_of(store, self.call_again(where, known, written))
        # The loops, with a STORE of the value and perhaps one of its validity.
        builder.parameter(data)
        written = [data]
        if self.is_stored_in_parts(op, result):
            stores, ranges = self.store_parts(
                builder, op, op, lambda index: builder.locate(data, made.at(index))
            )
            return self.effect_of(store, self.call_new(builder, stores, ranges, written, where))
        index, ranges = self.loops(builder, op, shape_of(result))
        cell = builder.root_cell(op, index)
        at = made.at(index)
        stores = [builder.store(builder.locate(data, at), Cell(materialised(builder, cell), None))]
        if cell.valid is not None:
            mask = self.host.buffer(result, BOOL, order)
            self.realised[op] = Realised(data, mask, order)
            stores.append(builder.store(builder.locate(mask, at), Cell(cell.valid, None)))
            written.append(mask)
        return self.effect_of(store, self.call_new(builder, stores, ranges, written, where))

    def realise_border(self, op: tg.PadOp, inside: Realised) -> SSAValue | None:
        """Kernels that store the cells around a value which is `inside` of the buffer of a PAD."""
        self.realised[op] = made = Realised(inside.data, None, inside.order)
        calls: list[SSAValue] = []
        for slabs in border(op, made.order):
            where = self.tasks.place(op, [op.result], [made.data], (made.order, *slabs))
            if where is not None and (known := self.tasks.lowered.get(where.text)) is not None:
                calls.append(self.call_again(where, known, [made.data]))
                continue
            builder = self.builder()
            builder.parameter(made.data)
            index, ranges = builder.loops(slabs.shape, tg.AxisType.LOOP, (), made.order)
            fill = Cell(builder.emit(tg.ConstOp, op.fill), None)
            stores: list[SSAValue] = []
            for start in slabs.starts:
                at = tuple(i + first for i, first in zip(index, start, strict=True))
                cell = builder.locate(made.data, made.at(at))
                stores.append(builder.store(cell, fill))
            calls.append(self.call_new(builder, stores, ranges, [made.data], where))
        return self.host.together(calls)

    def effect_of(self, store: tg.StoreOp | None, call: SSAValue) -> SSAValue:
        """The effect of a CALL, which has also done a STORE if one is given."""
        if store:
            self.stored[store] = call
        return call

    def is_stored_in_parts(self, op: Operation, value: SSAValue) -> TypeGuard[tg.StackOp]:
        """Whether an iteration of a kernel stores an element of each operand, instead of choosing
        the operand of an element."""
        return isinstance(op, tg.StackOp) and len(op.sources) <= MANY_PARTS and self.validity[value]

    def store_parts(
        self,
        builder: KernelBuilder,
        root: Operation | None,
        stack: tg.StackOp,
        locate: Callable[[Index], Sequence[MemoryCell]],
    ) -> tuple[list[SSAValue], list[SSAValue]]:
        """STOREs of an element of each operand of a STACK in the loops of a kernel, where `locate`
        says, and the loops."""
        index, ranges = self.loops(builder, root, shape_of(stack.result)[1:], first=1)
        stores: list[SSAValue] = []
        for number, source in enumerate(stack.sources):
            cell = builder.cell(source, index)
            where = locate((Affine(constant=number), *index))
            stores.append(builder.store(where, Cell(materialised(builder, cell), None)))
        return stores, ranges

    def realise_online(
        self, op: Operation, group: OnlineSums, blocks: Blocks, *, apart: bool
    ) -> SSAValue:
        """A kernel that stores a value of which sums are computed in one pass over blocks."""
        result = op.results[0]
        builder = self.builder()
        store = None if apart else only_store_of_result(result) or self.store_of_result(result)
        data = store.buffer if store else self.host.buffer(result, tensor(result).element_type)
        leaf = memory_of(data)
        where = self.tasks.place(op, [result, data], [leaf], (group, blocks))
        if where is not None and (known := self.tasks.lowered.get(where.text)) is not None:
            self.realised[op] = Realised(data, None)
            return self.effect_of(store, self.call_again(where, known, [leaf]))
        builder.parameter(leaf)
        kernel = OnlineKernel(builder, group, blocks, is_relaxed=not has_cheap_maxima(self.target))
        cell, index, gate, ranges = kernel.emit()
        self.online.append(kernel)
        self.realised[op] = Realised(data, None)
        stores = [builder.store(builder.locate(data, index), cell, gate)]
        return self.effect_of(store, self.call_new(builder, stores, ranges, [leaf], where))

    def store(self, op: tg.StoreOp, *, copied: bool = False) -> SSAValue | None:
        """A kernel for a STORE; `copied` says that a copy of what it overwrites has been made."""
        if not copied and self.overwrite(op, op, op.value) is not None:
            return self.stored[op]
        leaf = memory_of(op.buffer)
        about = (
            not copied,
            op.gate is not None,
            isinstance(op.value.owner, tg.StackOp) and self.validity[op.value],
        )
        values = [value for value in (op.value, op.gate, op.buffer) if value is not None]
        where = self.tasks.place(op, values, [leaf], about)
        if where is not None and (known := self.tasks.lowered.get(where.text)) is not None:
            return self.call_again(where, known, [leaf])
        emitted = self.emit(op, op.buffer, op.value, op.gate, in_parts=not copied)
        # Where a read of the same buffer may come too late, the value is stored elsewhere first.
        if (lowered := self.lower(*emitted, in_place=leaf)) is None:
            if copied:
                message = "where a STORE writes depends on what it overwrites"
                raise locate(PassFailedException(message), op)
            return self.store_through_copy(op)
        return self.call(lowered, [leaf], where)

    def overwrite(self, store: tg.StoreOp, root: Operation, value: SSAValue) -> SSAValue | None:
        """Write the value of a result to the memory of a donated argument, which is returned; None
        if there is none to which it can be written."""
        for donor in self.donors.free(store, self.number):
            pieces = self.donors.pieces(store, donor, value)
            emitted = [
                self.emit(root if is_whole else None, view, cells)
                for view, cells, is_whole in pieces
                if not _is_empty(view)
            ]
            # One kernel may read the cells that it writes; what a later one reads is overwritten.
            if any(e.reads(donor) for e in emitted[1:]):
                continue
            lowered = [self.lower(*e, in_place=donor) for e in emitted[:1]]
            if None in lowered:
                continue
            lowered += [self.lower(*e) for e in emitted[1:]]
            calls = [self.call(each, [donor]) for each in lowered if each is not None]
            self.donors.taken[donor] = self.donors.stores[store]
            self.stored[store] = self.host.together(calls)
            return donor
        return None

    def emit(
        self,
        root: Operation | None,
        target: SSAValue,
        value: SSAValue,
        gate: SSAValue | None = None,
        *,
        in_parts: bool = True,
    ) -> _Emitted:
        """The inside of a kernel that writes a value to a view of memory. Its loops are those that
        fusion has planned for the `root`, if one is given."""
        builder = self.builder(self.fusion.local_axes)
        # The memory cell, the value, and the gate at the index of the loops.
        leaf = memory_of(target)
        builder.parameter(leaf)
        parts = value.owner
        if (
            in_parts
            and gate is None
            and isinstance(parts, tg.StackOp)
            and parts not in self.realised
            and self.is_stored_in_parts(parts, value)
            and not (_interleaves(target) and len(parts.sources) >= MANY_INTERLEAVED)
        ):
            at = partial(builder.locate, target)
            return _Emitted(builder, *self.store_parts(builder, root, parts, at))
        index, ranges = self.loops(builder, root, shape_of(target))
        where = builder.locate(target, index)
        cell = builder.cell(value, index)
        if is_result(leaf):
            cell = Cell(materialised(builder, cell), None)
        condition = None
        if gate is not None:
            gated = builder.cell(gate, index if tensor(gate).get_shape() else ())
            condition = builder.both(gated.value, gated.valid)
        store = builder.store(where, cell, condition)
        return _Emitted(builder, [store], ranges)

    def store_through_copy(self, op: tg.StoreOp) -> SSAValue | None:
        """Kernels that compute the value, the gate and the indices of a STORE where these read what
        it overwrites, and one that stores."""
        leaf = memory_of(op.buffer)
        uses = [(op, position) for position in range(1, len(op.operands))]
        for movement in movements(op.buffer):
            if isinstance(movement, tg.IndexOp):
                uses += [(movement, position) for position in range(1, len(movement.operands))]
        for user, position in uses:
            source = user.operands[position]
            if not self.reads(source, leaf):
                continue
            if is_storage(source):
                source = self.host.put_old(tg.LoadOp(source), user)
                user.operands[position] = source
            assert isinstance(source.owner, TgOp)
            self.realise(source.owner, apart=True)
        return self.store(op, copied=True)

    def reads(self, value: SSAValue, leaf: SSAValue) -> bool:
        """Whether a kernel that computes a value reads some memory."""
        walk = Walk([value])
        for each in walk:
            if each is leaf:
                return True
            if each.owner not in self.realised:
                walk.add(operands_of(each))
        return False

    def loops(
        self, builder: KernelBuilder, root: Operation | None, shape: Shape, *, first: int = 0
    ) -> tuple[Index, list[SSAValue]]:
        """The loops of a kernel, in the order and with the splits that fusion has planned. They are
        those of the axes from the `first` on."""
        if root is None:
            return builder.loops(shape, tg.AxisType.LOOP)
        splits = self.fusion.splits.get(root, ())[first:]
        order = [a - first for a in self.fusion.orders.get(root, ()) if a >= first]
        return builder.loops(shape, tg.AxisType.LOOP, splits, order)

    def lower(
        self,
        builder: KernelBuilder,
        stores: Sequence[SSAValue],
        ranges: Sequence[SSAValue],
        *,
        in_place: SSAValue | None = None,
    ) -> _Finished | None:
        """Finish a kernel, or take an equal one that there is already. It is several, one after the
        other, if it is split (`index_sets.py`, `phases.py`).

        None where `in_place` is memory that it reads and writes, and it is not proven that each
        read comes before the STOREs to its cell.
        """
        name = next_symbol(self.function.sym_name.data, len(self.kernels), self.taken)
        kernel = builder.finish(name, stores, ranges)
        key = self.structures.of(kernel.body.block) if self.tasks.are_several else name
        if (parts := self.symbols.get(key)) is None:
            is_shared = in_place is not None and in_place in builder.loads
            if (kernels := self.split(kernel, is_shared=is_shared)) is None:
                return None
            parts = self.symbols[key] = [*self.named_parts(kernels)]
        return _Finished(parts, list(builder.arguments))

    def call(
        self, lowered: _Finished, written: Sequence[SSAValue], where: TaskPlace | None = None
    ) -> SSAValue:
        """CALL the kernels that one has become. `where` is the structure of the task, for those
        that are alike."""
        if where is not None:
            where.buffers.extend(w for w in written if w not in where.buffers)
            is_masked = len(written) > 1
            numbers = where.numbers_of(lowered.arguments)
            self.tasks.lowered[where.text] = LoweredTask(lowered.parts, numbers, is_masked)
        return self.call_parts(lowered.parts, lowered.arguments, written)

    def call_new(
        self,
        builder: KernelBuilder,
        stores: Sequence[SSAValue],
        ranges: Sequence[SSAValue],
        written: Sequence[SSAValue],
        where: TaskPlace | None = None,
    ) -> SSAValue:
        """Finish a kernel that writes new memory, and CALL it."""
        lowered = self.lower(builder, stores, ranges)
        assert lowered is not None
        return self.call(lowered, written, where)

    def call_again(
        self, where: TaskPlace, known: LoweredTask, written: Sequence[SSAValue]
    ) -> SSAValue:
        """CALL the kernels of a task that is like this one."""
        return self.call_parts(known.parts, where.arguments_of(known), written)

    def call_parts(
        self, parts: Parts, arguments: Sequence[SSAValue], written: Sequence[SSAValue]
    ) -> SSAValue:
        """CALL the kernels that one has become."""
        calls = [self.host.call(n, [arguments[i] for i in slots], written) for n, slots in parts]
        effect = self.host.together(calls)
        assert effect is not None
        return effect

    def split(
        self, kernel: tg.KernelOp, *, is_shared: bool
    ) -> Sequence[tuple[tg.KernelOp, list[int]]] | None:
        """Simplify a new kernel, and split it. None if it reads memory that `is_shared` with its
        STOREs, and a read may come too late, before or after it is split."""
        simplify(kernel)
        if is_shared and _may_read_late(kernel):
            return None
        split = split_phases if self.target.is_grid else split_index_sets
        if not self.target.is_grid:
            nest_updates(kernel)
        parts = split(kernel)
        if is_shared and any(_may_read_late(part) for part, _ in parts):
            return None
        return parts

    def named_parts(
        self, parts: Iterable[tuple[tg.KernelOp, list[int]]]
    ) -> Iterator[tuple[str, list[int]]]:
        """The names of the kernels that one becomes, and the slots of their parameters."""
        for part, slots in parts:
            name = next_symbol(self.function.sym_name.data, len(self.kernels), self.taken)
            part.sym_name = unchecked.text(name)
            self.kernels.append(part)
            self.taken.add(name)
            yield name, slots


def _may_read_late(kernel: tg.KernelOp) -> bool:
    """Whether a read of a kernel may come after a STORE that it must not see."""
    ops = needed_ops(kernel.body.block)
    return next(overwritten_reads(ops), None) is not None


def _interleaves(view: SSAValue) -> bool:
    """Whether neighbours in memory are along the first axis of a view."""
    op = view.owner
    return isinstance(op, tg.PermuteOp) and integers(op, "order")[0] == len(tensor(view).shape) - 1


def _is_empty(value: SSAValue) -> bool:
    """Whether a value is known to have no cells."""
    return 0 in tensor(value).get_shape()


@dataclass(frozen=True)
class BuildKernelsPass(LoweringPass):
    """Build the kernels that `tg-plan-fusion` has planned, with everything in them broken down to
    shape (), and let each function call them.

    Then simplify: masks become fewer iterations, and reductions that select become LOADs. Kernels
    that record OptOps stay as they are. A function without a plan has a kernel for each STORE.
    """

    name = "tg-build-kernels"
    level_before = "function"
    level_after = "kernels"

    target: str | None = None
    """The kind of machine, as `cpu`. By default that of the module, or of this machine."""

    def lower(self, module: ModuleOp) -> None:
        target = settle_target(module, self.target)
        # Kernels and calls, of the callees first.
        taken = symbols(module)
        online: list[OnlineKernel] = []
        given = ops_of(module.body.block)
        functions = functions_in_order(module)
        for function in functions:
            if isinstance(function, tg.KernelOp):
                _call_kernels(function)
                continue
            devices = [place(a).device for a in function.args if is_memory(a)]
            device = next((d for d in devices if isinstance(d, str)), "CPU")
            builder = _FunctionKernels(function, device, taken, target)
            with kept_facts(SHAPES):
                builder.run()
            online += builder.online
            module.body.block.insert_ops_before(builder.kernels, function)
        # Outlined functions, whose calls are in their callers now.
        for function in functions:
            if isinstance(function, FuncOp) and function.sym_visibility == StringAttr("private"):
                module.body.block.erase_op(function)
        for symbol in given:
            if symbol.parent is not None and not _is_scheduled(symbol):
                simplify(symbol)
        for kernel in online:
            kernel.skip_masked()


def _call_kernels(kernel: tg.KernelOp) -> None:
    """Let a kernel call the kernels of the functions that it calls, after which it is put."""
    callee = next(filter(None, map(called_function, kernel.body.block.ops)))
    CallingKernel(kernel).run()
    kernel.detach()
    block = callee.parent
    assert block is not None
    block.insert_op_after(kernel, callee)


def _is_scheduled(symbol: Operation) -> bool:
    """Whether a symbol is a kernel that records OptOps."""
    return isinstance(symbol, tg.KernelOp) and symbol.sink.opts is not None
