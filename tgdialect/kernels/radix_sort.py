"""A stable radix sort of unsigned keys along rows, least significant digit first.

One kernel counts the digits of all keys, and finds where the keys with each digit begin in the
sorted row. Then each digit place has a pass that moves the keys, and their positions, to where they
belong. Rows are sorted in parallel. Threads share only loops whose number of iterations is known,
so there are kernels for each number of rows.
"""

from __future__ import annotations

from functools import cache

from xdsl.ir import SSAValue

from tgdialect.kernels.writer import FunctionWriter, KernelWriter
from tgdialect.ops.call import FunctionOp, KernelOp
from tgdialect.ops.dtypes import INDEX, unsigned
from tgdialect.ops.elementwise import AddOp, CastOp, MulOp
from tgdialect.ops.memory import LoadOp
from tgdialect.ops.properties import dtype_of, tensor

COUNT = unsigned(32)
"""The dtype of positions and of counts."""
_BITS = 8
"""The bits of a digit: keys of 32 bits take four passes, each of which writes to 256 places at
once. With 11 bits they would take three, with 2,048 places, which exceed the first-level TLB."""
_DIGITS = 1 << _BITS


@cache
def starts_kernel(bits: int, rows: int) -> KernelOp:
    """Where the keys with each digit begin in the sorted row.

    Parameters: n; the starts, of shape (rows, digit places, 256) of u32; keys of `bits` bits,
    of shape (rows, n).
    """
    places = bits // _BITS
    w = KernelWriter(f"radix_starts_{bits}_{rows}")
    n = w.size()
    starts, keys = w.array(COUNT, rows, places, _DIGITS), w.array(unsigned(bits), rows, n)
    one = w.const(1, COUNT)
    row = w.loop(rows, in_order=False)
    numbers = [w.const(place) for place in range(places)]
    # Counts of each digit at each place.
    digit = w.loop(_DIGITS)
    cells = [w.store(starts, (row, p, digit), w.const(0, COUNT)) for p in numbers]
    cleared = w.end(digit, *cells)
    i = w.loop(n)
    counts = w.left_by(starts, cleared, i)
    key = w.load(keys, row, i)
    counted: list[SSAValue] = []
    for place, number in enumerate(numbers):
        cell = row, number, w.digit(key, w.const(_BITS * place, unsigned(bits)), _BITS)
        counted.append(w.store(counts, cell, w.emit(AddOp, w.load(counts, *cell), one)))
    counted = [w.end(i, *counted)]
    # Their running sums.
    sums = w.left_by(w.own(COUNT, places), row)
    zeros = [w.store(sums, (p,), w.const(0, COUNT)) for p in numbers]
    digit = w.loop(_DIGITS)
    counts, sums = w.left_by(starts, *counted, digit), w.left_by(sums, *zeros, digit)
    summed: list[SSAValue] = []
    for p in numbers:
        count, total = w.load(counts, row, p, digit), w.load(sums, p)
        summed.append(w.store(counts, (row, p, digit), total))
        summed.append(w.store(sums, (p,), w.emit(AddOp, total, count)))
    return w.finish([w.end(row, w.end(digit, *summed))])


@cache
def pass_kernel(bits: int, rows: int) -> KernelOp:
    """Move keys and positions to where they belong by one digit, in the order in which they are.

    Parameters: n; the digit place; the new keys and positions and the old ones, each of shape
    (rows, n), keys of `bits` bits and positions of u32; the starts, which it advances.
    """
    w = KernelWriter(f"radix_pass_{bits}_{rows}")
    n, place = w.size(), w.size()
    key_type = unsigned(bits)
    to_keys, to_positions, keys, positions = (
        w.array(dtype, rows, n) for dtype in (key_type, COUNT, key_type, COUNT)
    )
    starts = w.array(COUNT, rows, bits // _BITS, _DIGITS)
    shift = w.emit(CastOp, w.emit(MulOp, place, w.const(_BITS)), key_type)
    row = w.loop(rows, in_order=False)
    i = w.loop(n)
    key, position = w.load(keys, row, i), w.load(positions, row, i)
    next_places = w.left_by(starts, i)
    cell = row, place, w.digit(key, shift, _BITS)
    start = w.load(next_places, *cell)
    target = row, w.emit(CastOp, start, INDEX)
    effects = [
        w.store(to_keys, target, key),
        w.store(to_positions, target, position),
        w.store(next_places, cell, w.emit(AddOp, start, w.const(1, COUNT))),
    ]
    return w.finish([w.end(row, w.end(i, *effects))])


def radix_argsort(keys: SSAValue, positions: SSAValue) -> FunctionOp:
    """A FUNCTION from unsigned keys and positions of u32, both of shape (rows, n), to the positions
    in the order of the keys of their row."""
    w = FunctionWriter([keys, positions])
    _, found = sorted_by_digits(w, *(w.stored(value) for value in w.parameters))
    return w.finish([w.emit(LoadOp, found)])


def sorted_by_digits(
    w: FunctionWriter, keys: SSAValue, positions: SSAValue
) -> tuple[SSAValue, SSAValue]:
    """Memory with sorted keys and their positions, given memory that holds them."""
    rows, n = tensor(keys).get_shape()
    key_type, bits = tensor(keys).element_type, dtype_of(keys).bits
    places = bits // _BITS
    size = w.const(n)
    # Two sets of keys and positions, between which the passes go back and forth.
    here = keys, positions
    there = w.memory(key_type, rows, n), w.memory(COUNT, rows, n)
    starts = w.memory(COUNT, rows, places, _DIGITS)
    call = w.call(starts_kernel(bits, rows), size, starts, keys)
    for place in range(places):
        starts = w.left_by(starts, call)
        call = w.call(pass_kernel(bits, rows), size, w.const(place), *there, *here, starts)
        here, there = (w.left_by(there[0], call), w.left_by(there[1], call)), here
    return here
