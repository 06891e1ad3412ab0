"""BARRIERs of a LINEAR for a grid: inserting those that it needs, and reporting missing ones."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import add_note, locate, noted
from tgdialect.ops import tg
from tgdialect.work_items.barriers import Barriers, Conflict, ConflictError


def insert_barriers(block: Block) -> None:
    """Insert the BARRIERs that the work items of a LINEAR need, and no others.

    The `lidx` SPECIALs of the block number them. A BARRIER stands where all of them reach it.
    Raises PassFailedException, with a note at the earlier access, for two that no BARRIER can
    order: both are inside an IF or loop that only some work items enter.
    """
    try:
        places = Barriers(block).missing()
    except ConflictError as error:
        raise _error(error.conflict, "no barrier can order the two") from error
    for op in places:
        noted("barrier", op)
        tg.OpBuilder.before(op).insert(tg.BarrierOp([]))


def check_barriers(block: Block) -> None:
    """Raise PassFailedException for a BARRIER that is missing or that not all work items reach.

    A missing one is reported at the later access, with a note at the earlier one. The analysis is
    sound: two accesses conflict unless it proves that their cells differ.
    """
    barriers = Barriers(block)
    for op in block.ops:
        if isinstance(op, tg.BarrierOp) and (around := barriers.blocked(op)) is not None:
            message = "not all work items of a workgroup may reach this barrier"
            error = locate(PassFailedException(message), op)
            raise add_note(error, around, f"they may differ in this {around.name[3:]}")
    for conflict in barriers.conflicts():
        raise _error(conflict, "no barrier is between the two")


def _error(conflict: Conflict, why: str) -> PassFailedException:
    memory = conflict.later.memory.owner
    assert isinstance(memory, tg.BufferOp | tg.ParamOp)
    what = f"{memory.name[3:]} {memory.slot.data}"
    now, before = ("writes" if a.writes else "reads" for a in (conflict.later, conflict.earlier))
    message = f"race: this {now} a cell of {what} that another work item {before}, and {why}"
    error = locate(PassFailedException(message), conflict.later.op)
    return add_note(error, conflict.earlier.op, f"another work item {before} it here")


@dataclass(frozen=True)
class CheckBarriersPass(ModulePass):
    """Report a BARRIER that a program for a grid lacks, or that not all work items reach.

    The programs are at level linear: SPECIALs number the work items. An error names the later
    access, and a note the earlier one. Accesses to cells that may be the same count as accesses to
    one cell.
    """

    name = "tg-check-barriers"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for symbol in op.ops:
            if isinstance(symbol, tg.ProgramOp):
                check_barriers(symbol.linear.body.block)
