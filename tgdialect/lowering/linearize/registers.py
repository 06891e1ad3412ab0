"""LOCAL buffers of which each work item accesses cells of its own become registers.

The accumulators of a blocked reduction have a cell for each work item and element of its register
tile. On a CPU they are memory; on a grid no other work item needs them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xdsl.ir import Block, SSAValue

from tgdialect.analysis.affine.lanes import lane_indices
from tgdialect.analysis.memory_order import MemoryAccess, accesses
from tgdialect.ops.attributes import AddrSpace, PlaceAttr
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.codegen import SpecialOp
from tgdialect.ops.elementwise import AddOp, MulOp
from tgdialect.ops.movement import IndexOp
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.properties import known_index, place, polynomial, tensor, tensor_type
from tgdialect.ops.source import BufferOp, VConstOp

Terms = Mapping[SSAValue, int]


class PrivateCells(NamedTuple):
    """The cells of an access: a sum of multiples of indices, plus a number for each lane."""

    terms: Terms
    numbers: Sequence[int]


class _Digit(NamedTuple):
    """A work item index as a digit of the cell number."""

    stride: int
    extent: int


def keep_in_registers(block: Block) -> None:
    """Make REG buffers, without the axes of work items, of the LOCAL buffers that are private."""
    found: dict[BufferOp, list[MemoryAccess]] = defaultdict(list)
    for access in accesses(block.ops):
        owner = access.memory.owner
        if isinstance(owner, BufferOp) and place(access.memory).addrspace is AddrSpace.LOCAL:
            found[owner].append(access)
    items: dict[SSAValue, int] = {
        op.result: extent
        for op in block.ops
        if isinstance(op, SpecialOp)
        and op.symbol.data.startswith("lidx")
        and (extent := known_index(op.bound)) is not None
    }
    for buffer, same in found.items():
        cells = [cells_of(access) for access in same]
        if (private := _private(cells, items)) is not None:
            size = max(map(_end, private))
            _replace(buffer, same, private, size)


def cells_of(access: MemoryAccess) -> PrivateCells | None:
    """The cells of an access; None where its index is not a sum of multiples of indices."""
    index = access.location.owner
    if not isinstance(index, IndexOp):
        return None
    (position,) = index.indices
    if not tensor(position).get_shape():
        total, numbers = polynomial(position), [0]
    elif (vector := lane_indices(position)) is not None:
        total, numbers = polynomial(0), vector.numbers
        for value, factor in vector.scalars.terms.items():
            total += polynomial(value) * factor
    else:
        return None
    terms: dict[SSAValue, int] = {}
    for product, factor in total.terms.items():
        if len(product) != 1 or not isinstance(value := product[0], SSAValue):
            return None
        terms[value] = factor
    return PrivateCells(terms, [total.constant + number for number in numbers])


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
    return known_index(value.owner.bound) if isinstance(value.owner, RangeOp) else None


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
    return PrivateCells(terms, numbers)


def _replace(
    buffer: BufferOp, same: Sequence[MemoryAccess], cells: Sequence[PrivateCells], size: int
) -> None:
    """Replace a LOCAL buffer by a REG buffer of so many cells."""
    dtype = tensor(buffer.result).element_type
    where = tensor_type(dtype, (size,), PlaceAttr.of(addrspace=AddrSpace.REG))
    memory = OpBuilder.before(buffer).put(BufferOp(buffer.slot.data, where))
    memory.name_hint = buffer.result.name_hint
    for access, (terms, numbers) in zip(same, cells, strict=True):
        b = OpBuilder.before(access.op)
        total: SSAValue | None = None
        for value, factor in terms.items():
            term = value if factor == 1 else b.put(MulOp(value, b.index_constant(factor)))
            total = term if total is None else b.put(AddOp(total, term))
        if tensor(access.location).get_shape():
            index = b.put(VConstOp(numbers))
            index = index if total is None else b.put(AddOp(index, total))
        else:
            index = b.index_constant(numbers[0])
            index = index if total is None else b.put(AddOp(total, index))
        access.op.operands[0] = b.put(IndexOp(memory, [index]))
    # Views of the old buffer, and the buffer itself, have no users any more.
    stack = [buffer.result]
    while stack:
        value = stack.pop()
        users = [use.operation for use in value.uses]
        if users:
            stack += [value, *(user.results[0] for user in users)]
        elif (owner := value.owner).parent is not None:
            owner.parent.erase_op(owner)
