"""Into how many parts long reductions and scans are done, for threads to share them.

It does not depend on how many threads there are, so that results do not either.
"""

from __future__ import annotations

MANY_CELLS = 1 << 17
"""From so many cells on, going through them on one core takes longer than two kernels and a start
of threads."""

FEW_RESULTS = 3
"""With more results, or rows, than that there are loops around for threads to share."""

LEAST_PARTS, PARTS = 16, 64
"""How many parts there are: enough to share evenly, and quickly put together."""


def parts_of(extent: int, cells: int, results: int) -> int:
    """The number of equal parts of an axis of an extent, where so many cells give so many results,
    or are in so many rows, that leaves least of it; 0 where it is better left whole."""
    if cells < MANY_CELLS or results > FEW_RESULTS:
        return 0
    counts = range(LEAST_PARTS, min(PARTS, extent) + 1)
    return min(counts, key=lambda n: (extent % n, -n), default=0)
