"""Schedules of the heuristic keep to the LOCAL memory of a kernel, whatever sizes programs have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from random_seeds import batches

import tgdialect as tg
from tgdialect.lowering.pipeline import run_stages, stages
from tgdialect.ops import tg as ops
from tgdialect.targets.attribute import settle_target

PROCESSORS = ("znver2", "znver4", "sapphirerapids", "neoverse-v1", "apple-m1")


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_SCHEDULED_PRODUCTS", 200))
def test_random_products_are_planned(seeds: range) -> None:
    for seed in seeds:
        random = np.random.default_rng(seed)
        m, n, k = (int(2 ** random.uniform(0, 13)) for _ in range(3))
        if random.integers(2):
            m, n, k = (1 << size.bit_length() - 1 for size in (m, n, k))
        is_transposed = bool(random.integers(2))

        def product(a: tg.Tensor, b: tg.Tensor, transposed: bool = is_transposed) -> tg.Tensor:
            return a @ (b.T if transposed else b)

        other = (n, k) if is_transposed else (k, n)
        module = tg.function(product).lower(tg.spec((m, k)), tg.spec(other)).source.clone()
        processor, threads = str(random.choice(PROCESSORS)), int(random.integers(1, 5))
        settle_target(module, features=(processor,), threads=threads)
        run_stages(module, replace(stages(mode="heuristic"), render=None))
        assert any(isinstance(op, ops.KernelOp | ops.ProgramOp) for op in module.walk()), seed
