"""Which LOCAL buffers have to be cleared: BUFFERs are zero at first."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise

from xdsl.ir import Block, Operation, SSAValue

from tgdialect.analysis.affine.cells import CellNumber, CellNumbers
from tgdialect.analysis.memory_order import MemoryAccess, accesses
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg


def uncovered(block: Block, numbers: CellNumbers) -> Iterator[tg.BufferOp]:
    """The LOCAL buffers of a LINEAR of which some cell may be read before it is stored."""
    found: dict[tg.BufferOp, list[MemoryAccess]] = defaultdict(list)
    for access in accesses(block.ops):
        owner = access.memory.owner
        if (
            isinstance(owner, tg.BufferOp)
            and tg.place(access.memory).addrspace is tg.AddrSpace.LOCAL
        ):
            found[owner].append(access)
    around = tg.nesting(ops_of(block)) if found else {}
    for buffer, same in found.items():
        first = list(_stored_first(same, around))
        stores = _cells(((access, around[access.op]) for access in first), numbers)
        reads = _cells(((access, ()) for access in same if access.reads), numbers)
        size = math.prod(tg.tensor(buffer.result).get_shape()) * tg.dtype_of(buffer.result).itemsize
        covered = stores is not None and any(_covers(stored, reads, size) for stored in stores)
        if not covered or not _are_in_step(first, same, around, numbers):
            yield buffer


def _stored_first(
    same: Sequence[MemoryAccess], around: Mapping[Operation, Sequence[Operation]]
) -> Iterator[MemoryAccess]:
    """The accesses before the first that does not always store the same cells."""
    # Where a loop around all accesses has no iterations, nothing is read.
    shared = set(around[same[0].op]).intersection(*(around[access.op] for access in same))
    for access in same:
        if not _is_always_stored(access, around[access.op], shared):
            return
        yield access


def _is_always_stored(
    access: MemoryAccess, around: Sequence[Operation], shared: Set[Operation]
) -> bool:
    """Whether each workgroup stores the same cells: none are left out by a gate, a loop that may
    have no iterations and is not `shared` by all accesses, or the number of the workgroup."""
    if not isinstance(access.op, tg.StoreOp) or access.op.gate is not None:
        return False
    numbers = [access.location.owner, *(op.gate.owner for op in around if isinstance(op, tg.IfOp))]
    sources = {op for number in numbers if isinstance(number, Operation) for op in _indices(number)}
    return not any(
        isinstance(op, tg.SpecialOp) and op.symbol.data[0] == "g" for op in sources
    ) and all(
        tg.known_index(op.bound) is not None
        for op in around
        if isinstance(op, tg.RangeOp) and op not in shared
    )


def _indices(op: Operation) -> Iterator[Operation]:
    """The ops that the indices of a location, or a gate, are computed from."""
    return tg.computed_from(*(op.indices if isinstance(op, tg.IndexOp) else op.operands))


def _are_in_step(
    stores: Sequence[MemoryAccess],
    same: Sequence[MemoryAccess],
    around: Mapping[Operation, Sequence[Operation]],
    numbers: CellNumbers,
) -> bool:
    """Whether no read needs a cell that a later iteration stores: the loops that it shares with a
    store move the cells of both alike."""
    cells = {access.op: _ramp(access, numbers) for access in same}
    loops = {
        access.op: {op.result for op in around[access.op] if isinstance(op, tg.RangeOp)}
        for access in same
    }
    reads = [access for access in same if access.reads]
    for store, read in itertools.product(stores, reads):
        if not (shared := loops[store.op] & loops[read.op]):
            continue
        stored, wanted = cells[store.op], cells[read.op]
        if stored is None or wanted is None:
            return False
        moves, moved = (
            each.shared * tg.dtype_of(access.location).itemsize
            for access, each in ((store, stored), (read, wanted))
        )
        if any(
            moved.terms.get(term) != factor
            for term, factor in moves.terms.items()
            if not shared.isdisjoint(term)
        ):
            return False
    return True


Digits = Sequence[tuple[int, int]]
"""The digits of the number of a byte, the lowest first: of each its stride and its extent."""


def _covers(stored: Digits, reads: Sequence[Digits] | None, size: int) -> bool:
    """Whether the cells that are read have been stored: all have, or the digits of those that are
    read are among the digits of the others."""
    if stored == ((1, size),):
        return True
    extents = dict(stored)
    return reads is not None and all(
        extents.get(stride, 1) >= extent for read in reads for stride, extent in read
    )


def _cells(
    accesses: Iterable[tuple[MemoryAccess, Sequence[Operation]]], numbers: CellNumbers
) -> Sequence[Digits] | None:
    """The digits of the bytes that accesses are of, each with the blocks around it, over all work
    items and all iterations of loops; None where an index has another form."""
    found: dict[Digits, set[int]] = defaultdict(set)
    for access, around in accesses:
        if (each := _digits(access, around, numbers)) is None:
            return None
        digits, constant = each
        found[digits].add(constant)
    _join(found)
    result: list[Digits] = []
    for digits, constants in found.items():
        if (own := _digits_of(sorted(constants))) is None:
            return None
        result.append(_merged(sorted([*digits, *own])))
    return result


def _join(found: dict[Digits, set[int]]) -> None:
    """Count cells that differ by one digit as further constants of those that lack it.

    A pipeline fills its first buffers in a loop, and the last one in the loop that reads them all.
    """
    for digits in sorted(found, key=len, reverse=True):
        for at, (stride, extent) in enumerate(digits):
            if (others := (*digits[:at], *digits[at + 1 :])) in found:
                steps = range(0, stride * extent, stride)
                found[others].update(first + step for first in found.pop(digits) for step in steps)
                break


def _digits_of(numbers: Sequence[int]) -> Digits | None:
    """The digits of constants, which are in order; None if they have no digits, or a first number
    that is not 0."""
    if numbers[0]:
        return None
    found: list[tuple[int, int]] = []
    while len(numbers) > 1:
        step = numbers[1]
        count = next((i for i, number in enumerate(numbers) if number != i * step), len(numbers))
        heads = numbers[::count]
        if list(numbers) != [head + i * step for head in heads for i in range(count)]:
            return None
        found.append((step, count))
        numbers = heads
    return found


def _digits(
    access: MemoryAccess, around: Sequence[Operation], numbers: CellNumbers
) -> tuple[Digits, int] | None:
    """The digits of the bytes that one access is of, and the number of the first."""
    limits, cells = _limits(around, numbers), _ramp(access, numbers)
    if limits is None or cells is None:
        return None
    found = [(1, len(cells.lanes))]
    parts: dict[Operation, list[tuple[int, int]]] = defaultdict(list)
    swizzled: list[tuple[tg.XorOp, int]] = []
    first = cells.lanes[0]
    for product, factor in cells.shared.terms.items():
        value = product[0]
        if len(product) > 1 or not isinstance(value, SSAValue):
            return None
        axis = value.owner
        turn = _at_first(axis, numbers) if access.writes and isinstance(axis, tg.ModOp) else None
        if turn is not None:
            # The buffers of a pipeline: of the loop that all accesses are in, the first iteration.
            first += factor * turn
            continue
        if isinstance(axis, tg.XorOp):
            swizzled.append((axis, factor))
            continue
        extent = None
        if isinstance(axis, tg.ModOp) and not access.writes:
            extent = tg.known_index(axis.operands[1])
        elif (part := _part(value)) is not None:
            index, low, high = part
            extent = high // low
            parts[index].append((low, high))
        if (extent := limits.get(value, extent)) is None:
            return None
        found.append((factor, extent))
    for op, factor in swizzled:
        if (part := _permuted(op, parts)) is None:
            return None
        index, low, high = part
        parts[index].append((low, high))
        found.append((factor, high // low))
    # Parts of one index are independent if they have no digit of it in common.
    for same in map(sorted, parts.values()):
        if any(high > low for (_, high), (low, _) in pairwise(same)):
            return None
    # A view may have wider cells.
    bytes = tg.dtype_of(access.location).itemsize
    return ((1, bytes), *sorted((bytes * at, extent) for at, extent in found)), bytes * first


def _ramp(access: MemoryAccess, numbers: CellNumbers) -> CellNumber | None:
    """The cells of an access if they are neighbours; None for others."""
    found = numbers[access]
    return found if found is not None and found.is_ramp else None


def _at_first(op: tg.ModOp, numbers: CellNumbers) -> int | None:
    """The remainder in the first iteration of the loops that it depends on; None if it depends on
    anything else."""
    dividend, modulus = numbers.polynomial(op.operands[0]), tg.known_index(op.operands[1])
    loops = [value for product in dividend.terms for value in product]
    if not modulus or not all(
        isinstance(value, SSAValue) and isinstance(value.owner, tg.RangeOp) for value in loops
    ):
        return None
    return dividend.constant % modulus


def _permuted(
    op: tg.XorOp, others: Mapping[Operation, Sequence[tuple[int, int]]]
) -> tuple[tg.RangeOp | tg.SpecialOp, int, int] | None:
    """The digits of an index that an exclusive or goes through in some order, whatever the other
    operand is: those that are in no other part of the number of a cell."""
    first, second = (_part(value) for value in op.operands)
    for own, other in ((first, second), (second, first)):
        if own is None or other is None:
            return None
        (index, low, high), (another, from_, to) = own, other
        count = high // low
        is_apart = index is not another or low >= to or high <= from_
        is_permuted = count.bit_count() == 1 and to // from_ <= count and is_apart
        if is_permuted and all(low >= b or high <= a for a, b in others.get(index, ())):
            return own
    return None


def _part(value: SSAValue) -> tuple[tg.RangeOp | tg.SpecialOp, int, int] | None:
    """The digits of the index of a loop or work item that a value is: those from one place value up
    to another; None if it is made of anything else.

    `(%i / 8) mod 4` has the places from 8 to 32, and as many values as there are multiples of 8.
    """
    steps: list[tuple[Operation, int]] = []
    for step in tg.through(value, tg.ModOp, tg.IDivOp):
        if not (divisor := tg.known_index(step.operands[1])) or divisor < 0:
            return None
        steps.append((step, divisor))
    op = tg.behind(value, tg.ModOp, tg.IDivOp).owner
    extent = tg.known_index(op.bound) if isinstance(op, tg.RangeOp | tg.SpecialOp) else None
    if not isinstance(op, tg.RangeOp | tg.SpecialOp) or not extent:
        return None
    low, high = 1, extent
    for step, divisor in reversed(steps):
        if high % (low * divisor):
            return None
        low, high = (low, low * divisor) if isinstance(step, tg.ModOp) else (low * divisor, high)
    return op, low, high


def _merged(digits: Sequence[tuple[int, int]]) -> Digits:
    """Neighbouring digits as one."""
    found: list[tuple[int, int]] = []
    for stride, extent in digits:
        if extent > 1 and found and found[-1][0] * found[-1][1] == stride:
            found[-1] = (found[-1][0], found[-1][1] * extent)
        elif extent > 1:
            found.append((stride, extent))
    return tuple(found)


def _limits(around: Sequence[Operation], numbers: CellNumbers) -> Mapping[SSAValue, int] | None:
    """The extents that IFs leave of the indices of work items; None for IFs of any other kind."""
    found: dict[SSAValue, int] = {}
    for op in around:
        if not isinstance(op, tg.IfOp):
            continue
        match op.gate.owner:
            case tg.CmpLtOp(lhs=index, rhs=end) if (extent := tg.known_index(end)) is not None:
                # The first work item, in the first iterations of loops, has to be inside.
                if not 0 <= numbers.polynomial(index).constant < extent:
                    return None
                found[index] = min(extent, found.get(index, extent))
            case tg.CmpEqOp(lhs=index, rhs=number) if tg.known_index(number) == 0:
                found[index] = 1
            case _:
                return None
    return found
