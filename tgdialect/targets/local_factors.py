"""The shapes of matrix instructions that read both factors from LOCAL memory.

`wgmma` of four warps (sm_90a) does so by itself. For one warp (sm_80 and later), a few `ldmatrix`
and the `mma.sync`s on what they load count as one instruction here.
Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions" and "Warp-level matrix load
instruction: ldmatrix".
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

WARP, WARPGROUP = 32, 128
"""The threads that compute a product together."""


CORE_ROWS = 8
"""The rows of a core matrix of `wgmma` and `ldmatrix`, which are read at once: those of 16 bytes
fill all banks of LOCAL memory."""
CORE_BYTES = 16
"""The bytes in a row of a core matrix."""


class LocalShape(NamedTuple):
    """The rows of A, the columns of B and the steps of an instruction, the dtype of its factors,
    and along which axes the 16 bytes of a row of a core matrix lie: in A `k` or `m`, in B `k` or
    `n`."""

    threads: int
    dtype: str
    ptx_dtype: str
    itemsize: int
    rows: int
    columns: int
    steps: int
    majors: str

    def runs(self, major: str) -> int:
        """The number of runs of 16 bytes next to each other in LOCAL memory. For `ldmatrix` it is
        one, and the 8 rows of a core matrix follow each other. `wgmma` reads blocks of 8 rows of 64
        or 128 bytes. The place of a run in its row is its number XOR that of the row, so that
        neither the runs of a row, which are copied at once, nor those below each other, which are
        read at once, share banks."""
        if self.threads == WARP:
            return 1
        return self.steps * self.itemsize // CORE_BYTES if major == "k" else CORE_ROWS

    @property
    def name(self) -> str:
        kind = "wgmma" if self.threads == WARPGROUP else "ldmatrix"
        dims = f"m{self.rows}n{self.columns}k{self.steps}"
        return f"{kind}.{dims}.{self.ptx_dtype}.{self.majors}"


_DTYPES = (("f16", "f16", 2), ("bf16", "bf16", 2), ("f8E4M3FN", "e4m3", 1), ("f8E5M2", "e5m2", 1))


def _shapes(
    threads: int, sides: tuple[tuple[int, int], ...], bytes: tuple[int, ...]
) -> Iterator[LocalShape]:
    for dtype in _DTYPES:
        itemsize = dtype[2]
        # Only 16-bit elements may lie along the rows of A or the columns of B.
        majors = ("kk", "kn", "mk", "mn") if itemsize == 2 else ("kk",)
        for (rows, columns), along_k, both in product(sides, bytes, majors):
            yield LocalShape(threads, *dtype, rows, columns, along_k // itemsize, both)


WARPGROUP_SHAPES = tuple(_shapes(WARPGROUP, ((64, 256), (64, 128), (64, 64)), (128, 64)))
"""Those of the most results first, then those of the most steps: 128 or 64 bytes of each row, which
are several instructions of 32 bytes."""

WARP_SHAPES = tuple(_shapes(WARP, ((64, 64), (64, 32), (32, 32)), (64,)))
"""Those of the most results first: 128, 64 or 32 registers of each lane. Each fragment is used for
rows / 16 or columns / 8 instructions."""
