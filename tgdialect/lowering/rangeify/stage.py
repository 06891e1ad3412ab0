"""The pass: a kernel for each task, called in order from the function."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.affine.positions import Index
from tgdialect.analysis.fusion import Fusion, plan_fusion
from tgdialect.analysis.memory_order import memory_of
from tgdialect.analysis.structure import structure
from tgdialect.analysis.symbols import own_functions
from tgdialect.analysis.validity import Validity
from tgdialect.diagnostics import locate
from tgdialect.lowering.levels import LoweringPass
from tgdialect.lowering.rangeify.arguments import copy_apart, views_of
from tgdialect.lowering.rangeify.cells import Cell, materialised
from tgdialect.lowering.rangeify.kernel import KernelBuilder, Realised
from tgdialect.lowering.rangeify.partial import split_reductions
from tgdialect.lowering.rangeify.schedule import Task, schedule, written_arguments
from tgdialect.ops.arguments import argument_attributes
from tgdialect.ops.attributes import VOID, AddrSpace, AxisType, PlaceAttr
from tgdialect.ops.base import TgOp
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.call import CallOp, KernelOp
from tgdialect.ops.dtypes import BOOL
from tgdialect.ops.memory import StoreOp
from tgdialect.ops.movement import FlipOp, MovementOp, PermuteOp, ReshapeOp
from tgdialect.ops.numbering import next_symbol, symbols
from tgdialect.ops.ordering import AfterOp, GroupOp, RangeOp, SinkOp
from tgdialect.ops.properties import integers, is_memory, place, shape_of, tensor, tensor_type
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import BufferOp, ConstOp
from tgdialect.transforms.simplify import simplify


@dataclass
class _Rangeifier:
    """The splitting of one function into kernels and calls."""

    function: FuncOp
    device: str
    taken: set[str]
    """The names of all symbols of the module."""
    kernels: list[KernelOp] = field(default_factory=list[KernelOp])
    fusion: Fusion = field(default_factory=Fusion)
    realised: dict[Operation, Realised] = field(default_factory=dict[Operation, Realised])
    current: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Each buffer as the next call is to see it: AFTER the calls that have written it."""
    readers: dict[SSAValue, list[SSAValue]] = field(default_factory=dict[SSAValue, list[SSAValue]])
    """The calls that have read a buffer since it was written."""
    kept: set[Operation] = field(default_factory=set[Operation])
    """Index arithmetic of the function that buffers need."""
    placed: dict[Operation, SSAValue] = field(default_factory=dict[Operation, SSAValue])
    """The STOREs that the kernel of their value has done, and its call."""
    validity: Validity = field(default_factory=Validity)
    closed: dict[ReduceOp, bool] = field(default_factory=dict[ReduceOp, bool])
    constants: dict[Operation, Attribute] = field(default_factory=dict[Operation, Attribute])
    """The REDUCEs that give one number in all cells: trials of what reads them begin there."""
    symbols: dict[Hashable, str] = field(default_factory=dict[Hashable, str])
    """The kernels there are, by what they do."""

    def __post_init__(self) -> None:
        self.host = OpBuilder.at_end(self.function.body.block)
        """Appends the calls to the function, after the ops that they replace."""

    def run(self) -> None:
        block = self.function.body.block
        copy_apart(block)
        self.kept.update(op for op in block.ops if isinstance(op, BufferOp))
        store_before_movement(block)
        partial = split_reductions(block, self.is_whole)
        self.fusion = plan_fusion(block, self.is_closed, partial)
        tasks = schedule(block, self.fusion.realised)
        replaced = list(block.ops)
        effects = dict.fromkeys(self.run_task(task) for task in tasks)
        self.host.location = self.function.location
        self.host.insert(SinkOp([effect for effect in effects if effect is not None]))
        self.host.insert(ReturnOp())
        for op in reversed(replaced):
            if op not in self.kept:
                block.erase_op(op, safe_erase=False)
        for op in reversed(block.ops):
            if isinstance(op, AfterOp) and not op.result.uses:
                block.erase_op(op)

    def is_closed(self, op: ReduceOp) -> bool:
        """Whether `tg-simplify` finds a closed form for a REDUCE that reads no memory, nor what a
        REDUCE without one gives: trials of chains would take quadratic time."""
        if (known := self.closed.get(op)) is None:
            open = {reduction for reduction, closed in self.closed.items() if not closed}
            known = not reads(op, open, self.constants) and has_closed_form(op, self.constants)
            self.closed[op] = known
        return known

    def is_whole(self, op: ReduceOp) -> bool:
        """Whether a REDUCE is not to be split: it has a closed form, or skips invalid cells."""
        return self.is_closed(op) or not self.validity[op.source]

    # -- tasks

    def run_task(self, task: Task) -> SSAValue | None:
        """The effect of a task. None where there is nothing to do: what is stored has no cells."""
        self.host.location = task.op.location
        match task.op:
            case StoreOp() as op if is_empty(op.buffer):
                return None
            case StoreOp():
                return self.placed.get(task.op) or self.store(task.op)
            case CallOp():
                return self.call_again(task.op)
            case _:
                return self.realise(task.op)

    def realise(self, op: Operation, *, apart: bool = False) -> SSAValue | None:
        """A kernel that computes a value into a buffer, and its validity into one beside it.

        The buffer is new or, unless it is to be `apart`, the function's result that the value is.
        """
        result = op.results[0]
        builder = KernelBuilder(self.realised, self.fusion.staged)
        store = None if apart else self.store_of_output(result)
        data = store.buffer if store else self.new_buffer(result, tensor(result).element_type)
        self.realised[op] = Realised(data, None)
        if is_empty(result):
            return None
        builder.parameter(data)
        index, ranges = self.loops(builder, op, result)
        cell = builder.root_cell(op, index)
        stores = [
            builder.store(builder.locate(data, index), Cell(materialised(builder, cell), None))
        ]
        if cell.valid is not None:
            mask = self.new_buffer(result, BOOL)
            self.realised[op] = Realised(data, mask)
            stores.append(builder.store(builder.locate(mask, index), Cell(cell.valid, None)))
        written = [b for b in (data, self.realised[op].mask) if b is not None]
        call = self.call(builder, builder.finish(self.next_name(), stores, ranges), written)
        if store:
            self.placed[store] = call
        return call

    def store_of_output(self, value: SSAValue) -> StoreOp | None:
        """The STORE of nothing but this value in a result of the function, if there is one."""
        for use in value.uses:
            op = use.operation
            if (
                isinstance(op, StoreOp)
                and use.index == 1
                and op.gate is None
                and self.is_output(op.buffer)
                and tensor(op.buffer).element_type == tensor(value).element_type
                and self.validity[value]
            ):
                return op
        return None

    def store(self, op: StoreOp, *, copied: bool = False) -> SSAValue:
        """A kernel that computes a value where it is to be stored."""
        builder = KernelBuilder(self.realised, self.fusion.staged)
        leaf = memory_of(op.buffer)
        builder.parameter(leaf)
        index, ranges = self.loops(builder, op, op.buffer)
        where = builder.locate(op.buffer, index)
        cell = builder.cell(op.value, index)
        if self.is_output(leaf):
            cell = Cell(materialised(builder, cell), None)
        gate = None
        if op.gate is not None:
            gated = builder.cell(op.gate, index if tensor(op.gate).get_shape() else ())
            gate = builder.both(gated.value, gated.valid)
        if builder.loads.get(leaf, set()) - {where.position}:
            if copied:
                message = "where a STORE writes depends on what it overwrites"
                raise locate(PassFailedException(message), op)
            return self.store_through_copy(op)
        effect = builder.store(where, cell, gate)
        return self.call(builder, builder.finish(self.next_name(), [effect], ranges), [leaf])

    def loops(
        self, builder: KernelBuilder, root: Operation, like: SSAValue
    ) -> tuple[Index, list[SSAValue]]:
        """The loops of a kernel."""
        splits = self.fusion.splits.get(root, ())
        order = self.fusion.orders.get(root, ())
        return builder.loops(shape_of(like), AxisType.LOOP, splits, order)

    @staticmethod
    def is_output(leaf: SSAValue) -> bool:
        """Whether memory is a result of the function: it holds 0 where that is invalid."""
        return isinstance(leaf, BlockArgument) and "tg.output" in argument_attributes(leaf)

    def store_through_copy(self, op: StoreOp) -> SSAValue:
        """A STORE whose value reads other cells of the buffer: they must all be read first."""
        sources = [op.value] if op.gate is None else [op.value, op.gate]
        for source in sources:
            if isinstance(source.owner, TgOp) and source.owner not in self.realised:
                self.realise(source.owner, apart=True)
        return self.store(op, copied=True)

    # -- calls

    def call(self, builder: KernelBuilder, kernel: KernelOp, written: list[SSAValue]) -> SSAValue:
        key = structure(kernel.body.block)
        if (symbol := self.symbols.get(key)) is None:
            symbol = self.symbols[key] = kernel.sym_name.data
            self.kernels.append(kernel)
            self.taken.add(symbol)
        for argument in builder.arguments:
            if not is_memory(argument):
                self.keep(argument)
        arguments = [self.version(b, b in written) for b in builder.arguments]
        call = self.host.put(CallOp(symbol, arguments))
        self.note(call, builder.arguments, written)
        return call

    def call_again(self, op: CallOp) -> SSAValue:
        """The call of a kernel that the program has brought along, or of a function."""
        callee = SymbolTable.lookup_symbol(self.function, op.callee)
        if isinstance(callee, FuncOp):
            return self.call_function(op, callee)
        return self.pass_on(op, {})

    def pass_on(self, op: CallOp, values: Mapping[SSAValue, SSAValue]) -> SSAValue:
        """A CALL in the function that is made, of the same kernel. `values` says what the memory
        and the values of the function are that the CALL was in, if it was in another."""
        memory: list[SSAValue] = []
        chains: list[list[MovementOp]] = []
        for argument in op.arguments:
            source, views = views_of(argument)
            source, outer = views_of(values.get(source, source))
            memory.append(source)
            chains.append([*outer, *views])
        targets = written_arguments(op)
        given = zip(memory, op.arguments, strict=True)
        written = dict.fromkeys(source for source, argument in given if argument in targets)
        arguments: list[SSAValue] = []
        for source, chain in zip(memory, chains, strict=True):
            value = self.version(source, source in written) if is_memory(source) else source
            self.keep(source)
            for view in chain:
                extents = [values.get(operand, operand) for operand in view.operands[1:]]
                for extent in extents:
                    self.keep(extent)
                value = self.host.put(view.rebuild([value, *extents]))
            arguments.append(value)
        call = self.host.put(CallOp(op.callee.string_value(), arguments, VOID))
        self.note(call, [a for a in memory if is_memory(a)], list(written))
        return call

    def call_function(self, op: CallOp, callee: FuncOp) -> SSAValue:
        """The calls that a function makes, which has been split into kernels already."""
        values: dict[SSAValue, SSAValue] = dict(zip(callee.args, op.arguments, strict=True))
        effects: list[SSAValue] = []
        for inner in callee.body.block.ops:
            if isinstance(inner, CallOp):
                effects.append(self.pass_on(inner, values))
            elif inner.results and is_memory(inner.results[0]) and not isinstance(inner, BufferOp):
                pass  # A version or a view of memory, which each CALL makes for itself.
            elif isinstance(inner, TgOp) and not isinstance(inner, AfterOp | GroupOp | SinkOp):
                new = inner.clone(values)  # A BUFFER, or index arithmetic for its extents.
                if isinstance(new, BufferOp):
                    new.properties["slot"] = IntAttr(next(self.host.free_slots))
                self.host.insert(new)
        return self.host.put(GroupOp(effects))

    def version(self, buffer: SSAValue, written: bool) -> SSAValue:
        """A buffer after what has happened to it; a writer waits for its readers too."""
        value = self.current.get(buffer, buffer)
        if written and (readers := self.readers.get(buffer)):
            value = self.host.put(AfterOp(value, readers))
        return value

    def note(
        self, effect: SSAValue, arguments: Iterable[SSAValue], written: Sequence[SSAValue]
    ) -> None:
        """Record what a call has written and read."""
        for buffer in written:
            self.current[buffer] = self.host.put(AfterOp(buffer, [effect]))
            self.readers[buffer] = []
        for buffer in arguments:
            if is_memory(buffer) and buffer not in written:
                self.readers.setdefault(buffer, []).append(effect)

    def new_buffer(self, like: SSAValue, dtype: Attribute) -> SSAValue:
        """A buffer in global memory with the shape of a value."""
        shape = shape_of(like)
        static = tuple(d if isinstance(d, int) else DYNAMIC_INDEX for d in shape)
        where = PlaceAttr.of(self.device, AddrSpace.GLOBAL)
        dims = [d for d in shape if isinstance(d, SSAValue)]
        for dim in dims:
            self.keep(dim)
        type = tensor_type(dtype, static, where)
        return self.host.put(BufferOp(next(self.host.free_slots), type, dims))

    def keep(self, value: SSAValue) -> None:
        """Index arithmetic that a buffer's extent or a call needs stays in the function."""
        stack = [value]
        while stack:
            owner = stack.pop().owner
            if isinstance(owner, Operation) and owner not in self.kept:
                self.kept.add(owner)
                stack.extend(owner.operands)

    def next_name(self) -> str:
        """A name for a kernel, which is free until one of that name is kept."""
        return next_symbol(self.function.sym_name.data, len(self.kernels), self.taken)


def is_empty(value: SSAValue) -> bool:
    """Whether a value is known to have no cells."""
    return 0 in tensor(value).get_shape()


def reads(op: Operation, others: Set[Operation], constants: Container[Operation]) -> bool:
    """Whether a value depends on memory, or on one of some other ops, but for what is constant."""
    stack, seen = list(op.operands), set[SSAValue]()
    while stack:
        value = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        if is_memory(value) or value.owner in others:
            return True
        if isinstance(value.owner, Operation) and value.owner not in constants:
            stack.extend(value.owner.operands)
    return False


def has_closed_form(op: ReduceOp, constants: dict[Operation, Attribute]) -> bool:
    """Whether an element of a value takes no loop once it is simplified, nor one around it that
    carries an accumulator: a trial of that. If it is one number, that is added to `constants`."""
    builder = KernelBuilder({}, constants=constants)
    index, ranges = builder.loops(shape_of(op.result), AxisType.LOOP)
    cell = builder.cell(op.result, index)
    place = builder.local(tensor(op.result).element_type, ())
    store = StoreOp(place, cell.value)
    kernel = builder.finish("trial", [builder.put(store)], ranges)
    simplify(kernel)
    is_there = cell.valid is None and store.parent is not None
    if is_there and isinstance(constant := store.value.owner, ConstOp):
        constants[op] = constant.value
    return not any(
        isinstance(each, ReduceOp) or is_carrying(each) for each in kernel.body.block.ops
    )


def is_carrying(op: Operation) -> bool:
    """Whether an op is a loop that carries an accumulator."""
    return isinstance(op, RangeOp) and op.axis_type.data is AxisType.REDUCE


def store_before_movement(block: Block) -> None:
    """Move RESHAPEs, PERMUTEs and FLIPs from what is stored to where it is stored.

    rewrite: `store %b, (reshape %x)` -> `store (reshape %b), %x`: the loops are those of what is
    computed, and what they share is outside of them. A PERMUTE or FLIP of memory stays, so that a
    copy writes in order.
    """
    for store in block.ops:
        if isinstance(store, StoreOp) and store.gate is None:
            while (view := _moved_to_buffer(store)) is not None:
                buffer, source = view
                store.operands = (OpBuilder.before(store).put(buffer), source)


def _moved_to_buffer(store: StoreOp) -> tuple[TgOp, SSAValue] | None:
    """The view of the buffer that undoes a movement of the value, and what was moved."""
    match store.value.owner:
        case ReshapeOp() as op:
            return ReshapeOp(store.buffer, shape_of(op.source)), op.source
        case FlipOp() as op if not is_memory(op.source):
            return FlipOp(store.buffer, [bool(f) for f in integers(op, "flags")]), op.source
        case PermuteOp() as op if not is_memory(op.source):
            order = integers(op, "order")
            inverse = [order.index(axis) for axis in range(len(order))]
            return PermuteOp(store.buffer, inverse), op.source
        case _:
            return None


@dataclass(frozen=True)
class RangeifyPass(LoweringPass):
    """Split each function into kernels, and break everything in them down to shape ().

    Then simplify: masks become fewer iterations, and reductions that select become LOADs. Kernels
    that record OptOps stay as they are.
    """

    name = "tg-rangeify"
    level_before = "function"
    level_after = "kernels"

    def lower(self, module: ModuleOp) -> None:
        functions = list(own_functions(module))
        taken = symbols(module)
        for function in callees_first(functions):
            devices = [place(a).device for a in function.args if is_memory(a)]
            device = next((d for d in devices if isinstance(d, str)), "CPU")
            rangeifier = _Rangeifier(function, device, taken)
            rangeifier.run()
            module.body.block.insert_ops_before(rangeifier.kernels, function)
        for function in functions:
            if function.sym_visibility == StringAttr("private"):
                module.body.block.erase_op(function)
        for symbol in module.ops:
            if not isinstance(symbol, KernelOp) or symbol.sink.opts is None:
                simplify(symbol)


def callees_first(functions: Sequence[FuncOp]) -> Iterable[FuncOp]:
    """Functions after those that they call."""
    callees: dict[FuncOp, list[FuncOp]] = {}
    for function in functions:
        calls = (op for op in function.body.block.ops if isinstance(op, CallOp))
        called = (SymbolTable.lookup_symbol(function, call.callee) for call in calls)
        callees[function] = [f for f in called if isinstance(f, FuncOp) and f in functions]
    try:
        return [*TopologicalSorter(callees).static_order()]
    except CycleError as error:
        caller = error.args[1][-1]
        message = f"@{caller.sym_name.data} calls itself"
        raise locate(PassFailedException(message), caller) from None
