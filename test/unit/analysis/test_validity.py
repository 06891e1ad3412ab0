"""`Validity`: which values a PAD's invalid cells reach."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from random_graphs import Graph, graphs
from xdsl.ir import Block, Region

from tgdialect.analysis.validity import Validity
from tgdialect.ops.attributes import InvalidAttr, ReduceKind
from tgdialect.ops.call import FunctionOp, GetTupleOp, TupleOp
from tgdialect.ops.dtypes import F32, number_attribute
from tgdialect.ops.elementwise import AddOp
from tgdialect.ops.marker import ContiguousOp, DetachOp
from tgdialect.ops.movement import PadOp, ReshapeOp
from tgdialect.ops.properties import tensor_type
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import ConstOp, ParamOp


def padded() -> PadOp:
    return PadOp(ReshapeOp(ConstOp(1.0, F32), (1,)), (0,), (2,))


def test_what_makes_invalid_cells():
    validity = Validity()
    assert not validity[padded().result]
    assert not validity[ConstOp(InvalidAttr(F32)).result]
    source = ReshapeOp(ConstOp(1.0, F32), (1,))
    assert validity[source.result]
    assert validity[PadOp(source, (0,), (2,), number_attribute(0.0, F32)).result]


def test_what_passes_them_on():
    validity = Validity()
    assert not validity[AddOp(padded(), ConstOp(1.0, F32)).result]
    assert not validity[DetachOp(ReshapeOp(padded(), (2, 1))).result]


def test_what_makes_them_valid():
    validity = Validity()
    assert validity[ContiguousOp(padded()).result]
    assert validity[ReduceOp(ReduceKind.ADD, padded(), ()).result]


@pytest.mark.parametrize("argument_is_valid", [True, False])
def test_functions_pass_them_on(argument_is_valid: bool):
    source = padded()
    argument = ContiguousOp(source) if argument_is_valid else source
    param = ParamOp(0, tensor_type(F32, (2,)))
    pair = TupleOp((AddOp(param, param),))
    block = Block([param, pair.operands[0].owner, pair])
    function = FunctionOp((argument,), Region(block))
    assert Validity()[GetTupleOp(function, 0).result] == argument_is_valid


@settings(max_examples=100)
@given(graphs())
def test_filling_valid_values_changes_nothing(graph: Graph):
    """A reduction over no axis gives its identity for invalid cells, and any other cell itself."""
    returned = graph.block.last_op
    assert returned is not None
    validity = Validity()
    before = graph.evaluate()
    valid = [validity[v] for v in returned.operands]
    for index, value in enumerate(returned.operands):
        if value.type.get_shape():
            filled = ReduceOp(ReduceKind.MAX, value, ())
            graph.block.insert_op_before(filled, returned)
            returned.operands[index] = filled.result
    for was_valid, a, b in zip(valid, before, graph.evaluate(), strict=True):
        if was_valid:
            assert a.tobytes() == b.tobytes() or _same(a, b), graph.module


def _same(a, b) -> bool:
    return all(
        (x == y and math.copysign(1, x) == math.copysign(1, y)) or (x != x and y != y)
        for x, y in zip(a.flatten().tolist(), b.flatten().tolist(), strict=True)
    )
