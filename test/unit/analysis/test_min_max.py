"""`min_max` never excludes a value, and takes time linear in the graph."""

from __future__ import annotations

import math

import numpy as np
import pytest
from random_graphs import Graph, graphs
from random_seeds import searched
from xdsl.ir import SSAValue

from tgdialect.analysis.min_max import MinMax
from tgdialect.ops.attributes import AxisType
from tgdialect.ops.dtypes import BOOL, F32, INDEX, UI8
from tgdialect.ops.elementwise import AddOp, CmpLtOp, MulOp, WhereOp
from tgdialect.ops.intervals import Interval
from tgdialect.ops.movement import PadOp
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.properties import tensor_type
from tgdialect.ops.source import ConstOp, ParamOp


@searched(300, graphs())
def test_intervals_hold_every_value(graph: Graph):
    """Of the cells that are valid: those that are not are 0 in what a function returns."""
    min_max = MinMax()
    returned = graph.block.last_op
    assert returned is not None
    pads = [op for op in graph.block.ops if isinstance(op, PadOp)]
    invalid = Interval(0, 0) if any(pad.fill is None for pad in pads) else None
    for value, result in zip(returned.operands, graph.evaluate(), strict=True):
        interval = min_max[value]
        if invalid is not None:
            interval = interval.union(invalid)
        for cell in np.asarray(result).flatten():
            assert cell.item() in interval, f"{cell} in {interval} of {value}\n{graph.module}"


def parameter(low: int, high: int) -> SSAValue:
    return ParamOp(0, tensor_type(INDEX), min=low, max=high).result


def test_an_interval_is_computed_once_per_value():
    """A chain that doubles 200 times has 2^200 paths and 400 values."""
    value = parameter(0, 1)
    for _ in range(200):
        value = MulOp(value, ConstOp(1, INDEX)).result
        value = WhereOp(ConstOp(1, BOOL), value, value).result
    assert MinMax()[value] == Interval(0, 1)


def test_deep_graphs():
    """No recursion: 20 000 additions of 1."""
    value, one = parameter(0, 1), ConstOp(1, INDEX)
    for _ in range(20_000):
        value = AddOp(value, one).result
    assert MinMax()[value] == Interval(20_000, 20_001)


def test_forget():
    min_max = MinMax()
    op = AddOp(parameter(0, 1), ConstOp(1, INDEX))
    assert min_max[op.result] == Interval(1, 2)
    op.operands[1] = ConstOp(5, INDEX).result
    assert min_max[op.result] == Interval(1, 2)
    min_max.forget(op.result)
    assert min_max[op.result] == Interval(5, 6)


def test_an_empty_range_excludes_nothing():
    empty = RangeOp(0, AxisType.LOOP, ConstOp(0, INDEX))
    assert MinMax()[empty.result] == Interval(0, 0)


@pytest.mark.parametrize("value", [math.nan, math.inf, -0.0])
def test_constants(value: float):
    interval = MinMax()[ConstOp(value, F32).result]
    assert value in interval
    assert (math.nan in interval) == (value != value)


def test_unsigned_wrap():
    """200 + 100 may wrap in ui8, 100 + 100 does not."""
    low = ParamOp(0, tensor_type(UI8), min=0, max=100)
    high = ParamOp(1, tensor_type(UI8), min=0, max=200)
    assert MinMax()[AddOp(low, low).result] == Interval(0, 200)
    assert MinMax()[AddOp(low, high).result] == Interval(0, 255)


@pytest.mark.parametrize("is_least", [True, False])
def test_minima_and_maxima_of_two_values(is_least: bool):
    """`where(x < y, x, y)` is no greater than either, and `where(x < y, y, x)` no less."""
    random = np.random.default_rng(0)
    for _ in range(100):
        bounds = np.sort(random.integers(-9, 10, (2, 2)))
        x, y = (parameter(int(low), int(high)) for low, high in bounds)
        chosen = (x, y) if is_least else (y, x)
        value = WhereOp(CmpLtOp(x, y).result, *chosen).result
        low, high = (bounds.min(0) if is_least else bounds.max(0)).tolist()
        assert MinMax()[value] == Interval(low, high), bounds
