"""Masked loads of several registers on x86: LLVM 22 loads a register whose lanes are all off
(`backends/masked_accesses.py`)."""

from __future__ import annotations

import ctypes
import itertools

import numpy as np
import pytest
from executors import fenced

from tgdialect.backends.llvm_cpu import CpuTarget
from tgdialect.runtime.loader import load

TYPES = {"i8": "u1", "i16": "i2", "i32": "i4", "i64": "i8", "float": "f4", "double": "f8"}
SHORT = {"float": "f32", "double": "f64"}


@pytest.mark.parametrize("seed", range(4))
def test_registers_that_are_off_are_not_loaded(seed: int) -> None:
    """The memory ends behind the last lane that may be on, and begins with the first one."""
    random = np.random.default_rng(seed)
    lines, cases = list[str](), list[tuple[str, np.ndarray, bool]]()
    for i in range(60):
        type, lanes = str(random.choice([*TYPES])), int(random.choice([8, 12, 16, 20, 32, 64]))
        first, stop = sorted(random.integers(0, lanes + 1, 2))
        bits = (np.arange(lanes) >= first) & (np.arange(lanes) < stop)
        constant = f"<{', '.join(f'i1 {str(bool(bit)).lower()}' for bit in bits)}>"
        masks, vector = f"<{lanes} x i1>", f"<{lanes} x {type}>"
        is_and = bool(random.integers(2))
        form = f"and {masks} %s, {constant}"
        if not is_and:
            form = f"select i1 %c, {masks} {constant}, {masks} zeroinitializer"
        callee = f"@llvm.masked.load.v{lanes}{SHORT.get(type, type)}.p0"
        lines.append(
            f"""define void @f{i}(ptr %x, ptr %d, ptr %y, i64 %n) {{
  %c = icmp ult i64 %n, 16
  %e = insertelement {masks} poison, i1 %c, i64 0
  %s = shufflevector {masks} %e, {masks} poison, <{lanes} x i32> zeroinitializer
  %m = {form}
  %o = load {vector}, ptr %d, align 1
  %v = call {vector} {callee}(ptr align 1 %x, {masks} %m, {vector} %o)
  store {vector} %v, ptr %y, align 1
  ret void
}}"""
        )
        cases.append((type, bits, is_and))
    code = load(CpuTarget.host().object_code("\n".join(lines)))
    for i, (type, bits, is_and) in enumerate(cases):
        on = np.flatnonzero(bits)
        first, stop = (on[0], on[-1] + 1) if len(on) else (0, 0)
        x, o = random.integers(1, 100, (2, len(bits))).astype(TYPES[type])
        function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_int64)(
            code.address(f"f{i}")
        )
        for number, at_start in itertools.product((3, 99), (False, True)):
            given, found = fenced(x[first:stop], at_start=at_start), np.empty_like(x)
            begin = given.ctypes.data - int(first) * x.itemsize
            function(begin, o.ctypes.data, found.ctypes.data, number)
            expected = np.where(bits & (number < 16), x, o)
            np.testing.assert_array_equal(found, expected, f"{type}, {bits}, {is_and}")
