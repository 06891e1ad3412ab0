"""OptOp TC: products by fragments of matrix instructions, against NumPy, after each stage."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from parsing import tg_context
from stages import parse

from tgdialect.analysis.affine.cells import CellNumbers
from tgdialect.interpreter import run
from tgdialect.interpreter.wmma import coordinates
from tgdialect.lowering.callify import CallifyPass
from tgdialect.lowering.expand import ExpandPass
from tgdialect.lowering.linearize import LinearizePass
from tgdialect.lowering.optimize import OptimizePass
from tgdialect.lowering.rangeify import RangeifyPass
from tgdialect.lowering.render.matrix_factors import stays
from tgdialect.lowering.render.ptx import descriptor_fields
from tgdialect.lowering.select import SelectPass
from tgdialect.lowering.verify import verify_level
from tgdialect.ops.codegen import ProgramOp
from tgdialect.targets import target_named
from tgdialect.targets.grid import GRIDS
from tgdialect.targets.matrix import LOCAL_INSTRUCTIONS, matrix_instructions
from tgdialect.work_items.coverage import uncovered

WGMMA = [each for each in LOCAL_INSTRUCTIONS if each.is_asynchronous]
INSTRUCTIONS = [
    (target.name, index, instruction)
    for target in GRIDS
    for index, instruction in enumerate(matrix_instructions(target))
    if not instruction.reads_local
]
DTYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}
RANDOM = np.random.default_rng(0)


def product(target, dtype, m, n, k, *, transposed=False, epilogue=False, widened=False):
    """The text of A @ B, which is summed in f32; B is [n, k] if `transposed`. An epilogue adds a
    row and takes relu. With `widened` the factors are cast and not the products."""
    b, mnk = (f"{n}x{k}" if transposed else f"{k}x{n}"), f"{m}x{n}x{k}"
    wide = (
        f"""
  %c = tg.cast %2 to f32 : tensor<{mnk}x{dtype}> -> tensor<{mnk}xf32>
  %d = tg.cast %3 to f32 : tensor<{mnk}x{dtype}> -> tensor<{mnk}xf32>
  %5 = tg.mul %c, %d : tensor<{mnk}xf32>"""
        if widened or dtype == "f32"
        else f"""
  %4 = tg.mul %2, %3 : tensor<{mnk}x{dtype}>
  %5 = tg.cast %4 to f32 : tensor<{mnk}x{dtype}> -> tensor<{mnk}xf32>"""
    )
    ends = (
        f"""
  %8 = tg.add %7, %bias : (tensor<{m}x{n}xf32>, tensor<{n}xf32>) -> tensor<{m}x{n}xf32>
  %9 = tg.const 0.0 : tensor<f32>
  %10 = tg.max %8, %9 : (tensor<{m}x{n}xf32>, tensor<f32>) -> tensor<{m}x{n}xf32>
  return %10 : tensor<{m}x{n}xf32>"""
        if epilogue
        else f"\n  return %7 : tensor<{m}x{n}xf32>"
    )
    order = (
        f"  %p = tg.reshape %b [{n}, {k}] : tensor<{b}x{dtype}> -> tensor<{n}x{k}x{dtype}>"
        if transposed
        else f"  %p = tg.permute %b [1, 0] : tensor<{b}x{dtype}>"
        + f" -> tensor<{n}x{k}x{dtype}>" * (n != k)
    )
    return f"""
module attributes {{tg.target = #tg.target<"{target}">}} {{
func.func @main(
    %a: tensor<{m}x{k}x{dtype}>, %b: tensor<{b}x{dtype}>, %bias: tensor<{n}xf32>
) -> tensor<{m}x{n}xf32> {{
  %0 = tg.reshape %a [{m}, 1, {k}] : tensor<{m}x{k}x{dtype}> -> tensor<{m}x1x{k}x{dtype}>
{order}
  %1 = tg.reshape %p [1, {n}, {k}] : tensor<{n}x{k}x{dtype}> -> tensor<1x{n}x{k}x{dtype}>
  %2 = tg.expand %0 [{m}, {n}, {k}] : tensor<{m}x1x{k}x{dtype}> -> tensor<{mnk}x{dtype}>
  %3 = tg.expand %1 [{m}, {n}, {k}] : tensor<1x{n}x{k}x{dtype}> -> tensor<{mnk}x{dtype}>{wide}
  %6 = tg.reduce add %5 [2] : tensor<{mnk}xf32> -> tensor<{m}x{n}x1xf32>
  %7 = tg.reshape %6 [{m}, {n}] : tensor<{m}x{n}x1xf32> -> tensor<{m}x{n}xf32>{ends}
}}}}"""


def multiplies(program: str) -> bool:
    """Whether a program has matrix instructions, as WMMA or as INS."""
    return "tg.wmma" in program or "mma.sync" in program


def check(text, dtype, m, n, k, mode, *, transposed=False, epilogue=False, stages=4):
    """The module with a schedule computes the product after each stage."""
    a = (RANDOM.standard_normal((m, k)) / 4).astype(DTYPES[dtype])
    b = (RANDOM.standard_normal((n, k) if transposed else (k, n)) / 4).astype(DTYPES[dtype])
    bias = RANDOM.standard_normal(n).astype(np.float32)
    wanted = a.astype(np.float64) @ (b.T if transposed else b).astype(np.float64)
    if epilogue:
        wanted = np.maximum(wanted + bias, 0)
    module, ctx = parse(text), tg_context()
    for each in (CallifyPass(), RangeifyPass(), OptimizePass(mode)):
        each.apply(ctx, module)
    verify_level(module, "kernels")
    # At level kernels products are rounded to the dtype of the factors.
    bound = {"f32": 1e-5, "f16": 2e-2}.get(dtype, 1.0)
    levels = (ExpandPass(), "tiles"), (SelectPass(), "target"), (LinearizePass(), "linear")
    for number in range(stages):
        if number:
            stage, level = levels[number - 1]
            stage.apply(ctx, module)
            module.verify()
            verify_level(module, level)
            bound = 1e-5
        (result,) = run(module, "main", [a, b, bias])
        np.testing.assert_allclose(result, wanted, atol=bound, rtol=bound)
    return str(module)


@pytest.mark.sampled(8)
@pytest.mark.parametrize(("target", "index", "instruction"), INSTRUCTIONS)
def test_layouts(target, index, instruction):
    """Each element of C is in one lane, and an instruction computes A @ B."""
    config, (m, n, k) = instruction.fragments.config, instruction.fragments.dims
    rows, columns = coordinates(config.c, "m", config.threads)
    assert sorted(zip(rows.flat, columns.flat, strict=True)) == list(np.ndindex(m, n))
    text = product(target, instruction.factor, m, n, k, widened=True)
    if instruction.factor == "f32":
        text = text.replace("%c, %d", "%2, %3")
        text = "\n".join(line for line in text.split("\n") if "tg.cast" not in line)
    mode = f"explicit:tc 2, {index}, 0, 1"
    assert multiplies(check(text, instruction.factor, m, n, k, mode))


def described(instruction, letter, minor, k):
    """The byte at which a descriptor has an element of A or B. Source: PTX ISA, "Asynchronous
    Warpgroup Level Matrix Shared Memory Layout", canonical layouts: Swizzle<3, 4, 3> for rows of
    128 bytes and Swizzle<2, 4, 3> for those of 64."""
    size = np.dtype(DTYPES[instruction.factor]).itemsize
    fields = descriptor_fields(instruction, letter)
    leading, stride = (16 * (fields >> shift & 0x3FFF) for shift in (16, 32))
    bits = {1: 3, 2: 2}[fields >> 62]
    row = 16 << bits
    along, across = (k, minor) if instruction.major(letter) == "k" else (minor, k)
    at = across % 8 * row + across // 8 * stride
    at += along * size // row * leading + along * size % row
    return at ^ (at >> 3 & (1 << bits) - 1 << 4)


@pytest.mark.sampled(24)
@pytest.mark.parametrize("instruction", WGMMA, ids=lambda instruction: instruction.name)
def test_layouts_in_local_memory(instruction):
    """The descriptors of an instruction describe the layouts that WMMA has."""
    config = instruction.fragments.config
    rows, columns = coordinates(config.c, "m", config.threads)
    m, n, _ = config.m_n_k
    assert sorted(zip(rows.flat, columns.flat, strict=True)) == list(np.ndindex(m, n))
    size = np.dtype(DTYPES[instruction.factor]).itemsize
    for letter, row in (("a", "m"), ("b", "k")):
        first, second = coordinates(getattr(config, letter), row, config.threads)
        assert (first == first[0]).all()
        assert (second == second[0]).all()
        minor, k = (first[0], second[0]) if letter == "a" else (second[0], first[0])
        found = described(instruction, letter, minor, k)
        np.testing.assert_array_equal(found, np.arange(len(k)) * size)


def test_factors_that_are_not_in_local_memory():
    """Without STAGE there is no WMMA, and the same result."""
    known = matrix_instructions(target_named("nvidia:sm_90a"))
    index = next(i for i, each in enumerate(known) if each.name == "wgmma.m64n64k32.f16.kn")
    text = product("nvidia:sm_90a", "f16", 64, 64, 32, widened=True)
    assert not multiplies(check(text, "f16", 64, 64, 32, f"explicit:tc 2, {index}, 0, 1"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("opts", "sizes", "options"),
    [
        ("tc 2, -1, 0, 1", (32, 16, 48), {}),
        ("tc 2, -1, 0, 1", (32, 16, 48), {"transposed": True, "widened": True}),
        ("tc 2, -1, 2, 1", (20, 13, 37), {"epilogue": True}),
        ("tc 2, -1, 2, 1", (17, 24, 16), {"transposed": True}),
        ("tc 2, -1, 0, 1; split 0, 2, upcast; split 1, 2, upcast", (64, 32, 32), {}),
        ("tc 2, -1, 0, 1; split 0, 2, upcast; split 2, 2, unroll", (32, 16, 64), {}),
        ("tc 2, -1, 0, 1; split 2, 2, unroll", (32, 16, 32), {}),
        ("tc 2, -1, 0, 1; split 0, 2, local; split 1, 2, local", (64, 32, 16), {"epilogue": True}),
    ],
)
def test_products(opts, sizes, options):
    text = product("nvidia:sm_90", "f16", *sizes, **options)
    options.pop("widened", None)
    assert multiplies(check(text, "f16", *sizes, f"explicit:{opts}", **options))


def test_shape_only():
    text = product("nvidia:sm_80", "f16", 16, 8, 16)
    assert not multiplies(check(text, "f16", 16, 8, 16, "explicit:tc 2, -1, 0, 2", stages=1))


@pytest.mark.parametrize("target", ["nvidia:sm_90", "amd:gfx942", "amd:gfx1100"])
def test_heuristic(target):
    text = product(target, "bf16", 128, 64, 32, widened=True)
    assert multiplies(check(text, "bf16", 128, 64, 32, "heuristic"))


def test_heuristic_keeps_f32():
    text = product("nvidia:sm_90", "f32", 64, 64, 64).replace("%c, %d", "%2, %3")
    text = "\n".join(line for line in text.split("\n") if "tg.cast" not in line)
    assert not multiplies(check(text, "f32", 64, 64, 64, "heuristic", stages=1))


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("sizes", "options"),
    [
        ((32, 32, 32), {}),
        ((64, 32, 96), {"transposed": True}),
        ((33, 40, 50), {"epilogue": True}),
        ((200, 16, 100), {"epilogue": True, "transposed": True}),
    ],
)
@pytest.mark.parametrize(("is_constant", "threads"), [(False, 1), (False, 2), (True, 1), (True, 2)])
@pytest.mark.parametrize("feature", ["amx-bf16", "avx512bf16"])
def test_blocks_in_memory(sizes, options, is_constant, threads, feature):
    """A CPU multiplies blocks that are copied, or packed once if they are constant."""
    text = product("cpu", "bf16", *sizes, widened=True, **options)
    target = f'<"cpu", features = ["{feature}", "avx512f"], threads = {threads}>'
    text = text.replace('<"cpu">', target)
    if is_constant:
        text = re.sub(r"(%b: tensor<\S+>),", r"\1 {tg.constant},", text)
    found = check(text, "bf16", *sizes, "heuristic", **options)
    assert multiplies(found)
    assert ("prepack" in found) == is_constant


@pytest.mark.parametrize("feature", ["amx-bf16", "avx512bf16"])
def test_sums_stay_in_registers(feature):
    """Sums stay in registers through a loop over steps, and copies of factors are not cleared."""
    text = product("cpu", "bf16", 32, 32, 512, widened=True, epilogue=True)
    text = text.replace('<"cpu">', f'<"cpu", features = ["{feature}", "avx512f"]>')
    module = parse(check(text, "bf16", 32, 32, 512, "heuristic", epilogue=True))
    (linear,) = (op.linear for op in module.walk() if isinstance(op, ProgramOp))
    (stay,) = stays([*linear.body.block.ops])
    assert stay.zeros is not None
    assert stay.loop is not None
    assert not [*uncovered(linear.body.block, CellNumbers())]


@pytest.mark.parametrize(
    ("features", "rows", "dims"),
    [
        (["amx-bf16"], 4, None),
        (["amx-bf16"], 8, "32x32x32"),
        (["avx512bf16"], 1, None),
        (["avx512bf16"], 8, "8x32x2"),
        (["amx-bf16", "avx512bf16"], 4, "8x32x2"),
        (["amx-bf16", "avx512bf16"], 1, None),
        (["amx-bf16", "avx512bf16"], 8, "32x32x32"),
        (["avx512f"], 8, None),
    ],
)
def test_blocks_of_few_rows(features, rows, dims):
    """Where most of a block would be padding, smaller blocks or vectors compute the product."""
    text = product("cpu", "bf16", rows, 32, 64, widened=True)
    named = ", ".join(f'"{feature}"' for feature in (*features, "avx512f"))
    text = text.replace('<"cpu">', f'<"cpu", features = [{named}]>')
    found = check(text, "bf16", rows, 32, 64, "heuristic", stages=2)
    assert {*re.findall(r"tg.wmma .* config <([^,]*)", found)} == ({dims} if dims else set())
