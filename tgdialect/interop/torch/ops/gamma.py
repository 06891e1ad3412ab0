"""ATen's relatives of the gamma function: its derivatives, Hurwitz' zeta function, the incomplete
gamma functions. All compute in f64."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportPrivateUsage=false

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import torch

import tgdialect as tg
from tgdialect.frontend import dtypes
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.torch.ops.bessel import polynomial
from tgdialect.interop.torch.rules import Refusal, Table, in_f64

aten = torch.ops.aten


def _digamma(x: Tensor) -> Tensor:
    """The derivative of the logarithm of the gamma function: by its recurrence up to 10, and there
    by its asymptotic series (Abramowitz & Stegun 6.3.5, 6.3.7, 6.3.18)."""
    is_reflected = x <= 0
    y = is_reflected.where(1 - x, x)
    below: Any = 0
    for k in range(10):
        below = below + (y < 10 - k).where((y + k).reciprocal(), 0)
    # The number of steps up to at least 10 is that of the terms above.
    steps: Any = sum((y < 10 - k).cast(dtypes.float64) for k in range(10))
    y = y + steps
    z = (y * y).reciprocal()
    series: Any = 0
    for coefficient in (1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12):
        series = (series + coefficient) * z
    found = y.log() - 0.5 / y - series - below
    # tan has the period pi; a small argument is exact.
    turn = x - x.round()
    reflected = found - math.pi / (turn * math.pi).tan()
    found = is_reflected.where((turn == 0).where(math.nan, reflected), found)
    found = (x == 0).where(Tensor(-math.inf).cast(dtypes.float64).copysign(-x), found)
    return (x == -math.inf).where(math.nan, (x == math.inf).where(x, found))


# -- Hurwitz' zeta function ------------------------------------------------------------------------

_BERNOULLI = (
    *(Fraction(1, 6), Fraction(-1, 30), Fraction(1, 42), Fraction(-1, 30), Fraction(5, 66)),
    *(Fraction(-691, 2730), Fraction(7, 6), Fraction(-3617, 510), Fraction(43867, 798)),
    *(Fraction(-174611, 330), Fraction(854513, 138), Fraction(-236364091, 2730)),
)
"""B_2, B_4, ..."""
_SUMMED = 10
"""The terms that are summed before Euler's and Maclaurin's formula, whose error with the twelve
Bernoulli numbers is below 2^-60 then, relative to the sum."""


def _power(x: Tensor, s: Tensor | int) -> Tensor:
    """x^-s, for x > 0."""
    if isinstance(s, Tensor):
        return x.pow(-s)
    inverse, found = x.reciprocal(), None
    while s:
        if s % 2:
            found = inverse if found is None else found * inverse
        inverse, s = inverse * inverse, s // 2
    assert found is not None
    return found


def _zeta_above(s: Tensor | int, a: Tensor) -> Tensor:
    """The sum of (a + k)^-s over k >= 0, for a > 0 and s > 1: by Euler's and Maclaurin's formula,
    without the derivatives where s is so large that the summed terms are all."""
    places = Tensor.arange(_SUMMED).cast(dtypes.float64)
    each = s.unsqueeze(-1) if isinstance(s, Tensor) else s
    total = _power(a.unsqueeze(-1) + places, each).sum(-1)
    w = a + _SUMMED
    is_counted = w * _LARGE > s
    s = is_counted.where(s, 2.0)
    factor, rest = s / w, Tensor(0.0).cast(dtypes.float64)
    for k, bernoulli in enumerate(_BERNOULLI):
        rest = rest + factor * float(bernoulli / math.factorial(2 * k + 2))
        factor = factor * ((s + (2 * k + 1)) / w) * ((s + (2 * k + 2)) / w)
    least = _power(w, each.squeeze(-1) if isinstance(each, Tensor) else each)
    return total + is_counted.where(least * (w / (s - 1) + 0.5 + rest), 0)


def _zeta_of(s: Tensor | int, q: Tensor) -> Tensor:
    """The sum of (q + k)^-s over k >= 0, for s > 1, which is an integer where q is negative.
    Infinite at 0, -1, -2, ...

    The negative q + k are -(d + j), where d is the distance of q from the next integer above: the
    sum of them is, but for the sign, that from d on without that from 1 - q on.
    """
    is_below, is_pole = q < 0, (q <= 0) & (q == q.floor())
    above = is_pole.where(1, is_below.where(q - q.floor(), q))
    distance = is_pole.where(1, is_below.where(q.ceil() - q, 1))
    arguments = Tensor.stack([above, distance, is_below.where(1 - q, 2)], -1)
    found = _zeta_above(s.unsqueeze(-1) if isinstance(s, Tensor) else s, arguments)
    negative = found[..., 1] - found[..., 2]
    if isinstance(s, Tensor):
        negative = (s.fmod(2) == 0).where(negative, -negative)
    elif s % 2:
        negative = -negative
    return is_pole.where(math.inf, found[..., 0] + is_below.where(negative, 0))


def _zeta(s: Any, q: Any) -> Tensor:
    """Hurwitz' zeta function; NaN for s < 1, and for q < 0 where s is no integer."""
    s, q = Tensor(s, "float64")._broadcasted(Tensor(q, "float64"))
    is_whole = s == s.trunc()
    found = _zeta_of((s > 1).where(s, 2), q)
    is_real = is_whole | (q > 0) | (q == q.floor())
    found = is_real.where(found, math.nan)
    return (s < 1).where(math.nan, (s == 1).where(math.inf, found)) + (s + q) * 0


def _polygamma(order: int, x: Tensor) -> Tensor:
    """The derivative of an order of the digamma function. Raises Refusal for high orders."""
    if order == 0:
        return _digamma(x)
    if not 0 < order <= _MOST_ORDER:
        raise Refusal(f"polygamma of order {order} is not translated: 0 to {_MOST_ORDER} are")
    found = _zeta_of(order + 1, x) * (-1.0) ** (order + 1) * math.factorial(order)
    if order > 1:
        return found
    found = (x == math.inf).where(0, found)
    # PyTorch's value at negative integers is (pi / sin(pi x))^2 of the rounded pi x.
    pole = (x < 0) & (x == x.trunc())
    sine = (pole.where(x, 0.5) * math.pi).sin()
    return pole.where((math.pi / sine).square(), found)


_MOST_ORDER = 100
"""The greatest order of `polygamma`: beyond it the factorial and the sum leave the range of f64
sooner than their product."""
_LARGE = 60
"""The multiple of the first argument that is not summed, beyond which s is so large that the rest
of the sum is none: (1 + _SUMMED / a)^-s < 2^-53."""


# -- the incomplete gamma functions ----------------------------------------------------------------


def _log1p_rest(x: Tensor) -> Tensor:
    """log(1 + x) - x. Near 0 by the series of 2 atanh(s), s = x / (2 + x), without 2 s."""
    is_near = x.abs() < 0.5
    s = is_near.where(x, 0) / (is_near.where(x, 0) + 2)
    square = s * s
    tail = polynomial(square, [2 / (2 * k + 3) for k in range(_ATANH_TERMS)]) * square * s
    # x is 2 s / (1 - s).
    near = tail - square * 2 / (1 - s)
    far = is_near.where(1, x)
    return is_near.where(near, far.log1p() - far)


def _first_term(a: Tensor, x: Tensor) -> Tensor:
    """x^a e^-x / gamma(a + 1). For large a by Stirling's formula, without cancellation."""
    is_large = a > 10
    low = is_large.where(1, a)
    direct = (low * x.log() - x - (low + 1).lgamma()).exp()
    high = is_large.where(a, 10)
    inverse = high.reciprocal()
    coefficients = [float(b / ((2 * k + 2) * (2 * k + 1))) for k, b in enumerate(_BERNOULLI[:8])]
    correction = inverse * polynomial(inverse * inverse, coefficients)
    exponent = high * _log1p_rest((x - high) / high) - correction
    return is_large.where(exponent.exp() * (high * (2 * math.pi)).rsqrt(), direct)


def _lower_sum(a: Tensor, x: Tensor) -> Tensor:
    """1 + x / (a + 1) + x^2 / ((a + 1) (a + 2)) + ..., for x that are not much above a."""

    def goes_on(state: Any) -> Tensor:
        _, term, total = state
        return (term > total * _EPSILON).any()

    def step(state: Any) -> Any:
        k, term, total = state
        term = term * (x / (a + k))
        return k + 1, term, total + term

    one = Tensor(1.0).cast(dtypes.float64)
    ones = (a * 0 + x * 0) + 1
    return tg.while_loop(goes_on, step, (one, ones, ones), _MOST_STEPS)[2]


def _upper_fraction(a: Tensor, x: Tensor) -> Tensor:
    """The continued fraction 1 / (x + 1 - a - (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a ...)))
    of gamma(a, x) / (x^a e^-x), for x >= a + 1, by Lentz' method."""

    def goes_on(state: Any) -> Tensor:
        return (state[4] > 2.0**-52).any()  # The change may be an ulp forever.

    def step(state: Any) -> Any:
        k, c, d, found, _ = state
        factor = k * (a - k)
        b = x + 1 - a + k * 2
        d = (b + factor * d).reciprocal()
        c = b + factor / c
        change = c * d
        return k + 1, c, d, found * change, (change - 1).abs()

    b = x + 1 - a
    first = b.reciprocal()
    one = Tensor(1.0).cast(dtypes.float64)
    infinite = Tensor(_HUGE).cast(dtypes.float64).expand(b.shape)
    start = (one, infinite, first, first, first * 0 + 1)
    return tg.while_loop(goes_on, step, start, _MOST_STEPS)[3]


def _small_upper(a: Tensor, x: Tensor) -> Tensor:
    """The upper function of small x: 1 - x^a / gamma(a + 1) without cancellation, and the rest of
    the alternating series of the lower one."""
    above = a + 1
    lost = a - (above - 1)  # By its rounding.
    exponent = a * x.log() - (above.lgamma() + lost * _digamma(above))
    rest = Tensor(0.0).cast(dtypes.float64)
    for k in range(_SMALL_TERMS, 0, -1):
        rest = rest + (a + k).reciprocal() * ((-1) ** k / math.factorial(k)) * x.pow(k)
    return -exponent.expm1() - exponent.exp() * a * rest


def _uniform(a: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Both functions of large a: the uniform asymptotic expansion (Temme 1979; DLMF 8.12)."""
    half_square = -_log1p_rest((x - a) / a)
    root = (half_square * 2).sqrt()
    eta = (x < a).where(-root, root)
    series = polynomial(eta, _TEMME[0]) + polynomial(eta, _TEMME[1]) / a
    rest = (-half_square * a).exp() * (a * (2 * math.pi)).rsqrt() * series
    argument = eta * (a * 0.5).sqrt()
    return (-argument).erfc() * 0.5 - rest, argument.erfc() * 0.5 + rest


def _incomplete_gamma(a: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """The regularised lower and upper incomplete gamma function (Numerical Recipes 6.2).

    Below a + 1 the lower one is a power series; above, the upper one is a continued fraction. Each
    takes a few sqrt(a) steps, so that a beyond `_UNIFORM` is another matter.
    """
    a, x = a._broadcasted(x)
    is_inside = (a > 0) & (x > 0) & (a < math.inf) & (x < math.inf)
    # Elsewhere numbers for which every loop ends at once.
    b, y = is_inside.where(a, 1), is_inside.where(x, 1)
    is_uniform = b > _UNIFORM
    is_small = is_uniform.logical_not() & (y < 1.1) & (y * 1.1 > b)
    is_below = is_uniform.logical_not() & is_small.logical_not() & (y < b + 1)
    is_above = (is_uniform | is_small | is_below).logical_not()
    lower = is_below.where(b, 1), is_below.where(y, 0)
    upper = is_above.where(b, 1), is_above.where(y, 2)
    first = _first_term(is_uniform.where(1, b), is_uniform.where(1, y))
    by_sum = first * _lower_sum(*lower)
    by_fraction = first * b * _upper_fraction(*upper)
    by_small = _small_upper(is_small.where(b, 1), is_small.where(y, 1))
    below, above = _uniform(is_uniform.where(b, _UNIFORM), is_uniform.where(y, _UNIFORM))
    p = is_below.where(by_sum, 1 - is_small.where(by_small, by_fraction))
    q = is_below.where(1 - by_sum, is_small.where(by_small, by_fraction))
    is_one = (x == math.inf) | ((a == 0) & (x > 0))
    is_zero = (a == math.inf) | ((x == 0) & (a > 0))
    is_none = ((a < 0) | (x < 0) | (a == 0) & (x == 0) | (a == math.inf) & (x == math.inf)) | (
        a.isnan() | x.isnan()
    )

    def known(value: Tensor, at_zero: float, at_one: float) -> Tensor:
        value = is_one.where(at_one, is_zero.where(at_zero, value))
        return is_none.where(math.nan, value)

    return (
        known(is_uniform.where(below, p), 0, 1),
        known(is_uniform.where(above, q), 1, 0),
    )


_UNIFORM = 1e5
"""The a beyond which the uniform expansion with two terms is exact. Larger: more steps of loops,
about six times its root; smaller: c_2 / a^2 and powers of eta that are left out."""
_MOST_STEPS = 6000
"""More steps than any a below `_UNIFORM` takes: the sum takes sqrt(2 a 54 log(2)) = 2,740."""
_TEMME = (
    (-1 / 3, 1 / 12, -2 / 135, 1 / 864, 1 / 2835, -139 / 777600, 1 / 25515),
    (-1 / 540, -1 / 288, 1 / 378, -77 / 77760),
)
"""The Taylor coefficients of c_0 and c_1 of the expansion (DLMF 8.12.11)."""
_EPSILON = 2.0**-54
"""The relative size of terms that end a series."""
_HUGE = 1e300
"""Infinity in Lentz' method."""
_ATANH_TERMS, _SMALL_TERMS = 24, 20
"""The terms of series, which are below 2^-56 then."""


GAMMA: Table = in_f64(
    {
        aten.digamma.default: _digamma,
        aten.polygamma.default: _polygamma,
        aten.special_zeta.default: _zeta,
        aten.special_zeta.other_scalar: _zeta,
        aten.special_zeta.self_scalar: _zeta,
        aten.igamma.default: lambda a, x: _incomplete_gamma(a, x)[0],
        aten.igammac.default: lambda a, x: _incomplete_gamma(a, x)[1],
    }
)
