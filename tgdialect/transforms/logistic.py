"""GATE in primitive operations, for f32 and f64: x times the logistic function of t + l.

Within 1.1 ulp of the exact result over the whole range where MULACC is rounded once, subnormal
results included, and within 1 where x is 1 or t; without, within 2.2.
"""

from __future__ import annotations

import math

from tgdialect.transforms.float_format import FloatFormat, format_of
from tgdialect.transforms.recipe import RecipeValue, V, by_pairs, horner
from tgdialect.transforms.transcendental import LN_2, power_of_two


def gate(
    x: RecipeValue[V], t: RecipeValue[V], lost: RecipeValue[V] | None = None
) -> RecipeValue[V]:
    """x / (1 + e^-(t + lost)), for a `lost` below the last digit of t."""
    return gate_around(_near(x, t, lost), x, t, lost)


def gate_around(
    near: RecipeValue[V], x: RecipeValue[V], t: RecipeValue[V], lost: RecipeValue[V] | None = None
) -> RecipeValue[V]:
    """The gate, where `near` is it unless e^t or e^-t has few digits beside 1."""
    form = format_of(x)
    # Positive floats are in the order of their bits, which more units of a CPU compare.
    bits = t.bitcast(form.signed) & (form.sign_bit - 1)
    is_tail = bits > t.constant(float(math.floor((form.bias - form.precision) * LN_2))).bitcast(
        form.signed
    )
    tail = (t > 0.0).where(x, _gate_tail(x, t, lost, form))
    return is_tail.where(tail, near)


def _near(x: RecipeValue[V], t: RecipeValue[V], lost: RecipeValue[V] | None) -> RecipeValue[V]:
    """With e^-(t + lost) = 2^n (1 + p) the divisor is 2^n p + (1 + 2^n): its rounding is known, and
    the rest is exact. The quotient is corrected by its residual.
    """
    form = format_of(x)
    shifted, _, high, low = _parts(t, lost, form, form.bias)
    scale = power_of_two(shifted, form)
    r = high + low
    tail = tuple(-c if i % 2 else c for i, c in enumerate(form.exp_tail))
    # 1 + p = e^-(high + low) = 1 - high + second.
    second = (r * r).mulacc(by_pairs(r, tail), -low)
    divisor = scale.mulacc(second - high, scale + 1.0)
    # (scale - divisor) + 1 is exact where 2^n is no less than the last digit of 1.
    excess = scale.mulacc(second, scale.mulacc(-high, (scale - divisor) + 1.0))
    inverse = divisor.recip()
    quotient = x * inverse
    surplus = quotient.mulacc(excess, quotient.mulacc(divisor, -x))
    return (-inverse).mulacc(surplus, quotient)  # -0 stays -0.


def _gate_tail(
    x: RecipeValue[V], t: RecipeValue[V], lost: RecipeValue[V] | None, form: FloatFormat
) -> RecipeValue[V]:
    """x e^(t + lost) for negative t. The power of two may be below the least number, so that there
    are three factors of it; only the product with the last one rounds, if the result is
    subnormal."""
    _, n, high, low = _parts(t, lost, form, 0)
    r = high + low
    p = (r * r).mulacc(horner(r, form.exp_tail), low) + high
    to_exponent = form.to_integer + form.bias
    shifted = n.mulacc(-0.375, to_exponent)
    part = shifted - to_exponent
    scale = power_of_two(shifted, form)
    scaled = x * scale
    last = power_of_two(to_exponent - (n + part + part), form)
    result = scaled.mulacc(p, scaled) * scale * last
    nothing = x * 0.0  # With the sign of x; NaN if x is infinite.
    is_beyond = t < -float(math.ceil((2 * form.bias + form.precision + 2) * LN_2))
    return (is_beyond | result.eq(0.0)).where(nothing, result + nothing)


def _parts(
    t: RecipeValue[V], lost: RecipeValue[V] | None, form: FloatFormat, bias: int
) -> tuple[RecipeValue[V], RecipeValue[V], RecipeValue[V], RecipeValue[V]]:
    """(s, n, high, low) with t + lost = high + low - n ln 2, but for a rounding of low, and
    |high + low| <= ln 2 / 2, but for a rounding of n; high is exact, s has n + bias in its low
    bits."""
    to_exponent = form.to_integer + bias
    shifted = t.mulacc(-form.log2_e[0], to_exponent)
    n = shifted - to_exponent
    first, second = form.ln_2
    low = n * second if lost is None else n.mulacc(second, lost)
    return shifted, n, n.mulacc(first, t), low
