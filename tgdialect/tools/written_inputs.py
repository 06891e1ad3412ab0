"""The inputs of a function that it writes: memory that tg-run shows after a run."""

from __future__ import annotations

from collections.abc import Iterator, Set

from xdsl.dialects import func
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import SymbolTable

from tgdialect.analysis.memory_order import accesses
from tgdialect.lowering.signature import arguments_said_to_be_written
from tgdialect.ops.arguments import overwritten_arguments
from tgdialect.ops.call import FunctionOp
from tgdialect.ops.ordering import LinearOp
from tgdialect.ops.source import ParamOp
from tgdialect.ops.views import memory_of
from tgdialect.ops.walk import ops_of


def written_inputs(entry: FuncOp) -> Set[SSAValue]:
    """The arguments and PARAMs of an entry at any level that it writes, and that are no results."""
    said = {entry.args[position] for position in arguments_said_to_be_written(entry)}
    results = {argument for _, argument in overwritten_arguments(entry)}
    return (said | _written(entry.body.block, ())) - results


def _written(block: Block, callers: tuple[Operation, ...]) -> Set[SSAValue]:
    """The memory that the ops of a block write; `callers` are the functions that are being looked
    at, which a call again adds nothing to."""
    written: set[SSAValue] = set()
    for op in ops_of(block):
        if isinstance(op, LinearOp):
            written |= _written(op.body.block, callers)
        elif (body := _body(op)) is not None and op not in callers:
            inside = _written(body, (*callers, op))
            written.update(memory_of(op.operands[slot]) for slot in _slots(inside))
        else:
            written.update(access.memory for access in accesses([op]) if access.writes)
    return written


def _body(op: Operation) -> Block | None:
    """The body that an op evaluates on its operands; None for others, and for CALLs."""
    if isinstance(op, FunctionOp):
        return op.body.block
    callee = SymbolTable.lookup_symbol(op, op.callee) if isinstance(op, func.CallOp) else None
    is_ours = isinstance(callee, FuncOp) and not callee.is_declaration
    return callee.body.block if is_ours else None


def _slots(values: Set[SSAValue]) -> Iterator[int]:
    for value in values:
        if isinstance(owner := value.owner, Block):
            yield list(owner.args).index(value)
        elif isinstance(owner, ParamOp):
            yield owner.slot.data
