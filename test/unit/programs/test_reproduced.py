"""A random test that fails says so by the file of a reduced program, which shows the failure when
the command in it is run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reproduced
import test_random_programs
from executors import interpret
from expression import Array
from failing_programs import explained
from reproduced import Failed, check_all, check_program, raised
from stopping import Stoppable, failures
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.passes import ModulePass

from tgdialect import Tensor
from tgdialect.actions.reduce.program import Reducible
from tgdialect.interpreter import run
from tgdialect.lowering.render.llvm import arithmetic
from tgdialect.ops import tg
from tgdialect.registry import make_context
from tgdialect.runtime.compiler import parse_verified
from tgdialect.runtime.reproducer import without_resources
from tgdialect.tools import tg_bisect, tg_opt, tg_run
from tgdialect.transforms import simplify
from tgdialect.transforms.gradient import rules
from tgdialect.transforms.simplify import SimplifyPass
from tgdialect.transforms.simplify.identities import IDENTITIES
from tgdialect.transforms.simplify.terms import lit

MOST_OPS = 10
SECONDS = 20.0


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduced, "SECONDS", SECONDS)


def message_of(test: Callable[..., object], *arguments: Any, **options: Any) -> str | None:
    """The message of a test that fails."""
    try:
        test(*arguments, **options)
    except pytest.fail.Exception as error:
        return str(error)
    return None


def message_again(test: Callable[[], object]) -> str:
    """The message of a test of programs that fails."""
    with pytest.raises(Exception) as error:  # noqa: PT011
        test()
    said = explained(test, "test", error.value)
    assert said is not None
    return said


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

    def test() -> None:
        x = Tensor(np.arange(12, dtype=np.int32).reshape(3, 4))
        found = (((x + 1).sum(0) ^ 5) * 2).numpy()
        (x + 1).numpy()
        assert found.tolist() == [20, 40, 34, 44]

    said = message_again(test)
    assert "tg.xor" in said
    assert "tg.add" not in said
    assert ops_of(said) <= MOST_OPS
    assert "\n// AssertionError: " in said


def test_right_programs():
    """Their expected results are wrong, or the test that made them: the last one is said as it
    is."""

    def test() -> None:
        x = Tensor(np.arange(3, dtype=np.int32))
        assert (x * 3).tolist() == [0, 3, 6]
        assert ((x + 1) * 2).tolist() == [2, 4, 7]

    said = message_again(test)
    assert "test: the last of 2 programs that are right" in said
    assert ops_of(said) == 5  # A PARAM, two constants, ADD and MUL.


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


@dataclass(frozen=True)
class UnknownPass(ModulePass):
    """A pass of a test, which no command line can name."""

    name = "tg-simplify"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in op.walk():
            each.attributes["seen"] = UnitAttr()


@pytest.mark.usefixtures("wrong_rule")
def test_wrong_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """The passes after one that a command line cannot name are said to be wrong."""
    module, inputs = program(30)

    def test() -> None:
        context, lowered = make_context(), module.clone()
        UnknownPass().apply(context, lowered)
        SimplifyPass().apply(context, lowered)
        (found,) = run(lowered.clone(), "main", inputs)
        assert np.array_equal(found, interpret(module, inputs)[0])

    said = message_again(test)
    assert said.splitlines()[1].startswith("// tg-bisect -p tg-simplify --input ")
    assert ops_of(said) <= 2
    assert tg_bisect.main(command_of(said, tmp_path / "random.mlir")) == 0
    assert ": and of same: tg.and" in capsys.readouterr().out


def test_failing_pass(monkeypatch: pytest.MonkeyPatch):
    def fail(op: object) -> None:
        if any(each.name == "tg.and" for each in op.walk()):
            raise RuntimeError("there is an AND")

    monkeypatch.setattr(simplify, "simplify", fail)
    module, _ = program(30)
    said = message_again(lambda: SimplifyPass().apply(make_context(), module.clone()))
    assert "test: RuntimeError: there is an AND" in said
    assert ops_of(said) == 1


def test_wrong_gradient(monkeypatch: pytest.MonkeyPatch):
    """The function that is differentiated is said, and not its gradient, which is compiled
    rightly."""
    table: Any = rules._ELEMENTWISE  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setitem(table, tg.MulOp, lambda g, y, a, b: (g * b, g * b))

    def test() -> None:
        x, y = (Tensor(np.array([1, k], np.float32), requires_grad=True) for k in (2, 3))
        (gradient,) = (x * y.sin()).sum().gradient(y)
        np.testing.assert_allclose(gradient.numpy(), [np.cos(1), 2 * np.cos(3)])

    said = message_again(test)
    assert "the gradient along some direction is " in said
    assert "tg.mul" in said
    assert ops_of(said) <= 2


def test_wrong_program():
    """A check of a test's own says that it is wrong."""

    def check(module: ModuleOp, inputs: Sequence[Array]) -> None:
        ops = [op.name for op in module.walk()]
        assert not {"tg.and", "tg.xor"} <= {*ops}, ops

    said = message_of(check_program, raised(check), "program(30)", *program(30), again="tg-opt")
    assert said is not None
    assert said.splitlines()[1] == "// tg-opt random.mlir"
    assert ops_of(said) == 2


@pytest.mark.usefixtures("wrong_rule")
def test_wrong_stop(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    module, inputs = program(12)
    case = Stoppable("program(12)", module, inputs, "main", [SimplifyPass()])
    said = message_of(check_all, failures(case, 0, 4))
    assert said is not None
    assert ops_of(said) <= MOST_OPS
    assert tg_opt.main(command_of(said, tmp_path / "random.mlir")) == 0
    assert "tg.and" not in capsys.readouterr().out
