"""The symbols of a module that belong to the dialect. Every pass leaves the others alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from graphlib import CycleError, TopologicalSorter
from typing import TypeVar, cast

from typing_extensions import TypeIs
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.walk import nested_ops
from tgdialect.ops import tg

SIGNATURE = "tg.signature"
"""The attribute of an `llvm.func` that `tg-render` has made of a function."""


def own_functions(module: ModuleOp) -> Iterator[FuncOp]:
    """The functions of the dialect; they have a body."""
    return (op for op in module.ops if isinstance(op, FuncOp) and not is_foreign(op))


SymbolT = TypeVar("SymbolT", bound=Operation)
KernelT = TypeVar("KernelT", bound=tg.KernelOp | tg.ProgramOp)


def callees_first(symbols: Iterable[SymbolT]) -> list[SymbolT]:
    """Symbols after those of them that they call.

    Raises PassFailedException if one calls itself.
    """
    callees: dict[Operation, list[Operation]] = {symbol: [] for symbol in symbols}
    known: Mapping[str, Operation] = {}
    for caller, called in callees.items():
        known = known or symbols_around(caller)
        for op in nested_ops(caller):
            if isinstance(op, tg.CallOp):
                callee = known.get(op.callee.string_value())
                called += [callee] if callee is not None and callee in callees else []
    try:
        return cast("list[SymbolT]", [*TopologicalSorter(callees).static_order()])
    except CycleError as error:
        caller = cast(Operation, error.args[1][-1])
        name = cast(StringAttr, caller.properties["sym_name"]).data
        raise locate(PassFailedException(f"@{name} calls itself"), caller) from None


def calls_in(symbols: Iterable[Operation]) -> Iterator[tg.CallOp]:
    """The CALLs of those of some symbols that have any: functions, and kernels or programs that
    call others."""
    for symbol in symbols:
        if isinstance(symbol, FuncOp) or (
            isinstance(symbol, tg.KernelOp | tg.ProgramOp) and symbol.calls
        ):
            yield from (op for op in symbol.walk() if isinstance(op, tg.CallOp))


def called_in_loops(module: ModuleOp) -> Set[str]:
    """The kernels that loops of other kernels call, as the step of a SCAN."""
    kernels = (op for op in module.ops if not isinstance(op, FuncOp))
    return {call.callee.string_value() for call in calls_in(kernels)}


def calling_last(kernels: Iterable[KernelT]) -> list[KernelT]:
    """Kernels or programs with those that call others after these."""
    kernels = list(kernels)
    calling = [kernel for kernel in kernels if kernel.calls]
    return [*(k for k in kernels if k not in calling), *callees_first(calling)]


def called_symbols(symbols: Iterable[Operation]) -> list[Operation]:
    """The kernels and programs that some symbols call, each once."""
    found: dict[Attribute, Operation | None] = {}
    known: Mapping[str, Operation] | None = None
    for op in calls_in(symbols):
        if op.callee not in found:
            known = symbols_around(op) if known is None else known
            found[op.callee] = known.get(op.callee.string_value())
    return [callee for callee in found.values() if callee is not None]


def symbols_around(op: Operation) -> Mapping[str, Operation]:
    """The symbols of the module around an op, by their names. To look one up by
    `SymbolTable.lookup_symbol` takes as long as to find all of them so."""
    module = op
    while (parent := module.parent_op()) is not None and not isinstance(module, ModuleOp):
        module = parent
    if not isinstance(module, ModuleOp):
        return {}
    names = ((op.properties.get("sym_name"), op) for op in module.ops)
    return {name.data: op for name, op in names if isinstance(name, StringAttr)}


def is_foreign(symbol: Operation) -> bool:
    """Whether an op at the top of a module is of other dialects, with no op of ours inside.

    A function that only passes tensors on, to its results or to functions of ours, is one of ours.
    One without a body is not.
    """
    walk = tg.Walk([symbol])
    for op in walk:
        if any(isinstance(inner, tg.TgOp) for inner in op.walk()) or SIGNATURE in op.attributes:
            continue
        if not isinstance(op, FuncOp) or not _passes_tensors(op):
            return True
        callees = (
            SymbolTable.lookup_symbol(op, inner.callee)
            for inner in op.walk()
            if isinstance(inner, CallOp)
        )
        walk.add(callee for callee in callees if callee is not None)
    return False


def _passes_tensors(function: FuncOp) -> bool:
    """Whether a function has a body of nothing but calls, and takes and gives tensors only."""
    if function.is_declaration:
        return False
    types = (*function.function_type.inputs, *function.function_type.outputs)
    return all(map(is_own_tensor, types)) and all(
        isinstance(op, FuncOp | CallOp | ReturnOp) for op in function.walk()
    )


def is_own_tensor(type: Attribute | None) -> TypeIs[TensorType[Attribute]]:
    """Whether a type is a ranked tensor of one of the dialect's dtypes."""
    return (
        isinstance(type, TensorType)
        and cast("TensorType[Attribute]", type).element_type in tg.DTYPES
    )
