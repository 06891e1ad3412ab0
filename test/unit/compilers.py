"""The compilers of the languages that we print, as judges of what we print. None has to be there.

NVIDIA's are those of PyPI's `nvidia-cuda-nvcc` (extra `ptxas`), or those in PATH. Metal is judged by
clang, as C++ for OpenCL with a header that has Metal's types and functions.
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

from tgdialect.backends.asm import PtxTarget
from tgdialect.backends.sources import source_of
from tgdialect.diagnostics import SourceFile, parse_module
from tgdialect.lowering.pipeline import ToGpuPass, ToLlvmPass, ToSourcePass
from tgdialect.registry import make_context

SHIMS = Path(__file__).parent / "shims"


@dataclass(frozen=True)
class Compiler:
    """A compiler that reads its standard input."""

    path: str | None
    """None if it is not installed."""
    options: tuple[str, ...]
    language: str
    """What it compiles: a name of `-t` of tg-opt."""
    target: str

    def lowered(self, module: ModuleOp, mode: str) -> str:
        """The text of a program on tensors for this compiler; changes the module.

        Raises PassFailedException for what the target lacks.
        """
        to = ToGpuPass if self.language == "ptx" else ToSourcePass
        lower: ToLlvmPass = to(target=self.target, mode=mode)
        if self.language == "cuda":
            lower = ToSourcePass(target=self.target, mode=mode, output="cuda")
        for stage in lower.pipeline():
            stage.lower(module)
        if self.language != "ptx":
            return source_of(module, self.language)
        text = StringIO()
        PtxTarget().emit(make_context(), module, text)
        return text.getvalue()

    def check(self, text: str, about: object = "") -> str:
        """What it prints about a text. Fails if it rejects that, and skips if it is missing."""
        if self.path is None:
            pytest.skip("this compiler is not installed")
        run = subprocess.run([self.path, *self.options], input=text, capture_output=True, text=True)
        assert run.returncode == 0, f"{about}: {run.stderr[:3000]}\n{text}"
        return run.stderr


def parsed(text: str) -> ModuleOp:
    module = parse_module(make_context(), SourceFile("test", text, 1))
    module.verify()
    return module


def nvidia_tool(name: str) -> str | None:
    """A program of NVIDIA's toolkit."""
    wheels = Path(sysconfig.get_path("purelib"), "nvidia").glob(f"*/bin/{name}")
    return next(map(str, wheels), None) or shutil.which(name)


CHIPS = "sm_80", "sm_90", "sm_90a"
_STRICT = ("-Wall", "-Wextra", "-Werror", "-fsyntax-only")
_C = ("-std=c11", "-Wpedantic", *_STRICT, "-x", "c", "-")
_CL = ("-target", "spir64", *_STRICT, "-x", "cl")
_METAL = ("-cl-std=clc++", "-cl-no-stdinc", "-I", str(SHIMS))
_CUBIN = ("-fmad=false", "-Werror", "all-warnings", "-cubin", "-o", "/dev/null", "-x", "cu")

COMPILERS = {
    "gcc": Compiler(shutil.which("gcc"), _C, "c", "c"),
    "clang": Compiler(shutil.which("clang"), _C, "c", "c"),
    "clang for OpenCL C": Compiler(
        shutil.which("clang"), (*_CL, "-cl-std=CL1.2", "-"), "opencl", "opencl"
    ),
    "clang for Metal": Compiler(shutil.which("clang"), (*_CL, *_METAL, "-"), "metal", "metal"),
    **{
        f"nvcc for {chip}": Compiler(
            nvidia_tool("nvcc"), (f"-arch={chip}", *_CUBIN, "/dev/stdin"), "cuda", f"nvidia:{chip}"
        )
        for chip in CHIPS
    },
    **{
        f"ptxas for {chip}": Compiler(
            nvidia_tool("ptxas"), (f"-arch={chip}", "-v", "-o", "/dev/null", "/dev/stdin"), "ptx", f"nvidia:{chip}"
        )
        for chip in CHIPS
    },
}
