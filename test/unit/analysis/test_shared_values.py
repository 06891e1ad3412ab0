"""Analyses visit a value once, however many paths of uses lead to it.

Each program here has 2^60 paths: an analysis that follows each of them never ends.
"""

from __future__ import annotations

from xdsl.dialects.builtin import f32, i1
from xdsl.ir import Block

from tgdialect.analysis.conditions import conjuncts
from tgdialect.analysis.one_hot import may_be_one_hot
from tgdialect.ops.attributes import ReduceKind
from tgdialect.ops.elementwise import AndOp, CastOp, CmpEqOp, MulOp
from tgdialect.ops.properties import tensor_type
from tgdialect.ops.reduce import ReduceOp

DOUBLINGS = 60


def test_a_sum_of_a_power():
    power = Block(arg_types=[tensor_type(f32, (4,))]).args[0]
    for _ in range(DOUBLINGS):
        power = MulOp(power, power).result
    assert not may_be_one_hot(ReduceOp(ReduceKind.ADD, power, [0]))


def test_a_sum_of_a_power_of_a_mask():
    one, other = Block(arg_types=[tensor_type(f32, (4,))] * 2).args
    mask = CastOp(CmpEqOp(one, other), f32).result
    for _ in range(DOUBLINGS):
        mask = MulOp(mask, mask).result
    assert may_be_one_hot(ReduceOp(ReduceKind.ADD, mask, [0]))


def test_conjuncts_are_found_once():
    a, b, both = Block(arg_types=[tensor_type(i1, ())] * 3).args
    first = both
    for _ in range(DOUBLINGS):
        both = AndOp(AndOp(both, a), AndOp(both, b)).result
    assert list(conjuncts([(both, True)])) == [(first, True), (a, True), (b, True)]
