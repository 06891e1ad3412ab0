"""What rangeify decides for cost's sake never changes a result."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tgdialect as tg
from tgdialect.diagnostics import SourceFile, parse_module
from tgdialect.lowering.pipeline import run_stages, stages
from tgdialect.lowering.rangeify.kernel_parts import split_phases
from tgdialect.lowering.rangeify.planning.fusion import MAX_FUSED
from tgdialect.ops.call import KernelOp
from tgdialect.ops.elementwise import SinOp
from tgdialect.registry import make_context
from tgdialect.targets.costs import own_cost

EIGHT = "tensor<8xf32>"
NARROW = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}


def program(steps: list[str], result: str) -> str:
    """A function of %x0 whose last value is %result."""
    body = "\n".join(steps)
    return (
        f"func.func @main(%x0: {EIGHT}) -> {EIGHT} {{\n{body}\nfunc.return %{result} : {EIGHT}\n}}"
    )


def flips(n: int) -> str:
    """x + flip(x), n times over: 2^n paths from the result to x."""
    steps = [
        f"%f{i} = tg.flip %x{i} [true] : {EIGHT}\n%x{i + 1} = tg.add %x{i}, %f{i} : {EIGHT}"
        for i in range(n)
    ]
    return program(steps, f"x{n}")


def windows(n: int) -> str:
    """x + pad(shrink(x)), n times over, and then its maximum over the cells that are valid."""
    steps = [
        f"%s{i} = tg.shrink %x{i} at [1] to [6] : {EIGHT} -> tensor<6xf32>\n"
        f"%p{i} = tg.pad %s{i} at [1] to [8] : tensor<6xf32> -> {EIGHT}\n"
        f"%x{i + 1} = tg.add %x{i}, %p{i} : {EIGHT}"
        for i in range(n)
    ]
    steps.append(f"%m = tg.reduce max %x{n} [0] : {EIGHT} -> tensor<1xf32>")
    steps.append(f"%r = tg.expand %m [8] : tensor<1xf32> -> {EIGHT}")
    return program(steps, "r")


@pytest.mark.parametrize("target", ["interpreter", "cpu"])
def test_many_views_of_one_value(target: str):
    x = np.arange(8, dtype=np.float32)
    result = tg.compile(flips(30), target=target)(x)
    np.testing.assert_array_equal(result, np.full(8, 7 * 2.0**29, np.float32))


@pytest.mark.parametrize("target", ["interpreter", "cpu"])
def test_many_views_of_one_value_with_invalid_cells(target: str):
    # Adding a padded value makes the ends invalid, so that the maximum is that of cells 1 to 6.
    x = -np.arange(1, 9, dtype=np.float32)
    result = tg.compile(windows(20), target=target)(x)
    np.testing.assert_array_equal(result, np.full(8, -2 * 2.0**20, np.float32))


@pytest.mark.parametrize("target", ["interpreter", "cpu"])
def test_deep_chains(target: str):
    steps = [f"%x{i + 1} = tg.neg %x{i} : {EIGHT}" for i in range(2001)]
    x = np.arange(8, dtype=np.float32)
    np.testing.assert_array_equal(tg.compile(program(steps, "x2001"), target=target)(x), -x)


def test_a_long_kernel_is_split():
    """A kernel computes MAX_FUSED operations on an element at most; equal parts are one kernel."""
    steps = [f"%x{i + 1} = tg.sin %x{i} : {EIGHT}" for i in range(150)]
    text = program(steps, "x150")
    module = parse_module(make_context(), SourceFile("test", text, 1))
    run_stages(module, stages().module)
    kernels = [op for op in module.ops if isinstance(op, KernelOp)]
    sines = [sum(isinstance(op, SinOp) for op in kernel.walk()) for kernel in kernels]
    assert len(kernels) < 150 / max(sines)
    assert all(count * own_cost(SinOp) <= MAX_FUSED for count in sines)
    x = np.linspace(-3, 3, 8, dtype=np.float32)
    expected = x.astype(np.float64)
    for _ in range(150):
        expected = np.sin(expected)
    np.testing.assert_allclose(tg.compile(text)(x), expected, rtol=1e-4)


@pytest.mark.parametrize("seed", range(12))
def test_narrow_reductions_of_repeated_values_round_once(seed: int):
    """A loop whose values are equal becomes arithmetic; what is left of the loops is in f32 too."""
    rng = np.random.default_rng(seed)
    name, dtype = list(NARROW.items())[seed % 4]
    kind = ("add", "mul")[seed // 4 % 2]
    rows, times = int(rng.integers(2, 6)), int(rng.integers(2, 9))
    t, wide, one = (f"tensor<{shape}x{name}>" for shape in (f"{rows}x1", f"{rows}x{times}", "1x1"))
    text = f"""func.func @main(%x: {t}) -> {one} {{
      %e = tg.expand %x [{rows}, {times}] : {t} -> {wide}
      %r = tg.reduce {kind} %e [0, 1] : {wide} -> {one}
      return %r : {one}
    }}"""
    for target in ("interpreter", "cpu"):
        compiled = tg.compile(text, target=target)
        for _ in range(20):
            x = (rng.uniform(0.7, 1.3, (rows, 1)) * rng.choice([-1, 1])).astype(dtype)
            values = np.repeat(x.astype(np.float64), times)
            exact = values.sum() if kind == "add" else values.prod()
            if name == "f8E4M3FN":  # Conversions to it saturate.
                exact = np.clip(exact, -448, 448)
            rounded = {float(np.float64(exact * (1 + e)).astype(dtype)) for e in (-1e-5, 0, 1e-5)}
            assert float(compiled(x)[0, 0]) in rounded


SCATTER = """#g = #tg.place<global>
tg.kernel @k {
  %o = tg.param 0 : tensor<8xf32, #g>
  %i = tg.param 1 : tensor<8xindex, #g>
  %v = tg.param 2 : tensor<8xf32, #g>
  %c = tg.const 8 : tensor<index>
  %zero = tg.const 0.0 : tensor<f32>
  %a = tg.range 0 loop to %c : tensor<index>
  %ol = tg.index %o[%a] : (tensor<8xf32, #g>, tensor<index>) -> tensor<f32, #g>
  %s = tg.store %ol, %zero : tensor<f32, #g>, tensor<f32>
  %e = tg.end %s over %a : !tg.void
  %b = tg.range 1 reduce to %c : tensor<index>
  %il = tg.index %i[%b] : (tensor<8xindex, #g>, tensor<index>) -> tensor<index, #g>
  %at = tg.load %il : tensor<index, #g> -> tensor<index>
  %vl = tg.index %SOURCE[%b] : (tensor<8xf32, #g>, tensor<index>) -> tensor<f32, #g>
  %x = tg.load %vl : tensor<f32, #g> -> tensor<f32>
  %w = tg.after %o, %e : (tensor<8xf32, #g>, !tg.void) -> tensor<8xf32, #g>
  %cell = tg.index %w[%at] : (tensor<8xf32, #g>, tensor<index>) -> tensor<f32, #g>
  %add = tg.atomicadd %cell, %x : tensor<f32, #g>, tensor<f32>
  %f = tg.end %add over %b : !tg.void
  %sink = tg.sink %f : !tg.void
}"""


@pytest.mark.parametrize(("source", "count"), [("v", 2), ("o", 1)])
def test_phases_read_no_memory_as_it_was_before_them(source: str, count: int):
    """A second kernel would read what the first one has written."""
    text = SCATTER.replace("SOURCE", source)
    module = parse_module(make_context(), SourceFile("test", text, 1))
    kernel = module.body.block.first_op
    assert isinstance(kernel, KernelOp)
    assert len(split_phases(kernel)) == count


def counted(n: int, name: str) -> str:
    """%{name} = 1 to n, as sums of windows of ones, which have a closed form."""
    size, cells = 2 * n - 1, n * 2 * n
    return "\n".join(
        [
            f"%{name}_1 = tg.const 1 : tensor<i32>",
            f"%{name}_2 = tg.reshape %{name}_1 [1] : tensor<i32> -> tensor<1xi32>",
            f"%{name}_3 = tg.expand %{name}_2 [{n}] : tensor<1xi32> -> tensor<{n}xi32>",
            f"%{name}_4 = tg.pad %{name}_3 at [{n - 1}] to [{size}] : "
            f"tensor<{n}xi32> -> tensor<{size}xi32>",
            f"%{name}_5 = tg.reshape %{name}_4 [1, {size}] : "
            f"tensor<{size}xi32> -> tensor<1x{size}xi32>",
            f"%{name}_6 = tg.expand %{name}_5 [{n + 1}, {size}] : "
            f"tensor<1x{size}xi32> -> tensor<{n + 1}x{size}xi32>",
            f"%{name}_7 = tg.reshape %{name}_6 [{(n + 1) * size}] : "
            f"tensor<{n + 1}x{size}xi32> -> tensor<{(n + 1) * size}xi32>",
            f"%{name}_8 = tg.shrink %{name}_7 at [0] to [{cells}] : "
            f"tensor<{(n + 1) * size}xi32> -> tensor<{cells}xi32>",
            f"%{name}_9 = tg.reshape %{name}_8 [{n}, {2 * n}] : "
            f"tensor<{cells}xi32> -> tensor<{n}x{2 * n}xi32>",
            f"%{name}_10 = tg.shrink %{name}_9 at [0, 0] to [{n}, {n}] : "
            f"tensor<{n}x{2 * n}xi32> -> tensor<{n}x{n}xi32>",
            f"%{name}_11 = tg.reduce add %{name}_10 [1] : tensor<{n}x{n}xi32> -> tensor<{n}x1xi32>",
            f"%{name} = tg.reshape %{name}_11 [{n}] : tensor<{n}x1xi32> -> tensor<{n}xi32>",
        ]
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(8))
def test_closed_forms_are_used_at_any_index(seed: int) -> None:
    """Flipped, cut, padded, in rows and in columns, and summed up again."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    before, after, first = (int(rng.integers(0, 4)) for _ in range(3))
    m, kept = n + before + after, n - min(first, n - 1)
    first = n - kept
    text = f"""
func.func @main(%x: tensor<{m}x{kept}xi32>) -> (tensor<{m}x{kept}xi32>, tensor<{kept}xi32>) {{
{counted(n, "a")}
%padded = tg.pad %a at [{before}] to [{m}] fill -7 : i32 : tensor<{n}xi32> -> tensor<{m}xi32>
%flipped = tg.flip %a [true] : tensor<{n}xi32>
%cut = tg.shrink %flipped at [{first}] to [{kept}] : tensor<{n}xi32> -> tensor<{kept}xi32>
%rows = tg.reshape %padded [{m}, 1] : tensor<{m}xi32> -> tensor<{m}x1xi32>
%columns = tg.reshape %cut [1, {kept}] : tensor<{kept}xi32> -> tensor<1x{kept}xi32>
%table = tg.mul %rows, %columns
    : (tensor<{m}x1xi32>, tensor<1x{kept}xi32>) -> tensor<{m}x{kept}xi32>
%result = tg.add %x, %table : tensor<{m}x{kept}xi32>
%summed = tg.reduce add %table [0] : tensor<{m}x{kept}xi32> -> tensor<1x{kept}xi32>
%sums = tg.reshape %summed [{kept}] : tensor<1x{kept}xi32> -> tensor<{kept}xi32>
func.return %result, %sums : tensor<{m}x{kept}xi32>, tensor<{kept}xi32>
}}
"""
    x = rng.integers(-100, 100, (m, kept)).astype(np.int32)
    counts = np.arange(1, n + 1)
    padded = np.pad(counts, (before, after), constant_values=-7)
    table = np.outer(padded, counts[::-1][first:])
    result, sums = tg.compile(text)(x)
    np.testing.assert_array_equal(result, x + table)
    np.testing.assert_array_equal(sums, table.sum(0))
