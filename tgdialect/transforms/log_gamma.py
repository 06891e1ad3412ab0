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
from tgdialect.transforms.float_format import F64
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
INVERSE_GAMMA = (
    (1.0, 0.0),
    (0.5772156649015329, -4.942915152430645e-18),
    (-0.6558780715202539, 2.137185197068536e-17),
    (-0.04200263503409524, 1.4920306285650505e-18),
    (0.16653861138229148, 1.0189144546842026e-17),
    (-0.04219773455554433, -3.3579992682480134e-18),
    (-0.009621971527876973, -5.300031368830263e-19),
    (0.0072189432466631, -3.6006537063394283e-19),
    (-0.0011651675918590652, 5.659947853880981e-20),
    (-0.00021524167411495098, 2.3758686180729364e-21),
    (0.0001280502823881162, -9.359124499198967e-21),
    (-2.013485478078824e-05, 3.0488773972037385e-23),
    (-1.2504934821426706e-06, -2.66214092271898e-23),
    (1.133027231981696e-06, -4.622235212104869e-23),
    (-2.056338416977607e-07, -3.0061601618645134e-24),
    (6.116095104481416e-09, -2.693458298171306e-25),
    (5.002007644469223e-09, -1.538123614056751e-26),
    (-1.18127457048702e-09, -1.0052356155716208e-25),
    (1.0434267116911005e-10, -2.9298419956825035e-27),
)
"""The series of 1 / gamma(1 + t), as sums of two floats."""
INVERSE_GAMMA_REST = (
    *(7.782263439905071e-12, -3.696805618642206e-12, 5.100370287454405e-13),
    *(-2.058326053566413e-14, -5.3481225390918824e-15, 1.2267786281944536e-15),
    *(-1.1812593581938413e-16, 1.1866930024197969e-18, 1.4124242124691218e-18),
    *(-2.29880336545299e-19, 1.6989389153999534e-20, 1.5424680482596819e-22),
)
"""The further coefficients of the series for |t| <= 1/2, with an error of 2^-109."""
