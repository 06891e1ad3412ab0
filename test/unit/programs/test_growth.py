"""Twice the program takes about twice the work to compile: unrolled loops, layers, chains, trees.

Work is counted in calls of functions, which every run makes as often: of tracing, of verification,
and of all stages. What looks at all ops for each op, or at all loops for each loop, shows here
before it takes long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from counting import calls
from work import STAGES, TARGET, module_of
from work_programs import array, weight
from xdsl.dialects.builtin import ModuleOp

from tgdialect import Tensor, Variable
from tgdialect.diagnostics import verify_module
from tgdialect.lowering.levels import LoweringPass
from tgdialect.lowering.pipeline import run_stages
from tgdialect.targets.attribute import state_target

BATCH = Variable("batch", 1, 64)
MOST = 2.2
"""The most calls for twice the program, as a multiple."""


def lorenz(y: Tensor) -> Tensor:
    a, b, c = y[0], y[1], y[2]
    return Tensor.stack(10.0 * (b - a), a * (28.0 - c) - b, a * b - 8 / 3 * c)


def runge_kutta(y: Tensor, steps: int, h: float = 1e-3) -> Tensor:
    for _ in range(steps):
        k1 = lorenz(y)
        k2 = lorenz(y + h / 2 * k1)
        k3 = lorenz(y + h / 2 * k2)
        k4 = lorenz(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def cells(w: Tensor, u: Tensor, steps: int) -> Tensor:
    x, h = array(steps, 4, 8), array(4, 16)
    for t in range(steps):
        h = (x[t] @ w + h @ u).tanh()
    return h


def sines(x: Tensor, count: int) -> Tensor:
    for _ in range(count):
        x = (x * 1.01).sin() + 0.1
    return x


def tree(values: Sequence[Tensor]) -> Tensor:
    while len(values) > 1:
        pairs = zip(values[::2], values[1::2], strict=True)
        values = [a + b for a, b in pairs]
    return values[0]


def chain(values: Sequence[Tensor]) -> Tensor:
    total = values[0]
    for value in values[1:]:
        total = total + value
    return total


def recurrence(x: Tensor, count: int) -> Tensor:
    before = x * 0.5
    for _ in range(count):
        x, before = x * 0.5 + before * 0.4, x
    return x


def layers(x: Tensor, weights: Sequence[Tensor]) -> Tensor:
    for w in weights:
        x = (x @ w).relu()
    return x


def gradient_of_runge_kutta(steps: int) -> Sequence[Tensor]:
    y = weight(3)
    return runge_kutta(y, steps).sum().gradient(y)


def gradient_of_cells(steps: int) -> Sequence[Tensor]:
    w, u = weight(8, 16), weight(16, 16)
    return cells(w, u, steps).sum().gradient(w, u)


def gradient_of_sines(count: int) -> Sequence[Tensor]:
    x = weight(100)
    return sines(x, count).sum().gradient(x)


def gradient_of_layers(count: int) -> Sequence[Tensor]:
    weights = [weight(16, 16) for _ in range(count)]
    return layers(array(8, 16), weights).sum().gradient(*weights)


def symbolic(steps: int) -> Tensor:
    """Cells of a batch that has a symbolic size."""
    h = array(64, 16)[: BATCH.bind(5)]
    for _ in range(steps):
        h = (h * 0.5 + h.roll(1, 1)).tanh()
    return h


def gradient_of_symbolic_cells(steps: int) -> Sequence[Tensor]:
    w = weight(16, 16)
    x = h = array(64, 16)[: BATCH.bind(5)]
    for _ in range(steps):
        h = (x @ w + h @ w).tanh()
    return h.sum().gradient(w)


Program = Callable[[int], Tensor | Sequence[Tensor]]

PROGRAMS: dict[str, tuple[Program, int]] = {
    "Runge-Kutta": (lambda n: runge_kutta(array(3), n), 8),
    "cells": (lambda n: cells(array(8, 16), array(16, 16), n), 4),
    "sines": (lambda n: sines(array(100), n), 16),
    "tree": (lambda n: tree([array(64) for _ in range(n)]), 64),
    "chain": (lambda n: chain([array(64) for _ in range(n)]), 64),
    "recurrence": (lambda n: recurrence(array(64), n), 256),
    "layers": (lambda n: layers(array(8, 16), [array(16, 16) for _ in range(n)]), 16),
    "gradient of Runge-Kutta": (gradient_of_runge_kutta, 4),
    "gradient of cells": (gradient_of_cells, 4),
    "gradient of sines": (gradient_of_sines, 32),
    "gradient of layers": (gradient_of_layers, 32),
    "symbolic": (symbolic, 16),
    "gradient of symbolic cells": (gradient_of_symbolic_cells, 8),
}
"""Programs of a number of repetitions, and the least number for which growth is counted: fewer are
one kernel, and more several."""


@pytest.mark.sampled(8)
@pytest.mark.parametrize("name", PROGRAMS)
def test_growth(name: str):
    check_growth(*PROGRAMS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_growth_of_longer_programs(name: str):
    program, least = PROGRAMS[name]
    check_growth(program, 8 * least)


def check_growth(program: Program, least: int) -> None:
    """Compile a program of so many repetitions, and of twice as many."""

    def compiled(count: int) -> None:
        results = program(count)
        module = module_of([results] if isinstance(results, Tensor) else results)
        state_target(module, TARGET)
        verify_module(module)
        run_stages(module, STAGES, verified)

    def verified(stage: LoweringPass, module: ModuleOp) -> None:
        if stage.name in ("tg-rangeify", "tg-linearize"):
            verify_module(module)

    compiled(2)  # What is made once.
    before, after = (calls(lambda n=n: compiled(n)) for n in (least, 2 * least))
    assert after <= MOST * before, after / before
