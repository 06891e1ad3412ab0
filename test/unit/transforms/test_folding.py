"""The scalar semantics of `ops/folding.py` are the interpreter's, op by op and dtype by dtype."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region

from tgdialect.interpreter import run
from tgdialect.ops.arrays import numpy_dtype
from tgdialect.ops.attributes import InvalidAttr
from tgdialect.ops.dtypes import BOOL, DTYPES, F32, DType, check_representable, round_to
from tgdialect.ops.elementwise import AddOp, CastOp, ElementwiseOp, WhereOp
from tgdialect.ops.folding import SCALAR_RULES, evaluate, fold_elementwise
from tgdialect.ops.properties import dtype_of, tensor_type
from tgdialect.ops.source import ConstOp
from tgdialect.transforms.simplify.matching import OPS

FLOATS = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    3.0,
    -2.75,
    1000.3,
    7e4,
    1e-45,
    6e-8,
    math.inf,
    -math.inf,
    math.nan,
)
WITH_OTHER_DTYPES = ("tg.cast", "tg.where")


def samples(dtype: DType) -> list[float]:
    """Values of a dtype where something may go wrong."""
    if dtype.is_float:
        rounded = [round_to(dtype, v) for v in FLOATS]
        return [*rounded, dtype.max_finite, 2.0**dtype.min_exponent]
    if dtype.is_bool:
        return [0, 1]
    near = [-9, -2, -1, 0, 1, 2, 3, 7, 8, 31, 32, 63, 64, 100]
    ends = [int(dtype.low), int(dtype.low) + 1, int(dtype.high) - 1, int(dtype.high)]
    return sorted({v for v in near + ends if dtype.low <= v <= dtype.high})


def carry_out(
    op_type: type[ElementwiseOp],
    columns: Sequence[tuple[Attribute, Sequence[float]]],
    *args: Attribute,
):
    """The op on columns of numbers, by the interpreter."""
    block = Block(arg_types=[tensor_type(e, (len(column),)) for e, column in columns])
    op = op_type(*block.args, *args)
    block.add_ops([op, ReturnOp(op)])
    types = ([a.type for a in block.args], [op.result.type])
    module = ModuleOp([FuncOp("f", types, Region(block))])
    inputs = [np.array(column, dtype=numpy_dtype(DTYPES[e])) for e, column in columns]
    (result,) = run(module, "f", inputs)
    return dtype_of(op.result), result.tolist()


def same(a: float, b: float) -> bool:
    if a != a or b != b:
        return a != a and b != b
    return a == b and math.copysign(1.0, a) == math.copysign(1.0, b)


def cases() -> list[tuple[str, Attribute]]:
    names = [n for n in SCALAR_RULES if n not in WITH_OTHER_DTYPES]
    return [(n, e) for n in names for e, dtype in DTYPES.items() if dtype in OPS[n].DOMAIN]


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "element"), cases(), ids=lambda v: str(v).removeprefix("tg."))
def test_like_the_interpreter(name: str, element: Attribute):
    dtype, op_type = DTYPES[element], OPS[name]
    arity = len(op_type.get_irdl_definition().operands)
    rows = list(product(samples(dtype), repeat=arity))
    columns = [(element, column) for column in zip(*rows, strict=True)]
    result, expected = carry_out(op_type, columns)
    folded = [evaluate(name, dtype, result, row) for row in rows]
    assert any(f is not None for f in folded)
    for row, value, wanted in zip(rows, folded, expected, strict=True):
        if value is not None:
            check_representable(result, value)
            assert same(value, wanted), f"{name}{row}"


@pytest.mark.parametrize("source", DTYPES, ids=str)
@pytest.mark.parametrize("target", DTYPES, ids=str)
def test_casts_like_the_interpreter(source: Attribute, target: Attribute):
    values = samples(DTYPES[source])
    _, expected = carry_out(CastOp, [(source, values)], target)
    for value, wanted in zip(values, expected, strict=True):
        folded = evaluate("tg.cast", DTYPES[source], DTYPES[target], [value])
        assert folded is not None
        assert same(folded, wanted), value


@pytest.mark.parametrize(
    ("name", "value", "result"),
    [
        ("tg.exp2", -1074.0, 5e-324),
        ("tg.exp2", 0.5, None),
        ("tg.exp2", -math.inf, 0.0),
        ("tg.log2", 0.0, -math.inf),
        ("tg.log2", 2.0**-1074, -1074.0),
        ("tg.log2", 3.0, None),
        ("tg.log10", 1e22, 22.0),
        ("tg.log10", 1e23, None),  # Not a power of ten: it is rounded.
        ("tg.log10", 0.1, None),
        ("tg.log10", -1.0, math.nan),
        ("tg.log2", -1.0, math.nan),
        ("tg.sqrt", 2.25, 1.5),
        ("tg.sqrt", 2.0, None),
        ("tg.sqrt", -0.0, -0.0),
        ("tg.sin", -0.0, -0.0),
        ("tg.sin", math.inf, math.nan),
        ("tg.sin", 1.0, None),
    ],
)
def test_transcendental_ops_where_they_are_exact(name: str, value: float, result: float | None):
    f64 = next(d for d in DTYPES.values() if d.name == "f64")
    folded = evaluate(name, f64, f64, [value])
    assert (folded is None) == (result is None)
    assert folded is None or result is None or same(folded, result)


def test_invalid_operands():
    one, invalid = ConstOp(1.0, F32), ConstOp(InvalidAttr(F32))
    assert fold_elementwise(AddOp(one, invalid)) == InvalidAttr(F32)
    assert fold_elementwise(WhereOp(ConstOp(1, BOOL), one, invalid)) == one.value
    assert fold_elementwise(WhereOp(ConstOp(0, BOOL), one, invalid)) == InvalidAttr(F32)
    assert fold_elementwise(WhereOp(ConstOp(InvalidAttr(BOOL)), one, one)) == InvalidAttr(F32)
