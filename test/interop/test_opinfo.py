"""Methods of Tensor agree with PyTorch on the samples of its table of ops."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="PyTorch's table of ops imports it")

import opinfo  # After the checks of what it imports.

pytestmark = [pytest.mark.slow, pytest.mark.parity]

SHARE = 0.98
"""The least share of ops that agree."""


def test_most_ops_agree():
    tested = [outcome for outcome in opinfo.outcomes() if outcome.samples]
    failing = {outcome.name: outcome.failure for outcome in tested if outcome.failure}
    assert len(tested) > 200
    assert len(failing) <= (1 - SHARE) * len(tested), failing


def test_a_difference_is_found():
    """Shapes, dtypes and numbers are compared."""
    (op,) = (op for op in opinfo.known_ops() if opinfo.title(op) == "sum")
    right = opinfo.torch.tensor([1.0, 2.0])
    assert opinfo.difference(op, opinfo.T([1.0, 2.0]), right) is None
    for wrong in ([1.0, 2.1], [[1.0, 2.0]], [1, 2], [1.0, float("nan")]):
        assert opinfo.difference(op, opinfo.T(wrong), right) is not None
