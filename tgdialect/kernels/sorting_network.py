"""A bitonic sorting network (K. E. Batcher, "Sorting networks and their applications", 1968) along
columns, for many rows of medium length: each lane of a vector sorts a row of its own.

Which keys are compared depends on no key, so that each comparison is a minimum and a maximum of
whole vectors. The network is in loops, whose bodies have eight keys in registers for three stages.
Runs of eight are sorted first. Then each level merges pairs of sorted runs: it compares the first
key of one with the last of the other and so on, and then keys at half the distance, until
neighbours have been compared. A stage that is repeated changes nothing, so that a level may begin
its last pass with stages that it has done.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from xdsl.ir import SSAValue

from tgdialect.kernels.writer import FunctionWriter, KernelWriter, Library
from tgdialect.ops import tg
from tgdialect.ops.dtypes import unsigned
from tgdialect.ops.properties import dtype_of, tensor

RUN = 8
"""The keys that a loop has in registers: eight are three stages for a load and a store of each. Of
sixteen, not all would fit where there are 16 registers."""

_HALVES = [(0, 4), (1, 5), (2, 6), (3, 7)]
"""Pairs of keys at a distance of four."""
_QUARTERS = [(0, 2), (1, 3), (4, 6), (5, 7)]
"""Pairs of keys at a distance of two."""
_NEIGHBOURS = [(0, 1), (2, 3), (4, 5), (6, 7)]
"""Pairs of neighbouring keys."""
_MIRRORED = [(0, 7), (1, 6), (2, 5), (3, 4)]
"""Pairs of keys at mirrored places, which merge an ascending half with an ascending one."""
_SORTED = [
    *_NEIGHBOURS,
    *[(0, 3), (1, 2), (4, 7), (5, 6)],
    *_NEIGHBOURS,
    *_MIRRORED,
    *_QUARTERS,
    *_NEIGHBOURS,
]
"""The comparisons of a network for eight keys."""


@cache
def network_kernel(bits: int, blocks: int, m: int, lanes: int) -> tg.KernelOp:
    """Sort columns in place.

    Parameters: n, at most m; the levels, so that m is RUN * 2^levels; keys of `bits` bits, of shape
    (blocks, m, lanes). Keys from n on are no less than any other.
    """
    w = KernelWriter(f"sort_columns_{bits}_{blocks}_{m}_{lanes}")
    n, levels = w.size(), w.size()
    keys = w.array(unsigned(bits), blocks, m, lanes)
    one = w.const(1)
    block = w.loop(blocks, in_order=False)

    def exchange(
        loops: Sequence[SSAValue],
        done: Sequence[SSAValue],
        places: Sequence[SSAValue],
        pairs: Sequence[tuple[int, int]],
    ) -> SSAValue:
        """Loops over keys, which are at these places when the effects `done` are: of each pair, the
        lesser key comes first."""
        lane = w.loop(lanes, in_order=False)
        now = w.left_by(keys, block, *done, *loops)
        # No place is beyond m, which the compiler does not see otherwise.
        places = [w.emit(tg.AndOp, place, w.const(m - 1)) for place in places]
        values = [w.load(now, block, place, lane) for place in places]
        for a, b in pairs:
            # The lesser key is what is left of both. A WHERE in its place takes longer to simplify.
            both = w.emit(tg.XorOp, values[a], values[b])
            values[b] = w.emit(tg.MaxOp, values[a], values[b])
            values[a] = w.emit(tg.XorOp, both, values[b])
        stored = now
        # A place may be that of another key in the next iteration, so stores have an order.
        for place, value in zip(places, values, strict=True):
            stored = w.store(now, (block, place, lane), value)
            now = w.left_by(now, stored)
        return w.end((*loops, lane), stored)

    def spread(first: SSAValue, step: SSAValue, count: int) -> list[SSAValue]:
        return [w.emit(tg.AddOp, first, w.emit(tg.MulOp, step, w.const(i))) for i in range(count)]

    # Runs of eight.
    run = w.loop(_count(w, n, w.const(RUN)))
    done = exchange([run], [], spread(w.emit(tg.MulOp, run, w.const(RUN)), one, RUN), _SORTED)
    level = w.loop(levels)
    # Merge pairs of runs of four times `step`, each from both ends.
    step = w.emit(tg.ShlOp, w.const(2), level)
    size = w.emit(tg.MulOp, step, w.const(8))
    pair, i = w.loop(_count(w, n, size)), w.loop(step)
    start = w.emit(tg.MulOp, pair, size)
    low = spread(w.emit(tg.AddOp, start, i), step, 4)
    last = w.emit(tg.SubOp, w.emit(tg.AddOp, start, size), w.emit(tg.AddOp, i, one))
    high = [w.emit(tg.SubOp, last, w.emit(tg.MulOp, step, w.const(j))) for j in range(4)]
    merged = exchange(
        [pair, i], [done, level], [*low, *high[::-1]], [*_MIRRORED, *_QUARTERS, *_NEIGHBOURS]
    )
    # The stages that are left, three at a time: of distances less than `step`, which is 2^left.
    three = w.const(3)
    turn = w.loop(w.emit(tg.IDivOp, w.emit(tg.AddOp, level, three), three))
    left = w.emit(tg.SubOp, w.emit(tg.AddOp, level, one), w.emit(tg.MulOp, turn, three))
    many = w.emit(tg.CmpLtOp, three, left)
    step = w.emit(
        tg.ShlOp, one, w.emit(tg.WhereOp, many, w.emit(tg.SubOp, left, three), w.const(0))
    )
    size = w.emit(tg.MulOp, step, w.const(8))
    group, i = w.loop(_count(w, n, size)), w.loop(step)
    places = spread(w.emit(tg.AddOp, w.emit(tg.MulOp, group, size), i), step, RUN)
    stages = [*_HALVES, *_QUARTERS, *_NEIGHBOURS]
    left = exchange([group, i], [merged, level, turn], places, stages)
    return w.finish([w.end(block, w.end(level, w.end(turn, left)))])


def _count(w: KernelWriter, n: SSAValue, size: SSAValue) -> SSAValue:
    """How many groups of a size hold n keys."""
    more = w.emit(tg.SubOp, w.emit(tg.AddOp, n, size), w.const(1))
    return w.emit(tg.IDivOp, more, size)


def column_length(n: int) -> int:
    """The length of the columns that hold n keys."""
    return max(RUN, 1 << (n - 1).bit_length())


def sort_columns(library: Library, keys: SSAValue, n: int) -> tg.FunctionOp:
    """A FUNCTION from unsigned keys of shape (blocks, m, lanes) to the same with sorted columns,
    where m is `column_length(n)`, and keys from n on are no less than any other."""
    w = FunctionWriter([keys], library)
    blocks, m, lanes = tensor(keys).get_shape()
    stored = w.stored(*w.parameters)
    sizes = [w.const(size) for size in (n, (m // RUN).bit_length() - 1)]
    call = w.call(network_kernel(dtype_of(keys).bits, blocks, m, lanes), *sizes, stored)
    return w.finish([w.left_by(stored, call)])
