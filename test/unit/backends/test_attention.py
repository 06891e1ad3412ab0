"""Long attentions for NVIDIA's GPUs: one kernel, which ptxas accepts without spills."""

from __future__ import annotations

import re

import pytest
from ptxas import assemble, needs_ptxas
from test_device_code import emitted, lowered

import tgdialect as tg
from tgdialect.backends.asm import PtxTarget


@pytest.mark.sampled(2)
@needs_ptxas
@pytest.mark.parametrize("width", [64, 128])
@pytest.mark.parametrize("is_causal", [False, True])
def test_ptxas_accepts_attentions(width: int, is_causal: bool):
    @tg.function
    def attention(q: tg.Tensor, k: tg.Tensor, v: tg.Tensor) -> tg.Tensor:
        return q.scaled_dot_product_attention(k, v, is_causal=is_causal)

    text = attention.lower(*[tg.spec((8, 4096, width), "float32")] * 3).as_text()
    ptx = emitted(PtxTarget(), lowered(text))
    report = assemble(ptx)
    assert ptx.count(".entry") == 1
    assert "cp.async" in ptx
    # No scores or results in memory of a work item, and as much LOCAL memory as the target has.
    assert re.findall(r"(\d+) bytes (?:stack frame|spill)", report)
    assert not any(map(int, re.findall(r"(\d+) bytes (?:stack frame|spill)", report)))
    (shared,) = map(int, re.findall(r"(\d+) bytes smem", report))
    assert shared <= 48 << 10
