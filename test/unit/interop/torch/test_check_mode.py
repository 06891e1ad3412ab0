"""`options={"check": True}` finds the op that computes something else than PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compiled_models import compiled  # noqa: E402
from xdsl.dialects import llvm  # noqa: E402

from tgdialect.interop.torch import checking, part  # noqa: E402
from tgdialect.interop.torch.checking import WrongResult  # noqa: E402
from tgdialect.interop.torch.rules import OpLine  # noqa: E402
from tgdialect.interop.torch.table import TABLE  # noqa: E402
from tgdialect.lowering.render.llvm import arithmetic  # noqa: E402

pytestmark = pytest.mark.parity
aten = torch.ops.aten


def model(x: torch.Tensor) -> torch.Tensor:
    y = x.exp()
    z = torch.relu(y - 1)
    return z.sum(1)


def test_a_right_part_passes(tmp_path: Path) -> None:
    x = torch.randn(4, 4)
    got = compiled(model, options={"check": True, "folder": tmp_path})(x)
    torch.testing.assert_close(got, model(x))
    assert not list(tmp_path.iterdir())


def test_a_wrong_translation_is_named(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setitem(TABLE, aten.relu.default, OpLine(lambda x: x, "result"))
    call = compiled(model, options={"check": True, "folder": tmp_path})
    with pytest.raises(WrongResult, match=r"first op that differs: relu, aten.relu.default") as e:
        call(torch.randn(4, 4))
    (file,) = tmp_path.iterdir()
    assert str(file) in str(e.value)
    assert "func.func @main" in file.read_text()
    assert "z = torch.relu(y - 1)" in str(e.value)


def test_a_warning_goes_on(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setitem(TABLE, aten.relu.default, OpLine(lambda x: x, "result"))
    call = compiled(model, options={"check": "warn", "folder": tmp_path})
    with pytest.warns(RuntimeWarning, match=r"aten.relu.default"):
        call(torch.randn(4, 4))


def test_a_wrong_program_is_bisected(monkeypatch: Any, tmp_path: Path) -> None:
    """Each op is right alone, but programs with more than one op have a wrong second one."""
    run = part.Part.__call__

    def wrong(self: Any, inputs: Any) -> Any:
        found = run(self, inputs)
        return [value + 1 if "tg.cmplt" in self.text else value for value in found]

    monkeypatch.setattr(part.Part, "__call__", wrong)
    call = compiled(model, options={"check": True, "folder": tmp_path})
    with pytest.raises(WrongResult, match=r"relu, aten.relu.default: in the program, though not"):
        call(torch.randn(4, 4))


def test_a_wrong_kernel_is_named(monkeypatch: Any, tmp_path: Path) -> None:
    wrong = arithmetic.row(arithmetic._float(llvm.FSubOp))
    monkeypatch.setitem(arithmetic.ELEMENTWISE, "tg.add", wrong)
    call = compiled(lambda x, y: (x + y) * 2, options={"check": True, "folder": tmp_path})
    with pytest.raises(WrongResult, match=r"the first op that differs: add(.|\n)*kernel @main_0"):
        call(torch.ones(4), torch.ones(4))


def test_a_gradient_of_roundings_is_not_wrong(tmp_path: Path) -> None:
    """The bias before a normalisation has the gradient 0, of which every order of the sums leaves
    other digits."""
    torch.manual_seed(0)
    nn = torch.nn
    layers = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 5)
    call = compiled(nn.Sequential(*layers), options={"check": True, "folder": tmp_path})
    call(torch.randn(4, 3, 8, 8)).square().mean().backward()
    assert layers[0].bias.grad is not None
    assert 0 < layers[0].bias.grad.abs().max() < 1e-6


def test_an_unknown_option() -> None:
    with pytest.raises(Exception, match=r"no option 'fast'; there are: freeze, check"):
        compiled(model, options={"fast": True})(torch.randn(4, 4))


def test_differences() -> None:
    one = torch.tensor([1.0, float("nan"), float("inf")])
    assert checking.difference(one, one.clone()) == ""
    assert "1 of 3 elements, at [2]" in checking.difference(-one * torch.tensor([-1, 1, 1]), one)
    assert "int64" in checking.difference(torch.tensor([1]), torch.tensor([1.0]))
    assert "1 of 2" in checking.difference(torch.tensor([1, 2]), torch.tensor([1, 3]))
