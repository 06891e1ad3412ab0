"""What programs need for intermediate results."""

from __future__ import annotations

from itertools import takewhile

import compositions
import programs
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from tgdialect.analysis.liveness import live_ranges
from tgdialect.analysis.min_max import MinMax
from tgdialect.lowering.pipeline import stages
from tgdialect.lowering.plan import PlanPass, max_bytes
from tgdialect.ops.ordering import LinearOp
from tgdialect.ops.source import BufferOp


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "module",
    [
        programs.mlp(8, (16, 300, 20, 500, 30, 10)).module,
        compositions.sort((20000,), 0).module,
        compositions.resize((3, 20, 30), (50, 40)).module,
    ],
    ids=["mlp", "sort", "resize"],
)
def test_the_arena_is_hardly_larger_than_what_is_live_at_once(module: ModuleOp):
    """At most 10 % more than the greatest sum of what is needed at the same time, aligned."""
    module = module.clone()
    for stage in takewhile(lambda stage: not isinstance(stage, PlanPass), stages()):
        stage.apply(Context(), module)
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    (linear,) = (op for op in function.body.block.ops if isinstance(op, LinearOp))
    blocks = [
        (live, -(-max_bytes(memory.owner, MinMax()) // 64) * 64)
        for memory, live in live_ranges(linear).items()
        if isinstance(memory.owner, BufferOp)
    ]
    last = max(live.end for live, _ in blocks)
    at_once = [sum(n for r, n in blocks if r.start <= t <= r.end) for t in range(last + 1)]
    PlanPass().apply(Context(), module)
    planned = function.attributes["tg.workspace_bytes"].value.data
    assert 0 < planned <= 1.1 * max(at_once)
