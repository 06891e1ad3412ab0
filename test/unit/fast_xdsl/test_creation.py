"""Ops that are made around xDSL's own way are as those that it makes."""

import dataclasses
import random
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.ir import Block, Operation, Region
from xdsl.irdl import VariadicDef
from xdsl.irdl.operations import (
    BeforeVariadicSingleAccessor,
    UniqueVariadicAccessor,
    get_accessors_from_op_def,
)

from tgdialect.dialect import TG
from tgdialect.fast_xdsl.creation import created, initialize
from tgdialect.fast_xdsl.walk import nested_ops, ops_of
from tgdialect.llvm_dialect.values import FCmpOp
from tgdialect.ops.base import TgOp
from tgdialect.ops.call import KernelOp
from tgdialect.ops.dtypes import number_attribute
from tgdialect.ops.elementwise import MulAccOp
from tgdialect.ops.properties import tensor_type
from tgdialect.ops.source import ConstOp

SCALAR = tensor_type(f32)
NAMES = frozenset(field.name for field in dataclasses.fields(Operation))


def fields(op: Operation) -> dict[str, object]:
    """What an op consists of, with what is its own made comparable."""
    names = {*NAMES, *vars(op)} - {"results"}
    found = {name: getattr(op, name) for name in names}
    found["_operand_uses"] = [(u.operation is op, u.index) for u in op._operand_uses]
    found["regions"] = [(region.parent is op, len(region.blocks)) for region in op.regions]
    types = [(type(r), r.type, r.op is op, r.index) for r in op.results]
    return {**found, "results": types, "kinds": {name: type(getattr(op, name)) for name in names}}


def test_has_the_fields_that_xdsl_gives() -> None:
    one = ConstOp(number_attribute(1, f32)).result
    ours = created(MulAccOp, (one, one, one), (SCALAR,))
    theirs = MulAccOp.create(operands=(one, one, one), result_types=(SCALAR,))
    assert fields(ours) == fields(theirs)
    assert [use.operation for use in one.uses].count(ours) == 3


def test_fills_in_the_defaults_of_properties() -> None:
    one = ConstOp(number_attribute(1, f32)).result
    ours = created(FCmpOp, (one, one), (f32,))
    theirs = FCmpOp.create(operands=(one, one), result_types=(f32,))
    assert ours.properties == theirs.properties != {}


@pytest.mark.parametrize("kind", [*TG.operations], ids=lambda kind: kind.name)
def test_accessors_give_what_those_of_xdsl_give(kind: type[TgOp]) -> None:
    """On ops with as many operands as they may have, and with several where any number is."""
    definition = kind.get_irdl_definition()
    theirs = get_accessors_from_op_def(definition, None)
    variadic = any(isinstance(operand, VariadicDef) for _, operand in definition.operands)
    one = ConstOp(number_attribute(1, f32)).result
    for count in (len(definition.operands) + extra for extra in (0, 3 * variadic)):
        op = created(kind, [one] * count, (SCALAR,) * len(definition.results))
        for name, _ in (*definition.operands, *definition.results):
            if isinstance(theirs[name], BeforeVariadicSingleAccessor | UniqueVariadicAccessor):
                assert vars(kind)[name].__class__ is not theirs[name].__class__
                expected = theirs[name].__get__(op)
                found = getattr(op, name)
                assert found is expected or tuple(found) == tuple(expected)


@pytest.mark.parametrize("seed", range(8))
def test_operands_and_uses_are_those_of_xdsl(seed: int) -> None:
    """After random replacements of one operand and of all."""
    generator = random.Random(seed)
    ours, theirs = ([ConstOp(number_attribute(1, f32)).result for _ in range(4)] for _ in range(2))
    numbers = {value: number for values in (ours, theirs) for number, value in enumerate(values)}
    op, other = created(MulAccOp, ours[:3], (SCALAR,)), Operation.__new__(MulAccOp)
    xdsl: Any = vars(Operation)["operands"]
    xdsl.fset(other, theirs[:3])
    for _ in range(8):
        chosen = [generator.randrange(4) for _ in range(3)]
        if generator.randrange(3):
            op.operands[chosen[0] % 3] = ours[chosen[1]]
            xdsl.fget(other)[chosen[0] % 3] = theirs[chosen[1]]
        else:
            op.operands = [ours[number] for number in chosen]
            xdsl.fset(other, [theirs[number] for number in chosen])
        assert [numbers[v] for v in op.operands] == [numbers[v] for v in xdsl.fget(other)]
        for mine, its in zip(ours, theirs, strict=True):
            assert [use.index for use in mine.uses] == [use.index for use in its.uses]
        assert all(use.operation is op for value in ours for use in value.uses)


def test_results_are_equal_to_themselves_only() -> None:
    one, other = (ConstOp(number_attribute(1, f32)).result for _ in range(2))
    assert {one: 1}.get(one) == 1
    assert one != other
    assert other not in {one}
    assert (one.owner, one.type) == (one.op, SCALAR)


def test_takes_regions() -> None:
    ours, theirs = (Operation.__new__(ConstOp) for _ in range(2))
    initialize(ours, (), {}, regions=(Region(),))
    Operation.__init__(theirs, regions=(Region(),))
    assert fields(ours) == fields(theirs)
    assert ours.regions[0].parent is ours


def test_nested_ops_are_those_of_a_walk() -> None:
    one = ConstOp(number_attribute(1, f32))
    two = ConstOp(number_attribute(2, f32))
    inner = KernelOp("k", Region(Block([one])))
    module = ModuleOp([inner, KernelOp("l", Region(Block([two])))])
    assert nested_ops(module) == [*module.walk()]
    assert ops_of(module.body.block) == [*module.ops]
