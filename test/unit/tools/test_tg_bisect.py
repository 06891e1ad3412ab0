"""`tg-bisect` as a command: passes of plug-ins, of xDSL and of another compiler."""

from __future__ import annotations

import json
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
from tgdialect.ops import tg
from tgdialect.registry import universe
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
        (["-p", "cse", "--entry", "other"], 1, "other"),
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

    def fail(b: tg.OpBuilder, op: Any) -> NoReturn:
        raise KeyError("no filter")

    monkeypatch.setitem(to_tg.LOWERINGS, to_tg.BlendOp, fail)
    flags = ["-p", "img-to-tg", "--error", "no filter", "--jobs=1"]
    code, out, err = run(program, *flags, tool=tg_reduce)
    assert code == 0
    assert "4 to 1 ops" in err
    assert "img.blend" in out
