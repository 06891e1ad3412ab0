"""Ops that are made around xDSL's own way are as those that it makes."""

import dataclasses

from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, Region

from tgdialect.llvm_dialect import FCmpOp
from tgdialect.ops.creation import created, initialize
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


def test_takes_regions() -> None:
    ours, theirs = (Operation.__new__(ConstOp) for _ in range(2))
    initialize(ours, (), {}, regions=(Region(),))
    Operation.__init__(theirs, regions=(Region(),))
    assert fields(ours) == fields(theirs)
    assert ours.regions[0].parent is ours
