"""The f32 and f64 formats: where their fields are, and the constants of the recipes.

The coefficients come from `tools/minimax.py`; they are in `coefficients.json`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tgdialect.transforms.recipe import Dtype, RecipeValue, V


@dataclass(frozen=True, kw_only=True, slots=True)
class BitFormat:
    """Where the fields of an IEEE 754 format are, and the integer that holds its bits."""

    unsigned: Dtype
    precision: int
    """Significand bits with the hidden one."""
    bias: int

    @property
    def stored(self) -> int:
        """Significand bits without the hidden one: the position of the exponent."""
        return self.precision - 1

    @property
    def exponent_bits(self) -> int:
        return (self.bias + 1).bit_length()

    @property
    def width(self) -> int:
        return self.precision + self.exponent_bits

    @property
    def sign_bit(self) -> int:
        return 1 << (self.width - 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class FloatFormat(BitFormat):
    """A format that recipes compute in, and its polynomials.

    Coefficients are lowest degree first, each exact in the format. The numbers after "f32" and
    "f64" are the relative errors of the functions computed by them.
    """

    dtype: Dtype
    signed: Dtype
    exp2_tail: tuple[float, ...]
    """(2^r - 1) / r on [-1/2, 1/2]. Of 2^r: f32 2^-25.9, f64 2^-55.0."""
    exp_tail: tuple[float, ...]
    """(e^r - 1 - r) / r^2 for |r| <= ln 2 / 2. Of e^r: f32 2^-28.0, f64 2^-56.4."""
    log2_tail: tuple[float, ...]
    """(log2(1 + f) - f log2 e) / f^2 for 1 + f in [sqrt(1/2), sqrt(2)]. f32 2^-28.9, f64
    2^-55.5."""
    log_tail: tuple[float, ...]
    """(log(1 + f) - f) / f^2 there. f32 2^-27.6, f64 2^-56.3."""
    near_log_tail: tuple[float, ...]
    """The same for the narrower interval of SOFTPLUS. f32 2^-28.5, f64 2^-56.3."""
    minus_log_of_near_factor: float
    """Of the NEAR_FACTOR of SOFTPLUS."""
    log10_tail: tuple[float, ...]
    """(log10(1 + f) - f log10 e) / f^2 there. f32 2^-27.6, f64 2^-59.0."""
    log2_e: tuple[float, float]
    """log2 e, rounded, and the rest."""
    ln_2: tuple[float, float]
    """ln 2 as a sum; an exponent times the first is exact."""
    log10_e: tuple[float, float]
    """log10 e, rounded, and the rest."""
    log10_2: tuple[float, float]
    """log10 2 as a sum; an exponent times the first is exact."""
    atanh_tail: tuple[float, ...]
    """(3 atanh(s)/s - 3 - s^2) / s^4 in s^2, for |s| <= (sqrt(2) - 1) / (sqrt(2) + 1). Of log2: f32
    2^-38.6, f64 2^-67.4."""
    two_thirds_log2_e: tuple[float, float, float]
    """2 / (3 ln 2), then split into a head of at most `precision` / 2 bits and the rest."""
    root_half_bits: int
    """The bit pattern of sqrt(1/2)."""
    inverse_root_bits: int
    """The number from which half a bit pattern is subtracted for a first estimate of 1/sqrt(x)."""
    inverse_root_steps: int
    """Newton's steps that bring the estimate to full precision."""
    sine_limit: float
    """Where `reduce_near` of SIN ends: its multiples of the first two parts of pi/2 are exact
    below."""
    quarter_turns: float
    """2 / pi."""
    quarter_turn: tuple[float, float, float]
    """pi/2 as a sum; an integer <= sine_limit * 2/pi times the first or second is exact."""
    sine_tail: tuple[float, ...]
    """(sin(r)/r - 1) / r^2 in r^2, for |r| <= pi/4. Of sin r: f32 2^-26.9, f64 2^-56.4."""
    cosine_tail: tuple[float, ...]
    """(cos(r) - 1 + r^2 / 2) / r^4 in r^2, for |r| <= pi/4. Of cos r: f32 2^-32.6, f64 2^-59.7."""
    erf_near: tuple[float, ...]
    """erf(x)/x - 1 in x^2, for |x| <= 1. f32 2^-28.7, f64 2^-55.1."""
    erf_far: tuple[float, ...]
    """log2(1 - erf x) / x in x, for 1 <= x <= erf_saturation. Of erf x: f32 2^-27.8, f64
    2^-55.2."""
    erf_saturation: float
    """From here on erf x rounds to 1."""
    erfc_ratio: tuple[float, ...]
    """F(x) of `erfc` / FACTOR in t = x / (x + POLE) - CENTER, for 0 <= x <= erfc_underflow. Of F:
    f32 2^-28.7, f64 2^-57.3."""
    erfc_exp_tail: tuple[float, ...]
    """FACTOR (e^-r - 1 + r) / r^2 for |r| <= ln 2 / 2, and what x^2 is more than h^2. Of e^-r: f32
    2^-27.1, f64 2^-57.7."""
    erfc_underflow: float
    """From here on erfc x rounds to 0."""
    gelu_ratio: tuple[float, ...]
    """G(x) of `gelu` in t = x / (x + GELU_POLE) - GELU_CENTER, for 0 <= x <= gelu_underflow. Of G:
    f32 2^-28.5, f64 2^-57.3."""
    gelu_exp_tail: tuple[float, ...]
    """(e^u - 1 - u) / u^2 for |u| <= ln 2 / 2, and what x^2 / 2 is more than h^2 / 2. Of e^u: f32
    2^-32.4, f64 2^-57.8."""
    gelu_underflow: float
    """From here on -x P(Z > x) rounds to 0."""

    @property
    def least_normal(self) -> float:
        return 2.0 ** (1 - self.bias)

    @property
    def to_integer(self) -> float:
        """Adding this rounds |x| < 2^(stored - 1) to an integer, in the low bits of the sum."""
        return 1.5 * 2.0**self.stored

    @property
    def raised(self) -> float:
        """The exponent by which results are raised that may be subnormal, before they are rounded:
        the product with the power of two is rounded once."""
        return 2.0**self.exponent_bits / 4

    @property
    def head_mask(self) -> int:
        """Keeps the sign, the exponent and the upper half of the significand's bits."""
        low = (self.precision + 1) // 2
        return 2 * self.sign_bit - (1 << low)


def _frozen(value: Any) -> Any:
    """A value of JSON with tuples for lists."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value  # pyright: ignore


COEFFICIENTS: Mapping[str, Mapping[str, Any]] = json.loads(
    Path(__file__).with_name("coefficients.json").read_bytes(),
    object_hook=lambda table: {name: _frozen(value) for name, value in table.items()},
)
"""The tables of both formats, by field, and those of functions that have some for f64 only."""

F32 = FloatFormat(root_half_bits=0x3F3504F3, inverse_root_bits=0x5F3759DF, **COEFFICIENTS["f32"])
F64 = FloatFormat(
    root_half_bits=0x3FE6A09E667F3BCD,
    inverse_root_bits=0x5FE6EB50C7B537A9,
    **COEFFICIENTS["f64"],
)
FORMATS: dict[str, FloatFormat] = {"f32": F32, "f64": F64}


def format_of(x: RecipeValue[V]) -> FloatFormat:
    return FORMATS[x.dtype]
