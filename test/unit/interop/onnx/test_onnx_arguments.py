"""Arguments of models that are no plain tensors of known ranks: sequences, optionals, narrow
element types, extents of 0; random numbers; and what is said of arguments that do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

import ml_dtypes  # noqa: E402
from onnx import TensorProto, helper, parser  # noqa: E402

from tgdialect.diagnostics import CompilationError  # noqa: E402
from tgdialect.interop.onnx import backend, prepare  # noqa: E402


def _prepare(body: str, inputs: str, outputs: str, opset: int = 21) -> Any:
    head = f'<ir_version: 10, opset_import: ["": {opset}]>'
    return prepare(parser.parse_model(f"{head}\nmain ({inputs}) => ({outputs}) {{\n{body}\n}}"))


def _programs(prepared: Any) -> int:
    return sum(isinstance(p, backend._Program) for p in prepared._asked.values())


def _node(op: str, inputs: Any, outputs: Any, opset: int = 21, **attributes: Any) -> Any:
    """A model of a node, whose inputs and outputs are pairs of a name and a type."""
    node = helper.make_node(op, [n for n, _ in inputs], [n for n, _ in outputs], **attributes)
    given, made = ([helper.make_value_info(n, t) for n, t in each] for each in (inputs, outputs))
    graph = helper.make_graph([node], "main", given, made)
    return prepare(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    )


def _tensor(kind: int, shape: Any) -> Any:
    return helper.make_tensor_type_proto(kind, shape)


FLOAT = TensorProto.FLOAT


def test_sequences():
    """A program for each number and each shapes of tensors."""
    vectors = helper.make_sequence_type_proto(_tensor(FLOAT, ["N"]))
    joined = _node("ConcatFromSequence", [("s", vectors)], [("y", _tensor(FLOAT, ["M"]))], axis=0)
    parts = [np.arange(n, dtype=np.float32) for n in (2, 3, 1)]
    for given in (parts, parts[:2], parts):
        (y,) = joined.run([given])
        np.testing.assert_array_equal(y, np.concatenate(given))
    assert _programs(joined) == 2
    with pytest.raises(TypeError, match="'s' is a sequence, not ndarray"):
        joined.run([parts[0]])


def test_optionals():
    optional = helper.make_optional_type_proto(_tensor(FLOAT, [2]))
    has = _node("OptionalHasElement", [("o", optional)], [("y", _tensor(TensorProto.BOOL, []))])
    (y,) = has.run([np.ones(2, np.float32)])
    assert y
    (y,) = has.run([None])
    assert not y
    get = _node("OptionalGetElement", [("o", optional)], [("y", _tensor(FLOAT, [2]))])
    with pytest.raises(CompilationError, match="the optional is empty"):
        get.run([None])


def test_no_shape():
    """The rank of an input without a shape is that of the argument."""
    doubled = _node("Neg", [("x", _tensor(FLOAT, None))], [("y", _tensor(FLOAT, None))])
    for shape in ((2,), (3, 4), (), (5,)):
        x = np.ones(shape, np.float32)
        (y,) = doubled.run([x])
        np.testing.assert_array_equal(y, -x)
    assert _programs(doubled) == 3


def test_extents_of_zero():
    """A size of 0 is a program of its own; in a model, 0 is no number of cells but an open size."""
    total = _prepare("y = ReduceSum(x)", "float[N, 3] x", "float[1, 1] y")
    for n in (4, 0, 2):
        (y,) = total.run([np.ones((n, 3), np.float32)])
        assert y.item() == 3 * n
    assert _programs(total) == 2
    flat = _node("Neg", [("x", _tensor(FLOAT, [0, 2]))], [("y", _tensor(FLOAT, [0, 2]))])
    for n in (0, 3):
        assert flat.run([np.ones((n, 2), np.float32)])[0].shape == (n, 2)


NARROW = (
    *(ml_dtypes.int4, ml_dtypes.uint4, ml_dtypes.int2, ml_dtypes.uint2),
    *(ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz, ml_dtypes.float8_e4m3fn),
    *(ml_dtypes.float8_e5m2, ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e8m0fnu),
)


@pytest.mark.parametrize("kind", NARROW, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("source", ["float32", "float16", "float64", "bfloat16"])
def test_casts_to_narrow_types(kind: Any, source: str):
    """Every representable value is itself, and what lies between is rounded to even."""
    bits = (
        8 if "float8" in kind.__name__ else int(kind.__name__[-1:]) if "int" in kind.__name__ else 4
    )
    every = np.arange(2**bits, dtype=np.uint8).view(kind).astype(np.float64)
    every = np.unique(every[np.isfinite(every)])
    is_integer = "int" in kind.__name__
    between = np.trunc(every[:-1]) if is_integer else (every[:-1] + every[1:]) / 2
    noise = np.random.default_rng(0).standard_normal(300) * every.max() / 3
    x = np.concatenate([every, between, [] if is_integer else noise])
    if "e8m0" in kind.__name__:
        x = np.abs(x[x > 0])
    with np.errstate(over="ignore"):
        x = x.astype(source)
    x = x[np.isfinite(x.astype(np.float64))]
    if "e8m0" in kind.__name__:
        x = x[x > 0]
    to, of = (helper.np_dtype_to_tensor_dtype(np.dtype(k)) for k in (kind, x.dtype))
    model = _node(
        *("Cast", [("x", _tensor(of, ["N"]))], [("y", _tensor(to, ["N"]))]),
        opset=25,
        to=to,
        **({"round_mode": "nearest"} if "e8m0" in kind.__name__ else {}),
    )
    (y,) = model.run([x])
    assert y.dtype == kind
    wide = x.astype(np.float64)
    if not is_integer:
        wide = np.clip(wide, float(ml_dtypes.finfo(kind).min), float(ml_dtypes.finfo(kind).max))
    if "e8m0" in kind.__name__:
        power = np.floor(np.log2(np.clip(wide, 2.0**-127, None)))
        wanted = 2.0 ** np.minimum(power + (wide >= 1.5 * 2.0**power), 127)
    else:
        wanted = wide.astype(kind).astype(np.float64)
    np.testing.assert_array_equal(y.astype(np.float64), wanted)


def test_narrow_elements_are_moved():
    """Elements that no tensor has pass movements; arithmetic on them is refused by name."""
    body = """t = Transpose<perm = [1, 0]>(x)
        y = Concat<axis = 0>(t, t)"""
    x = np.arange(-3, 3).reshape(2, 3).astype(ml_dtypes.int4)
    (y,) = _prepare(body, "int4[N, 3] x", "int4[M, N] y").run([x])
    assert y.dtype == x.dtype
    np.testing.assert_array_equal(y.astype(int), np.concatenate([x.T, x.T]).astype(int))
    with pytest.raises(CompilationError, match="INT4 are not supported here: Cast them"):
        _prepare("y = Neg(x)", "int4[N] x", "int4[N] y").run([x[0]])


def test_random_numbers():
    """With a seed each call has the same numbers, without one others."""
    attributes = "low = -2.0, high = 3.0, shape = [1000]"
    seeded = _prepare(f"y = RandomUniform<{attributes}, seed = 7.0>()", "", "float[1000] y")
    free = _prepare(f"y = RandomUniform<{attributes}>()", "", "float[1000] y")
    for model in (seeded, free):
        (a,), (b,) = model.run([]), model.run([])
        assert a.dtype == np.float32
        assert -2 <= a.min() < -1.9
        assert 2.9 < a.max() < 3
        assert (a == b).all() == (model is seeded)
    like = _prepare("y = RandomNormalLike<seed = 1.0>(x)", "double[N] x", "double[N] y")
    for n in (3, 5):
        # Constants have static shapes: each size has a program.
        (y,) = like.run([np.zeros(n)])
        np.testing.assert_array_equal(y, np.random.RandomState(1).standard_normal(n))
    body = "y = RandomNormalLike<mean = 5.0, scale = 2.0>(x)"
    (y,) = _prepare(body, "double[N] x", "double[N] y").run([np.zeros(4000)])
    assert y.dtype == np.float64
    assert abs(y.mean() - 5) < 0.2
    assert abs(y.std() - 2) < 0.2
    (y,) = _prepare("y = Bernoulli(x)", "float[N] x", "float[N] y").run(
        [np.full(4000, 0.3, np.float32)]
    )
    assert set(np.unique(y)) == {0, 1}
    assert abs(y.mean() - 0.3) < 0.05
    logits = np.log(np.array([[0.1, 0.2, 0.7]], np.float32))
    body = "y = Multinomial<sample_size = 4000>(x)"
    (y,) = _prepare(body, "float[1, 3] x", "int32[1, 4000] y").run([logits])
    np.testing.assert_allclose(np.bincount(y[0]) / 4000, [0.1, 0.2, 0.7], atol=0.04)


def test_refusals():
    """Each says what to do."""
    x = [np.ones(2, np.float32)]
    with pytest.raises(CompilationError, match="from opset 7 on: convert the model with"):
        _prepare("y = Add(x, x)", "float[N] x", "float[N] y", opset=6).run(x)
    with pytest.raises(CompilationError, match="elements of type STRING are not supported"):
        _prepare("y = Cast<to = 8>(x)", "float[N] x", "string[N] y").run(x)


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ("y = Cast(x)", "node 'y': the attribute 'to' is missing"),
        ("y = Relu<foo = 1>(x)", "there is no attribute 'foo'"),
        ('y = Softmax<axis = "a">(x)', "the attribute 'axis' is of type STRING, not INT"),
        ("y = Add(x)", "1 operands, where at least 2 are needed"),
        ("y = Neg(x, x)", "2 operands, where at most 1 are allowed"),
        ("y = Nope(x)", "there is no such operator"),
    ],
)
def test_nodes_that_are_not_as_their_schema(node: str, message: str):
    with pytest.raises(CompilationError, match=message):
        _prepare(node, "float[N] x", "float[N] y").run([np.ones(2, np.float32)])


def test_arguments_that_do_not_fit():
    model = _prepare("y = Neg(x)", "float[N, 2] x", "float[N, 2] y")
    with pytest.raises(ValueError, match="'x' is missing"):
        model.run([])
    with pytest.raises((TypeError, ValueError), match="x"):
        model.run([np.ones(3, np.float32)])
    with pytest.raises((TypeError, ValueError), match="x"):
        model.run([np.ones((2, 2), np.int64)])
