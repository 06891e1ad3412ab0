"""The inputs of a function that it writes: memory that tg-run shows after a run."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects import func
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import SymbolTable

from tgdialect.analysis.memory_order import accesses
from tgdialect.lowering.signature import arguments_said_to_be_written
from tgdialect.ops import tg
from tgdialect.ops.arguments import overwritten_arguments
from tgdialect.ops.movement import MovementOp
from tgdialect.ops.properties import is_memory
from tgdialect.ops.source import parameters


def written_inputs(entry: FuncOp) -> set[SSAValue]:
    """The arguments and PARAMs of an entry at any level that it writes, and that are no results."""
    said: set[SSAValue] = {entry.args[position] for position in arguments_said_to_be_written(entry)}
    results = {argument for _, argument in overwritten_arguments(entry)}
    inputs: list[SSAValue] = [*entry.args, *(p.result for p in parameters(entry.body.block))]
    return {*said, *filter(_is_written, inputs)} - results


def _is_written(memory: SSAValue) -> bool:
    """Whether some op writes memory, through views of it, or as what a function is passed."""
    if not is_memory(memory):
        return False
    stack, seen = [memory], {memory}
    while stack:
        value = stack.pop()
        for use in value.uses:
            op = use.operation
            if any(access.writes and access.location is value for access in accesses([op])):
                return True
            new = set(_same_memory(op, use.index)) - seen
            seen |= new
            stack += new
    return False


def _same_memory(op: Operation, index: int) -> Iterable[SSAValue]:
    """The values that show the memory of an operand: a view, or the argument of a function. (A
    FUNCTION writes no memory but its own.)"""
    if isinstance(op, MovementOp | tg.AfterOp) and index == 0:
        return op.results
    callee = SymbolTable.lookup_symbol(op, op.callee) if isinstance(op, func.CallOp) else None
    if isinstance(callee, FuncOp) and not callee.is_declaration:
        return [callee.args[index]]
    return ()
