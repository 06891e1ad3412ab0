"""`tg-bisect` as a command: passes of plug-ins, of xDSL and of another compiler."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import cf
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.transforms import convert_scf_to_cf
from xdsl.transforms.canonicalization_patterns import arith as patterns

from tgdialect.diagnostics import begins
from tgdialect.lowering.pipeline import run_stages, stages
from tgdialect.ops import tg
from tgdialect.registry import universe
from tgdialect.runtime.compiler import parse_verified
from tgdialect.tools import tg_bisect, tg_reduce

EMBED = Path(__file__).parents[3] / "examples/embed"

PROGRAM = """func.func @main(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %0 = tg.add %x, %y : tensor<4xi32>
  %1 = tg.sub %0, %x : tensor<4xi32>
  %2 = tg.mul %1, %0 : tensor<4xi32>
  func.return %2 : tensor<4xi32>
}
"""

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs tg-bisect, or another tool, on a program: the exit code, stdout and stderr."""

    def run(program: str, *args: str, tool: Any = tg_bisect) -> tuple[int, str, str]:
        file = tmp_path / "program.mlir"
        file.write_text(program, encoding="utf-8")
        code = tool.main([str(file), *args])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def plug_in(patch: pytest.MonkeyPatch, rewrite: Callable[[Any], object]) -> None:
    """Let `wrong-pass` be installed, which does something to each op of `tg` as an action."""

    class WrongPass(ModulePass):
        name = "wrong-pass"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            for each in [*op.walk()]:
                if isinstance(each, tg.TgOp) and begins("rewrite", each):
                    rewrite(each)

    patch.setitem(universe().all_passes, "wrong-pass", lambda: WrongPass)


def exchange(op: tg.TgOp) -> None:
    op.operands = op.operands[::-1]


def test_a_wrong_result_of_a_plug_in(run: Run, monkeypatch: pytest.MonkeyPatch):
    plug_in(monkeypatch, exchange)
    code, out, _ = run(PROGRAM, "-p", "cse,wrong-pass,canonicalize", "--input=1,2,3,4")
    assert code == 0
    first, second = out.splitlines()[:2]
    assert first.startswith("action 4: wrong-pass: rewrite: tg.sub @main at ")
    assert first.endswith("program.mlir:3:8")
    assert second.strip().startswith("result 0[0]: ")
    assert "-  %1 = tg.sub %0, %x : tensor<4xi32>" in out
    assert "+  %1 = tg.sub %x, %0 : tensor<4xi32>" in out


def test_the_same_as_json_and_reduced(run: Run, monkeypatch: pytest.MonkeyPatch):
    plug_in(monkeypatch, exchange)
    code, out, _ = run(PROGRAM, "-p", "wrong-pass", "--json", "--input=1,2,3,4")
    assert code == 0
    found = json.loads(out)
    assert found["pass"] == "wrong-pass"
    assert found["pattern"] == "rewrite"
    assert found["op"] == "tg.sub @main"
    assert found["location"].endswith("program.mlir:3:8")
    assert found["failure"]["result"] == 0
    assert found["failure"]["index"] == [0]
    code, out, err = run(PROGRAM, "-p", "wrong-pass", "--jobs=1", tool=tg_reduce)
    assert code == 0
    assert "3 to 1 ops" in err
    assert out.count("tg.") == out.count("tg.sub") == 1


def test_an_exception(run: Run, monkeypatch: pytest.MonkeyPatch):
    def fail(op: tg.TgOp) -> None:
        if isinstance(op, tg.MulOp):
            raise KeyError("no such thing")

    plug_in(monkeypatch, fail)
    code, out, _ = run(PROGRAM, "-p", "wrong-pass")
    assert code == 0
    assert "wrong-pass: rewrite: tg.mul @main" in out.splitlines()[0]
    assert "no such thing" in out.splitlines()[1]


def test_a_pass_that_does_not_end(run: Run, monkeypatch: pytest.MonkeyPatch):
    def hang(op: tg.TgOp) -> None:
        while isinstance(op, tg.SubOp):
            time.sleep(0.01)

    plug_in(monkeypatch, hang)
    code, out, _ = run(PROGRAM, "-p", "wrong-pass", "--timeout=2")
    assert code == 0
    assert "wrong-pass: rewrite: tg.sub @main" in out.splitlines()[0]
    assert "it takes more than 2 seconds" in out.splitlines()[1]


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def catch_all(op: tg.TgOp) -> None:
    while True:
        try:
            while True:
                time.sleep(0.01)
        except TimeoutError:
            pass


def detached(op: tg.TgOp) -> None:
    op.detach()


DEATHS: dict[str, tuple[Callable[[Any], object], str]] = {
    "crash": (lambda op: kill(), "the process ended by SIGKILL"),
    "exit": (lambda op: sys.exit(0), "the process ended with exit code 0"),
    "hang that catches all": (catch_all, "it takes more than 1 seconds"),
    "too few operands": (lambda op: setattr(op, "operands", ()), "InvalidIR: Expected 2 operands"),
    "detached": (detached, "InvalidIR: operand #0 does not dominate this use"),
}


@pytest.mark.parametrize("name", DEATHS)
def test_passes_that_do_not_come_back(run: Run, monkeypatch: pytest.MonkeyPatch, name: str):
    do, reason = DEATHS[name]
    plug_in(monkeypatch, lambda op: do(op) if isinstance(op, tg.SubOp) else None)
    code, out, _ = run(PROGRAM, "-p", "cse,wrong-pass", "--timeout=1")
    assert code == 0
    assert "wrong-pass: rewrite: tg.sub @main" in out.splitlines()[0]
    assert reason in out.splitlines()[1]


def test_a_pass_that_aborts_is_reduced(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    plug_in(monkeypatch, lambda op: kill() if isinstance(op, tg.SubOp) else None)
    small = tmp_path / "small.mlir"
    code, _, _ = run(PROGRAM, "-p", "wrong-pass", "--reduce", str(small))
    assert code == 0
    text = small.read_text(encoding="utf-8")
    assert "Reduced from 3 to 1 ops" in text
    assert "the process ended by SIGKILL" in text
    assert text.count("tg.") == text.count("tg.sub") == 2  # One in a comment.
    code, out, err = run(PROGRAM, "-p", "wrong-pass", tool=tg_reduce)
    assert (code, out) == (1, "")
    assert "the process ended by SIGKILL; --error keeps that" in err
    code, out, _ = run(PROGRAM, "-p", "wrong-pass", "--error=", "--jobs=1", tool=tg_reduce)
    assert code == 0
    assert out.count("tg.") == out.count("tg.sub") == 1


def test_the_action_is_shown_if_it_cannot_be_reduced(run: Run, monkeypatch: pytest.MonkeyPatch):
    runs = 0

    def sometimes(op: tg.TgOp) -> None:
        nonlocal runs
        runs += isinstance(op, tg.SubOp)
        if runs < 4:
            exchange(op)

    plug_in(monkeypatch, sometimes)
    args = "-p", "wrong-pass", "--input=1,2,3,4", "--reduce"
    code, out, err = run(PROGRAM, *args, "small.mlir")
    assert code == 1
    assert "action 3: wrong-pass: rewrite: tg.sub" in out
    assert "--reduce: all of wrong-pass does not show what this action breaks" in err


def test_what_passes_print_is_not_in_the_json(run: Run, monkeypatch: pytest.MonkeyPatch):
    def loud(op: tg.TgOp) -> None:
        print("loud")
        exchange(op)

    plug_in(monkeypatch, loud)
    code, out, _ = run(PROGRAM, "-p", "wrong-pass", "--json", "--input=1,2,3,4")
    assert code == 0
    assert json.loads(out)["pass"] == "wrong-pass"


GREP = f"{sys.executable} -c \"import sys; sys.exit('tg.xor' in open(sys.argv[1]).read())\" {{}}"


def test_a_command(run: Run, monkeypatch: pytest.MonkeyPatch):
    def to_xor(op: tg.TgOp) -> None:
        if isinstance(op, tg.MulOp):
            new = tg.XorOp(*op.operands)
            assert op.parent is not None
            op.parent.insert_op_before(new, op)
            op.result.replace_all_uses_with(new.result)
            op.detach()
            op.erase()

    plug_in(monkeypatch, to_xor)
    code, out, _ = run(PROGRAM, "-p", "wrong-pass", "--command", GREP)
    assert code == 0
    assert "wrong-pass: rewrite: tg.mul" in out
    code, out, _ = run(PROGRAM, "-p", "wrong-pass", "--command", "grep xor", "--if", "exit == 0")
    assert code == 0
    assert "wrong-pass: rewrite: tg.mul" in out
    assert "exit code 0" in out.splitlines()[1]


def test_a_command_in_this_folder(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    plug_in(monkeypatch, exchange)
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "test.sh"
    script.write_text('#!/bin/sh\nsleep 1000 & echo $! >> sleepers\n! grep -q "tg.sub %x" $1\n')
    script.chmod(0o700)
    code, out, _ = run(PROGRAM, "-p", "wrong-pass", "--command", "./test.sh {}")
    assert code == 0
    assert "wrong-pass: rewrite: tg.sub" in out.splitlines()[0]
    # A process that a command leaves running is ended with it.
    end = time.monotonic() + 10
    for number in (tmp_path / "sleepers").read_text().split():
        while _is_running(number):
            assert time.monotonic() < end
            time.sleep(0.01)


def _is_running(process: str) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


def test_what_cannot_be_tested(run: Run, monkeypatch: pytest.MonkeyPatch):
    plug_in(monkeypatch, exchange)
    code, out, err = run(PROGRAM, "-p", "wrong-pass", "--command", "sh -c 'exit 125'")
    assert (code, out) == (1, "")
    assert "the program cannot be tested after all passes" in err
    skipped = 'sh -c \'grep -q "tg.mul %0" {} && exit 1; grep -q "tg.sub %0" {} || exit 125\''
    code, out, _ = run(PROGRAM, "-p", "wrong-pass", "--command", skipped)
    assert code == 0
    assert "wrong-pass: rewrite: tg.mul" in out.splitlines()[0]
    assert "or one of the 1 before it, which cannot be tested" in out


def test_a_command_that_is_slower_than_its_time_limit(run: Run, monkeypatch: pytest.MonkeyPatch):
    plug_in(monkeypatch, exchange)
    slow = ["--command", SLOW.replace("0.3", "30"), "--if-slower", "2", "--timeout", "1"]
    code, out, _ = run(PROGRAM, "-p", "wrong-pass", *slow)
    assert code == 0
    assert "wrong-pass: rewrite: tg.sub" in out.splitlines()[0]


def test_machine_code_of_the_program(run: Run):
    """It runs if the command line says so, as in tg-run."""
    module = parse_verified("program.mlir", PROGRAM)
    run_stages(module, stages(mode="none").from_level("tensor"))
    code, out, err = run(str(module), "-p", "cse")
    assert (code, out) == (1, "")
    assert "it needs --allow-custom" in err
    code, _, err = run(str(module), "-p", "cse", "--allow-custom")
    assert "the program is right after all passes" in err


def test_a_function_that_raises(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "model.py"
    file.write_text("def f(x): raise RuntimeError('mine')")
    assert tg_bisect.main([f"{file}:f", "--input=4xf32=1"]) == 1
    assert "model.py:f: RuntimeError: mine" in capsys.readouterr().err


_SLEEP = "import sys, time; time.sleep(0.3 * ('tg.sub %x' in open(sys.argv[1]).read()))"
SLOW = f'{sys.executable} -c "{_SLEEP}" {{}}'


def test_what_makes_a_command_slower(run: Run, monkeypatch: pytest.MonkeyPatch):
    plug_in(monkeypatch, exchange)
    code, out, _ = run(PROGRAM, "-p", "wrong-pass", "--command", SLOW, "--if-slower", "2")
    assert code == 0
    assert "wrong-pass: rewrite: tg.sub" in out.splitlines()[0]
    assert "the command takes" in out.splitlines()[1]


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["-p", "canonicalize"], 1, "the program is right after all passes"),
        (["-p", "canonicalize", "--command", "false"], 1, "is wrong before any pass: exit code 1"),
        (["-p", "canonicalise"], 2, "canonicalise"),
        (["-p", "cse", "--if", "exit != 0"], 2, "--if and --if-slower are about a command"),
        (["-p", "cse", "--command", "./no-such-command"], 1, "cannot start ./no-such-command"),
        (["-p", "cse", "--command", "true", "--if", "exits"], 2, "'exits' is none of"),
        (["-p", "cse", "--command", "false", "--if-slower", "2"], 1, "that is to be timed fails"),
        (["-p", "cse", "--entry", "other"], 1, "name one by --entry: main"),
        (["-p", "cse", "--expect", "1"], 1, "--expect, result 0: '1' has no type"),
        (["-p", "cse", "--json", "--reduce", "-"], 2, "name a file by --reduce"),
        (["-p", "mlir-opt"], 2, "it needs --allow-external"),
    ],
)
def test_refusals(run: Run, args: list[str], code: int, message: str):
    found, out, err = run(PROGRAM, *args)
    assert (found, out) == (code, "")
    assert message in err
    assert "Traceback" not in err


# -- passes of xDSL --------------------------------------------------------------------------------

SUMS = """func.func @main(%n: f64, %m: f64) -> f64 {
  %three = arith.constant 3.0 : f64
  %four = arith.constant 4.0 : f64
  %a = arith.mulf %n, %m : f64
  %b = arith.addf %a, %three fastmath<reassoc> : f64
  %c = arith.addf %b, %four fastmath<reassoc> : f64
  %d = arith.subf %c, %m : f64
  func.return %d : f64
}"""
BRANCHES = """func.func @main(%n: i32, %m: i32) -> i32 {
  %less = arith.cmpi slt, %n, %m : i32
  %0 = scf.if %less -> (i32) {
    %1 = arith.addi %n, %m : i32
    scf.yield %1 : i32
  } else {
    %2 = arith.subi %n, %m : i32
    scf.yield %2 : i32
  }
  %3 = arith.muli %0, %n : i32
  func.return %3 : i32
}"""


def test_arith_canonicalisation(run: Run, monkeypatch: pytest.MonkeyPatch):
    fold = patterns._fold_const_operation  # pyright: ignore[reportPrivateUsage]

    def wrong(kind: Any, a: Any, b: Any) -> Any:
        return fold(kind, b, b)

    monkeypatch.setattr(patterns, "_fold_const_operation", wrong)
    inputs = ["--input=2", "--input=5"]
    code, out, _ = run(SUMS, "-p", "cse,canonicalize", *inputs)
    assert code == 0
    assert "canonicalize: FoldConstsByReassociation: arith.addf @main" in out.splitlines()[0]
    code, out, err = run(SUMS, "-p", "canonicalize", *inputs, "--jobs=1", tool=tg_reduce)
    assert code == 0
    assert "6 to 3 ops" in err
    assert "arith.addf" in out


def test_a_pattern_that_raises(run: Run, monkeypatch: pytest.MonkeyPatch):
    def match_and_rewrite(self: object, op: Any, rewriter: object) -> None:
        if op.name == "scf.if":
            raise KeyError("no condition")

    pattern = convert_scf_to_cf.IfLowering
    monkeypatch.setattr(pattern, "match_and_rewrite", match_and_rewrite)
    code, out, _ = run(BRANCHES, "-p", "cse,convert-scf-to-cf", "--input=2", "--input=5")
    assert code == 0
    assert "convert-scf-to-cf: IfLowering: scf.if @main" in out.splitlines()[0]
    assert out.splitlines()[1] == "  KeyError: 'no condition'"


def test_passes_of_functions(run: Run, monkeypatch: pytest.MonkeyPatch):
    """An action has the name of the op that its pass runs on, and the place of the pass."""
    plug_in(monkeypatch, lambda op: sys.exit(1))
    monkeypatch.setattr(universe().all_passes["wrong-pass"](), "apply", lambda *_: sys.exit(1))
    code, out, _ = run(PROGRAM, "--pass-pipeline", "builtin.module(func.func(wrong-pass))")
    assert code == 0
    assert ": wrong-pass: pass: func.func @main at " in out.splitlines()[0]
    assert out.splitlines()[2].startswith("  done by test_tg_bisect:")


def test_the_pass_of_a_nested_pipeline(run: Run, monkeypatch: pytest.MonkeyPatch):
    plug_in(monkeypatch, exchange)
    nested = "builtin.module(func.func(cse,wrong-pass),cse)"
    code, out, _ = run(PROGRAM, "--pass-pipeline", nested, "--json", "--input=1,2,3,4")
    assert code == 0
    assert json.loads(out)["pass"] == "wrong-pass"


def test_scf_to_cf(run: Run, monkeypatch: pytest.MonkeyPatch):
    def exchanged(cond: Any, then: Any, a: Any, otherwise: Any, b: Any) -> cf.ConditionalBranchOp:
        return cf.ConditionalBranchOp(cond, otherwise, b, then, a)

    monkeypatch.setattr(convert_scf_to_cf, "ConditionalBranchOp", exchanged)
    inputs = ["--input=2", "--input=5"]
    code, out, _ = run(BRANCHES, "-p", "canonicalize,convert-scf-to-cf,cse", *inputs)
    assert code == 0
    assert "convert-scf-to-cf: IfLowering: scf.if @main" in out.splitlines()[0]
    assert "+  cf.cond_br" in out
    code, out, _ = run(BRANCHES, "-p", "convert-scf-to-cf", *inputs, "--jobs=1", tool=tg_reduce)
    assert code == 0
    assert "scf.if" in out
    assert "arith.muli" not in out


# -- the compiler of examples/embed ----------------------------------------------------------------


def test_another_compiler(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.syspath_prepend(str(EMBED))
    monkeypatch.setenv("PYTHONPATH", str(EMBED), prepend=":")
    from imgc import to_tg
    from imgc.universe import IMG_UNIVERSE

    for name in ("all_dialects", "all_passes"):
        for key, factory in getattr(IMG_UNIVERSE, name).items():
            monkeypatch.setitem(getattr(universe(), name), key, factory)

    def threshold(b: tg.OpBuilder, op: Any) -> Any:
        is_dark = b.put(tg.CmpLtOp(op.image, b.put(tg.ConstOp(op.level))))
        return b.put(tg.CastOp(is_dark, tg.F32))

    monkeypatch.setitem(to_tg.LOWERINGS, to_tg.ThresholdOp, threshold)
    program = (EMBED / "edges.mlir").read_text(encoding="utf-8")
    np.save(tmp_path / "image.npy", np.linspace(0, 1, 48, dtype=np.float32).reshape(6, 8))
    command = f"{sys.executable} -m imgc.run {{}} {tmp_path / 'image.npy'}"
    code, out, _ = run(
        program, "-p", "img-to-tg", "--command", command, "--if", "stdout !~ 0.777 0.793"
    )
    assert code == 0, out
    assert "img-to-tg: lower: img.threshold @main" in out.splitlines()[0]

    # A module with ops that no interpreter knows cannot be judged: here all but the last.
    small = """func.func @main(%image: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %bright = img.threshold %image, 0.5 : tensor<1x4xf32>
  %mixed = img.blend %image, %bright, 0.25 : tensor<1x4xf32>
  func.return %mixed : tensor<1x4xf32>
}
"""
    flags = ["-p", "img-to-tg", "--input=1x4xf32=0,0.25,0.75,1"]
    code, _, err = run(small, *flags)
    assert code == 1
    assert "for op img.threshold; --expect or --command says what is right" in err
    code, out, _ = run(small, *flags, "--expect=1x4xf32=0,0.1875,0.8125,1")
    assert code == 0
    assert "img-to-tg: lower: img.blend @main" in out.splitlines()[0]
    assert "or one of the 2 before it, which cannot be tested" in out

    def fail(b: tg.OpBuilder, op: Any) -> NoReturn:
        raise KeyError("no filter")

    monkeypatch.setitem(to_tg.LOWERINGS, to_tg.BlendOp, fail)
    flags = ["-p", "img-to-tg", "--error", "no filter", "--jobs=1"]
    code, out, err = run(program, *flags, tool=tg_reduce)
    assert code == 0
    assert "4 to 1 ops" in err
    assert "img.blend" in out
