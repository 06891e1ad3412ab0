"""Numbers of Python beside tensors whose dtype cannot have them: results are those of eager mode.

PyTorch wraps some integers around, rounds some floats, computes with others as f32, and raises an
error for the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compiled_models import assert_compiled, compiled  # noqa: E402

from tgdialect.interop.torch import report  # noqa: E402

pytestmark = pytest.mark.parity


def _filled(x: Any, v: Any) -> Any:
    y = x.clone()
    y[1:] = v
    return y


FUNCTIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "gt": lambda x, v: x > v,
    "lt": lambda x, v: x < v,
    "ge": lambda x, v: x >= v,
    "le": lambda x, v: x <= v,
    "eq": lambda x, v: x == v,
    "ne": lambda x, v: x != v,
    "add": lambda x, v: x + v,
    "sub": lambda x, v: x - v,
    "rsub": lambda x, v: v - x,
    "mul": lambda x, v: x * v,
    "div": lambda x, v: x / v,
    "floor": lambda x, v: x // v,
    "trunc": lambda x, v: torch.div(x, v, rounding_mode="trunc"),
    "remainder": lambda x, v: x % v,
    "fmod": lambda x, v: torch.fmod(x, v),
    "pow": lambda x, v: x**v,
    "rpow": lambda x, v: v**x,
    "and": lambda x, v: x & v,
    "or": lambda x, v: x | v,
    "xor": lambda x, v: x ^ v,
    "clamp_min": lambda x, v: x.clamp_min(v),
    "clamp_max": lambda x, v: x.clamp_max(v),
    "hardtanh": lambda x, v: torch.nn.functional.hardtanh(x, v, v + 200),
    "elu": lambda x, v: torch.nn.functional.elu(x, v),
    "threshold": lambda x, v: torch.nn.functional.threshold(x, v, 1),
    "where": lambda x, v: torch.where(x > 1, x, v),
    "full": lambda x, v: torch.full_like(x, v),
    "masked_fill": lambda x, v: x.masked_fill(x > 1, v),
    "fill": _filled,
    "scatter": lambda x, v: x.scatter(0, torch.tensor([1]), v),
    "pad": lambda x, v: torch.constant_pad_nd(x, (1, 0), v),
    "search": lambda x, v: torch.searchsorted(x, v),
    "alpha": lambda x, v: torch.add(x, x, alpha=v),
    "maximum": lambda x, v: torch.maximum(x, torch.tensor(v)),
}

NUMBERS: Mapping[str, tuple[Any, ...]] = {
    "uint8": (-1, 300, 2**40, 2**63, 2.5, math.nan),
    "int8": (-129, 300, 2**63),
    "int32": (2**31, -(2**40), math.nan),
    "uint16": (-1, 70000),
    "int64": (2**63, 2.5),
    "bool": (-1, 300, 0),
    "float16": (0.1, 1e-8, 70000, 1e300, math.inf, math.nan),
    "bfloat16": (0.1, -3.3, 1e39),
    "float32": (0.1, 1e39, 1e-50, math.nan),
}


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    ("dtype", "number"), [(dtype, v) for dtype, numbers in NUMBERS.items() for v in numbers]
)
def test_numbers(dtype: str, number: Any) -> None:
    elements = [0, 1, 5, 100] if dtype != "bool" else [0, 0, 1, 1]
    x = torch.tensor(elements, dtype=getattr(torch, dtype))
    wanted: dict[str, Any] = {}
    for name, function in FUNCTIONS.items():
        try:
            wanted[name] = function(x, number)
        except (RuntimeError, TypeError, ValueError):
            continue  # An error of PyTorch's, for this dtype or number.
        if dtype == "bool" and name in ("pow", "search"):  # Not those of PyTorch's fake tensors.
            del wanted[name]
    found = compiled(lambda x: [FUNCTIONS[name](x, number) for name in wanted], dynamic=False)(x)
    tolerance = 1e-6 if x.dtype.itemsize > 2 or not x.dtype.is_floating_point else 1e-2
    for (name, value), got in zip(wanted.items(), found, strict=True):
        torch.testing.assert_close(
            got, value, rtol=tolerance, atol=1e-7, equal_nan=True, msg=lambda m, n=name: f"{n}: {m}"
        )


@pytest.mark.parametrize("name", ["gt", "lt", "eq", "add", "sub", "mul", "floor", "maximum"])
def test_integers_wrap_around_in_a_program(name: str) -> None:
    function = FUNCTIONS[name]
    x = torch.tensor([0, 1, 45, 100], dtype=torch.uint8)
    assert_compiled(lambda x: (function(x, -1), function(x, 300)), x)


@pytest.mark.parametrize("number", [-1, 300])
def test_numbers_that_an_op_may_refuse_are_left_to_pytorch(number: int) -> None:
    x = torch.tensor([0, 1, 5, 100], dtype=torch.uint8)
    call = compiled(lambda x: x.clamp_min(number) + 1)
    if number < 0:
        assert torch.equal(call(x), x.clamp_min(number) + 1)
        (fallback,) = report().fallbacks
        assert "is not within ui8" in fallback.reason
    else:
        with pytest.raises(RuntimeError, match="without overflow"):
            call(x)


def test_a_size_that_wraps_around() -> None:
    call = compiled(lambda x: x < x.shape[0], dynamic=True)
    for size in (300, 30):
        x = (torch.arange(size) % 256).to(torch.uint8)
        assert torch.equal(call(x), x < x.shape[0])
    assert not report().fallbacks


def test_quotients_are_rounded_before_they_are_truncated() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> Any:
        return [
            torch.div(x, divisor, rounding_mode=mode)
            # Eager mode's floors of quotients of tensors of 16 bits are rounded several times.
            for divisor, mode in ((y, "trunc"), (0.1, "trunc"), (3.0, "trunc"), (0.1, "floor"))
        ]

    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        x, y = (torch.randn(500) * 50).to(dtype), torch.randn(500).to(dtype)
        for got, wanted in zip(compiled(function)(x, y), function(x, y), strict=True):
            assert torch.equal(got, wanted)
