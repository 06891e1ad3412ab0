"""The next free number for an op that a rewrite adds: a slot of a BUFFER or PARAM, an axis id.

Numbers are not dense: a program may begin at any, and passes drop ops. Counting the ops there are
gives a number that may be taken.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation

from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.source import BufferOp, ParamOp


def next_slot(ops: Iterable[Operation], kind: type[BufferOp] | type[ParamOp] = BufferOp) -> int:
    """The slot after those of all ops of a kind.

    `%0 = tg.buffer 3` alone gives 4; no BUFFER gives 0.
    """
    return 1 + max((op.slot.data for op in ops if isinstance(op, kind)), default=-1)


def next_axis(ops: Iterable[Operation]) -> int:
    """The axis id after those of all RANGEs.

    `%0 = tg.range 2 loop to %n` alone gives 3; no RANGE gives 0.
    """
    return 1 + max((op.axis.data for op in ops if isinstance(op, RangeOp)), default=-1)
