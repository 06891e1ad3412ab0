"""`python -m bench.gpu` where there is no GPU: what it says, and its program on small shapes."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from opencl_device import needs_opencl

ROOT = Path(__file__).parents[3]


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench.gpu", *arguments], cwd=ROOT, capture_output=True, text=True
    )


def test_rows():
    listed = bench("--list", "--rows", "gemm")
    assert listed.stdout.split("\n")[:2] == ["gemm f32 4096", "gemm f32 8192"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--device", "CL:0"), "other devices need --small"),
        (("--rows", "nothing"), "no row is called that; there are: elementwise, "),
        (("--device", "CUDA:99", "--rows", "softmax"), "error: "),
    ],
)
def test_errors(arguments: tuple[str, ...], message: str):
    failed = bench(*arguments)
    assert failed.returncode == 2
    assert message in failed.stderr
    assert "Traceback" not in failed.stderr


@needs_opencl
@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed (extra `parity`)")
def test_small_shapes(tmp_path: Path):
    path = tmp_path / "figures.json"
    small = ("--small", "--device", "CL:0", "--no-checks", "--tools", "torch")
    done = bench(*small, "--rows", "softmax", "sum of", "gemm", "--json", str(path))
    assert done.returncode == 0, done.stderr
    found = json.loads(path.read_text())
    assert found["rows"][0]["name"] == "softmax"
    assert all(row["ours"] > 0 and row["best"] == "torch" for row in found["rows"])
