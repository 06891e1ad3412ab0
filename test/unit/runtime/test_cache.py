"""The object cache: what it gives back, and what it does with damage, limits and other writers."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import StringAttr

import tgdialect as tg
from tgdialect.lowering.optimize import Scheduled
from tgdialect.runtime import build, compiler
from tgdialect.runtime import cache as cache_module
from tgdialect.runtime.build import KERNEL_PREFIX
from tgdialect.runtime.cache import FOLDER, ObjectCache, _source_files, cache_key
from tgdialect.runtime.compiler import load_module
from tgdialect.runtime.host_executable import HostExecutable
from tgdialect.runtime.memory import Block
from tgdialect.runtime.program import Object, Parameter, Program
from tgdialect.runtime.staged import LoweredKernel

SOURCE = """
func.func @main(%n: tensor<index> {tg.min = 1 : i64, tg.max = 9 : i64}, %a: tensor<4xbf16>)
    -> (tensor<4xbf16>, tensor<i1>) {
  %0 = tg.add %a, %a : tensor<4xbf16>
  %1 = tg.cmplt %n, %n : (tensor<index>, tensor<index>) -> tensor<i1>
  func.return %0, %1 : tensor<4xbf16>, tensor<i1>
}
"""

MARKER = "CACHEDIR.TAG"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TG_CACHE_DIR", str(tmp_path))
    return tmp_path / FOLDER


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
    """The files of programs; those of their kernels are others."""
    found = (path for path in folder.glob("*") if not path.name.startswith(KERNEL_PREFIX))
    return sorted(path for path in found if path.name != MARKER)


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


def test_all_files_of_the_compiler_are_in_the_key():
    package = Path(tg.__file__).parent
    files = {Path(path) for path, _, _ in _source_files(str(package))}
    there_are = {path for path in package.rglob("*.*") if path.suffix != ".pyc"}
    others = {"fast_xdsl/README.md", "py.typed", "runtime/native/library.h"}
    assert {str(path.relative_to(package)) for path in there_are - files} == others


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
    with pytest.raises(ValueError, match="TG_CACHE_MIB is 'many', not a whole number"):
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
    assert len(entries(tmp_path / "tgdialect" / FOLDER)) == 1


def test_what_was_not_used_for_longest_goes(tmp_path: Path):
    cache = ObjectCache(tmp_path, 3500)
    keys = [cache_key(str(number)) for number in range(65)]
    files = [cache.folder / f"{key}.tgo" for key in keys]
    for number, (key, file) in enumerate(zip(keys[:-1], files, strict=False)):
        cache.put(key, bytes(1000))
        os.utime(file, (number, number))
    assert cache.get(keys[0]) == bytes(1000)
    crashed = cache.folder / f"{files[1].name}.{'0' * 16}.tmp"
    writing = cache.folder / f"{files[1].name}.{'1' * 16}.tmp"
    crashed.write_bytes(b"half")
    os.utime(crashed, (0, 0))
    writing.write_bytes(b"half")
    cache.put(keys[64], bytes(1000))
    assert set(entries(cache.folder)) == {files[0], files[63], files[64], writing}


OTHERS = (
    *("poetry.lock", "notes.tmp", "mine.tgo", "kernel.tgo", ".lock", ".tgo.tmp"),
    *(f"{'0' * 63}.tgo", f"{'0' * 65}.tgo", f"{'A' * 64}.tgo", f"{'0' * 64}.tgo.tmp"),
    *(f"{'0' * 64}.lock.bak", f"x-{'0' * 64}.tmp", f"\n{'0' * 64}.lock"),
)
"""Names of files that are not the cache's, whatever it looks like."""
OWN = f"{'0' * 64}.tgo"


@pytest.mark.parametrize("depth", ["folder", "folder of entries"])
def test_files_of_others_stay(depth: str, tmp_path: Path):
    """Next to the entries and among them, though they are old and the cache is full."""
    cache = ObjectCache(tmp_path, 10)
    cache.put(cache_key("first"), bytes(1000))
    others = [(tmp_path if depth == "folder" else cache.folder) / name for name in OTHERS]
    for other in others:
        other.write_text("precious")
        os.utime(other, (0, 0))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / OWN).write_text("precious")
    link, folder = cache.folder / OWN, cache.folder / f"x-{OWN}"
    link.symlink_to(tmp_path / "elsewhere" / OWN)
    folder.mkdir()
    for number in range(65):  # From the first and the last one on, `_sweep` runs.
        cache.put(cache_key(str(number)), bytes(1000))
    assert [other.read_text() for other in others] == ["precious"] * len(others)
    assert link.is_symlink()
    assert link.read_text() == "precious"
    assert folder.is_dir()
    assert len([*cache.folder.glob("[0-9a-f]*.tgo")]) < 65
    assert cache.usage()[1] < 65 * 1000, "files of others are no entries"


@pytest.mark.parametrize("marker", [None, "", "Signature: 8a477f597d28d172789f06886806bc55\n"])
def test_a_folder_without_the_marker_is_not_used(marker: str | None, tmp_path: Path):
    """It is somebody else's, who has given it the same name."""
    folder = tmp_path / FOLDER
    folder.mkdir(mode=0o700)
    (folder / OWN).write_text("precious")
    os.utime(folder / OWN, (0, 0))
    if marker is not None:
        (folder / MARKER).write_text(marker)
    cache = ObjectCache(tmp_path, 0)
    with pytest.warns(UserWarning, match="the folder lacks the cache's CACHEDIR.TAG"):
        cache.put(cache_key("program"), b"payload")
    with cache.locked(cache_key("program")):
        assert {p.name for p in folder.iterdir()} <= {OWN, MARKER}
    assert (folder / OWN).read_text() == "precious"
    assert os.stat(folder / OWN).st_mtime == 0
    with pytest.raises(PermissionError):
        cache.usage()


def test_the_folder_of_entries_is_not_followed(tmp_path: Path):
    elsewhere = ObjectCache(tmp_path / "elsewhere", 1 << 20)
    elsewhere.put(cache_key("program"), b"payload")
    (tmp_path / FOLDER).symlink_to(elsewhere.folder)
    with pytest.warns(UserWarning, match="not cached"):
        assert ObjectCache(tmp_path, 0).get(cache_key("program")) is None


def test_all_files_of_the_cache_have_names_of_its_own(folder: Path, monkeypatch):
    monkeypatch.setattr(compiler, "PIECE", 1)
    check([], "product", "flip", freeze=True)
    assert (folder / MARKER).read_bytes() == cache_module._SIGNATURE
    names = [path.name for path in folder.iterdir() if path.name != MARKER]
    assert len(names) >= 3
    assert [name for name in names if not cache_module._OWN.fullmatch(name)] == []
    assert not [*folder.parent.glob(f".{FOLDER}*")]


@pytest.fixture
def cache(tmp_path: Path) -> ObjectCache:
    """A cache with one entry."""
    cache = ObjectCache(tmp_path, 1 << 20)
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
    (tmp_path / "link").symlink_to(cache.folder.parent)
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
    assert not list(tmp_path.glob("**/*.tmp"))
    assert [path.name for path in tmp_path.iterdir()] == [FOLDER]


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
    with ObjectCache(folder.parent, 1 << 30).locked(entry.stem):
        run(tg.compile(SOURCE))
    assert len(compilations) == 2


def test_an_error_gives_up_the_lock(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cache_module, "_WAIT_SECONDS", 600)
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
    objects = (Object("main_1", b"\0code\xff", "main_0"), Object("main.frame", b"", "main.frame"))
    program = Program(parameters, objects)
    assert Program.from_bytes(program.to_bytes()) == program


def test_a_module_that_is_consumed_gives_the_same_program():
    module = load_module(SOURCE)
    text = str(module)
    of_copy = build.Build(module).program().to_bytes()
    assert str(module) == text
    of_itself = build.Build(module, is_consumed=True).program().to_bytes()
    assert str(module) != text
    assert of_itself == of_copy


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(3))
def test_memory_for_constants_is_known_from_the_program_before(
    seed: int, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    """Of random networks: an edited one packs as much, and gets memory of that size."""
    monkeypatch.setattr(compiler, "PIECE", 1)
    given: list[Block | None] = []
    original = HostExecutable.__init__

    def init(self: HostExecutable, *arguments: Any, memory: Any = None, **others: Any) -> None:
        given.append(memory)
        original(self, *arguments, memory=memory, **others)

    monkeypatch.setattr(HostExecutable, "__init__", init)
    random = Random(seed)
    sizes = [64 * random.randint(1, 3) for _ in range(random.randint(2, 5))]
    rng = np.random.default_rng(seed)
    weights = [rng.random(shape, np.float32) for shape in pairwise(sizes)]
    tensors = [tg.Tensor(w) for w in weights]
    x = rng.random((64, sizes[0]), np.float32)
    left = tg.Tensor(x)
    given.clear()
    for factor in (1.0, 1.5, 0.5):

        def edited(x: tg.Tensor, factor: float = factor) -> tg.Tensor:
            for w in tensors:
                x = (x @ w).relu() * factor
            return x

        wanted = x.astype(np.float64)
        for w in weights:
            wanted = np.maximum(wanted @ w, 0) * factor
        found = tg.function(edited, freeze=True)(left).numpy()
        np.testing.assert_allclose(found, wanted, rtol=1e-4)
    first, *others = given
    assert first is None
    # That of the first edit, and again.
    assert len({each.nbytes for each in others if each is not None}) == 1
    assert len(others) == len([*filter(None, others)]) == 2
    assert len([*folder.glob(f"{compiler.MEMORY_PREFIX}*")]) == 1


def test_memory_of_another_size_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(compiler, "PIECE", 1)
    check([], "product", "flip", freeze=True)
    (entry,) = folder.glob(f"{compiler.MEMORY_PREFIX}*")
    cache = cache_module.object_cache()
    assert cache is not None
    for size in (b"8", b"1000000"):
        cache.put(entry.stem, size)
        for program in folder.glob("*"):
            if program not in (entry, folder / MARKER) and not program.name.startswith(
                KERNEL_PREFIX
            ):
                program.unlink()
        check([], "product", "flip", freeze=True)
        kept = cache.get(entry.stem)
        assert kept not in (None, size)


# -- kernels -------------------------------------------------------------------------------------


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The name of each kernel that goes through the stages. No other process compiles."""
    found: list[str] = []
    original = build.lower_kernel

    def lower_kernel(scheduled: Scheduled, *others: Any) -> LoweredKernel:
        found.append(scheduled.kernel.sym_name.data)
        return original(scheduled, *others)

    monkeypatch.setenv("TG_COMPILE_PROCESSES", "1")
    monkeypatch.setattr(build, "lower_kernel", lower_kernel)
    return found


W = np.random.default_rng(1).standard_normal((64, 64)).astype(np.float32)


def _loop(x: Any) -> Any:
    """Nine steps with a matrix that all have in common, for which memory is passed to the loop."""
    w = tg.Tensor(W / 8)
    return tg.scan(lambda h, _: (h @ w + x, None), x, length=9)[0]


def _loop_of_numpy(x: Any) -> Any:
    h = x
    for _ in range(9):
        h = h @ (W / 8) + x
    return h


LAYERS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "mean": (lambda x: x / x.sum(-1, keepdim=True), lambda x: x / x.sum(-1, keepdims=True)),
    "max": (lambda x: x.max(-1, keepdim=True) - x, lambda x: x.max(-1, keepdims=True) - x),
    "flip": (lambda x: x.flip(0) * 3 + x, lambda x: x[::-1] * 3 + x),
    "product": (lambda x: x @ tg.Tensor(W), lambda x: x @ W),
    "other product": (lambda x: x @ tg.Tensor(W[::-1]), lambda x: x @ W[::-1]),
    "loop": (_loop, _loop_of_numpy),
}
"""Layers of a kernel each: ours, and NumPy's."""


def network(names: Sequence[str], **how: Any) -> Callable[..., Any]:
    def run(x: tg.Tensor) -> tg.Tensor:
        for name in names:
            x = LAYERS[name][0](x).contiguous()
        return x

    return tg.function(run, **how)


def check(lowered: list[str], *names: str, **how: Any) -> list[str]:
    """The kernels that are compiled for a network, whose result is compared with NumPy's."""
    lowered.clear()
    x = np.random.default_rng(2).random((64, 64), np.float32)
    wanted = x.astype(np.float64)
    for name in names:
        wanted = LAYERS[name][1](wanted)
    found = network(names, **how)(tg.Tensor(x)).numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
    return list(lowered)


def test_a_changed_program_compiles_the_kernels_that_have_changed(folder: Path, lowered: list[str]):
    assert check(lowered, "mean", "flip") == ["main_0", "main_1"]
    assert check(lowered, "mean", "flip", "mean", "max") == ["main_2"]
    # In other places kernels have other names.
    assert check(lowered, "max", "flip", "product", "mean") == ["main_2"]
    # The only kernel of a program shares an object with its functions, and is not kept.
    assert check(lowered, "max") == ["main_0"]
    assert check(lowered, "max", "max") == ["main_0"]


def test_kernels_that_pack_weights_are_kept(folder: Path, lowered: list[str]):
    assert check(lowered, "product", "flip", freeze=True) == ["main_0", "main_1"]
    assert check(lowered, "mean", "product", "flip", freeze=True) == ["main_0"]
    # What is packed may have other contents.
    assert check(lowered, "flip", "other product", "product", freeze=True) == []
    # Without constants nothing is packed, and the product is another kernel.
    assert check(lowered, "product", "mean") == ["main_0"]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(4))
def test_results_are_the_same_bit_by_bit(
    seed: int, folder: Path, lowered: list[str], monkeypatch: pytest.MonkeyPatch
):
    """Of random networks with constants: with no cache, one that is empty, one that other networks
    have filled, and by several processes."""
    random, kept = Random(seed), str(folder.parent)
    names = [*random.choices(list(LAYERS), k=4), "product", "loop"]
    random.shuffle(names)
    x = tg.Tensor(np.random.default_rng(seed).random((64, 64), np.float32))

    def run(names: Sequence[str], folder: str, processes: int = 1) -> Any:
        lowered.clear()
        monkeypatch.setenv("TG_CACHE_DIR", folder)
        monkeypatch.setenv("TG_COMPILE_PROCESSES", str(processes))
        return network(names, freeze=True)(x).numpy()

    expected, count = run(names, ""), len(lowered)
    for layer in random.sample(list(LAYERS), len(LAYERS)):
        run([layer, "flip"], kept)
    np.testing.assert_array_equal(run(names, kept), expected)
    # All but the kernel of a loop, which calls others, and one that prepares it.
    assert len(lowered) < count
    for name, processes in (("", 3), (kept, 1), (f"{kept}/empty", 1), (f"{kept}/other", 3)):
        np.testing.assert_array_equal(run(names, name, processes), expected)


def test_threads_beam_and_targets_have_kernels_of_their_own(
    folder: Path, lowered: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("TG_BEAM_SECONDS", "0.01")
    names = "product", "mean"
    check(lowered, *names, freeze=True)
    text = network(names, freeze=True).lower(tg.spec((64, 64), "float32")).as_text()
    x = np.random.default_rng(2).random((64, 64), np.float32)
    expected = LAYERS["mean"][1](LAYERS["product"][1](x.astype(np.float64)))

    def compiled(text: str, **how: Any) -> int:
        lowered.clear()
        found = tg.compile(text, **how)(x, W)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
        return len(lowered)

    assert compiled(text) == 0
    assert compiled(f"{text}// again") == 0
    for threads in ("1", "3"):
        monkeypatch.setenv("TG_NUM_THREADS", threads)
        assert compiled(text) == 2
        assert compiled(f"{text}// again") == 0
    assert (
        compiled(text, opt="explicit:@main_0: split 1, 16, upcast; @main_0: stage 2, 1, global")
        == 2
    )
    assert compiled(text, opt="explicit:@main_0: split 1, 16, upcast") == 1
    compiled(text, opt="beam:1")
    compiled(text, target="c")
    assert compiled(f"{text}// at last") == 0


def test_a_kernel_is_kept_for_each_way_to_schedule_it(folder: Path, lowered: list[str]):
    text = network(("mean", "max")).lower(tg.spec((64, 64), "float32")).as_text()
    x = np.random.default_rng(0).random((64, 64), np.float32)
    results: list[Any] = []
    for number, (opt, count) in enumerate(
        (
            ("heuristic", 2),
            ("none", 2),
            ("heuristic", 0),
            ("none", 0),
            ("explicit:split 0, 2, upcast", 2),
        )
    ):
        lowered.clear()
        results.append(tg.compile(f"{text}// {number}", opt=opt)(x))
        assert len(lowered) == count, opt
    for result in results:
        np.testing.assert_allclose(result, results[0], atol=1e-7)


def test_a_damaged_kernel_is_compiled_again(folder: Path, lowered: list[str]):
    assert len(check(lowered, "mean", "flip")) == 2
    for kernel in folder.glob(f"{KERNEL_PREFIX}*"):
        kernel.write_bytes(kernel.read_bytes()[:-5])
    assert len(check(lowered, "mean", "flip", "max")) == 3
    assert len(check(lowered, "max", "mean", "flip")) == 0


def test_profiles_time_kernels_that_are_kept(folder: Path, lowered: list[str]):
    text = network(("mean", "flip")).lower(tg.spec((64, 64), "float32")).as_text()
    exe = tg.compile(text)
    lowered.clear()
    times = exe.profile(np.ones((64, 64), np.float32), seconds=0.01)
    assert len(times) == len(lowered) == 2
    assert all(kernel.seconds > 0 for kernel in times)
