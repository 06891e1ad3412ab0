"""The k least keys of each row, in order.

There are three kernels. `insertion_kernel` keeps the k least keys so far, and compares each key
with the greatest of them: few are inserted, unless k is large or the row is in descending order.
`selection_kernel` finds the k-th key digit by digit, from the most significant one: keys with a
less digit are among the k least, and keys with the same digit remain candidates. It finds the k
least in any order, and `radix_sort.py` sorts them.

Of a long row, whose blocks have known least keys, most blocks are skipped: `insertion_kernel` skips
a block if its least key is too great, and `filter_kernel` copies what may be among the k least.

Threads share the rows of `insertion_kernel`. The other two are for any number of rows, which one
thread goes through: on a grid, work items that had a row each could not be told from work items
that write the same cells, since the places within a row are loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import pairwise

from xdsl.ir import SSAValue

from tgdialect.kernels.radix_sort import COUNT
from tgdialect.kernels.writer import FunctionWriter, KernelWriter, Library, Value
from tgdialect.ops import tg

_INSERTED = 16
"""The greatest k for which keys are inserted into a sorted list. Larger: its words do not fit in
the registers, and each of the k log(n / k) insertions into a random row goes through k of them;
smaller: more passes by digits."""
_DIGIT = 11
"""The bits of a digit of `selection_kernel`. With 11 bits the first digit of a f32 has two bits of
the fraction, which leaves an eighth of uniform numbers as candidates; the counts of more bits take
longer to clear and to add up than rows of 1,000 keys take to count."""


@cache
def insertion_kernel(bits: int, rows: int, k: int, *, in_blocks: bool) -> tg.KernelOp:
    """The positions of the k least keys of each row, in order; of equal keys, the first ones.

    A key with its position below it is a word, so that no two words are equal and one comparison
    orders them. The k least words are in registers. Each new word is inserted from the top: at each
    place the larger of two moves on.

    Parameters: n; the positions, of shape (rows, k); keys of `bits` bits, at most 32, of shape
    (rows, n), with n at least k; `in_blocks`, also the blocks of a row and their size, and the
    least key of each block, of shape (rows, blocks).
    """
    kind = "_in_blocks" if in_blocks else ""
    w = KernelWriter(f"smallest_{k}_by_insertion_{bits}_{rows}{kind}")
    n = w.size()
    positions, keys = w.array(COUNT, rows, k), w.array(tg.unsigned(bits), rows, n)
    word = tg.unsigned(64)
    row = w.loop(rows, in_order=False)
    words = w.left_by(w.own(word, k), row)
    start = w.group([w.store(words, (place,), 2**64 - 1) for place in range(k)])
    if in_blocks:
        # A block is a loop without iterations if its least key, at its first position, is no less.
        blocks, size = w.size(), w.size()
        least = w.array(tg.unsigned(bits), rows, blocks)
        block = w.loop(blocks)
        begin = block * size
        first = w.load(least, row, block).cast(word) << 32 | begin.cast(word)
        is_open = first < w.load(w.left_by(words, start, block), k - 1)
        j = w.loop(_open(is_open, n, begin, size))
        i, loops = begin + j, [block, j]
    else:
        i = w.loop(n)
        loops = [i]
    new = w.load(keys, row, i).cast(word) << 32 | i.cast(word)
    is_less = new < w.load(w.left_by(words, start, *loops), k - 1)
    # A loop of one iteration or none.
    inserted = w.loop(is_less.cast(tg.INDEX))
    now = w.left_by(words, start, *loops, inserted)
    effects: list[SSAValue] = []
    for place in range(k):
        old = w.load(now, place)
        goes_on = new < old
        effects.append(w.store(now, (place,), goes_on.where(new, old)))
        new = goes_on.where(old, new)
    done = w.end(loops, w.end(inserted, *effects))
    found = [w.load(w.left_by(words, done), place).cast(COUNT) for place in range(k)]
    stores = [w.store(positions, (row, place), value) for place, value in enumerate(found)]
    return w.finish([w.end(row, *stores)])


def _open(is_open: Value, n: Value, begin: Value, size: Value) -> Value:
    """How many keys of a block are looked at: none unless it is open; the last block may have fewer
    than the others."""
    return is_open.where(size.least(n - begin), 0)


@cache
def filter_kernel(bits: int) -> tg.KernelOp:
    """The keys of each row that are less than a bound, and the first k that equal it, with their
    positions, in the order of the row. Behind them there are the greatest keys.

    Parameters: rows; n; k; the blocks of a row and their size; m, the most that are found; the keys
    and positions that are found, of shape (rows, m); keys of `bits` bits, of shape (rows, n); the
    least key of each block, of shape (rows, blocks); the bounds, of shape (rows,).
    """
    w = KernelWriter(f"filter_{bits}")
    rows, n, k, blocks, size, m = (w.size() for _ in range(6))
    key_type = tg.unsigned(bits)
    found = [w.array(key_type, rows, m), w.array(COUNT, rows, m)]
    keys, least = w.array(key_type, rows, n), w.array(key_type, rows, blocks)
    bounds = w.array(key_type, rows)
    row = w.loop(rows, in_order=False)
    bound = w.load(bounds, row)
    taken, equal = (w.left_by(w.own(tg.INDEX, 1), row) for _ in range(2))
    start = w.group([w.store(number, (0,), 0) for number in (taken, equal)])
    block = w.loop(blocks)
    is_open = ~(bound < w.load(least, row, block))
    begin = block * size
    j = w.loop(_open(is_open, n, begin, size))
    i = begin + j
    key = w.load(keys, row, i)
    now = [w.left_by(number, start, block, j) for number in (taken, equal)]
    end, same = (w.load(number, 0) for number in now)
    is_same = key.eq(bound) & (same < k)
    is_taken = (key < bound) | is_same
    values = key, i.cast(COUNT)
    effects = [w.store(t, (row, end), v, is_taken) for t, v in zip(found, values, strict=True)]
    for number, old, is_more in zip(now, (end, same), (is_taken, is_same), strict=True):
        effects.append(w.store(number, (0,), old + is_more.cast(tg.INDEX)))
    done = w.end(block, w.end(j, *effects))
    end = w.load(w.left_by(taken, done), 0)
    j = w.loop(m - end)
    rest = [w.left_by(target, done, j) for target in found]
    effects = [w.store(t, (row, end + j), v) for t, v in zip(rest, (2**bits - 1, 0), strict=True)]
    return w.finish([w.end(row, w.end(j, *effects))])


@cache
def selection_kernel(bits: int) -> tg.KernelOp:
    """The k least keys of each row and their positions, equal keys in the order of their positions.

    Parameters: rows; n; k; the least keys and their positions, of shape (rows, k); memory for the
    candidates and their positions, of shape (rows, n); keys of `bits` bits, of shape (rows, n),
    with n at least k.
    """
    w = KernelWriter(f"smallest_by_selection_{bits}")
    rows, n, k = w.size(), w.size(), w.size()
    key_type = tg.unsigned(bits)
    found = [w.array(key_type, rows, k), w.array(COUNT, rows, k)]
    candidates = [w.array(key_type, rows, n), w.array(COUNT, rows, n)]
    keys = w.array(key_type, rows, n)
    row = w.loop(rows, in_order=False)
    taken, kept, below, chosen = (w.own(tg.INDEX, 1) for _ in range(4))
    counts = w.own(COUNT, 1 << min(_DIGIT, bits))
    done = w.store(w.left_by(taken, row), (0,), 0)
    many = n

    def candidate(level: int, j: Value, done: SSAValue) -> tuple[Value, Value]:
        """A candidate and its position: at first, every key is one."""
        if not level:
            return w.load(keys, row, j), j.cast(COUNT)
        key, position = (w.load(w.left_by(memory, done, j), row, j) for memory in candidates)
        return key, position

    for level, (low, width) in enumerate(_digits(bits)):
        shift = w.number(low, key_type)
        # How many candidates have each digit.
        d = w.loop(1 << width)
        done = w.end(d, w.store(w.left_by(counts, done, d), (d,), 0))
        j = w.loop(many)
        at = candidate(level, j, done)[0].digit(shift, width)
        now = w.left_by(counts, done, j)
        done = w.end(j, w.store(now, (at,), w.load(now, at) + 1))
        # The digit of the k-th key: the last one below which there are fewer than are wanted.
        wanted = k - w.load(w.left_by(taken, done), 0)
        done = w.store(w.left_by(below, done), (0,), 0)
        d = w.loop(1 << width)
        less = w.load(w.left_by(below, done, d), 0)
        last = (less < wanted).where(d, w.load(w.left_by(chosen, done, d), 0))
        count = w.load(w.left_by(counts, done), d).cast(tg.INDEX)
        stores = (
            w.store(w.left_by(chosen, done, d), (0,), last),
            w.store(w.left_by(below, done, d), (0,), less + count),
        )
        done = w.end(d, *stores)
        # Candidates with less digits are taken, and those with this digit are kept.
        kth = w.load(w.left_by(chosen, done), 0)
        done = w.store(w.left_by(kept, done), (0,), 0)
        j = w.loop(many)
        values = candidate(level, j, done)
        at = values[0].digit(shift, width)
        effects: list[SSAValue] = []
        is_taken, is_kept = at < kth, at.eq(kth)
        # Few are taken. Many may be kept, and what is not is overwritten by the next one.
        of_taken, of_kept = (taken, is_taken, is_taken, found), (kept, is_kept, None, candidates)
        for number, is_moved, gate, targets in (of_taken, of_kept):
            now = w.left_by(number, done, j)
            end = w.load(now, 0)
            pairs = zip((w.left_by(t, done, j) for t in targets), values, strict=True)
            effects += [w.store(target, (row, end), value, gate) for target, value in pairs]
            effects.append(w.store(now, (0,), end + is_moved.cast(tg.INDEX)))
        done = w.end(j, *effects)
        many = w.load(w.left_by(kept, done), 0)
    # The first candidates, which all equal the k-th key, are the rest.
    start = w.load(w.left_by(taken, done), 0)
    j = w.loop(k - start)
    targets = [w.left_by(target, done, j) for target in found]
    rest = [w.load(w.left_by(source, done), row, j) for source in candidates]
    effects = [w.store(t, (row, start + j), v) for t, v in zip(targets, rest, strict=True)]
    return w.finish([w.end(row, w.end(j, *effects))])


def _digits(bits: int) -> Iterator[tuple[int, int]]:
    """The first bit and the width of each digit, from the most significant one on."""
    ends = [*range(bits, 0, -_DIGIT), 0]
    return ((low, high - low) for high, low in pairwise(ends))


def is_inserted(bits: int, k: int) -> bool:
    """Whether the k least keys are found by insertion."""
    return k <= _INSERTED and bits <= 32


def inserted(
    library: Library, keys: SSAValue, k: int, least: SSAValue | None = None, size: int | None = None
) -> tg.FunctionOp:
    """A FUNCTION from unsigned keys of shape (rows, n), and perhaps the least key of each block of
    a size, to the positions of the k least keys of each row, of u32, in the order of the keys."""
    w = FunctionWriter([keys] if least is None else [keys, least], library)
    rows, n = tg.tensor(keys).get_shape()
    found = w.memory(COUNT, rows, k)
    stored = [w.stored(value) for value in w.parameters]
    arguments = [w.const(n), found, stored[0]]
    if least is not None and size is not None:
        arguments += [w.const(tg.tensor(least).get_shape()[1]), w.const(size), stored[1]]
    kernel = insertion_kernel(tg.dtype_of(keys).bits, rows, k, in_blocks=least is not None)
    return w.finish([w.left_by(found, w.call(kernel, *arguments))])


def filtered(
    library: Library, keys: SSAValue, least: SSAValue, bounds: SSAValue, k: int, size: int
) -> tg.FunctionOp:
    """A FUNCTION from unsigned keys of shape (rows, n), the least key of each block of a size, and
    the k-th of these of each row, to keys and positions of u32 among which are those of the k least
    keys, in the order of the row.

    The least keys of k blocks are no greater than the bound, so neither are the k least keys of the
    row. At most k - 1 blocks have keys that are less, and of keys that equal the bound the first k
    are enough.
    """
    w = FunctionWriter([keys, least, bounds], library)
    rows, n = tg.tensor(keys).get_shape()
    _, blocks = tg.tensor(least).get_shape()
    m = (k - 1) * size + k
    bits = tg.dtype_of(keys).bits
    found = [w.memory(tg.unsigned(bits), rows, m), w.memory(COUNT, rows, m)]
    sizes = [w.const(number) for number in (rows, n, k, blocks, size, m)]
    stored = [w.stored(value) for value in w.parameters]
    call = w.call(filter_kernel(bits), *sizes, *found, *stored)
    return w.finish([w.left_by(memory, call) for memory in found])


def selected(library: Library, keys: SSAValue, k: int) -> tg.FunctionOp:
    """A FUNCTION from unsigned keys of shape (rows, n) to the k least of each row, and their
    positions of u32, in any order."""
    rows, n = tg.tensor(keys).get_shape()
    bits = tg.dtype_of(keys).bits
    w = FunctionWriter([keys], library)
    sizes = [w.const(size) for size in (rows, n, k)]
    found = [w.memory(tg.unsigned(bits), rows, k), w.memory(COUNT, rows, k)]
    candidates = [w.memory(tg.unsigned(bits), rows, n), w.memory(COUNT, rows, n)]
    stored = w.stored(*w.parameters)
    call = w.call(selection_kernel(bits), *sizes, *found, *candidates, stored)
    return w.finish([w.left_by(memory, call) for memory in found])
