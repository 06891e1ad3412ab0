"""LGAMMA in primitive operations: the logarithm of |gamma(x)|, given an approximation.

Of f64 it is within 2 ulp for x < -1.25 where the approximation is the difference of two terms, if
MULACC is rounded once. With x = t - k for the nearest integer -k,

    |gamma(x)| = gamma(1 + t) / |t (1 - t) (2 - t) ... (k - t)|

The factors are exact. Their product and 1 / gamma(1 + t) are sums of two floats, so that near a
zero of the result the quotient's distance from 1 has all digits. A target skips this where no lane
needs it.
"""

from __future__ import annotations

from tgdialect.transforms.double_double import fast_two_sum, horner_of_pairs, scaled
from tgdialect.transforms.float_format import COEFFICIENTS, F64
from tgdialect.transforms.recipe import RecipeValue, V, horner
from tgdialect.transforms.transcendental import clear_sign, log


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
