"""The errors of functions in docs/semantics.md: every function is there, and none is exceeded."""

from __future__ import annotations

import math
from itertools import product

import pytest
import ulp_table
from exact_functions import BINARY, EXACT, UNARY

from tgdialect.frontend.elementwise import Elementwise
from tgdialect.frontend.functions import Functions
from tgdialect.ops.dtypes import DTYPES

SAMPLE = 120
"""The number of arguments of each function."""
ROWS = [*UNARY, *BINARY]
F32 = next(dtype for dtype in DTYPES.values() if dtype.name == "f32")
FP8 = next(dtype for dtype in DTYPES.values() if dtype.name == "f8E4M3FN")


def test_every_method_is_in_the_table():
    kinds = Elementwise, Functions
    methods = {name for kind in kinds for name in vars(kind) if name[0] != "_"}
    measured = {name.split()[0] for name in ROWS}
    assert methods - measured == EXACT.keys()
    assert {name for name, _ in ulp_table.documented()} == set(ROWS)


@pytest.mark.sampled(42)
@pytest.mark.parametrize(("name", "dtype"), list(product(ROWS, ulp_table.DTYPES)))
def test_errors_are_at_most_those_of_the_table(name: str, dtype: str):
    error, arguments = ulp_table.worst(name, dtype, SAMPLE)
    assert error <= ulp_table.documented()[name, dtype], f"at {arguments}"


@pytest.mark.parametrize(
    ("exact", "result", "error"),
    [
        (1.0, 1 + 2**-23, 1),
        (1 + 2**-30, 1, 2**-7),
        (2.0**-140, 0, 2**9),  # An ulp of subnormal numbers is the least one.
        (2.0**128, math.inf, 0),
        (2.0**128 - 2.0**104, math.inf, 1),
        (2.0**128, F32.max_finite, 1),
        (math.nan, math.nan, 0),
        (math.nan, 1, math.inf),
        (1, math.nan, math.inf),
        (-math.inf, math.inf, math.inf),
    ],
)
def test_error_in_ulps(exact: float, result: float, error: float):
    assert ulp_table.error_of(F32, ulp_table.mp.mpf(exact), result) == error


def test_a_dtype_without_infinity_saturates():
    assert ulp_table.error_of(FP8, ulp_table.mp.mpf(1e9), 448) == 0
    assert ulp_table.error_of(FP8, ulp_table.mp.mpf(-1e9), 448) > 1e6
    assert ulp_table.error_of(FP8, ulp_table.mp.mpf(416), 448) == 1


def test_a_sign_of_zero_is_compared():
    values = (ulp_table.np.array([0.0, -0.0], "f4"),)
    wrong = UNARY["sin"].__class__(lambda x: x * x, ulp_table.mp.sin, is_odd=True)
    assert ulp_table.errors(wrong, F32, values).tolist() == [0, math.inf]
