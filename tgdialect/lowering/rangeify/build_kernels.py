"""The pass that builds a kernel for each task, and a function that calls the kernels in order."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import SHAPES, begins, kept_facts, locate, may_act
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.levels import LoweringPass
from tgdialect.lowering.rangeify.alike import Alike, Facts, structure_of_task
from tgdialect.lowering.rangeify.analyses import analyses_of
from tgdialect.lowering.rangeify.function_pass import called_function, functions_in_order
from tgdialect.lowering.rangeify.host import CallingKernel, HostFunction
from tgdialect.lowering.rangeify.kernel import Realised
from tgdialect.lowering.rangeify.kernel_set import Emitted, KernelSet, Parts
from tgdialect.lowering.rangeify.online import OnlineKernel
from tgdialect.lowering.rangeify.planning.padding import border
from tgdialect.lowering.rangeify.planning.plan import read_plan
from tgdialect.lowering.rangeify.relax_maxima import has_cheap_maxima
from tgdialect.lowering.rangeify.results import Donors, only_store_of_result, store_of_result
from tgdialect.lowering.rangeify.task_kernels import TaskKernels
from tgdialect.lowering.rangeify.tasks import Task, ordered_tasks, tasks_of
from tgdialect.ops import tg
from tgdialect.ops.numbering import symbols
from tgdialect.ops.views import movements
from tgdialect.targets import Target
from tgdialect.targets.attribute import settle_target
from tgdialect.transforms.simplify import simplify

PRIVATE = StringAttr("private")


class _Lowered(NamedTuple):
    """The kernels of a task that has been lowered."""

    parts: Parts
    arguments: Sequence[int]
    """The place of each argument in the memory of the task."""
    is_masked: bool
    """Whether it has stored the validity of its cells as well: in the last of its buffers."""


class _FunctionKernels:
    """The splitting of one function into kernels and calls."""

    def __init__(self, function: FuncOp, device: str, taken: set[str], target: Target) -> None:
        """`taken` are the names of all symbols of the module."""
        block = function.body.block
        analyses = analyses_of(block)
        for op in block.ops:
            if isinstance(op, tg.ReduceOp):
                analyses.is_closed(op)  # The forms of those that read no memory.
        self.is_valid = analyses.validity.__getitem__
        self.structures = analyses.structures
        self.is_grid = target.is_grid
        self.is_relaxed = not has_cheap_maxima(target)
        self.plan = read_plan(block, self.is_valid, analyses.online)
        self.held = {inside.pad: op for op, inside in self.plan.paddings.items()}
        """The values that are stored inside of the buffers of PADs, by these."""
        self.donors = Donors(function)
        overwrites = ((self.writer(store), memory) for store, memory in self.donors.pairs())
        self.order = ordered_tasks(tasks_of(block, self.plan.realised), overwrites)
        self.number = 0
        """The number of the present task in the order of execution."""
        self.host = HostFunction(function, device)
        prefix = function.sym_name.data
        self.kernels = KernelSet(prefix, taken, self.structures, is_grid=target.is_grid)
        self.kernels.may_be_equal = len(self.order) > 1
        self.online: list[OnlineKernel] = []
        """The kernels that go over blocks of scores."""
        self.realised: dict[Operation, Realised] = {}
        self.stored: dict[tg.StoreOp, SSAValue | None] = {}
        """STOREs that the kernel which realises their value has done, and its CALL."""
        self.facts = Facts()
        self.emit = TaskKernels(self.plan, self.realised, analyses, self.facts)
        self.lowered = Alike[_Lowered]()

    def run(self) -> None:
        for number, task in enumerate(self.order):
            self.donors.last_read.update((memory, number) for memory, _ in task.reads)
        effects: dict[SSAValue | None, None] = {}
        done: dict[SSAValue, SSAValue] = {}
        """The effects of the STOREs and CALLs of the program that have been done."""
        for number, task in enumerate(self.order):
            if not begins("kernel", task.op):
                effects.update(dict.fromkeys(self.kept(self.order[number:], done)))
                break
            self.number = number
            effect = self.run_task(task)
            effects[effect] = None
            if effect is not None:
                done[task.op.results[0]] = effect
        self.donors.erase_views()
        self.host.finish(effect for effect in effects if effect is not None)
        self.donors.finish()

    def writer(self, store: tg.StoreOp) -> Operation:
        """The op whose task does a STORE of a result."""
        op = store.value.owner
        if not isinstance(op, tg.TgOp) or op not in self.plan.realised:
            return store
        return op if store_of_result(store.value, self.is_valid) is store else store

    def kept(self, tasks: Sequence[Task], values: dict[SSAValue, SSAValue]) -> Iterator[SSAValue]:
        """The effects of tasks that no kernel does, as these are not to be built.

        `values` has the effects of those that came before them.
        """
        for op, made in self.realised.items():
            if made.places:
                continue  # It is computed again.
            value = self.host.read(made.data, made.order)
            if made.mask is not None:
                is_valid = self.host.read(made.mask, made.order)
                invalid = self.host.put(tg.ConstOp(tg.InvalidAttr(tg.tensor(value).element_type)))
                value = self.host.put(tg.WhereOp(is_valid, value, invalid))
            values[op.results[0]] = value
        values.update((op.results[0], effect) for op, effect in self.stored.items() if effect)
        for task in tasks:
            if isinstance(task.op, tg.CallOp | tg.StoreOp) and task.op.results[0] not in values:
                yield self.host.keep(task.op, values)

    # -- tasks

    def run_task(self, task: Task) -> SSAValue | None:
        """The effect of a task; None where it has none, since no cell is stored."""
        self.host.location = self.emit.location = task.op.location
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
        if op in self.plan.online:
            return self.realise_online(op, apart=apart)
        if isinstance(op, tg.PadOp) and op in self.held:
            return self.realise_border(op, self.realised[self.held[op]])
        # The buffer, which users of the value read from now on.
        store = None if apart else store_of_result(result, self.is_valid)
        if store is not None and (donor := self.overwrite(store, op, result)) is not None:
            self.realised[op] = Realised(donor, None)
            return self.stored[store]
        inside = self.plan.paddings.get(op)
        whole = inside.pad if inside else op
        order = () if store else self.plan.axis_orders.get(whole, ())
        if store:
            data = store.buffer
        else:
            data = self.host.buffer(whole.results[0], tg.tensor(result).element_type, order)
        places = inside.places if inside else ()
        self.realised[op] = made = Realised(data, None, order, places)
        if _is_empty(result):
            return None
        written = [data]

        def mask() -> SSAValue:
            buffer = self.host.buffer(result, tg.BOOL, order)
            self.realised[op] = replace(made, mask=buffer)
            written.append(buffer)
            return buffer

        emit = partial(self.emit.realising, op, made, mask)
        call = self.call_alike(op, [result], made, written, emit, mask=mask)
        return self.effect_of(store, call)

    def realise_border(self, op: tg.PadOp, inside: Realised) -> SSAValue | None:
        """Kernels that store the cells around a value which is `inside` of the buffer of a PAD."""
        self.realised[op] = made = Realised(inside.data, None, inside.order)
        calls: list[SSAValue] = []
        for slabs in border(op, made.order):
            emit = partial(self.emit.filling, op, made, slabs)
            call = self.call_alike(op, [op.result], made, [made.data], emit, slabs)
            calls += [call] if call else []
        return self.host.together(calls)

    def realise_online(self, op: Operation, *, apart: bool) -> SSAValue | None:
        """A kernel that stores a value of which sums are computed in one pass over blocks."""
        result = op.results[0]
        store = None
        if not apart:
            store = only_store_of_result(result) or store_of_result(result, self.is_valid)
        data = store.buffer if store else self.host.buffer(result, tg.tensor(result).element_type)
        leaf = tg.memory_of(data)

        def emit() -> Emitted:
            kernel, emitted = self.emit.online(
                op, data, is_grid=self.is_grid, is_relaxed=self.is_relaxed
            )
            self.online.append(kernel)
            return emitted

        call = self.call_alike(op, [result, data], Realised(leaf, None), [leaf], emit)
        self.realised[op] = Realised(data, None)
        return self.effect_of(store, call)

    def effect_of(self, store: tg.StoreOp | None, call: SSAValue | None) -> SSAValue | None:
        """The effect of a CALL, which has also done a STORE if one is given."""
        if store:
            self.stored[store] = call
        return call

    def store(self, op: tg.StoreOp, *, copied: bool = False) -> SSAValue | None:
        """A kernel for a STORE; `copied` says that a copy of what it overwrites has been made."""
        if not copied and self.overwrite(op, op, op.value) is not None:
            return self.stored[op]
        leaf = tg.memory_of(op.buffer)
        emit = partial(self.emit.storing, op, op.buffer, op.value, op.gate, in_parts=not copied)
        whole = Realised(leaf, None)
        call = self.call_alike(op, [op.result], whole, [leaf], emit, copied, in_place=leaf)
        if call is None and copied:
            message = "where a STORE writes depends on what it overwrites"
            raise locate(PassFailedException(message), op)
        # Where a read of the same buffer may come too late, the value is stored elsewhere first.
        return self.store_through_copy(op) if call is None else call

    def overwrite(self, store: tg.StoreOp, root: Operation, value: SSAValue) -> SSAValue | None:
        """Write the value of a result to the memory of a donated argument, which is returned; None
        if there is none to which it can be written."""
        for donor in self.donors.free(store, self.number):
            pieces = self.donors.pieces(store, donor, value)
            emitted = [
                self.emit.storing(root if is_whole else None, view, cells)
                for view, cells, is_whole in pieces
                if not _is_empty(view)
            ]
            # One kernel may read the cells that it writes; what a later one reads is overwritten.
            if any(e.reads(donor) for e in emitted[1:]):
                continue
            finished = [self.kernels.finish(e, in_place=donor) for e in emitted[:1]]
            if None in finished:
                continue
            finished += [self.kernels.finish(e) for e in emitted[1:]]
            calls = [self.call(*each, [donor]) for each in finished if each]
            self.donors.taken[donor] = self.donors.stores[store]
            self.stored[store] = self.host.together(calls)
            return donor
        return None

    def store_through_copy(self, op: tg.StoreOp) -> SSAValue | None:
        """Kernels that compute the value, the gate and the indices of a STORE where these read what
        it overwrites, and one that stores."""
        leaf = tg.memory_of(op.buffer)
        uses = [(op, position) for position in range(1, len(op.operands))]
        for movement in movements(op.buffer):
            if isinstance(movement, tg.IndexOp):
                uses += [(movement, position) for position in range(1, len(movement.operands))]
        for user, position in uses:
            source = user.operands[position]
            if not self.reads(source, leaf):
                continue
            if tg.is_storage(source):
                source = self.host.put_old(tg.LoadOp(source), user)
                user.operands[position] = source
            assert isinstance(source.owner, tg.TgOp)
            self.realise(source.owner, apart=True)
        return self.store(op, copied=True)

    def reads(self, value: SSAValue, leaf: SSAValue) -> bool:
        """Whether a kernel that computes a value reads some memory."""
        walk = tg.Walk([value])
        for each in walk:
            if each is leaf:
                return True
            if each.owner not in self.realised:
                walk.add(tg.operands_of(each))
        return False

    # -- calls

    def call_alike(
        self,
        root: Operation,
        values: Sequence[SSAValue],
        made: Realised,
        written: list[SSAValue],
        emit: Callable[[], Emitted],
        about: Hashable = None,
        *,
        mask: Callable[[], SSAValue] | None = None,
        in_place: SSAValue | None = None,
    ) -> SSAValue | None:
        """CALL the kernels of a task that is like this one, or else those that it becomes; None
        where `in_place` is memory that they may read too late.

        `written` is the memory that they write, to which `mask` adds a buffer for the validity of
        cells. The other arguments are those of `structure_of_task`.
        """
        structure = None
        if len(self.order) > 1:
            structure = structure_of_task(self.structures, root, values, made, about, self.realised)
        known = None if structure is None else self.lowered.find(structure)
        if structure is not None and known is not None:
            if known.is_masked and mask is not None:
                mask()
            memory = [*dict.fromkeys((*structure.memory, *written))]
            return self.call(known.parts, [memory[i] for i in known.arguments], written)
        with self.facts.recording() as asked:
            finished = self.kernels.finish(emit(), in_place=in_place)
        if finished is None:
            return None
        if structure is not None:
            memory = [*dict.fromkeys((*structure.memory, *written))]
            places = [memory.index(argument) for argument in finished.arguments]
            self.lowered.add(structure, asked, _Lowered(finished.parts, places, len(written) > 1))
        return self.call(*finished, written)

    def call(
        self, parts: Parts, arguments: Sequence[SSAValue], written: Sequence[SSAValue]
    ) -> SSAValue:
        """CALL the kernels that one has become."""
        calls = [self.host.call(n, [arguments[i] for i in slots], written) for n, slots in parts]
        effect = self.host.together(calls)
        assert effect is not None
        return effect


def _is_empty(value: SSAValue) -> bool:
    """Whether a value is known to have no cells."""
    return 0 in tg.tensor(value).get_shape()


@dataclass(frozen=True)
class BuildKernelsPass(LoweringPass):
    """Build the kernels that `tg-plan-fusion` has planned, and let each function call them.

    Everything in a kernel is broken down to shape (). Then simplify: masks become fewer iterations,
    and reductions that select become LOADs. Kernels that record OptOps stay as they are. A function
    without a plan has a kernel for each STORE.
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
                if may_act():
                    _call_kernels(function)
                continue
            devices = [tg.place(a).device for a in function.args if tg.is_memory(a)]
            device = next((d for d in devices if isinstance(d, str)), "CPU")
            made = _FunctionKernels(function, device, taken, target)
            with kept_facts(SHAPES):
                made.run()
            online += made.online
            module.body.block.insert_ops_before(made.kernels.kernels, function)
        # Outlined functions, whose calls are in their callers now.
        for function in functions:
            is_private = isinstance(function, FuncOp) and function.sym_visibility == PRIVATE
            if is_private and may_act():
                module.body.block.erase_op(function)
        for symbol in given:
            if symbol.parent is not None and not _is_scheduled(symbol):
                simplify(symbol)
        for kernel in online:
            if may_act():
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
