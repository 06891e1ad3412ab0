"""A random test that fails says so by the file of a reduced program, which shows the failure when
the command in it is run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reproduced
import test_random_programs
from expression import Array
from failing_programs import recorded, reproducer
from reproduced import Failed, check_all
from stopping import Stoppable, failures
from xdsl.dialects.builtin import ModuleOp

from tgdialect import Tensor
from tgdialect.actions.reduce.program import Reducible
from tgdialect.lowering.render.llvm import arithmetic
from tgdialect.runtime.compiler import parse_verified
from tgdialect.runtime.reproducer import without_resources
from tgdialect.tools import tg_bisect, tg_opt, tg_run
from tgdialect.transforms.simplify import SimplifyPass
from tgdialect.transforms.simplify.identities import IDENTITIES
from tgdialect.transforms.simplify.terms import lit

MOST_OPS = 10
SECONDS = 20.0


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduced, "SECONDS", SECONDS)


def message_of(test: Callable[..., object], *arguments: Any) -> str | None:
    """The message of a test that fails."""
    try:
        test(*arguments)
    except pytest.fail.Exception as error:
        return str(error)
    return None


def ops_of(text: str) -> int:
    return Reducible(parse_verified("random.mlir", without_resources(text))).count()


def command_of(text: str, file: Path) -> list[str]:
    """The arguments of the command that runs a reproducer again, which is written to a file."""
    file.write_text(text)
    command = text.splitlines()[1].removeprefix("// ")
    assert command.endswith(" random.mlir")
    return [*shlex.split(command)[1:-1], str(file)]


@pytest.fixture
def wrong_xor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code of the cpu that takes XOR for OR."""
    wrong = arithmetic.row(None, arithmetic._OR, arithmetic._OR)  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setitem(arithmetic.ELEMENTWISE, "tg.xor", wrong)


@pytest.mark.usefixtures("wrong_xor")
def test_wrong_instruction(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """In the code of random programs."""
    texts = (message_of(test_random_programs.check, "cpu-none", seed, 7) for seed in range(60))
    said = next(filter(None, texts))
    assert said.startswith("// tgdialect reproducer: random\n// tg-run --check ")
    assert re.search(r"// random_program\(\d+, 7\) on cpu-none: differs: result 0 at ", said)
    assert ops_of(said) <= MOST_OPS
    assert tg_run.main(command_of(said, tmp_path / "random.mlir")) == 1
    assert "differs" in capsys.readouterr().err


@pytest.mark.usefixtures("wrong_xor")
def test_wrong_call():
    """In a function of tensors, which a test compares with NumPy."""
    with recorded() as found:
        x = Tensor(np.arange(12, dtype=np.int32).reshape(3, 4))
        (((x + 1).sum(0) ^ 5) * 2).numpy()
        (x + 1).numpy()
    said = reproducer(found, "test")
    assert said is not None
    assert "tg.xor" in said
    assert "tg.add" not in said
    assert ops_of(said) <= MOST_OPS


@pytest.fixture
def wrong_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule that takes 0 for AND of a value with itself."""
    rule = next(rule for rule in IDENTITIES if rule.name == "and of same")
    monkeypatch.setitem(vars(rule), "result", lit(0))


def program(length: int) -> tuple[ModuleOp, Sequence[Array]]:
    """A chain of so many ops, of which one in the middle is AND of a value with itself."""
    kind = "tensor<4x6xi32>"
    lines = [f"func.func @main(%v0: {kind}, %v1: {kind}) -> {kind} {{"]
    for number in range(2, length + 2):
        name = ("add", "xor", "max")[number % 3]
        operands = f"%v{number - 1}, %v{number - 2}"
        if number == length // 2:
            name, operands = "and", f"%v{number - 1}, %v{number - 1}"
        lines.append(f"  %v{number} = tg.{name} {operands} : {kind}")
    lines.append(f"  return %v{length + 1} : {kind}\n}}")
    random = np.random.default_rng(length)
    inputs = [random.integers(1, 9, (4, 6)).astype(np.int32) for _ in range(2)]
    return parse_verified("chain.mlir", "\n".join(lines)), inputs


@pytest.mark.usefixtures("wrong_rule")
def test_wrong_rule_on_a_grid(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    module, inputs = program(30)
    said = Failed.lowered("opencl", "program(30)", module, inputs, "").reproducer()
    assert ops_of(said) <= MOST_OPS
    assert tg_bisect.main(command_of(said, tmp_path / "random.mlir")) == 0
    assert ": and of same: tg.and" in capsys.readouterr().out


@pytest.mark.usefixtures("wrong_rule")
def test_wrong_stop(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    module, inputs = program(12)
    case = Stoppable("program(12)", module, inputs, "main", [SimplifyPass()])
    said = message_of(check_all, failures(case, 0, 4))
    assert said is not None
    assert ops_of(said) <= MOST_OPS
    assert tg_opt.main(command_of(said, tmp_path / "random.mlir")) == 0
    assert "tg.and" not in capsys.readouterr().out
