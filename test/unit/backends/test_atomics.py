"""ATOMICADD on each dtype: on devices, and in the code of those that are not here.

Processors and languages exchange words of 32 bits or more; an element that is narrower is a part of
one, whose other parts have to stay as they are.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from opencl_device import DEVICE, needs_opencl
from ptxas import assemble, needs_ptxas
from test_device_code import emitted, lowered
from xdsl.utils.exceptions import PassFailedException

import tgdialect as tg
from tgdialect.backends.asm import AmdgcnTarget, PtxTarget
from tgdialect.backends.sources import source_of
from tgdialect.diagnostics import SourceFile, parse_module
from tgdialect.lowering.pipeline import ToSourcePass
from tgdialect.ops.arrays import NUMPY_DTYPES
from tgdialect.registry import make_context

INTEGERS = ("i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")
TERMS = 200
NVCC = shutil.which("nvcc")


def program(dtype: str, cells: int) -> str:
    """Adds 200 elements, in turns, to some cells."""
    place, host = "#tg.place<global>", '#tg.place<"CPU", global>'
    cell = f"tensor<{dtype}, {place}>"
    memory, terms = (f"tensor<{n}x{dtype}, {place}>" for n in (cells, TERMS))
    given = [f"tensor<{n}x{dtype}, {host}>" for n in (cells, TERMS)]
    return f"""
tg.kernel @k {{
  %o = tg.param 0 : {memory}
  %x = tg.param 1 : {terms}
  %n = tg.const {TERMS} : tensor<index>
  %m = tg.const {cells} : tensor<index>
  %i = tg.range 0 loop to %n : tensor<index>
  %j = tg.mod %i, %m : tensor<index>
  %p = tg.index %x[%i] : ({terms}, tensor<index>) -> {cell}
  %v = tg.load %p : {cell} -> tensor<{dtype}>
  %q = tg.index %o[%j] : ({memory}, tensor<index>) -> {cell}
  %s = tg.atomicadd %q, %v : {cell}, tensor<{dtype}>
  %e = tg.end %s over %i : !tg.void
  %k = tg.sink %e : !tg.void
}}
func.func @main(%o: {given[0]}, %x: {given[1]}) {{
  %0 = tg.call @k(%o, %x) : ({", ".join(given)}) -> !tg.void
  %1 = tg.sink %0 : !tg.void
  func.return
}}
"""


@pytest.mark.sampled(10)
@needs_opencl
@pytest.mark.parametrize("dtype", [*INTEGERS, "f32", "f64"])
@pytest.mark.parametrize("target", ["cpu", DEVICE])
def test_sums(dtype: str, target: str) -> None:
    """They wrap. Cells of one word are added to by many work items, and none beside them changes.
    Where a buffer ends within a word, so do the cells."""
    generator = np.random.default_rng(0)
    kind = NUMPY_DTYPES[dtype]
    for cells in (1, 3, 6, 7):
        bits = generator.integers(-(2**31), 2**31, TERMS + cells)
        x = bits % 1000 if kind.kind == "f" else bits % 3 == 0 if dtype == "i1" else bits
        x, start = x[:TERMS].astype(kind), x[TERMS:].astype(kind)
        wanted = start.copy()
        for term, value in enumerate(x):
            wanted[term % cells : term % cells + 1] += np.array([value], kind)
        found = start.copy()
        tg.compile(program(dtype, cells), target=target)(found, x)
        np.testing.assert_array_equal(found, wanted)


@needs_ptxas
@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", [*INTEGERS, "f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("chip", ["sm_80", "sm_90"])
def test_ptx(dtype: str, chip: str) -> None:
    ptx = emitted(PtxTarget(), lowered(program(dtype, 3), f"nvidia:{chip}"))
    assert "atom." in ptx or "red." in ptx
    assemble(ptx, chip)


@pytest.mark.parametrize("dtype", [*INTEGERS, "f16", "f32", "f64"])
def test_amdgcn(dtype: str) -> None:
    assert "atomic" in emitted(AmdgcnTarget(), lowered(program(dtype, 3), "amd:gfx942"))


@pytest.mark.sampled(8)
@pytest.mark.parametrize("dtype", [*INTEGERS, "f16", "bf16", "f32", "f64"])
def test_cuda(dtype: str, tmp_path: Path) -> None:
    module = parse_module(make_context(), SourceFile("test", program(dtype, 3), 1))
    ToSourcePass(target="nvidia:sm_90", mode="heuristic").lower(module)
    source = source_of(module, "cuda")
    assert "atomic" in source
    if NVCC is not None:
        file = tmp_path / "kernel.cu"
        file.write_text(source)
        subprocess.run([NVCC, "-arch=sm_90", "-ptx", file, "-o", tmp_path / "ptx"], check=True)


@pytest.mark.parametrize(
    ("target", "dtype", "reason"),
    [
        ("opencl", "f16", "the target opencl has no atomic add of f16: it has only its bits"),
        ("amd:gfx942", "bf16", "the target amd:gfx942 has no atomic add of bf16"),
        ("metal", "i8", "metal has no atomic add of i8, only of i32, ui32, f32"),
    ],
)
def test_what_there_is_not(target: str, dtype: str, reason: str) -> None:
    module = parse_module(make_context(), SourceFile("test", program(dtype, 3), 1))
    with pytest.raises(PassFailedException, match=reason):
        ToSourcePass(target=target, mode="heuristic").lower(module)
