"""Random VIEWs, merged ones too, read and write the elements that their strides and masks say."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from compiling import compile_module
from random_seeds import batches
from sequential_machine import Array
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from tgdialect.diagnostics import verify_module
from tgdialect.interpreter import run
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
        x = np.arange(1, size + 1, dtype=np.float32)
        expected = x
        for view in views:
            expected = _read(expected.reshape(-1), view)
        module = _reading(views, size)
        verify_module(module)
        upgrade(module)
        verify_module(module)
        message = f"random_views({seed}): {[str(view) for view in views]}"
        (actual,) = run(module, "main", [x])
        np.testing.assert_array_equal(actual, expected, message)
        if seed % COMPILED == 0:
            np.testing.assert_array_equal(compile_module(module)(x), expected, message)


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
