"""Gradients of random expressions of f64 are those of PyTorch, also where they are not smooth."""

from __future__ import annotations

import numpy as np
import pytest
from random_gradients import RandomGradient
from random_seeds import batches

import tgdialect as tg

torch = pytest.importorskip("torch")


@pytest.mark.parity
@pytest.mark.parametrize("seeds", batches("TG_RANDOM_GRADIENTS", 20), ids=str)
def test_gradients(seeds: range):
    for seed in seeds:
        expression = RandomGradient(seed)
        theirs = [torch.tensor(a, requires_grad=True) for a in expression.arrays]
        expected = expression(*theirs)
        expected.backward()
        ours = [tg.Tensor(a, requires_grad=True) for a in expression.arrays]
        result = expression(*ours)
        pairs = [(result, expected.detach())]
        pairs += zip(result.gradient(*ours), (t.grad for t in theirs), strict=True)
        for mine, other in pairs:
            np.testing.assert_allclose(mine.numpy(), other.numpy(), 1e-7, 1e-7, err_msg=f"{seed}")
