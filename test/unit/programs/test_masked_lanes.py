"""Vectors along padded axes: one comparison masks the lanes of a LOAD that a WHERE gates."""

from __future__ import annotations

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
        pads = random.integers(0, 20, (2, 2)) * random.integers(0, 2, (2, 2))
        x = random.integers(1, 100, (rows, columns)).astype(random.choice(DTYPES))
        (top, bottom), (left, right) = pads.tolist()
        kept = int(random.integers(1, columns + left + right + 1))
        step = int(random.integers(1, 4))

        def program(a: tg.Tensor, pads: object = ((top, bottom), (left, right))) -> tg.Tensor:
            return a.pad(pads)[:, :kept:step] + 1  # noqa: B023

        width = int(random.integers(2, 40))
        where = random.choice(["", ", overlap"])
        lowered = tg.function(program).lower(tg.Tensor(x))
        expected = np.pad(x, pads.tolist())[:, :kept:step] + x.dtype.type(1)
        for opt in ("heuristic", f"explicit:split 1, {width}, upcast{where}"):
            try:
                exe = lowered.compile(opt=opt)
            except CompilationError:
                if opt == "heuristic":
                    raise
                continue
            np.testing.assert_array_equal(exe(x), expected, err_msg=f"seed {seed}, {opt}")
