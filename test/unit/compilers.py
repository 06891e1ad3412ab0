"""The compilers of the languages that we print, as judges of the texts. None has to be installed.

NVIDIA's are those of PyPI's wheels (extra `ptxas`), or those in PATH. clang judges Metal as C++ for
OpenCL, which has the same address spaces, with a header of Metal's types and functions.
"""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from tgdialect.backends import commands
from tgdialect.backends.asm import PtxTarget
from tgdialect.backends.sources import source_of
from tgdialect.lowering.pipeline import ToGpuPass, ToSourcePass, run_stages
from tgdialect.registry import make_context

SHIMS = Path(__file__).parent / "shims"


@dataclass(frozen=True)
class Compiler:
    """A compiler that reads its standard input."""

    path: str | None
    """None if it is not installed."""
    options: tuple[str, ...]
    language: str
    """Its language: a name of `-t` of tg-opt."""
    target: str

    def text(self, module: ModuleOp, mode: str = "heuristic") -> str:
        """The text of a program on tensors in its language. Changes the module.

        Raises PassFailedException for what the target lacks.
        """
        is_ptx = self.language == "ptx"
        to = ToGpuPass if is_ptx else ToSourcePass
        run_stages(module, to(target=self.target, mode=mode).pipeline())
        if not is_ptx:
            return source_of(module, self.language)
        output = StringIO()
        PtxTarget().emit(make_context(), module, output)
        return output.getvalue()

    def check(self, text: str) -> str:
        """Its messages about a text. Fails if it rejects it or warns, skips where it is missing."""
        if self.path is None:
            pytest.skip(f"the compiler of {self.language} is not installed")
        run = subprocess.run([self.path, *self.options], input=text, capture_output=True, text=True)
        assert run.returncode == 0, f"{run.stderr[:3000]}\n{text}"
        return run.stderr


def _nvidia(program: str, header: str = "") -> str | None:
    """A program of the wheels, if these have a header, or the one in PATH."""
    folders = Path(sysconfig.get_path("purelib"), "nvidia").glob("*")
    paths = (f / "bin" / program for f in folders if (f / "include" / header).exists())
    return next((str(path) for path in paths if path.exists()), None) or shutil.which(program)


def ptxas(chip: str) -> Compiler:
    """Its report has registers, spills and shared memory."""
    options = f"-arch={chip}", "-v", "-o", "/dev/null", "/dev/stdin"
    return Compiler(commands.ptxas(), options, "ptx", f"nvidia:{chip}")


def _nvcc(chip: str) -> Compiler:
    options = "-fmad=false", "-Werror", "all-warnings", "-cubin", "-o", "/dev/null", "-x", "cu"
    options = f"-arch={chip}", *options, "/dev/stdin"
    return Compiler(_nvidia("nvcc", "nv/target"), options, "cuda", f"nvidia:{chip}")


_STRICT = ("-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-")
_C = ("-std=c11", "-Wpedantic", "-x", "c", *_STRICT)
_CL = ("-target", "spir64", "-x", "cl", "-cl-std=CL1.2", *_STRICT)
# Pointers without an address space are private, and vectors convert what they are made of.
_METAL = (
    "-Xclang",
    "-cl-ext=-all,+cl_khr_fp16",
    "-cl-std=clc++2021",
    "-cl-no-stdinc",
    f"-I{SHIMS}",
    "-Wno-c++11-narrowing",
    *_STRICT,
)
_CLANG = shutil.which("clang")
_CHIPS = ("sm_80", "sm_90", "sm_90a")

COMPILERS = {
    "gcc": Compiler(shutil.which("gcc"), _C, "c", "c"),
    "clang": Compiler(_CLANG, _C, "c", "c"),
    "clang for OpenCL": Compiler(_CLANG, _CL, "opencl", "opencl"),
    "clang for Metal": Compiler(
        _CLANG, ("-target", "spir64", "-x", "cl", *_METAL), "metal", "metal"
    ),
    **{f"nvcc for {chip}": _nvcc(chip) for chip in _CHIPS},
    **{f"ptxas for {chip}": ptxas(chip) for chip in _CHIPS},
}
