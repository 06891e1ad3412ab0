"""Command lines that are wrong: each is one clear error, an exit code for it, and no output."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from test_help import ADD, EXAMPLES, MAINS, NEG, PARSERS, actions

HOSTILE = ("", "é☃", "9" * 5000, "-1", "\udcff", "a" * 5000, "{", "=", "-", "/", "%s{0}\n")
"""Values that some options take, and others refuse."""

PROGRAMS = {
    "tg-opt": ADD,
    "tg-run": NEG,
    "tg-compile": NEG,
    "tg-bisect": NEG,
    "tg-reduce": NEG,
}
RUN_ARGS = ("--target=interpreter", "--input=1")
ARGS = {
    "tg-opt": (),
    "tg-run": RUN_ARGS,
    "tg-compile": ("--output=out.tgx",),
    "tg-bisect": (),
    "tg-reduce": ("--passes=cse", "--jobs=1"),
}

FLAGS = [
    (tool, action.option_strings[-1])
    for tool in EXAMPLES
    for action in actions(tool)
    if action.option_strings and action.nargs != 0
]

Execute = Callable[..., tuple[int, str, str]]


@pytest.fixture
def execute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Execute:
    """Runs a tool on a program in a folder of its own: the exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def execute(tool: str, *args: str) -> tuple[int, str, str]:
        Path("file.mlir").write_text(PROGRAMS[tool])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
        capsys.readouterr()
        given = ("file.mlir", *ARGS[tool], *args)
        return MAINS[tool](given), *capsys.readouterr()

    return execute


def assert_refused(result: tuple[int, str, str], tool: str) -> None:
    code, out, err = result
    assert code in (1, 2), err
    assert out == ""
    first, *context = err.splitlines()
    assert re.match(rf"({tool}|file\.mlir[\d:]*): error: [^\0-\x1f]+", first)
    assert "internal error" not in err
    assert len(context) in (0, 2)  # A line and its caret.


@pytest.mark.sampled(2)
@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: ascii(value)[:12])
@pytest.mark.parametrize(("tool", "flag"), FLAGS)
def test_a_hostile_value_is_taken_or_refused(tool: str, flag: str, value: str, execute: Execute):
    before = {"file.mlir"}
    result = execute(tool, f"{flag}={value}")
    if result[0] != 0:
        assert_refused(result, tool)
        assert set(os.listdir()) == before
    assert "Traceback" not in result[2]


@pytest.mark.parametrize(("tool", "flag"), FLAGS)
def test_a_missing_value(tool: str, flag: str, execute: Execute):
    result = execute(tool, flag)
    if result[0]:
        assert_refused(result, tool)
        assert result[0] == 2 or flag in PARSERS[tool].bare


REFUSED = {
    "tg-opt": [
        (2, "--allow-external=1"),
        (2, "--cse", "--pass-pipeline=builtin.module(cse)"),
        (2, "--cse={"),
        (2, "--cse=a b c"),
        (2, "--tg-optimize=mode=none}"),
        (2, "-p", "cse(dce"),
        (2, "-p", "func.func(cse)"),
        (2, "-p", "any(" * 2000 + ")" * 2000),
        (2, "--pass-pipeline", "builtin.module(" + "func.func(" * 2000 + ")" * 2001),
        (2, "--disable-verify", "--verify-each"),
        (2, "other.mlir"),
        (1, "-o", "no/out.mlir"),
        (1, "-o", "folder"),
        (1, "-o", "file.mlir/out"),
        (1, "-t", "llvm"),
        (1, "-t", "c"),
        (1, "-t", "riscv-asm"),
        (1, "-t", "wat"),
        (1, "--no-implicit-module"),
        (1, "-p", "mlir-opt{executable=no-such-program}", "--allow-external"),
        (1, "-p", "mlir-opt-0[cse]", "--allow-external"),
    ],
    "tg-run": [
        (2, "--print-full=1"),
        (2, "--print-signature", "--print-memory"),
        (2, "--print-signature", "--benchmark"),
        (2, "--scalar", "--target=cpu"),
        (2, "--opt=beam:2"),
        (2, "--arg", "x"),
        (2, "other.mlir"),
        (2, "--target=abacus"),
        (1, "--profile"),
        (1, "--print-memory"),
        (1, "--output=no/out.npy"),
        (1, "--output=folder"),
        (1, "--output=a.npy", "--output=b.npy"),
        (1, "--input=2"),
        (1, "--entry=f"),
    ],
    "tg-bisect": [
        (2, "--if=exit == 1"),
        (2, "--if-slower=2"),
        (2, "--if-slower=1", "--command=true"),
        (2, "--command=true", "--if=exit"),
        (2, "--command=true", "--input=1"),
        (2, "--command=true", "--reduce=small.mlir"),
        (2, "--target=abacus"),
        (2, "--target=cpu", "-p", "cse"),
        (2, "--opt=fast"),
        (2, "-p", "cse("),
        (2, "-p", "cse", "--pass-pipeline", "builtin.module(cse)"),
        (2, "other.mlir"),
        (1, "--command=no-such-program"),
        (1, "--input=2,3"),
        (1, "--entry=f"),
        (1,),
    ],
    "tg-reduce": [
        (2, "--if=exit == 1"),
        (2, "--command=true"),
        (2, "--error=text", "--input=1"),
        (2, "--target=abacus"),
        (2, "-p", "cse("),
        (2, "--jobs=0"),
        (2, "other.mlir"),
        (1, "--input=2"),
        (1, "--input=1,2"),
        (1, "--entry=f"),
    ],
}


@pytest.mark.parametrize(
    ("tool", "code", "args"),
    [(tool, code, args) for tool, cases in REFUSED.items() for code, *args in cases],
)
def test_a_wrong_command_line(tool: str, code: int, args: Sequence[str], execute: Execute):
    os.mkdir("folder")
    result = execute(tool, *args)
    assert_refused(result, tool)
    assert result[0] == code
    assert sorted(os.listdir()) == ["file.mlir", "folder"]


def test_the_output_may_replace_the_input(execute: Execute):
    assert execute("tg-opt", "-p", "cse", "-o", "file.mlir") == (0, "", "")
    assert Path("file.mlir").read_text().count("addi") == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write every file")
def test_a_file_that_is_read_only_stays(execute: Execute):
    Path("out").write_text("before")
    Path("out").chmod(0o400)
    assert_refused(execute("tg-opt", "-o", "out"), "tg-opt")
    assert Path("out").read_text() == "before"


# -- streams ---------------------------------------------------------------------------------------

FULL = "No space left on device"
STREAMS: dict[str, tuple[str, int, str]] = {
    "stdout full": ("file.mlir >/dev/full", 1, f"cannot write to stdout: {FULL}"),
    "stdout closed": ("file.mlir >&-", 1, "cannot write to stdout: it is closed"),
    "stdin closed": ("- <&-", 1, "cannot read stdin, which is closed: name a file"),
    "help, stdout full": ("--help >/dev/full", 1, f"cannot write to stdout: {FULL}"),
    "version, stdout closed": ("--version >&-", 1, "cannot write to stdout: it is closed"),
    "stderr closed": ("file.mlir 2>&- >/dev/null", 0, ""),
    "stderr closed, a failure": ("no.mlir 2>&-", 1, ""),
    "stderr full, a failure": ("no.mlir 2>/dev/full", 1, ""),
    "output full": ("file.mlir {output}=/dev/full", 1, f"cannot write /dev/full: {FULL}"),
    "output to a pipe": ("file.mlir {output}=/dev/stdout | cat >/dev/null", 0, ""),
    "all closed": ("file.mlir {output}=out <&- >&- 2>&-", 0, ""),
    "broken pipe": ("file.mlir | true", 0, ""),
}
OUTPUT = {"tg-opt": "--output-file", "tg-run": "--output"}


# tg-run takes a second to start: of what both tools share, one has each case.
OF_RUN = ("stdout full", "stdout closed", "output to a pipe")
CASES = [("tg-opt", stream) for stream in STREAMS] + [("tg-run", stream) for stream in OF_RUN]


@pytest.mark.sampled(6)
@pytest.mark.parametrize(("tool", "stream"), CASES)
def test_a_stream_that_is_closed_or_full(tool: str, stream: str, tmp_path: Path):
    command, code, message = STREAMS[stream]
    (tmp_path / "file.mlir").write_text(PROGRAMS[tool])
    command = command.format(output=OUTPUT[tool])
    args = " ".join(RUN_ARGS) if tool == "tg-run" else ""
    module = f"tgdialect.tools.{tool.replace('-', '_')}"
    done = subprocess.run(
        f"{sys.executable} -m {module} {args} {command}",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert done.stderr == (f"{tool}: error: {message}\n" if message else "")
    if "=out " in command:
        assert (tmp_path / "out").stat().st_size > 0
    assert set(os.listdir(tmp_path)) <= {"file.mlir", "out"}
