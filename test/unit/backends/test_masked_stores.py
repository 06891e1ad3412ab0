"""Masked stores of truncated vectors write the lanes of their masks and nothing else.

LLVM 22 stores too much where the mask is a constant with one lane (`backends/masked_accesses.py`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.runtime.loader import load

HOST = CpuTarget.host()
TRUNCATIONS = ((16, 8), (32, 8), (64, 8), (32, 16), (64, 16), (64, 32))
WIDTHS = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64)
WITHOUT = {
    "all": (),
    "no BW": ("avx512bw", "avx512vbmi", "avx512vbmi2", "avx512bitalg"),
    "no VL": ("avx512vl", "avx512vnni", "avx512bf16", "avx512bitalg", "avx512vbmi2"),
    "AVX2": tuple(f[1:] for f in HOST.features.split(",") if f.startswith("+avx512")),
}
"""What a processor does not have of what this one has."""

JUNK = 0xA5
BEHIND = 64
"""Bytes behind a vector that have to stay as they are."""


def _masks(lanes: int) -> Iterator[list[bool]]:
    """Masks of one lane, of all but one, and of the first half and one more."""
    for lane in {0, lanes // 2, lanes - 1}:
        yield [i == lane for i in range(lanes)]
    yield [i < lanes - 1 for i in range(lanes)]
    yield [i <= lanes // 2 for i in range(lanes)]


CASES = [(bits, lanes, mask) for bits in TRUNCATIONS for lanes in WIDTHS for mask in _masks(lanes)]


def _function(name: str, bits: tuple[int, int], lanes: int, mask: list[bool]) -> str:
    old, new = (f"<{lanes} x i{width}>" for width in bits)
    numbers = ", ".join(f"i1 {int(bit)}" for bit in mask)
    return f"""define void @{name}(ptr %x, ptr %y) {{
  %v = load {old}, ptr %x, align 1
  %t = trunc {old} %v to {new}
  call void @llvm.masked.store.v{lanes}i{bits[1]}.p0({new} %t, ptr %y, i32 1,
    <{lanes} x i1> <{numbers}>)
  ret void
}}"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("without", WITHOUT)
def test_only_lanes_of_the_mask_are_written(without: str) -> None:
    features = HOST.features.split(",")
    off = [f"-{name}" for name in WITHOUT[without] if f"+{name}" in features]
    kept = [f for f in features if f"-{f[1:]}" not in off]
    target = replace(HOST, cpu="x86-64" if off else HOST.cpu, features=",".join([*kept, *off]))
    declared = {
        f"declare void @llvm.masked.store.v{n}i{b}.p0(<{n} x i{b}>, ptr, i32, <{n} x i1>)"
        for (_, b), n, _ in CASES
    }
    functions = [_function(f"f{i}", *case) for i, case in enumerate(CASES)]
    code = load(target.object_code("\n".join([*functions, *declared])))
    random = np.random.default_rng(0)
    for i, ((old, new), lanes, mask) in enumerate(CASES):
        values = random.integers(0, 256, lanes * old // 8, dtype=np.uint8)
        size = lanes * new // 8
        result = np.full(size + BEHIND, JUNK, np.uint8)
        expected = result.copy()
        low = values.reshape(lanes, old // 8)[:, : new // 8]
        expected[:size].reshape(lanes, new // 8)[mask] = low[mask]
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(code.address(f"f{i}"))
        function(values.ctypes.data, result.ctypes.data)
        np.testing.assert_array_equal(result, expected, f"i{old} to i{new}, {mask}")
