"""Parameters that kernels gain or lose: memory that callers pass for the kernels that one calls,
and what a part of a kernel does not use."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tgdialect.ops.attributes import NumberAttr
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.call import CallOp, KernelOp
from tgdialect.ops.source import BufferOp, ParamOp


def add_parameters(kernel: KernelOp, types: Sequence[TensorType[Attribute]]) -> list[SSAValue]:
    """New parameters of a kernel that calls others, at the end of its block's parameters, for which
    each of its callers passes memory of its own. A function has a BUFFER for it, and a kernel a
    parameter in turn."""
    builder = OpBuilder(InsertPoint.at_start(kernel.body.block), kernel.location)
    first = len(kernel.params)
    new = [builder.put(ParamOp(slot, type)) for slot, type in enumerate(types, first)]
    module = kernel.parent_op()
    assert isinstance(module, ModuleOp)
    for caller in module.ops if types else ():
        if not isinstance(caller, FuncOp | KernelOp):
            continue
        for call in list(caller.walk()):
            if isinstance(call, CallOp) and call.callee.root_reference == kernel.sym_name:
                if isinstance(caller, KernelOp):
                    memory = add_parameters(caller, types)
                else:
                    inside = OpBuilder.before(call)
                    slots = inside.free_slots
                    memory = [inside.put(BufferOp(next(slots), type)) for type in types]
                call.operands = [*call.operands, *memory]
    return new


def drop_parameters(kernel: KernelOp) -> list[int]:
    """Drop the parameters that a kernel does not use; returns the slots of the others, which are
    numbered anew."""
    kept: list[int] = []
    for param in kernel.params:
        slot = param.slot.data
        if not param.result.uses:
            Rewriter.erase_op(param)
        else:
            param.properties["slot"] = NumberAttr(len(kept))
            kept.append(slot)
    return kept
