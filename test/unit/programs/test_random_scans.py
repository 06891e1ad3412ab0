"""Random scans: the interpreter at every level, both modes of the compiler and C against a loop in
PyTorch's float64; and their gradients against PyTorch's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from random_scans import RandomScan
from random_seeds import batches

import tgdialect as tg
from tgdialect.interpreter import run
from tgdialect.lowering.pipeline import stages

torch = pytest.importorskip("torch")

TARGETS: dict[str, dict[str, Any]] = {
    "interpreter": {"target": "interpreter"},
    "none": {"opt": "none"},
    "heuristic": {},
    "c": {"target": "c"},
}
CLOSE = {"rtol": 1e-3, "atol": 1e-4}


def loop(f: Callable[..., Any], state: Any, xs: Any, length: int, reverse: bool) -> Any:
    """A scan in Python, on tensors of PyTorch."""
    rows: dict[int, Any] = {}
    for i in reversed(range(length)) if reverse else range(length):
        state, rows[i] = f(state, tuple(x[i] for x in xs))
    columns = zip(*(rows[i] for i in range(length)), strict=True)
    as_tensors = ([torch.as_tensor(value) for value in column] for column in columns)
    return state, [torch.stack(column) for column in as_tensors]


def total(values: Sequence[Any]) -> Any:
    """A number that depends on all floats, on each in its own way."""
    terms = [(v.float() if str(v.dtype).startswith("int") else v) for v in values]
    return sum((term * (0.3 * i + 1)).sin().sum() for i, term in enumerate(terms))


def reference(case: RandomScan) -> tuple[list[Any], list[Any]]:
    """The results and the gradients by PyTorch."""
    given = [torch.tensor(a, dtype=torch.float64, requires_grad=True) for a in case.arrays]
    results = [torch.as_tensor(value) for value in case.run(loop, given)]
    gradients = torch.autograd.grad(total(results), given, allow_unused=True)
    zeros = (torch.zeros_like(g) if d is None else d for g, d in zip(given, gradients, strict=True))
    return [r.detach().numpy() for r in results], [d.numpy() for d in zeros]


def check(found: Sequence[Any], expected: Sequence[Any], seed: int, where: str) -> None:
    assert len(found) == len(expected), (seed, where)
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        message = f"result {i}, seed {seed}, {where}"
        np.testing.assert_allclose(a, b, **CLOSE, err_msg=message)


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_SCANS", 3))
def test_results(seeds: range):
    for seed in seeds:
        case = RandomScan(seed)
        expected, _ = reference(case)

        def program(*arrays: tg.Tensor, case: RandomScan = case) -> tuple[tg.Tensor, ...]:
            return tuple(case.run(tg.scan, arrays))

        for name, options in TARGETS.items():
            executable = tg.compile(program, *case.arrays, **options)
            found = executable(*case.arrays)
            check(found if isinstance(found, tuple) else (found,), expected, seed, name)
        lowered = tg.function(program).lower(*case.arrays)
        for stage in stages():
            if stage.name != "tg-render":
                module = lowered.module(stage.name.removeprefix("tg-"))
                check(run(module, "main", case.arrays), expected, seed, stage.name)


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_SCANS", 3))
def test_gradients(seeds: range):
    for seed in seeds:
        case = RandomScan(seed)
        _, expected = reference(case)

        def program(*arrays: tg.Tensor, case: RandomScan = case) -> tuple[tg.Tensor, ...]:
            unused: Any = sum((array * 0).sum() for array in arrays)
            return tuple((total(case.run(tg.scan, arrays)) + unused).gradient(*arrays))

        for name in ("interpreter", "heuristic"):
            executable = tg.compile(program, *case.arrays, **TARGETS[name])
            found = executable(*case.arrays)
            check(found if isinstance(found, tuple) else (found,), expected, seed, name)
