"""The compilers of all languages take what we print without a warning: examples, random programs,
matrix products, and functions that need helper functions.

A failure names the seed; CONTRIBUTING.md says how to try many.
"""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from compilers import COMPILERS
from example_files import EXAMPLES
from opencl_device import DEVICE, needs_opencl
from random_programs import random_program
from random_seeds import batches
from reproduced import check_program, raised
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

import tgdialect as tg
from tgdialect.diagnostics import SourceFile, parse_module
from tgdialect.lowering.render.source.builder import HELPERS
from tgdialect.registry import make_context

NO_F64 = "the target metal has no f64"
OF_THE_HOST = "runs on the host, and not on a device"
each_compiler = pytest.mark.parametrize("compiler", COMPILERS)


def parsed(text: str) -> ModuleOp:
    module = parse_module(make_context(), SourceFile("test", text, 1))
    module.verify()
    return module


def traced(
    function: Callable[..., tg.Tensor | Sequence[tg.Tensor]], *specs: tuple[tuple[int, ...], str]
) -> str:
    return tg.function(function).lower(*(tg.spec(*each) for each in specs)).as_text()


def check(
    compiler: str, module: ModuleOp, mode: str = "heuristic", refusals: Sequence[str] = ()
) -> None:
    """Whether the compiler takes a program, which may be refused before for one of some reasons."""
    try:
        text = COMPILERS[compiler].text(module, mode)
    except PassFailedException as error:
        if not any(reason in str(error) for reason in refusals):
            raise
    else:
        COMPILERS[compiler].check(text)


@pytest.mark.sampled(20)
@each_compiler
@pytest.mark.parametrize("mode", ["none", "heuristic"])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples(example: Path, mode: str, compiler: str):
    # A decoder of the host: functions that launch kernels cannot pass it memory of the device.
    check(compiler, parsed(example.read_text()), mode, (OF_THE_HOST,))


@pytest.mark.sampled(28)
@each_compiler
@pytest.mark.parametrize("seeds", batches("TG_RANDOM_SOURCES", 100), ids=str)
def test_random_programs(seeds: range, compiler: str):
    for seed in seeds:
        module = random_program(seed, seed % 14 + 1).module
        mode = "none" if seed % 3 == 2 else "heuristic"

        def judge(module: ModuleOp, _: object, mode: str = mode) -> None:
            # A program that only copies has no kernel.
            check(compiler, module, mode, (NO_F64, "the module has no program"))

        made = f"random_program({seed}, {seed % 14 + 1}) for {compiler}"
        check_program(raised(judge), made, module, again=f"tg-opt -p 'tg-to-source{{mode={mode}}}'")


FACTORS = {
    "float16": (None, "float32"),
    "bfloat16": (None, "float32"),
    "float32": (None,),
    "float64": (None,),
    "int8": (None, "int32"),
    "fp8e4m3": ("float32",),
}
"""The dtypes of factors, and those of sums: None if it is that of the factors."""
SHAPES = (128, 64, 96), (45, 37, 51), (64, 128, 64)
PRODUCTS = [
    (mode, dtype, sums, shape)
    for dtype, accumulators in FACTORS.items()
    for sums, shape in product(accumulators, SHAPES)
    for mode in ("heuristic", "heuristic:tf32")
    if mode == "heuristic" or dtype == "float32"
]


def product_of(dtype: str, sums: str | None, shape: tuple[int, int, int]) -> str:
    m, k, n = shape
    return traced(lambda a, b: a.matmul(b, dtype=sums), ((m, k), dtype), ((k, n), dtype))


@pytest.mark.parametrize(
    "case",
    [
        case
        if case[1:] == ("float16", None, SHAPES[0])
        else pytest.param(case, marks=pytest.mark.slow)
        for case in PRODUCTS
    ],
    ids=str,
)
@each_compiler
def test_products(case: tuple[str, str, str | None, tuple[int, int, int]], compiler: str):
    mode, *product = case
    check(compiler, parsed(product_of(*product)), mode, (NO_F64,) * (product[0] == "float64"))


@pytest.mark.sampled(12)
@needs_opencl
@pytest.mark.parametrize("case", PRODUCTS, ids=str)
def test_products_on_opencl(case: tuple[str, str, str | None, tuple[int, int, int]]):
    """Texts that clang takes for OpenCL C run on PoCL: small integers, whose products are exact."""
    mode, dtype, sums, (m, k, n) = case
    random = np.random.default_rng(0)
    a, b = (random.integers(-1, 2, shape) for shape in ((m, k), (k, n)))
    kinds = (tg.Tensor(each).cast(dtype).numpy() for each in (a, b))
    found = tg.compile(product_of(dtype, sums, (m, k, n)), target=DEVICE, opt=mode)(*kinds)
    np.testing.assert_array_equal(found.astype(np.float64), a @ b)


FUNCTIONS = {
    "sort": (lambda x: x.sort(-1)[0], ("int32", "float16")),
    "index_add": (lambda x: x.index_add(0, tg.Tensor.arange(16) % 3, x), ("int64", "uint8")),
    "mod": (lambda x: x % 3, ("int64", "uint8")),
    "narrow": (lambda x: x.cast("float16") * 2 + x.cast("bfloat16"), ("int32", "int64")),
    "cos": (lambda x: x.cos() + x.tan() + x.asin(), ("float32", "float16")),
    "conversions": (lambda x: x.cast("int8").cast("fp8e4m3").cast("int64"), ("float32",)),
}


@pytest.mark.sampled(15)
@each_compiler
@pytest.mark.parametrize(
    ("name", "dtype"), [(name, dtype) for name, (_, kinds) in FUNCTIONS.items() for dtype in kinds]
)
def test_functions(name: str, dtype: str, compiler: str):
    check(compiler, parsed(traced(FUNCTIONS[name][0], ((16, 16), dtype))))


@pytest.mark.parametrize(
    "compiler", {each.language: name for name, each in COMPILERS.items()}.values()
)
def test_numbers_that_are_not_finite(compiler: str):
    """Infinities and NaN as numbers of a kernel, in each language."""

    def numbers(x: tg.Tensor) -> list[tg.Tensor]:
        return [
            tg.Tensor.full(x.shape, value, dtype=dtype)
            for dtype in ("float16", "bfloat16", "float32", "fp8e5m2")
            for value in (math.inf, -math.inf, math.nan)
        ]

    check(compiler, parsed(traced(numbers, ((8,), "int32"))))


def test_metals_header_rejects_what_metal_rejects():
    """Pointers to another address space, f64, and calls without an overload of their types."""
    judge, head = COMPILERS["clang for Metal"], "#include <metal_stdlib>\nusing namespace metal;\n"
    body = "{head}kernel void k(device float *x, constant long &n) {{ {statement} }}"
    judge.check(body.format(head=head, statement="x[n] = max(1, 2) + sqrt(x[0]);"))
    for statement in (
        "x[n] = (float)(double)x[n];",
        "x[n] = max(n, 1);",
        "x[n] = sqrt(n);",
        "float *y = x; y[n] = 0.0f;",
        "x[n] = as_type<float>(n);",
    ):
        with pytest.raises(AssertionError, match="error:"):
            judge.check(body.format(head=head, statement=statement))


def test_atomic_sums_of_64_bits_by_words(tmp_path: Path):
    """Metal's helper, as C++: threads add numbers whose lower words overflow."""
    if (compiler := COMPILERS["clang"].path) is None:
        pytest.skip("clang is not installed")
    helper = HELPERS["atomic_add_words"].substitute(name="add", T="int64_t", U="uint64_t", space="")
    file = tmp_path / "words.cpp"
    file.write_text(f"""
    #include <atomic>
    #include <cstdint>
    #include <cstdio>
    #include <thread>
    #include <vector>
    using namespace std;
    using uint = unsigned;
    {helper}
    int main() {{
      alignas(8) int64_t sum = 0, expected = 0;
      vector<thread> threads;
      for (int t = 0; t < 4; t++)
        threads.emplace_back([&sum, t] {{
          for (int64_t i = 0; i < 20000; i++) add(&sum, (i - 9000) * (t + 1) * 0x7fffffffLL);
        }});
      for (auto &each : threads) each.join();
      for (int t = 0; t < 4; t++)
        for (int64_t i = 0; i < 20000; i++) expected += (i - 9000) * (t + 1) * 0x7fffffffLL;
      printf("%s", sum == expected ? "equal" : "different");
    }}""")
    program = tmp_path / "words"
    command = [compiler, "-x", "c++", "-std=c++17", "-O1", "-pthread", file, "-o", program]
    subprocess.run([*command, "-lstdc++"], check=True)
    assert subprocess.run([program], capture_output=True, text=True).stdout == "equal"
