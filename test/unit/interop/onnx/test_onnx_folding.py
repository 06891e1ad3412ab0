"""Shape arithmetic that exporters write stays arithmetic on sizes: one program for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import TensorProto, parser  # noqa: E402
from single_node import compare  # noqa: E402

import tgdialect.interop.onnx as tg_onnx  # noqa: E402
from tgdialect.interop.onnx import backend  # noqa: E402


def _model(body: str, inputs: str, outputs: str, opset: int = 18) -> Any:
    """A model of nodes in ONNX's text."""
    head = f'<ir_version: 9, opset_import: ["": {opset}]>'
    return parser.parse_model(f"{head}\nmain ({inputs}) => ({outputs}) {{\n{body}\n}}")


def _floats(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


PATTERNS: dict[str, tuple[str, str, str, Sequence[tuple[int, ...]]]] = {
    "flatten by a product": (
        """s = Shape(x)
        zero = Constant<value = int64[1] {0}>()
        one = Constant<value = int64[1] {1}>()
        a = Gather<axis = 0>(s, zero)
        b = Gather<axis = 0>(s, one)
        n = Mul(a, b)
        minus = Constant<value = int64[1] {-1}>()
        t = Concat<axis = 0>(n, minus)
        y = Reshape(x, t)""",
        "float[N, M, 4] x",
        "float[D0, D1] y",
        [(2, 3, 4), (5, 1, 4), (3, 7, 4)],
    ),
    "half of a size, in floats": (
        """s = Shape<start = 0, end = 1>(x)
        f = Cast<to = 1>(s)
        half = Constant<value = float[1] {0.5}>()
        m = Mul(f, half)
        g = Floor(m)
        i = Cast<to = 7>(g)
        zero = Constant<value = int64[1] {0}>()
        y = Slice(x, zero, i)""",
        "float[N, 3] x",
        "float[D0, D1] y",
        [(2, 3), (5, 3), (9, 3)],
    ),
    "a sum and a product of sizes, as scalars": (
        """s = Shape(x)
        f = Cast<to = 1>(s)
        n = ReduceSum<keepdims = 0>(f)
        i = Cast<to = 7>(n)
        p = ReduceProd<keepdims = 0>(s)
        a = Add(p, i)
        b = Sub(a, i)
        axes = Constant<value = int64[1] {0}>()
        u = Unsqueeze(b, axes)
        one = Constant<value = int64[1] {1}>()
        t = Concat<axis = 0>(u, one)
        y = Reshape(x, t)""",
        "float[N, M] x",
        "float[K, 1] y",
        [(2, 3), (5, 3)],
    ),
    "a quotient of sizes, rounded up": (
        """s = Shape<start = 0, end = 1>(x)
        f = Cast<to = 1>(s)
        three = Constant<value = float[1] {4.0}>()
        q = Div(f, three)
        g = Ceil(q)
        i = Cast<to = 7>(g)
        one = Constant<value = int64[1] {1}>()
        t = Concat<axis = 0>(i, one)
        o = ConstantOfShape<value = float[1] {2.5}>(t)
        y = Add(o, o)""",
        "float[N, 1] x",
        "float[D0, D1] y",
        [(2, 1), (4, 1), (9, 1)],
    ),
    "expand where a shape is -1": (
        """s = Shape(x)
        k = Shape(s)
        ones = ConstantOfShape<value = int64[1] {1}>(k)
        minus = Constant<value = int64[1] {-1}>()
        m = Mul(ones, minus)
        e = Equal(s, m)
        t = Where(e, ones, s)
        c = Constant<value = float[1] {3.0}>()
        z = Expand(c, t)
        y = Add(x, z)""",
        "float[N, M] x",
        "float[D0, D1] y",
        [(2, 3), (4, 1)],
    ),
    "positions up to a size": (
        """s = Shape<start = 0, end = 1>(x)
        n = Squeeze(s)
        zero = Constant<value = int64 {0}>()
        one = Constant<value = int64 {1}>()
        r = Range(zero, n, one)
        f = Cast<to = 1>(r)
        y = Add(x, f)""",
        "float[N] x",
        "float[D0] y",
        [(2,), (7,)],
    ),
    "a shape with one extent replaced": (
        """s = Shape(x)
        at = Constant<value = int64[1, 1] {1}>()
        two = Constant<value = int64[1] {2}>()
        t = ScatterND(s, at, two)
        minus = Constant<value = int64[1] {-1}>()
        u = Concat<axis = 0>(t, minus)
        y = Reshape(x, u)""",
        "float[N, 4] x",
        "float[D0, D1, D2] y",
        [(2, 4), (5, 4)],
    ),
    "the larger size, as i32": (
        """s = Shape(x)
        j = Cast<to = 6>(s)
        zero = Constant<value = int64 {0}>()
        one = Constant<value = int64 {1}>()
        a = Gather<axis = 0>(j, zero)
        b = Gather<axis = 0>(j, one)
        m = Max(a, b)
        l = Cast<to = 7>(m)
        axes = Constant<value = int64[1] {0}>()
        v = Unsqueeze(l, axes)
        y = ConstantOfShape(v)""",
        "float[N, M] x",
        "float[D0] y",
        [(2, 3), (5, 4)],
    ),
}
"""Nodes, the inputs, the outputs, and shapes of the input x in calls."""


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(pattern: str):
    body, inputs, outputs, shapes = PATTERNS[pattern]
    model = _model(body, inputs, outputs)
    compare(model, [{"x": _floats(*shape)} for shape in shapes])


@pytest.mark.parametrize("mode", ["nearest", "linear"])
def test_scales_that_are_quotients_of_sizes(mode: str):
    """Resize to the sizes of another tensor, by scales in floats."""
    body = f"""s = Shape<start = 2>(x)
        t = Shape<start = 2>(like)
        a = Cast<to = 1>(s)
        b = Cast<to = 1>(t)
        q = Div(b, a)
        ones = Constant<value = float[2] {{1.0, 1.0}}>()
        scales = Concat<axis = 0>(ones, q)
        y = Resize<mode = "{mode}", coordinate_transformation_mode = "asymmetric",
                   nearest_mode = "floor">(x, , scales)"""
    model = _model(body, "float[1, 2, H, W] x, float[1, 2, P, Q] like", "float[1, 2, P, Q] y")
    shapes = [((2, 3), (4, 6)), ((4, 2), (4, 8)), ((8, 4), (2, 2))]
    feeds = [{"x": _floats(1, 2, *a), "like": _floats(1, 2, *b)} for a, b in shapes]
    compare(model, feeds)


def test_results_that_are_sizes():
    """A size as a result has its type; a float of it is computed as floats are."""
    body = """s = Shape(x)
        i = Cast<to = 6>(s)
        f = Cast<to = 1>(s)
        third = Constant<value = float[1] {0.3}>()
        g = Mul(f, third)"""
    model = _model(body, "float[N, M] x", "int64[2] s, int32[2] i, float[2] f, float[2] g")
    compare(model, [{"x": _floats(3, 10)}, {"x": _floats(7, 2)}], rtol=1e-7)


def test_a_size_that_floats_round():
    """Floats that are no fractions of small denominators multiply as floats do: a program for each
    result."""
    body = """s = Shape<start = 0, end = 1>(x)
        f = Cast<to = 1>(s)
        part = Constant<value = float[1] {0.7}>()
        m = Mul(f, part)
        g = Floor(m)
        i = Cast<to = 7>(g)
        zero = Constant<value = int64[1] {0}>()
        y = Slice(x, zero, i)"""
    prepared = tg_onnx.prepare(_model(body, "float[N] x", "float[M] y"), opt="none")
    for n in (3, 10, 20):
        (y,) = prepared.run([_floats(n)])
        assert len(y) == int(np.floor(np.float32(n) * np.float32(0.7)))


KNOWN = {
    "CumSum": ("a = CumSum(c, zero)", [1, 4, 8]),
    "NonZero": ("n = NonZero(c)\na = Squeeze(n)", [0, 1, 2]),
    "Tile": ("t = Constant<value = int64[1] {2}>()\na = Tile(c, t)", [1, 3, 4, 1, 3, 4]),
    "Mod": ("t = Constant<value = int64[1] {3}>()\na = Mod(c, t)", [1, 0, 1]),
    "Pow": ("t = Constant<value = int64[1] {2}>()\na = Pow(c, t)", [1, 9, 16]),
    "ReduceMax": ("a = ReduceMax<keepdims = 1>(c)", [4]),
    "Gather": ("i = Constant<value = int64[2] {-1, 0}>()\na = Gather<axis = 0>(c, i)", [4, 1]),
    "Sqrt": ("f = Cast<to = 1>(c)\ng = Mul(f, f)\nh = Sqrt(g)\na = Cast<to = 7>(h)", [1, 3, 4]),
    "Trilu": (
        "m = Constant<value = int64[2] {3, 1}>()\nt = Expand(c, m)\nu = Trilu(t)\n"
        "at = Constant<value = int64[1] {0}>()\na = ReduceSum<keepdims = 0>(u, at)",
        [1, 6, 12],
    ),
    "Unique": ("d = Concat<axis = 0>(c, c)\na = Unique(d)", [1, 3, 4]),
    "ArgMax": ("p = ArgMax(c)\na = Add(p, c)", [3, 5, 6]),
    "Where": ("b = Equal(c, zero)\na = Where(b, zero, c)", [1, 3, 4]),
}
"""Operators on the vector c = [1, 3, 4], and the result."""


@pytest.mark.parametrize("op", KNOWN)
def test_known_values(op: str):
    """No program is needed for what constants decide."""
    lines, wanted = KNOWN[op]
    body = f"""c = Constant<value = int64[3] {{1, 3, 4}}>()
        zero = Constant<value = int64 {{0}}>()
        {lines}"""
    prepared = tg_onnx.prepare(_model(body, "float[N] x", "int64[M] a"))
    (a,) = prepared.run([_floats(2)])
    np.testing.assert_array_equal(a, np.array(wanted))
    assert a.dtype == np.int64
    (program,) = (p for p in prepared._asked.values() if isinstance(p, backend._Program))
    assert program.call is None


def test_work_is_bounded():
    """A constant that would be larger than memory is not made while importing."""
    body = """t = Constant<value = int64[3] {100000, 100000, 100000}>()
        c = Constant<value = int64[1] {1}>()
        e = Expand(c, t)
        s = Shape(e)"""
    prepared = tg_onnx.prepare(_model(body, "float[N] x", "int64[3] s"))
    (s,) = prepared.run([_floats(2)])
    assert s.tolist() == [100000] * 3


SAME_AS_COMPUTED: dict[str, tuple[str, int, dict[str, Any], Sequence[np.ndarray]]] = {
    "a quotient of the least integer": (
        "Div",
        18,
        {},
        [np.array([-128, 7, -7, 7], np.int8), np.array([2, -2, 2, 2], np.int8)],
    ),
    "indices shorter along other axes": (
        "GatherElements",
        18,
        {"axis": 0},
        [_floats(3, 3), np.array([[0, -1]])],
    ),
    "one index along other axes": (
        "GatherElements",
        18,
        {"axis": 0},
        [_floats(3, 3), np.array([[0], [2]])],
    ),
    "updates shorter along other axes": (
        "ScatterElements",
        18,
        {"axis": 0},
        [_floats(3, 3), np.array([[1]]), np.array([[9]], np.float32)],
    ),
    "floats out of the range of integers": (
        "Cast",
        18,
        {"to": TensorProto.INT32},
        [np.array([1e10, -1e10, 3.0], np.float32)],
    ),
    "floats of 8 bits": (
        "Cast",
        19,
        {"to": TensorProto.FLOAT8E5M2},
        [np.array([1e10, 3.3], np.float32)],
    ),
    "Hardmax over all axes from one on": ("Hardmax", 11, {}, [-_floats(2, 3, 4)]),
    "a mean of operands that broadcast": ("Mean", 18, {}, [_floats(3, 1), _floats(4)]),
    "a depth that is a vector": (
        "OneHot",
        18,
        {},
        [np.array([1, 2]), np.array([4]), np.array([0, 1], np.float32)],
    ),
    "an empty last part": ("Split", 18, {"num_outputs": 4}, [_floats(5)]),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", SAME_AS_COMPUTED)
def test_the_same_as_computed(name: str) -> None:
    """Results that are known while a model is imported are those of its program."""
    op_type, opset, attributes, arrays = SAME_AS_COMPUTED[name]
    names = [f"x{i}" for i in range(len(arrays))]
    results = [f"y{i}" for i in range(attributes.get("num_outputs", 1))]
    node = onnx.helper.make_node(op_type, names, results, **attributes)
    outputs = [onnx.helper.make_empty_tensor_value_info(result) for result in results]
    constants = [onnx.numpy_helper.from_array(a, n) for n, a in zip(names, arrays, strict=True)]
    inputs = [
        onnx.helper.make_tensor_value_info(
            n, onnx.helper.np_dtype_to_tensor_dtype(a.dtype), a.shape
        )
        for n, a in zip(names, arrays, strict=True)
    ]
    opsets = [onnx.helper.make_opsetid("", opset)]

    def run(inputs: Sequence[Any], constants: Sequence[Any], given: Sequence[Any]) -> Any:
        graph = onnx.helper.make_graph([node], "g", inputs, outputs, constants)
        model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)
        return tg_onnx.prepare(model).run(given)

    known, computed = run([], constants, []), run(inputs, [], arrays)
    for one, other in zip(known, computed, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
