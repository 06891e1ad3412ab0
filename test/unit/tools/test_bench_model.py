"""`python -m bench.model`: the figures of kernels, and one that is measured."""

import json
import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[3]))

from bench import model


def test_figures():
    """A schedule that cannot be compiled counts for nothing but the choice of the model."""
    kernel = model.Kernel("gemm", "main_0", list("abcd"), [4, 3, 2, 1], [2.0, 1.0, 3.0, 4.0])
    assert kernel.correlation == pytest.approx(-0.8)
    assert (kernel.of_model, kernel.of_heuristic) == (4.0, 2.0)
    perfect = model.Kernel("gemm", "main_0", list("abcd"), [1, 2, 3, 9], [1.0, 2.0, 4.0, math.inf])
    assert perfect.correlation == pytest.approx(1)
    assert (perfect.of_model, perfect.of_heuristic) == (1.0, 1.0)


def test_a_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "figures.json"
    assert model.main(["--rows", "gemm 64x64x64", "--trials", "4", "--json", str(path)]) == 0
    assert "all kernels" in capsys.readouterr().out
    (found,) = json.loads(path.read_text())
    assert len(found["opts"]) == len(found["cycles"]) == len(found["seconds"]) == 4
    assert all(each > 0 for each in found["cycles"])
