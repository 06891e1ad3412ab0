"""Copies of parameters that a kernel overwrites in one iteration and reads, as they were before, in
another one, and of arguments that a CALL passes twice, to be read and to be written.

Memory is versioned: a read without AFTER sees none of the kernel's STOREs. Iterations run in any
order, so that no order of the ops does it. `tg-rangeify` makes no such kernels and CALLs; programs
that enter with kernels may have them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.memory_order import Effects, MemoryOrder, parameter_effects
from tgdialect.analysis.overwriting import in_both_orders, overwritten_reads
from tgdialect.analysis.ranges import is_loop, needed_ops
from tgdialect.diagnostics import locate
from tgdialect.lowering.passed_memory import calls_by_callee, filled_memory
from tgdialect.ops import tg
from tgdialect.ops.numbering import next_symbol, symbols
from tgdialect.ops.views import are_disjoint
from tgdialect.transforms.private_ranges import make_ranges_private


def copy_overwritten(module: ModuleOp) -> Sequence[tg.KernelOp]:
    """Let kernels read copies of what they overwrite too early. Each CALL passes one, which a new
    kernel stores before.

    before -> after:
        kernel @k: %v = load %p[%i]  ->  %v = load %new[%i]
        call @k(%a)  ->  call @k(%a, AFTER(%b, CALL @k_copy_0(%b, %a)))

    A LOAD that is AFTER some STOREs sees a version between loops: loops that it shares with another
    STORE run in order. Kernels that nothing calls, or another kernel with memory of a dynamic size,
    stay as they are. So do those that record OptOps.

    Returns the new kernels. Raises PassFailedException, at a STORE, where loops need two orders.
    """
    kernels = [op for op in module.ops if isinstance(op, tg.KernelOp)]
    calls = calls_by_callee(module, [kernel.sym_name.data for kernel in kernels])
    copies = _Copies(module)
    for kernel in kernels:
        twice = list(filter(_passes_twice, calls[kernel.sym_name.data]))
        effects = parameter_effects(twice[0]) if twice else None
        for call in twice:
            for slot in _overlapping(call, effects or {}):
                if _can_pass(call, kernel.params[slot]):
                    call.operands[slot] = copies.of_argument(call, kernel.params[slot])
    for kernel in kernels:
        if kernel.calls or kernel.sink.opts or not _reads_before(kernel):
            continue
        callers = calls[kernel.sym_name.data]
        for param, loads in _late(kernel).items():
            if callers and all(_can_pass(call, param) for call in callers):
                for call in callers:
                    call.operands = [*call.operands, copies.of_argument(call, param)]
                _read_copy(kernel, param, loads)
        if callers and (write := _in_both_orders(kernel)) is not None:
            raise locate(PassFailedException(_BOTH_ORDERS), write)
    return copies.kernels


_BOTH_ORDERS = (
    "cycle: the loops and the versions of memory of this kernel ask for two orders at once"
)


def _reads_before(kernel: tg.KernelOp) -> bool:
    """Whether some read comes before a STORE to the same memory."""
    memory = MemoryOrder(needed_ops(kernel.body.block))
    return next(memory.anti_dependences(), None) is not None


def _late(kernel: tg.KernelOp) -> Mapping[tg.ParamOp, Sequence[tg.LoadOp]]:
    """The LOADs that need copies, by the parameters that these are of. Loops that need an order for
    one that is AFTER some STOREs get it."""
    ops = needed_ops(kernel.body.block)
    memory = MemoryOrder(ops)
    first = {read.op: read for read, _ in memory.anti_dependences() if not memory.seen(read)}
    late: dict[Operation, None] = {}
    for read, loops in overwritten_reads(ops, memory):
        if read.op in first:
            late[read.op] = None
            continue
        for axis in loops:
            if axis.axis_type.data is tg.AxisType.LOOP:
                axis.axis_type = tg.AxisTypeAttr(tg.AxisType.REDUCE)
    if first.keys() - late and _in_both_orders(kernel) is not None:
        late.update(dict.fromkeys(first))
    found: dict[tg.ParamOp, list[tg.LoadOp]] = {}
    for op in late:
        param = first[op].memory.owner
        if isinstance(op, tg.LoadOp) and isinstance(param, tg.ParamOp):
            found.setdefault(param, []).append(op)
    return found


def _in_both_orders(kernel: tg.KernelOp) -> Operation | None:
    """A STORE for which no order of the loops will do."""
    ops = needed_ops(kernel.body.block)
    memory = MemoryOrder(ops)
    if next(memory.anti_dependences(), None) is None:
        return None
    if in_both_orders(ops, memory, are_private=False) is None:
        return None
    copy = kernel.clone()
    make_ranges_private(copy.body.block, is_loop)
    ops = needed_ops(copy.body.block)
    return in_both_orders(ops, MemoryOrder(ops), are_private=True)


def _can_pass(call: tg.CallOp, param: tg.ParamOp) -> bool:
    """Whether the size of a copy of an argument is known at a CALL."""
    extents = tg.shape_of(call.arguments[param.slot.data])
    is_known = not any(isinstance(extent, tg.UnknownDim) for extent in extents)
    return is_known and (isinstance(call.parent_op(), FuncOp) or not param.dims)


def _read_copy(kernel: tg.KernelOp, param: tg.ParamOp, loads: Sequence[tg.LoadOp]) -> None:
    """Give a kernel a last parameter like another one, and let LOADs read it."""
    new = tg.ParamOp(len(kernel.params), tg.tensor(param.result), param.dims)
    mapping: dict[SSAValue, SSAValue] = {param.result: tg.OpBuilder.after(param).put(new)}
    for load in loads:
        load.operands[0] = tg.OpBuilder.before(load).clone(load.buffer, mapping)


def _copying_kernel(name: str, param: tg.ParamOp) -> tg.KernelOp:
    """The kernel that copies parameter 1 to parameter 0, both of which are like another kernel's.
    Its other parameters are their dynamic sizes."""
    block = Block()
    builder = tg.OpBuilder.at_end(block, param.location)
    type, put = tg.tensor(param.result), builder.put
    dims = [
        put(tg.ParamOp(slot, tg.tensor_type(tg.INDEX))) for slot in range(2, 2 + len(param.dims))
    ]
    result, source = (put(tg.ParamOp(slot, type, dims)) for slot in (0, 1))
    sizes = iter(dims)
    extents = (
        next(sizes) if extent == DYNAMIC_INDEX else builder.index_constant(extent)
        for extent in type.get_shape()
    )
    loops = [put(tg.RangeOp(i, tg.AxisType.LOOP, extent)) for i, extent in enumerate(extents)]
    cells = [put(tg.IndexOp(memory, loops)) if loops else memory for memory in (result, source)]
    done = put(tg.StoreOp(cells[0], put(tg.LoadOp(cells[1]))))
    put(tg.SinkOp([put(tg.EndOp(done, loops[::-1])) if loops else done]))
    kernel = tg.KernelOp(name, Region(block))
    kernel.location = param.location
    return kernel


def _passes_twice(call: tg.CallOp) -> bool:
    """Whether a CALL passes the same memory for two parameters."""
    memory = [tg.memory_of(argument) for argument in call.arguments if tg.is_memory(argument)]
    return len({*memory}) < len(memory)


def _overlapping(call: tg.CallOp, effects: Effects) -> list[int]:
    """The slots of memory that a CALL reads, and may write through another argument alone."""
    written = [call.arguments[slot] for slot, (_, writes) in effects.items() if writes]
    return [
        slot
        for slot, (reads, writes) in effects.items()
        if reads and not writes
        for read in (call.arguments[slot],)
        if any(tg.memory_of(read) is tg.memory_of(w) and not are_disjoint(read, w) for w in written)
    ]


class _Copies:
    """Copies of arguments, and the kernels that make them."""

    def __init__(self, module: ModuleOp) -> None:
        self.kernels: list[tg.KernelOp] = []
        self._by_param: dict[tg.ParamOp, str] = {}
        self._taken = symbols(module)
        self._slots: dict[Block, Iterator[int]] = {}

    def of_argument(self, call: tg.CallOp, param: tg.ParamOp) -> SSAValue:
        """A copy of what a CALL passes for a parameter, as it is at the CALL."""
        source, builder = call.arguments[param.slot.data], tg.OpBuilder.before(call)
        type, extents = tg.tensor(source), tg.shape_of(source)
        memory = tg.tensor_type(type.element_type, type.get_shape())
        dims = [extent for extent in extents if isinstance(extent, SSAValue)]
        sizes: list[SSAValue] = []
        for extent, declared in zip(extents, tg.tensor(param.result).get_shape(), strict=True):
            assert not isinstance(extent, tg.UnknownDim)
            if declared == DYNAMIC_INDEX:
                sizes.append(builder.index_constant(extent) if isinstance(extent, int) else extent)
        kernel = self._copying(param)
        return filled_memory(call, kernel, [source, *sizes], memory, dims, self._slots)

    def _copying(self, param: tg.ParamOp) -> str:
        """The name of the kernel that makes copies for a parameter."""
        if (name := self._by_param.get(param)) is None:
            kernel = param.parent_op()
            assert isinstance(kernel, tg.KernelOp)
            prefix = f"{kernel.sym_name.data}_copy"
            name = self._by_param[param] = next_symbol(prefix, param.slot.data, self._taken)
            self._taken.add(name)
            self.kernels.append(tg.OpBuilder.before(kernel).insert(_copying_kernel(name, param)))
        return name
