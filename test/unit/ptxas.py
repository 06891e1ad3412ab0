"""NVIDIA's assembler, which judges the PTX that we print. It need not be installed."""

from __future__ import annotations

import pytest
from compilers import ptxas

PTXAS = ptxas("sm_90").path
needs_ptxas = pytest.mark.skipif(PTXAS is None, reason="ptxas is not installed (extra `ptxas`)")


def assemble(ptx: str, chip: str = "sm_90") -> str:
    """What `ptxas -v` says of PTX: registers, spills and shared memory. Fails if it rejects it."""
    return ptxas(chip).check(ptx)
