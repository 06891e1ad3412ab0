"""Masked loads with constant masks for NVPTX: LLVM 22 ends the process for some
(`backends/masked_accesses.py`)."""

from __future__ import annotations

import ctypes
import itertools

import llvmlite.binding as llvm
import numpy as np

from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.backends.llvm_machine import Machine
from tgdialect.backends.masked_accesses import without_constant_loads
from tgdialect.runtime.loader import load

TYPES = {"i8": np.uint8, "i32": np.int32, "i64": np.int64, "float": np.float32, "half": np.float16}
LANES = (2, 3, 4, 5, 8, 16)


def _masks(lanes: int) -> list[str]:
    """No lane, all, the first half and less, one, and every other one."""
    half, one = lanes // 2, lanes // 3
    bits = (
        [i < half for i in range(lanes)],
        [i < half - 1 for i in range(lanes)],
        [i == one for i in range(lanes)],
        [i % 2 == 0 for i in range(lanes)],
    )
    lists = [f"<{', '.join(f'i1 {str(bit).lower()}' for bit in each)}>" for each in bits]
    return ["zeroinitializer", "splat (i1 true)", *lists]


CASES = [
    (type, n, mask, other)
    for type, n in itertools.product(TYPES, LANES)
    for mask in _masks(n)
    for other in ("poison", "zeroinitializer", "%o")
]


def _module(space: str) -> str:
    pointer = f"ptr{space}"
    lines = [
        f"declare <{n} x {t}> @llvm.masked.load.v{n}{_short(t)}.p{1 if space else 0}"
        f"({pointer}, i32, <{n} x i1>, <{n} x {t}>)"
        for t, n in itertools.product(TYPES, LANES)
    ]
    for i, (t, n, mask, other) in enumerate(CASES):
        v = f"<{n} x {t}>"
        lines.append(
            f"""define void @f{i}({pointer} %x, {pointer} %d, {pointer} %y) {{
  %o = load {v}, {pointer} %d, align 1
  %v = call {v} @llvm.masked.load.v{n}{_short(t)}.p{1 if space else 0}({pointer} %x, i32 1,
    <{n} x i1> {mask}, {v} {other})
  store {v} %v, {pointer} %y, align 1
  ret void
}}"""
        )
    return "\n".join(lines)


def _short(type: str) -> str:
    return {"float": "f32", "half": "f16"}.get(type, type)


def test_every_mask_is_compiled() -> None:
    text = Machine("nvptx64-nvidia-cuda", "sm_90", "+ptx78").assembly(_module(" addrspace(1)"))
    assert text.count(".func") >= len(CASES)


def test_a_constant_address_is_compiled() -> None:
    """As of a part of a LOCAL buffer, which has spaces in it, in a load with metadata."""
    text = """@b = internal addrspace(3) global [64 x i8] zeroinitializer
declare <5 x i8> @llvm.masked.load.v5i8.p3(ptr addrspace(3), i32, <5 x i1>, <5 x i8>)
define void @f(ptr addrspace(1) %y) {
  %v = call <5 x i8> @llvm.masked.load.v5i8.p3(
    ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @b, i64 5), i32 1,
    <5 x i1> <i1 true, i1 true, i1 false, i1 false, i1 false>,
    <5 x i8> zeroinitializer), !noalias !0
  store <5 x i8> %v, ptr addrspace(1) %y, align 1
  ret void
}
!0 = !{!1}
!1 = distinct !{!1, !2}
!2 = distinct !{!2}"""
    module = llvm.parse_assembly(text)
    module.triple = "nvptx64-nvidia-cuda"
    assert "= load i8, ptr addrspace(3)" in str(without_constant_loads(module))


def test_lanes_of_the_mask_are_loaded() -> None:
    """The rewritten functions, on this machine."""
    module = llvm.parse_assembly(_module(""))
    module.triple = "nvptx64-nvidia-cuda"
    module = without_constant_loads(module)
    assert " call " not in str(module)
    module.triple = ""
    code = load(CpuTarget.host().object_code(str(module)))
    random = np.random.default_rng(0)
    for i, (type, lanes, mask, other) in enumerate(CASES):
        x, o = random.integers(1, 100, (2, lanes)).astype(TYPES[type])
        if "zero" in mask or "splat" in mask:
            bits = np.full(lanes, "true" in mask)
        else:
            bits = np.array(["true" in lane for lane in mask.split(",")])
        found = np.empty_like(x)
        function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(code.address(f"f{i}"))
        function(x.ctypes.data, o.ctypes.data, found.ctypes.data)
        expected = np.where(bits, x, {"poison": found, "%o": o}.get(other, 0))
        np.testing.assert_array_equal(found, expected, f"{type}, {mask}, {other}")
