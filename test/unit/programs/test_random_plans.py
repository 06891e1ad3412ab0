"""Any plan that fits the ops gives the same results: random attributes on the ops of programs."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from random_seeds import batches
from xdsl.ir import Block, Operation

import tgdialect as tg
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.rangeify import plan_fusion as planning_pass
from tgdialect.lowering.rangeify.planning.plan import (
    AXIS_ORDER,
    HOLDS_SOURCE,
    LOCAL_AXES,
    LOOP_ORDER,
    Fusion,
    is_realised,
    realise,
    write_plan,
)
from tgdialect.ops import tg as ops
from tgdialect.ops.elementwise import ElementwiseOp
from tgdialect.ops.properties import index_array, is_memory, tensor

N = 6


def shuffle_plan(random: Random, block: Block) -> int:
    """Change the plan of a function in any way; returns the number of changes."""
    changed = 0
    held = {op.source.owner for op in block.ops if HOLDS_SOURCE in op.attributes}
    for op in ops_of(block):
        if op in held or HOLDS_SOURCE in op.attributes or random.random() < 0.5:
            continue
        if isinstance(op, ops.StoreOp):
            rank = len(tensor(op.buffer).shape)
            op.attributes[LOOP_ORDER] = index_array(random.sample(range(rank), rank))
        elif isinstance(op, ElementwiseOp | ops.ReduceOp | ops.PadOp | ops.StackOp):
            changed += _shuffle(random, op)
    return changed


def _shuffle(random: Random, op: Operation) -> bool:
    value = op.results[0]
    rank = len(tensor(value).shape)
    if is_memory(value) or not rank:
        return False
    order = index_array(random.sample(range(rank), rank))
    match random.randrange(4):
        case 0 if not isinstance(op, ops.PadOp):
            op.attributes.pop("tg.realised", None)
            op.attributes[LOCAL_AXES] = index_array([random.randrange(rank)])
        case 1:
            realise(op)
            op.attributes[AXIS_ORDER] = order
        case 2:
            realise(op)
            op.attributes[LOOP_ORDER] = order
        case _ if is_realised(op):
            op.attributes.clear()
        case _:
            return False
    return True


def program(x: tg.Tensor, w: tg.Tensor) -> tuple[tg.Tensor, tg.Tensor]:
    y = (x @ w).softmax(-1).pad(((1, 1), (0, 2)), value=2.0).transpose()
    z = tg.Tensor.stack(y.sum(0), y.max(0) * 3, dim=1).reshape(-1) + y.sum()
    return (y - y.mean(1, keepdim=True)) @ w[:1].transpose().expand(y.shape[1], 3), z


def reference(x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    s = np.exp(x @ w - (x @ w).max(-1, keepdims=True))
    y = np.pad(s / s.sum(-1, keepdims=True), ((1, 1), (0, 2)), constant_values=2.0).T
    z = np.stack([y.sum(0), y.max(0) * 3], 1).reshape(-1) + y.sum()
    return (y - y.mean(1, keepdims=True)) @ np.broadcast_to(w[:1].T, (N + 2, 3)), z


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_PLANS", 20), ids=str)
def test_random_plans(seeds: range, monkeypatch: pytest.MonkeyPatch):
    changes: list[int] = []
    for seed in seeds:
        numbers = np.random.default_rng(seed)

        def shuffled(block: Block, plan: Fusion, seed: int = seed) -> None:
            write_plan(block, plan)
            changes.append(shuffle_plan(Random(seed), block))

        monkeypatch.setattr(planning_pass, "write_plan", shuffled)
        x, w = numbers.random((N, N)), numbers.random((N, N + 2))
        results = tg.function(program)(*(tg.Tensor(a.astype(np.float32)) for a in (x, w)))
        for result, wanted in zip(results, reference(x, w), strict=True):
            np.testing.assert_allclose(result.numpy(), wanted, rtol=2e-4, atol=1e-4)
    assert len(changes) >= len(seeds)
    assert sum(changes) > len(seeds)
