"""The number of parts that a long reduction or scan is split into, for threads to share.

It does not depend on the number of threads, so that float results do not either.
"""

from __future__ import annotations

MANY_CELLS = 1 << 17
"""Elements from which on a reduction is split. With fewer, one core is done before two kernels and
a start of threads are. An order of magnitude: a sum of 10^6 elements takes a third of the time in
parts (docs/measurements.md); smaller ones have not been measured."""

FEW_RESULTS = 3
"""Results, or rows of a scan, up to which a reduction is split. With more, threads share the loops
over the results. An order of magnitude, which has not been measured."""

LEAST_PARTS, PARTS = 16, 64
"""The least and greatest number of parts: at least enough for threads to share evenly, at most so
many that combining them takes no time. Orders of magnitude, which have not been measured."""


def parts_of(extent: int, cells: int, results: int) -> int:
    """The part count with the smallest remainder, and the greatest such; 0 means do not split.

    `extent` is that of the axis, `cells` the number of all elements, and `results` that of the
    results of a reduction, or of the rows of a scan.
    """
    if cells < MANY_CELLS or results > FEW_RESULTS:
        return 0
    counts = range(LEAST_PARTS, min(PARTS, extent) + 1)
    return min(counts, key=lambda n: (extent % n, -n), default=0)
