"""The k least keys of each row, in order.

There are two kernels. `insertion_kernel` keeps the k least keys so far, and compares each key with
the greatest of them: few are inserted, unless k is large or the row is in descending order.
`selection_kernel` finds the k-th key digit by digit, from the most significant one: keys with a
less digit are among the k least, and keys with the same digit remain candidates. It finds the k
least in any order, and `radix_sort.py` sorts them.

One thread goes through all rows: how many iterations the inner loops have depends on the row, and
SPLIT makes no THREAD range of such a loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from xdsl.ir import SSAValue

from tgdialect.kernels.radix_sort import COUNT, sorted_by_digits
from tgdialect.kernels.writer import FunctionWriter, KernelWriter
from tgdialect.ops.call import FunctionOp, KernelOp
from tgdialect.ops.dtypes import INDEX, unsigned
from tgdialect.ops.elementwise import (
    AddOp,
    CastOp,
    CmpEqOp,
    CmpLtOp,
    OrOp,
    ShlOp,
    SubOp,
    WhereOp,
)
from tgdialect.ops.memory import LoadOp
from tgdialect.ops.ordering import GroupOp
from tgdialect.ops.properties import dtype_of, tensor

_INSERTED = 16
"""Up to this k, keys are inserted: more words do not fit in the registers, and each of the
k log(n / k) insertions into a random row goes through k of them."""
_DIGIT = 11
"""The bits of a digit of `selection_kernel`. With 11 bits the first digit of a f32 has two bits of
the fraction, which leaves an eighth of uniform numbers as candidates; the counts of more bits take
longer to clear and to add up than rows of 1,000 keys take to count."""


@cache
def insertion_kernel(bits: int, k: int) -> KernelOp:
    """The positions of the k least keys of each row, in order; of equal keys, the first ones.

    A key with its position below it is a word, so that no two words are equal and one comparison
    orders them. The k least words are in registers. Another word goes through all of them, and in
    each place the greater one of two goes on.

    Parameters: rows; n; the positions, of shape (rows, k); keys of `bits` bits, at most 32, of
    shape (rows, n), with n at least k.
    """
    w = KernelWriter(f"smallest_{k}_by_insertion_{bits}")
    rows, n = w.size(), w.size()
    positions, keys = w.array(COUNT, rows, k), w.array(unsigned(bits), rows, n)
    word = unsigned(64)
    half = w.const(32, word)
    row = w.loop(rows, in_order=False)
    words = w.left_by(w.own(word, k), row)
    places = [w.const(place) for place in range(k)]
    greatest = w.const(2**64 - 1, word)
    start = w.put(GroupOp([w.store(words, (place,), greatest) for place in places]))
    i = w.loop(n)
    key = w.emit(ShlOp, w.emit(CastOp, w.load(keys, row, i), word), half)
    new = w.emit(OrOp, key, w.emit(CastOp, i, word))
    is_less = w.emit(CmpLtOp, new, w.load(w.left_by(words, start, i), places[-1]))
    # A loop of one iteration or none.
    inserted = w.loop(w.emit(CastOp, is_less, INDEX))
    now = w.left_by(words, start, i, inserted)
    effects: list[SSAValue] = []
    for place in places:
        old = w.load(now, place)
        goes_on = w.emit(CmpLtOp, new, old)
        effects.append(w.store(now, (place,), w.emit(WhereOp, goes_on, new, old)))
        new = w.emit(WhereOp, goes_on, old, new)
    done = w.end(i, w.end(inserted, *effects))
    found = (w.emit(CastOp, w.load(w.left_by(words, done), place), COUNT) for place in places)
    stores = [w.store(positions, (row, p), v) for p, v in zip(places, found, strict=True)]
    return w.finish([w.end(row, *stores)])


@cache
def selection_kernel(bits: int) -> KernelOp:
    """The k least keys of each row and their positions, equal keys in the order of their positions.

    Parameters: rows; n; k; the least keys and their positions, of shape (rows, k); memory for the
    candidates and their positions, of shape (rows, n); keys of `bits` bits, of shape (rows, n),
    with n at least k.
    """
    w = KernelWriter(f"smallest_by_selection_{bits}")
    rows, n, k = w.size(), w.size(), w.size()
    zero = w.const(0)
    key_type = unsigned(bits)
    found = [w.array(key_type, rows, k), w.array(COUNT, rows, k)]
    candidates = [w.array(key_type, rows, n), w.array(COUNT, rows, n)]
    keys = w.array(key_type, rows, n)
    row = w.loop(rows, in_order=False)
    taken, kept, below, chosen = (w.own(INDEX, 1) for _ in range(4))
    counts = w.own(COUNT, 1 << min(_DIGIT, bits))
    done = w.store(w.left_by(taken, row), (zero,), zero)
    many = n

    def candidate(level: int, j: SSAValue, done: SSAValue) -> tuple[SSAValue, SSAValue]:
        """A candidate and its position: at first, every key is one."""
        if not level:
            return w.load(keys, row, j), w.emit(CastOp, j, COUNT)
        key, position = (w.load(w.left_by(memory, done, j), row, j) for memory in candidates)
        return key, position

    for level, (low, width) in enumerate(_digits(bits)):
        shift = w.const(low, key_type)
        # How many candidates have each digit.
        d = w.loop(1 << width)
        done = w.end(d, w.store(w.left_by(counts, done, d), (d,), w.const(0, COUNT)))
        j = w.loop(many)
        at = w.digit(candidate(level, j, done)[0], shift, width)
        now = w.left_by(counts, done, j)
        more = w.emit(AddOp, w.load(now, at), w.const(1, COUNT))
        done = w.end(j, w.store(now, (at,), more))
        # The digit of the k-th key: the last one below which there are fewer than are wanted.
        wanted = w.emit(SubOp, k, w.load(w.left_by(taken, done), zero))
        done = w.store(w.left_by(below, done), (zero,), zero)
        d = w.loop(1 << width)
        less = w.load(w.left_by(below, done, d), zero)
        is_below = w.emit(CmpLtOp, less, wanted)
        last = w.emit(WhereOp, is_below, d, w.load(w.left_by(chosen, done, d), zero))
        count = w.emit(CastOp, w.load(w.left_by(counts, done), d), INDEX)
        done = w.end(
            d,
            w.store(w.left_by(chosen, done, d), (zero,), last),
            w.store(w.left_by(below, done, d), (zero,), w.emit(AddOp, less, count)),
        )
        # Candidates with less digits are taken, and those with this digit are kept.
        kth = w.load(w.left_by(chosen, done), zero)
        done = w.store(w.left_by(kept, done), (zero,), zero)
        j = w.loop(many)
        values = candidate(level, j, done)
        at = w.digit(values[0], shift, width)
        effects: list[SSAValue] = []
        is_taken, is_kept = w.emit(CmpLtOp, at, kth), w.emit(CmpEqOp, at, kth)
        # Few are taken. Many may be kept, and what is not is overwritten by the next one.
        for number, is_moved, gate, targets in (
            (taken, is_taken, is_taken, found),
            (kept, is_kept, None, candidates),
        ):
            now = w.left_by(number, done, j)
            end = w.load(now, zero)
            pairs = zip((w.left_by(t, done, j) for t in targets), values, strict=True)
            effects += [w.store(target, (row, end), value, gate) for target, value in pairs]
            step = w.emit(CastOp, is_moved, INDEX)
            effects.append(w.store(now, (zero,), w.emit(AddOp, end, step)))
        done = w.end(j, *effects)
        many = w.load(w.left_by(kept, done), zero)
    # The first candidates, which all equal the k-th key, are the rest.
    start = w.load(w.left_by(taken, done), zero)
    j = w.loop(w.emit(SubOp, k, start))
    effects = [
        w.store(
            w.left_by(target, done, j),
            (row, w.emit(AddOp, start, j)),
            w.load(w.left_by(source, done), row, j),
        )
        for target, source in zip(found, candidates, strict=True)
    ]
    return w.finish([w.end(row, w.end(j, *effects))])


def _digits(bits: int) -> Iterator[tuple[int, int]]:
    """The first bit and the width of each digit, from the most significant one on."""
    ends = [*range(bits, 0, -_DIGIT), 0]
    return ((low, high - low) for high, low in pairwise(ends))


def smallest(keys: SSAValue, k: int) -> FunctionOp:
    """A FUNCTION from unsigned keys of shape (rows, n) to the positions of the k least of each row,
    of u32, in the order of the keys."""
    rows, n = tensor(keys).get_shape()
    bits = dtype_of(keys).bits
    w = FunctionWriter([keys])
    sizes = [w.const(size) for size in (rows, n, k)]
    found = [w.memory(unsigned(bits), rows, k), w.memory(COUNT, rows, k)]
    stored = w.stored(*w.parameters)
    if k <= _INSERTED and bits <= 32:
        call = w.call(insertion_kernel(bits, k), *sizes[:2], found[1], stored)
        return w.finish([w.emit(LoadOp, w.left_by(found[1], call))])
    candidates = [w.memory(unsigned(bits), rows, n), w.memory(COUNT, rows, n)]
    call = w.call(selection_kernel(bits), *sizes, *found, *candidates, stored)
    keys, positions = sorted_by_digits(w, *(w.left_by(memory, call) for memory in found))
    return w.finish([w.emit(LoadOp, positions)])
