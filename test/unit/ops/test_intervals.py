"""min_max: no interval excludes a value, and those that the specification gives are exact.

Integer rules are checked on every pair of values of random subintervals of the 8-bit dtypes, float
rules on the ends of random intervals and on values between them, computed by NumPy.
"""

import math
import operator

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import IntegerType, Signedness, TensorType

from tgdialect.analysis.min_max import MinMax
from tgdialect.interpreter.elementwise import ARITHMETIC
from tgdialect.ops import elementwise as ew
from tgdialect.ops import intervals
from tgdialect.ops.attributes import AxisType
from tgdialect.ops.dtypes import BOOL, DTYPES, F32, F64, INDEX, round_to, wrap_to
from tgdialect.ops.intervals import Interval
from tgdialect.ops.movement import IndexOp, PadOp, StackOp
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.properties import number
from tgdialect.ops.source import ConstOp, ParamOp

I8, U8 = IntegerType(8), IntegerType(8, Signedness.UNSIGNED)
BY_NAME = {row.name: dtype for dtype, row in DTYPES.items()}


def param(dtype, shape=()) -> ParamOp:
    return ParamOp(0, TensorType(dtype, shape))


def interval_of(build, *known: tuple[object, Interval]) -> Interval:
    """The interval of an op on PARAMs of the dtypes and intervals given."""
    params = [param(dtype) for dtype, _ in known]
    assumed = {p.result: interval for p, (_, interval) in zip(params, known, strict=True)}
    return MinMax(assumed)[build(*params).results[0]]


@st.composite
def subintervals(draw, dtype) -> Interval:
    row = DTYPES[dtype]
    bounds = st.integers(int(row.low), int(row.high))
    near = st.sampled_from([int(row.low), -1, 0, 1, int(row.high)]).filter(
        lambda v: row.low <= v <= row.high
    )
    lo, hi = sorted((draw(bounds | near), draw(bounds | near)))
    return Interval(lo, hi)


def pairs(a: Interval, b: Interval) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.arange(a.lo, a.hi + 1), np.arange(b.lo, b.hi + 1)
    return np.repeat(x, len(y)), np.tile(y, len(x))


def wrapped(dtype, values: np.ndarray) -> np.ndarray:
    row = DTYPES[dtype]
    return (values - int(row.low)) % 2**row.bits + int(row.low)


def divided(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(y == 0, 0, np.floor_divide(x, np.where(y == 0, 1, y)))


def remainder(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(y == 0, 0, np.remainder(x, np.where(y == 0, 1, y)))


def shifted_left(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where((y < 0) | (y >= 8), 0, x << np.clip(y, 0, 8))


def shifted_right(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return x >> np.where(y < 0, 8, np.minimum(y, 8))


EXACT = {
    ew.AddOp: np.add,
    ew.SubOp: np.subtract,
    ew.MulOp: np.multiply,
    ew.MaxOp: np.maximum,
    ew.CmpLtOp: np.less,
    ew.CmpNeOp: np.not_equal,
    ew.CmpGtOp: np.greater,
    ew.CmpGeOp: np.greater_equal,
    ew.CmpLeOp: np.less_equal,
    ew.CmpEqOp: np.equal,
}
"""Ops whose interval is the hull of the results where none of them wraps."""
SOUND = {
    ew.IDivOp: divided,
    ew.ModOp: remainder,
    ew.AndOp: np.bitwise_and,
    ew.OrOp: np.bitwise_or,
    ew.XorOp: np.bitwise_xor,
    ew.ShlOp: shifted_left,
    ew.ShrOp: shifted_right,
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("dtype", [I8, U8], ids=str)
@pytest.mark.parametrize("op", [*EXACT, *SOUND], ids=lambda op: op.name)
@settings(max_examples=40)
@given(data=st.data())
def test_binary_integer(op, dtype, data: st.DataObject):
    a, b = data.draw(subintervals(dtype)), data.draw(subintervals(dtype))
    exact = (EXACT | SOUND)[op](*pairs(a, b)).astype(np.int64)
    result = interval_of(op, (dtype, a), (dtype, b))
    values = wrapped(dtype, exact)
    assert result.lo <= values.min()
    assert values.max() <= result.hi
    assert not result.nan
    if op in EXACT and (np.array_equal(values, exact) or len(values) == 1):
        assert result == Interval(int(values.min()), int(values.max()))
    row = DTYPES[BOOL if op.__name__.startswith("Cmp") else dtype]
    assert row.low <= result.lo
    assert result.hi <= row.high


@pytest.mark.parametrize("dtype", [I8, U8], ids=str)
@settings(max_examples=60)
@given(data=st.data())
def test_idiv_and_mod_are_exact_for_one_divisor(dtype, data: st.DataObject):
    a = data.draw(subintervals(dtype))
    divisor = data.draw(st.integers(1, 127))
    x = np.arange(a.lo, a.hi + 1)
    known = (dtype, a), (dtype, Interval(divisor, divisor))
    quotient = interval_of(ew.IDivOp, *known)
    assert quotient == Interval(a.lo // divisor, a.hi // divisor)
    rest = interval_of(ew.ModOp, *known)
    if a.lo // divisor == a.hi // divisor:
        assert rest == Interval(int((x % divisor).min()), int((x % divisor).max()))
    elif a.lo >= 0:
        assert rest == Interval(0, min(divisor - 1, a.hi))


@pytest.mark.parametrize("op", [ew.AddOp, ew.MulOp, ew.MaxOp, ew.XorOp, ew.OrOp, ew.AndOp])
@pytest.mark.parametrize("a", [(0, 0), (0, 1), (1, 1)])
@pytest.mark.parametrize("b", [(0, 0), (0, 1), (1, 1)])
def test_bool(op, a: tuple[int, int], b: tuple[int, int]):
    rule = {ew.AddOp: max, ew.MaxOp: max, ew.OrOp: max, ew.MulOp: min, ew.AndOp: min}
    function = rule.get(op, operator.xor)
    values = {function(x, y) for x in range(a[0], a[1] + 1) for y in range(b[0], b[1] + 1)}
    result = interval_of(op, (BOOL, Interval(*a)), (BOOL, Interval(*b)))
    assert result.lo <= min(values)
    assert max(values) <= result.hi <= 1
    if op is not ew.XorOp:
        assert result == Interval(min(values), max(values))


@settings(max_examples=60)
@given(a=subintervals(I8), b=subintervals(I8), p=subintervals(BOOL))
def test_where(a: Interval, b: Interval, p: Interval):
    result = interval_of(ew.WhereOp, (BOOL, p), (I8, a), (I8, b))
    taken = [side for value, side in ((1, a), (0, b)) if value in p]
    assert result == Interval(min(i.lo for i in taken), max(i.hi for i in taken))


@settings(max_examples=200)
@given(a=subintervals(I8), b=subintervals(I8), limit=st.integers(-128, 127), kind=st.integers(0, 3))
def test_where_knows_what_its_test_lets_through(a: Interval, b: Interval, limit: int, kind: int):
    """min and max against a constant, as WHERE."""
    x, y, n = param(I8), param(I8), ConstOp(limit, I8)
    operands = (x, n) if kind % 2 else (n, x)
    test = ew.CmpLtOp(*operands)
    op = ew.WhereOp(test, x, y) if kind < 2 else ew.WhereOp(test, y, x)
    result = MinMax({x.result: a, y.result: b})[op.result]
    values = np.arange(a.lo, a.hi + 1)
    taken = values < limit if kind % 2 else limit < values
    passed = values[taken if kind < 2 else ~taken]
    others = np.arange(b.lo, b.hi + 1) if (~taken if kind < 2 else taken).any() else passed
    possible = np.concatenate((passed, others))
    assert result == Interval(possible.min(), possible.max())


@pytest.mark.parametrize("other", [0, 1])
@pytest.mark.parametrize("is_left", [True, False])
def test_where_tests_bools_against_true(other: int, is_left: bool):
    """`p < true` lets 0 through, `true < p` nothing."""
    p, y, true = param(BOOL), param(BOOL), ConstOp(True, BOOL)
    test = ew.CmpLtOp(p, true) if is_left else ew.CmpLtOp(true, p)
    known = {p.result: Interval(0, 1), y.result: Interval(other, other)}
    expected = Interval(0, other) if is_left else Interval(other, other)
    assert MinMax(known)[ew.WhereOp(test, p, y).result] == expected


@settings(max_examples=60)
@given(a=subintervals(I8), b=subintervals(I8), c=subintervals(I8))
def test_unary_and_ternary_integer(a: Interval, b: Interval, c: Interval):
    x, y = pairs(a, b)
    mulacc = interval_of(ew.MulAccOp, (I8, a), (I8, b), (I8, c))
    for z in (c.lo, c.hi):
        values = wrapped(I8, x * y + z)
        assert mulacc.lo <= values.min()
        assert values.max() <= mulacc.hi
    values = wrapped(I8, -np.arange(a.lo, a.hi + 1))
    negated = interval_of(ew.NegOp, (I8, a))
    assert negated.lo <= values.min()
    assert values.max() <= negated.hi
    if a.lo > -128 or a.is_constant:
        assert negated == Interval(int(values.min()), int(values.max()))
    assert interval_of(ew.TruncOp, (I8, a)) == a


def test_not():
    assert interval_of(ew.NotOp, (BOOL, Interval(0, 1))) == Interval(0, 1)
    assert interval_of(ew.NotOp, (BOOL, Interval(1, 1))) == Interval(0, 0)


@pytest.mark.parametrize("target", [d for d, row in DTYPES.items() if not row.is_float], ids=str)
@settings(max_examples=40)
@given(data=st.data())
def test_cast_between_integers(target, data: st.DataObject):
    source = data.draw(st.sampled_from([I8, U8]))
    a = data.draw(subintervals(source))
    values = [wrap_to(DTYPES[target], v) for v in range(int(a.lo), int(a.hi) + 1)]
    result = interval_of(lambda x: ew.CastOp(x, target), (source, a))
    assert result.lo <= min(values)
    assert max(values) <= result.hi
    if max(values) - min(values) == len(values) - 1:
        assert result == Interval(min(values), max(values))


# -- leaves and movement -------------------------------------------------------------------------


def test_leaves_are_exact():
    min_max = MinMax()
    n = ParamOp(0, TensorType(INDEX, ()), min=2, max=9)
    assert min_max[n.result] == Interval(2, 9)
    assert min_max[param(U8).result] == Interval(0, 255)
    assert min_max[param(F32).result] == Interval(-math.inf, math.inf, nan=True)
    assert min_max[ConstOp(-7, I8).result] == Interval(-7, -7)
    assert min_max[ConstOp(True, BOOL).result] == Interval(1, 1)
    assert math.nan in min_max[ConstOp(math.nan, F32).result]
    assert min_max[RangeOp(0, AxisType.LOOP, n).result] == Interval(0, 8)
    assert min_max[RangeOp(1, AxisType.LOOP, ConstOp(0, INDEX)).result] == Interval(0, 0)


@pytest.mark.parametrize(("bound", "proven"), [(3, True), (4, True), (5, False)])
def test_index_is_its_source_where_it_is_in_range(bound: int, proven: bool):
    table = StackOp([ConstOp(v, I8) for v in (5, 7, 9, 6)])
    index = RangeOp(0, AxisType.LOOP, ConstOp(bound, INDEX))
    wanted = Interval(5, 9) if proven else Interval(0, 9)
    assert MinMax()[IndexOp(table, [index]).result] == wanted


def test_pad():
    source = StackOp([ConstOp(v, I8) for v in (5, 7)])
    min_max = MinMax()
    assert min_max[PadOp(source, [1], [4]).result] == Interval(5, 7)
    filled = PadOp(source, [1], [4], ConstOp(-3, I8).value)
    assert number(filled.fill) == -3
    assert min_max[filled.result] == Interval(-3, 7)


# -- floats --------------------------------------------------------------------------------------

NUMPY = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
}
FLOATS = list(NUMPY)


@st.composite
def float_intervals(draw, name: str) -> tuple[Interval, np.ndarray]:
    """An interval of a float dtype, and values in it: its ends, zeros, and some between."""
    dtype = DTYPES[BY_NAME[name]]
    ends = st.floats(width=32, allow_nan=False) | st.sampled_from([0.0, 1.0, -1.0, 1e-44])
    bounds = [draw(ends), draw(ends)]
    lo, hi = sorted(
        max(min(round_to(dtype, v), dtype.high), dtype.low) if v == v else v
        for v in (
            b if math.isfinite(round_to(dtype, b)) else math.copysign(dtype.high, b) for b in bounds
        )
    )
    inside = [v for v in (lo, hi, 0.0, -0.0, 1.0, -1.0, 0.5, 2.0) if lo <= v <= hi]
    if math.isfinite(lo) and math.isfinite(hi) and math.isfinite(hi - lo):
        inside += [lo + (hi - lo) * t for t in draw(st.lists(st.floats(0, 1), max_size=8))]
    rounded = [round_to(dtype, v) for v in inside]
    nan = draw(st.booleans())
    values = np.array([v for v in rounded if lo <= v <= hi] + ([math.nan] if nan else []))
    return Interval(lo, hi, nan=nan), values.astype(NUMPY[name])


def assert_holds(result: Interval, values: np.ndarray) -> None:
    outside = [v for v in values.astype(np.float64).ravel() if float(v) not in result]
    assert outside == [], result


def in_wide(name: str, function, *arrays: np.ndarray) -> np.ndarray:
    """As the elementwise ops compute: narrow dtypes in f32, and the result rounded once more."""
    wide = np.float64 if name == "f64" else np.float32
    result = function(*(a.astype(wide) for a in arrays))
    return (np.clip(result, -448, 448) if name == "f8E4M3FN" else result).astype(NUMPY[name])


FLOAT_BINARY = {
    ew.AddOp: np.add,
    ew.SubOp: np.subtract,
    ew.MulOp: np.multiply,
    ew.MaxOp: np.maximum,
    ew.DivOp: np.divide,
    ew.PowOp: np.power,
}
FLOAT_UNARY = {
    op: ARITHMETIC[op.name]
    for op in (*ew.PRIMITIVES, *ew.DECOMPOSED)
    if issubclass(op, ew.UnaryOp) and DTYPES[F32] in op.DOMAIN
}


@pytest.mark.sampled(8)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("op", FLOAT_BINARY, ids=lambda op: op.name)
@settings(max_examples=40)
@given(data=st.data())
def test_binary_float(op, name: str, data: st.DataObject):
    (a, x), (b, y) = data.draw(float_intervals(name)), data.draw(float_intervals(name))
    result = interval_of(op, (BY_NAME[name], a), (BY_NAME[name], b))
    assert_holds(result, in_wide(name, FLOAT_BINARY[op], x[:, None], y[None, :]))


@pytest.mark.sampled(9)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("op", FLOAT_UNARY, ids=lambda op: op.name)
@settings(max_examples=40)
@given(data=st.data())
def test_unary_float(op, name: str, data: st.DataObject):
    a, x = data.draw(float_intervals(name))
    values = in_wide(name, FLOAT_UNARY[op], x)
    assert_holds(interval_of(op, (BY_NAME[name], a)), values)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", FLOATS)
@settings(max_examples=40)
@given(data=st.data())
def test_float_comparison(name: str, data: st.DataObject):
    (a, x), (b, y) = data.draw(float_intervals(name)), data.draw(float_intervals(name))
    known = (BY_NAME[name], a), (BY_NAME[name], b)
    x, y = x.astype(np.float64)[:, None], y.astype(np.float64)[None, :]
    assert_holds(interval_of(ew.CmpLtOp, *known), x < y)
    assert_holds(interval_of(ew.CmpNeOp, *known), x != y)
    assert_holds(interval_of(ew.CmpGtOp, *known), x > y)
    assert_holds(interval_of(ew.CmpEqOp, *known), x == y)
    # The specification's CMPGE and CMPLE are negations, so they are true on NaN.
    assert_holds(interval_of(ew.CmpGeOp, *known), ~(x < y))
    assert_holds(interval_of(ew.CmpLeOp, *known), ~(y < x))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", list(DTYPES), ids=str)
@settings(max_examples=15)
@given(data=st.data())
def test_cast_from_float(source: str, target, data: st.DataObject):
    a, x = data.draw(float_intervals(source))
    row = DTYPES[target]
    result = interval_of(lambda v: ew.CastOp(v, target), (BY_NAME[source], a))
    for value in x.astype(np.float64).tolist():
        if row.is_float:
            assert round_to(row, value) in result
        elif row.is_bool:
            assert int(value != 0) in result
        elif value != value:
            assert 0 in result
        else:
            saturated = min(max(value, row.low), row.high)
            exact = int(row.high) if saturated == row.high else int(saturated)
            assert exact in result


@pytest.mark.parametrize("target", FLOATS)
@settings(max_examples=30)
@given(a=subintervals(IntegerType(64)))
def test_cast_from_integer(target: str, a: Interval):
    result = interval_of(lambda v: ew.CastOp(v, BY_NAME[target]), (IntegerType(64), a))
    for value in (a.lo, a.hi, (a.lo + a.hi) // 2):
        assert round_to(DTYPES[BY_NAME[target]], value) in result


def test_add_of_infinities_may_be_nan():
    everything = (F64, Interval(-math.inf, math.inf))
    assert interval_of(ew.AddOp, everything, everything).nan
    assert not interval_of(ew.AddOp, (F64, Interval(0.0, 1.0)), (F64, Interval(0.0, 1.0))).nan


def test_floor_divide_wraps_at_the_least_integer():
    known = (I8, Interval(-128, -128)), (I8, Interval(-1, -1))
    assert -128 in interval_of(ew.IDivOp, *known)


def test_interval_text():
    assert str(Interval(0, 3)) == "[0, 3]"
    assert str(intervals.dtype_range(DTYPES[F32])) == "[-inf, inf] or nan"
