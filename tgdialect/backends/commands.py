"""Commands that make a file of others, in a folder of their own, as what drivers of GPUs load:
`ptxas` of PTX, LLVM's linker of object code."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from xdsl.utils.exceptions import LLVMTranslationException


def said_by(
    command: Sequence[str], refused: Callable[[str], Exception], folder: str | None = None
) -> str:
    """The output of a command. Raises `refused` of what it says if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode:
        raise refused(done.stderr)
    return done.stdout


def output_of(
    command: Sequence[str], files: Mapping[str, bytes], refused: Callable[[str], Exception]
) -> bytes:
    """The contents of the file that a command makes of files, which it names. Raises as `said_by`
    does."""
    with TemporaryDirectory() as folder:
        for name, data in files.items():
            Path(folder, name).write_bytes(data)
        said_by([*command, "-o", "result"], refused, folder)
        return Path(folder, "result").read_bytes()


@cache
def ptxas() -> str | None:
    """The path of `ptxas`: of PyPI's `nvidia-cuda-nvcc` (extra `ptxas`), or in PATH."""
    wheels = Path(sysconfig.get_path("purelib"), "nvidia").glob("*/bin/ptxas")
    return next(map(str, wheels), None) or shutil.which("ptxas")


def cubin(ptx: str, chip: str) -> bytes:
    """The machine code of PTX for a chip, as "sm_80".

    Raises LLVMTranslationException if there is no `ptxas`, or with its message.
    """
    if (path := ptxas()) is None:
        raise LLVMTranslationException(
            "machine code of NVIDIA's GPUs needs ptxas: pip install 'tgdialect[ptxas]', or put it "
            "into PATH"
        )
    return _converted(ptx.encode(), [path, f"-arch={chip}"])


def hsaco(object_code: bytes) -> bytes:
    """A code object of AMD's GPUs, which drivers load, of object code.

    Raises LLVMTranslationException if there is no linker, or with its message.
    """
    if (path := shutil.which("ld.lld")) is None:
        raise LLVMTranslationException(
            "a code object of AMD's GPUs needs LLVM's linker: put ld.lld (Debian's package lld, or "
            "ROCm's) into PATH"
        )
    return _converted(object_code, [path, "-shared"])


def _converted(data: bytes, command: Sequence[str]) -> bytes:
    """The output file of a command for an input file."""

    def refused(said: str) -> LLVMTranslationException:
        name = Path(command[0]).name
        return LLVMTranslationException(f"{name} rejects the code: {said.strip()}")

    return output_of([*command, "source"], {"source": data}, refused)
