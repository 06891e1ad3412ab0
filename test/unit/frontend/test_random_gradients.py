"""Gradients of random expressions of f64 are those of PyTorch, also where they are not smooth."""

from __future__ import annotations

import numpy as np
import pytest
from finite_differences import failed_gradient
from random_gradients import RandomGradient
from random_seeds import batches
from reproduced import check_all

import tgdialect as tg
from tgdialect.runtime.compiler import parse_verified

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
        try:
            for mine, other in pairs:
                np.testing.assert_allclose(mine.numpy(), other.numpy(), 1e-7, 1e-7)
        except AssertionError as error:
            text = tg.function(lambda *x, of=expression: of(*x)).lower(*expression.arrays).as_text()
            module = parse_verified("expression.mlir", text)
            given = f"RandomGradient({seed})", module, expression.arrays, str(error)
            check_all(filter(None, [failed_gradient(*given)]))
            raise
