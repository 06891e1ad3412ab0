"""Functions on targets without f64: which f32 programs compile there, and how exact they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import ulp_table
from compilers import COMPILERS
from exact_functions import BINARY, UNARY
from xdsl.utils.exceptions import PassFailedException

import tgdialect as tg
from tgdialect.backends.sources import source_of
from tgdialect.diagnostics import SourceFile, parse_module
from tgdialect.frontend import dtypes
from tgdialect.lowering.pipeline import ToSourcePass
from tgdialect.registry import make_context

REMAINDERS = ("fmod", "mod", "floordiv")
"""Functions of f32 that are exact, for which they need f64."""
ROWS = {name: row for name, row in {**UNARY, **BINARY}.items() if name not in REMAINDERS}
SAMPLE = 600
"""The number of arguments of each function."""
MOST_ULPS = 2.3
"""The bound that docs/semantics.md states, in units of the last place."""
LGAMMA = -1.5, 7
"""From where on `lgamma` has relative errors, and how many ulps."""
WITHOUT_F64 = ('"cpu", has_f64 = false', '"cpu", features = ["avx2", "fma"], has_f64 = false')

Function = Callable[..., tg.Tensor]


def text_of(function: Function, *kinds: str) -> str:
    return tg.function(function).lower(*(tg.spec((64,), kind) for kind in kinds)).as_text()


def inputs(name: str) -> tuple[str, ...]:
    return ("float32",) * (2 if name in BINARY else 1)


WIDENED = [name for name, row in ROWS.items() if "f64" in text_of(row.method, *inputs(name))]


def metal(text: str) -> str:
    """The source for Metal, which its compiler takes where there is one."""
    module = parse_module(make_context(), SourceFile("test", text, 1))
    for stage in ToSourcePass("metal").pipeline():
        stage.lower(module)
    source, compiler = source_of(module, "metal"), COMPILERS["clang for Metal"]
    return source if compiler.path is None else f"{source}{compiler.check(source)}"


def test_these_are_computed_in_f64():
    assert {"cos", "tan", "asin", "atan2", "sinh", "acosh", "erfc"} <= set(WIDENED)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ROWS)
def test_functions_of_f32_compile_for_metal(name: str):
    assert "double" not in metal(text_of(ROWS[name].method, *inputs(name)))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", WIDENED)
def test_gradients_and_integers_compile_for_metal(name: str):
    def gradient(*operands: tg.Tensor):
        return ROWS[name].method(*operands).sum().gradient(*operands)

    assert "double" not in metal(text_of(gradient, *inputs(name)))
    for kind in ("int8", "int32"):
        assert "double" not in metal(text_of(ROWS[name].method, *(kind for _ in inputs(name))))


@pytest.mark.parametrize(
    "function",
    [
        *(BINARY[name].method for name in REMAINDERS),
        lambda x, y: (x.double() * y).sum().float(),
        lambda x, y: (x.double().bitcast(tg.dtypes.int64) + 1).bitcast(tg.dtypes.float64).float(),
        lambda x, y: x.double().cos() + y,
        lambda x, y: x.cast(tg.dtypes.int32).double().cos().float() + y,
    ],
    ids=[*REMAINDERS, "sum", "bits", "memory", "integers"],
)
def test_what_needs_f64_is_an_error(function: Function):
    with pytest.raises(PassFailedException, match="the target metal has no f64"):
        metal(text_of(function, "float32", "float32"))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", WITHOUT_F64, ids=["plain", "fma"])
@pytest.mark.parametrize("name", WIDENED)
def test_errors_in_f32(name: str, target: str):
    """All special values are right, and others within some ulp."""

    def run(*operands: tg.Tensor) -> tg.Tensor:
        arrays = [x.numpy() for x in operands]
        specs = [tg.spec(array.shape, "float32") for array in arrays]
        text = tg.function(ROWS[name].method).lower(*specs).as_text()
        stated = f"builtin.module attributes {{tg.target = #tg.target<{target}>}} {{"
        return tg.Tensor(tg.compile(text.replace("builtin.module {", stated, 1))(*arrays))

    row = replace(ROWS[name], method=run)
    values = ulp_table.arguments(row, name, dtypes.float32, SAMPLE)
    if name in UNARY:
        special = np.float32([0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2.5e38, -2.5e38, 89, 1e-40])
        values = (np.concatenate([special, values[0]]),)
    found, most = ulp_table.errors(row, dtypes.float32, values), MOST_ULPS
    if name == "lgamma":  # Below, it loses digits near its zeros; poles are right.
        least, most = LGAMMA
        assert np.isfinite(found).all()
        found = found[~(values[0] < least)]
    assert found.max() <= most
