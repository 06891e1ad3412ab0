"""A stable merge sort of unsigned keys along rows, for devices that run many work items at once.

One kernel sorts blocks of a row by ranks, and then each pass merges pairs of blocks. A work item
finds where a run of the result begins by a binary search along a diagonal of the two blocks (O.
Green, R. McColl and D. Bader, "GPU merge path", 2012), and merges that run.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from xdsl.ir import SSAValue

from tgdialect.kernels.radix_sort import COUNT
from tgdialect.kernels.writer import FunctionWriter, KernelWriter, Library
from tgdialect.ops import tg

BLOCK = 128
"""The cells of the blocks that the first kernel sorts, each by comparing it with all of its block.
A warp reads the same cell at once, so that they cost less than the seven merges that they
replace. A power of two."""
RUN = 16
"""The neighbouring places that a work item fills after one search. Fewer: more searches, whose
loads are far apart; more: too few work items. A power of two, which divides BLOCK."""


@cache
def block_kernel(bits: int, rows: int, n: int) -> tg.KernelOp:
    """Sort each block of BLOCK cells of each row.

    Parameters: the new keys and positions and the old ones, each of shape (rows, n), keys of `bits`
    bits and positions of u32.
    """
    w = KernelWriter(f"sort_blocks_{bits}_{rows}_{n}")
    to_keys, to_positions, keys, positions = _arrays(w, bits, rows, n)
    row, place = w.loop(rows, in_order=False), w.loop(n, in_order=False)
    start = place - (place & BLOCK - 1)
    key = w.load(keys, row, place)
    # The rank of a key is the number of keys before it.
    rank = w.left_by(w.own(tg.INDEX, 1), row, place)
    cleared = w.store(rank, (0,), 0)
    step = w.loop(BLOCK)
    other = start + step
    found = w.load(keys, row, other.least(w.number(n - 1)))
    is_before = (found < key) | (found.eq(key) & (other < place))
    counts = (other < n) & is_before
    now = w.left_by(rank, cleared, step)
    counted = w.end(step, w.store(now, (0,), w.load(now, 0) + counts.where(w.number(1), 0)))
    to = start + w.load(w.left_by(rank, counted), 0)
    stores = (
        w.store(to_keys, (row, to), key),
        w.store(to_positions, (row, to), w.load(positions, row, place)),
    )
    return w.finish([w.end((row, place), *stores)])


@cache
def merge_kernel(bits: int, rows: int, n: int) -> tg.KernelOp:
    """Merge each pair of sorted blocks of each row.

    Parameters: the size of a block, a power of two from RUN on; how often an interval of as many
    places is halved until it is empty; the new keys and positions and the old ones, each of shape
    (rows, n), keys of `bits` bits and positions of u32.
    """
    w = KernelWriter(f"merge_{bits}_{rows}_{n}")
    size, halvings = w.size(), w.size()
    to_keys, to_positions, keys, positions = _arrays(w, bits, rows, n)
    one, length = w.number(1), w.number(n)
    row, run = w.loop(rows, in_order=False), w.loop(-(-n // RUN), in_order=False)
    place = run * RUN
    # The blocks are `start .. middle` and `middle .. end`, and this is place k of the result.
    pair = size * 2
    k = place & pair - 1
    start = place - k
    middle, end = (start + size).least(length), (start + pair).least(length)
    # How many of the first k keys come from the first block: it is in `low .. high`.
    taken = w.left_by(w.own(tg.INDEX, 2), row, run)  # These two numbers.
    low, high = w.number(0).applied("max", k - (end - middle)), k.least(middle - start)
    begun = w.store(taken, (0,), low), w.store(taken, (1,), high)
    halving = w.loop(halvings)
    now = w.left_by(taken, *begun, halving)
    first, last = w.load(now, 0), w.load(now, 1)
    i = (first + last) // 2
    mine, other = w.load(keys, row, start + i), w.load(keys, row, middle + (k - 1 - i))
    # Of equal keys, that of the first block comes first.
    is_open, goes = first < last, other < mine
    halved = w.end(
        halving,
        w.store(now, (0,), (is_open & ~goes).where(i + 1, first)),
        w.store(now, (1,), (is_open & goes).where(i, last)),
    )
    # Merge from there: `taken` is how many of each block have been taken.
    i = w.load(w.left_by(taken, halved), 0)
    second = w.store(taken, (1,), k - i)
    step = w.loop(RUN)
    now = w.left_by(taken, halved, second, step)
    first, last = w.load(now, 0), w.load(now, 1)
    a, b = start + first, middle + last
    is_before = ~(w.load(keys, row, b) < w.load(keys, row, a))
    is_first = (a < middle) & ((b >= end) | is_before)
    at, to = is_first.where(a, b), place + step
    merged = w.end(
        step,
        w.store(to_keys, (row, to), w.load(keys, row, at), to < n),
        w.store(to_positions, (row, to), w.load(positions, row, at), to < n),
        w.store(now, (0,), first + is_first.where(one, 0)),
        w.store(now, (1,), last + is_first.where(w.number(0), one)),
    )
    return w.finish([w.end((row, run), merged)])


def _arrays(w: KernelWriter, bits: int, rows: int, n: int) -> tuple[SSAValue, ...]:
    """The next parameters: new keys and positions, and the old ones."""
    return tuple(w.array(dtype, rows, n) for dtype in (tg.unsigned(bits), COUNT) * 2)


def merge_argsort(library: Library, keys: SSAValue, positions: SSAValue) -> tg.FunctionOp:
    """A FUNCTION from unsigned keys and positions of u32, both of shape (rows, n), to the positions
    in the order of the keys of their row."""
    w = FunctionWriter([keys, positions], library)
    rows, n = tg.tensor(keys).get_shape()
    key_type, bits = tg.tensor(keys).element_type, tg.dtype_of(keys).bits
    here = tuple(w.stored(value) for value in w.parameters)
    there = w.memory(key_type, rows, n), w.memory(COUNT, rows, n)
    calls: list[tuple[tg.KernelOp, Sequence[int]]] = [(block_kernel(bits, rows, n), ())]
    for level in range(BLOCK.bit_length() - 1, (n - 1).bit_length()):
        calls.append((merge_kernel(bits, rows, n), (1 << level, level + 1)))
    for kernel, numbers in calls:
        call = w.call(kernel, *map(w.const, numbers), *there, *here)
        here, there = tuple(w.left_by(memory, call) for memory in there), here
    return w.finish([here[1]])
