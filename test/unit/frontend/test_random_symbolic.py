"""Random programs along an axis of symbolic size: one compilation for all sizes, and PyTorch's
values and gradients for each."""

from __future__ import annotations

import numpy as np
import pytest
from parity import torch, values
from random_seeds import batches
from random_symbolic import STEPS, program
from random_symbolic_chains import MOST as LONGEST
from random_symbolic_chains import NAMES, M, N, at, chain

import tgdialect as tg
from tgdialect.frontend.symbolic import greatest

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


@pytest.mark.parity
@pytest.mark.parametrize("cases", batches("TG_RANDOM_SYMBOLIC", 20))
def test_random_chains_of_symbolic_sizes(cases: range):
    """A step of training: it assigns to the weights, which have PyTorch's values after it."""
    for seed in cases:
        made = chain(seed)
        start = [values(*shape, seed=i) for i, shape in enumerate(made.weights)]
        weights = [tg.Tensor(w).realize().requires_grad_() for w in start]

        @tg.function
        def step(x: tg.Tensor, n: int, m: int, made=made, weights=weights):  # pyright: ignore
            y = made.run(x, weights, {"n": n, "m": m})
            gradients = (y**2).mean().gradient(x, *weights)
            for weight, gradient in zip(weights, gradients[1:], strict=True):
                weight.assign(weight.detach() - 0.1 * gradient)
            return y, gradients[0]

        theirs = [torch.tensor(w, requires_grad=True) for w in start]
        full = values(*map(greatest, made.first), seed=seed)
        for n, m in ((1, 1), (3, 2), (2, LONGEST), (LONGEST, LONGEST)):
            ours, numbers = {"n": N.bind(n), "m": M.bind(m)}, {"n": n, "m": m}
            x, reference = (
                of(full)[tuple(slice(at(d, sizes)) for d in made.first)]
                for of, sizes in ((tg.Tensor, ours), (torch.tensor, numbers))
            )
            expected = made.run(reference.requires_grad_(), theirs, numbers)
            (expected**2).mean().backward()
            found, gradient = step(x, *ours.values())
            pairs = [(found, expected.detach()), (gradient, reference.grad)]
            for weight, wanted in zip(weights, theirs, strict=True):
                wanted.data -= 0.1 * wanted.grad
                wanted.grad = None
                pairs.append((weight, wanted.detach()))
            for part, (got, wanted) in enumerate(pairs):
                what = f"{made.names} of seed {seed}, n = {n}, m = {m}: part {part}"
                assert got.numpy().shape == tuple(wanted.shape), what
                scale = max(float(wanted.abs().max()), 1e-3)
                np.testing.assert_allclose(
                    got.numpy() / scale, wanted / scale, 1e-3, 1e-4, err_msg=what
                )


def test_every_step_is_made():
    names = {name for seed in range(300) for name in program(seed)[0]}
    assert names == set(STEPS)
    drawn = {name for seed in range(300) for name in chain(seed).names}
    assert drawn == NAMES
