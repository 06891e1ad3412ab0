"""Random VIEWs, merged ones too, read and write the elements that their strides and masks say."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from random import Random

import numpy as np
import pytest
from executors import compiled, interpret
from random_seeds import batches
from reproduced import check_program, raised
from sequential_machine import Array
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from tgdialect.diagnostics import verify_module
from tgdialect.legacy.attributes import ViewAttr
from tgdialect.legacy.ops.indexing import ViewOp
from tgdialect.legacy.upgrade.stage import upgrade
from tgdialect.ops.dtypes import F32
from tgdialect.ops.properties import tensor_type

COMPILED = 5
"""One of so many views is compiled, too."""


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_VIEWS", 200), ids=str)
def test_views_read_their_elements(seeds: range):
    for seed in seeds:
        views, size = random_views(seed)
        module, x = _reading(views, size), np.arange(1, size + 1, dtype=np.float32)
        verify_module(module)
        wrong = raised(partial(_check, is_compiled=seed % COMPILED == 0))
        made = f"random_views({seed}): {[str(view) for view in views]}"
        check_program(wrong, made, module, [x], again="tg-opt -p tg-upgrade-legacy")


def _check(module: ModuleOp, inputs: Sequence[Array], is_compiled: bool) -> None:
    """Compare what the views of a module show with their definition."""
    expected, *_ = inputs
    for op in module.walk():
        for view in op.views if isinstance(op, ViewOp) else ():
            expected = _read(expected.reshape(-1), view)
    upgrade(module)
    verify_module(module)
    for execute in (interpret, compiled("heuristic"))[: 1 + is_compiled]:
        (actual,) = execute(module, inputs)
        np.testing.assert_array_equal(actual, expected)


def _reading(views: Sequence[ViewAttr], size: int) -> ModuleOp:
    """A function of a vector that returns what some views show of it."""
    block = Block(arg_types=[tensor_type(F32, (size,))])
    view = ViewOp(block.args[0], views=views)
    block.add_ops([view, ReturnOp(view.result)])
    type = FunctionType.from_lists([block.args[0].type], [view.result.type])
    return ModuleOp([FuncOp("main", type, Region(block))])


def _read(flat: Array, view: ViewAttr) -> Array:
    """The elements of a view; 0 where its mask excludes them."""
    result = np.zeros(view.shape, flat.dtype)
    for index in np.ndindex(*view.shape):
        if all(first <= i < end for i, (first, end) in zip(index, view.spans, strict=True)):
            steps = (i * stride for i, stride in zip(index, view.strides, strict=True))
            result[index] = flat[view.offset + sum(steps)]
    return result


def random_views(seed: int) -> tuple[Sequence[ViewAttr], int]:
    """Views, each of what the one before it shows, and the size of the memory under them."""
    random = Random(seed)
    size = random.choice((1, 6, 12, 24, 30))
    views = [_random_view(random, size)]
    while random.random() < 0.4 and (cells := int(np.prod(views[-1].shape))):
        views.append(_random_view(random, cells))
    return views, size


def _random_view(random: Random, cells: int) -> ViewAttr:
    """A view of memory of so many cells."""
    while True:
        shape = [random.choice((1, 2, 3, 4, 5)) for _ in range(random.randint(0, 4))]
        strides = [random.choice((0, 1, -1, 2, 3, 4, 6, -2, 12, 5)) for _ in shape]
        mask = None
        if random.random() < 0.4:
            firsts = [random.randint(0, extent) for extent in shape]
            mask = [(a, random.randint(a, n)) for a, n in zip(firsts, shape, strict=True)]
        view = ViewAttr.of(shape, strides, 0, mask)
        if view.positions is None:
            return view
        low, high = view.positions
        if high - low <= cells:
            return ViewAttr.of(shape, strides, random.randint(-low, cells - high), mask)
