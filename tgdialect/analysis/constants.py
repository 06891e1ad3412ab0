"""The values, memory and CALLs of a function that depend on constant arguments alone: computed
once, and not in every call.

An argument marked `{tg.constant}` has the same contents from one call to the next.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tgdialect.analysis.memory_order import accesses
from tgdialect.analysis.parts import REPAID
from tgdialect.analysis.symbols import is_foreign, symbols_around
from tgdialect.fast_xdsl.walk import nested_ops, ops_of
from tgdialect.ops import tg

_COMPUTED = (tg.ElementwiseOp, tg.LoadOp, tg.MovementOp, tg.ReduceOp, tg.StackOp)
"""The ops whose results depend on their operands alone, before there are kernels."""


class Constants(NamedTuple):
    """Memory with the same contents in every call of a function, and the CALLs that write nothing
    else."""

    memory: Set[SSAValue]
    calls: Sequence[Operation]


def derived_values(block: Block) -> Mapping[SSAValue, Set[SSAValue]]:
    """The values of a function before it has kernels that depend on constant arguments alone, and
    on which: a kernel that stores one of them is called once. Arguments are among them."""
    found: dict[SSAValue, Set[SSAValue]] = {
        a: {a} for a in block.args if "tg.constant" in tg.argument_attributes(a)
    }
    if not found:
        return found
    numbers: set[SSAValue] = set()
    for op in block.ops:
        if isinstance(op, tg.ConstOp):
            numbers.add(op.result)
        elif isinstance(op, _COMPUTED):
            given = [v for v in op.operands if v not in numbers]
            if given and all(v in found for v in given):
                found[op.results[0]] = frozenset[SSAValue]().union(*(found[v] for v in given))
    return found


def constants(function: FuncOp, ops: Iterable[Operation]) -> Constants:
    """The constant memory and CALLs of a function, whose CALLs are among `ops`."""
    given = {a for a in function.args if "tg.constant" in tg.argument_attributes(a)}
    if not given:
        return Constants(frozenset(), ())
    calls = [op for op in ops if isinstance(op, tg.CallOp)]
    used: dict[Operation, list[SSAValue]] = {call: [] for call in calls}
    written: dict[Operation, list[SSAValue]] = {call: [] for call in calls}
    users: dict[SSAValue, list[Operation]] = defaultdict(list)
    for access in accesses(calls):
        used[access.op].append(access.memory)
        if access.writes:
            written[access.op].append(access.memory)
        if access.writes or access.memory not in given:
            users[access.memory].append(access.op)
    made = {memory for call in calls for memory in written[call] if _is_kept(memory)}
    # Start with the CALLs that vary by themselves.
    known = given | made
    kernels = _called_kernels(calls)
    varying: tg.Walk[Operation] = tg.Walk(
        call
        for call in calls
        if not _is_pure(call, kernels)
        or not written[call]
        or not made.issuperset(written[call])
        or not known.issuperset(used[call])
    )
    # Memory that a varying CALL writes varies, and so does every CALL that uses it.
    for call in varying:
        for memory in made.intersection(written[call]):
            made.remove(memory)
            varying.add(users[memory])
    return Constants(given | made, [call for call in calls if call not in varying.seen])


def read_once(function: FuncOp) -> Set[SSAValue]:
    """The constant arguments of a planned function that only what is computed once reads."""
    if not any("tg.persistent" in tg.argument_attributes(a) for a in function.args):
        return frozenset()
    calls = [op for op in function.walk() if isinstance(op, tg.CallOp)]
    once = set(constants(function, calls).calls)
    given = {a for a in function.args if "tg.constant" in tg.argument_attributes(a)}
    return given - {access.memory for access in accesses(calls) if access.op not in once}


def constant_slots(module: ModuleOp) -> Mapping[str, Set[int]]:
    """By kernel, the slots whose argument is constant memory in every CALL, or the same in all
    steps of the loop that the CALL is in."""

    def memory(symbol: FuncOp | tg.KernelOp) -> Set[SSAValue]:
        if isinstance(symbol, tg.KernelOp):
            return _loop_constants(symbol)
        return constants(symbol, symbol.body.block.ops).memory

    return _slots(module, memory)


def data_slots(module: ModuleOp, attribute: str) -> Mapping[str, Set[int]]:
    """By kernel, the slots whose argument has an attribute in every CALL, none of which is in a
    loop: "tg.data" of a BINARY, or "tg.constant" of any constant argument."""

    def memory(symbol: FuncOp | tg.KernelOp) -> Set[SSAValue]:
        arguments = symbol.args if isinstance(symbol, FuncOp) else ()
        return {a for a in arguments if attribute in tg.argument_attributes(a)}

    return _slots(module, memory)


def _slots(
    module: ModuleOp, memory: Callable[[FuncOp | tg.KernelOp], Set[SSAValue]]
) -> Mapping[str, Set[int]]:
    """By kernel, the slots whose argument is such memory of the caller in every CALL."""
    found: dict[str, Set[int]] = {}
    for symbol in module.ops:
        if not isinstance(symbol, FuncOp | tg.KernelOp):
            continue
        if is_foreign(symbol) if isinstance(symbol, FuncOp) else not symbol.calls:
            continue
        known = memory(symbol)
        for call in symbol.body.block.ops:
            if isinstance(call, tg.CallOp):
                slots = {i for i, a in enumerate(call.arguments) if tg.memory_of(a) in known}
                name = call.callee.string_value()
                found[name] = slots & found.get(name, slots)
    return found


def _loop_constants(kernel: tg.KernelOp) -> Set[SSAValue]:
    """The parameters of a kernel that calls others of which each step of its loop passes the whole,
    and which it does not write: they count as constant, so that they are packed once before the
    loop, if it takes enough steps. Packing takes about as long as one."""
    ops = ops_of(kernel.body.block)
    steps = max(
        (tg.known_index(op.bound) or 0 for op in ops if isinstance(op, tg.RangeOp)), default=0
    )
    if steps < REPAID:
        return frozenset()
    written = {access.memory for access in accesses(ops) if access.writes}
    views = {tg.memory_of(op.results[0]) for op in ops if isinstance(op, tg.MovementOp)}
    return {param.result for param in kernel.params} - written - views


def _is_kept(memory: SSAValue) -> bool:
    """Whether memory can be kept from one call of the function to the next."""
    if isinstance(memory, BlockArgument):
        return "tg.persistent" in tg.argument_attributes(memory)
    return isinstance(memory.owner, tg.BufferOp)


def _called_kernels(calls: Sequence[tg.CallOp]) -> Set[SymbolRefAttr]:
    """The symbols among those that are called that are kernels or programs, and have no code of
    their own, which may give something else each time."""
    known: Mapping[str, Operation] = symbols_around(calls[0]) if calls else {}
    return {
        symbol
        for symbol in {call.callee for call in calls}
        if isinstance(callee := known.get(symbol.string_value()), tg.KernelOp | tg.ProgramOp)
        and not any(map(_may_change, nested_ops(callee)))
    }


def _may_change(op: Operation) -> bool:
    """Whether an op may give something else each time: an INS of a table with a result does not."""
    is_instruction = isinstance(op, tg.InsOp) and not op.is_foreign and op.result.type != tg.VOID
    return isinstance(op, tg.CustomOp | tg.InsOp) and not is_instruction


def _is_pure(call: tg.CallOp, kernels: Set[SymbolRefAttr]) -> bool:
    """Whether a CALL depends only on its memory arguments and constants."""
    return call.callee in kernels and all(
        tg.is_memory(a) or isinstance(a.owner, tg.ConstOp) for a in call.arguments
    )
