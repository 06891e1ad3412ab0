"""The files that the tools write: each whole, and none of somebody else's."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

import pytest

from tgdialect.diagnostics import CompilationError
from tgdialect.tools.console import write_files


def text(content: bytes):
    return lambda file: file.write(content)


def full(file: BinaryIO) -> None:
    file.write(b"half")
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_file_is_replaced_and_keeps_its_mode_and_links_to_it(tmp_path: Path):
    (tmp_path / "file").write_text("before")
    (tmp_path / "file").chmod(0o640)
    (tmp_path / "link").symlink_to("file")
    write_files([str(tmp_path / "link")], [text(b"after")])
    assert (tmp_path / "file").read_text() == "after"
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640
    assert sorted(os.listdir(tmp_path)) == ["file", "link"]


def test_a_full_disk_leaves_all_files_as_they_were(tmp_path: Path):
    names = [str(tmp_path / name) for name in "ab"]
    for name in names:
        Path(name).write_text("before")
    with pytest.raises(CompilationError, match=r"cannot write .*b: No space left on device"):
        write_files(names, [text(b"after"), full])
    assert [Path(name).read_text() for name in names] == ["before"] * 2
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_a_temporary_name_that_is_taken_stays(tmp_path: Path):
    taken = tmp_path / f".{os.getpid()}-0.tmp"
    taken.write_text("precious")
    with pytest.raises(CompilationError, match="File exists"):
        write_files([str(tmp_path / "a")], [text(b"after")])
    assert taken.read_text() == "precious"


def test_devices_are_written_directly():
    write_files(["/dev/null", "/dev/null"], [text(b"x")] * 2)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
