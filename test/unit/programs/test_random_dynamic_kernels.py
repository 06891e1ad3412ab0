"""Random programs of symbolic sizes: one program for all sizes, against the interpreter for
each of them."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pytest
from random_dynamic_kernels import Array, RandomChain
from random_seeds import batches

import tgdialect as tg
from tgdialect.interpreter import run
from tgdialect.lowering.optimize.cpu import heuristic
from tgdialect.lowering.pipeline import stages

MODES: dict[str, dict[str, Any]] = {"heuristic": {}, "none": {"opt": "none"}, "c": {"target": "c"}}
LIMITS = 1, 4, 9, 17, 40
"""The greatest sizes: one, fewer than a tile, about one, several."""
LARGE = 300
"""A size of many tiles, where only one axis is symbolic."""


def specs(case: RandomChain) -> list[Any]:
    bounds = dict.fromkeys(case.symbols, (1, LARGE))
    return [tg.spec(case.shape, **bounds), *case.arrays]


def sizes_of(case: RandomChain, seed: int) -> list[dict[str, int]]:
    random, names = Random(seed), sorted({*case.symbols})
    found: list[dict[str, int]] = []
    for limit in LIMITS if len(names) < 3 else LIMITS[:-1]:
        most = limit if len(names) == 1 else min(limit, 17)
        found.append({n: random.randint(1, min(most, 4) if n == "b" else most) for n in names})
    if len(names) == 1 and len(case.steps) == 2:
        found.append({names[0]: LARGE})
    return found


def interpreted(case: RandomChain, x: Array) -> Array:
    """The result for the sizes of an array, of a program that has them as numbers."""
    with np.errstate(all="ignore"):
        found: Any = tg.compile(case, x, *case.arrays, target="interpreter")(x, *case.arrays)
    return found


def check(found: Any, expected: Array, case: RandomChain, where: object) -> None:
    message = f"{case.shape}, {case.names}, {where}"
    if expected.dtype.kind != "f":
        np.testing.assert_array_equal(found, expected, err_msg=message)
        return
    finite = np.abs(expected[np.isfinite(expected)]).max(initial=1)
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4 * finite, err_msg=message)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seeds", batches("TG_RANDOM_DYNAMIC", 20))
@pytest.mark.parametrize("mode", MODES)
def test_results(mode: str, seeds: range):
    for seed in seeds:
        case = RandomChain(seed)
        program = tg.compile(case, *specs(case), **MODES[mode])
        for sizes in sizes_of(case, seed):
            x = case.input(sizes)
            check(program(x, *case.arrays), interpreted(case, x), case, (seed, sizes))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seeds", batches("TG_RANDOM_DYNAMIC", 20))
@pytest.mark.parametrize("threads", ["2", "4"])
def test_threads(threads: str, seeds: range, monkeypatch: pytest.MonkeyPatch):
    """Kernels whose loops threads share, however short they are."""
    monkeypatch.setenv("TG_NUM_THREADS", threads)
    monkeypatch.setenv("TG_CACHE_DIR", "")
    monkeypatch.setattr(heuristic, "cycles", lambda _: math.inf)
    for seed in seeds:
        case = RandomChain(seed)
        program = tg.compile(case, *specs(case))
        for sizes in sizes_of(case, seed):
            x = case.input(sizes)
            check(program(x, *case.arrays), interpreted(case, x), case, (seed, sizes))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seeds", batches("TG_RANDOM_DYNAMIC", 20))
def test_stages(seeds: range):
    """The interpreter computes the same at every level."""
    for seed in seeds:
        case = RandomChain(seed)
        lowered = tg.function(case).lower(*specs(case))
        values = sizes_of(case, seed)[2]
        x = case.input(values)
        expected = interpreted(case, x)
        given = [x, *case.arrays, *(values[n] for n in dict.fromkeys(case.symbols))]
        for stage in stages():
            if stage.name != "tg-render":
                module = lowered.module(stage.name.removeprefix("tg-"))
                (found,) = run(module, "main", given)
                check(found, expected, case, (seed, values, stage.name))
