"""BINARYs whose bytes are in files: weights that stay outside of the text and of the cache."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from opencl_device import needs_opencl
from random_seeds import batches
from test_data import PROGRAMS, STAGES, assert_gives, data, normal, product, random_views, sum_of
from xdsl.dialects.builtin import ModuleOp

import tgdialect as tg
from tgdialect import Tensor
from tgdialect.ops import tg as ops
from tgdialect.runtime import host_executable
from tgdialect.runtime.ahead import compile_ahead
from tgdialect.runtime.compiler import load_module
from tgdialect.runtime.executable import Executable
from tgdialect.runtime.program_file import ProgramFile, load
from tgdialect.runtime.shared_library import SharedLibrary

Array = np.ndarray[Any, np.dtype[Any]]

TARGETS = ["cpu", "c", pytest.param("opencl", marks=needs_opencl), "interpreter"]
_BYTES = re.compile(r'binary "([0-9a-f]*)"')
_MEGABYTE = 1 << 20


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test begins with an empty object cache."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("TG_CACHE_DIR", str(folder))
    return folder


@pytest.fixture(params=["copied", "in place"])
def placed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether no weight is so small that it is copied for vectors."""
    if request.param == "in place":
        monkeypatch.setattr(host_executable, "last_level_cache", lambda: 0)
    return request.param == "in place"


def in_files(text: str, folder: Path, *, name: str = "w.bin", first: int = 1) -> str:
    """A text whose BINARYs are in a file, one after the other, from byte `first` on."""
    content = bytearray(b"\xff" * first)

    def moved(found: re.Match[str]) -> str:
        bytes = bytearray.fromhex(found[1])
        line = f'binary file "{name}", offset = {len(content)}, length = {len(bytes)}'
        content.extend(bytes)
        return line

    text = _BYTES.sub(moved, text)
    folder.mkdir(exist_ok=True)
    # A new file: others may be mapped.
    (folder / name).unlink(missing_ok=True)
    (folder / name).write_bytes(content)
    return text


def compiled(source: Any, *specs: Any, **how: Any) -> Any:
    return tg.compile(source, *specs, **how)


def size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


# -- attributes ------------------------------------------------------------------------------------


def test_equal_attributes_name_the_same_bytes(tmp_path: Path) -> None:
    file = tmp_path / "a.bin"
    file.write_bytes(b"0123456789")
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)

    def made(offset: int = 2, length: int = 3, folder: str = "") -> ops.DataAttr:
        return ops.DataAttr.in_file(tmp_path / folder, "a.bin", offset, length)

    assert made() == made() == made(folder="link")
    assert hash(made()) == hash(made(folder="link"))
    assert len({made(), made(1), made(2, 4), ops.DataAttr(b"234")}) == 4
    assert made().nbytes == 3
    assert bytes(made().array) == b"234"
    assert not made().array.flags.writeable
    before = made()
    os.utime(file, ns=(0, 0))
    assert made() != before
    with pytest.raises(OSError, match="has changed since the program was read"):
        _ = before.array
    # One that was made before its file takes whatever comes.
    early = ops.DataAttr.in_file(tmp_path, "b.bin", 0, 4)
    (tmp_path / "b.bin").write_bytes(b"abcd")
    assert bytes(early.array) == b"abcd"


def test_a_file_is_mapped_once(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(bytes(100))
    one, other = (ops.DataAttr.in_file(tmp_path, "a.bin", n, 50).array for n in (0, 50))
    assert one.ctypes.data + 50 == other.ctypes.data


NAMES = {
    "absolute": ("/a.bin", "is an absolute path"),
    "above": ("../a.bin", "is no path of a file in the folder"),
    "above in between": ("b/../a.bin", "is no path of a file in the folder"),
    "above at the end": ("b/..", "is no path of a file in the folder"),
    "itself": (".", "is no path of a file in the folder"),
    "nothing": ("", "is no path of a file in the folder"),
    "twice": ("b//a.bin", "is no path of a file in the folder"),
    "of Windows": ("b\\a.bin", "is no path of a file in the folder"),
    "null": ("a\0.bin", "is no path of a file in the folder"),
}


@pytest.mark.parametrize("case", NAMES)
def test_names_outside_of_the_folder_are_refused(case: str, tmp_path: Path) -> None:
    name, message = NAMES[case]
    with pytest.raises(ValueError, match=message):
        ops.DataAttr.in_file(tmp_path, name, 0, 1)
    escaped = name.replace("\\", "\\\\").replace("\0", "\\00")
    text = f'%0 = tg.binary file "{escaped}", offset = 0, length = 1 : tensor<1xui8>'
    with pytest.raises(tg.CompilationError, match=rf":1:16: error: .*{message}"):
        compiled(text + "\n")


def test_places_beyond_any_file_are_refused(tmp_path: Path) -> None:
    for place in ((-1, 1), (1, -1), (1 << 62, 1 << 62), (0, 1 << 99)):
        with pytest.raises(ValueError, match="no file has"):
            ops.DataAttr.in_file(tmp_path, "a.bin", *place)


# -- programs --------------------------------------------------------------------------------------


@pytest.mark.sampled(2)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_bodies(name: str, target: str, tmp_path: Path) -> None:
    text, inputs, expected = PROGRAMS[name]()
    text = in_files(text, tmp_path)
    assert_gives(compiled(text, target=target, data_folder=tmp_path), inputs, *expected)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_stage_names_the_file(name: str, tmp_path: Path) -> None:
    text, inputs, expected = PROGRAMS[name]()
    executable = compiled(in_files(text, tmp_path), data_folder=tmp_path)
    for stage in STAGES:
        module = str(executable.module(stage))
        assert '#tg.data<file "w.bin"' in module
        how: dict[str, Any] = {"allow_custom": True, "data_folder": tmp_path}
        assert_gives(compiled(module, **how), inputs, *expected)
        if stage != "render":
            interpreted = compiled(module, target="interpreter", **how)
            assert_gives(interpreted, inputs, *expected)


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_DATA_FILES", 100))
def test_random_views(seeds: range, placed: bool, tmp_path: Path) -> None:
    for seed in seeds:
        text, x, expected = random_views(Random(seed))
        text = in_files(text, tmp_path, first=seed % 9)
        for target in ("interpreter", "cpu", "c")[: 2 + (seed % 5 == 0)]:
            executable = compiled(text, target=target, data_folder=tmp_path)
            assert_gives(executable, [x], *expected)


DTYPES = {
    "i8": np.int8, "ui8": np.uint8, "i16": np.int16, "f16": np.float16, "i32": np.int32,
    "ui32": np.uint32, "f32": np.float32, "i64": np.int64, "f64": np.float64,
}  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_misaligned_elements(dtype: str, target: str, placed: bool, tmp_path: Path) -> None:
    """Offsets are arbitrary: vectors, gathers and single elements of them."""
    array = np.arange(1000).astype(DTYPES[dtype])
    nbytes, kind = array.nbytes, f"tensor<1000x{dtype}>"
    text = f"""func.func @main(%x: {kind}, %i: tensor<7xindex>) -> ({kind}, tensor<7x{dtype}>) {{
  %b = tg.binary "{array.tobytes().hex()}" : tensor<{nbytes}xui8>
  %w = tg.bitcast %b to {dtype} : tensor<{nbytes}xui8> -> {kind}
  %0 = tg.add %w, %x : {kind}
  %1 = tg.index %w[%i] : ({kind}, tensor<7xindex>) -> tensor<7x{dtype}>
  return %0, %1 : {kind}, tensor<7x{dtype}>
}}"""
    where = np.array([0, 999, 5, 1, 2, 3, 998])
    for first in (1, 2, 3, 4, 7):
        moved = in_files(text, tmp_path, first=first)
        executable = compiled(moved, target=target, data_folder=tmp_path)
        assert_gives(executable, [array, where], array + array, array[where])
    if target == "cpu":
        # Misaligned elements are loaded where they are: no code may conclude anything from the
        # alignment of a pointer. Portable C may, and gets aligned copies.
        assert "llvm.align" not in str(executable.module("render"))
        assert executable.memory()[0].mapped == array.nbytes * placed
    elif target == "c" and array.itemsize > 1:
        assert executable.memory()[0].persistent == array.nbytes


def test_a_part_of_a_file_at_any_byte_is_a_view_of_the_file(tmp_path: Path) -> None:
    """One BINARY of a whole file: parts of it are mapped, and no elements put together of bytes."""
    w = normal(100)
    (tmp_path / "w.bin").write_bytes(b"header " + w.tobytes() + b"!")
    nbytes = w.nbytes + 8
    text = f"""func.func @main() -> tensor<100xf32> {{
  %b = tg.binary file "w.bin", offset = 0, length = {nbytes} : tensor<{nbytes}xui8>
  %p = tg.shrink %b at [7] to [400] : tensor<{nbytes}xui8> -> tensor<400xui8>
  %w = tg.bitcast %p to f32 : tensor<400xui8> -> tensor<100xf32>
  %r = tg.add %w, %w : tensor<100xf32>
  return %r : tensor<100xf32>
}}"""
    executable = compiled(text, data_folder=tmp_path)
    assert_gives(executable, [], w + w)
    (contents,) = [p for p in executable.parameters if p.role == "data"]
    assert (contents.dtype, contents.shape) == (np.float32, (100,))
    module = load_module(text.replace("w.bin", "none"))
    ((_, file),) = [(op, op.data.data) for op in module.walk() if isinstance(op, ops.BinaryDataOp)]
    assert isinstance(file, ops.FileData)


def test_a_text_names_files_in_its_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    w, x = data(64), data(64, 1)
    text = in_files(sum_of(w), tmp_path / "here")
    (tmp_path / "here" / "a.mlir").write_text(text)
    for path in (tmp_path / "here" / "a.mlir", str(tmp_path / "here" / "a.mlir")):
        assert_gives(compiled(path), [x], w + x)
    monkeypatch.chdir(tmp_path / "here")
    assert_gives(compiled("a.mlir"), [x], w + x)
    assert_gives(compiled(text), [x], w + x)
    monkeypatch.chdir(tmp_path)
    assert_gives(compiled("here/a.mlir"), [x], w + x)
    assert_gives(compiled(text, data_folder="here"), [x], w + x)
    with pytest.raises(tg.CompilationError, match="is not there"):
        compiled(text)
    # What is compiled again later, for a profile, is the program of before.
    executable = compiled("here/a.mlir")
    monkeypatch.chdir("/")
    assert executable.profile(x, seconds=0.01).kernels


def test_a_data_folder_is_for_texts(tmp_path: Path) -> None:
    module = load_module(in_files(sum_of(data(4)), tmp_path))
    with pytest.raises(ValueError, match="not for a module"):
        compiled(module, data_folder=tmp_path)
    with pytest.raises(ValueError, match="not for a Python function"):
        compiled(Tensor.exp, Tensor([1.0]), data_folder=tmp_path)


# -- files that have not got the bytes -------------------------------------------------------------


def absent(folder: Path) -> None:
    (folder / "w.bin").unlink()


def shorter(folder: Path) -> None:
    os.truncate(folder / "w.bin", 64)


def to_folder(folder: Path) -> None:
    absent(folder)
    (folder / "w.bin").mkdir()


def to_pipe(folder: Path) -> None:
    absent(folder)
    os.mkfifo(folder / "w.bin")


def to_link(folder: Path) -> None:
    (folder / "w.bin").rename(folder.parent / "w.bin")
    (folder / "w.bin").symlink_to("../w.bin")


def to_device(folder: Path) -> None:
    absent(folder)
    (folder / "w.bin").symlink_to("/dev/zero")


def to_circle(folder: Path) -> None:
    absent(folder)
    (folder / "w.bin").symlink_to("w.bin")


def unreadable(folder: Path) -> None:
    (folder / "w.bin").chmod(0)
    if os.access(folder / "w.bin", os.R_OK):
        pytest.skip("this user reads every file")


WRONG: dict[str, tuple[Callable[[Path], None], str]] = {
    "absent": (absent, "is not there: --data-folder and data_folder= name another folder"),
    "shorter": (shorter, "too short: it has 64 bytes, and 64 bytes from byte 1 on are needed"),
    "a folder": (to_folder, "is no regular file"),
    "a pipe": (to_pipe, "is no regular file"),
    "a link out of the folder": (to_link, "is a link that leaves the folder"),
    "a link to a device": (to_device, "is a link that leaves the folder"),
    "a link to itself": (to_circle, "(symbolic links|link)"),
    "unreadable": (unreadable, "cannot be read: Permission denied"),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("case", WRONG)
def test_wrong_files_are_one_error_at_the_op(case: str, target: str, tmp_path: Path) -> None:
    spoil, message = WRONG[case]
    text = in_files(sum_of(data(64)), tmp_path / "here")
    located = rf"<string>:2:8: error: the file 'w\.bin' of the folder .*here .*{message}"
    how: dict[str, Any] = {"target": target, "data_folder": tmp_path / "here"}
    # Before the program is in the cache, and after.
    for _ in range(2):
        in_files(sum_of(data(64)), tmp_path / "here")
        spoil(tmp_path / "here")
        assert str(load_module(text))
        with pytest.raises(tg.CompilationError, match=located) as caught:
            compiled(text, **how)
        assert len(caught.value.diagnostics) == 1
        file = tmp_path / "here" / "w.bin"
        file.rmdir() if file.is_dir() else file.unlink(missing_ok=True)
        in_files(sum_of(data(64)), tmp_path / "here")
        compiled(text, **how)


def test_links_inside_of_the_folder_are_followed(tmp_path: Path) -> None:
    w, x = data(64), data(64, 1)
    text = in_files(sum_of(w), tmp_path / "here")
    (tmp_path / "here" / "files").mkdir()
    (tmp_path / "here" / "w.bin").rename(tmp_path / "here" / "files" / "a")
    (tmp_path / "here" / "w.bin").symlink_to("files/a")
    assert_gives(compiled(text, data_folder=tmp_path / "here"), [x], w + x)
    # And so is one to the folder itself, which the caller names.
    (tmp_path / "link").symlink_to("here")
    assert_gives(compiled(text, data_folder=tmp_path / "link"), [x], w + x)


def test_a_folder_that_is_a_link_does_not_leave(tmp_path: Path) -> None:
    text = in_files(sum_of(data(64)), tmp_path / "other").replace('"w.bin"', '"sub/w.bin"')
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "sub").symlink_to("../other")
    with pytest.raises(tg.CompilationError, match="is a link that leaves the folder"):
        compiled(text, data_folder=tmp_path / "here")


FOLDERS = "in", "in/a", "in/b", "in/a/c", "out", "out/d"
PARTS = "a", "b", "c", "x", "y", "l", "m", "n", "o", "p", "d", "..", ".", "", "out"
TO = (
    "x", "..", "../..", "a", "b/x", "../out", "../../out/x", "l", "m", "../in", "../in/a/x", "../l",
    "/", "/etc/passwd", "o/../x", "a/c", "../../out/d",
)  # fmt: skip


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_FOLDERS", 40))
def test_random_folders(seeds: range, tmp_path: Path) -> None:
    """Exactly those files are read that are in the folder when all links are followed."""
    for seed in seeds:
        random, top = Random(seed), tmp_path / str(seed)
        for folder in FOLDERS:
            (top / folder).mkdir(parents=True)
            for name in "xy":
                (top / folder / name).write_bytes(folder[:2].encode() * 5)
        for _ in range(8):
            link = top / random.choice(FOLDERS) / random.choice("lmnop")
            to = random.choice([*TO, str(top / "in" / "x"), str(top / "out" / "x")])
            if not link.is_symlink():
                link.symlink_to(to)
        for _ in range(60):
            name = "/".join(random.choices(PARTS, k=random.randint(1, 4)))
            place = random.randint(0, 3), random.randint(0, 8)
            try:
                data = ops.DataAttr.in_file(top / "in", name, *place)
            except ValueError:
                assert {"", ".", ".."} & {*name.split("/")}
                continue
            real = Path(os.path.realpath(top / "in" / name))
            is_inside = real.is_relative_to(os.path.realpath(top / "in")) and real.is_file()
            try:
                found = bytes(data.array)
            except ops.DataFileError:
                assert not is_inside or sum(place) > 10
            else:
                assert is_inside
                assert found == (b"in" * 5)[place[0] :][: place[1]]


def test_each_file_has_one_error(tmp_path: Path) -> None:
    lines = "".join(
        f'  %{n} = tg.binary file "{name}", offset = {n}, length = 1 : tensor<1xui8>\n'
        for n, name in enumerate("abab")
    )
    sum = "".join(
        f"  %s{n + 1} = tg.add %{f's{n}' if n else 0}, %{n + 1} : tensor<1xui8>\n" for n in range(3)
    )
    text = f"func.func @main() -> tensor<1xui8> {{\n{lines}{sum}  return %s3 : tensor<1xui8>\n}}"
    with pytest.raises(tg.CompilationError) as caught:
        compiled(text, data_folder=tmp_path)
    assert [(d.line, "'a'" in d.message) for d in caught.value.diagnostics] == [
        (2, True),
        (3, False),
    ]


# -- versions, the cache ---------------------------------------------------------------------------


@pytest.mark.parametrize("target", TARGETS)
def test_another_file_is_another_result(target: str, tmp_path: Path) -> None:
    """Products, whose weights are packed: nothing of the old ones is left."""
    x = normal(64, 256)
    for factor in (1, 2, 1, 3):
        w = factor * normal(256, 512)
        text = in_files(product(w, 64), tmp_path)
        executable = compiled(text, target=target, data_folder=tmp_path)
        assert_gives(executable, [x], x @ w)


def test_the_same_text_in_two_folders(tmp_path: Path) -> None:
    x = normal(64, 256)
    here, there = normal(256, 512), -normal(256, 512)
    text = in_files(product(here, 64), tmp_path / "here")
    assert text == in_files(product(there, 64), tmp_path / "there")
    for _ in range(2):
        for name, w in (("here", here), ("there", there)):
            assert_gives(compiled(text, data_folder=tmp_path / name), [x], x @ w)


def module_of(folders: Sequence[Path], function: bool = False) -> ModuleOp:
    """A module made in Python: a sum of BINARYs of the same name in several folders."""
    lines = "".join(f'  %{n} = tg.binary "00" : tensor<1xui8>\n' for n in range(len(folders)))
    sum = "".join(
        f"  %s{n} = tg.mul %{n}, %c{n} : tensor<1xui8>\n"
        f"  %t{n} = tg.add %{f't{n - 1}' if n else f's{n}'}, %s{n} : tensor<1xui8>\n"
        for n in range(len(folders))
    )
    consts = "".join(
        f"  %k{n} = tg.const {n + 1} : tensor<ui8>\n"
        f"  %r{n} = tg.reshape %k{n} [1] : tensor<ui8> -> tensor<1xui8>\n"
        f"  %c{n} = tg.add %r{n}, %r{n} : tensor<1xui8>\n"
        for n in range(len(folders))
    )
    last = len(folders) - 1
    module = load_module(
        f"func.func @main() -> tensor<1xui8> {{\n{lines}{consts}{sum}  return %t{last} : "
        "tensor<1xui8>\n}"
    )
    found = [op for op in module.walk() if isinstance(op, ops.BinaryDataOp)]
    for op, folder in zip(found, folders, strict=True):
        op.data = ops.DataAttr.in_file(folder, "w.bin", 0, 1)
    return module


@pytest.mark.parametrize("target", TARGETS)
def test_a_module_of_several_folders(target: str, tmp_path: Path) -> None:
    """They have the same text, in which names only stand, and are different programs."""
    for name, value in (("a", 3), ("b", 5)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "w.bin").write_bytes(bytes([value]))
    values = {"a": 3, "b": 5}
    texts: set[str] = set()
    for order in ("aab", "abb", "bab", "aab", "bbb"):
        module = module_of([tmp_path / name for name in order])
        texts.add(str(module))
        one, two, three = (values[name] for name in order)
        expected = np.array([2 * one * 2 + two * 4 + three * 6], np.uint8)
        executable = compiled(module, target=target)
        assert_gives(executable, [], expected)
        if isinstance(executable, Executable):
            # Inspecting compiles again, from the module as it was.
            assert str(executable.module("callify")).count("tg.data = ") == len({*order})
    assert len(texts) == 1


def test_outlined_functions_of_two_folders(tmp_path: Path) -> None:
    """FUNCTIONs that are equal up to their files share no function."""
    module = load_module(PROGRAMS["outlined FUNCTION"]()[0])
    text = str(module)
    body = text[text.index("%t = tg.function") : text.index("func.return")]
    again = body.replace("%t", "%t2").replace("%r", "%r2").replace("(%x)", "(%r)")
    text = text.replace(body, body + again).replace("func.return %r ", "func.return %r2 ")
    module = load_module(text)
    x, expected = data(16, 1), data(16, 1)
    binaries = [op for op in module.walk() if isinstance(op, ops.BinaryDataOp)]
    for number, op in enumerate(binaries):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "w.bin").write_bytes(data(16, number + 5).tobytes())
        op.data = ops.DataAttr.in_file(tmp_path / str(number), "w.bin", 0, 16)
        expected = expected + data(16, number + 5)
    assert len(binaries) == 2
    assert_gives(compiled(module), [x], expected)


def test_a_module_whose_file_has_changed_is_refused(tmp_path: Path) -> None:
    """Its offsets are those of the old file. It is refused from the cache as well."""
    text = in_files(sum_of(data(64)), tmp_path)
    (tmp_path / "a.mlir").write_text(text)
    module, x = load_module(tmp_path / "a.mlir"), data(64, 1)
    assert_gives(compiled(module), [x], data(64) + x)
    in_files(sum_of(data(64, 2)), tmp_path)
    os.utime(tmp_path / "w.bin", ns=(1, 1))
    with pytest.raises(tg.CompilationError, match="has changed since the program was read"):
        compiled(module)
    assert_gives(compiled(load_module(tmp_path / "a.mlir")), [x], data(64, 2) + x)


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_mapped_file_that_is_written_to(is_packed: bool, tmp_path: Path) -> None:
    """A call is an error. Another file in its place leaves the old one mapped."""
    if is_packed:
        w, given = normal(256, 2048), normal(64, 256)
        text, expected = in_files(product(w, 64), tmp_path, first=0), given @ w
    else:
        w, given = data(4096), data(4096, 1)
        text, expected = in_files(sum_of(w), tmp_path, first=0), w + given
    for _ in range(2):  # The second one is from the cache.
        executable = compiled(text, data_folder=tmp_path)
        contents = (tmp_path / "w.bin").read_bytes()
        (tmp_path / "new.bin").write_bytes(contents)
        os.replace(tmp_path / "new.bin", tmp_path / "w.bin")
        assert_gives(executable, [given], expected)
    executable = compiled(text, data_folder=tmp_path)
    with (tmp_path / "w.bin").open("r+b") as file:
        file.truncate(10)
    with pytest.raises(OSError, match="has changed since the program was read"):
        executable(given)


def test_a_cached_program_has_no_weights(tmp_path: Path, cache_folder: Path) -> None:
    w, x = normal(1024, 2048), normal(64, 1024)
    text = in_files(product(w, 64), tmp_path)
    for _ in range(2):
        executable = compiled(text, data_folder=tmp_path)
        assert_gives(executable, [x], x @ w)
        assert size_of(cache_folder) < _MEGABYTE < w.nbytes


def test_a_cached_program_needs_no_compiler(tmp_path: Path) -> None:
    w, x = normal(32, 8), normal(4, 32)
    (tmp_path / "a.mlir").write_text(in_files(product(w, 4), tmp_path))
    compiled(tmp_path / "a.mlir")
    np.save(tmp_path / "x.npy", x)
    code = """
        import sys, numpy as np, tgdialect as tg
        np.save("y.npy", tg.compile("a.mlir")(np.load("x.npy")))
        assert not {"xdsl", "llvmlite"} & sys.modules.keys()
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], cwd=tmp_path, check=True)
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), x @ w, rtol=1e-4, atol=1e-4)


# -- what else consumes programs -------------------------------------------------------------------


def test_memory_in_files_is_counted_apart(tmp_path: Path) -> None:
    w, x = normal(256, 512), normal(64, 256)
    executable = compiled(in_files(product(w, 64), tmp_path), data_folder=tmp_path)
    (found,) = executable.memory()
    assert found.mapped == w.nbytes
    assert w.nbytes <= found.persistent < 2 * w.nbytes  # Packed.
    assert found.peak == found.persistent + found.arguments + found.results + found.workspace
    assert_gives(executable, [x], x @ w)


def test_small_weights_are_copied_for_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many of the smallest as the cache has room for, if they are not where vectors begin."""
    monkeypatch.setattr(host_executable, "last_level_cache", lambda: 5000)
    arrays = [normal(n) for n in (1500, 1000, 600, 500)]
    content, lines, results = b"1", "", [f"%r{n}" for n in range(len(arrays))]
    for n, array in enumerate(arrays):
        nbytes, type = array.nbytes, f"tensor<{array.size}xf32>"
        lines += f"""
  %b{n} = tg.binary file "w.bin", offset = {len(content)}, length = {nbytes} : tensor<{nbytes}xui8>
  %f{n} = tg.bitcast %b{n} to f32 : tensor<{nbytes}xui8> -> {type}
  %r{n} = tg.add %f{n}, %f{n} : {type}"""
        content += array.tobytes()
    (tmp_path / "w.bin").write_bytes(content)
    types = ", ".join(f"tensor<{array.size}xf32>" for array in arrays)
    text = f"func.func @main() -> ({types}) {{{lines}\n  return {', '.join(results)} : {types}\n}}"
    executable = compiled(text, data_folder=tmp_path)
    assert_gives(executable, [], *(array + array for array in arrays))
    (found,) = executable.memory()
    assert (found.mapped, found.persistent) == (6000 + 4000, 2400 + 2000)


def resident(file: Path) -> int:
    """The bytes of a mapped file that are in the memory of this process."""
    maps = Path("/proc/self/smaps").read_text().split(str(file))[1:]
    return sum(int(found[1]) << 10 for each in maps if (found := re.search(r"Rss: +(\d+)", each)))


@pytest.mark.skipif(sys.platform != "linux", reason="/proc says what is resident")
def test_packed_weights_are_let_go(tmp_path: Path) -> None:
    w, x = normal(256, 512), normal(64, 256)
    in_files(product(w, 64), tmp_path)

    @tg.function(freeze="release")
    def layer(x: Tensor) -> Tensor:
        return x @ Tensor.from_file(tmp_path / "w.bin", w.shape, offset=1)

    executable = compiled(in_files(product(w, 64), tmp_path), data_folder=tmp_path)
    assert_gives(executable, [x], x @ w)
    assert resident(tmp_path / "w.bin") >= w.nbytes
    assert executable.release("released") == {}
    assert resident(tmp_path / "w.bin") < 16 << 10
    assert_gives(executable, [x], x @ w)
    assert_gives(lambda: layer(Tensor(x)).numpy(), [], x @ w)
    assert resident(tmp_path / "w.bin") < 16 << 10


@needs_opencl
def test_a_device_has_a_copy(tmp_path: Path) -> None:
    w, x = normal(256, 512), normal(64, 256)
    text = in_files(product(w, 64), tmp_path)
    executable = compiled(text, target="opencl", data_folder=tmp_path)
    assert executable.memory()[0].mapped == 0
    assert executable.memory()[0].persistent >= w.nbytes
    assert_gives(executable, [x], x @ w)


def test_a_profile_reads_files(tmp_path: Path) -> None:
    w, x = normal(8, 16), normal(4, 8)
    for target in ("cpu", None):
        how: dict[str, Any] = {"data_folder": tmp_path, "target": target}
        executable = compiled(in_files(product(w, 4), tmp_path), **how)
        assert executable.profile(x, seconds=0.01).kernels
        assert_gives(executable, [x], x @ w)


def test_several_devices(tmp_path: Path) -> None:
    w, x = normal(32, 8), normal(64, 32)
    sharded = ' {tg.sharding = #tg.place<["CPU:0", "CPU:1"], axis = 0>}'
    text = in_files(product(w, 64, sharded), tmp_path)
    for _ in range(2):
        assert_gives(compiled(text, data_folder=tmp_path), [x], x @ w)


def test_many_kernels_in_several_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TG_COMPILE_PROCESSES", "2")
    content, x = b"?", normal(4, 8)
    expected = x

    def layers(x: Tensor) -> Tensor:
        offset = 1
        for n in range(8):
            shape = x.shape[1], 8 + n
            x = (x @ Tensor.from_file(tmp_path / "w.bin", shape, offset=offset)).tanh()
            offset += 4 * shape[0] * shape[1]
        return x

    for n in range(8):
        w = normal(expected.shape[1], 8 + n)
        content, expected = content + w.tobytes(), np.tanh(expected @ w)
    (tmp_path / "w.bin").write_bytes(content)
    assert_gives(compiled(layers, Tensor(x)), [x], expected)


@pytest.mark.parametrize("target", TARGETS[:3])
def test_a_file_of_a_program_has_the_bytes(target: str, tmp_path: Path) -> None:
    w, x = normal(256, 512), normal(64, 256)
    (tmp_path / "a.mlir").write_text(in_files(product(w, 64), tmp_path))
    file = compile_ahead(load_module(tmp_path / "a.mlir"), target=target).to_bytes()
    (tmp_path / "w.bin").unlink()
    (tmp_path / "a.tgx").write_bytes(file)
    assert_gives(load(tmp_path / "a.tgx"), [x], x @ w)


def test_a_file_of_a_program_names_no_files(tmp_path: Path) -> None:
    """Such a file may be from anywhere, and a name in it for any file of this machine."""
    w = normal(64)
    (tmp_path / "a.mlir").write_text(in_files(sum_of(w.view(np.uint8)), tmp_path))
    file = compile_ahead(load_module(tmp_path / "a.mlir"))
    (program,) = file.programs.values()
    data = ops.DataAttr.in_file("/etc", "passwd", 0, 256).data
    parameters = [p if p.data is None else replaced(p, data=data) for p in program.parameters]
    spoilt = replaced(program, parameters=tuple(parameters))
    written = replaced(file, programs={"main": spoilt}).to_bytes()
    with pytest.raises(ValueError, match="the contents of data cannot be"):
        ProgramFile.from_bytes(written)


def replaced(value: Any, **fields: Any) -> Any:
    from dataclasses import replace

    return replace(value, **fields)


def test_a_library_has_the_bytes(tmp_path: Path) -> None:
    w, x = normal(256, 512), normal(64, 256)
    (tmp_path / "a.mlir").write_text(in_files(product(w, 64), tmp_path))
    file = compile_ahead(load_module(tmp_path / "a.mlir"))
    (tmp_path / "w.bin").unlink()
    library = SharedLibrary(file, "weights", "a.mlir")
    (tmp_path / "weights.so").write_bytes(library.code("weights"))
    function = ctypes.CDLL(str(tmp_path / "weights.so")).weights_main
    result = np.zeros((64, 512), np.float32)
    assert function(*(ctypes.c_void_p(each.ctypes.data) for each in (x, result))) == 0
    np.testing.assert_allclose(result, x @ w, rtol=1e-3, atol=1e-3)


# -- tensors ---------------------------------------------------------------------------------------


def test_a_tensor_of_a_file(tmp_path: Path) -> None:
    for dtype in (np.float32, np.int64, np.int8, np.bool_, np.float16):
        w = (normal(6, 7) * 3).astype(dtype)
        (tmp_path / "new").write_bytes(b"abc" + w.tobytes())
        (tmp_path / "new").rename(tmp_path / "w.bin")
        tensor = Tensor.from_file(tmp_path / "w.bin", (6, 7), w.dtype.name, offset=3)
        np.testing.assert_array_equal(tensor.numpy(), w)
        inside = Tensor.from_file("w.bin", w.shape, w.dtype.name, offset=3, folder=tmp_path)
        np.testing.assert_array_equal((inside.cast("float32") + 1).numpy(), w.astype("f4") + 1)
    scalar = Tensor.from_file(tmp_path / "w.bin", (), "uint8")
    assert scalar.item() == ord("a")
    assert Tensor.from_file(tmp_path / "w.bin", (0, 3)).shape == (0, 3)


def test_a_tensor_of_a_new_file_has_its_elements(tmp_path: Path) -> None:
    for value in (1.0, 2.0, 3.0):
        (tmp_path / "new").write_bytes(np.full(4, value, np.float32).tobytes())
        (tmp_path / "new").rename(tmp_path / "w.bin")
        tensor = Tensor.from_file(tmp_path / "w.bin", (4,)) * 2
        np.testing.assert_array_equal(tensor.numpy(), np.full(4, 2 * value, np.float32))


def test_a_tensor_of_a_wrong_file(tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(8))
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "link").symlink_to("../w.bin")
    assert Tensor.from_file(tmp_path / "here" / "link", (2,)).numpy().shape == (2,)
    with pytest.raises(OSError, match="leaves the folder"):
        Tensor.from_file("link", (2,), folder=tmp_path / "here")
    with pytest.raises(OSError, match="is too short"):
        Tensor.from_file(tmp_path / "w.bin", (3,))
    with pytest.raises(OSError, match="is not there"):
        Tensor.from_file(tmp_path / "none", (3,))
    with pytest.raises(ValueError, match="is no path of a file in the folder"):
        Tensor.from_file("../w.bin", (1,), folder=tmp_path / "here")
    with pytest.raises(ValueError, match="has a static shape"):
        Tensor.from_file(tmp_path / "w.bin", (tg.Variable("n", 1, 2),))


# -- a gigabyte ------------------------------------------------------------------------------------

GIGABYTE = """
import resource, sys
import numpy as np
import tgdialect as tg
from tgdialect.runtime.compiler import load_module

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

text = open("a.mlir").read()
tg.compile(text.replace("w.bin", "small.bin").replace("= 1073741824", "= 4096")
           .replace("1073741824x", "4096x").replace("268435456x", "1024x"))
before = peak()
module = load_module("a.mlir")
printed = str(module)
executable = tg.compile("a.mlir")
assert len(printed) < 1000
assert executable.memory()[0].mapped == 1 << 30
assert executable.memory()[0].peak < 1 << 20
print((peak() - before) >> 10)
# A call reads what it needs.
result = executable(np.array([0, 7, (1 << 28) - 1]))
assert result.tolist() == [0, 0, 2], result
print((peak() - before) >> 10)
"""


def test_a_gigabyte_of_weights_takes_no_memory(tmp_path: Path, cache_folder: Path) -> None:
    """A sparse file, whose pages are read by none but the call, where it needs them."""
    with (tmp_path / "w.bin").open("wb") as file:
        file.truncate((1 << 30) + 1)
        file.seek((1 << 30) - 3)
        file.write(np.float32(2).tobytes())
    (tmp_path / "small.bin").write_bytes(bytes(5000))
    (tmp_path / "a.mlir").write_text("""
func.func @main(%i: tensor<3xindex>) -> tensor<3xf32> {
  %b = tg.binary file "w.bin", offset = 1, length = 1073741824 : tensor<1073741824xui8>
  %w = tg.bitcast %b to f32 : tensor<1073741824xui8> -> tensor<268435456xf32>
  %r = tg.index %w[%i] : (tensor<268435456xf32>, tensor<3xindex>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}
""")
    ran = subprocess.run(
        [sys.executable, "-c", GIGABYTE], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    # Megabytes: the compiler's own.
    compiled, called = map(int, ran.stdout.split())
    assert compiled < 50
    assert called < 60
    assert size_of(cache_folder) < _MEGABYTE
