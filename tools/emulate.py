"""Run a Python program on an emulated processor, by QEMU's user mode.

    python tools/emulate.py neoverse-n1 --cache ../emulated examples/matmul_softmax.py

QEMU comes from Debian's packages, without being installed. For another architecture than this
machine's, so do Python and its libraries; what tgdialect needs comes as wheels. All of it, some
700 MB, goes to the folder `--cache` and is found there again. Needs Linux on x86-64, `apt-get` and
`dpkg`, and access to their packages; root is not needed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

PROCESSORS = {
    "neoverse-n1": "aarch64",
    "cortex-a72": "aarch64",
    "max": "aarch64",
    "Nehalem": "x86_64",
    "Haswell": "x86_64",
}
"""QEMU's names of processors that are of interest, and the architecture of each. `max` has all
instructions of AArch64 that QEMU knows, bf16 and i8mm among them."""

_QEMU = ("qemu-user-static",)
_PYTHON = ("python3", "libstdc++6")
"""Debian's packages of a foreign root: Python, and what llvmlite's wheel is linked with."""
_WHEELS = ("manylinux2014", *(f"manylinux_2_{minor}" for minor in range(17, 37)))
"""The systems whose wheels Debian runs."""


class EmulationError(Exception):
    """A program or package that an emulator needs is not to be had."""


def command(processor: str, cache: Path) -> Sequence[str]:
    """The beginning of a command line that runs Python on an emulated processor. What it needs and
    `cache` does not have is downloaded.

    Raises EmulationError for an unknown processor, or with the output of what failed.
    """
    if (architecture := PROCESSORS.get(processor)) is None:
        raise EmulationError(f"{processor!r} is none of {', '.join(PROCESSORS)}")
    emulator = _made(cache / "qemu", lambda at: _unpack(at, "amd64", _QEMU))
    start = [f"{emulator}/usr/bin/qemu-{architecture}-static", "-cpu", processor]
    if architecture == "x86_64":
        return [*start, sys.executable]
    root = _made(cache / architecture / "root", lambda at: _unpack(at, "arm64", _PYTHON))
    python = (root / "usr/bin/python3").resolve()
    site = _made(
        cache / architecture / "site",
        lambda at: _install_wheels(at, architecture, python.name.removeprefix("python")),
    )
    return [*start, "-L", str(root), "-E", f"PYTHONPATH={ROOT}:{site}", str(python)]


def environment() -> dict[str, str]:
    """The environment of emulated programs: no cache of objects, which are another processor's."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "TG_CACHE_DIR": ""}


def _made(folder: Path, make: Callable[[Path], None]) -> Path:
    """A folder that is there, or is made as a whole."""
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as unfinished:
            make(made := Path(unfinished, "made"))
            made.rename(folder)
    return folder


def _unpack(folder: Path, architecture: str, packages: Sequence[str]) -> None:
    """Unpack Debian's packages of an architecture, with what they depend on. The lists and the
    state of this machine's packages are not touched."""
    state = folder.parent / "apt"
    archives = state / "archives"
    for made in (state / "lists/partial", archives / "partial"):
        made.mkdir(parents=True)
    (state / "status").touch()
    options = {
        "APT::Architecture": architecture,
        "APT::Architectures": architecture,
        "APT::Sandbox::User": "",
        "APT::Install-Recommends": "false",
        "Dir::State": state,
        "Dir::State::status": state / "status",
        "Dir::Cache": state,
        "Dir::Cache::archives": archives,
        "Debug::NoLocking": "true",
    }
    apt = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in options.items())]
    _run([*apt, "update"])
    _run([*apt, "install", "--download-only", *packages])
    for package in sorted(archives.glob("*.deb")):
        _run(["dpkg", "-x", str(package), str(folder)])


def _install_wheels(folder: Path, architecture: str, version: str) -> None:
    """Unpack the wheels of what tgdialect depends on, for a version of Python."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheels = folder.parent / "wheels"
    platforms = [f"--platform={name}_{architecture}" for name in _WHEELS]
    pip = [sys.executable, "-m", "pip", "download", "-q", f"--dest={wheels}"]
    given = [f"--python-version={version}", "--only-binary=:all:", *platforms]
    _run([*pip, *given, *project["project"]["dependencies"]])
    for wheel in sorted(wheels.glob("*.whl")):
        zipfile.ZipFile(wheel).extractall(folder)


def _run(arguments: Sequence[str]) -> None:
    try:
        done = subprocess.run(arguments, capture_output=True, text=True)
    except FileNotFoundError:
        raise EmulationError(f"needs {arguments[0]}") from None
    if done.returncode:
        raise EmulationError(f"{' '.join(arguments)}\n{done.stdout}{done.stderr}".strip())


def add_cache(parser: argparse.ArgumentParser) -> None:
    """The option that all programs have which emulate."""
    parser.add_argument(
        "--cache",
        type=Path,
        required=True,
        help="the folder for QEMU, and Python of other architectures (700 MB)",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("processor", help=", ".join(PROCESSORS))
    add_cache(parser)
    parser.add_argument("program", help="a file of Python")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="those of the program")
    given = parser.parse_args()
    try:
        start = command(given.processor, given.cache.resolve())
    except EmulationError as error:
        print(f"emulate.py: {error}", file=sys.stderr)
        return 1
    return subprocess.run([*start, given.program, *given.arguments], env=environment()).returncode


if __name__ == "__main__":
    sys.exit(main())
