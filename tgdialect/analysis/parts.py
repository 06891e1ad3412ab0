"""The number of parts that a long reduction or scan is split into, for threads or the processors of
a grid to share.

On a CPU it does not depend on the number of threads, so that float results do not either.
"""

from __future__ import annotations

import math

from tgdialect.targets import Target

CORES, PARTS = 4, 64
"""The cores that a CPU counts as, however many threads it has, and the most parts of a reduction
there. Reductions with so many results are not split: more cores split more than threads could share
by themselves; fewer leave cores idle. More parts: combining them takes longer; fewer: threads share
unevenly. Orders of magnitude."""

PARTS_PER_UNIT = 4
"""The workgroups that a reduction on a grid is split into, for each processor. With fewer, a
processor has too few warps to hide the latency of memory; with more, combining their results takes
longer. An order of magnitude, which has not been measured."""

CELLS_OF_PART = 4096
"""The least elements of a part, and the least choices that it saves where parts of a loop have
fewer conditions. With fewer, starting a workgroup, or the CALL of a kernel, takes longer than the
part: 4 vectors of 4 elements for each of 256 work items; a choice takes up to a nanosecond, a CALL
half a microsecond, and a kernel 20 ms to compile. With a quarter of it, `cat` of 30x30 and 30x31
takes 3.3 us instead of 5.2, but small stencils have more kernels in vain."""

REPAID = 8
"""The ratio of the time of work to that of what is done only for it, from which on that counts as
nothing: updates for clearing and adding up the cells of a part, the steps of a loop for packing
before it, those of a part of a product for filling its pipeline. Smaller: overheads show; larger:
gains are left. An order of magnitude: an eighth of the time at most."""

RESULTS_OF_TILE = 128 * 64
"""About the results of a product of matrices that one workgroup of a grid computes: it has a tile
of them, since each element of a factor is used for many
(`lowering/optimize/grid/matrix.py`). Larger: products are split into more parts, as they
count as having fewer workgroups."""

NEIGHBOURS = 32
"""The neighbouring cells that the work items of a warp take: results of a reduction that is not
along the last axis (`lowering/optimize/grid/heuristic.py`), and the cells of a block of a scan, of
which each adds up those before it. Fewer: accesses of a warp are not to one line, and long rows of
a scan take another pair of kernels; more: fewer work items share a column, and a scan takes more
additions. The length of most warps."""


Parts = tuple[int, int]
"""How many parts an axis has, and their size. The rest of the axis is a part of its own."""


def scan_blocks_of(extent: int) -> int:
    """The number of blocks of a scan on a grid; 0 means do not split."""
    return -(-extent // NEIGHBOURS) if extent > 2 * NEIGHBOURS else 0


def is_much(nbytes: int, target: Target) -> bool:
    """Whether one core takes as long for so many bytes, which come from the last-level cache, as
    starting threads has to be worth."""
    return nbytes >= target.parallel_cycles * target.llc_bytes


def parts_of(
    extent: int,
    cells: int,
    itemsize: int,
    results: int,
    target: Target,
    *,
    workgroups: int = 0,
    whole: int = 1,
) -> Parts | None:
    """The parts of the axis of a reduction, or of a scan; None means do not split.

    `extent` is that of the axis, `cells` the number of all elements, and `results` that of the
    results of a reduction, or of the rows of a scan, which are as many `workgroups` by themselves
    unless this is given. The size is a multiple of `whole`. Of the numbers of parts from half of
    the greatest on, which the cores of a CPU share evenly, it is the one with the smallest rest,
    and the greatest such.
    """
    workgroups = max(workgroups or results, 1)
    units, most, step = CORES, PARTS, CORES
    if target.is_grid:
        units, most, step = target.units, PARTS_PER_UNIT * target.units // workgroups, 1
    if workgroups >= units or not is_much(cells * itemsize, target):
        return None
    most = min(most, cells // max(workgroups * CELLS_OF_PART, REPAID * results))
    counts = (n for n in range(max(most // 2, 2), most + 1) if n % step == 0)
    found = [(n, size) for n in counts if (size := extent // (n * whole) * whole)]
    return min(found, key=lambda each: (extent - math.prod(each), -each[0]), default=None)


def product_parts_of(extent: int, results: int, units: int, whole: int) -> Parts | None:
    """The parts of the steps of a product, of a size that is a multiple of `whole`; None means do
    not split. They fill the processors of a grid once, and leave no remainder: that would be a
    product of its own."""
    most = min(units // -(-results // RESULTS_OF_TILE), extent // (REPAID * whole))
    parts = next((n for n in range(most, 1, -1) if extent % (n * whole) == 0), 0)
    return (parts, extent // parts) if parts else None
