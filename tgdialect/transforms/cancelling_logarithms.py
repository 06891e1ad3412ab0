"""LOGADDEXP and LGAMMA in primitive operations: logarithms whose terms cancel.

Where digits are lost they are computed again with sums of two floats, which have twice the digits
of one (Dekker, "A floating-point technique for extending the available precision", 1971). Sums are
exact. What a product loses is known where MULACC is rounded once; where it is rounded twice, it
counts as 0, and products have the digits of one float. A target skips this where no lane needs it,
as the reduction of SIN.

LOGADDEXP, for f32 and f64, is the logarithm of e^a + e^b. Of f64 it is within 2 ulp everywhere
where MULACC is rounded once. The terms of the sum max(a, b) + log(1 + e^-|a - b|) cancel near its
zeros: where it has lost a digit it is computed again with six more, and where it has lost these,
too, it is the logarithm of 1 + E with E = e^a + e^b - 1 as a sum of three floats.

LGAMMA is the logarithm of |gamma(x)|, given an approximation. Of f64 it is within 2 ulp for
x < -1.25 where the approximation is the difference of two terms, if MULACC is rounded once. With
x = t - k for the nearest integer -k,

    |gamma(x)| = gamma(1 + t) / |t (1 - t) (2 - t) ... (k - t)|

The factors are exact. Their product and 1 / gamma(1 + t) are sums of two floats, so that near a
zero of the result the quotient's distance from 1 has all digits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from tgdialect.transforms.float_format import COEFFICIENTS, F64, FloatFormat, format_of
from tgdialect.transforms.recipe import Pair, RecipeValue, Triple, V, horner
from tgdialect.transforms.transcendental import (
    LN_2,
    NEAR,
    NEAR_FACTOR,
    clear_sign,
    exponents,
    least_of_normal,
    log,
    near_logarithm,
    power_of_two,
)


def two_sum(a: RecipeValue[V], b: RecipeValue[V]) -> Pair[V]:
    """a + b, and what its rounding loses."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def fast_two_sum(a: RecipeValue[V], b: RecipeValue[V] | float) -> Pair[V]:
    """The same for |a| >= |b|, or a = 0."""
    total = a + b
    return total, -(total - a) + b


def two_product(a: RecipeValue[V], b: RecipeValue[V]) -> Pair[V]:
    """a b, and what its rounding loses."""
    product = a * b
    return product, a.mulacc(b, -product)


def times(a: Pair[V], b: Pair[V]) -> Pair[V]:
    """The product of two sums, but for an error of about 2^(3 - 2p) of it, for a precision of p."""
    product, lost = two_product(a[0], b[0])
    return product, a[0].mulacc(b[1], a[1].mulacc(b[0], lost))


def scaled(a: Pair[V], factor: RecipeValue[V]) -> Pair[V]:
    """The product of a sum and a float; as `times`."""
    product, lost = two_product(a[0], factor)
    return product, a[1].mulacc(factor, lost)


def horner_of_pairs(
    x: RecipeValue[V], coefficients: Sequence[tuple[float, float]], rest: RecipeValue[V]
) -> Pair[V]:
    """The polynomial with these coefficients, the constant one first, plus the next power of x
    times `rest`."""
    result = rest, x.constant(0.0)
    for high, low in reversed(coefficients):
        product, lost = scaled(result, x)
        total, missing = two_sum(x.constant(high), product)
        result = total, missing + (lost + low)
    return result


# -- LOGADDEXP -----------------------------------------------------------------------------------

SMALL_RESULT, SMALLER_RESULT, LEAST_RESULT = 0.25, 2.0**-5, 2.0**-20
"""Multiples of max(a, b). Results below the first have lost more than a digit, those below the
second have lost six, and those below the third 21: as many as f64 has more than f32."""
TINY = -600.0
"""A b for which e^b is far below 1 and above the least normal number. Below it, e^b is computed
with a raised exponent."""


def logaddexp(a: RecipeValue[V], b: RecipeValue[V]) -> RecipeValue[V]:
    """log(e^a + e^b); the greater one of infinities."""
    return _logaddexp(a, b, SMALLER_RESULT)


def logaddexp_for_f32(a: RecipeValue[V], b: RecipeValue[V]) -> RecipeValue[V]:
    """The same, for a result that is rounded to a float of 24 bits or less."""
    return _logaddexp(a, b, LEAST_RESULT)


def _logaddexp(a: RecipeValue[V], b: RecipeValue[V], least_result: float) -> RecipeValue[V]:
    form = format_of(a)
    is_less = a < b
    high, low = is_less.where(b, a), is_less.where(a, b)
    least = float(math.ceil(-(form.bias + form.precision + 2) * LN_2))
    exponent = low - high
    is_least = exponent < least
    exponent = is_least.where(exponent.constant(least), exponent)
    low = is_least.where(high + least, low)
    result = _sum(high, low, exponent, form)
    if form is F64:
        if least_result == SMALLER_RESULT:
            is_small = (low > TINY) & (clear_sign(result, form) < high * -SMALL_RESULT)
            result = is_small.where(_exact_sum(high, low), result)
            least = (low > TINY).where(high * -SMALLER_RESULT, high * -SMALL_RESULT)
        else:
            least = high * -LEAST_RESULT
        is_near = clear_sign(result, form) < least
        result = is_near.where(_near_zero(high, low), result)
    # `low` is infinite now where `high` is, with the same sign.
    return (clear_sign(low, form) < math.inf).where(result, high + low)


def _sum(
    high: RecipeValue[V], low: RecipeValue[V], exponent: RecipeValue[V], form: FloatFormat
) -> RecipeValue[V]:
    """high + log(1 + e^exponent) with exponent = low - high, as `softplus`, but that its rounding
    takes no part where the result is small, and that the exact term of the logarithm is added to
    `high` first."""
    shifted, minus_n = exponents(exponent, form, less=0)
    first, second = form.ln_2
    r = minus_n.mulacc(second, minus_n.mulacc(first, low) - high)
    raised = form.raised
    is_small = exponent < least_of_normal(form, natural=True)
    scale = power_of_two(is_small.where(shifted + raised, shifted), form)
    down = is_small.where(scale.constant(2.0**-raised), 1.0)
    rest = r * r * horner(r, form.exp_tail)

    scale, base, tail, is_near = near_logarithm(exponent, scale, r, rest)
    base = is_near.where(base + form.minus_log_of_near_factor, base)
    return scale.mulacc(r, tail).mulacc(down, base.mulacc(down, high))


def _exact_sum(high: RecipeValue[V], low: RecipeValue[V]) -> RecipeValue[V]:
    """The same of f64 for a small result, with an error of 2^-59 of `high`: terms of the first and
    the second order are sums of two floats. It shares few values with `_sum`, which would take
    registers where they are not needed."""
    exponent = low - high
    shifted, minus_n = exponents(exponent, F64, less=0)
    is_near = exponent > NEAR
    scale = power_of_two(shifted, F64) * is_near.where(high.constant(NEAR_FACTOR), 1.0)
    base = scale - is_near.where(high.constant(1.0 - NEAR_FACTOR), 0.0)

    head, lost = two_sum(minus_n.mulacc(F64.ln_2[0], low), -high)
    r, r_lost = two_sum(head, minus_n * F64.ln_2[1])
    r_lost = r_lost + lost
    square, square_lost = two_product(r, r)
    p, lost = fast_two_sum(r, square * 0.5)
    rest = (square * r).mulacc(horner(r, EXP_CUBIC), square_lost * 0.5)
    rest = r_lost.mulacc(p, rest + (lost + r_lost))

    g, lost = two_product(scale, p)
    f, missing = two_sum(base, g)
    f, f_lost = two_sum(f, scale.mulacc(rest, missing + lost))
    square, square_lost = two_product(f, f)
    tail = (square * f).mulacc(horner(f, LOG_CUBIC), square_lost * -0.5)
    tail = f_lost.mulacc(square - f, tail + f_lost)
    total, first = two_sum(high, f)
    constant = is_near.where(high.constant(F64.minus_log_of_near_factor), 0.0)
    total, second = two_sum(total, constant)
    total, third = two_sum(total, square * -0.5)
    tail = tail + is_near.where(high.constant(REST_OF_LOG), 0.0)
    return total + (tail + (first + second + third))


def _near_zero(high: RecipeValue[V], low: RecipeValue[V]) -> RecipeValue[V]:
    """log(1 + E) of f64, for high < 0 and small E.

    e^high - 1 and e^low are sums of exact terms and of three floats, whose errors are 2^-122 of
    them. If both are tiny they are raised.
    """
    raised = F64.raised
    is_tiny = low < TINY
    # A small `high` is its own remainder; of others that for the factor 1/2 is.
    is_small = high > -SMALL
    remainder, lost = fast_two_sum(high.constant(LN_2_TERMS[0]), high)
    zero = high.constant(0.0)
    remainders = (
        is_small.where(high, remainder),
        is_small.where(zero, lost + LN_2_TERMS[1]),
        is_small.where(zero, LN_2_TERMS[2]),
    )
    factor, tail = _exponential(remainders)
    one = is_tiny.where(high.constant(2.0**raised), 1.0)
    factor = factor * is_small.where(one, one * 0.5)

    to_exponent = F64.to_integer + F64.bias
    shifted = low.mulacc(F64.log2_e[0], -0.5) + to_exponent
    minus_n = to_exponent - shifted
    first, second, third = LN_2_TERMS
    remainders = minus_n.mulacc(first, low), minus_n * second, minus_n * third
    low_factor, low_tail = _exponential(remainders)
    scale = power_of_two(is_tiny.where(shifted + raised, shifted), F64)
    low_factor = low_factor * scale

    total = (factor - one) + low_factor
    terms: list[RecipeValue[V]] = []
    least = zero
    for c, (w, w_lost, w_rest) in ((factor, tail), (low_factor, low_tail)):
        product, lost = two_product(c, w)
        total, missing = two_sum(total, product)
        second_product, second_lost = two_product(c, w_lost)
        terms += [lost, missing, second_product]
        least = least + c.mulacc(w_rest, second_lost)
    middle = terms[0]
    for term in terms[1:]:
        middle, missing = two_sum(middle, term)
        least = least + missing
    total, lost = two_sum(total, middle)
    lost = lost + least
    rest = total.mulacc(total * horner(total, F64.near_log_tail), lost - lost * total)
    return (total + rest) * is_tiny.where(zero + 2.0**-raised, 1.0)


def _exponential(x: Triple[V]) -> tuple[RecipeValue[V], Triple[V]]:
    """(c, w) with e^x = c (1 + w), for x in [0, ln 2], or a negative x near 0.

    c is a product of some of 1 + 2^-1, 1 + 2^-2, ..., which is exact: so are the differences of x
    to the first two terms of their logarithms.
    """
    first, second, third = x
    c = first.constant(1.0)
    for i, logarithms in enumerate(LOGARITHMS, 1):
        size = 2.0**-i
        part = (first < logarithms[0]).where(first.constant(0.0), size)
        c = c.mulacc(part, c)
        first, second, third = (
            part.mulacc(-logarithm / size, term)
            for term, logarithm in zip((first, second, third), logarithms, strict=True)
        )
    first, second = two_sum(first, second)
    second, third = two_sum(second, third)
    # e^first - 1 - first, and what `second` changes.
    rest = horner(first, tuple(high for high, _ in FACTORIALS[PAIRS:]))
    square = two_product(first, first)
    tail, lost = times(square, horner_of_pairs(first, FACTORIALS[:PAIRS], rest))
    w, missing = fast_two_sum(first, tail)
    middle, least = two_sum(missing, second)
    return c, (w, middle, second.mulacc(w, lost) + (least + third))


EXP_CUBIC: tuple[float, ...] = COEFFICIENTS["logaddexp"]["exp_cubic"]
"""(e^r - 1 - r - r^2 / 2) / r^3 for |r| <= ln 2 / 2, with an error of e^r of 2^-60.6."""
LOG_CUBIC: tuple[float, ...] = COEFFICIENTS["logaddexp"]["log_cubic"]
"""(log(1 + f) - f + f^2 / 2) / f^3 in the interval of SOFTPLUS, with a relative error of the
logarithm of 2^-60."""
REST_OF_LOG = 7.976902725430897e-18
"""The rounding error of `minus_log_of_near_factor` of f64."""
SMALL = 2.0**-8
"""The magnitude of `high` below which it is its own remainder."""
LN_2_TERMS = (0.6931471805601177, -1.7239444525590147e-13, -2.4688171419345863e-25)
"""ln 2: multiples of 2^-40 and 2^-80, and the rest."""
LOGARITHMS: tuple[tuple[float, float, float], ...] = COEFFICIENTS["logaddexp"]["logarithms"]
"""log(1 + 2^-i) from i = 1 on, like ln 2."""
FACTORIALS = tuple(
    (high := float(exact := Fraction(1, math.factorial(n))), float(exact - Fraction(high)))
    for n in range(2, 12)
)
"""1 / n! from n = 2 on, as sums of two floats."""
PAIRS = 5
"""The number of these that need both."""


# -- LGAMMA --------------------------------------------------------------------------------------


def lgamma(x: RecipeValue[V], approximation: RecipeValue[V]) -> RecipeValue[V]:
    """log |gamma(x)| of f64: the approximation, unless it has lost digits.

    It is pi / |x sin(pi x)|'s logarithm less lgamma(-x), for x < -1.5, and loses digits where it is
    of a lower exponent than that, whose exponent is that of -25 x / 8 - 14 or a lower one.
    """
    size = ((x.mulacc(-3.125, -14.0)).bitcast("i64") & _EXPONENT).bitcast("f64")
    is_near = (x > LEAST) & ((x > ALWAYS) | (-size < approximation))
    return _refined(x, approximation, is_near)


def lgamma_for_f32(x: RecipeValue[V], approximation: RecipeValue[V]) -> RecipeValue[V]:
    """The same, for a result that is rounded to a float of 24 bits or less."""
    is_near = (x > LEAST) & (clear_sign(approximation, F64) < x * -(2.0**-16))
    return _refined(x, approximation, is_near)


def _refined(
    x: RecipeValue[V], approximation: RecipeValue[V], is_near: RecipeValue[V]
) -> RecipeValue[V]:
    minus_k = (x + F64.to_integer) - F64.to_integer
    t = x - minus_k
    is_near = is_near & (x < MOST) & t.ne(0.0)
    return is_near.where(_of_negative(t, -minus_k), approximation)


def _of_negative(t: RecipeValue[V], k: RecipeValue[V]) -> RecipeValue[V]:
    """log |gamma(t - k)| for |t| <= 1/2, t != 0 and an integer k from 1 to 60."""
    y, one, far = k - t, t.constant(1.0), None
    last = k
    # Beyond 20 there are no zeros: ten factors at a time, each product rounded.
    for least in range(20, 60, 10):
        block = y - float(least - 20)
        for i in range(least - 19, least - 10):
            block = block * (y - float(i))
        block = (k > float(least)).where(block, one)
        last = (k > float(least)).where(last - 10.0, last)
        far = block if far is None else far * block
    assert far is not None
    size = horner_of_pairs(t, INVERSE_GAMMA, horner(t, INVERSE_GAMMA_REST))
    size = scaled(size, clear_sign(t, F64))
    for i in range(1, 21):
        factor = float(i) - t
        size = scaled(size, factor if i == 1 else (last < float(i)).where(one, factor))
    high, low = fast_two_sum(*scaled(size, far))
    return -low * high.recip() - log(high)


MOST, ALWAYS, LEAST = -1.25, -8.0, -60.0
"""Up to MOST, and above ALWAYS, the result is small, and the rounding of the arguments of its
logarithms matters; below LEAST it has no lower exponent than its terms."""
_EXPONENT = -(1 << F64.stored)
INVERSE_GAMMA: tuple[tuple[float, float], ...] = COEFFICIENTS["lgamma"]["inverse_gamma"]
"""The series of 1 / gamma(1 + t), as sums of two floats."""
INVERSE_GAMMA_REST: tuple[float, ...] = COEFFICIENTS["lgamma"]["inverse_gamma_rest"]
"""The further coefficients of the series for |t| <= 1/2, with an error of 2^-109."""
