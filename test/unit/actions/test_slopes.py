"""The slopes of a program are those of its gradient function, on the command line as well."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import InterpretationError

from tgdialect.actions.compare import first_difference
from tgdialect.actions.execution import evaluate
from tgdialect.actions.slopes import Sloped
from tgdialect.runtime.compiler import parse_verified
from tgdialect.tools import tg_bisect
from tgdialect.transforms.gradient import GradientPass
from tgdialect.transforms.gradient import rules as gradient_rules

SMOOTH = """
func.func @main(%x: tensor<2x3xf32>, %n: tensor<3xi32>) -> (tensor<2x3xf32>, tensor<2x1xf32>) {
  %w = tg.param 0 : tensor<3xf32>
  %i = tg.cast %n to f32 : tensor<3xi32> -> tensor<3xf32>
  %0 = tg.mul %x, %w : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = tg.sin %0 : tensor<2x3xf32>
  %2 = tg.detach %1 : tensor<2x3xf32>
  %3 = tg.mul %1, %2 : tensor<2x3xf32>
  %4 = tg.add %3, %i : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %5 = tg.reduce add %4 [1] : tensor<2x3xf32> -> tensor<2x1xf32>
  return %4, %5 : tensor<2x3xf32>, tensor<2x1xf32>
}"""
ROOT = """
func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = tg.mul %x, %x : tensor<2x2xf32>
  %1 = tg.sqrt %0 : tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}"""


def with_gradient(module: ModuleOp) -> ModuleOp:
    copy = module.clone()
    GradientPass().apply(Context(), copy)
    return copy


def test_differences_are_what_the_gradient_is():
    module, random = parse_verified("smooth.mlir", SMOOTH), np.random.default_rng(1)
    inputs = [
        random.uniform(-1, 1, (2, 3)).astype(np.float32),
        np.array([1, 2, 3], np.int32),
        random.uniform(-1, 1, 3).astype(np.float32),
    ]
    sloped = Sloped(evaluate, 2)
    wanted = sloped(module, "main", inputs)
    assert [np.shape(value) for value in wanted[-2:]] == [(3,), (3,)]
    assert first_difference(sloped(with_gradient(module), "main", inputs), wanted) is None


def test_there_is_no_slope_at_a_kink():
    module = parse_verified("root.mlir", ROOT)
    with pytest.raises(InterpretationError, match="no gradient at its inputs"):
        Sloped(evaluate, 1)(module, "main", [np.zeros((2, 2), np.float32)])


def test_a_wrong_gradient_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (file := tmp_path / "root.mlir").write_text(ROOT)
    args = [str(file), "-p", "tg-gradient,canonicalize", "--reduce", str(tmp_path / "small.mlir")]
    assert tg_bisect.main(args) == 1
    assert "right after all passes" in capsys.readouterr().err
    table = gradient_rules.RULES
    wrong = {kind: lambda b, op, g: (g, g) for kind in table if kind.name == "tg.mul"}
    for kind, rule in wrong.items():
        monkeypatch.setitem(table, kind, rule)  # pyright: ignore
    assert tg_bisect.main(args) == 0
    out = capsys.readouterr().out
    assert out.startswith("action 1: tg-gradient: pass")
    assert "in it: gradient: tg.mul @main_gradient" in out
    assert "to 1 ops" in (tmp_path / "small.mlir").read_text()
