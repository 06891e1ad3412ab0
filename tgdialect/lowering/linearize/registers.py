"""Buffers of which each work item accesses cells of its own become registers.

The accumulators of a blocked reduction have a cell for each work item and element of its register
tile, and REG buffers of a hand-written kernel one for each of the work items that a loop is split
into. On a CPU they are memory; on a grid no other work item needs them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.affine.cells import CellNumbers
from tgdialect.analysis.affine.lanes import compact, scalar_of
from tgdialect.analysis.limits import MANY
from tgdialect.analysis.memory_order import MemoryAccess, accesses
from tgdialect.analysis.zeros import is_positive_zero
from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.kernel_memory import buffer_type, new_buffer
from tgdialect.lowering.linear_blocks import ITEMS, Nest, loops_by_depth, nest
from tgdialect.lowering.recomputation import emit_sum
from tgdialect.ops import tg
from tgdialect.transforms.dead_ops import erase_unused
from tgdialect.work_items.uniform import uniform_blocks

Terms = Mapping[SSAValue, int]


class PrivateCells(NamedTuple):
    """The cells of an access: a sum of multiples of indices, plus a number for each lane."""

    terms: Terms
    numbers: Sequence[int]


class _Digit(NamedTuple):
    """A work item index as a digit of the cell number."""

    stride: int
    extent: int


def keep_in_registers(block: Block, numbers: CellNumbers) -> None:
    """Make REG buffers, without the axes of work items, of the buffers that are private."""
    found: dict[tg.BufferOp, list[MemoryAccess]] = defaultdict(list)
    for access in accesses(block.ops):
        owner, space = access.memory.owner, tg.place(access.memory).addrspace
        if isinstance(owner, tg.BufferOp) and space is not tg.AddrSpace.GLOBAL:
            found[owner].append(access)
    places = [op for op in block.ops if isinstance(op, tg.SpecialOp)]
    bounds = [(op.result, tg.known_index(op.bound)) for op in places if op.symbol.data[0] == "l"]
    items: dict[SSAValue, int] = {index: n for index, n in bounds if n is not None}
    is_changed = False
    for buffer, same in found.items():
        cells = [cells_of(access, numbers) for access in same]
        if (private := _private(cells, items)) is not None:
            _replace(buffer, same, private, max(map(_end, private)))
            is_changed = True
    if is_changed:
        erase_unused(block)


def cells_of(access: MemoryAccess, numbers: CellNumbers) -> PrivateCells | None:
    """The cells of an access; None where its index is not a sum of multiples of indices."""
    if (found := numbers[access]) is None:
        return None
    terms: dict[SSAValue, int] = {}
    for product, factor in found.shared.terms.items():
        if len(product) != 1 or not isinstance(value := product[0], SSAValue):
            return None
        terms[value] = factor
    return PrivateCells(terms, found.lanes)


def _private(
    cells: Sequence[PrivateCells | None], items: Mapping[SSAValue, int]
) -> Sequence[PrivateCells] | None:
    """The cells of each access without the digits that work item indices are, which are the same in
    all; None where a work item may access a cell of another."""
    strides: Terms | None = None
    own: list[PrivateCells] = []
    for each in cells:
        if each is None:
            return None
        here = {value: factor for value, factor in each.terms.items() if value in items}
        if strides is not None and here != strides:
            return None
        strides = here
        rest = {value: factor for value, factor in each.terms.items() if value not in items}
        own.append(PrivateCells(rest, each.numbers))
    if not strides or any(extent > 1 and value not in strides for value, extent in items.items()):
        return None
    digits = sorted(_Digit(stride, items[value]) for value, stride in strides.items())
    for digit in reversed(digits):
        new = [_without(digit, each) for each in own]
        own = [each for each in new if each is not None]
        if len(own) < len(new):
            return None
    return own


def _end(cells: PrivateCells) -> int:
    """The number after the greatest of some cells."""
    extents = {value: _extent(value) or 1 for value in cells.terms}
    return 1 + max(cells.numbers) + sum(f * (extents[v] - 1) for v, f in cells.terms.items())


def _extent(value: SSAValue) -> int | None:
    """The extent of a loop; None where it is dynamic, and of other values."""
    return tg.known_index(value.owner.bound) if isinstance(value.owner, tg.RangeOp) else None


def _without(digit: _Digit, cells: PrivateCells) -> PrivateCells | None:
    """Cells whose number lacks a digit; None unless all lower digits are less than its stride."""
    above = digit.stride * digit.extent
    low, terms = 0, dict[SSAValue, int]()
    for value, factor in cells.terms.items():
        if (extent := _extent(value)) is None or factor < 0:
            return None
        if factor >= above and factor % above == 0:
            terms[value] = factor // digit.extent
            continue
        low += factor * (extent - 1)
        terms[value] = factor
    lowest = [number % above for number in cells.numbers]
    if min(cells.numbers) < 0 or low + max(lowest) >= digit.stride:
        return None
    numbers = [n // above * digit.stride + n % above for n in cells.numbers]
    return PrivateCells(terms, compact(numbers))


def _replace(
    buffer: tg.BufferOp, same: Sequence[MemoryAccess], cells: Sequence[PrivateCells], size: int
) -> None:
    """Replace a buffer by a REG buffer of so many cells."""
    dtype = tg.tensor(buffer.result).element_type
    where = buffer_type(dtype, (size,), tg.AddrSpace.REG)
    front = tg.OpBuilder.before(buffer)
    memory = front.put(tg.BufferOp(buffer.slot.data, where))
    memory.name_hint = buffer.result.name_hint
    constant: dict[Sequence[int], SSAValue] = {}
    """By the numbers of cells that no loop decides, their location."""
    for access, (terms, numbers) in zip(same, cells, strict=True):
        is_vector = bool(tg.tensor(access.location).get_shape())
        if terms:
            here = tg.OpBuilder.before(access.op)
            location = _location(here, memory, terms, numbers, is_vector=is_vector)
        elif (location := constant.get(numbers)) is None:
            location = _location(front, memory, terms, numbers, is_vector=is_vector)
            constant[numbers] = location
        access.op.operands[0] = location
    _clear_at_once(memory, same, cells, size)


def _location(
    b: tg.OpBuilder, memory: SSAValue, terms: Terms, numbers: Sequence[int], *, is_vector: bool
) -> SSAValue:
    """The cells of an access as an INDEX."""
    total = emit_sum(b, tg.Affine({(value,): factor for value, factor in terms.items()}))
    index = b.put(tg.VConstOp(numbers)) if is_vector else b.index_constant(numbers[0])
    if terms:
        index = b.put(tg.AddOp(*((index, total) if is_vector else (total, index))))
    return b.put(tg.IndexOp(memory, [index]))


def _clear_at_once(
    memory: SSAValue, same: Sequence[MemoryAccess], cells: Sequence[PrivateCells], size: int
) -> None:
    """Make one STORE of those that write 0 to all cells, one after the other.

    rewrite: `store %b[0], %zero; store %b[1], %zero` -> `store %b, %zeros`
    """
    begin = 0
    while begin < len(same):
        end, left = begin, set(range(size))
        zero: SSAValue | None = None
        while end < len(same) and left and not cells[end].terms and (new := _zero_of(same[end])):
            zero = new
            left -= {*cells[end].numbers}
            end += 1
        stores = [access.op for access in same[begin:end]]
        if zero is not None and not left and len(stores) > 1 and _are_in_one_block(stores):
            b = tg.OpBuilder.before(stores[-1])
            zeros = b.put(tg.ExpandOp(b.put(tg.ReshapeOp(zero, [1])), [size]))
            cleared = b.put(tg.StoreOp(memory, zeros))
            for op in stores:
                op.results[0].replace_all_uses_with(cleared)
                tg.OpBuilder.before(op).block.erase_op(op)
        begin = max(end, begin + 1)


def _zero_of(access: MemoryAccess) -> SSAValue | None:
    """The scalar +0 that an access writes to all of its lanes; None for other accesses."""
    op = access.op
    scalar = scalar_of(op.value) if isinstance(op, tg.StoreOp) and op.gate is None else None
    return scalar if scalar is not None and is_positive_zero(scalar) else None


def _are_in_one_block(ops: Sequence[Operation]) -> bool:
    """Whether no loop or IF begins or ends between ops that come one after the other."""
    op: Operation | None = ops[0]
    while op is not None and op is not ops[-1]:
        if isinstance(op, tg.RangeOp | tg.EndOp | tg.IfOp | tg.EndIfOp):
            return False
        op = op.next_op
    return True


# -- rows that several loops load ------------------------------------------------------------------

# Rows that several loops load from GLOBAL memory are loaded once, and kept in registers.
#
#     range %k; %v = load x[%k + ...]; ...; end %k; range %j; %w = load x[%j + ...]; ...
#     ->
#     range %k; %v = load x[%k + ...]; store r[%k], %v; ...; end %k; range %j; %w = load r[%j]; ...
#
# The maximum of a row and the exponentials of a softmax are in two such loops. A work item has the
# same cells in both, because both are split alike.


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
    of_global = [a for a in found if tg.place(a.memory).addrspace is tg.AddrSpace.GLOBAL]
    written = {access.memory for access in of_global if access.writes}
    if aliased and written:
        return
    around = tg.nesting(ops_of(block))
    groups: dict[object, list[_Load]] = defaultdict(list)
    for access in of_global:
        if access.memory not in written and (load := _load(access, around, numbers)) is not None:
            groups[load.key].append(load)
    left = MOST_BYTES
    for first, *others in groups.values():
        again = [other for other in others if _is_later(first, other)]
        bytes = _cells(first) * tg.dtype_of(first.op.result).itemsize
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
    own, extents = [loop.result for loop in loops], [tg.known_index(loop.bound) for loop in loops]
    if not loops or any(extent is None or extent > MANY for extent in extents):
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
    extents = [tg.known_index(loop.bound) or 1 for loop in load.loops]
    return math.prod(extents) * math.prod(tg.tensor(load.op.result).get_shape())


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
    type, lanes = tg.tensor(value).element_type, tg.tensor(value).get_shape()
    root = first.around[0]
    buffer = new_buffer(tg.OpBuilder.before(root), type, (_cells(first),), tg.AddrSpace.REG)
    b = tg.OpBuilder.after(first.op)
    b.insert(tg.StoreOp(_cell(b, buffer, first, lanes), value))
    for load in again:
        b = tg.OpBuilder.before(load.op)
        kept = b.put(tg.LoadOp(_cell(b, buffer, load, lanes)))
        load.op.result.replace_all_uses_with(kept)
        b.block.erase_op(load.op)


def _cell(b: tg.OpBuilder, buffer: SSAValue, load: _Load, lanes: Sequence[int]) -> SSAValue:
    """The location of what is loaded in one iteration of the loops."""
    index: SSAValue | None = None
    for loop in load.loops:
        if index is not None:
            index = b.put(tg.MulOp(index, b.index_constant(tg.known_index(loop.bound) or 1)))
        index = loop.result if index is None else b.put(tg.AddOp(index, loop.result))
    assert index is not None
    if lanes:
        (count,) = lanes
        index = b.put(tg.MulOp(index, b.index_constant(count)))
        index = b.put(tg.AddOp(b.put(tg.VConstOp(range(count))), index))
    return b.put(tg.IndexOp(buffer, [index]))


# -- registers that work items share ---------------------------------------------------------------

# REG buffers that a work item reads after others wrote them become LOCAL buffers.
#
# Outside of the loops over work items a value is in registers of each of them. A REG buffer that is
# written inside such loops and read outside stays one if all work items write the same to it.


def share_registers(block: Block, around: Mapping[Operation, Sequence[Operation]]) -> None:
    """Make LOCAL buffers of the REG buffers that work items share. `around` has the blocks that
    each op is in."""
    uses: dict[SSAValue, list[MemoryAccess]] = defaultdict(list)
    for access in accesses(block.ops):
        if tg.place(access.memory).addrspace is tg.AddrSpace.REG:
            uses[access.memory].append(access)
    alike = uniform_blocks(block.ops if uses else ())
    extents = [{tg.known_index(r.bound) for r in same} for same in loops_by_depth(around, ITEMS)]
    for memory, same in uses.items():
        nests = [nest(around[access.op], ITEMS) for access in same]
        written = max((n for n, a in zip(nests, same, strict=True) if a.writes), key=len)
        if all(each[: len(written)] == written for each in nests):
            continue
        writes = [(n, a.op.operands[1]) for n, a in zip(nests, same, strict=True) if a.writes]
        values = [value if each == written else None for each, value in writes]
        size = min(0 if value is None else alike.get(value, 1) for value in values)
        if _have_alike(written, nests, extents, size):
            continue
        if common := {*nests[0]}.intersection(*nests):
            numbers = ", ".join(str(range.axis.data) for range in common)
            message = (
                f"the work items of range {numbers} each have a REG buffer that others write "
                "to: it would have to be shared by some of them"
            )
            raise locate(PassFailedException(message), same[0].op)
        owner = memory.owner
        assert isinstance(owner, tg.BufferOp)
        _move_to(owner, tg.AddrSpace.LOCAL)


def _have_alike(
    written: Nest, nests: Sequence[Nest], extents: Sequence[set[int | None]], size: int
) -> bool:
    """Whether all work items that read a buffer outside of the loops in which it is written have
    written it, and all of them the same: these loops are whole axes, the innermost ones, and blocks
    of `size` neighbours write the same value."""
    shared = min(_common(each, written) for each in nests)
    inner = extents[shared:]
    if len(written) < len(extents) or any(len(each) > 1 for each in inner):
        return False
    count = math.prod(extent or 0 for each in inner for extent in each)
    return count > 0 and size % count == 0 < size


def _common(a: Nest, b: Nest) -> int:
    """How many of the outermost loops two nests share."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], zip(a, b, strict=False)))


def _move_to(buffer: tg.BufferOp, space: tg.AddrSpace) -> None:
    """Put a buffer into another address space, and its views."""
    type = tg.tensor(buffer.result)
    where = buffer_type(type.element_type, type.get_shape(), space)
    walk: tg.Walk[tg.BufferOp | tg.MovementOp] = tg.Walk([buffer])
    for old in walk:
        moved = isinstance(old, tg.MovementOp)
        new = old.rebuild(old.operands) if moved else tg.BufferOp(old.slot.data, where)
        builder = tg.OpBuilder.before(old)
        value = builder.put(new)
        value.name_hint = old.results[0].name_hint
        for use in list(old.results[0].uses):
            use.operation.operands[use.index] = value
            if isinstance(use.operation, tg.MovementOp) and use.index == 0:
                walk.add([use.operation])
        builder.block.erase_op(old)
