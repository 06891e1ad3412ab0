"""The compiler of `examples/embed`: what it says about bad input, and that xDSL's tools find it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

EMBED = Path(__file__).parents[2] / "examples" / "embed"

DYNAMIC = """func.func @main(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = img.threshold %x, 0.5 : tensor<?x8xf32>
  func.return %0 : tensor<?x8xf32>
}"""
TOO_BRIGHT = DYNAMIC.replace("0.5", "1.5").replace("?", "4")
TOO_SMALL = """func.func @main(%x: tensor<2x8xf32>) -> tensor<0x6xf32> {
  %0 = img.blur3x3 %x : tensor<2x8xf32> -> tensor<0x6xf32>
  func.return %0 : tensor<0x6xf32>
}"""
MALFORMED = "func.func @main(%x: tensor<2x8xf32>) {\n  img.sharpen %x\n}"


def python(*arguments: str | Path, folder: Path = EMBED) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )


@pytest.mark.sampled(4)
@pytest.mark.parametrize("tool", ["opt", "run"])
@pytest.mark.parametrize(
    ("program", "error"),
    [
        (DYNAMIC, "the size of the image is not known"),
        (TOO_BRIGHT, "the level is between 0 and 1, got 1.5"),
        (TOO_SMALL, "the image is smaller than 3 x 3, got tensor<2x8xf32>"),
        (MALFORMED, "operation 'img.sharpen' is not registered"),
    ],
)
def test_bad_input_is_one_located_error(tool: str, program: str, error: str, tmp_path: Path):
    file = tmp_path / "bad.mlir"
    file.write_text(program, encoding="utf-8")
    passes = ["-p", "img-to-tg"] if tool == "opt" else []
    result = python("-m", f"imgc.{tool}", file, *passes)
    assert result.returncode == 1
    assert result.stdout == ""
    first, shown, caret = result.stderr.splitlines()
    assert first.startswith(f"{file}:2:")
    assert error in first
    assert shown == program.splitlines()[1]
    assert caret.strip() == "^"


def test_errors_of_the_command_line_name_the_tool():
    result = python("-m", "imgc.opt", EMBED / "edges.mlir", "-p", "img-to-gt")
    assert result.returncode == 2
    assert result.stderr.startswith("img-opt: error: ")
    assert "img-to-tg" in result.stderr


def test_an_image_of_another_shape_is_one_error(tmp_path: Path):
    np.save(tmp_path / "small.npy", np.zeros((3, 3), np.float32))
    result = python("-m", "imgc.run", EMBED / "edges.mlir", tmp_path / "small.npy")
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "content"), [("empty.npy", b""), ("broken.npz", b"PK\3\4")])
def test_a_file_without_an_image_is_one_error(name: str, content: bytes, tmp_path: Path):
    (tmp_path / name).write_bytes(content)
    result = python("-m", "imgc.run", EMBED / "edges.mlir", tmp_path / name)
    assert result.returncode == 1
    assert len(result.stderr.splitlines()) == 1


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder with what `pip install` leaves: the package, and a file that names its entry
    point."""
    (tmp_path / "imgc").symlink_to(EMBED / "imgc")
    about = tmp_path / "imgc-0.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: imgc\nVersion: 0.1\n")
    project = (EMBED / "pyproject.toml").read_text(encoding="utf-8")
    name = project.partition('"xdsl.universe"]\nimgc = "')[2].partition('"')[0]
    (about / "entry_points.txt").write_text(f"[xdsl.universe]\nimgc = {name}\n")
    return tmp_path


@pytest.mark.parametrize("tool", ["xdsl.tools.xdsl_opt", "tgdialect.tools.tg_opt", "imgc.opt"])
def test_tools_know_the_installed_package(tool: str, installed: Path):
    passes = "img-to-tg,tg-callify,tg-rangeify"
    result = python("-m", tool, EMBED / "edges.mlir", "-p", passes, folder=installed)
    assert result.returncode == 0, result.stderr
    assert "tg.kernel @main_0" in result.stdout


def test_the_installed_package_runs(installed: Path):
    np.save(installed / "image.npy", np.linspace(0, 1, 48, dtype=np.float32).reshape(6, 8))
    arguments = EMBED / "edges.mlir", installed / "image.npy"
    result = python("-m", "imgc.run", *arguments, folder=installed)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("[[")


def test_the_installed_package_is_bisected_and_reduced(installed: Path):
    """As a program of `tg` is, from the command line."""
    program, what = EMBED / "edges.mlir", ("-p", "img-to-tg")
    command = *what, "--command", "grep -q img.histogram"
    result = python("-m", "tgdialect.tools.tg_bisect", program, *command, folder=installed)
    assert result.returncode == 0, result.stderr
    assert "img-to-tg: lower: img.histogram @main at " in result.stdout.splitlines()[0]
    command = "--command", "grep -q img.histogram", "--jobs=1"
    result = python("-m", "tgdialect.tools.tg_reduce", program, *command, folder=installed)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("// Reduced from 4 to 1 ops.")
