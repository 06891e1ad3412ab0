"""The number of parts that a long reduction or scan is split into, for threads or the processors of
a grid to share.

On a CPU it does not depend on the number of threads, so that float results do not either.
"""

from __future__ import annotations

MANY_CELLS = 1 << 17
"""The fewest elements of a reduction that is split among threads. Smaller: one core is done before
two kernels and a start of threads are; larger: other cores are idle. An order of magnitude: a sum
of 10^6 elements takes a third of the time in parts (docs/measurements.md); smaller ones have not
been measured."""

FEW_RESULTS = 3
"""The most results, or rows of a scan, of a reduction that is split. Larger: parts where threads
could share the loops over the results; smaller: cores are idle. An order of magnitude, which has
not been measured."""

LEAST_PARTS, PARTS = 16, 64
"""The least and greatest number of parts: at least enough for threads to share evenly, at most so
many that combining them takes no time. Orders of magnitude, which have not been measured."""

PARTS_OF_SCATTER, UPDATES_OF_CELL = 16, 8
"""The number of parts of a scatter, each of which has all cells, and the least updates for each
cell of a part. More parts or fewer updates: clearing and adding up the parts takes as long as the
updates; fewer parts: threads share unevenly. Orders of magnitude: counts of 10^6 numbers in 1000
take 0.6 of the time on two threads."""

COLUMNS = 32
"""The neighbouring results that one workgroup of a grid computes, where their reduction is not
along the last axis (`lowering/optimize/grid/heuristic.py`). Fewer: accesses of a warp are not to
one line; more: fewer work items share a column."""

PARTS_PER_UNIT = 4
"""The workgroups that a reduction on a grid is split into, for each processor. With fewer, a
processor has too few warps to hide the latency of memory; with more, combining their results takes
longer. An order of magnitude, which has not been measured."""

CELLS_OF_PART = 4096
"""The least elements of a part on a grid: 4 vectors of 4 elements for each of 256 work items. With
fewer, starting a workgroup takes longer than its part. An order of magnitude, not measured."""

RESULTS_OF_TILE = 128 * 64
"""About the results of a product of matrices that one workgroup of a grid computes: it has a tile
of them, since each element of a factor is used for many
(`lowering/optimize/grid/matrix.py`). Larger: products are split into more parts, as they
count as having fewer workgroups."""

STEPS_OF_PART = 512
"""The least steps of a part of a product. With fewer, filling the pipeline of copies, and storing
and adding up the results of parts, take longer than the part. An order of magnitude, not
measured."""

SCAN_BLOCK = 32
"""The cells of a block of a scan on a grid, each of which adds up the cells before it. Twice as
many take twice as many additions, half as many another pair of kernels for each long row. An order
of magnitude."""


def scan_blocks_of(extent: int) -> int:
    """The number of blocks of a scan on a grid; 0 means do not split."""
    return -(-extent // SCAN_BLOCK) if extent > 2 * SCAN_BLOCK else 0


def parts_of(extent: int, cells: int, results: int) -> int:
    """The part count with the smallest remainder, and the greatest such; 0 means do not split.

    `extent` is that of the axis, `cells` the number of all elements, and `results` that of the
    results of a reduction, or of the rows of a scan.
    """
    if cells < MANY_CELLS or results > FEW_RESULTS:
        return 0
    counts = range(LEAST_PARTS, min(PARTS, extent) + 1)
    return min(counts, key=lambda n: (extent % n, -n), default=0)


def scatter_parts_of(extent: int, cells: int) -> int:
    """The part count of a scatter of `extent` updates for each of some cells, with the smallest
    remainder, and the greatest such; 0 means do not split."""
    if extent < max(MANY_CELLS, UPDATES_OF_CELL * cells):
        return 0
    most = min(PARTS_OF_SCATTER, extent // max(UPDATES_OF_CELL * cells, 1))
    counts = range(PARTS_OF_SCATTER // 2, most + 1)
    return min(counts, key=lambda n: (extent % n, -n), default=0)


def grid_parts_of(
    extent: int, cells: int, workgroups: int, units: int, whole: int
) -> tuple[int, int] | None:
    """The number of parts of an axis and their size, for a grid; None means do not split.

    `workgroups` is how many workgroups the results make by themselves, `units` the processors of
    the grid. The size is a multiple of `whole`. Of the numbers from half of the greatest on, it is
    the one with the smallest remainder.
    """
    if cells < MANY_CELLS or workgroups >= units:
        return None
    most = min(PARTS_PER_UNIT * units // workgroups, cells // (workgroups * CELLS_OF_PART))
    sizes = {n: extent // (n * whole) * whole for n in range(max(most // 2, 2), most + 1)}
    found = [(n, size) for n, size in sizes.items() if size]
    return min(found, key=lambda each: (extent - each[0] * each[1], -each[0]), default=None)


def product_parts_of(extent: int, results: int, units: int, whole: int) -> tuple[int, int] | None:
    """The number of parts of the steps of a product, and their size, a multiple of `whole`; None
    means do not split. They fill the processors of a grid once, and leave no remainder: that would
    be a product of its own."""
    most = min(units // -(-results // RESULTS_OF_TILE), extent // STEPS_OF_PART)
    parts = next((n for n in range(most, 1, -1) if extent % (n * whole) == 0), 0)
    return (parts, extent // parts) if parts else None
