"""GEMMs and a convolution by matrix instructions: against NumPy at level `linear`, and by ptxas."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

import ml_dtypes
import numpy as np
import pytest
from ptxas import assemble, needs_ptxas
from random_seeds import batches
from test_device_code import emitted
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

import tgdialect as tg
from tgdialect.backends.asm import PtxTarget
from tgdialect.diagnostics import SourceFile, parse_module
from tgdialect.interpreter import run
from tgdialect.lowering.pipeline import ToGpuPass, stages
from tgdialect.ops.attributes import WmmaAttr
from tgdialect.ops.codegen import BarrierOp, InsOp, ProgramOp, SpecialOp, WmmaOp
from tgdialect.registry import make_context
from tgdialect.targets import target_named
from tgdialect.targets.instructions import TO_TF32
from tgdialect.targets.matrix import matrix_instructions

TARGET, HOPPER = "nvidia:sm_90", "nvidia:sm_90a"
"""With `mma.sync` of one warp; also with `wgmma` of four, which reads LOCAL memory by itself."""
F16, F8 = np.float16, ml_dtypes.float8_e4m3fn


def _multiply(a: tg.Tensor, b: tg.Tensor) -> tg.Tensor:
    return a.matmul(b, dtype="float32")


PRODUCTS = {
    "plain": (_multiply, (128, 64), (64, 64)),
    "blocks of steps": (_multiply, (128, 256), (256, 128)),
    "ragged blocks": (_multiply, (145, 203), (203, 77)),
    "transposed blocks": (lambda a, b: _multiply(a, b.transpose(0, 1)), (64, 128), (96, 128)),
    "batched blocks": (_multiply, (3, 64, 96), (3, 96, 64)),
    "batched": (_multiply, (2, 32, 32), (2, 32, 16)),
    "transposed a": (lambda a, b: _multiply(a.transpose(0, 1), b), (48, 64), (48, 32)),
    "transposed b": (lambda a, b: _multiply(a, b.transpose(0, 1)), (64, 48), (32, 48)),
    "ragged": (_multiply, (45, 37), (37, 51)),
    "fragments of fp8": (_multiply, (64, 128), (128, 64)),
    "more fragments of fp8": (_multiply, (128, 128), (128, 128)),
    "convolution": (lambda x, w: x.conv2d(w, dtype="float32"), (1, 16, 10, 34), (32, 16, 3, 3)),
}


def _expected(name: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a, b = a.astype(np.float64), b.astype(np.float64)
    if name == "convolution":
        windows = np.lib.stride_tricks.sliding_window_view(a, (3, 3), (2, 3))
        return np.einsum("nchwij,ocij->nohw", windows, b)
    return {
        "transposed a": lambda: a.T @ b,
        "columns": lambda: a.T @ b,
        "rows": lambda: a @ b.T,
        "rows of fp8": lambda: a @ b.T,
        "columns and rows": lambda: a.T @ b.T,
        "padded columns and rows": lambda: a.T @ b.T,
        "transposed b": lambda: a @ b.T,
        "transposed blocks": lambda: a @ b.T,
    }.get(name, lambda: a @ b)()


def _configs(module: ModuleOp) -> set[WmmaAttr]:
    """The shapes of the matrix instructions of a program, WMMA or INS."""
    ops = (op for op in module.walk() if isinstance(op, WmmaOp | InsOp))
    return {op.config for op in ops if op.config is not None}


def _dtype(name: str) -> type[np.generic]:
    return F8 if name.endswith("fp8") else F16


def _traced(name: str) -> ModuleOp:
    function, *shapes = PRODUCTS[name]
    specs = [tg.spec(shape, "fp8e4m3" if _dtype(name) is F8 else "float16") for shape in shapes]
    text = tg.function(function).lower(*specs).as_text()
    return parse_module(make_context(), SourceFile("test", text, 1))


IN_LOCAL_MEMORY = {
    "rows and columns": (_multiply, (128, 128), (128, 128)),
    "rows": (lambda a, b: _multiply(a, b.transpose(0, 1)), (64, 192), (64, 192)),
    "columns": (lambda a, b: _multiply(a.transpose(0, 1), b), (128, 250), (128, 64)),
    "columns and rows": (
        lambda a, b: _multiply(a.transpose(0, 1), b.transpose(0, 1)),
        *((128, 128), (60, 128)),
    ),
    "batches": (_multiply, (2, 64, 64), (2, 64, 64)),
    "padded": (_multiply, (120, 184), (184, 120)),
    "padded columns and rows": (
        lambda a, b: _multiply(a.transpose(0, 1), b.transpose(0, 1)),
        *((248, 120), (120, 248)),
    ),
    "odd steps": (_multiply, (64, 121), (121, 64)),
    "rows of fp8": (lambda a, b: _multiply(a, b.transpose(0, 1)), (120, 240), (64, 240)),
}
"""Products whose rows of A and columns of B lie along either axis, for `wgmma` and `ldmatrix`;
padded ones, too, whose copies are gated."""
CASES = [
    *((name, TARGET) for name in PRODUCTS),
    *((name, HOPPER) for name in ("blocks of steps", "transposed blocks", "ragged blocks")),
    *((name, HOPPER) for name in IN_LOCAL_MEMORY),
    *((name, TARGET) for name in IN_LOCAL_MEMORY),
]
PRODUCTS |= IN_LOCAL_MEMORY
OF_WARPS = ("plain", "transposed blocks", "batched blocks")
"""Products that are made of tiles of `ldmatrix`, but not of `wgmma`."""


def _instruction(name: str, target: str) -> str:
    """What computes a product. Those that are ragged or too small do not read LOCAL memory."""
    if name not in (*IN_LOCAL_MEMORY, *OF_WARPS, "blocks of steps"):
        return "mma.sync"
    return "wgmma" if target == HOPPER and name not in OF_WARPS else "ldmatrix"


@pytest.mark.sampled(15)
@pytest.mark.parametrize(("name", "target"), CASES)
def test_products(name: str, target: str):
    module, random = _traced(name), np.random.default_rng(0)
    lowering = stages(target=target, mode="heuristic")
    for stage in replace(lowering, render=None):
        stage.lower(module)
    configs = _configs(module)
    expected = {"wgmma": (128, 2), "ldmatrix": (32, 2), "mma.sync": (32, 0)}
    found = {(config.threads, len(config.shared_shapes)) for config in configs}
    assert found == {expected[_instruction(name, target)]}
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    a, b = ((random.standard_normal(s) / 4).astype(_dtype(name)) for s in PRODUCTS[name][1:])
    (result,) = run(module, function.sym_name.data, [a, b])
    np.testing.assert_allclose(result, _expected(name, a, b), rtol=1e-5, atol=1e-5)


def test_steps_padded_twice():
    """The gates of TC stay what they are where PADTO clamps the loop over blocks."""
    text = tg.function(_multiply).lower(*(tg.spec(s, "float16") for s in ((64, 184), (184, 64))))
    module = parse_module(make_context(), SourceFile("test", text.as_text(), 1))
    known = matrix_instructions(target_named(HOPPER))
    index = next(i for i, each in enumerate(known) if each.name == "wgmma.m64n64k64.f16.kn")
    opts = (f"tc 2, {index}, 2, 1", "padto 2, 2", "order 2, 3")
    opts += ("stage 2, 2, local, swizzle", "stage 1, 2, local, swizzle")
    lowering = stages(target=HOPPER, mode="explicit", opts=opts)
    for stage in replace(lowering, render=None):
        stage.lower(module)
    random = np.random.default_rng(0)
    a, b = ((random.standard_normal(s) / 4).astype(F16) for s in ((64, 184), (184, 64)))
    (result,) = run(module, "main", [a, b])
    np.testing.assert_allclose(result, _expected("", a, b), rtol=2e-3, atol=2e-3)


def test_scattered_factors_are_not_staged():
    """The weights of a convolution have no neighbours along channels: they are loaded by the warps
    themselves, and nothing waits for copies of single cells."""
    module = _traced("convolution")
    lowering = stages(target=HOPPER, mode="heuristic")
    for stage in replace(lowering, render=None):
        stage.lower(module)
    assert _configs(module)
    assert not any(isinstance(op, BarrierOp) for op in module.walk())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("batch", [(), (2,)])
def test_parts_of_steps(batch: tuple[int, ...]):
    """A product with many steps for few results is computed in parts, which are added up."""
    shapes = (*batch, 64, 1024), (*batch, 1024, 64)
    text = tg.function(_multiply).lower(*(tg.spec(s, "float16") for s in shapes)).as_text()
    module = parse_module(make_context(), SourceFile("test", text, 1))
    lowering = stages(target=HOPPER, mode="heuristic")
    for stage in replace(lowering, render=None):
        stage.lower(module)
    assert sum(isinstance(op, ProgramOp) for op in module.ops) == 2
    assert {config.threads for config in _configs(module)} == {128}
    random = np.random.default_rng(0)
    a, b = ((random.standard_normal(s) / 4).astype(F16) for s in shapes)
    (result,) = run(module, "main", [a, b])
    np.testing.assert_allclose(result, _expected("", a, b), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("m", [250, 1020])
def test_ragged_register_tiles(m: int):
    """Without matrix instructions, rows and columns are padded to whole tiles of workgroups."""
    shapes = (m, 24), (24, 250)
    text = tg.function(lambda a, b: a.matmul(b)).lower(*(tg.spec(s, "float32") for s in shapes))
    module = parse_module(make_context(), SourceFile("test", text.as_text(), 1))
    lowering = stages(target="opencl", mode="heuristic")
    for stage in replace(lowering, render=None):
        stage.lower(module)
    axes = [str(op) for op in module.walk() if isinstance(op, SpecialOp)]
    assert sum("lidx" in axis for axis in axes) == 2
    random = np.random.default_rng(0)
    a, b = (random.standard_normal(s).astype(np.float32) for s in shapes)
    (result,) = run(module, "main", [a, b])
    np.testing.assert_allclose(result, a @ b, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_PRODUCTS", 3), ids=str)
def test_random_products(seeds: range):
    """Products of any sizes and orders, whose blocks are copied to LOCAL memory where that is
    legal, agree on each target with matrix instructions."""
    for seed in seeds:
        check_product(seed)


def _tf32(x: np.ndarray) -> np.ndarray:
    """Values of 11 bits, the nearest ones, with ties away from 0."""
    fraction, exponent = np.frexp(x.astype(np.float64))
    return np.ldexp(np.trunc(fraction * 2**11 + np.copysign(0.5, fraction)), exponent - 11)


def check_product(seed: int) -> None:
    choose, random = Random(seed), np.random.default_rng(seed)
    m, n = (choose.choice((16, 33, 48, 60, 64, 80, 120, 123, 128)) for _ in range(2))
    k = choose.choice((32, 64, 72, 96, 100, 120, 123, 128, 160, 184, 188))
    batch = choose.choice(((), (), (3,)))
    flips = choose.random() < 0.4, choose.random() < 0.4
    has_bias = choose.random() < 0.4
    target = choose.choice(("nvidia:sm_80", TARGET, HOPPER, "amd:gfx942", "amd:gfx1100"))
    dtype, mode = choose.choice((("float16", "heuristic"),) * 3 + (("float32", "heuristic:tf32"),))
    shapes = [
        (*batch, *size[:: -1 if flip else 1])
        for size, flip in zip(((m, k), (k, n)), flips, strict=True)
    ]

    def f(a: tg.Tensor, b: tg.Tensor, c: tg.Tensor) -> tg.Tensor:
        a, b = (x.transpose(-1, -2) if flip else x for x, flip in zip((a, b), flips, strict=True))
        product = _multiply(a, b)
        return (product + c).relu() if has_bias else product

    specs = [*(tg.spec(shape, dtype) for shape in shapes), tg.spec((n,), "float32")]
    text = tg.function(f).lower(*specs).as_text()
    module = parse_module(make_context(), SourceFile("test", text, 1))
    lowering = stages(target=target, mode=mode)
    for stage in replace(lowering, render=None):
        stage.lower(module)
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    a, b = ((random.standard_normal(s) / 4).astype(dtype) for s in shapes)
    c = random.standard_normal(n).astype(np.float32)
    (result,) = run(module, function.sym_name.data, [a, b, c])
    if any(op.instruction == TO_TF32 for op in module.walk() if isinstance(op, InsOp)):
        a, b = _tf32(a), _tf32(b)
    wide = [np.swapaxes(x, -1, -2) if flip else x for x, flip in zip((a, b), flips, strict=True)]
    expected = wide[0].astype(np.float64) @ wide[1].astype(np.float64)
    expected = np.maximum(expected + c, 0) if has_bias else expected
    # WMMA does not round products to the dtype of their factors, as other kernels do.
    exact = dtype == "float32" or bool(_configs(module))
    tolerance = 1e-5 if exact else 2e-3
    np.testing.assert_allclose(result, expected, tolerance, tolerance, err_msg=f"seed {seed}")


@pytest.mark.sampled(12)
@needs_ptxas
@pytest.mark.parametrize(("name", "target"), CASES)
def test_ptxas(name: str, target: str):
    module = _traced(name)
    ToGpuPass(target=target, mode="heuristic").lower(module)
    ptx = emitted(PtxTarget(), module)
    assert {*re.findall(r"wgmma|ldmatrix|mma\.sync", ptx)} >= {_instruction(name, target)}
    assert ("ldmatrix" in ptx) == (_instruction(name, target) == "ldmatrix")
    report = assemble(ptx, target.partition(":")[2])
    assert max(map(int, re.findall(r"Used (\d+) registers", report))) <= 255
    assert {*re.findall(r"(\d+) bytes spill", report)} == {"0"}
