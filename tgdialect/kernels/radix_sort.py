"""A stable radix sort of unsigned keys along rows, least significant digit first.

Each digit place is a pass of three kernels. The first counts the digits, the second finds where the
keys with each digit begin in the sorted row, and the third moves the keys, and their positions if
there are any, to where they belong. A long row is cut into chunks, each with counts and places of
its own, and threads share rows and chunks. A row of one chunk is counted once, for all places.
Threads share only loops whose number of iterations is known, so there are kernels for each number
of rows, and for each size of several chunks.
"""

from __future__ import annotations

from functools import cache

from xdsl.ir import SSAValue

from tgdialect.kernels.writer import FunctionWriter, KernelWriter
from tgdialect.ops.call import FunctionOp, KernelOp
from tgdialect.ops.dtypes import INDEX, unsigned
from tgdialect.ops.elementwise import AddOp, CastOp, MulOp
from tgdialect.ops.properties import dtype_of, tensor

COUNT = unsigned(32)
"""The dtype of positions and of counts."""
_WIDTHS = 8, 11
"""The bits of a digit, of rows of one chunk and of several: keys of 32 bits take four passes of 256
digits, or three of 2,048, whose counts take longer to clear and to add up. One thread sorts 10^6
keys in 6.4 or 4.9 ms; with positions, both take as long."""
_CHUNK = 1 << 18
"""The most keys of a chunk. Threads share chunks, but digits are counted before each pass and not
once: two threads gained nothing from chunks of 10^5 / 2, and 16 chunks of 10^6 took a third longer
than four."""


def _extent(w: KernelWriter, size: int | None) -> SSAValue:
    """How many keys a chunk has: a number, or the next parameter."""
    return w.size() if size is None else w.const(size)


@cache
def count_kernel(
    bits: int, width: int, rows: int, chunks: int, places: int, size: int | None
) -> KernelOp:
    """How many keys of each chunk have each digit, at one or several digit places.

    Parameters: the size of a chunk, unless it is given; the first bit of the first digit; the
    counts, of shape (rows, chunks, places, 2^width) of u32; keys of `bits` bits, of shape (rows,
    chunks * size).
    """
    w = KernelWriter(f"radix_count_{bits}_{width}_{rows}_{chunks}_{places}_{size or 'n'}")
    extent, shift = _extent(w, size), w.size()
    counts = w.array(COUNT, rows, chunks, places, 1 << width)
    keys = w.array(unsigned(bits), rows, w.emit(MulOp, extent, w.const(chunks)))
    row, chunk = w.loop(rows, in_order=False), w.loop(chunks, in_order=False)
    numbers = [w.const(place) for place in range(places)]
    digit = w.loop(1 << width)
    cells = [w.store(counts, (row, chunk, p, digit), w.const(0, COUNT)) for p in numbers]
    cleared = w.end(digit, *cells)
    i = w.loop(extent)
    now = w.left_by(counts, cleared, i)
    key = w.load(keys, row, w.emit(AddOp, w.emit(MulOp, chunk, extent), i))
    effects: list[SSAValue] = []
    for place, number in enumerate(numbers):
        low = w.emit(CastOp, w.emit(AddOp, shift, w.const(place * width)), unsigned(bits))
        cell = row, chunk, number, w.digit(key, low, width)
        effects.append(w.store(now, cell, w.emit(AddOp, w.load(now, *cell), w.const(1, COUNT))))
    return w.finish([w.end((row, chunk), w.end(i, *effects))])


@cache
def starts_kernel(width: int, rows: int, chunks: int, places: int) -> KernelOp:
    """Where the keys of each chunk with each digit begin in the sorted row.

    Parameter: the counts, of shape (rows, chunks, places, 2^width) of u32, which the starts
    replace.
    """
    w = KernelWriter(f"radix_starts_{width}_{rows}_{chunks}_{places}")
    counts = w.array(COUNT, rows, chunks, places, 1 << width)
    row = w.loop(rows, in_order=False)
    numbers = [w.const(place) for place in range(places)]
    sums = w.left_by(w.own(COUNT, places), row)
    zeros = [w.store(sums, (p,), w.const(0, COUNT)) for p in numbers]
    digit, chunk = w.loop(1 << width), w.loop(chunks)
    here, sums = w.left_by(counts, digit, chunk), w.left_by(sums, *zeros, digit, chunk)
    summed: list[SSAValue] = []
    for p in numbers:
        count, total = w.load(here, row, chunk, p, digit), w.load(sums, p)
        summed.append(w.store(here, (row, chunk, p, digit), total))
        summed.append(w.store(sums, (p,), w.emit(AddOp, total, count)))
    return w.finish([w.end(row, w.end((digit, chunk), *summed))])


@cache
def pass_kernel(
    bits: int, width: int, rows: int, chunks: int, places: int, size: int | None, arrays: int
) -> KernelOp:
    """Move keys, and their positions if there are two arrays, to where they belong by one digit, in
    the order in which they are.

    Parameters: the size of a chunk, unless it is given; the first bit of the digit; its number
    among the places of the starts; the new keys and positions and the old ones, each of shape
    (rows, chunks * size), keys of `bits` bits and positions of u32; the starts, of shape (rows,
    chunks, places, 2^width), which it advances.
    """
    w = KernelWriter(f"radix_pass_{bits}_{width}_{rows}_{chunks}_{places}_{size or 'n'}_{arrays}")
    extent, shift, place = _extent(w, size), w.size(), w.size()
    n = w.emit(MulOp, extent, w.const(chunks))
    dtypes = (unsigned(bits), COUNT)[:arrays]
    targets, sources = ([w.array(dtype, rows, n) for dtype in dtypes] for _ in range(2))
    starts = w.array(COUNT, rows, chunks, places, 1 << width)
    shift = w.emit(CastOp, shift, unsigned(bits))
    row, chunk = w.loop(rows, in_order=False), w.loop(chunks, in_order=False)
    i = w.loop(extent)
    here = w.emit(AddOp, w.emit(MulOp, chunk, extent), i)
    values = [w.load(source, row, here) for source in sources]
    next_places = w.left_by(starts, i)
    cell = row, chunk, place, w.digit(values[0], shift, width)
    start = w.load(next_places, *cell)
    to = row, w.emit(CastOp, start, INDEX)
    effects = [w.store(target, to, value) for target, value in zip(targets, values, strict=True)]
    effects.append(w.store(next_places, cell, w.emit(AddOp, start, w.const(1, COUNT))))
    return w.finish([w.end((row, chunk), w.end(i, *effects))])


def chunks_of(n: int) -> int:
    """How many chunks a row is cut into, which are of one size if it divides n."""
    return max(1, -(-n // _CHUNK))


def radix_sort(keys: SSAValue, positions: SSAValue | None = None) -> FunctionOp:
    """A FUNCTION from unsigned keys, of shape (rows, n), to the sorted keys of each row; or from
    keys and positions of u32 to the positions in the order of the keys."""
    w = FunctionWriter([keys] if positions is None else [keys, positions])
    found = sorted_by_digits(w, *(w.stored(value) for value in w.parameters))
    return w.finish([found[-1]])


def sorted_by_digits(w: FunctionWriter, *arrays: SSAValue) -> tuple[SSAValue, ...]:
    """Memory with sorted keys, and their positions if they are given, given memory that holds
    them."""
    rows, n = tensor(arrays[0]).get_shape()
    bits = dtype_of(arrays[0]).bits
    chunks = chunks_of(n)
    width = min(_WIDTHS[chunks > 1], bits)
    # Passes move keys from chunk to chunk, so that the chunks' digits are counted before each.
    lows = range(0, bits, width)
    places = 1 if chunks > 1 else len(lows)
    # Kernels for rows of one chunk are for any size.
    known, sizes = (None, [w.const(n)]) if chunks == 1 else (n // chunks, [])
    # Two sets of keys and positions, between which the passes go back and forth.
    here = arrays
    there = tuple(w.memory(tensor(array).element_type, rows, n) for array in arrays)
    counts = w.memory(COUNT, rows, chunks, places, 1 << width)
    for number, low in enumerate(lows):
        digit, place = (*sizes, w.const(low)), number % places
        if not place:
            kernel = count_kernel(bits, width, rows, chunks, places, known)
            counts = w.left_by(counts, w.call(kernel, *digit, counts, here[0]))
            kernel = starts_kernel(width, rows, chunks, places)
            counts = w.left_by(counts, w.call(kernel, counts))
        kernel = pass_kernel(bits, width, rows, chunks, places, known, len(arrays))
        call = w.call(kernel, *digit, w.const(place), *there, *here, counts)
        here, there = tuple(w.left_by(memory, call) for memory in there), here
        counts = w.left_by(counts, call)
    return here
