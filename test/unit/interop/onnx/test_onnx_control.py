"""If, Loop and Scan, against ONNX Runtime: known and computed numbers of steps, conditions, states
that grow, and graphs that see values around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

import onnx
from onnx import TensorProto, helper, parser
from single_node import compare, reference

from tgdialect.diagnostics import CompilationError
from tgdialect.interop.onnx import prepare

F = TensorProto.FLOAT


def _model(text: str) -> onnx.ModelProto:
    return parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {text}')


def _row(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def _compare(model: onnx.ModelProto, feeds: Sequence[Any]) -> None:
    """ONNX Runtime has no extents of a step's output if there is no step."""
    compute = reference(model)

    def wanted(feed: Any) -> Any:
        found = compute(feed)
        return [a if a.size else np.zeros((0, *feed["x"].shape), a.dtype) for a in found]

    compare(model, feeds, wanted=wanted, programs=None)


SUM = """
    body (int64 i, bool c, float[N] a) => (bool c_out, float[N] a_out, float[N] each) {
      c_out = Identity (c)
      number = Cast <to: int = 1> (i)
      scaled = Mul (x, number)
      a_out = Add (a, scaled)
      each = Sub (a_out, x)
    }"""


@pytest.mark.parametrize("trips", [0, 1, 3, 20])
def test_loops_of_known_length(trips: int):
    model = _model(f"""g (float[N] x) => (float[N] last, float[T, N] each_of_them)
      <int64 trips = {{{trips}}}, bool true = {{1}}> {{
        last, each_of_them = Loop (trips, true, x) <body: graph = {SUM}>
      }}""")
    feeds = [{"x": _row(*range(n))} for n in (3, 5)]
    _compare(model, feeds)


def test_loops_of_a_computed_number_of_steps():
    model = _model(f"""g (int64 trips, float[N] x) => (float[N] last, float[T, N] each_of_them) {{
        last, each_of_them = Loop (trips, "", x) <body: graph = {SUM}>
      }}""")
    feeds = [{"trips": np.array(t), "x": _row(1, 2, 3)} for t in (7, 0, 9, 1)]
    _compare(model, feeds)


WHILE = """
    body (int64 i, bool c, float[N] a) => (bool c_out, float[N] a_out{}) {{
      a_out = Add (a, x)
      total = ReduceSum <keepdims: int = 0> (a_out)
      c_out = Less (total, limit)
      {}
    }}"""


@pytest.mark.parametrize("trips", ['""', "most"])
@pytest.mark.parametrize("has_outputs", [False, True])
def test_loops_with_a_condition(trips: str, has_outputs: bool):
    more = (", float[N] each", "each = Mul (a_out, x)") if has_outputs else ("", "")
    result, name = (", float[T, N] each_of_them", ", each_of_them") if has_outputs else ("", "")
    model = _model(f"""g (float[N] x, float limit, bool start) => (float[N] last{result})
      <int64 most = {{5}}> {{
        last{name} = Loop ({trips}, start, x) <body: graph = {WHILE.format(*more)}>
      }}""")
    feeds = [
        {"x": _row(1, 2, 3), "limit": np.array(limit, np.float32), "start": np.array(start)}
        for limit, start in ((30, True), (2, True), (100, True), (10, False))
    ]
    _compare(model, feeds)


def test_loops_whose_states_grow():
    model = _model("""g (float[N] x) => (float[M] last) <int64 trips = {5}, bool true = {1}> {
        last = Loop (trips, true, x) <body: graph =
          body (int64 i, bool c, float[N] a) => (bool c_out, float[M] a_out) {
            c_out = Identity (c)
            a_out = Concat <axis: int = 0> (a, x)
          }>
      }""")
    compare(model, [{"x": _row(1, 2)}, {"x": _row(1, 2, 3)}], programs=None)


def test_loops_that_use_the_number_of_a_step_as_an_index():
    model = _model("""g (float[N] x, int64 trips) => (float[T, K] rows) <bool true = {1}> {
        start = Constant <value = float {0.0}> ()
        state, rows = Loop (trips, true, start) <body: graph =
          body (int64 i, bool c, float s) => (bool c_out, float s_out, float[K] row) {
            c_out = Identity (c)
            zero = Constant <value = int64[1] {0}> ()
            two = Constant <value = int64 {2}> ()
            first = Unsqueeze (i, zero)
            end = Add (i, two)
            last = Unsqueeze (end, zero)
            row = Slice (x, first, last, zero)
            s_out = Identity (s)
          }>
      }""")
    feeds = [{"x": _row(*range(8)), "trips": np.array(t)} for t in (6, 3)]
    compare(model, feeds, programs=None)


@pytest.mark.parametrize("trips", [3, 12])
def test_conditions_in_loops(trips: int):
    model = _model(f"""g (float[N] x) => (float[N] last)
      <int64 trips = {{{trips}}}, bool true = {{1}}> {{
        last = Loop (trips, true, x) <body: graph =
          body (int64 i, bool c, float[N] a) => (bool c_out, float[N] a_out) {{
            c_out = Identity (c)
            total = ReduceSum <keepdims: int = 0> (a)
            ten = Constant <value = float {{10.0}}> ()
            is_less = Less (total, ten)
            a_out = If (is_less) <
              then_branch: graph = then () => (float[N] y) {{ y = Add (a, x) }},
              else_branch: graph = other () => (float[N] z) {{ z = Sub (a, x) }}>
          }}>
      }}""")
    compare(model, [{"x": _row(1, 2, 3)}, {"x": _row(-1, 2)}], programs=None)


def test_conditions_whose_branches_have_other_shapes():
    model = _model("""g (float[N] x) => (float[M] y) {
        total = ReduceSum <keepdims: int = 0> (x)
        zero = Constant <value = float {0.0}> ()
        is_less = Less (total, zero)
        y = If (is_less) <
          then_branch: graph = then () => (float[N] a) { a = Mul (x, total) },
          else_branch: graph = other () => (float[K] b) { b = Concat <axis: int = 0> (x, x) }>
      }""")
    feeds = [{"x": _row(*v)} for v in ((1, 2), (-3, 1), (4, 5, 6), (-1,))]
    compare(model, feeds, programs=None)


def test_conditions_with_the_same_shapes_in_conditions():
    branch = (
        "If (small) < then_branch: graph = t () => (float[N] p) { p = Neg (x) }, "
        "else_branch: graph = e () => (float[N] q) { q = Exp (x) }>"
    )
    model = _model(f"""g (float[N] x, bool big, bool small) => (float[N] y) {{
        y = If (big) <
          then_branch: graph = then () => (float[N] a) {{ a = {branch} }},
          else_branch: graph = other () => (float[N] b) {{ b = Mul (x, x) }}>
      }}""")
    feeds = [
        {"x": _row(1, 2, 3), "big": np.array(big), "small": np.array(small)}
        for big in (True, False)
        for small in (True, False)
    ]
    compare(model, feeds, programs=None)


def test_numbers_of_results_in_branches():
    """Questions about values within graphs, one after the other."""
    model = _model("""g (float[N] x, bool flag) => (float[M] y, int64[K] z) {
        zero = Constant <value = float {0.0}> ()
        y, z = If (flag) <
          then_branch: graph = then () => (float[A] a, int64[B] b) {
            is_more = Greater (x, zero)
            some = Compress <axis: int = 0> (x, is_more)
            one = Constant <value = float {1.0}> ()
            is_great = Greater (some, one)
            places = NonZero (is_great)
            shape = Constant <value = int64[1] {-1}> ()
            b = Reshape (places, shape)
            a = Gather <axis: int = 0> (some, b)
          },
          else_branch: graph = other () => (float[C] c, int64[D] d) {
            c, d = Unique <sorted: int = 1> (x)
          }>
      }""")
    feeds = [
        {"x": _row(*values), "flag": np.array(flag)}
        for flag in (True, False)
        for values in ((1, 2, 3, 0), (2, -1, 2), (-1, -2), (5,), (1, 1, 1, 1, 3))
    ]
    compare(model, feeds, programs=None)


def _scan(axes: Sequence[int], directions: Sequence[int], outputs: Sequence[int]) -> Any:
    body = parser.parse_graph("""body (float[N] s, float[N] a, float[N] b) =>
      (float[N] s_out, float[N] y, float[N] z) {
        sum = Add (s, a)
        s_out = Mul (sum, factor)
        y = Sub (s_out, b)
        z = Add (a, b)
      }""")
    values = [
        helper.make_tensor_value_info("s", F, ["N"]),
        helper.make_tensor_value_info("a", F, ["T", "N"] if axes[0] == 0 else ["N", "T"]),
        helper.make_tensor_value_info("b", F, ["T", "N"] if axes[1] == 0 else ["N", "T"]),
        helper.make_tensor_value_info("factor", F, []),
    ]
    node = helper.make_node(
        "Scan",
        ["s", "a", "b"],
        ["last", "y", "z"],
        body=body,
        num_scan_inputs=2,
        scan_input_axes=axes,
        scan_input_directions=directions,
        scan_output_axes=outputs,
        scan_output_directions=directions[::-1],
    )
    results = [
        helper.make_tensor_value_info(name, F, shape)
        for name, shape in (("last", ["N"]), ("y", ["A", "B"]), ("z", ["C", "D"]))
    ]
    graph = helper.make_graph([node], "g", values, results)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(12))
def test_scans(seed: int):
    rng = np.random.default_rng(seed)
    axes, directions, outputs = rng.integers(0, 2, (3, 2)).tolist()
    feeds = []
    for steps, n in ((5, 3), (4, 2)):
        arrays = [rng.standard_normal((steps, n)).astype(np.float32) for _ in range(2)]
        arrays = [x.T.copy() if axis else x for x, axis in zip(arrays, axes, strict=True)]
        state = rng.standard_normal(n).astype(np.float32)
        feeds.append(
            {"s": state, "a": arrays[0], "b": arrays[1], "factor": np.array(0.5, np.float32)}
        )
    compare(_scan(axes, directions, outputs), feeds, programs=None)


@pytest.mark.parametrize("count", [0, -1, 4])
def test_scans_of_no_or_too_many_inputs(count: int):
    model = _scan([0, 0], [0, 0], [0, 0])
    (attribute,) = (a for a in model.graph.node[0].attribute if a.name == "num_scan_inputs")
    attribute.i = count
    x = np.ones((3, 2), np.float32)
    feeds = {"s": x[0], "a": x, "b": x, "factor": np.array(1, np.float32)}
    with pytest.raises(CompilationError, match=f"num_scan_inputs is {count}"):
        prepare(model).run(feeds)
