"""Divisors of indices hold for every value of what an index is computed from."""

from __future__ import annotations

from hypothesis import given, settings
from integer_programs import Program, programs, run
from xdsl.dialects.builtin import IndexType

from tgdialect.analysis.divisors import Divisors
from tgdialect.ops.elementwise import AddOp, CmpLtOp, ModOp, MulOp, WhereOp
from tgdialect.ops.properties import tensor, tensor_type
from tgdialect.ops.source import ConstOp, ParamOp


@settings(max_examples=200)
@given(programs([IndexType()]))
def test_divisors_divide(program: Program):
    """Powers of two do even where arithmetic wraps; 0 has every divisor."""
    divisors = Divisors()
    for arguments in program.arguments:
        for value, number in run(program.block, arguments).items():
            if isinstance(tensor(value).element_type, IndexType):
                divisor = divisors[value]
                power = divisor & -divisor
                assert int(number) % power == 0 if power else number == 0


def test_an_offset_of_vectors():
    """Divisors of what an access of vectors is computed from."""
    index, scalar = IndexType(), tensor_type(IndexType())
    item, group = ParamOp(0, scalar, min=0, max=63), ParamOp(1, scalar, min=0, max=9)
    four, twelve, zero = (ConstOp(number, index) for number in (4, 12, 0))
    scaled = MulOp(item.result, four.result)
    row = MulOp(group.result, twelve.result)
    at = AddOp(scaled.result, row.result)
    chosen = WhereOp(CmpLtOp(item.result, twelve.result).result, at.result, zero.result)
    digit = ModOp(chosen.result, twelve.result)
    divisors = Divisors()
    values = (item, four, zero, row, at, chosen, digit)
    assert [divisors[op.results[0]] for op in values] == [1, 4, 0, 12, 4, 4, 4]
