"""Kernels that a caller registers take the place of the CUSTOMFUNCTIONs of their names."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from tgdialect.analysis.memory_order import symbol_effects
from tgdialect.diagnostics import errors_at, locate
from tgdialect.fast_xdsl import unchecked
from tgdialect.fast_xdsl.walk import nested_ops
from tgdialect.ops import tg


def link_kernels(module: ModuleOp, kernels: Mapping[str, tg.KernelOp]) -> None:
    """Replace each CUSTOMFUNCTION that has a kernel by a copy of it, which all targets compile.

    Raises VerifyException at a CUSTOMFUNCTION whose kernel is not valid or has other effects than
    those that it declares, and at a CALL whose arguments are not those of the kernel.
    """
    linked: set[str] = set()
    for op in [op for op in module.ops if isinstance(op, tg.CustomFunctionOp)]:
        name = op.sym_name.data
        if (kernel := kernels.get(name)) is None:
            continue
        with errors_at(op):
            if kernel.calls:
                message = f"the kernel that is registered for @{name} calls another one"
                raise locate(VerifyException(message), op)
            kernel.verify()
            _check_effects(op, kernel)
        copy = kernel.clone()
        copy.properties["sym_name"] = unchecked.text(name)
        module.body.block.insert_op_before(copy, op)
        Rewriter.erase_op(op)
        linked.add(name)
    for op in nested_ops(module):
        if isinstance(op, tg.CallOp) and op.callee.string_value() in linked:
            with errors_at(op):
                op.verify()


def _check_effects(op: tg.CustomFunctionOp, kernel: tg.KernelOp) -> None:
    if op.reads is None and op.writes is None:
        return
    effects = symbol_effects(kernel) or {}
    found = [sorted(slot for slot, each in effects.items() if each[i]) for i in range(2)]
    declared = [sorted(slots) for slots in op.effects(len(kernel.params))]
    if found != declared:
        declares, does = (f"reads {reads} writes {writes}" for reads, writes in (declared, found))
        message = f"@{op.sym_name.data} {declares}, and the kernel that is registered {does}"
        raise locate(VerifyException(message), op)
