"""Rows that several loops load from GLOBAL memory are loaded once, and kept in registers.

    range %k; %v = load x[%k + ...]; ...; end %k; range %j; %w = load x[%j + ...]; ...
    ->
    range %k; %v = load x[%k + ...]; store r[%k], %v; ...; end %k; range %j; %w = load r[%j]; ...

The maximum of a row and the exponentials of a softmax are in two such loops. A work item has the
same cells in both, because both are split alike.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from tgdialect.analysis.affine.cells import CellNumbers
from tgdialect.analysis.memory_order import MemoryAccess, accesses
from tgdialect.analysis.register_loops import LONGEST
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.kernel_memory import new_buffer
from tgdialect.lowering.linearize.registers import cells_of
from tgdialect.ops import tg
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.properties import dtype_of, known_index, place, tensor
from tgdialect.ops.walk import nesting
from tgdialect.transforms.dead_ops import erase_unused

MOST_BYTES = 256
"""The most memory that a work item keeps in registers. Larger: sums and addresses spill; smaller:
more loads. A quarter of the 255 registers of 4 bytes that a work item of a GPU may have."""

OpenBlocks = Sequence[Operation]
"""The RANGEs and IFs around an op, the outermost first."""


class _Load(NamedTuple):
    """A LOAD in loops of its own, and what tells its cells from those of others."""

    op: tg.LoadOp
    around: OpenBlocks
    loops: Sequence[tg.RangeOp]
    """The loops that its cells depend on, the one with the greatest stride first."""
    key: object
    """The same for LOADs of the same cells, in iterations with the same numbers."""


def load_once(block: Block, numbers: CellNumbers, *, aliased: bool) -> None:
    """Keep what a loop loads and a later loop loads again. `aliased` says that different parameters
    may be the same memory."""
    found = accesses(block.ops)
    of_global = [a for a in found if place(a.memory).addrspace is tg.AddrSpace.GLOBAL]
    written = {access.memory for access in of_global if access.writes}
    if aliased and written:
        return
    around = nesting(ops_of(block))
    groups: dict[object, list[_Load]] = defaultdict(list)
    for access in of_global:
        if access.memory not in written and (load := _load(access, around, numbers)) is not None:
            groups[load.key].append(load)
    left = MOST_BYTES
    for first, *others in groups.values():
        again = [other for other in others if _is_later(first, other)]
        bytes = _cells(first) * dtype_of(first.op.result).itemsize
        if again and bytes <= left:
            left -= bytes
            _keep(first, again)
    if left < MOST_BYTES:
        erase_unused(block)


def _load(
    access: MemoryAccess, around: Mapping[Operation, OpenBlocks], numbers: CellNumbers
) -> _Load | None:
    """A LOAD without a gate, of cells that are a sum of multiples of indices; None for others."""
    op = access.op
    if not isinstance(op, tg.LoadOp) or op.gate is not None:
        return None
    if (cells := cells_of(access, numbers)) is None:
        return None
    loops = [value.owner for value in cells.terms if isinstance(value.owner, tg.RangeOp)]
    loops.sort(key=lambda loop: -cells.terms[loop.result])
    own, extents = [loop.result for loop in loops], [known_index(loop.bound) for loop in loops]
    if not loops or any(extent is None or extent > LONGEST for extent in extents):
        return None
    strides = [cells.terms[value] for value in own]
    rest = frozenset((v, factor) for v, factor in cells.terms.items() if v not in own)
    shape = tuple(zip(extents, strides, strict=True))
    view = access.location.owner
    assert isinstance(view, tg.IndexOp)
    key = view.source, op.result.type, rest, shape, cells.numbers
    return _Load(op, around[op], loops, key)


def _cells(load: _Load) -> int:
    """How many cells a work item loads in all iterations."""
    extents = [known_index(loop.bound) or 1 for loop in load.loops]
    return math.prod(extents) * math.prod(tensor(load.op.result).get_shape())


def _is_later(first: _Load, other: _Load) -> bool:
    """Whether one LOAD has been executed, in all iterations of its loops, before another one: it is
    in no IF of its own, and the loops of both are beside each other."""
    pairs = zip(first.around, other.around, strict=False)
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], pairs))
    own, others = first.around[shared:], other.around[shared:]
    if any(isinstance(op, tg.IfOp) for op in own):
        return False
    return {*own} == {*first.loops} and {*first.loops}.isdisjoint(other.loops) and bool(others)


def _keep(first: _Load, again: Sequence[_Load]) -> None:
    """Have the first LOAD store to registers, and the others load from them."""
    value = first.op.result
    type, lanes = tensor(value).element_type, tensor(value).get_shape()
    root = first.around[0]
    buffer = new_buffer(OpBuilder.before(root), type, (_cells(first),), tg.AddrSpace.REG)
    b = OpBuilder.after(first.op)
    b.insert(tg.StoreOp(_cell(b, buffer, first, lanes), value))
    for load in again:
        b = OpBuilder.before(load.op)
        kept = b.put(tg.LoadOp(_cell(b, buffer, load, lanes)))
        load.op.result.replace_all_uses_with(kept)
        b.block.erase_op(load.op)


def _cell(b: OpBuilder, buffer: SSAValue, load: _Load, lanes: Sequence[int]) -> SSAValue:
    """The location of what is loaded in one iteration of the loops."""
    index: SSAValue | None = None
    for loop in load.loops:
        if index is not None:
            index = b.put(tg.MulOp(index, b.index_constant(known_index(loop.bound) or 1)))
        index = loop.result if index is None else b.put(tg.AddOp(index, loop.result))
    assert index is not None
    if lanes:
        (count,) = lanes
        index = b.put(tg.MulOp(index, b.index_constant(count)))
        index = b.put(tg.AddOp(b.put(tg.VConstOp(range(count))), index))
    return b.put(tg.IndexOp(buffer, [index]))
