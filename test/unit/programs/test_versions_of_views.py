"""Stores through views whose later versions are AFTERs of the views, not of the buffer."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from executors import interpret, optimized
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from tgdialect.ops import tg


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(12))
def test_versions_of_views(seed: int) -> None:
    random = Random(seed)
    place = tg.PlaceAttr.of("CPU", tg.AddrSpace.GLOBAL)
    block = Block(arg_types=[tg.tensor_type(tg.F32, (8, 4), place)])
    put, view = tg.OpBuilder.at_end(block).put, block.args[0]

    def window(of: SSAValue) -> SSAValue:
        shape = tg.tensor(of).get_shape()
        extents = [random.randint(1, extent) for extent in shape]
        starts = [random.randint(0, n - m) for n, m in zip(shape, extents, strict=True)]
        return put(tg.ShrinkOp(of, starts, extents))

    results: list[SSAValue] = []
    for _ in range(random.randint(2, 6)):
        view = window(view) if random.random() < 0.5 else view
        target = window(view)
        value = put(tg.LoadOp(target))
        store = put(tg.StoreOp(target, put(tg.AddOp(value, value))))
        view = put(tg.AfterOp(view, [store]))
        results.append(put(tg.LoadOp(window(view))))
    block.add_op(ReturnOp(*results))
    types = [arg.type for arg in block.args], [result.type for result in results]
    module = ModuleOp([FuncOp("main", types, Region(block))])
    module.verify()
    start = np.arange(32, dtype=np.float32).reshape(8, 4)
    expected, found = (run(module, [start.copy()]) for run in (interpret, optimized))
    for a, b in zip(expected, found, strict=True):
        np.testing.assert_array_equal(a, b)
