"""Random programs along an axis of symbolic size: one compilation for all sizes, and PyTorch's
values and gradients for each."""

from __future__ import annotations

import numpy as np
import pytest
from parity import torch, values
from random_seeds import batches
from random_symbolic import STEPS, program

import tgdialect as tg

MOST = 9
X = values(3, MOST)


@pytest.mark.parity
@pytest.mark.parametrize("cases", batches("TG_RANDOM_SYMBOLIC", 10))
def test_random_programs_of_symbolic_size(cases: range):
    for seed in cases:
        names, run = program(seed)
        least = seed % 2
        n = tg.Variable("n", least, MOST)
        function = tg.function(run)

        @tg.function
        def gradient(x: tg.Tensor, run=run) -> tg.Tensor:  # pyright: ignore
            return (run(x) ** 2).sum().gradient(x)[0]

        for size in (least, 1, 2, 5, MOST):
            reference = torch.tensor(X[:, :size], requires_grad=True)
            try:
                expected = run(reference)
            except (RuntimeError, IndexError):
                assert size == 0, f"{names} of seed {seed}"
                continue  # PyTorch has no empty windows, medians and so on.
            x = tg.Tensor(X)[:, : n.bind(size)]
            found = function(x).numpy()
            what = f"{names} of seed {seed}, size {size}"
            assert found.shape == tuple(expected.shape), what
            np.testing.assert_allclose(found, expected.detach(), 1e-4, 1e-4, err_msg=what)
            (expected**2).sum().backward()
            got = gradient(x.detach()).numpy()
            scale = max(float(reference.grad.abs().max()), 1.0) if size else 1.0
            np.testing.assert_allclose(
                got / scale, reference.grad / scale, 1e-3, 1e-4, err_msg=f"gradient: {what}"
            )


def test_every_step_is_made():
    names = {name for seed in range(300) for name in program(seed)[0]}
    assert names == set(STEPS)
