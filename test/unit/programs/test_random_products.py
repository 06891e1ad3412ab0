"""Random products, of few rows or of many steps as well: what their schedules copy fits into the
memory of a thread, on processors with other caches, too."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from random_seeds import batches

from tgdialect import Tensor, function
from tgdialect.lowering.pipeline import run_stages, stages
from tgdialect.ops import tg
from tgdialect.ops.properties import static_bytes
from tgdialect.targets import target_named
from tgdialect.targets.attribute import state_target

PROCESSORS = "znver2", "znver4", "sapphirerapids", "neoverse-v2"


def size(most: int) -> int:
    """A size up to a power of two, small ones as often as great ones."""
    return round(2 ** random.uniform(0, most))


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_PRODUCTS", 400))
def test_copies_fit(seeds: Sequence[int]):
    for seed in seeds:
        random.seed(seed)
        rows, columns, steps = size(11), size(11), size(14)
        is_turned = random.random() < 0.5, random.random() < 0.5
        shapes = [(rows, steps), (steps, columns)]
        a, b = (
            Tensor.empty(*(shape[::-1] if turned else shape))
            for shape, turned in zip(shapes, is_turned, strict=True)
        )
        program = function(
            lambda a, b, t=is_turned: (a.T if t[0] else a) @ (b.T if t[1] else b)
        ).lower(a, b)
        threads, name = random.choice([1, 2, 4]), random.choice(PROCESSORS)
        target = replace(target_named("cpu", [name]), threads=threads)
        module = program.source.clone()
        state_target(module, target)
        run_stages(module, replace(stages(mode="heuristic"), kernels=(), render=None))
        for kernel in (op for op in module.walk() if isinstance(op, tg.KernelOp)):
            buffers = [op for op in kernel.walk() if isinstance(op, tg.BufferOp)]
            taken = sum(static_bytes(op.result) for op in buffers)
            opts = [*(kernel.sink.opts or ())]
            assert taken <= target.local, (seed, name, threads, rows, columns, steps, opts)
            assert math.isfinite(taken)
