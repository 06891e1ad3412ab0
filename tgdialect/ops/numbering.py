"""The next free number for an op that a rewrite adds: a slot of a BUFFER, an axis id, the number
at the end of a symbol's name. And the key of an op for all that numbers values.

Numbers are not dense: a program may begin at any, and passes drop ops. Counting the ops there are
gives a number that may be taken.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Set
from itertools import count

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.source import BufferOp, ConstOp


def next_slot(ops: Iterable[Operation]) -> int:
    """The slot after those of all BUFFERs.

    `%0 = tg.buffer 3` alone gives 4; no BUFFER gives 0.
    """
    return 1 + max((op.slot.data for op in ops if isinstance(op, BufferOp)), default=-1)


def next_axis(ops: Iterable[Operation]) -> int:
    """The axis id after those of all RANGEs.

    `%0 = tg.range 2 loop to %n` alone gives 3; no RANGE gives 0.
    """
    return 1 + max((op.axis.data for op in ops if isinstance(op, RangeOp)), default=-1)


def symbols(module: ModuleOp) -> set[str]:
    """The names of the symbols of a module."""
    names = (op.properties.get("sym_name") for op in module.ops)
    return {name.data for name in names if isinstance(name, StringAttr)}


def next_symbol(prefix: str, number: int, taken: Set[str]) -> str:
    """`prefix_number`, or with the first number above that gives a name that is not taken."""
    return next(name for n in count(number) if (name := f"{prefix}_{n}") not in taken)


def op_key(op: Operation, operands: Iterable[Hashable] | None = None) -> tuple[Hashable, ...]:
    """The key of what an op computes: its kind, operands and properties, and of a leaf the type,
    which follows from these otherwise. Ops without effects and regions that have equal keys compute
    the same.

    `operands` stand for the op's own where these do not count as themselves, but by a number, say.
    """
    if op.name == ConstOp.name:
        return op.name, op.properties["value"]
    given = tuple(op.operands if operands is None else operands)
    properties = frozenset(op.properties.items()) if op.properties else None
    return op.name, given or op.results[0].type, properties
