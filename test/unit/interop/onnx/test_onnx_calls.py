"""Calls of prepared models, and files as programs: decisions by inputs, fixed inputs and sizes, and
models of speech detection as packages carry them.

`TG_ONNX_MODELS` names folders of `.onnx` files, separated as in PATH: their results are compared
with ONNX Runtime's for three batches each. The tests of real files are skipped without it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

import onnx
import onnxruntime
from onnx import parser
from single_node import reference

from tgdialect.diagnostics import CompilationError
from tgdialect.interop.onnx import backend, prepare
from tgdialect.interop.onnx.frontend import OnnxFrontend
from tgdialect.interop.onnx.model import Model
from tgdialect.runtime import compiler

RANDOM = np.random.default_rng(0)


def _model(text: str) -> onnx.ModelProto:
    return parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]> {text}')


RATES = """g (float[N, M] x, int64 rate) => (float[N, M] y) {
  wanted = Constant <value = int64 {16}> ()
  is_wanted = Equal (rate, wanted)
  y = If (is_wanted) <
    then_branch = a () => (float[N, M] p) { p = Exp (x) },
    else_branch = b () => (float[N, M] q) { q = Neg (x) }>
}"""


def _programs(prepared: Any) -> int:
    return sum(isinstance(p, backend._Program) for p in prepared._asked.values())


def test_calls_of_equal_shapes_are_told_apart_by_what_decides():
    """Also those that are found at once, as the later ones here."""
    prepared = prepare(_model(RATES), opt="none")
    for n in (2, 3):
        x = RANDOM.standard_normal((n, 4)).astype(np.float32)
        for rate in (16, 8, 16, 8, 7):
            (y,) = prepared.run([x, np.array(rate)])
            np.testing.assert_allclose(y, np.exp(x) if rate == 16 else -x, rtol=1e-6)
    assert prepared._deciding == ("rate",)
    assert _programs(prepared) == 3
    with pytest.raises(TypeError):
        prepared.run([x.astype(np.float64), np.array(16)])
    with pytest.raises(ValueError, match="'rate' is missing"):
        prepared.run([x])


def test_an_input_that_decides_which_input_decides():
    """A question that is not asked any more has decided, too."""
    prepared = prepare(
        _model("""g (float[N] x, bool first, int64[K] shape) => (float[R, C] y) {
          y = If (first) <
            then_branch = a () => (float[R, C] p) { p = Reshape (x, shape) },
            else_branch = b () => (float[R, C] q) {
              one = Constant <value = int64[1] {1}> ()
              q = Unsqueeze (x, one)
            }>
        }"""),
        opt="none",
    )
    x = np.arange(6, dtype=np.float32)
    for first, shape in [(True, (2, 3)), (False, (2, 3)), (True, (3, 2)), (True, (2, 3))]:
        (y,) = prepared.run([x, np.array(first), np.array(shape)])
        assert y.shape == (shape if first else (6, 1))


def test_layers_of_one_step():
    model = _model("""g (float[1, N, 3] x, float[1, 8, 3] w, float[1, 8, 2] r, float[1, N, 2] h,
        float[1, N, 2] c) => (float[1, 1, N, 2] y, float[1, N, 2] yh, float[1, N, 2] yc) {
      y, yh, yc = LSTM <hidden_size = 2> (x, w, r, , , h, c)
    }""")
    compute, prepared = reference(model), prepare(model, opt="none")
    for n in (1, 4, 7):
        shapes = {"x": (1, n, 3), "w": (1, 8, 3), "r": (1, 8, 2), "h": (1, n, 2), "c": (1, n, 2)}
        feed = {k: RANDOM.standard_normal(s).astype(np.float32) for k, s in shapes.items()}
        for found, wanted in zip(prepared.run(feed), compute(feed), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    assert _programs(prepared) == 1
    assert "tg.scan" not in str(backend.module_of(Model(model)))


# -- files as programs -----------------------------------------------------------------------------


SCALES = """g (float[1, 1, H, W] x) => (float[1, 1, H, W] y) {
  half = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)
  scales = Constant <value_floats = [1.0, 1.0, 2.0, 2.0]> ()
  whole = Resize (half, , scales)
  y = Add (x, whole)
}"""


def test_what_height_and_width_are_multiples_of_is_asked_at_once():
    prepared = prepare(_model(SCALES), opt="none")
    session = onnxruntime.InferenceSession(_model(SCALES).SerializeToString())
    for h, w in ((4, 6), (2, 2), (8, 10)):
        x = RANDOM.standard_normal((1, 1, h, w)).astype(np.float32)
        (y,) = prepared.run([x])
        np.testing.assert_array_equal(y, session.run(None, {"x": x})[0])
    assert _programs(prepared) == 1
    asked = [found for found in prepared._asked.values() if isinstance(found, list)]
    assert [[question.name for question in each] for each in asked] == [["W", "H"]]


def test_layers_that_differ_in_learned_factors_share_a_kernel(tmp_path: Path):
    """Factors in vectors of one element; those of formulas stay in the code."""

    def layer(number: int, x: str) -> list[Any]:
        weight = RANDOM.standard_normal((4, 4, 3, 3)).astype(np.float32) / 6
        constants = {"w": weight, "f": np.float32([0.3 + number]), "c": np.float32(0.1)}
        nodes = [
            onnx.helper.make_node(
                "Constant", [], [f"{n}{number}"], value=onnx.numpy_helper.from_array(np.asarray(v))
            )
            for n, v in constants.items()
        ]
        operands = [x, f"w{number}"]
        nodes.append(onnx.helper.make_node("Conv", operands, [f"p{number}"], pads=[1] * 4))
        nodes.append(onnx.helper.make_node("Mul", [f"p{number}", f"f{number}"], [f"q{number}"]))
        nodes.append(onnx.helper.make_node("Add", [f"q{number}", f"c{number}"], [f"y{number}"]))
        return nodes

    value = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [*layer(0, "x"), *layer(1, "y0"), *layer(2, "y1"), *layer(3, "y2")],
        "g",
        [value("x", 1, ["N", 4, "H", "W"])],
        [value("y3", 1, ["N", 4, "H", "W"])],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)])
    onnx.save(model, file := tmp_path / "layers.onnx")
    executable: Any = compiler.compile(str(file))
    x = RANDOM.standard_normal((2, 4, 11, 9)).astype(np.float32)
    session = onnxruntime.InferenceSession(str(file))
    np.testing.assert_allclose(executable(x), session.run(None, {"x": x})[0], rtol=1e-4, atol=1e-4)
    # The first layer and the last are about other memory, and two share one. Vectors that lie along
    # rows take a kernel that pads.
    assert len({k.name for k in executable.kernels if "prepack" not in k.name}) in (3, 4)


def test_an_if_is_a_conditional():
    """One program has both branches."""
    program: Any = compiler.compile(backend.module_of(Model(_model(RATES))), opt="none")
    for n in (2, 5):
        x = RANDOM.standard_normal((n, 4)).astype(np.float32)
        for rate in (16, 8):
            y = program(x, np.array(rate))
            np.testing.assert_allclose(y, np.exp(x) if rate == 16 else -x, rtol=1e-6)


UNLIKE = RATES.replace("q = Neg (x)", "q = Transpose (x)")


def test_branches_of_other_shapes_are_refused_with_advice():
    with pytest.raises(CompilationError, match=r"""onnx\{fix="rate=NUMBER"\}"""):
        backend.module_of(Model(_model(UNLIKE)))


def test_fixed_inputs_and_sizes(tmp_path: Path):
    file = tmp_path / "rates.onnx"
    onnx.save(_model(UNLIKE), file)
    module = compiler.parse_verified(str(file), "", 'onnx{fix="rate=16","M=4"}')
    program: Any = compiler.compile(module, opt="none")
    x = RANDOM.standard_normal((3, 4)).astype(np.float32)
    np.testing.assert_allclose(program(x), np.exp(x), rtol=1e-6)
    with pytest.raises(ValueError, match="4"):
        program(x[:, :3])


@pytest.mark.parametrize(
    ("fix", "error"),
    [
        ("rate", "is not name=number"),
        ("rate=x", "is not name=number"),
        ("rate=0.5", "0.5 is no int64"),
        ("rat=1", "no input or size 'rat' to fix; there are: 'x', 'rate', 'N', 'M'"),
        ("rate=1e999", "1e999 is not finite"),
        ("rate=nan", "nan is not finite"),
        ("rate=1e-3", "0.001 is no int64"),
        ("M=0", "a positive integer, not 0"),
        ("M=2.5", "a positive integer, not 2.5"),
        ("x=1", "it has symbolic sizes"),
    ],
)
def test_what_cannot_be_fixed(tmp_path: Path, fix: str, error: str):
    file = tmp_path / "rates.onnx"
    onnx.save(_model(RATES), file)
    with pytest.raises(CompilationError, match=error), file.open("rb") as opened:
        OnnxFrontend((fix,)).parse(None, opened, "rates.onnx")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("number", "value"),
    [("1e-3", 1e-3), ("-2.5E+1", -25.0), ("+.5", 0.5), ("1_000", 1000), ("7", 7)],
)
def test_numbers_that_are_fixed_are_those_of_python(tmp_path: Path, number: str, value: float):
    file = tmp_path / "scaled.onnx"
    onnx.save(_model("g (float[4] x, float s) => (float[4] y) { y = Mul (x, s) }"), file)
    program: Any = compiler.compile(
        compiler.parse_verified(str(file), "", f'onnx{{fix="s={number}"}}'), opt="none"
    )
    x = RANDOM.standard_normal(4).astype(np.float32)
    np.testing.assert_allclose(program(x), x * np.float32(value), rtol=1e-6)


SUM = """g (float[N] x, float[N] y) => (float[N] z)
<float[1] w = {1}> { s = Add (x, y) z = Add (s, w) }"""


@pytest.mark.parametrize(
    ("inputs", "error"),
    [
        ([1, 2, 3], r"3 inputs are given, the model has 2: 'x', 'y'"),
        ([1], r"the input 'y' is missing"),
        ({"x": 1, "y": 2, "q": 3}, r"'q' is no input of the model; inputs: 'x', 'y'"),
        ({"x": 1, "y": 2, "w": 3}, r"'w' is a constant of the model; inputs: 'x', 'y'"),
        (np.zeros((2, 4), np.float32), r"a sequence of arrays, or a mapping, and not one array"),
    ],
)
def test_inputs_that_a_model_has_not_got(inputs: Any, error: str):
    x = np.ones(4, np.float32)
    prepared = prepare(_model(SUM))
    if isinstance(inputs, list):
        inputs = [x * each for each in inputs]
    elif isinstance(inputs, dict):
        inputs = {name: x * each for name, each in inputs.items()}
    for _ in range(2):  # The second time, the program is found by its shapes.
        with pytest.raises((ValueError, TypeError), match=error):
            prepared.run(inputs)
        (z,) = prepared.run([x, x])
        np.testing.assert_array_equal(z, 2 * x + 1)


# -- files of weights that change ------------------------------------------------------------------


def _with_weights(folder: Path) -> tuple[str, np.ndarray]:
    """The file of a product with weights in `w.bin`, and these."""
    weights = RANDOM.standard_normal((64, 64)).astype(np.float32)
    model = _model("g (float[N, 64] x) => (float[N, 64] y) { y = MatMul (x, w) }")
    model.graph.initializer.append(onnx.numpy_helper.from_array(weights, "w"))
    file = str(folder / "m.onnx")
    onnx.save(model, file, save_as_external_data=True, location="w.bin", size_threshold=0)
    return file, weights


@pytest.mark.parametrize("change", ["write", "truncate"])
@pytest.mark.parametrize("is_cached", [False, True])
def test_a_file_of_weights_that_is_written_to(tmp_path: Path, change: str, is_cached: bool):
    """Its bytes are mapped into memory: a call that reads them is an error."""
    file, weights = _with_weights(tmp_path)
    x = RANDOM.standard_normal((3, 64)).astype(np.float32)
    if is_cached:
        prepare(file).run([x])
    prepared = prepare(file)
    np.testing.assert_allclose(prepared.run([x])[0], x @ weights, rtol=1e-4, atol=1e-4)
    before = os.stat(tmp_path / "w.bin").st_mtime_ns
    with (tmp_path / "w.bin").open("r+b") as opened:
        if change == "write":
            opened.write((2 * weights).tobytes())
        else:
            opened.truncate(100)
    os.utime(tmp_path / "w.bin", ns=(0, before + 10**9))
    # The first program may have packed its weights: then it does not read the file again.
    with suppress(OSError, CompilationError):
        np.testing.assert_allclose(prepared.run([x])[0], x @ weights, rtol=1e-4, atol=1e-4)
    with pytest.raises((OSError, CompilationError), match="has changed since the program was"):
        prepared.run([np.ones((5000, 64), np.float32)])
    if change == "write":
        np.testing.assert_allclose(
            prepare(file).run([x])[0], 2 * (x @ weights), rtol=1e-4, atol=1e-4
        )


def test_a_file_of_weights_that_is_replaced(tmp_path: Path):
    """The old one stays mapped: all programs of a model that is prepared have the same weights."""
    file, weights = _with_weights(tmp_path)
    x = RANDOM.standard_normal((3, 64)).astype(np.float32)
    prepared = prepare(file)
    prepared.run([x])
    (tmp_path / "new.bin").write_bytes((2 * weights).tobytes())
    os.replace(tmp_path / "new.bin", tmp_path / "w.bin")
    np.testing.assert_allclose(prepared.run([x])[0], x @ weights, rtol=1e-4, atol=1e-4)
    with pytest.raises(CompilationError, match="has changed since the program was read"):
        prepared.run([np.ones((5000, 64), np.float32)])
    np.testing.assert_allclose(prepare(file).run([x])[0], 2 * (x @ weights), rtol=1e-4, atol=1e-4)


def test_arguments_that_a_format_lacks(tmp_path: Path):
    with pytest.raises(CompilationError, match=r"the format onnx\{n=1\}"):
        compiler.parse_verified(str(tmp_path / "x.onnx"), "", "onnx{n=1}")


# -- models of packages ----------------------------------------------------------------------------

# It is taken away, since the package warns of names that it does not know.
FOLDERS = filter(None, os.environ.pop("TG_ONNX_MODELS", "").split(os.pathsep))
FILES = sorted(file for folder in FOLDERS for file in Path(folder).glob("*.onnx"))


def _feed(session: onnxruntime.InferenceSession, batch: int) -> Mapping[str, np.ndarray] | None:
    """Inputs of a size: signals of 576 samples, or images of 96 pixels. None if the model has other
    sizes."""
    found: dict[str, np.ndarray] = {}
    for each in session.get_inputs():
        if each.type == "tensor(int64)":
            found[each.name] = np.array(16000)
            continue
        shape = [d if isinstance(d, int) else 576 for d in each.shape]
        if len(shape) == 4:
            shape = [batch, 3, *(d if isinstance(d, int) else 96 for d in each.shape[2:])]
        elif shape[0] == 576 or not isinstance(each.shape[0], int):
            shape[0] = batch
        elif len(shape) == 3 and not isinstance(each.shape[1], int):
            shape[1] = batch
        found[each.name] = RANDOM.uniform(-0.5, 0.5, shape).astype(np.float32)
    is_open = any(not isinstance(d, int) for i in session.get_inputs() for d in i.shape)
    return found if is_open or batch == 1 else None


@pytest.mark.parametrize("file", FILES or [None], ids=lambda file: file and file.name)
def test_model_of_a_package(file: Path | None):
    if file is None:
        pytest.skip("TG_ONNX_MODELS names no folder of models")
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 3, 1
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    prepared, compiled = prepare(file), 0
    for batch in (1, 2, 5):
        if (feed := _feed(session, batch)) is None:
            continue
        for found, wanted in zip(prepared.run(feed), session.run(None, dict(feed)), strict=True):
            assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
            rtol = 1e-2 if "half" in file.name else 1e-4
            assert np.abs(found - wanted).max() <= rtol * np.abs(wanted).max()
        compiled = compiled or _programs(prepared)
    assert _programs(prepared) == compiled
