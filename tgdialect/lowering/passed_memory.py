"""The memory that CALLs pass to kernels, and parameters that these gain or lose: memory that
callers pass for the kernels that one calls, copies that a kernel fills before, and what a part of a
kernel does not use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import combinations

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tgdialect.analysis.symbols import calls_in
from tgdialect.ops import tg
from tgdialect.ops.views import are_disjoint


def add_parameters(
    kernel: tg.KernelOp,
    types: Sequence[TensorType[Attribute]],
    dims: Sequence[Sequence[SSAValue]] | None = None,
) -> list[SSAValue]:
    """New parameters of a kernel that calls others, at the end of its block's parameters, for which
    each of its callers passes memory of its own. A function has a BUFFER for it, and a kernel a
    parameter in turn. `dims` are the dynamic extents of each, computed from index parameters."""
    dims = dims or [()] * len(types)
    params = [op for op in kernel.body.block.ops if isinstance(op, tg.ParamOp)]
    builder = tg.OpBuilder(InsertPoint.at_start(kernel.body.block), kernel.location)
    if params and any(dims):
        builder = tg.OpBuilder(InsertPoint.after(params[-1]), kernel.location)
    first = len(kernel.params)
    own: dict[SSAValue, SSAValue] = {param.result: param.result for param in params}
    new = [
        builder.put(
            tg.ParamOp(slot, type, [builder.clone(d, own, everything=True) for d in extents])
        )
        for slot, (type, extents) in enumerate(zip(types, dims, strict=True), first)
    ]
    module = kernel.parent_op()
    assert isinstance(module, ModuleOp)
    for call in [*calls_in(module.ops)] if types else ():
        if call.callee.root_reference == kernel.sym_name:
            inside = tg.OpBuilder.before(call)
            given: dict[SSAValue, SSAValue] = {
                param.result: call.arguments[param.slot.data] for param in params
            }
            outer = [[inside.clone(d, given, everything=True) for d in each] for each in dims]
            if isinstance(caller := call.parent_op(), tg.KernelOp):
                memory = add_parameters(caller, types, outer)
            else:
                slots = inside.free_slots
                memory = [
                    inside.put(tg.BufferOp(next(slots), type, extents))
                    for type, extents in zip(types, outer, strict=True)
                ]
            call.operands = [*call.operands, *memory]
    return new


def calls_by_callee(module: ModuleOp, names: Iterable[str]) -> Mapping[str, Sequence[tg.CallOp]]:
    """The CALLs of each of some symbols, in functions and in kernels."""
    calls: dict[str, list[tg.CallOp]] = {name: [] for name in names}
    for call in calls_in(module.ops):
        if (name := call.callee.root_reference.data) in calls:
            calls[name].append(call)
    return calls


def aliased_kernels(module: Operation) -> Set[str]:
    """The kernels for which some CALL passes cells of the same memory for two parameters."""
    calls = filter(_shares_memory, calls_in(module.regions[0].ops))
    return {call.callee.string_value() for call in calls}


def _shares_memory(call: tg.CallOp) -> bool:
    """Whether two arguments of a CALL may have a cell in common."""
    by_memory: dict[SSAValue, list[SSAValue]] = {}
    for argument in call.arguments:
        by_memory.setdefault(tg.memory_of(argument), []).append(argument)
    return any(
        not are_disjoint(a, b) for views in by_memory.values() for a, b in combinations(views, 2)
    )


def filled_memory(
    call: tg.CallOp,
    kernel: str,
    arguments: Sequence[SSAValue],
    type: TensorType[Attribute],
    dims: Sequence[SSAValue],
    slots: dict[Block, Iterator[int]],
) -> SSAValue:
    """Memory of a type for a CALL, after a CALL of a kernel that fills it: its parameter 0. The
    arguments for the others begin with memory, whose device the new one is on.

    It is a BUFFER, or in a kernel memory that the callers pass. There the kernel is called before
    the loops that its arguments do not depend on. `slots` has the free slots of each block to which
    BUFFERs have been added.
    """
    builder = tg.OpBuilder.before(call)
    where = tg.PlaceAttr.of(tg.place(arguments[0]).device, tg.AddrSpace.GLOBAL)
    stored = tg.tensor_type(type.element_type, type.get_shape(), where)
    if isinstance(caller := call.parent_op(), tg.KernelOp):
        (buffer,) = add_parameters(caller, [stored], [dims])
    else:
        if builder.block not in slots:
            slots[builder.block] = builder.free_slots
        buffer = builder.put(tg.BufferOp(next(slots[builder.block]), stored, dims))
    made = builder.put(tg.CallOp(kernel, [buffer, *arguments]))
    return builder.put(tg.AfterOp(buffer, [made]))


def drop_parameters(kernel: tg.KernelOp) -> list[int]:
    """Drop the parameters that a kernel does not use; returns the slots of the others, which are
    numbered anew."""
    kept: list[int] = []
    for param in kernel.params:
        slot = param.slot.data
        if not param.result.uses:
            Rewriter.erase_op(param)
        else:
            param.properties["slot"] = tg.NumberAttr(len(kept))
            kept.append(slot)
    return kept
