"""Importing the package on a platform that is not supported: one sentence, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from tgdialect.platforms import SUPPORTED, check_platform


def imitate(
    monkeypatch: pytest.MonkeyPatch,
    system: str,
    machine: str = "x86_64",
    libc: str | Exception | None = None,
    largest: int = 2**63 - 1,
) -> None:
    def confstr(name: str) -> str | None:
        if isinstance(libc, Exception):
            raise libc
        return libc

    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(sys, "maxsize", largest)
    monkeypatch.setattr(os, "uname", lambda: SimpleNamespace(machine=machine))
    monkeypatch.setattr(os, "confstr", confstr)


UNKNOWN = ValueError("unrecognized configuration name")


@pytest.mark.parametrize(
    ("system", "machine", "libc"),
    [
        ("linux", "x86_64", "glibc 2.17"),
        ("linux", "aarch64", "glibc 2.36"),
        ("darwin", "arm64", UNKNOWN),
        ("darwin", "x86_64", UNKNOWN),
    ],
)
def test_supported(
    system: str, machine: str, libc: str | Exception, monkeypatch: pytest.MonkeyPatch
):
    imitate(monkeypatch, system, machine, libc)
    check_platform()


@pytest.mark.parametrize(
    ("expected", "platform"),
    [
        ("on Windows, use it in WSL2", ("win32",)),
        ("on Windows, use it in WSL2", ("cygwin",)),
        ("this is 'freebsd14'", ("freebsd14", "amd64", UNKNOWN)),
        ("this is 'android'", ("android", "aarch64", UNKNOWN)),
        ("this is 'riscv64'", ("linux", "riscv64", "glibc 2.36")),
        ("this is 's390x'", ("linux", "s390x", "glibc 2.36")),
        ("this is 'aarch64_be'", ("linux", "aarch64_be", "glibc 2.36")),
        ("another C library, such as musl", ("linux", "x86_64", UNKNOWN)),
        ("another C library, such as musl", ("linux", "aarch64", None)),
        ("a Python of 32 bits", ("linux", "x86_64", "glibc 2.36", 2**31 - 1)),
    ],
)
def test_refused(expected: str, platform: tuple[str, ...], monkeypatch: pytest.MonkeyPatch):
    imitate(monkeypatch, *platform)
    with pytest.raises(ImportError) as error:
        check_platform()
    assert str(error.value).startswith(f"{SUPPORTED}; ")
    assert expected in str(error.value)
    assert "\n" not in str(error.value)


def test_import_on_windows():
    """Nothing is imported first that Windows lacks."""
    lacking = ["fcntl", "resource", "pwd"]
    program = f"""
import os, sys
sys.platform = "win32"
sys.modules.update(dict.fromkeys({lacking}))
for name in ("fork", "register_at_fork", "uname", "confstr"):
    delattr(os, name)
import tgdialect
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1].startswith(f"ImportError: {SUPPORTED}; on Windows")
