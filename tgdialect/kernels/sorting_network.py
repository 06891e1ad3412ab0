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

from tgdialect.kernels.writer import FunctionWriter, KernelWriter, Library, Value
from tgdialect.ops import tg

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
    keys = w.array(tg.unsigned(bits), blocks, m, lanes)
    block = w.loop(blocks, in_order=False)

    def exchange(
        loops: Sequence[Value],
        done: Sequence[SSAValue | Value],
        places: Sequence[Value],
        pairs: Sequence[tuple[int, int]],
    ) -> SSAValue:
        """Loops over keys, which are at these places when the effects `done` are: of each pair, the
        lesser key comes first."""
        lane = w.loop(lanes, in_order=False)
        now = w.left_by(keys, block, *done, *loops)
        # No place is beyond m, which the compiler does not see otherwise.
        places = [place & m - 1 for place in places]
        values = [w.load(now, block, place, lane) for place in places]
        for a, b in pairs:
            # The lesser key is what is left of both. A WHERE in its place takes longer to simplify.
            both = values[a] ^ values[b]
            values[b] = values[a].applied("max", values[b])
            values[a] = both ^ values[b]
        stored = now
        # A place may be that of another key in the next iteration, so stores have an order.
        for place, value in zip(places, values, strict=True):
            stored = w.store(now, (block, place, lane), value)
            now = w.left_by(now, stored)
        return w.end((*loops, lane), stored)

    def spread(first: Value, step: Value, count: int) -> list[Value]:
        return [first + step * i for i in range(count)]

    # Runs of eight.
    run = w.loop(_count(n, w.number(RUN)))
    done = exchange([run], [], spread(run * RUN, w.number(1), RUN), _SORTED)
    level = w.loop(levels)
    # Merge pairs of runs of four times `step`, each from both ends.
    step = w.number(2) << level
    size = step * 8
    pair, i = w.loop(_count(n, size)), w.loop(step)
    start = pair * size
    low = spread(start + i, step, 4)
    last = start + size - (i + 1)
    high = [last - step * j for j in range(4)]
    stages = [*_MIRRORED, *_QUARTERS, *_NEIGHBOURS]
    merged = exchange([pair, i], [done, level], [*low, *high[::-1]], stages)
    # The stages that are left, three at a time: of distances less than `step`, which is 2^left.
    turn = w.loop((level + 3) // 3)
    left = level + 1 - turn * 3
    step = w.number(1) << (w.number(3) < left).where(left - 3, 0)
    size = step * 8
    group, i = w.loop(_count(n, size)), w.loop(step)
    places = spread(group * size + i, step, RUN)
    stages = [*_HALVES, *_QUARTERS, *_NEIGHBOURS]
    left = exchange([group, i], [merged, level, turn], places, stages)
    return w.finish([w.end(block, w.end(level, w.end(turn, left)))])


def _count(n: Value, size: Value) -> Value:
    """How many groups of a size hold n keys."""
    return (n + size - 1) // size


def column_length(n: int) -> int:
    """The length of the columns that hold n keys."""
    return max(RUN, 1 << (n - 1).bit_length())


def sort_columns(library: Library, keys: SSAValue, n: int) -> tg.FunctionOp:
    """A FUNCTION from unsigned keys of shape (blocks, m, lanes) to the same with sorted columns,
    where m is `column_length(n)`, and keys from n on are no less than any other."""
    w = FunctionWriter([keys], library)
    blocks, m, lanes = tg.tensor(keys).get_shape()
    stored = w.stored(*w.parameters)
    sizes = [w.const(size) for size in (n, (m // RUN).bit_length() - 1)]
    call = w.call(network_kernel(tg.dtype_of(keys).bits, blocks, m, lanes), *sizes, stored)
    return w.finish([w.left_by(stored, call)])
