"""Ops of PyTorch's table of samples give the same under `torch.compile` as in eager mode."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="PyTorch's table of ops imports it")

sys.path.insert(0, str(Path(__file__).parents[3] / "interop"))

import torch_opinfo  # After the checks of what it imports.

pytestmark = pytest.mark.parity

SOME = 3
"""The number of ops that are drawn where not all are called; each takes about a second."""

COMPILED = (
    *("sort", "digamma", "nn.functional.max_pool3d", "addmv", "fft.irfftn", "special.zeta"),
    *("linalg.det", "linalg.ldl_solve", "linalg.pinv (hermitian)", "matrix_exp"),
)
"""Ops of lines that are easily wrong: ties, poles, positions, integers times fractions, pivots."""


def outcome(name: str) -> torch_opinfo.Outcome:
    (op,) = torch_opinfo.known_ops(f"^{re.escape(name)}$")
    return torch_opinfo.outcome(op)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", COMPILED)
def test_an_op_runs_without_falling_back(name: str):
    found = outcome(name)
    assert found.kind == "passes", found


def test_no_drawn_op_is_wrong():
    """The same ones in each run, for the same version of PyTorch."""
    ops = random.Random(54).sample(torch_opinfo.known_ops(), SOME)
    for op in ops:
        found = torch_opinfo.outcome(op)
        assert found.kind not in ("wrong", "error"), found


@pytest.mark.slow
def test_no_op_is_wrong():
    for op in torch_opinfo.known_ops():
        found = torch_opinfo.outcome(op)
        assert found.kind not in ("wrong", "error"), found


def test_an_op_that_falls_back_is_named():
    found = outcome("bernoulli")
    assert found.kind == "falls back"
    assert found.fallbacks


def test_an_op_that_dynamo_does_not_trace():
    assert outcome("nonzero").kind == "not traced"
