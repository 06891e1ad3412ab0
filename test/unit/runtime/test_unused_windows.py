"""Windows that depend on index arguments are checked on all targets alike, used or not."""

from __future__ import annotations

import numpy as np
import pytest
from opencl_device import needs_opencl

import tgdialect as tg
from tgdialect.diagnostics import CompilationError

TARGETS = ["interpreter", "cpu", "c", pytest.param("opencl", marks=needs_opencl)]
NUMBERS = {
    "argument": "%m = tg.add %n, %zero : tensor<index>",
    "idiv": "%m = tg.idiv %n, %one : tensor<index>",
    "mod": "%m = tg.mod %n, %many : tensor<index>",
    "max": "%m = tg.max %n, %one : tensor<index>",
    "xor": "%m = tg.xor %n, %zero : tensor<index>",
    "and": "%m = tg.and %n, %n : tensor<index>",
    "or": "%m = tg.or %n, %zero : tensor<index>",
    "where": "%t = tg.cmplt %n, %many : (tensor<index>, tensor<index>) -> tensor<i1>\n"
    "  %m = tg.where %t, %n, %zero : (tensor<i1>, tensor<index>, tensor<index>) -> tensor<index>",
    "cast": "%t = tg.cast %n to i8 : tensor<index> -> tensor<i8>\n"
    "  %m = tg.cast %t to index : tensor<i8> -> tensor<index>",
}
WINDOWS = {
    "shrink": "tg.shrink %x at [%m] to [4] : tensor<8xf32> -> tensor<4xf32>",
    "pad": "tg.pad %x at [%m] to [12] : tensor<8xf32> -> tensor<12xf32>",
}


def program(number: str, window: str) -> str:
    return f"""
func.func @main(%x: tensor<8xf32>, %n: tensor<index>) -> tensor<8xf32> {{
  %zero = tg.const 0 : tensor<index>
  %one = tg.const 1 : tensor<index>
  %many = tg.const 1000 : tensor<index>
  {NUMBERS[number]}
  %unused = {WINDOWS[window]}
  %y = tg.neg %x : tensor<8xf32>
  return %y : tensor<8xf32>
}}
"""


@pytest.mark.sampled(24)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("number", NUMBERS)
def test_a_window_that_nothing_uses(number: str, window: str, target: str):
    executable = tg.compile(program(number, window), target=target)
    x = np.arange(8, dtype=np.float32)
    np.testing.assert_array_equal(executable(x, 4), -x)
    extent, outer = (4, 8) if window == "shrink" else (8, 12)
    message = f"axis 0: offset 100 plus extent {extent} exceeds {outer}"
    with pytest.raises(CompilationError, match=message):
        executable(x, 100)


@pytest.mark.parametrize("target", TARGETS)
def test_a_quotient_of_a_negative_number_rounds_down(target: str):
    source = program("argument", "shrink").replace(NUMBERS["argument"], QUOTIENT)
    executable = tg.compile(source, target=target)
    x = np.zeros(8, np.float32)
    executable(x, 9)
    with pytest.raises(CompilationError, match="axis 0: offset -1 is negative"):
        executable(x, -1)


QUOTIENT = "%two = tg.add %one, %one : tensor<index>\n  %m = tg.idiv %n, %two : tensor<index>"
