"""The shapes of `wgmma`, which four warps compute with both factors in LOCAL memory (sm_90a).

Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions".
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

ROWS = 64
"""The rows of A that an instruction multiplies."""


class WarpgroupShape(NamedTuple):
    """The columns of B and the steps of an instruction, the dtype of its factors, and along which
    axes the 16 bytes of a row of a core matrix lie: in A `k` or `m`, in B `k` or `n`."""

    dtype: str
    ptx_dtype: str
    itemsize: int
    columns: int
    steps: int
    majors: str

    @property
    def name(self) -> str:
        return f"wgmma.m{ROWS}n{self.columns}k{self.steps}.{self.ptx_dtype}.{self.majors}"


_DTYPES = (("f16", "f16", 2), ("bf16", "bf16", 2), ("f8E4M3FN", "e4m3", 1), ("f8E5M2", "e5m2", 1))


def _shapes() -> Iterator[WarpgroupShape]:
    for dtype in _DTYPES:
        itemsize = dtype[2]
        # Only 16-bit elements may lie along the rows of A or the columns of B.
        majors = ("kk", "kn", "mk", "mn") if itemsize == 2 else ("kk",)
        for columns, bytes, both in product((256, 128, 64), (128, 64), majors):
            yield WarpgroupShape(*dtype, columns, bytes // itemsize, both)


WARPGROUP_SHAPES = tuple(_shapes())
"""Those of the most columns first, then those of the most steps: 128 or 64 bytes of each row, which
are several instructions of 32 bytes."""
