"""The files of `examples/`, run by tg-run on arrays in files, against NumPy in float64."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import programs
import pytest
from example_files import WITHOUT_CUSTOM
from opencl_device import DEVICE, needs_opencl
from programs import Program
from test_programs import TOLERANCE, relative_error

from tgdialect.tools.tg_run import main

EXAMPLES = Path(__file__).parents[3] / "examples"

PROGRAMS = {
    "arange": lambda: programs.arange(7),
    "attention": lambda: programs.attention(2, 3, 4),
    "gather": lambda: programs.gather(4, 6),
    "gemm": lambda: programs.gemm(2, 3, 4),
    "layernorm": lambda: programs.layernorm(2, 4),
    "matmul_softmax": lambda: programs.matmul_softmax(256, 512, 128),
    "mlp": lambda: programs.mlp(2, (3, 2, 2)),
    "prefix_sum": lambda: programs.prefix_sum(5),
    "scatter_add": lambda: programs.scatter_add(3, 5),
    "softmax": lambda: programs.softmax(2, 4),
    "threefry": lambda: programs.threefry(4),
    "tour": lambda: programs.matmul_softmax(4, 2, 8),
}
"""What each file computes."""


def test_every_example_is_here():
    assert sorted(path.stem for path in WITHOUT_CUSTOM) == sorted(PROGRAMS)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "target", ["interpreter", "cpu", "c", pytest.param(DEVICE, id="opencl", marks=needs_opencl)]
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_example(name: str, target: str, tmp_path: Path):
    program: Program = PROGRAMS[name]()
    args = [str(EXAMPLES / f"{name}.mlir"), f"--target={target}"]
    for position, array in enumerate(program.inputs):
        np.save(tmp_path / f"{position}.npy", array)
        args += ["--input", str(tmp_path / f"{position}.npy")]
    assert main([*args, "--output", str(tmp_path / "out.npy")]) == 0
    actual = np.load(tmp_path / "out.npy")
    assert actual.dtype == (program.expected.dtype if program.exact else np.float32)
    assert actual.shape == program.expected.shape
    assert relative_error(actual, program.expected) < (1e-30 if program.exact else TOLERANCE)


@pytest.mark.parametrize("name", PROGRAMS)
def test_inputs_are_made_for_every_example(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = str(EXAMPLES / f"{name}.mlir")
    make_inputs = runpy.run_path(str(EXAMPLES / "inputs.py"))["main"]
    assert make_inputs([file, "-d", str(tmp_path / "a")]) == 0
    first = capsys.readouterr().out.split()
    assert make_inputs([file, "-d", str(tmp_path / "b")]) == 0
    second = capsys.readouterr().out.split()
    expected = PROGRAMS[name]().inputs
    assert [np.load(f).shape for f in first] == [a.shape for a in expected]
    assert [np.load(f).dtype for f in first] == [a.dtype for a in expected]
    for one, other in zip(first, second, strict=True):
        assert Path(one).read_bytes() == Path(other).read_bytes()
    args = [part for f in first for part in ("--input", f)]
    assert main([file, "--target=interpreter", *args]) == 0


def test_inputs_of_a_file_that_is_not_there(tmp_path: Path):
    command = [sys.executable, str(EXAMPLES / "inputs.py"), str(tmp_path / "no.mlir")]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 1
    assert "cannot open input file" in result.stderr
    assert "Traceback" not in result.stderr
