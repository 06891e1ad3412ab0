"""The object cache: what it gives back, and what it does with damage, limits and other writers."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import StringAttr

import tgdialect as tg
from tgdialect.runtime import build
from tgdialect.runtime import cache as cache_module
from tgdialect.runtime.cache import ObjectCache, cache_key
from tgdialect.runtime.program import Object, Parameter, Program

SOURCE = """
func.func @main(%n: tensor<index> {tg.min = 1 : i64, tg.max = 9 : i64}, %a: tensor<4xbf16>)
    -> (tensor<4xbf16>, tensor<i1>) {
  %0 = tg.add %a, %a : tensor<4xbf16>
  %1 = tg.cmplt %n, %n : (tensor<index>, tensor<index>) -> tensor<i1>
  func.return %0, %1 : tensor<4xbf16>, tensor<i1>
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TG_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One item for each program that is really compiled."""
    found: list[str] = []
    original = build.Build.program

    def program(self: build.Build, *args: object) -> Program:
        found.append(self.entry)
        return original(self, *args)

    monkeypatch.setattr(build.Build, "program", program)
    return found


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*"))


def run(exe: tg.Executable) -> None:
    import ml_dtypes

    doubled, less = exe(3, np.arange(4).astype(ml_dtypes.bfloat16))
    np.testing.assert_array_equal(doubled.astype(np.float32), [0, 2, 4, 6])
    assert doubled.dtype == ml_dtypes.bfloat16
    assert not less
    with pytest.raises(ValueError, match="outside"):
        exe(10, np.arange(4).astype(ml_dtypes.bfloat16))


def test_a_program_is_compiled_once(folder: Path, compilations: list[str], tmp_path: Path):
    path = tmp_path / "program.mlir"
    path.write_text(SOURCE)
    first, second, third = tg.compile(SOURCE), tg.compile(SOURCE), tg.compile(path)
    assert len(compilations) == 1
    assert len(entries(folder)) == 1
    assert first.parameters == second.parameters == third.parameters
    for exe in (first, second, third):
        run(exe)
    assert [k.name for k in second.kernels] == [k.name for k in first.kernels]


def test_modules_are_cached_by_what_they_say(folder: Path, compilations: list[str]):
    from tgdialect.runtime.compiler import load_module

    module = load_module(SOURCE)
    run(tg.compile(module))
    run(tg.compile(load_module(SOURCE)))
    assert len(compilations) == 1
    module.body.block.first_op.sym_name = StringAttr("other")
    run(tg.compile(module, entry="other"))
    assert compilations == ["main", "other"]


def test_what_a_program_depends_on_is_in_the_key(folder: Path, compilations: list[str]):
    tg.compile(SOURCE)
    tg.compile(SOURCE, allow_custom=True)
    tg.compile(SOURCE + "\n")
    assert len(compilations) == len(entries(folder)) == 3
    assert cache_key("a", "bc") != cache_key("ab", "c") != cache_key("abc")


@pytest.mark.parametrize("damage", ["empty", "half", "bit", "other entry", "no object code"])
def test_a_damaged_entry_is_compiled_again(folder: Path, compilations: list[str], damage: str):
    tg.compile(SOURCE)
    (path,) = entries(folder)
    data = path.read_bytes()
    if damage == "other entry":
        tg.compile(SOURCE + "\n")
        (other,) = (p for p in entries(folder) if p != path)
        data = other.read_bytes()
        compilations.pop()
    elif damage == "bit":
        data = data[:-100] + bytes([data[-100] ^ 4]) + data[-99:]
    elif damage == "no object code":
        data = data[:60]
    else:
        data = data[: len(data) // 2] if damage == "half" else b""
    path.write_bytes(data)
    run(tg.compile(SOURCE))
    assert len(compilations) == 2
    run(tg.compile(SOURCE))
    assert len(compilations) == 2


def test_a_folder_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("TG_CACHE_DIR", str(tmp_path / "file"))
    with pytest.warns(UserWarning, match="not cached"):
        run(tg.compile(SOURCE))
    monkeypatch.setenv("TG_CACHE_MIB", "many")
    with pytest.raises(ValueError, match="TG_CACHE_MIB is a number"):
        tg.compile(SOURCE)


def test_no_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, compilations: list[str]):
    monkeypatch.setenv("TG_CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    tg.compile(SOURCE)
    tg.compile(SOURCE)
    assert len(compilations) == 2
    assert not entries(tmp_path)
    monkeypatch.delenv("TG_CACHE_DIR")
    tg.compile(SOURCE)
    assert [p.name for p in entries(tmp_path)] == ["tgdialect"]


def test_what_was_not_used_for_longest_goes(tmp_path: Path):
    cache = ObjectCache(tmp_path, 3500)
    for number in range(64):
        cache.put(f"{number:02}", bytes(1000))
        os.utime(tmp_path / f"{number:02}.tgo", (number, number))
    assert cache.get("00") == bytes(1000)
    (tmp_path / "crashed.tmp").write_bytes(b"half")
    os.utime(tmp_path / "crashed.tmp", (0, 0))
    (tmp_path / "writing.tmp").write_bytes(b"half")
    cache.put("64", bytes(1000))
    assert {p.name for p in entries(tmp_path)} == {"00.tgo", "63.tgo", "64.tgo", "writing.tmp"}


@pytest.fixture
def cache(tmp_path: Path) -> ObjectCache:
    """A cache with one entry."""
    cache = ObjectCache(tmp_path / "cache", 1 << 20)
    cache.put("key", b"payload")
    assert cache.get("key") == b"payload"
    return cache


def _give_away(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to another user")
    os.chown(path, 12345, -1)


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777, None], ids=str)
def test_a_folder_of_others_is_not_used(cache: ObjectCache, mode: int | None):
    """A mode, or the folder of another user."""
    if mode is None:
        _give_away(cache.folder)
    else:
        cache.folder.chmod(mode)
    with pytest.warns(UserWarning, match="the folder belongs|others may write the folder"):
        assert cache.get("key") is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # There is one warning.
        cache.put("other", b"payload")
        assert cache.get("other") is None
    assert [p.name for p in entries(cache.folder)] == ["key.tgo"]


@pytest.mark.parametrize("kind", ["group", "others", "user", "link", "pipe", "folder"])
def test_an_entry_of_others_is_not_used(cache: ObjectCache, kind: str, tmp_path: Path):
    (path,) = entries(cache.folder)
    if kind == "user":
        _give_away(path)
    elif kind in ("group", "others"):
        path.chmod(0o660 if kind == "group" else 0o602)
    else:
        path.rename(tmp_path / "moved")
        if kind == "link":
            path.symlink_to(tmp_path / "moved")
        elif kind == "pipe":
            os.mkfifo(path)
        else:
            path.mkdir(0o700)
    with pytest.warns(UserWarning, match="not cached"):
        assert cache.get("key") is None
    if kind != "folder":  # The entry that replaces it is this user's.
        cache.put("key", b"new")
        assert cache.get("key") == b"new"


def test_the_folder_may_be_a_link_to_one_of_this_user(cache: ObjectCache, tmp_path: Path):
    (tmp_path / "link").symlink_to(cache.folder)
    assert ObjectCache(tmp_path / "link", 1 << 20).get("key") == b"payload"
    cache.folder.chmod(0o777)
    with pytest.warns(UserWarning, match="others may write the folder"):
        assert ObjectCache(tmp_path / "link", 1 << 20).get("key") is None


def test_an_unfinished_file_is_never_followed(cache: ObjectCache, monkeypatch, tmp_path: Path):
    """Whoever guesses its name, as in a folder that was open to all once, has nothing written."""
    (tmp_path / "target").write_text("untouched")
    monkeypatch.setattr(os, "urandom", bytes)
    (cache.folder / f"new.tgo.{bytes(8).hex()}.tmp").symlink_to(tmp_path / "target")
    with pytest.warns(UserWarning, match="not cached"):
        cache.put("new", b"payload")
    assert cache.get("new") is None
    assert (tmp_path / "target").read_text() == "untouched"


def _hammer(folder: str, seed: int) -> None:
    cache = ObjectCache(Path(folder), 20_000)
    for step in range(300):
        key = str((seed * 7 + step) % 12)
        found = cache.get(key)
        assert found is None or found == key.encode() * 1000, "half an entry"
        cache.put(key, key.encode() * 1000)


def test_several_processes_may_write(tmp_path: Path):
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_hammer, args=(str(tmp_path), i)) for i in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert not list(tmp_path.glob("*.tmp"))


def test_who_needs_the_same_program_waits_for_it(folder: Path, compilations: list[str]):
    with ThreadPoolExecutor(4) as pool:
        for exe in pool.map(lambda _: tg.compile(SOURCE), range(4)):
            run(exe)
    assert len(compilations) == 1
    assert [entry.suffix for entry in entries(folder)] == [".tgo"]


def test_who_waits_for_too_long_compiles(
    folder: Path, compilations: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(cache_module, "_WAIT_SECONDS", 0.1)
    run(tg.compile(SOURCE))
    (entry,) = entries(folder)
    entry.unlink()
    with ObjectCache(folder, 1 << 30).locked(entry.stem):
        run(tg.compile(SOURCE))
    assert len(compilations) == 2


def test_an_error_gives_up_the_lock(folder: Path):
    with ThreadPoolExecutor(2) as pool:
        begin = time.monotonic()
        found = list(pool.map(lambda _: compile_error(), range(2)))
    assert time.monotonic() - begin < cache_module._WAIT_SECONDS / 2
    assert len(set(found)) == 1
    assert entries(folder) == []


def compile_error() -> str:
    with pytest.raises(tg.CompilationError) as error:
        tg.compile("func.func @main() -> f32 { func.return }")
    return str(error.value)


def test_a_warm_start_does_not_import_the_compiler(folder: Path):
    script = "import sys, tgdialect as tg; tg.compile(sys.argv[1]); print('xdsl.ir' in sys.modules)"
    said = [
        subprocess.run(
            [sys.executable, "-c", script, SOURCE], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert said == ["True\n", "False\n"]


def test_programs_as_bytes():
    parameters = (
        Parameter("a", "input", (None, 3), np.dtype("float32"), (1,), by_reference=True),
        Parameter("n", "scalar", (), np.dtype("int64"), low=-4, high=7),
    )
    program = Program(parameters, (Object("main_0", b"\0code\xff"), Object("main.frame", b"more")))
    assert Program.from_bytes(program.to_bytes()) == program
