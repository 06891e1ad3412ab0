"""Code of GPUs: NVIDIA's assembler and upstream's tools judge it."""

from __future__ import annotations

import re
import shutil
import subprocess
from io import StringIO
from pathlib import Path

import pytest
from example_files import WITHOUT_CUSTOM
from ptxas import PTXAS, assemble, needs_ptxas
from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer
from xdsl.utils.exceptions import LLVMTranslationException, VerifyException

from tgdialect.backends.asm import AmdgcnTarget, DeviceTarget, PtxTarget
from tgdialect.backends.llvm_machine import Machine
from tgdialect.diagnostics import CompilationError, SourceFile, parse_module
from tgdialect.lowering.pipeline import ToGpuPass
from tgdialect.lowering.render import RenderPass
from tgdialect.ops.dtypes import TYPES
from tgdialect.ops.elementwise import (
    DECOMPOSED,
    PRIMITIVES,
    CastOp,
    CmpEqOp,
    CmpGeOp,
    CmpGtOp,
    CmpLeOp,
    CmpLtOp,
    CmpNeOp,
    MulAccOp,
    UnaryOp,
    WhereOp,
)
from tgdialect.registry import make_context

MLIR_OPT = next(filter(None, map(shutil.which, ("mlir-opt-19", "mlir-opt"))), None)
needs_mlir = pytest.mark.skipif(MLIR_OPT is None, reason="upstream's mlir-opt is not installed")
QUICK = ("i1", "i8", "ui32", "i64", "bf16", "f32")
"""The dtypes that are not left to `pytest -m slow`."""
COMPARISONS = (CmpEqOp, CmpGeOp, CmpGtOp, CmpLeOp, CmpLtOp, CmpNeOp)


def lowered(text: str, target: str = "nvidia:sm_90", mode: str = "heuristic") -> ModuleOp:
    module = parse_module(make_context(), SourceFile("test", text, 1))
    module.verify()
    ToGpuPass(target=target, mode=mode).lower(module)
    module.verify()
    return module


def emitted(target: DeviceTarget, module: ModuleOp) -> str:
    output = StringIO()
    target.emit(make_context(), module, output)
    return output.getvalue()


def printed(module: ModuleOp) -> str:
    output = StringIO()
    Printer(output).print_op(module)
    return output.getvalue()


@needs_ptxas
@pytest.mark.sampled(2)
@pytest.mark.parametrize("path", WITHOUT_CUSTOM, ids=lambda path: path.stem)
def test_ptxas_accepts_the_examples(path: Path):
    report = assemble(emitted(PtxTarget(), lowered(path.read_text())))
    assert re.findall(r"(\d+) bytes spill", report)
    assert not any(map(int, re.findall(r"(\d+) bytes spill", report)))


def dynamic_local(chip: str = "sm_90") -> ModuleOp:
    """More LOCAL memory than a kernel may declare."""
    path = Path(__file__).parents[2] / "filecheck/lowering/render/gpu/dynamic_local.mlir"
    module = parse_module(make_context(), SourceFile("test", path.read_text(), 1))
    RenderPass(target=f"nvidia:{chip}").lower(module)
    return module


@needs_ptxas
@pytest.mark.parametrize("chip", ["sm_80", "sm_90"])
def test_ptxas_accepts_more_local_memory_than_a_kernel_declares(chip: str):
    ptx = emitted(PtxTarget(), dynamic_local(chip))
    assert ".extern .shared" in ptx
    assert "0 bytes spill" in assemble(ptx, chip)


@needs_mlir
@pytest.mark.parametrize(
    "path", [*WITHOUT_CUSTOM, None], ids=lambda path: path.stem if path else "dynamic_local"
)
def test_upstream_generates_ptx_of_the_examples(path: Path | None):
    assert MLIR_OPT is not None
    module = dynamic_local() if path is None else lowered(path.read_text())
    run = subprocess.run(
        [MLIR_OPT, "--gpu-module-to-binary=format=isa"],
        input=printed(module), capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert f".visible .entry {'k' if path is None else 'main_0'}" in run.stdout


@pytest.mark.parametrize("path", WITHOUT_CUSTOM, ids=lambda path: path.stem)
def test_amdgcn_of_the_examples(path: Path):
    assert ".amdhsa_kernel main_0" in emitted(
        AmdgcnTarget(), lowered(path.read_text(), "amd:gfx942")
    )


@pytest.mark.parametrize("op", ["shl", "shr"])
@pytest.mark.parametrize("dtype", ["i64", "ui64"])
def test_counts_of_64_bits_are_compared_as_a_whole(op: str, dtype: str):
    """An H100 shifted by 2^63 as by 0: LLVM compared the lower half of a count."""
    text = f"""
    func.func @main(%x: tensor<64x{dtype}>, %y: tensor<64x{dtype}>) -> tensor<64x{dtype}> {{
      %r = tg.{op} %x, %y : tensor<64x{dtype}>
      func.return %r : tensor<64x{dtype}>
    }}"""
    assert re.search(r"(setp\.\w+|min)\.u64.*, 6[34];", emitted(PtxTarget(), lowered(text)))


def elementwise_program(dtype: str) -> str:
    """A function with each elementwise op on a dtype, and a CAST of it to each other dtype."""
    functions: list[str] = []
    for op in (*PRIMITIVES, *DECOMPOSED):
        for result in TYPES if op is CastOp else ("i1" if op in COMPARISONS else dtype,):
            number = 3 if op in (WhereOp, MulAccOp) else 1 if issubclass(op, UnaryOp) else 2
            types = [f"tensor<64x{dtype}>"] * (1 if op is CastOp else number)
            if op is WhereOp:
                types[0] = "tensor<64xi1>"
            arguments = ", ".join(f"%{i}: {type}" for i, type in enumerate(types))
            values = ", ".join(f"%{i}" for i in range(len(types)))
            properties = f"<{{dtype = {result}}}>" if op is CastOp else ""
            text = (
                f"func.func @{op.name[3:]}_{result}({arguments}) -> tensor<64x{result}> {{\n"
                f'  %r = "{op.name}"({values}) {properties} : ({", ".join(types)})'
                f" -> tensor<64x{result}>\n  func.return %r : tensor<64x{result}>\n}}\n"
            )
            if _is_legal(text):
                functions.append(text)
    return "".join(functions)


def _is_legal(text: str) -> bool:
    try:
        parse_module(make_context(), SourceFile("test", text, 1)).verify()
    except (CompilationError, VerifyException):
        return False
    return True


@pytest.mark.sampled(12)
@pytest.mark.parametrize("target", ["nvidia:sm_90", "amd:gfx942"])
@pytest.mark.parametrize(
    "dtype",
    [d if d in QUICK else pytest.param(d, marks=pytest.mark.slow) for d in TYPES],
)
def test_elementwise_ops(dtype: str, target: str):
    """Each op is generated; exact float arithmetic is neither contracted nor flushed to zero."""
    module = lowered(elementwise_program(dtype), target)
    if target.startswith("amd"):
        assert ".amdhsa_kernel add_" in emitted(AmdgcnTarget(), module)
        return
    ptx = emitted(PtxTarget(), module)
    assert ".visible .entry add_" in ptx
    assert not re.search(r"\b(add|mul|sub|div|sqrt)(\.approx|\.ftz|\.f(32|64))|\.ftz|approx", ptx)
    if PTXAS is not None:
        assemble(ptx)


def test_chips():
    with pytest.raises(LLVMTranslationException, match="has no chip 'gfx1', only gfx906"):
        Machine("amdgcn-amd-amdhsa", "gfx1")
    with pytest.raises(LLVMTranslationException, match=r"sm_90a needs \+ptx80, not \+ptx78"):
        Machine("nvptx64-nvidia-cuda", "sm_90a", "+ptx78")
    machine = Machine("amdgcn-amd-amdhsa", "gfx942")
    assert machine.object_code("define amdgpu_kernel void @k() { ret void }")[:4] == b"\x7fELF"
    with pytest.raises(LLVMTranslationException, match="no calling convention 'ptx_kernel'"):
        machine.assembly("define ptx_kernel void @k() { ret void }")
