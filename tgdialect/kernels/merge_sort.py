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
from tgdialect.ops.dtypes import INDEX, unsigned
from tgdialect.ops.properties import dtype_of, tensor

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
    one = w.const(1)
    row, place = w.loop(rows, in_order=False), w.loop(n, in_order=False)
    start = w.emit(tg.SubOp, place, w.emit(tg.AndOp, place, w.const(BLOCK - 1)))
    key = w.load(keys, row, place)
    # The rank of a key is the number of keys before it.
    rank = w.left_by(w.own(INDEX, 1), row, place)
    cleared = w.store(rank, (w.const(0),), w.const(0))
    step = w.loop(BLOCK)
    other = w.emit(tg.AddOp, start, step)
    last = _least(w, other, w.const(n - 1))
    found = w.load(keys, row, last)
    is_earlier = w.emit(tg.AndOp, w.emit(tg.CmpEqOp, found, key), w.emit(tg.CmpLtOp, other, place))
    is_before = w.emit(tg.OrOp, w.emit(tg.CmpLtOp, found, key), is_earlier)
    counts = w.emit(tg.AndOp, w.emit(tg.CmpLtOp, other, w.const(n)), is_before)
    now = w.left_by(rank, cleared, step)
    added = w.emit(tg.AddOp, w.load(now, w.const(0)), w.emit(tg.WhereOp, counts, one, w.const(0)))
    counted = w.end(step, w.store(now, (w.const(0),), added))
    to = w.emit(tg.AddOp, start, w.load(w.left_by(rank, counted), w.const(0)))
    stores = [
        w.store(to_keys, (row, to), key),
        w.store(to_positions, (row, to), w.load(positions, row, place)),
    ]
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
    zero, one, two, length = (w.const(number) for number in (0, 1, 2, n))

    row, run = w.loop(rows, in_order=False), w.loop(-(-n // RUN), in_order=False)
    place = w.emit(tg.MulOp, run, w.const(RUN))
    # The blocks are `start .. middle` and `middle .. end`, and this is place k of the result.
    pair = w.emit(tg.MulOp, size, two)
    k = w.emit(tg.AndOp, place, w.emit(tg.SubOp, pair, one))
    start = w.emit(tg.SubOp, place, k)
    middle = _least(w, w.emit(tg.AddOp, start, size), length)
    end = _least(w, w.emit(tg.AddOp, start, pair), length)
    # How many of the first k keys come from the first block: it is in `low .. high`.
    taken = w.left_by(w.own(INDEX, 2), row, run)  # These two numbers.
    least = w.emit(tg.MaxOp, zero, w.emit(tg.SubOp, k, w.emit(tg.SubOp, end, middle)))
    begun = [
        w.store(taken, (zero,), least),
        w.store(taken, (one,), _least(w, k, w.emit(tg.SubOp, middle, start))),
    ]
    halving = w.loop(halvings)
    now = w.left_by(taken, *begun, halving)
    first, last = w.load(now, zero), w.load(now, one)
    i = w.emit(tg.IDivOp, w.emit(tg.AddOp, first, last), two)
    j = w.emit(tg.SubOp, w.emit(tg.SubOp, k, one), i)
    mine = w.load(keys, row, w.emit(tg.AddOp, start, i))
    other = w.load(keys, row, w.emit(tg.AddOp, middle, j))
    is_open = w.emit(tg.CmpLtOp, first, last)
    # Of equal keys, that of the first block comes first.
    comes = w.emit(tg.AndOp, is_open, w.emit(tg.NotOp, w.emit(tg.CmpLtOp, other, mine)))
    goes = w.emit(tg.AndOp, is_open, w.emit(tg.CmpLtOp, other, mine))
    halved = w.end(
        halving,
        w.store(now, (zero,), w.emit(tg.WhereOp, comes, w.emit(tg.AddOp, i, one), first)),
        w.store(now, (one,), w.emit(tg.WhereOp, goes, i, last)),
    )
    # Merge from there: `taken` is how many of each block have been taken.
    i = w.load(w.left_by(taken, halved), zero)
    second = w.store(taken, (one,), w.emit(tg.SubOp, k, i))
    step = w.loop(RUN)
    now = w.left_by(taken, halved, second, step)
    first, last = w.load(now, zero), w.load(now, one)
    a, b = w.emit(tg.AddOp, start, first), w.emit(tg.AddOp, middle, last)
    is_sole = w.emit(tg.CmpGeOp, b, end)
    is_before = w.emit(tg.NotOp, w.emit(tg.CmpLtOp, w.load(keys, row, b), w.load(keys, row, a)))
    is_first = w.emit(tg.AndOp, w.emit(tg.CmpLtOp, a, middle), w.emit(tg.OrOp, is_sole, is_before))
    at, to = w.emit(tg.WhereOp, is_first, a, b), w.emit(tg.AddOp, place, step)
    is_there = w.emit(tg.CmpLtOp, to, length)
    merged = w.end(
        step,
        w.store(to_keys, (row, to), w.load(keys, row, at), is_there),
        w.store(to_positions, (row, to), w.load(positions, row, at), is_there),
        w.store(now, (zero,), w.emit(tg.AddOp, first, w.emit(tg.WhereOp, is_first, one, zero))),
        w.store(now, (one,), w.emit(tg.AddOp, last, w.emit(tg.WhereOp, is_first, zero, one))),
    )
    return w.finish([w.end((row, run), merged)])


def _arrays(w: KernelWriter, bits: int, rows: int, n: int) -> tuple[SSAValue, ...]:
    """The next parameters: new keys and positions, and the old ones."""
    return tuple(w.array(dtype, rows, n) for dtype in (unsigned(bits), COUNT) * 2)


def _least(w: KernelWriter, a: SSAValue, b: SSAValue) -> SSAValue:
    return w.emit(tg.WhereOp, w.emit(tg.CmpLtOp, a, b), a, b)


def merge_argsort(library: Library, keys: SSAValue, positions: SSAValue) -> tg.FunctionOp:
    """A FUNCTION from unsigned keys and positions of u32, both of shape (rows, n), to the positions
    in the order of the keys of their row."""
    w = FunctionWriter([keys, positions], library)
    rows, n = tensor(keys).get_shape()
    key_type, bits = tensor(keys).element_type, dtype_of(keys).bits
    here = tuple(w.stored(value) for value in w.parameters)
    there = w.memory(key_type, rows, n), w.memory(COUNT, rows, n)
    calls: list[tuple[tg.KernelOp, Sequence[int]]] = [(block_kernel(bits, rows, n), ())]
    for level in range(BLOCK.bit_length() - 1, (n - 1).bit_length()):
        calls.append((merge_kernel(bits, rows, n), (1 << level, level + 1)))
    for kernel, numbers in calls:
        call = w.call(kernel, *map(w.const, numbers), *there, *here)
        here, there = tuple(w.left_by(memory, call) for memory in there), here
    return w.finish([here[1]])
