"""GATE in primitive operations, for f32 and f64: x times the logistic function of t + l.

Within 1.1 ulp of the exact result over the whole range where MULACC is rounded once, subnormal
results included, and within 1 where x is 1 or t; without, within 2.2.
"""

from __future__ import annotations

import math

from tgdialect.transforms.float_format import FloatFormat, format_of
from tgdialect.transforms.recipe import V, Value, horner
from tgdialect.transforms.transcendental import LN_2, power_of_two


def gate(x: Value[V], t: Value[V], lost: Value[V] | None = None) -> Value[V]:
    """x / (1 + e^-(t + lost)), for a `lost` below the last digit of t.

    With e^-(t + lost) = 2^n (1 + p) the divisor is 2^n p + (1 + 2^n): its rounding is known, and
    the rest is exact. The quotient is corrected by its residual.
    """
    form = format_of(x)
    shifted, _, r, rest = _parts(t, lost, form, form.bias)
    scale = power_of_two(shifted, form)
    tail = tuple(-c if i % 2 else c for i, c in enumerate(form.exp_tail))
    square = r * r
    # 1 + p = e^-r = 1 - r + second.
    second = square * horner(r, tail) if lost is None else square.mulacc(horner(r, tail), -rest)
    divisor = scale.mulacc(second - r, scale + 1.0)
    is_large = scale > 1.0
    greater = is_large.where(scale, 1.0)
    smaller = is_large.where(x.constant(1.0), scale)
    excess = scale.mulacc(second, scale.mulacc(-r, (greater - divisor) + smaller))
    inverse = divisor.recip()
    quotient = x * inverse
    surplus = quotient.mulacc(excess, quotient.mulacc(divisor, -x))
    result = (-inverse).mulacc(surplus, quotient)  # -0 stays -0.
    result = (t > float(form.precision)).where(x, result)
    is_tail = t < -float(math.floor((form.bias - form.precision) * LN_2))
    return is_tail.where(_gate_tail(x, t, lost, form), result)


def _gate_tail(x: Value[V], t: Value[V], lost: Value[V] | None, form: FloatFormat) -> Value[V]:
    """x e^(t + lost) for negative t. The power of two may be below the least number, so that there
    are three factors of it; only the product with the last one rounds, if the result is
    subnormal."""
    _, n, r, rest = _parts(t, lost, form, 0)
    p = (r * r).mulacc(horner(r, form.exp_tail), rest) + r
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
    t: Value[V], lost: Value[V] | None, form: FloatFormat, bias: int
) -> tuple[Value[V], Value[V], Value[V], Value[V]]:
    """(s, n, r, rest) with t + lost = r + rest - n ln 2 and |r| <= ln 2 / 2, but for a rounding of
    n; s has n + bias in its low bits."""
    to_exponent = form.to_integer + bias
    shifted = t.mulacc(-form.log2_e[0], to_exponent)
    n = shifted - to_exponent
    first, second = form.ln_2
    high = n.mulacc(first, t)
    if lost is None:
        r = n.mulacc(second, high)
        return shifted, n, r, n.mulacc(second, high - r)
    low = n.mulacc(second, lost)
    r = high + low
    return shifted, n, r, (high - r) + low
