"""Inner loops of kernels for AArch64, judged without one: by what they hold, and by llvm-mca."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import pytest
from parsing import parse_module

import tgdialect as tg
from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.backends.llvm_ir import llvm_ir
from tgdialect.lowering.pipeline import run_stages, stages
from tgdialect.targets import target_named
from tgdialect.targets.attribute import state_target

MCA = shutil.which("llvm-mca-19")
PER_CYCLE = {"neoverse-n1": 2, "neoverse-v1": 4, "apple-m1": 3}
"""Processors, and the operations on vectors that each starts in a cycle by LLVM's model of it."""

BLOCK = re.compile(r"\n(?=\.LBB\w+:)")
ARITHMETIC = re.compile(r"\s(?:fmla|fmls|fadd|fsub|fmul|fmaxnm|fmax)\s+v")
MOVES = re.compile(r"\smov\s+v|\[(?:sp|x29)\b")
"""Copies of vectors, and accesses of the stack."""


class Case(NamedTuple):
    function: Callable[..., Any]
    shapes: Sequence[tuple[int, ...]]
    least: float
    """The part of PER_CYCLE that the loop reaches at least. LLVM's model of the M1 has a
    multiply-accumulate take 8 cycles, so that 14 accumulators reach 0.58 of it."""


CASES = {
    "product": Case(lambda a, b: a @ b, ((240, 512), (512, 192)), 0.7),
    "product of few columns": Case(lambda a, b: a @ b, ((128, 200), (200, 96)), 0.6),
    "product that is packed": Case(lambda a, b: a @ b, ((196, 1024), (1024, 256)), 0.55),
    "product by a transpose": Case(lambda a, b: a @ b.T, ((64, 1024), (256, 1024)), 0.8),
    "convolution": Case(
        lambda x, w: x.conv2d(w, padding=1), ((1, 64, 56, 56), (64, 64, 3, 3)), 0.8
    ),
    "matrix by vector": Case(lambda a, b: a @ b, ((512, 1024), (1024,)), 0.45),
    # Two vectors are loaded for each multiply-accumulate.
    "dot product": Case(lambda a, b: (a * b).sum(), ((4096,), (4096,)), 0.35),
    # A step of Horner's rule copies its coefficient, since fmla overwrites its addend.
    "exponential": Case(lambda a: a.exp(), ((4096,),), 0.35),
}


@cache
def inner_loop(name: str, chip: str) -> str:
    """Of the blocks of a program's assembly, the one of most arithmetic."""
    case = CASES[name]
    return loop_of(case.function, [tg.spec(shape) for shape in case.shapes], chip)


def loop_of(function: Callable[..., Any], specs: Sequence[Any], chip: str) -> str:
    module = parse_module(tg.function(function).lower(*specs).as_text())
    target = target_named("cpu", ["neon"])
    state_target(module, replace(target, threads=1, l1=64 << 10, l2=1 << 20, llc=16 << 20))
    run_stages(module, list(stages(mode="heuristic")))
    text = CpuTarget("aarch64-unknown-linux-gnu", chip).assembly(llvm_ir(module))
    blocks = (block.partition("\n")[2] for block in BLOCK.split(text)[1:])
    # A block without a label of its own, as what follows a loop, is of no interest.
    loops = [re.match(r"(?:(?!\tb\.)\t.*\n)*(?:\tb\..*\n)?", block) for block in blocks]
    return max((loop[0] for loop in loops if loop), key=lambda s: len(ARITHMETIC.findall(s)))


@pytest.mark.skipif(MCA is None, reason="needs llvm-mca-19, of Debian's llvm-19")
@pytest.mark.sampled(2)
@pytest.mark.parametrize("chip", PER_CYCLE)
@pytest.mark.parametrize("name", CASES)
def test_throughput(name: str, chip: str):
    assert MCA is not None
    loop, iterations = inner_loop(name, chip), 200
    arguments = [MCA, "-mtriple=aarch64", f"-mcpu={chip}", f"-iterations={iterations}"]
    text = loop.replace(".LBB", "loop")
    report = subprocess.run(arguments, input=text, text=True, capture_output=True, check=True)
    found = re.search(r"Total Cycles: +(\d+)", report.stdout)
    assert found is not None, report.stderr
    per_cycle = len(ARITHMETIC.findall(loop)) * iterations / int(found[1])
    assert per_cycle / PER_CYCLE[chip] > CASES[name].least, loop


@pytest.mark.parametrize("chip", PER_CYCLE)
@pytest.mark.parametrize("name", sorted(CASES.keys() - {"exponential"}))
def test_accumulators_stay_in_registers(name: str, chip: str):
    assert not MOVES.search(inner_loop(name, chip))


@pytest.mark.parametrize("seed", range(3))
def test_products_of_random_sizes(seed: int):
    """No tile has more accumulators and operands than there are registers."""
    rng = random.Random(seed)
    m, n = (rng.choice((rng.randint(2, 40), rng.randint(20, 300))) for _ in "mn")
    k = rng.randint(32, 512)
    dtype = rng.choice(("float32", "float64"))
    for function, *shapes in (
        (lambda a, b: a @ b, (m, k), (k, n)),
        (lambda a, b: a.T @ b, (k, m), (k, n)),
        (lambda a, b: a @ b.T, (m, k), (n, k)),
    ):
        loop = loop_of(function, [tg.spec(s, dtype) for s in shapes], rng.choice([*PER_CYCLE]))
        assert not MOVES.search(loop), (shapes, dtype)
