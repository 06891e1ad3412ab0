"""The files that failures of the compiler leave: what is in them, how many there are, and that they
run again."""

from __future__ import annotations

import faulthandler
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

import tgdialect as tg
from tgdialect.diagnostics import CompilationError, SourceFile, external_resources
from tgdialect.runtime import aborts, beam, build, optimize, reproducer
from tgdialect.runtime.compiler import load_module
from tgdialect.runtime.reproducer import MOST, leave
from tgdialect.tools import tg_compile, tg_opt, tg_run

NEG = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = tg.neg %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
"""
DYNAMIC = """
func.func @main(%n: tensor<index> {tg.name = "n", tg.min = 1 : index, tg.max = 20 : index},
                %x: tensor<?xbf16> {tg.dims = array<i64: 0>}, %m: tensor<2xi1>) -> tensor<?xbf16> {
  %0 = tg.neg %x : tensor<?xbf16>
  return %0 : tensor<?xbf16>
}
"""
LLVM = """
llvm.func @main(%x: !llvm.ptr) attributes {tg.signature = [{tg.result = 0}]} {
  llvm.return
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for reproducers, which is not there yet."""
    found = tmp_path / "left" / "here"
    monkeypatch.setenv("TG_REPRODUCER_DIR", str(found))
    return found


def files(folder: Path) -> list[str]:
    return sorted(os.listdir(folder)) if folder.exists() else []


def stated(path: Path) -> Any:
    text = path.read_text()
    return external_resources(SourceFile(str(path), text))


def fails(error: Exception) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    return fail


# -- what leaves one


@pytest.mark.parametrize("given", [NEG, load_module(NEG)], ids=["text", "module"])
def test_an_internal_error(
    given: Any, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(build, "lower_kernel", fails(KeyError("surprise")))
        with pytest.raises(KeyError) as caught:
            tg.compile(given, target="cpu", opt="none")
    (name,) = files(folder)
    assert name.startswith("tg-compile-")
    path = folder / name
    assert caught.value.__notes__ == [f"reproducer: {path}"]
    title, command, error, versions, *_ = path.read_text().splitlines()
    assert title == "// tgdialect reproducer: compile"
    assert command == f"// tg-run --run-reproducer {path}"
    assert error == "// KeyError: 'surprise'"
    assert "xdsl " in versions
    assert stated(path) == {"tg_reproducer": {"entry": "main", "opt": "none", "target": "cpu"}}
    assert not any(capsys.readouterr())
    # The command runs it again, on inputs that are random.
    assert tg_run.main(command.split()[2:]) == 0
    out, err = capsys.readouterr()
    assert (out.startswith("dense<["), err) == (True, "")


def test_an_internal_error_in_a_tool(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder.parent.parent / "in.mlir"
    file.write_text(NEG)
    monkeypatch.setattr(build, "lower_kernel", fails(KeyError("surprise")))
    assert tg_run.main([str(file), "--input", "1,2,3"]) == 1
    (name,) = files(folder)
    wanted = f"internal error: KeyError: 'surprise'; reproducer: {folder / name} (set TG_DEBUG=1"
    assert wanted in capsys.readouterr().err
    from tgdialect.lowering.callify import stage

    monkeypatch.setattr(stage.CallifyPass, "lower", fails(IndexError("no more")))
    assert tg_opt.main([str(file), "-p", "cse,tg-callify,tg-rangeify"]) == 1
    (mine,) = {*files(folder)} - {name}
    err = capsys.readouterr().err
    assert "internal error in pass tg-callify: IndexError: no more (set TG_DEBUG=1" in err
    assert f"note: reproducer: {folder / mine}" in err
    text = stated(folder / mine)["mlir_reproducer"]["pipeline"]
    assert text == "builtin.module(cse,tg-callify,tg-rangeify)"
    command = (folder / mine).read_text().splitlines()[1]
    assert tg_opt.main(command.split()[2:]) == 1
    assert "IndexError: no more" in capsys.readouterr().err
    assert len(files(folder)) == 2  # The same failure leaves the same file.


def test_an_internal_error_ahead_of_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder.parent.parent / "in.mlir"
    file.write_text(NEG)
    monkeypatch.setattr(build, "lower_kernel", fails(KeyError("surprise")))
    args = ["-o", str(file.with_suffix(".tgx")), "--features", "", "--threads", "2"]
    assert tg_compile.main([str(file), *args]) == 1
    (name,) = files(folder)
    assert f"reproducer: {folder / name}" in capsys.readouterr().err
    command = (folder / name).read_text().splitlines()[1]
    assert command.endswith(f" --entry main --features '' --threads 2 {folder / name}")
    monkeypatch.chdir(file.parent)
    assert tg_compile.main(shlex.split(command)[2:]) == 1
    assert "KeyError: 'surprise'" in capsys.readouterr().err


def test_the_end_of_llvm(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM ends the child that compiles: the error is one of the program, and names the file."""
    lowered = tg.compile(NEG).module("render")

    class Ending(type(build.CpuTarget.host())):
        def object_code(self, *_: Any, **__: Any) -> bytes:
            os.kill(os.getpid(), signal.SIGABRT)
            return b""

    monkeypatch.setattr(build.CpuTarget, "object_code", Ending.object_code)
    with pytest.raises(CompilationError, match="LLVM generates no code: Aborted") as caught:
        tg.compile(lowered, allow_custom=True)
    (name,) = files(folder)
    assert name.startswith("tg-llvm-")
    assert f"note: reproducer: {folder / name}" in str(caught.value)
    assert "--allow-custom --run-reproducer" in (folder / name).read_text()


ABORTING = """
import ctypes, faulthandler, resource, sys
import tgdialect as tg
from tgdialect.backends.llvm_cpu import CpuTarget

def aborting(self, ir, **options):
    if "fneg" in ir:
        ctypes.CDLL(None).abort()
    return code_of(self, ir, **options)

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
if "handled" in sys.argv:
    faulthandler.enable()
code_of, CpuTarget.object_code = CpuTarget.object_code, aborting
tg.compile(sys.argv[1], opt=sys.argv[2])
"""


@pytest.mark.parametrize("opt", ["heuristic", "beam:1"])
@pytest.mark.parametrize("more", [[], ["handled"]])
def test_llvm_ends_this_process(opt: str, more: list[str], folder: Path) -> None:
    """The program is left, and the candidate of BEAM; the handler that was there is called, too."""
    words = [sys.executable, "-c", ABORTING, NEG, opt, *more]
    ended = subprocess.run(words, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGABRT
    left = files(folder)
    assert [name.split("-")[1] for name in left] == (
        ["llvm"] if opt == "heuristic" else ["beam", "llvm"]
    )
    assert ended.stderr.startswith("".join(f"note: reproducer: {folder / name}\n" for name in left))
    assert ("Fatal Python error: Aborted" in ended.stderr) == bool(more)
    assert "// a process that compiles ended with Aborted" in (folder / left[-1]).read_text()
    assert tg_run.main(["--run-reproducer", str(folder / left[-1])]) == 0


def test_no_handler_is_left() -> None:
    """After the outermost context, C has the handler that it had before."""

    def handler() -> bytes:
        return bytes(aborts._current())[:8]  # pyright: ignore[reportPrivateUsage]

    before = handler()
    with aborts.before_abort(lambda: None):
        with aborts.before_abort(lambda: None):
            assert handler() != before
        assert handler() != before
    assert handler() == before


def test_a_process_that_crashes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child of `fork` that compiles kernels: the caller compiles them."""
    parent = os.getpid()
    kernels = build._Kernels  # pyright: ignore[reportPrivateUsage]
    elsewhere = kernels._elsewhere  # pyright: ignore[reportPrivateUsage]

    def crashing(self: Any, scheduled: Any) -> Any:
        assert os.getpid() != parent
        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), signal.SIGSEGV)
        return elsewhere(self, scheduled)

    monkeypatch.setattr(kernels, "_elsewhere", crashing)
    monkeypatch.setenv("TG_COMPILE_PROCESSES", "2")
    shapes = "".join(f"%x{n}: tensor<{n}xf32>, " for n in range(3, 11))[:-2]
    types = ", ".join(f"tensor<{n}xf32>" for n in range(3, 11))
    body = "".join(f"  %{n} = tg.sqrt %x{n} : tensor<{n}xf32>\n" for n in range(3, 11))
    names = ", ".join(f"%{n}" for n in range(3, 11))
    text = f"func.func @main({shapes}) -> ({types}) {{\n{body}  return {names} : {types}\n}}\n"
    tg.compile(text)
    left = files(folder)  # None if the child has started too late to get work.
    assert len(left) <= 1
    for name in left:
        assert name.startswith("tg-llvm-")
        assert "ended with Segmentation fault" in (folder / name).read_text()


@pytest.mark.parametrize("error", [PassFailedException("refused"), AssertionError("crash")])
def test_a_candidate_of_beam(
    error: Exception,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One file for all candidates that fail alike. A refusal is no error of the search."""
    run, runs = optimize.HostBench._run, 0  # pyright: ignore[reportPrivateUsage]

    def failing(self: Any, *given: Any) -> Any:
        nonlocal runs
        runs += 1
        if 1 < runs < 4:
            raise error
        return run(self, *given)

    monkeypatch.setattr(optimize.HostBench, "_run", failing)
    monkeypatch.setattr(beam, "_FOUND", {})
    monkeypatch.setenv("TG_BEAM_SECONDS", "0.3")
    text = NEG.replace("<3x", "<64x")
    if isinstance(error, AssertionError):
        with pytest.raises(AssertionError) as caught:
            tg.compile(text, opt="beam:1")
        assert len(caught.value.__notes__) == 1
    else:
        tg.compile(text, opt="beam:1")
    (name,) = files(folder)
    assert name.startswith("tg-beam-")
    path = folder / name
    assert f"{type(error).__name__}: {error}" in path.read_text()
    about = stated(path)["tg_reproducer"]
    assert about["opt"] == "none"
    assert about["input_0"].startswith("64xf32=")
    monkeypatch.undo()
    assert tg_run.main(["--run-reproducer", str(path)]) == 0
    assert "dense<" in capsys.readouterr().out


def test_a_candidate_with_other_results(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One whose code is wrong, as all are but for the heuristic's, which is the first."""
    lower, right = optimize.llvm_ir, ""

    def wrong(module: ModuleOp) -> str:
        nonlocal right
        text = lower(module)
        right = right or text
        return text if text == right else re.sub(r"fneg (.* )(%\d+)", r"fadd \1\2, \2", text)

    monkeypatch.setattr(optimize, "llvm_ir", wrong)
    monkeypatch.setattr(beam, "_FOUND", {})
    monkeypatch.setenv("TG_BEAM_SECONDS", "0.3")
    times = iter(range(10**6, 0, -1))
    monkeypatch.setattr(beam, "_fastest", lambda *_: float(next(times)))
    x = np.arange(64, dtype=np.float32)
    np.testing.assert_array_equal(tg.compile(NEG.replace("<3x", "<64x"), opt="beam:1")(x), -x)
    (name,) = files(folder)
    assert "// other results than the heuristic's schedule has" in (folder / name).read_text()


@pytest.mark.parametrize(
    "program", [NEG.replace("tg.neg", "tg.nope"), NEG.replace("tg.neg", "tg.reshape")]
)
def test_errors_of_the_user_leave_none(program: str, folder: Path) -> None:
    with pytest.raises(CompilationError):
        tg.compile(program)
    with pytest.raises(CompilationError):
        tg.compile(NEG, entry="other")
    with pytest.raises(CompilationError):
        tg.compile(NEG, opt="explicit:split 7, 4, upcast")
    assert not folder.exists()


# -- what is in one


def test_inputs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are exact, whatever the dtype; large ones are left out."""
    given = [
        np.array(3),
        np.array([0.1, np.nan, -np.inf], ml_dtypes.bfloat16),
        np.array([True, False]),
    ]
    path = leave("check", DYNAMIC, target="interpreter", inputs=given, error="wrong\nresult")
    assert path is not None
    assert "// wrong result\n" in path.read_text()
    assert stated(path)["tg_reproducer"]["input_2"] == "2xi1=true,false"
    assert tg_run.main(["--run-reproducer", str(path)]) == 0
    assert capsys.readouterr().out == "dense<[-0.1001, nan, inf]> : tensor<3xbf16>\n"
    # What is given on the command line goes first.
    again = ["--run-reproducer", str(path), "--arg", "n=1", "--input", "1xbf16=2", "--input=0,1"]
    assert tg_run.main(again) == 0
    assert capsys.readouterr().out == "dense<[-2.0]> : tensor<1xbf16>\n"
    large = [np.zeros((100, 100), np.float32)]
    path = leave("check", NEG, options={"entry": "main"}, inputs=large, error="wrong")
    assert path is not None
    assert "input_0" not in path.read_text()


@pytest.mark.parametrize("name", ["a.npy", "/etc/x.npz:y"])
def test_an_input_of_the_text_is_no_file(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = leave("check", NEG, options={"input_0": name}, error="wrong")
    assert path is not None
    assert tg_run.main(["--run-reproducer", str(path)]) == 1
    assert f"the input '{name}' is no value" in capsys.readouterr().err
    assert tg_run.main(["--run-reproducer", str(folder / "none.mlir")]) == 1


def test_texts_are_quoted(folder: Path) -> None:
    """A text in a reproducer is that text, and begins no line of its own."""
    hostile = 'a"b\\c\nd\x00é\u2028#-}'
    path = leave(
        "pass", NEG, pipeline=hostile, options={"entry": hostile}, error=f"wrong\n{hostile}"
    )
    assert path is not None
    found = stated(path)
    assert found["mlir_reproducer"]["pipeline"] == found["tg_reproducer"]["entry"] == hostile
    assert path.read_text().split("\n")[4].startswith("func.func")
    # A reproducer of a reproducer has one of each part.
    again = leave("pass", path.read_text(), pipeline="builtin.module()", error="again")
    assert again is not None
    assert again.read_text().count("tgdialect reproducer") == 1
    assert list(stated(again)) == ["mlir_reproducer"]


# -- the folder


def test_there_are_twenty_at_most(folder: Path) -> None:
    """The oldest are deleted, and no file of anybody else."""
    folder.mkdir(parents=True)
    others = ["tg-pass.mlir", "notes.txt", "tg-pass-0123456789abcdef.mlir.bak"]
    for name in others:
        (folder / name).write_text("mine")
    (folder / "tg-pass-0000000000000000.mlir").mkdir()
    (folder / "tg-pass-0000000000000001.mlir").symlink_to(folder / "notes.txt")
    kept = {*files(folder)}
    paths: list[Path] = []
    for n in range(MOST + 5):
        path = leave("pass", NEG, pipeline=f"builtin.module(p{n})", error="wrong")
        assert path is not None
        os.utime(path, (n, n))
        paths.append(path)
    assert leave("pass", NEG, pipeline="builtin.module(p20)", error="wrong") == paths[20]
    assert {*files(folder)} - kept == {path.name for path in paths[5:]}
    assert {*files(folder)} >= kept


def _leave_many(number: int) -> None:
    for n in range(15):
        assert leave("pass", f"{NEG}// {number} {n}\n", pipeline="x", error="wrong") is not None


def test_processes_share_the_folder(folder: Path) -> None:
    children = [get_context("fork").Process(target=_leave_many, args=(n,)) for n in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0] * 4
    assert len(files(folder)) == MOST
    for name in files(folder):
        assert (folder / name).read_text().endswith("#-}\n")


def test_a_folder_that_cannot_be_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The error is the one that there would be anyway."""
    monkeypatch.setattr(build, "lower_kernel", fails(KeyError("surprise")))
    (tmp_path / "file").write_text("")
    for name in ("file", "file/inside", "", "/proc/none"):
        monkeypatch.setenv("TG_REPRODUCER_DIR", str(tmp_path / name) if name else "")
        with pytest.raises(KeyError, match="surprise") as caught:
            tg.compile(NEG)
        assert not hasattr(caught.value, "__notes__"), name
    monkeypatch.setenv("TG_REPRODUCER_DIR", str(folder))
    folder.mkdir(parents=True)
    monkeypatch.setattr(reproducer, "write_file", fails(OSError(28, "No space left on device")))
    assert leave("pass", NEG, error="wrong") is None
    assert leave("pass", fails(AssertionError()), error="wrong") is None
    if os.geteuid():
        folder.chmod(0o500)
        monkeypatch.undo()
        monkeypatch.setenv("TG_REPRODUCER_DIR", str(folder))
        assert leave("pass", NEG, error="wrong") is None


def test_the_folder_is_beside_the_object_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TG_REPRODUCER_DIR")
    assert leave("pass", NEG, error="wrong") is None  # Tests have no cache.
    monkeypatch.setenv("TG_CACHE_DIR", str(tmp_path / "cache"))
    path = leave("pass", NEG, pipeline="x", error="wrong")
    assert path is not None
    assert path.parent == tmp_path / "cache" / "tg-reproducers"
    assert path.stat().st_mode & 0o077 == 0
    assert re.fullmatch(r"tg-pass-[0-9a-f]{16}\.mlir", path.name)


def test_a_large_text_leaves_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproducer, "MOST_BYTES", 100)
    assert leave("pass", NEG, error="wrong") is None
    assert not files(folder)
