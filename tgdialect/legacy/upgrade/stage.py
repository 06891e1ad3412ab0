"""The pass that leaves the older vocabularies."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import errors_at, locate
from tgdialect.legacy.base import LegacyOp
from tgdialect.legacy.ops.framework import KernelOp as LegacyKernelOp
from tgdialect.legacy.ops.vectors import UnrollOp
from tgdialect.legacy.upgrade.graphs import GraphUpgrade
from tgdialect.legacy.upgrade.host import calling_function
from tgdialect.legacy.upgrade.kernel import upgrade_kernel
from tgdialect.legacy.upgrade.launches import Launches
from tgdialect.ops import tg
from tgdialect.ops.attributes import is_tensor
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.numbering import symbols
from tgdialect.ops.properties import is_memory


class UpgradeLegacyPass(ModulePass):
    """Rewrite the ops of tg_legacy into those of the specification.

    A `tg.program` of ops in order, as a `.uops` file has it, becomes a kernel at level `kernels`,
    or `tiles` if it has vectors. A kernel that no function calls gets one that does: `main` if it
    is the only one, else its name with `_main`. `docs/legacy.md` has what each op becomes.
    """

    name = "tg-upgrade-legacy"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        upgrade(op)


def _has_legacy(op: Operation) -> bool:
    return any(isinstance(each, LegacyOp) for each in op.walk())


def upgrade(module: ModuleOp) -> None:
    """Rewrite the ops of tg_legacy in a module in place.

    Raises PassFailedException, located, for what the specification cannot say.
    """
    # Vectors are at level `tiles`, where no REDUCE goes over loops. A module is at one level.
    reduces = not any(_has_vectors(op) for op in module.walk() if _is_in_kernel(op))
    upgraded: list[tg.KernelOp] = []
    launches = Launches(module, reduces=reduces)
    for symbol in list(module.ops):
        if isinstance(symbol, tg.ProgramOp | tg.KernelOp) and _has_legacy(symbol):
            body = symbol if isinstance(symbol, tg.KernelOp) else symbol.linear
            ops = list(body.body.block.ops)
            with errors_at(symbol):
                kernel = upgrade_kernel(symbol.sym_name.data, ops, reduces=reduces)
            kernel.location = symbol.location
            Rewriter.replace_op(symbol, kernel, [])
            upgraded.append(kernel)
    for region in (module.body, *(region for op in module.ops for region in op.regions)):
        for block in region.blocks:
            builder = OpBuilder(InsertPoint.at_start(block))
            GraphUpgrade(builder, launches.launch).rewrite(list(block.ops))
    for op in module.walk():
        if isinstance(op, LegacyOp):
            message = f"{op.name} belongs in a tg.program, a tg.kernel or a KERNEL"
            raise locate(PassFailedException(message), op)
    _call_kernels(module, upgraded)


def _is_in_kernel(op: Operation) -> bool:
    return isinstance(op.parent_op(), tg.LinearOp | tg.KernelOp | LegacyKernelOp)


def _has_vectors(op: Operation) -> bool:
    """Whether an op makes a vector, or unrolled values, which become vectors."""
    return any(
        is_tensor(result.type)
        and not is_memory(result)
        and (result.type.get_shape() or isinstance(op, UnrollOp))
        for result in op.results
    )


def _call_kernels(module: ModuleOp, kernels: Sequence[tg.KernelOp]) -> None:
    """Add a function for each kernel that nothing calls."""
    called = {op.callee.string_value() for op in module.walk() if isinstance(op, tg.CallOp)}
    uncalled = [kernel for kernel in kernels if kernel.sym_name.data not in called]
    taken = symbols(module)
    for kernel in uncalled:
        name = "main" if len(uncalled) == 1 else f"{kernel.sym_name.data}_main"
        if name not in taken:
            Rewriter.insert_op(calling_function(kernel, name), InsertPoint.after(kernel))
