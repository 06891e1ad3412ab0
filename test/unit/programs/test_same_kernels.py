"""The same program gives the same kernels in each process, wherever its objects lie in memory."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import sys
import tgdialect as tg
from tgdialect.runtime.compiler import load_module
from tgdialect.lowering.pipeline import run_stages, stages

def attention(q, k, v):
    return q.scaled_dot_product_attention(k, v)

PROGRAMS = (
    (lambda a, b: a @ b, [("f16", (256, 256))] * 2),
    (lambda a, b: (a @ b).relu(), [("f32", (200, 300)), ("f32", (300, 100))]),
    (attention, [("f32", (2, 64, 16))] * 3),
)
keep = [object() for _ in range(int(sys.argv[2]))]
for program, specs in PROGRAMS:
    text = tg.function(program).lower(*(tg.spec(shape, d) for d, shape in specs)).as_text()
    module = load_module(text)
    passes = stages(target=sys.argv[1], mode="heuristic")
    run_stages(module, [*passes][:-1])
    print(module)
"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", ["nvidia:sm_90a", "nvidia:sm_80", "opencl"])
def test_same_kernels(target: str):
    found = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT, target, str(seed * 1000)],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2)
    }
    (text,) = found
    assert "tg.barrier" in text
