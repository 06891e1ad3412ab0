"""NVIDIA's assembler: from PTX to machine code, as ELF."""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from xdsl.utils.exceptions import LLVMTranslationException


@cache
def assembler() -> str | None:
    """The path of `ptxas`: of PyPI's `nvidia-cuda-nvcc` (extra `ptxas`), or in PATH."""
    wheels = Path(sysconfig.get_path("purelib"), "nvidia").glob("*/bin/ptxas")
    return next(map(str, wheels), None) or shutil.which("ptxas")


def cubin(ptx: str, chip: str) -> bytes:
    """The machine code of PTX for a chip, as "sm_80".

    Raises LLVMTranslationException if there is no assembler, or with its message.
    """
    if (path := assembler()) is None:
        raise LLVMTranslationException(
            "machine code of NVIDIA's GPUs needs ptxas: pip install 'tgdialect[ptxas]', "
            "or leave PTX to the driver"
        )
    with TemporaryDirectory() as folder:
        source, result = os.path.join(folder, "kernel.ptx"), os.path.join(folder, "kernel.cubin")
        Path(source).write_text(ptx, "utf-8")
        command = [path, f"-arch={chip}", "-o", result, source]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LLVMTranslationException(f"ptxas rejects the code: {done.stderr.strip()}")
        return Path(result).read_bytes()
