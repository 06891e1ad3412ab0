"""A stable merge sort of unsigned keys along rows, for devices that run many work items at once.

Each pass merges pairs of sorted blocks, of one key at first. A work item finds what belongs in one
place of the result by a binary search along a diagonal of the two blocks (O. Green, R. McColl and
D. Bader, "GPU merge path", 2012).
"""

from __future__ import annotations

from functools import cache

from xdsl.ir import SSAValue

from tgdialect.kernels.radix_sort import COUNT
from tgdialect.kernels.writer import FunctionWriter, KernelWriter
from tgdialect.ops.call import FunctionOp, KernelOp
from tgdialect.ops.dtypes import INDEX, unsigned
from tgdialect.ops.elementwise import (
    AddOp,
    AndOp,
    CmpGeOp,
    CmpLtOp,
    IDivOp,
    MaxOp,
    MulOp,
    NotOp,
    OrOp,
    SubOp,
    WhereOp,
)
from tgdialect.ops.memory import LoadOp
from tgdialect.ops.properties import dtype_of, tensor


@cache
def merge_kernel(bits: int) -> KernelOp:
    """Merge each pair of sorted blocks of each row.

    Parameters: rows; n; the size of a block, a power of two; how often an interval of as many
    places is halved until it is empty; the new keys and positions and the old ones, each of shape
    (rows, n), keys of `bits` bits and positions of u32.
    """
    w = KernelWriter(f"merge_{bits}")
    rows, n, size, halvings = (w.size() for _ in range(4))
    to_keys, to_positions, keys, positions = (
        w.array(dtype, rows, n) for dtype in (unsigned(bits), COUNT) * 2
    )
    zero, one, two = (w.const(number) for number in range(3))

    def less(a: SSAValue, b: SSAValue) -> SSAValue:
        return w.emit(WhereOp, w.emit(CmpLtOp, a, b), a, b)

    cell = w.loop(w.emit(MulOp, rows, n), in_order=False)
    row = w.emit(IDivOp, cell, n)
    place = w.emit(SubOp, cell, w.emit(MulOp, row, n))
    # The blocks are `start .. middle` and `middle .. end`, and this is place k of the result.
    pair = w.emit(MulOp, size, two)
    k = w.emit(AndOp, place, w.emit(SubOp, pair, one))
    start = w.emit(SubOp, place, k)
    middle = less(w.emit(AddOp, start, size), n)
    end = less(w.emit(AddOp, start, pair), n)
    # How many of the first k keys come from the first block: it is in `low .. high`.
    taken = w.left_by(w.own(INDEX, 2), cell)  # These two numbers.
    least = w.emit(MaxOp, zero, w.emit(SubOp, k, w.emit(SubOp, end, middle)))
    begun = [
        w.store(taken, (zero,), least),
        w.store(taken, (one,), less(k, w.emit(SubOp, middle, start))),
    ]
    halving = w.loop(halvings)
    now = w.left_by(taken, *begun, halving)
    first, last = w.load(now, zero), w.load(now, one)
    i = w.emit(IDivOp, w.emit(AddOp, first, last), two)
    j = w.emit(SubOp, w.emit(SubOp, k, one), i)
    mine = w.load(keys, row, w.emit(AddOp, start, i))
    other = w.load(keys, row, w.emit(AddOp, middle, j))
    is_open = w.emit(CmpLtOp, first, last)
    # Of equal keys, that of the first block comes first.
    comes = w.emit(AndOp, is_open, w.emit(NotOp, w.emit(CmpLtOp, other, mine)))
    goes = w.emit(AndOp, is_open, w.emit(CmpLtOp, other, mine))
    halved = w.end(
        halving,
        w.store(now, (zero,), w.emit(WhereOp, comes, w.emit(AddOp, i, one), first)),
        w.store(now, (one,), w.emit(WhereOp, goes, i, last)),
    )
    i = w.load(w.left_by(taken, halved), zero)
    a, b = w.emit(AddOp, start, i), w.emit(AddOp, middle, w.emit(SubOp, k, i))
    is_sole = w.emit(CmpGeOp, b, end)
    is_before = w.emit(NotOp, w.emit(CmpLtOp, w.load(keys, row, b), w.load(keys, row, a)))
    is_first = w.emit(AndOp, w.emit(CmpLtOp, a, middle), w.emit(OrOp, is_sole, is_before))
    at = w.emit(WhereOp, is_first, a, b)
    stores = [
        w.store(to_keys, (row, place), w.load(keys, row, at)),
        w.store(to_positions, (row, place), w.load(positions, row, at)),
    ]
    return w.finish([w.end(cell, *stores)])


def merge_argsort(keys: SSAValue, positions: SSAValue) -> FunctionOp:
    """A FUNCTION from unsigned keys and positions of u32, both of shape (rows, n), to the positions
    in the order of the keys of their row."""
    w = FunctionWriter([keys, positions])
    rows, n = tensor(keys).get_shape()
    key_type, bits = tensor(keys).element_type, dtype_of(keys).bits
    here = tuple(w.stored(value) for value in w.parameters)
    there = w.memory(key_type, rows, n), w.memory(COUNT, rows, n)
    for level in range((n - 1).bit_length()):
        numbers = (w.const(number) for number in (rows, n, 1 << level, level + 1))
        call = w.call(merge_kernel(bits), *numbers, *there, *here)
        here, there = tuple(w.left_by(memory, call) for memory in there), here
    return w.finish([w.emit(LoadOp, here[1])])
