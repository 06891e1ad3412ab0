"""The pass that leaves the older vocabularies, and functions that call kernels, since a listing has
a kernel only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.context import Context
from xdsl.dialects import builtin
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import errors_at, lasting_hint, locate
from tgdialect.legacy.base import LegacyOp
from tgdialect.legacy.ops.framework import KernelOp as LegacyKernelOp
from tgdialect.legacy.ops.vectors import UnrollOp
from tgdialect.legacy.upgrade.graphs import GraphUpgrade
from tgdialect.legacy.upgrade.kernel import upgrade_kernel
from tgdialect.legacy.upgrade.launches import Launches
from tgdialect.ops import tg
from tgdialect.ops.numbering import symbols


class UpgradeLegacyPass(ModulePass):
    """Rewrite the ops of tg_legacy into those of the specification.

    A `tg.program` of ops in order, as a `.uops` file has it, becomes a kernel at level `kernels`,
    or `tiles` if it has vectors. A kernel that no function calls gets one that does: `main` if it
    is the only one, else its name with `_main`. `docs/legacy.md` has what each op becomes.
    """

    name = "tg-upgrade-legacy"

    def apply(self, ctx: Context, op: builtin.ModuleOp) -> None:
        upgrade(op)


def upgrade(module: builtin.ModuleOp) -> None:
    """Rewrite the ops of tg_legacy in a module in place.

    Raises PassFailedException, located, for what the specification cannot say.
    """
    # Vectors are at level `tiles`, where no REDUCE goes over loops. A module is at one level.
    reduces = not any(map(_has_vectors, module.walk()))
    upgraded: list[tg.KernelOp] = []
    launches = Launches(module, reduces=reduces)
    for symbol in list(module.ops):
        if not any(isinstance(each, LegacyOp) for each in symbol.walk()):
            continue
        if isinstance(symbol, tg.ProgramOp | tg.KernelOp):
            body = symbol if isinstance(symbol, tg.KernelOp) else symbol.linear
            ops = list(body.body.block.ops)
            with errors_at(symbol):
                kernel = upgrade_kernel(symbol.sym_name.data, ops, reduces=reduces)
            kernel.location = symbol.location
            Rewriter.replace_op(symbol, kernel, [])
            upgraded.append(kernel)
    for region in (module.body, *(region for op in module.ops for region in op.regions)):
        for block in region.blocks:
            builder = tg.OpBuilder(InsertPoint.at_start(block))
            GraphUpgrade(builder, launches.launch).rewrite(list(block.ops))
    for op in module.walk():
        if isinstance(op, LegacyOp):
            message = f"{op.name} belongs in a tg.program, a tg.kernel or a KERNEL"
            raise locate(PassFailedException(message), op)
    _call_kernels(module, upgraded)


def _has_vectors(op: Operation) -> bool:
    """Whether an op of a kernel makes a vector, or unrolled values, which become vectors."""
    return isinstance(op.parent_op(), tg.LinearOp | tg.KernelOp | LegacyKernelOp) and any(
        tg.is_tensor(result.type)
        and not tg.is_memory(result)
        and (result.type.get_shape() or isinstance(op, UnrollOp))
        for result in op.results
    )


def _call_kernels(module: builtin.ModuleOp, kernels: Sequence[tg.KernelOp]) -> None:
    """Add a function for each kernel that nothing calls."""
    called = {op.callee.string_value() for op in module.walk() if isinstance(op, tg.CallOp)}
    uncalled = [kernel for kernel in kernels if kernel.sym_name.data not in called]
    taken = symbols(module)
    for kernel in uncalled:
        name = "main" if len(uncalled) == 1 else f"{kernel.sym_name.data}_main"
        if name not in taken:
            Rewriter.insert_op(calling_function(kernel, name), InsertPoint.after(kernel))


_CPU = tg.PlaceAttr.of("CPU", tg.AddrSpace.GLOBAL)


def calling_function(kernel: tg.KernelOp, name: str) -> FuncOp:
    """A function that calls a kernel once.

    Its arguments are the parameters that the kernel reads, in their order, then as `tg.output`
    those that it only writes. A parameter that is read and written is an argument, whose memory
    changes.
    """
    params = kernel.params
    ops = kernel.body.block.ops
    read, written = (
        {tg.memory_of(op.buffer) for op in ops if isinstance(op, kind)}
        for kind in (tg.LoadOp, tg.StoreOp)
    )
    outputs = [p for p in params if p.result in written and p.result not in read]
    order = [*(p for p in params if p not in outputs), *outputs]
    block = Block(arg_types=[_argument_type(param) for param in order])
    values = dict(zip(order, block.args, strict=True))
    for param, value in values.items():
        symbol = None if param.symbol is None else lasting_hint(param.symbol.data)
        value.name_hint = param.result.name_hint or symbol or f"data{param.slot.data}"
    builder = tg.OpBuilder.at_end(block, kernel.location)
    call = builder.put(tg.CallOp(kernel.sym_name.data, [values[param] for param in params]))
    builder.put(tg.SinkOp((call,)))
    builder.insert(ReturnOp())
    attributes = builtin.ArrayAttr(
        builtin.DictionaryAttr(_attributes(p, p in outputs)) for p in order
    )
    function = FuncOp(name, (block.arg_types, ()), Region(block), arg_attrs=attributes)
    function.location = kernel.location
    return function


def _argument_type(param: tg.ParamOp) -> Attribute:
    type = param.result.type
    assert tg.is_tensor(type)
    if type.element_type == tg.INDEX and not type.get_shape():
        return type
    return tg.tensor_type(type.element_type, type.get_shape(), _CPU)


def _attributes(param: tg.ParamOp, is_output: bool) -> Mapping[str, Attribute]:
    """The attributes of the argument for a parameter (`ops/arguments.py`)."""
    if is_output:
        return {"tg.output": builtin.UnitAttr()}
    bounds = {"tg.min": param.min, "tg.max": param.max}
    attributes: dict[str, Attribute] = {
        key: builtin.IntegerAttr(bound.data, tg.INDEX)
        for key, bound in bounds.items()
        if bound is not None
    }
    if param.symbol is not None:
        attributes["tg.name"] = builtin.StringAttr(param.symbol.data)
    return attributes
