"""Derived shapes are those that NumPy gives, and what NumPy refuses is refused."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.utils.exceptions import VerifyException

from tgdialect.ops.attributes import ReduceKind
from tgdialect.ops.dtypes import DTYPES, F32, INDEX
from tgdialect.ops.elementwise import AddOp, MulAccOp, MulOp, SubOp, WhereOp
from tgdialect.ops.movement import (
    BitcastOp,
    ExpandOp,
    FlipOp,
    IndexOp,
    PadOp,
    PermuteOp,
    ReshapeOp,
    ShrinkOp,
    StackOp,
)
from tgdialect.ops.properties import UnknownDim, broadcast_shapes, shape_of
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import ConstOp, ParamOp

SHAPES = st.lists(st.integers(0, 4), max_size=4).map(tuple)


def param(shape: tuple[int, ...], dtype=F32) -> ParamOp:
    return ParamOp(0, TensorType(dtype, shape))


def shape(op) -> tuple[int, ...]:
    """The shape of a result; what the verifier derives is what the builder derived."""
    op.verify()
    assert shape_of(op.results[0]) == op.results[0].type.get_shape()
    return op.results[0].type.get_shape()


@given(SHAPES, SHAPES, SHAPES)
def test_broadcast(a: tuple[int, ...], b: tuple[int, ...], c: tuple[int, ...]):
    try:
        wanted = np.broadcast_shapes(a, b, c)
    except ValueError:
        with pytest.raises(VerifyException, match="do not broadcast"):
            MulAccOp(param(a), param(b), param(c))
        return
    assert shape(MulAccOp(param(a), param(b), param(c))) == wanted
    assert broadcast_shapes([a, b, c]) == wanted
    condition = param(a, next(iter(DTYPES)))
    assert shape(WhereOp(condition, param(b), param(c))) == wanted


@given(SHAPES, SHAPES)
def test_broadcast_names_the_axis(a: tuple[int, ...], b: tuple[int, ...]):
    rank = max(len(a), len(b))
    padded = [(1,) * (rank - len(s)) + s for s in (a, b)]
    wrong = [i for i, (x, y) in enumerate(zip(*padded, strict=True)) if x != y and 1 not in (x, y)]
    assume(wrong)
    x, y = padded[0][wrong[0]], padded[1][wrong[0]]
    with pytest.raises(VerifyException, match=f"^axis {wrong[0]}: {x} and {y} do not broadcast$"):
        AddOp(param(a), param(b))


@given(SHAPES, st.data())
def test_permute(source: tuple[int, ...], data: st.DataObject):
    order = data.draw(st.permutations(range(len(source))))
    assert shape(PermuteOp(param(source), order)) == np.zeros(source).transpose(order).shape


@given(SHAPES, st.data())
def test_flip(source: tuple[int, ...], data: st.DataObject):
    flags = data.draw(st.lists(st.booleans(), min_size=len(source), max_size=len(source)))
    assert shape(FlipOp(param(source), flags)) == source


@given(SHAPES, SHAPES)
def test_reshape(source: tuple[int, ...], target: tuple[int, ...]):
    if math.prod(source) == math.prod(target):
        assert shape(ReshapeOp(param(source), target)) == np.zeros(source).reshape(target).shape
    else:
        with pytest.raises(VerifyException, match="changes the number of elements"):
            ReshapeOp(param(source), target)


@given(SHAPES, st.data())
def test_expand(source: tuple[int, ...], data: st.DataObject):
    target = tuple(data.draw(st.sampled_from((d, 3))) for d in source)
    try:
        wanted = np.broadcast_to(np.zeros(source), target).shape
    except ValueError:
        with pytest.raises(VerifyException, match="does not expand to 3"):
            ExpandOp(param(source), target)
        return
    assert shape(ExpandOp(param(source), target)) == wanted


@given(SHAPES, st.data())
def test_pad_and_shrink(inner: tuple[int, ...], data: st.DataObject):
    widths = [data.draw(st.tuples(st.integers(-1, 3), st.integers(-1, 3))) for _ in inner]
    offsets = [before for before, _ in widths]
    outer = [before + d + after for d, (before, after) in zip(inner, widths, strict=True)]
    if any(min(width) < 0 for width in widths) or min(outer, default=0) < 0:
        with pytest.raises(VerifyException, match=r"negative|exceeds"):
            PadOp(param(inner), offsets, outer)
        return
    padded = np.pad(np.zeros(inner), widths) if inner else np.zeros(())
    assert shape(pad := PadOp(param(inner), offsets, outer)) == padded.shape
    window = tuple(slice(o, o + d) for o, d in zip(offsets, inner, strict=True))
    assert shape(ShrinkOp(pad, offsets, inner)) == padded[window].shape == inner


@given(SHAPES, st.data())
def test_reduce(source: tuple[int, ...], data: st.DataObject):
    axes = data.draw(st.sets(st.integers(0, len(source) - 1)) if source else st.just(set[int]()))
    wanted = np.zeros(source).sum(axis=tuple(axes), keepdims=True).shape
    assert shape(ReduceOp(ReduceKind.ADD, param(source), sorted(axes))) == wanted


@given(SHAPES, st.lists(st.none() | st.integers(0, 3), max_size=5))
def test_index(source: tuple[int, ...], extents: list[int | None]):
    indices = [param(() if k is None else (k,), INDEX) for k in extents]
    if len(extents) > len(source):
        with pytest.raises(VerifyException, match=f"{len(extents)} indices into a tensor of"):
            IndexOp(param(source), indices)
        return
    result = np.zeros([max(d, 1) for d in source])
    axis = 0
    for k in extents:
        result = result.take(0 if k is None else np.zeros(k, int), axis=axis)
        axis += k is not None
    remaining = (*result.shape[:axis], *source[len(extents) :])
    assert shape(IndexOp(param(source), indices)) == remaining


@given(SHAPES, st.integers(1, 4))
def test_stack(source: tuple[int, ...], count: int):
    sources = [param(source) for _ in range(count)]
    assert shape(StackOp(sources)) == np.stack([np.zeros(source)] * count).shape


@given(SHAPES, st.sampled_from(list(DTYPES)), st.sampled_from(list(DTYPES)))
def test_bitcast(source: tuple[int, ...], old, new):
    sizes = [DTYPES[d].itemsize for d in (old, new)]
    array = np.zeros(source, f"u{sizes[0]}")
    try:
        wanted = array.view(f"u{sizes[1]}").shape
    except ValueError:
        with pytest.raises(VerifyException, match="bitcast"):
            BitcastOp(param(source, old), new)
        return
    assert shape(op := BitcastOp(param(source, old), new)) == wanted
    assert op.result.type.element_type == new


# -- dynamic extents -----------------------------------------------------------------------------

N, M = (ParamOp(slot, TensorType(INDEX, ()), min=0) for slot in (0, 1))
EXPRESSIONS = st.recursive(
    st.sampled_from(["n", "m"]) | st.integers(-3, 3),
    lambda inner: st.tuples(st.sampled_from("+-*"), inner, inner),
    max_leaves=6,
)
OPS = {"+": AddOp, "-": SubOp, "*": MulOp}


def build(expression):
    match expression:
        case "n":
            return N.result
        case "m":
            return M.result
        case int():
            return ConstOp(expression, INDEX).result
        case (op, a, b):
            return OPS[op](build(a), build(b)).result


def evaluate(expression, n: int, m: int) -> int:
    match expression:
        case "n":
            return n
        case "m":
            return m
        case int():
            return expression
        case (op, a, b):
            x, y = evaluate(a, n, m), evaluate(b, n, m)
            return x + y if op == "+" else x - y if op == "-" else x * y


def dynamic(*dims) -> ParamOp:
    values = [d for d in dims if not isinstance(d, int)]
    static = [d if isinstance(d, int) else DYNAMIC_INDEX for d in dims]
    return ParamOp(2, TensorType(F32, static), values)


@given(EXPRESSIONS, EXPRESSIONS)
def test_dynamic_extents_are_equal_where_the_polynomials_are(a, b):
    """Polynomials of degree at most 6 in two variables that agree on a 9x9 grid are equal."""
    grid = [(evaluate(a, n, m), evaluate(b, n, m)) for n in range(9) for m in range(9)]
    assume(all(max(values) >= 0 for values in zip(*grid, strict=True)))  # No extent is negative.
    equal = all(p == q for p, q in grid)
    x, y = dynamic(build(a)), dynamic(build(b))
    if equal:
        AddOp(x, y).verify()
        ReshapeOp(x, [build(b)]).verify()
    else:
        with pytest.raises(VerifyException, match="do not broadcast"):
            AddOp(x, y)
        with pytest.raises(VerifyException, match=r"changes the number of elements|is negative"):
            ReshapeOp(x, [build(b)])


def test_products_of_extents():
    two = ConstOp(2, INDEX)
    n, m = N.result, M.result
    twice = AddOp(n, n).result
    ReshapeOp(dynamic(n, m), [m, n]).verify()
    ReshapeOp(dynamic(twice, m), [2, m, n]).verify()
    ReshapeOp(dynamic(MulOp(MulOp(n, two), m).result), [m, twice]).verify()
    ReshapeOp(dynamic(n, 0), [m, 0]).verify()
    with pytest.raises(VerifyException, match="changes the number"):
        ReshapeOp(dynamic(n, m), [n, n])


def test_huge_expressions_stand_for_themselves():
    """The comparison stays cheap: degree and size of a polynomial are bounded."""
    value, other = N.result, N.result
    for _ in range(200):
        value = MulOp(value, AddOp(value, M)).result
        other = AddOp(MulOp(other, other), ConstOp(2**62, INDEX)).result
    AddOp(dynamic(value), dynamic(value)).verify()
    with pytest.raises(VerifyException, match="do not broadcast"):
        AddOp(dynamic(value), dynamic(other))
    chain = N.result
    for _ in range(2000):
        chain = AddOp(chain, ParamOp(0, TensorType(INDEX, ()))).result
    AddOp(dynamic(chain), dynamic(chain)).verify()


def test_unknown_extents():
    value = dynamic(N.result).results[0]
    assert shape_of(value) == (N.result,)
    with pytest.raises(VerifyException, match="no index value is known for the extent of axis 1"):
        ReshapeOp(param((4,)), [UnknownDim(value, 1), 4])
