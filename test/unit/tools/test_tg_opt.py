"""tg-opt's flags, streams and exit codes, and what it does with passes that fail."""

import argparse
import io
import os
import re
import subprocess
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects import test
from xdsl.dialects.arith import AddiOp, ConstantOp
from xdsl.dialects.builtin import ModuleOp, i32, i64
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern
from xdsl.utils.exceptions import PassFailedException, ShrinkException
from xdsl.xdsl_opt_main import xDSLOptMain

from tgdialect import registry
from tgdialect.diagnostics import emit_remark, emit_warning, locate
from tgdialect.plugin import Plugin, merged
from tgdialect.tools.tg_opt import TgOptMain, main

PROGRAM = """func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  func.return %0 : i32
}
"""


@dataclass(frozen=True)
class FailPass(ModulePass):
    name = "fail"
    how: str = "plain"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        add = next(each for each in op.walk() if isinstance(each, AddiOp))
        match self.how:
            case "located":
                raise locate(PassFailedException("axis 1: 3 and 4 do not broadcast"), add)
            case "plain":
                raise PassFailedException("nothing to do")
            case "verify":
                add.results[0]._type = i64  # pyright: ignore[reportPrivateUsage]
                add.verify()
            case "rewrite":
                PatternRewriteWalker(FailPattern()).rewrite_module(op)
            case "internal":
                raise KeyError("surprise")
            case "shrink":
                raise ShrinkException
            case _:
                raise AssertionError


class FailPattern(RewritePattern):
    def match_and_rewrite(self, op: object, rewriter: PatternRewriter) -> None:
        if isinstance(op, AddiOp):
            raise PassFailedException("cannot be rewritten")


@dataclass(frozen=True)
class BreakPass(ModulePass):
    name = "break"
    level_after = "kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        add = next(each for each in op.walk() if isinstance(each, AddiOp))
        wrong = test.TestOp(result_types=[i64])
        add.parent_block().insert_op_before(wrong, add)  # pyright: ignore[reportOptionalMemberAccess]
        add.operands = [wrong.res[0], add.rhs]


@dataclass(frozen=True)
class NotePass(ModulePass):
    """Says something about each addition."""

    name = "note"
    level_after = "kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in op.walk():
            if isinstance(each, AddiOp):
                emit_warning(each, "adding is slow")
                emit_remark(each, "done")


@dataclass(frozen=True)
class TwicePass(ModulePass):
    name = "twice"

    def pipeline(self) -> tuple[ModulePass, ...]:
        return (NotePass(), NotePass())

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise AssertionError("a pipeline is run pass by pass")


@pytest.fixture(autouse=True)
def passes(monkeypatch: pytest.MonkeyPatch) -> None:
    found = registry.universe()
    added = {
        each.name: lambda each=each: each for each in (FailPass, BreakPass, NotePass, TwicePass)
    }
    universe = merged({"found": found, "added": Plugin(all_passes=added)})
    monkeypatch.setattr(registry, "universe", lambda: universe)


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """Runs tg-opt on a text: the exit code, stdout and stderr."""

    def call(text: str, *args: str) -> tuple[int, str, str]:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "in.mlir").write_text(text)
        code = main(["in.mlir", *args])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


Run = Callable[..., tuple[int, str, str]]


def test_has_every_flag_of_xdsl_opt():
    def flags(cls: type[xDSLOptMain]) -> set[str]:
        tool = cls.__new__(cls)
        tool.available_frontends, tool.available_passes, tool.available_targets = {}, {}, {}
        parser = argparse.ArgumentParser(conflict_handler="resolve")
        tool.register_all_arguments(parser)
        actions = parser._actions  # pyright: ignore[reportPrivateUsage]
        return {string for action in actions for string in action.option_strings}

    assert flags(xDSLOptMain) <= flags(TgOptMain)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("located", "in.mlir:2:8: error: pass fail: axis 1: 3 and 4 do not broadcast"),
        ("verify", "in.mlir:2:8: error: pass fail: result 'result' at position 0 does not verify"),
        ("rewrite", "in.mlir:2:8: error: pass fail: cannot be rewritten"),
        ("plain", "in.mlir: error: pass fail: nothing to do"),
        ("internal", "in.mlir: error: internal error in pass fail: KeyError: 'surprise' (set TG_"),
    ],
)
def test_failing_pass(run: Run, how: str, message: str, tmp_path: Path):
    (tmp_path / "out").write_text("before")
    code, out, err = run(PROGRAM, "-p", f"fail{{how={how}}}", "-o", "out")
    assert (code, out) == (1, "")
    assert err.startswith(message)
    assert "Traceback" not in err
    assert err.count("\n") == (3 if ":2:8:" in message else 1)
    assert (tmp_path / "out").read_text() == "before"


def test_debug_shows_traceback(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TG_DEBUG", "1")
    _, _, err = run(PROGRAM, "-p", "fail{how=internal}")
    assert "Traceback" in err
    assert "KeyError: 'surprise'" in err


def test_invalid_ir_leaves_a_reproducer(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """It is no mistake of the program."""
    monkeypatch.setenv("TG_REPRODUCER_DIR", str(tmp_path / "left"))
    assert run(PROGRAM, "-p", "break")[0] == 1
    (left,) = (tmp_path / "left").iterdir()
    assert "pass break left invalid IR" in left.read_text(encoding="utf-8")


def test_verify_each(run: Run):
    code, out, err = run(PROGRAM, "-p", "break,cse")
    assert (code, out) == (1, "")
    assert "in.mlir:2:8: error: pass break left invalid IR: " in err
    code, out, _ = run(PROGRAM, "-p", "break", "--verify-each=false")
    assert code == 0
    assert "(i64, i32) -> i32" in out or "arith.addi" in out


def test_a_dump_after_failure_has_what_the_pass_left(run: Run):
    flag = "--mlir-print-ir-after-failure"
    for passes in ("note,break", "note,fail"):
        code, out, err = run(PROGRAM, "-p", passes, flag)
        assert (code, out) == (1, "")
        assert err.count("IR Dump After ") == 1
        assert f"// -----// IR Dump After {passes[5:]} Failed //----- //\nbuiltin.module" in err
    assert "Dump" not in run(PROGRAM, "-p", "note", flag)[2]


def test_a_nested_pass_sees_one_operation_and_leaves_the_others(run: Run):
    text = PROGRAM + PROGRAM.replace("@f", "@g")
    code, out, err = run(text, "--pass-pipeline=builtin.module(func.func(note,twice))")
    assert (code, err.count("warning: adding is slow"), out.count("arith.addi")) == (0, 6, 2)
    assert out.index("@f") < out.index("@g")
    code, _, err = run(text, "--pass-pipeline=builtin.module(func.func(convert-func-to-x86-func))")
    assert (code, "internal" in err) == (1, False)
    code, out, err = run(text, "--pass-pipeline=builtin.module(func.func(fail{how=located}))")
    assert (code, out) == (1, "")
    assert err.startswith("in.mlir:2:8: error: pass fail: axis 1")


def test_verify_each_checks_levels(run: Run, monkeypatch: pytest.MonkeyPatch):
    levels: list[str] = []

    def verify_level(module: ModuleOp, level: str) -> None:
        levels.append(level)
        raise PassFailedException("a shape is left")

    module = types.ModuleType("tgdialect.lowering.verify")
    vars(module)["verify_level"] = verify_level
    monkeypatch.setitem(sys.modules, module.__name__, module)
    assert run(PROGRAM, "-p", "note")[0] == 0
    assert levels == []
    code, _, err = run(PROGRAM, "-p", "note", "--verify-each")
    assert (code, levels) == (1, ["kernels"])
    assert "error: after pass note, level kernels: a shape is left" in err


def test_warnings_do_not_fail(run: Run):
    code, out, err = run(PROGRAM, "-p", "note")
    assert code == 0
    assert "arith.addi" in out
    assert "in.mlir:2:8: warning: adding is slow\n  %0 = arith.addi" in err
    assert "remark" not in err


def test_remarks_are_printed_when_asked_for(run: Run):
    code, _, err = run(PROGRAM, "-p", "note", "--mlir-print-remarks")
    assert code == 0
    assert "in.mlir:2:8: remark: done" in err


def test_expected_warning(run: Run):
    comment = "// expected-warning@+2 {{slow}}\n// expected-remark@below {{done}}\n  %0"
    text = PROGRAM.replace("%0", comment, 1)
    flags = ("--verify-diagnostics", "--mlir-print-remarks")
    assert run(text, "-p", "note", *flags)[0::2] == (0, "")
    code, _, err = run(text, "--verify-diagnostics")
    assert code == 1
    assert 'error: expected warning "slow" was not produced' in err


def test_pipeline_pass_runs_its_passes(run: Run):
    code, _, err = run(PROGRAM, "-p", "twice", "--mlir-print-ir-after-all", "--mlir-timing")
    assert code == 0
    assert err.count("IR Dump After note") == 2
    assert "twice" not in err


def test_pipeline_options_are_converted(run: Run, monkeypatch: pytest.MonkeyPatch):
    seen: list[ModulePass] = []

    @dataclass(frozen=True)
    class OptionsPass(ModulePass):
        name = "options"
        count: int = 0
        text: str = ""
        ratio: float = 0.0
        flag: bool = False
        sizes: tuple[int, ...] = ()
        maybe: int | None = 7

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            seen.append(self)

    registry.universe().all_passes["options"] = lambda: OptionsPass
    options = "count=-3 text=4x8 ratio=2 flag sizes=[1,2] maybe"
    assert run(PROGRAM, "-p", f"options{{{options}}}")[0] == 0
    assert run(PROGRAM, "-p", 'options{ text="a b" ,flag=0 sizes=3 }')[0] == 2
    assert run(PROGRAM, "-p", 'options{ text="a \\"b" flag=1 sizes=3,4 ratio=1e3 }')[0] == 0
    assert run(PROGRAM, "-p", "options{text=12}")[0] == 0
    assert seen == [
        OptionsPass(-3, "4x8", 2.0, True, (1, 2), None),
        OptionsPass(0, 'a "b', 1000.0, True, (3, 4)),
        OptionsPass(text="12"),
    ]


def test_split_input_keeps_positions_and_writes_nothing_on_failure(run: Run):
    text = PROGRAM + "// -----\n" + PROGRAM + "// -----\n\nfunc.func @g() { nope }\n"
    code, out, err = run(text, "--split-input-file")
    assert (code, out) == (1, "")
    assert err.startswith("in.mlir:12:18: error: operation 'nope' is not registered")
    code, out, err = run(text.replace("nope", "return"), "--split-input-file")
    assert (code, err, out.count("// -----\n")) == (0, "", 2)


def test_parsing_diagnostics(run: Run):
    code, out, err = run("nope", "--parsing-diagnostics")
    assert (code, err) == (0, "")
    assert out.startswith("in.mlir:1:1: error: operation 'nope' is not registered")


def test_shrink(run: Run):
    assert run(PROGRAM, "-p", "fail{how=shrink}", "--shrink")[:2] == (0, "Success, can shrink\n")
    assert run(PROGRAM, "-p", "note", "--shrink")[:2] == (1, "Failure, can't shrink\n")


def test_disable_verify_ends_with_the_run(run: Run):
    verify = Attribute.__post_init__
    wrong = PROGRAM.replace("%0 = arith.addi %a, %a : i32", '%0 = "arith.addi"(%a) : (i32) -> i32')
    assert run(wrong)[0] == 1
    assert run(wrong, "--disable-verify", "--print-op-generic")[0] == 0
    assert Attribute.__post_init__ is verify
    with pytest.raises(Exception, match="i32"):
        ConstantOp.from_int_and_width(2**40, i32)


def test_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    for args in ([], ["-"]):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\n nope")))
        assert main(args) == 1
        assert capsys.readouterr().err.startswith("<stdin>:2:2: error: ")


def test_empty_input_is_an_empty_module(run: Run):
    for text in ("", "// nothing\n", "!alias = i32\n"):
        assert run(text) == (0, "builtin.module {\n}\n\n", "")


@pytest.mark.parametrize("args", [["--help"], ["program.mlir"]])
def test_start_up_imports_no_library_and_no_tg_operation(args: list[str], tmp_path: Path):
    (tmp_path / "program.mlir").write_text(PROGRAM)
    script = (
        "import sys\nfrom tgdialect.tools.tg_opt import main\n"
        f"code = main({args!r})\nprint(*sys.modules, file=sys.stderr)\nsys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    loaded = re.findall(
        r"(?:^|\s)(numpy|llvmlite|tgdialect\.(?:ops|dialect|backends))\b", done.stderr
    )
    assert loaded == []


def test_broken_pipe_is_quiet(tmp_path: Path):
    (tmp_path / "program.mlir").write_text(
        PROGRAM + "".join(f"func.func private @g{i}()\n" for i in range(5000))
    )
    command = [sys.executable, "-m", "tgdialect.tools.tg_opt", "program.mlir"]
    # Python's unbuffered streams do not see that a pipe is broken.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=pipe, stderr=pipe
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1
