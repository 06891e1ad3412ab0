"""Which parameter of a program may be the same memory as which other.

A program that reads a cell of one buffer and then writes the same cell of another, each cell once,
does not mind if they are one buffer. A kernel whose code was generated elsewhere is known by what
`note_in_place` has noted of its program.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.memory_order import MemoryAccess, accesses
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg

Slots = tuple[int, int]
"""A slot that is only read, and one that may be written over it."""
Loops = tuple[tg.RangeOp, ...]
"""The RANGEs around an op, outermost first."""

_NOTE = "tg.in_place"
"""The attribute of a kernel, or of a program, that was lowered elsewhere: its pairs of slots, one
after the other."""


def in_place_slots(symbol: Operation | None) -> Sequence[Slots]:
    """The pairs of a program, or of a kernel that was lowered elsewhere."""
    noted = None if symbol is None else symbol.attributes.get(_NOTE)
    if isinstance(noted, DenseArrayBase):
        slots: Sequence[int] = noted.get_values()
        return list(zip(slots[::2], slots[1::2], strict=True))
    return list(_pairs(symbol.linear)) if isinstance(symbol, tg.ProgramOp) else []


def note_in_place(kernel: tg.KernelOp | tg.ProgramOp, pairs: Sequence[Slots]) -> None:
    """Note on a kernel what `in_place_slots` has found for the program that was made of it."""
    kernel.attributes[_NOTE] = DenseArrayBase.from_list(i64, [*chain.from_iterable(pairs)])


def _pairs(linear: tg.LinearOp) -> Iterator[Slots]:
    ops = ops_of(linear.body.block)
    by_slot: dict[int, list[MemoryAccess]] = defaultdict(list)
    for access in accesses(ops):
        if isinstance(parameter := access.memory.owner, tg.ParamOp):
            by_slot[parameter.slot.data].append(access)
    around = tg.nesting(ops)
    position = {op: i for i, op in enumerate(ops)}
    written = {
        slot: cell
        for slot, found in by_slot.items()
        if all(isinstance(a.op, tg.StoreOp) for a in found)
        and (cell := _only_cell(found, around)) is not None
        and _is_injective(cell[1], cell[2])
    }
    for source, found in by_slot.items():
        if not all(isinstance(access.op, tg.LoadOp) for access in found):
            continue
        read = _only_cell(found, around)
        last = max(position[access.op] for access in found)
        for target, cell in written.items():
            if read == cell and last < min(position[a.op] for a in by_slot[target]):
                yield source, target


def _only_cell(
    found: Sequence[MemoryAccess], around: Mapping[Operation, Sequence[Operation]]
) -> tuple[tuple[int, int], SSAValue, Loops] | None:
    """Number and size of the elements, the flat index and the loops of all accesses, if equal."""
    cells: set[tuple[tuple[int, int], SSAValue, Loops]] = set()
    for access in found:
        index = access.location.owner
        if not isinstance(index, tg.IndexOp) or len(index.indices) != 1:
            return None
        view = tg.tensor(index.source).get_shape()
        if len(view) != 1 or tg.tensor(access.location).get_shape():
            return None
        layout = (view[0], tg.dtype_of(index.source).itemsize)
        loops = tuple(each for each in around[access.op] if isinstance(each, tg.RangeOp))
        cells.add((layout, index.indices[0], loops))
    return cells.pop() if len(cells) == 1 else None


def _is_injective(index: SSAValue, loops: Loops) -> bool:
    """Whether an index is different in each iteration: a number whose digits are the loops."""
    terms = tg.polynomial(index).terms
    if len(terms) != len(loops) or any((loop.result,) not in terms for loop in loops):
        return False
    reach = 0
    for stride, loop in sorted(((terms[loop.result,], loop) for loop in loops), key=itemgetter(0)):
        extent = tg.known_index(loop.bound)
        if extent is None or stride <= reach:
            return False
        reach += stride * (extent - 1)
    return True
