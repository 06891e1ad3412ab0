"""Vectors along padded axes: one comparison masks the lanes of a LOAD that a WHERE gates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from random_seeds import batches

import tgdialect as tg
from tgdialect.diagnostics import CompilationError

DTYPES = ("f4", "f8", "i4", "i2", "u1")


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_LANES", 400))
def test_random_padding_by_lanes(seeds: range) -> None:
    for seed in seeds:
        random = np.random.default_rng(seed)
        rows, columns = random.integers(1, 12), random.integers(1, 80)
        pads = (random.integers(0, 20, (2, 2)) * random.integers(0, 2, (2, 2))).tolist()
        x = random.integers(1, 100, (rows, columns)).astype(random.choice(DTYPES))
        kept = int(random.integers(1, columns + sum(pads[1]) + 1))
        step = int(random.integers(1, 4))

        taken = (slice(None), slice(0, kept, step))

        def program(a: tg.Tensor, pads: Any = pads, taken: Any = taken) -> tg.Tensor:
            return a.pad(pads)[taken] + 1

        width = int(random.integers(2, 40))
        where = random.choice(["", ", overlap"])
        lowered = tg.function(program).lower(tg.Tensor(x))
        expected = np.pad(x, pads)[taken] + x.dtype.type(1)
        for opt in ("heuristic", f"explicit:split 1, {width}, upcast{where}"):
            try:
                exe = lowered.compile(opt=opt)
            except CompilationError:
                if opt == "heuristic":
                    raise
                continue
            np.testing.assert_array_equal(exe(x), expected, err_msg=f"seed {seed}, {opt}")


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_LANES", 100))
def test_indices_that_look_like_clamps(seeds: range) -> None:
    """`where(i < a, i, b)` is i in all lanes only if b is a or a - 1."""
    for seed in seeds:
        random = np.random.default_rng(seed)
        count, size = random.integers(2, 70, 2).tolist()
        first, other = int(random.integers(1, count + 1)), int(random.integers(0, size))
        x = random.standard_normal((size, 9)).astype(np.float32)

        def program(a: tg.Tensor, n: int = count, first: int = first, b: int = other) -> tg.Tensor:
            at = tg.Tensor.arange(n)
            return a[(at < first).where(at, b).minimum(a.shape[0] - 1)] + 1

        at = np.arange(count)
        expected = x[np.minimum(np.where(at < first, at, other), size - 1)] + 1
        exe = tg.function(program).lower(tg.Tensor(x)).compile()
        np.testing.assert_array_equal(exe(x), expected, err_msg=f"seed {seed}")
