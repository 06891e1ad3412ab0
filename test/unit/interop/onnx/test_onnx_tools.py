"""Models of ONNX in the tools: benchmarks beside ONNX Runtime, progress, and late imports."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("onnx")

import onnx
from onnx import TensorProto, helper

from tgdialect.interop.onnx import prepare
from tgdialect.runtime import progress
from tgdialect.tools import tg_run


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A model of a product with symbolic rows."""
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, ["rows", 3]) for n in "xy")
    w = onnx.numpy_helper.from_array(np.eye(3, dtype=np.float32), "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"]), helper.make_node("Relu", ["a"], ["y"])]
    graph = helper.make_graph(nodes, "g", [x], [y], [w])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    onnx.save(made, tmp_path / "m.onnx")
    return str(tmp_path / "m.onnx")


@pytest.mark.parametrize("given", ["--input=4x3xf32=random", "--arg=rows=4"])
def test_a_benchmark_is_beside_onnx_runtime(
    file: str, given: str, capsys: pytest.CaptureFixture[str]
):
    pytest.importorskip("onnxruntime")
    assert tg_run.main([file, given, "--benchmark=3"]) == 0
    rows = [re.split("  +", line)[0] for line in capsys.readouterr().out.splitlines()]
    assert rows[:4] == ["repetitions", "median", "min", "max"]
    assert re.fullmatch(r"ONNX Runtime \S+, median", rows[4])
    assert re.fullmatch(r"ONNX Runtime \S+ / tgdialect \d+\.\d\d", rows[5])


def test_a_benchmark_without_onnx_runtime(
    file: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert tg_run.main([file, "--arg=rows=4", "--benchmark=3"]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 4
    assert err == ""


def test_sizes_that_are_not_given(file: str, capsys: pytest.CaptureFixture[str]):
    assert tg_run.main([file, "--benchmark"]) == 1
    assert capsys.readouterr().err == (
        "tg-run: error: input 0 (%x): ?x3xf32 is not given, and its sizes are not known: "
        "write --arg rows=SIZE, or --input 4x3xf32=random\n"
    )


def test_a_run_has_no_random_inputs(file: str, capsys: pytest.CaptureFixture[str]):
    assert tg_run.main([file, "--arg=rows=4"]) == 1
    assert "expected 2 inputs" in capsys.readouterr().err


def test_an_import_says_how_far_it_is(
    file: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(progress, "_DELAY", 0.0)
    caplog.set_level(logging.INFO, "tgdialect")
    prepare(file).run([np.ones((2, 3), np.float32)])
    assert any(m.startswith("importing m.onnx: 2 of 2 nodes, ") for m in caplog.messages)


LATE = """
import sys
import tgdialect as tg
from tgdialect.tools import tg_compile, tg_opt, tg_run
assert tg_opt.main([sys.argv[1], "-p", "tg-callify"]) == 0
assert tg_run.main([sys.argv[1], "--print-signature"]) == 0
tg.compile(sys.argv[1])
from tgdialect.registry import formats
assert {"onnx", "pt2"} <= set(formats())
print([m for m in sys.modules if m.partition(".")[0] in ("onnx", "onnxruntime", "torch")])
"""


def test_nothing_imports_onnx_or_torch_unless_asked():
    program = Path(__file__).parents[4] / "examples" / "softmax.mlir"
    done = subprocess.run(
        [sys.executable, "-c", LATE, program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_without_the_package_onnx_a_model_is_refused_and_nothing_else(file: str):
    """A module that is None in `sys.modules` is one that is not installed."""
    without = f"import sys\nsys.modules['onnx'] = None\n{LATE.replace('print(', 'list(')}"
    without += "sys.exit(tg_run.main([sys.argv[2]]))"
    program = Path(__file__).parents[4] / "examples" / "softmax.mlir"
    done = subprocess.run(
        [sys.executable, "-c", without, program, file], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr == (
        "tg-run: error: models of ONNX need the package onnx: pip install 'tgdialect[onnx]'\n"
    )
