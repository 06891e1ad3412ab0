"""`are_disjoint`, against all values of the loop that the offsets of two windows depend on."""

from __future__ import annotations

import random

import pytest
from xdsl.ir import Block, SSAValue

from tgdialect.ops.attributes import AddrSpace, AxisType, PlaceAttr
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.dtypes import F32
from tgdialect.ops.elementwise import AddOp, MulOp
from tgdialect.ops.movement import ReshapeOp, ShrinkOp
from tgdialect.ops.ordering import AfterOp, RangeOp
from tgdialect.ops.properties import tensor_type
from tgdialect.ops.source import ParamOp
from tgdialect.ops.views import are_disjoint

Offset = tuple[int, int]
"""The factor of the loop's variable, and a constant."""
TRIPS = 8


def disjoint(first: tuple[Offset, int], second: tuple[Offset, int]) -> bool:
    """Whether windows of rows, at an offset and of an extent, are found to be disjoint."""
    block = Block()
    builder = OpBuilder.at_end(block)
    put = builder.put
    memory = put(ParamOp(0, tensor_type(F32, (100, 4), PlaceAttr.of(None, AddrSpace.GLOBAL))))
    loop = put(RangeOp(0, AxisType.LOOP, builder.index_constant(TRIPS)))

    def view(window: tuple[Offset, int]) -> SSAValue:
        (factor, constant), extent = window
        offset: SSAValue | int = constant
        if factor:
            scaled = put(MulOp(loop, builder.index_constant(factor)))
            offset = put(AddOp(scaled, builder.index_constant(constant)))
        shown = put(AfterOp(memory, [loop]))
        return put(ReshapeOp(put(ShrinkOp(shown, [offset, 0], [extent, 4])), (4 * extent,)))

    return are_disjoint(view(first), view(second))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (((0, 0), 2), ((0, 2), 3), True),
        (((0, 0), 3), ((0, 2), 3), False),
        (((1, 0), 1), ((1, 1), 1), True),
        (((1, 0), 2), ((1, 1), 1), False),
        (((1, 0), 1), ((-1, 9), 1), True),
        (((1, 0), 1), ((-1, 8), 1), False),
        (((2, 0), 1), ((4, 3), 1), True),
        (((2, 0), 2), ((4, 3), 2), False),
    ],
)
def test_windows(first: tuple[Offset, int], second: tuple[Offset, int], expected: bool):
    assert disjoint(first, second) == expected
    assert disjoint(second, first) == expected


def test_random_windows():
    """What is found to be disjoint has no common row in any iteration."""
    choose = random.Random(0)
    found = 0
    for _ in range(300):
        windows = [
            ((choose.randint(-3, 3), choose.randint(21, 30)), choose.choice((1, 1, 2, 3)))
            for _ in range(2)
        ]
        if disjoint(*windows):
            found += 1
            for i in range(TRIPS):
                a, b = (
                    set(range(factor * i + low, factor * i + low + extent))
                    for (factor, low), extent in windows
                )
                assert not a & b, windows
    assert found > 20


def test_whole_memory_and_one_view_twice():
    assert not disjoint(((0, 0), 100), ((0, 99), 1))
    assert not disjoint(((1, 0), 1), ((1, 0), 1))
