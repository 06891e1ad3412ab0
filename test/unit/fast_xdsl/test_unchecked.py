"""Attributes that are made without xDSL's checks against those that xDSL makes."""

import random
from typing import cast

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    Builtin,
    DenseArrayBase,
    FunctionType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    VectorType,
    f32,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute
from xdsl.parser import Parser

from tgdialect.diagnostics import SourceFile
from tgdialect.diagnostics.parser import LocatedParser
from tgdialect.fast_xdsl import unchecked
from tgdialect.ops.attributes import AddrSpace, PlaceAttr
from tgdialect.ops.dtypes import DTYPES, number_attribute

DTYPE_NAMES = [str(dtype) for dtype in DTYPES]


def assert_same(made: Attribute, wanted: Attribute) -> None:
    assert made == wanted
    assert hash(made) == hash(wanted)
    assert vars(made) == vars(wanted)
    assert str(made) == str(wanted)


@pytest.mark.parametrize("seed", range(20))
def test_equal_those_of_xdsl(seed: int) -> None:
    rng = random.Random(seed)
    dtype = rng.choice([*DTYPES])
    shape = [rng.choice((0, 1, 7, 2**40, -(2**63))) for _ in range(rng.randint(0, 4))]
    place = PlaceAttr.of("CPU", AddrSpace.GLOBAL)
    assert_same(unchecked.tensor_of(dtype, shape), TensorType(dtype, shape))
    assert_same(unchecked.tensor_of(dtype, shape, place), TensorType(dtype, shape, place))
    lanes = rng.choice((2, 3, 64))
    assert_same(unchecked.vector_of(dtype, lanes), VectorType(dtype, [lanes]))
    assert_same(unchecked.number(lanes), IntAttr(lanes))
    texts = [StringAttr(word) for word in "abc"[: rng.randint(0, 3)]]
    assert_same(unchecked.array(texts), ArrayAttr(texts))
    assert_same(unchecked.text("x\n"), StringAttr("x\n"))
    assert_same(unchecked.symbol("k_1"), SymbolRefAttr("k_1"))
    inputs, outputs = (rng.choices([*DTYPES], k=rng.randint(0, 3)) for _ in range(2))
    wanted = FunctionType.from_lists(inputs, outputs)
    assert_same(unchecked.function_type(inputs, outputs), wanted)
    type: IntegerType = rng.choice((i8, i32, i64))
    half = 1 << (type.bitwidth - 1)
    values = [rng.randrange(-half, half) for _ in range(rng.randint(0, 5))]
    array = DenseArrayBase.from_list(type, values)
    assert unchecked.array_values(array) == array.get_values()  # It keeps them.
    assert_same(unchecked.dense(type, values), array)
    assert_same(unchecked.integer(half - 1, type), IntegerAttr(half - 1, type))


@pytest.mark.parametrize("dtype", [d for d in DTYPES if not DTYPES[d].is_float], ids=str)
def test_least_and_greatest_numbers(dtype: Attribute) -> None:
    row = DTYPES[dtype]
    for value in {int(row.low), 0, 1, int(row.high)}:
        type = cast(IntegerType, dtype)
        wanted = IntegerAttr.from_bool(bool(value)) if dtype == i1 else IntegerAttr(value, type)
        assert number_attribute(value, dtype) == wanted


@pytest.mark.parametrize("seed", range(20))
def test_types_of_texts(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(50):
        extents = "".join(
            f"{rng.choice(('0', '1', '04', '12', '?'))}x" for _ in range(rng.randint(0, 4))
        )
        text = f"tensor<{extents}{rng.choice((*DTYPE_NAMES, 'i7', 'tf32', 'none', 'tensor<f32>'))}>"
        context = Context()
        context.load_dialect(Builtin)
        wanted = Parser(context, text).parse_type()
        assert LocatedParser(context, SourceFile("text", text)).parse_type() == wanted


def test_dense_is_of_its_type() -> None:
    assert unchecked.dense(i32, (1, 2)) != unchecked.dense(i64, (1, 2))
    assert unchecked.tensor_of(f32, ()) != unchecked.tensor_of(i32, ())
