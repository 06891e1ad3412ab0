"""Kernels, functions, values and locations of any name run alike on every target, and their texts
are accepted by the compilers of the languages that are not run.

A failure names the seed; CONTRIBUTING.md says how to try many.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from io import StringIO

import numpy as np
import pytest
from compilers import COMPILERS, SHIMS
from opencl_device import DEVICE, needs_opencl
from ptxas import PTXAS, assemble
from random_names import EXTENT, KERNELS, Program
from random_seeds import batches
from reproduced import check_program, raised
from xdsl.dialects.builtin import ModuleOp

import tgdialect as tg
from tgdialect.backends.asm import AsmTarget, PtxTarget
from tgdialect.backends.sources import source_of
from tgdialect.diagnostics import SourceFile, parse_module
from tgdialect.lowering.pipeline import ToGpuPass, ToLlvmPass, ToSourcePass
from tgdialect.registry import make_context

X = np.arange(EXTENT, dtype=np.int32) - EXTENT // 2
VARIABLE = "TG_RANDOM_NAMES"


def lowered(module: ModuleOp, stages: ToLlvmPass) -> ModuleOp:
    for stage in stages.pipeline():
        stage.lower(module)
    module.verify()
    return module


def check_runs(seed: int, *targets: str) -> None:
    program = Program(seed)
    expected, *results = (
        tg.compile(program.text, entry=program.entry, target=target)(X)
        for target in ("interpreter", *targets)
    )
    assert len({tuple(result) for result in expected}) == KERNELS
    for target, found in zip(targets, results, strict=True):
        np.testing.assert_array_equal(found, expected, f"seed {seed} on {target}\n{program.text}")


@pytest.mark.parametrize("seeds", batches(VARIABLE, 10), ids=str)
def test_names_on_the_host(seeds: range, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TG_CACHE_DIR", "")
    for seed in seeds:
        check_runs(seed, "cpu", "c")


@needs_opencl
@pytest.mark.parametrize("seeds", batches(VARIABLE, 2), ids=str)
def test_names_on_opencl(seeds: range):
    for seed in seeds:
        check_runs(seed, DEVICE)


# -- languages that are only compiled --------------------------------------------------------------


def accepted(command: list[str], text: str) -> None:
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    assert done.returncode == 0, f"{done.stderr[:2000]}\n{text}"


def judge_c(module: ModuleOp) -> None:
    """As a user compiles it, with another dialect of C than the target `c`."""
    text = source_of(lowered(module, ToSourcePass(target="c")), "c")
    accepted(["cc", "-std=gnu17", "-fsyntax-only", "-x", "c", "-w", "-"], text)


def judge_cuda(module: ModuleOp) -> None:
    text = source_of(lowered(module, ToSourcePass(target="nvidia:sm_90")), "cuda")
    command = ["g++", "-std=c++17", "-fsyntax-only", "-include", str(SHIMS / "cuda.h"), "-w"]
    accepted([*command, "-x", "c++", "-"], text)


def judge_metal(module: ModuleOp) -> None:
    text = source_of(lowered(module, ToSourcePass(target="metal")), "metal")
    metal = COMPILERS["clang for Metal"]
    accepted([str(metal.path), *metal.options], text)


def judge_ptx(module: ModuleOp) -> None:
    text = StringIO()
    PtxTarget().emit(make_context(), lowered(module, ToGpuPass(target="nvidia:sm_90")), text)
    assemble(text.getvalue())


def judge_assembly(module: ModuleOp) -> None:
    text = StringIO()
    AsmTarget().emit(make_context(), lowered(module, ToLlvmPass(target="cpu")), text)
    accepted(["cc", "-c", "-x", "assembler", "-", "-o", "/dev/null"], text.getvalue())


def judge_mlir(module: ModuleOp) -> None:
    text = str(lowered(module, ToLlvmPass(target="cpu")))
    accepted(["mlir-translate-19", "--mlir-to-llvmir"], text)


JUDGES: dict[str, tuple[Callable[[ModuleOp], None], bool]] = {
    "c": (judge_c, shutil.which("cc") is not None),
    "cuda": (judge_cuda, shutil.which("g++") is not None),
    "metal": (judge_metal, shutil.which("clang") is not None),
    "ptx": (judge_ptx, PTXAS is not None),
    "assembly": (judge_assembly, sys.platform == "linux" and shutil.which("cc") is not None),
    "mlir": (judge_mlir, shutil.which("mlir-translate-19") is not None),
}


@pytest.mark.parametrize("seeds", batches(VARIABLE, 3), ids=str)
@pytest.mark.parametrize("language", JUDGES)
def test_texts_are_accepted(language: str, seeds: range):
    judge, is_installed = JUDGES[language]
    if not is_installed:
        pytest.skip(f"nothing here judges {language}")
    wrong = raised(lambda module, _: judge(module))
    for seed in seeds:
        module = parse_module(make_context(), SourceFile("names.mlir", Program(seed).text))
        module.verify()
        check_program(wrong, f"seed {seed} as {language}", module, again="tg-opt -p tg-to-source")
