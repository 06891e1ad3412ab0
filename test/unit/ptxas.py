"""NVIDIA's assembler, which judges the PTX that we print. It need not be installed."""

from __future__ import annotations

import subprocess

import pytest

from tgdialect.backends.linkers import ptxas

PTXAS = ptxas()
needs_ptxas = pytest.mark.skipif(PTXAS is None, reason="ptxas is not installed (extra `ptxas`)")


def assemble(ptx: str, chip: str = "sm_90") -> str:
    """What `ptxas -v` says of PTX: registers, spills and shared memory. Fails if it rejects it."""
    assert PTXAS is not None
    command = [PTXAS, f"-arch={chip}", "-v", "-o", "/dev/null", "/dev/stdin"]
    run = subprocess.run(command, input=ptx, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stderr
