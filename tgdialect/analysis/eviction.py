"""Results of a program that no cache holds any more when it ends: they are stored around the
caches."""

from __future__ import annotations

from collections.abc import Mapping, Set

from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from tgdialect.analysis.parts import REPAID
from tgdialect.analysis.symbols import is_foreign
from tgdialect.fast_xdsl.unchecked import array_values
from tgdialect.ops import tg
from tgdialect.ops.properties import static_bytes
from tgdialect.targets import Target

EVICTED = "tg.evicted"
"""The attribute of a kernel or program that lists these slots."""

EVICTING = 4
"""The multiple of `Target.llc` that a program has to access after it has written a result, for no
cache to hold the result when the caller reads it. Smaller: the caller may load from memory what a
cache had; larger: stores load lines of results for nothing. Bounds: loops over arrays of up to 100
MB were quicker than memory with an `llc` of 32 MiB, and a decode step of GPT-2, which accesses 150
to 500 MB after each copy of keys and values, takes 0.955 of the time."""


def evicted_slots(module: ModuleOp, target: Target) -> Mapping[str, Set[int]]:
    """By kernel, the slots whose argument in every CALL is a result that no later CALL accesses and
    that later ones evict."""
    found: dict[str, Set[int]] = {}
    for symbol in module.ops:
        if isinstance(symbol, tg.KernelOp) and symbol.calls:
            called = [op for op in symbol.body.block.ops if isinstance(op, tg.CallOp)]
            found.update((op.callee.string_value(), frozenset[int]()) for op in called)
        elif isinstance(symbol, FuncOp) and not is_foreign(symbol):
            _add_slots(found, symbol, target)
    return found


def _add_slots(found: dict[str, Set[int]], function: FuncOp, target: Target) -> None:
    """Add the slots of a function's CALLs; those of a kernel are in all CALLs of it. Results that
    are a small part of L2 cost little either way."""
    later, moved = set[SSAValue](), 0
    for call in reversed([op for op in function.body.block.ops if isinstance(op, tg.CallOp)]):
        memory = [tg.memory_of(argument) for argument in call.arguments]
        slots = {
            slot
            for slot, each in enumerate(memory)
            if moved > EVICTING * target.llc
            and each not in later
            and _is_result(each)
            and static_bytes(each) * REPAID >= target.l2
        }
        name = call.callee.string_value()
        found[name] = slots & found.get(name, slots)
        for each in memory:
            if each not in later:
                later.add(each)
                moved += static_bytes(each)


def _is_result(memory: SSAValue) -> bool:
    return isinstance(memory, BlockArgument) and "tg.output" in tg.argument_attributes(memory)


def note_evicted(kernel: tg.KernelOp, slots: Set[int]) -> None:
    """Let a kernel say which of its parameters are evicted."""
    if slots:
        kernel.attributes[EVICTED] = DenseArrayBase.from_list(i64, sorted(slots))


def evicted(program: Operation) -> Set[int]:
    """The slots that a kernel, or the program that it has become, says are evicted."""
    noted = program.attributes.get(EVICTED)
    return frozenset[int]() if noted is None else frozenset(array_values(noted))
