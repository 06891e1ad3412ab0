"""Reductions of rows by the work items of warps, which exchange their parts by shuffles.

The interpreter runs them at level `linear` in both of its ways, the cpu as loops, and ptxas and
`mlir-opt` judge what is rendered. A failure names the seed.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from random import Random

import numpy as np
import pytest
from ptxas import assemble, needs_ptxas
from random_seeds import batches
from test_device_code import MLIR_OPT, emitted, needs_mlir, printed
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.dialects.func import FuncOp

import tgdialect as tg
from tgdialect.backends.asm import AmdgcnTarget, PtxTarget
from tgdialect.diagnostics import SourceFile, parse_module
from tgdialect.interpreter import run
from tgdialect.lowering.levels import LoweringPass
from tgdialect.lowering.optimize.axes import Axes
from tgdialect.lowering.optimize.optops.apply import begin_schedule, opt, try_opt
from tgdialect.lowering.pipeline import ToGpuPass, run_stages, stages
from tgdialect.ops.attributes import AxisType, OptAttr, OptOp
from tgdialect.ops.call import KernelOp
from tgdialect.ops.codegen import BarrierOp, ShuffleOp
from tgdialect.registry import make_context
from tgdialect.transforms.simplify import simplify

WARPS = {"nvidia:sm_90": 32, "amd:gfx942": 64, "amd:gfx1100": 32, "metal": 32}
"""The targets with shuffles, and the work items of a warp."""

DTYPES = {
    **{f"float{bits}": np.dtype(f"f{bits // 8}") for bits in (16, 32, 64)},
    **{f"int{bits}": np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": np.dtype(f"u{bits // 8}") for bits in (8, 32, 64)},
    "bool": np.dtype(bool),
}
KINDS = ("sum", "max", "min", "prod", "argmax", "any", "softmax", "mean")
SCALAR_ELEMENTS = 150
"""The most elements for which the slower of the interpreter's ways is tried as well."""
FLOATS_ONLY = ("softmax", "mean")


def reduction(kind: str):
    def f(x: tg.Tensor) -> tg.Tensor:
        if kind == "softmax":
            return x.softmax(-1)
        return getattr(x, kind)(-1)

    return f


def expected(kind: str, x: np.ndarray) -> np.ndarray:
    wide = x.astype(np.float64) if x.dtype.kind == "f" else x
    match kind:
        case "softmax":
            e = np.exp(wide - wide.max(-1, keepdims=True))
            return e / e.sum(-1, keepdims=True)
        case "any":
            return x.any(-1)
        case "sum" if x.dtype == bool:
            return x.sum(-1)
        case _:
            return getattr(wide, kind)(-1)


def module_of(kind: str, shape: tuple[int, int], dtype: str) -> ModuleOp:
    text = tg.function(reduction(kind)).lower(tg.spec(shape, dtype)).as_text()
    return parse_module(make_context(), SourceFile("test", text, 1))


@dataclass(frozen=True)
class ShareRows(LoweringPass):
    """Have `items` work items reduce a row, and a workgroup take `rows` of them."""

    name = "tg-optimize"
    level_before = level_after = "kernels"

    items: int
    rows: int

    def lower(self, module: ModuleOp) -> None:
        for kernel in [op for op in module.ops if isinstance(op, KernelOp)]:
            kernel.sink.opts = ArrayAttr[OptAttr]([])
            axes = Axes(kernel)
            begin_schedule(axes)
            for axis, range in list(axes.ranges.items()):
                if range.axis_type.data is AxisType.REDUCE:
                    kind, factor = AxisType.GROUP_REDUCE, self.items
                else:
                    kind, factor = AxisType.LOCAL, self.rows
                if factor > 1:
                    try_opt(axes, opt(OptOp.SPLIT, axis, factor, kind.value))
        simplify(module)


def lowered(module: ModuleOp, target: str, share: ShareRows) -> ModuleOp:
    """A copy of a module at level `linear`."""
    module = module.clone()
    lowering = stages(target=target, mode="explicit")
    run_stages(module, (*lowering.module, share, *lowering.kernels))
    module.verify()
    return module


def values(random: np.random.Generator, shape: tuple[int, int], dtype: str) -> np.ndarray:
    if dtype == "bool":
        return random.random(shape) < 0.1
    if dtype.startswith("float"):
        return random.choice([0.5, 1, 1.5, -1, 2, -0.25, -0.0], shape).astype(DTYPES[dtype])
    info = np.iinfo(DTYPES[dtype])
    return random.integers(info.min, info.max, shape, DTYPES[dtype], endpoint=True)


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_WARPS", 4), ids=str)
def test_random_reductions(seeds: range):
    """Rows by any number of work items, alone in a workgroup or several, of all dtypes, agree with
    NumPy. Those that are whole warps exchange parts by shuffles."""
    for seed in seeds:
        check_reduction(seed)


def check_reduction(seed: int) -> None:
    choose, random = Random(seed), np.random.default_rng(seed)
    target = choose.choice(list(WARPS))
    dtype = choose.choice(list(DTYPES))
    kind = choose.choice([k for k in KINDS[:-2] if dtype != "bool" or k in ("any", "max")])
    items = choose.choice((2, 4, 8, 12, 16, 24, 32, 64, 96, 128, 256))
    rows = choose.choice((1, 2, 4, 6)) if items <= 64 else 1
    shape = rows * choose.choice((1, 3)), items * choose.choice((1, 2, 5))
    x = values(random, shape, dtype)
    if kind == "prod":
        x[:, 3:] = 1
    module = module_of(kind, shape, dtype)
    name = next(op for op in module.ops if isinstance(op, FuncOp)).sym_name.data
    module = lowered(module, target, ShareRows(items, rows))
    (lanes,) = run(module, name, [x])
    (scalar,) = run(module, name, [x], scalar=True)
    wanted = expected(kind, x)
    np.testing.assert_allclose(
        lanes, wanted.astype(lanes.dtype), 1e-3, 1e-3, err_msg=f"seed {seed}"
    )
    np.testing.assert_array_equal(lanes, scalar, err_msg=f"seed {seed}")


def heuristic(kind: str, shape: tuple[int, int], dtype: str, target: str = "nvidia:sm_90"):
    module = module_of(kind, shape, dtype)
    run_stages(module, list(stages(target=target, mode="heuristic"))[:-1])
    return module


ROWS = [
    ("softmax", (8, 4096), "float32"),
    ("softmax", (4096, 1000), "float32"),
    ("softmax", (512, 257), "float16"),
    ("softmax", (4096, 49), "float32"),
    ("mean", (4096, 64), "float64"),
    ("argmax", (64, 640), "float32"),
    ("max", (4096, 96), "int8"),
    ("prod", (4096, 128), "uint64"),
    ("any", (4096, 96), "bool"),
]
"""Rows by a workgroup, a warp and a part of one; with and without padding."""


@needs_ptxas
@pytest.mark.parametrize(("kind", "shape", "dtype"), ROWS, ids=str)
def test_ptxas(kind: str, shape: tuple[int, int], dtype: str):
    """Registers hold the rows: nothing is spilled, and nothing is on the stack."""
    module = module_of(kind, shape, dtype)
    ToGpuPass(target="nvidia:sm_90", mode="heuristic").lower(module)
    ptx = emitted(PtxTarget(), module)
    assert "shfl.sync.bfly" in ptx
    report = assemble(ptx)
    for what in ("stack frame", "spill stores"):
        assert {*re.findall(rf"(\d+) bytes {what}", report)} == {"0"}


@needs_mlir
@pytest.mark.parametrize("target", ["nvidia:sm_90", "amd:gfx942"])
def test_upstream_reads_shuffles_and_loops_to_unroll(target: str):
    """`mlir-opt` reads what is rendered, and we read what it prints."""
    assert MLIR_OPT is not None
    module = module_of("softmax", (8, 4096), "float32")
    ToGpuPass(target=target, mode="heuristic").lower(module)
    args = ["--gpu-module-to-binary=format=isa"] * target.startswith("nvidia")
    text = printed(module)
    made = subprocess.run([MLIR_OPT, *args], input=text, capture_output=True, text=True, check=True)
    assert ("shfl.sync.bfly" if args else "rocdl.ds_bpermute") in made.stdout
    again = subprocess.run([MLIR_OPT], input=text, capture_output=True, text=True, check=True)
    module = parse_module(make_context(), SourceFile("test", again.stdout, 1))
    code = emitted(PtxTarget() if args else AmdgcnTarget(), module)
    assert ("shfl.sync.bfly" if args else "ds_bpermute_b32") in code


@pytest.mark.parametrize(
    ("kind", "shape", "dtype"),
    [("softmax", (8, 512), "float32"), ("softmax", (6, 200), "float16"), ("sum", (6, 257), "int8")],
    ids=str,
)
def test_rows_agree_as_loops_of_a_cpu_too(kind: str, shape: tuple[int, int], dtype: str):
    """A program for warps on the interpreter, and on the cpu, where shuffles are through memory."""
    x = values(np.random.default_rng(0), shape, dtype)
    module = heuristic(kind, shape, dtype)
    assert any(isinstance(op, ShuffleOp) for op in module.walk())
    name = next(op for op in module.ops if isinstance(op, FuncOp)).sym_name.data
    (result,) = run(module, name, [x])
    wanted = expected(kind, x).astype(result.dtype)
    np.testing.assert_allclose(result, wanted, 2e-3, 2e-3)
    del module.attributes["tg.target"]
    on_cpu = tg.compile(module, allow_custom=True)(x)
    np.testing.assert_allclose(on_cpu, wanted, 2e-3, 2e-3)


def test_rows_of_a_warp_need_no_barrier():
    module = heuristic("softmax", (4096, 1024), "float32")
    kinds = [type(op) for op in module.walk()]
    assert ShuffleOp in kinds
    assert BarrierOp not in kinds
