"""A stable radix sort of unsigned keys along rows, least significant digit first.

Each digit place is a pass of three kernels. The first counts the digits, the second finds where the
keys with each digit begin in the sorted row, and the third moves the keys, and their positions if
there are any, to where they belong. A long row is cut into chunks, each with counts and places of
its own, and threads share rows and chunks. A row of one chunk is counted once, for all places.
Threads share only loops whose number of iterations is known, so there are kernels for each number
of rows, and for each size of several chunks.
"""

from __future__ import annotations

from functools import cache, reduce
from itertools import chain
from operator import add

from xdsl.ir import SSAValue

from tgdialect.kernels.writer import FunctionWriter, KernelWriter, Library, Value
from tgdialect.ops import tg

COUNT = tg.unsigned(32)
"""The dtype of positions and of counts."""
_WIDTHS = 8, 11
"""The bits of a digit, of rows of one chunk and of several. Wider: fewer passes over the keys;
narrower: fewer counts to clear and to add up. Keys of 32 bits take four passes of 256 digits, or
three of 2,048. One thread sorts 10^6 keys in 6.4 or 4.9 ms; with positions, both take as long."""
_PARTS = 4
"""The parts of a chunk that are counted side by side, each in counts of its own. Fewer: where
neighbours have the same digit a count waits for the STORE of the one before; more: the counts leave
L1, as those of eight do. Two threads count 10^6 keys in 0.31 ms with four parts, and in 0.41 with
one."""
_CHUNK = 1 << 18
"""The most keys of a chunk. Larger: fewer chunks for threads to share; smaller: more counts to add
up. With several chunks digits are counted before each pass and not once: two threads gained nothing
from chunks of 10^5 / 2, and 16 chunks of 10^6 took a third longer than four."""


def _parts(size: int | None) -> int:
    """In how many parts a chunk is counted."""
    return 1 if size is None else _PARTS


def _extent(w: KernelWriter, size: int | None) -> Value:
    """How many keys a chunk has: a number, or the next parameter."""
    return w.size() if size is None else w.number(size)


@cache
def count_kernel(
    bits: int, width: int, rows: int, chunks: int, places: int, size: int | None
) -> tg.KernelOp:
    """How many keys of each chunk have each digit, at one or several digit places.

    Parameters: the size of a chunk, unless it is given; the first bit of the first digit; the
    counts, of shape (rows, chunks, places * parts, 2^width) of u32, of which those of the first
    part are the result; keys of `bits` bits, of shape (rows, chunks * size).
    """
    w = KernelWriter(f"radix_count_{bits}_{width}_{rows}_{chunks}_{places}_{size or 'n'}")
    extent, shift = _extent(w, size), w.size()
    parts = _parts(size)
    counts = w.array(COUNT, rows, chunks, parts * places, 1 << width)
    keys = w.array(tg.unsigned(bits), rows, extent * chunks)
    row, chunk = w.loop(rows, in_order=False), w.loop(chunks, in_order=False)
    tables = [[part * places + place for place in range(places)] for part in range(parts)]
    digit = w.loop(1 << width)
    cells = ((row, chunk, number, digit) for number in chain(*tables))
    cleared = w.end(digit, *(w.store(counts, cell, 0) for cell in cells))
    length = extent if size is None else w.number(size // parts)
    i = w.loop(length)
    now = w.left_by(counts, cleared, i)
    start = chunk * extent
    effects: list[SSAValue] = []
    for numbers in tables:
        key = w.load(keys, row, start + i)
        start = start + length
        for place, number in enumerate(numbers):
            low = (shift + place * width).cast(tg.unsigned(bits))
            cell = row, chunk, number, key.digit(low, width)
            effects.append(w.store(now, cell, w.load(now, *cell) + 1))
    counted = w.end(i, *effects)
    if parts > 1:
        digit = w.loop(1 << width)
        now = w.left_by(counts, counted, digit)
        total = reduce(add, [w.load(now, row, chunk, number, digit) for (number,) in tables])
        counted = w.end(digit, w.store(now, (row, chunk, tables[0][0], digit), total))
    return w.finish([w.end((row, chunk), counted)])


@cache
def starts_kernel(width: int, rows: int, chunks: int, places: int, parts: int) -> tg.KernelOp:
    """Where the keys of each chunk with each digit begin in the sorted row.

    Parameter: the counts, of shape (rows, chunks, parts * places, 2^width) of u32, of which the
    starts replace those of the first part.
    """
    w = KernelWriter(f"radix_starts_{width}_{rows}_{chunks}_{places}_{parts}")
    counts = w.array(COUNT, rows, chunks, parts * places, 1 << width)
    row = w.loop(rows, in_order=False)
    sums = w.left_by(w.own(COUNT, places), row)
    zeros = [w.store(sums, (p,), 0) for p in range(places)]
    digit, chunk = w.loop(1 << width), w.loop(chunks)
    here, sums = w.left_by(counts, digit, chunk), w.left_by(sums, *zeros, digit, chunk)
    summed: list[SSAValue] = []
    for p in range(places):
        count, total = w.load(here, row, chunk, p, digit), w.load(sums, p)
        summed.append(w.store(here, (row, chunk, p, digit), total))
        summed.append(w.store(sums, (p,), total + count))
    return w.finish([w.end(row, w.end((digit, chunk), *summed))])


@cache
def pass_kernel(
    bits: int, width: int, rows: int, chunks: int, places: int, size: int | None, arrays: int
) -> tg.KernelOp:
    """Move keys, and their positions if there are two arrays, to where they belong by one digit, in
    the order in which they are.

    Parameters: the size of a chunk, unless it is given; the first bit of the digit; its number
    among the places of the starts; the new keys and positions and the old ones, each of shape
    (rows, chunks * size), keys of `bits` bits and positions of u32; the starts, of shape (rows,
    chunks, parts * places, 2^width), which it advances.
    """
    w = KernelWriter(f"radix_pass_{bits}_{width}_{rows}_{chunks}_{places}_{size or 'n'}_{arrays}")
    extent, shift, place = _extent(w, size), w.size(), w.size()
    n = extent * chunks
    dtypes = (tg.unsigned(bits), COUNT)[:arrays]
    targets, sources = ([w.array(dtype, rows, n) for dtype in dtypes] for _ in range(2))
    starts = w.array(COUNT, rows, chunks, _parts(size) * places, 1 << width)
    shift = shift.cast(tg.unsigned(bits))
    row, chunk = w.loop(rows, in_order=False), w.loop(chunks, in_order=False)
    i = w.loop(extent)
    values = [w.load(source, row, chunk * extent + i) for source in sources]
    next_places = w.left_by(starts, i)
    cell = row, chunk, place, values[0].digit(shift, width)
    start = w.load(next_places, *cell)
    to = row, start.cast(tg.INDEX)
    effects = [w.store(target, to, value) for target, value in zip(targets, values, strict=True)]
    effects.append(w.store(next_places, cell, start + 1))
    return w.finish([w.end((row, chunk), w.end(i, *effects))])


def _chunks(n: int) -> int:
    """How many chunks a row is cut into."""
    return max(1, -(-n // _CHUNK))


def extent_in_chunks(n: int) -> int:
    """The least extent of a row of n keys or more whose chunks have one size and equal parts."""
    unit = 1 if (chunks := _chunks(n)) == 1 else chunks * _PARTS
    return -(-n // unit) * unit


def radix_sort(
    library: Library, keys: SSAValue, positions: SSAValue | None = None
) -> tg.FunctionOp:
    """A FUNCTION from unsigned keys, of shape (rows, n), to the sorted keys of each row; or from
    keys and positions of u32 to the positions in the order of the keys.

    Raises:
        ValueError: for rows that `extent_in_chunks` would make longer.
    """
    rows, n = tg.tensor(keys).get_shape()
    if n != extent_in_chunks(n):
        raise ValueError(f"rows of {n} keys are not in chunks of one size")
    w = FunctionWriter([keys] if positions is None else [keys, positions], library)
    bits = tg.dtype_of(keys).bits
    chunks = _chunks(n)
    width = min(_WIDTHS[chunks > 1], bits)
    # Passes move keys from chunk to chunk, so that the chunks' digits are counted before each.
    lows = range(0, bits, width)
    places = 1 if chunks > 1 else len(lows)
    # Kernels for rows of one chunk are for any size.
    known, sizes = (None, [w.const(n)]) if chunks == 1 else (n // chunks, [])
    parts = _parts(known)
    # Two sets of keys and positions, between which the passes go back and forth.
    here = tuple(w.stored(value) for value in w.parameters)
    there = tuple(w.memory(tg.tensor(array).element_type, rows, n) for array in here)
    counts = w.memory(COUNT, rows, chunks, parts * places, 1 << width)
    for number, low in enumerate(lows):
        digit, place = (*sizes, w.const(low)), number % places
        if not place:
            kernel = count_kernel(bits, width, rows, chunks, places, known)
            counts = w.left_by(counts, w.call(kernel, *digit, counts, here[0]))
            kernel = starts_kernel(width, rows, chunks, places, parts)
            counts = w.left_by(counts, w.call(kernel, counts))
        kernel = pass_kernel(bits, width, rows, chunks, places, known, len(here))
        call = w.call(kernel, *digit, w.const(place), *there, *here, counts)
        here, there = tuple(w.left_by(memory, call) for memory in there), here
        counts = w.left_by(counts, call)
    return w.finish([here[-1]])
