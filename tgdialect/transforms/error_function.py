"""ERF, ERFC and GELU in primitive operations, for f32 and f64.

ERF is within 2 ulp (f32) and 3 ulp (f64) of the exact result for every argument. Up to 1 it is x
plus x times a polynomial in x^2; beyond, 1 - 2^(x Q(x)), where x Q(x) approximates log2 of
1 - erf x: what Q loses counts for little there, since 1 - erf x is small beside 1. After Juffa's
`erff` (2017).
"""

from __future__ import annotations

from tgdialect.transforms.float_format import format_of
from tgdialect.transforms.recipe import RecipeValue, V, horner
from tgdialect.transforms.transcendental import at_most, clear_sign, exp2_of_normal, head_of

SHIFT, FACTOR, POLE, CENTER = 11 / 16, 321 / 512, 3.0, 345 / 1024
"""Constants of ERFC, found by trial. With this SHIFT, F is within a seventh of FACTOR, so that its
rounding counts for little; with this POLE, a polynomial in t has a low degree, and with this CENTER
small coefficients. F / FACTOR at the center is an f32, but for 2^-34."""

GELU_SCALE, GELU_SHIFT, GELU_POLE, GELU_CENTER = 17 / 8, 63 / 32, 17 / 4, 351 / 1024
"""Constants of GELU, found by trial, as those of ERFC: with them G is 1 within a tenth, flat for
small x and for large x, and at the center an f32, but for 2^-30."""
GELU_SLOPE = -9 / 512
"""x times this is about the derivative of G by log x, for large x."""


def erf(x: RecipeValue[V]) -> RecipeValue[V]:
    """2/sqrt(pi) times the integral of exp(-t^2) from 0 to x; -0 at -0."""
    form = format_of(x)
    magnitude = clear_sign(x, form)
    square = x * x
    near = x.mulacc(horner(square, form.erf_near), x)

    bounded = (magnitude < form.erf_saturation).where(magnitude, form.erf_saturation)
    far = 1.0 - exp2_of_normal(bounded * horner(bounded, form.erf_far))
    sign = x.bitcast(form.unsigned) & form.sign_bit
    far = (far.bitcast(form.unsigned) | sign).bitcast(form.dtype)
    return (magnitude > 1.0).where(far, near)  # NaN is near.


def erfc(x: RecipeValue[V]) -> RecipeValue[V]:
    """1 - erf x; 0 at inf and 2 at -inf.

    With z = |x| it is e^(-z^2) F(z) / (z + SHIFT), or 2 less that where x is negative. F is nearly
    constant. e^(-z^2) = 2^n e^(-r), with z^2 as a sum of two floats. The product of all three is
    rounded once, and what e^(-r), z + SHIFT and its reciprocal lose is added to F.
    """
    form = format_of(x)
    z = clear_sign(x, form)
    z = at_most(z, form.erfc_underflow)

    head = head_of(z, form)
    raised = form.raised
    square = head * head
    shifted = square.mulacc(-form.log2_e[0], form.to_integer + raised)
    n = shifted - (form.to_integer + raised)
    first, second = form.ln_2
    r = n.mulacc(first, square) + n.mulacc(second, (z - head) * (z + head))

    divisor = z + SHIFT
    inverse = divisor.recip()
    constant, *rest = form.erfc_ratio
    lost = inverse.mulacc(-divisor, constant)  # 1 - inverse * divisor, and F(0) / FACTOR - 1.
    lost = inverse.mulacc(divisor - SHIFT - z, lost)
    t = (z + POLE).recip().mulacc(z, -CENTER)
    ratio = t.mulacc(horner(t, tuple(rest)), lost)

    slope = horner(r, (-FACTOR, *form.erfc_exp_tail))
    power = r.mulacc(slope, FACTOR)
    lost = r.mulacc(slope, FACTOR - power)
    scale = _scaled(inverse, shifted)
    result = scale.mulacc(power, scale * power.mulacc(ratio, lost))
    result = result * 2.0**-raised  # Rounded once more where it is subnormal.
    return (x < 0.0).where(2.0 - result, result)


def _scaled(x: RecipeValue[V], shifted: RecipeValue[V]) -> RecipeValue[V]:
    """x times the power of two whose exponent is in the low bits of `shifted`."""
    form = format_of(x)
    exponent = shifted.bitcast(form.unsigned) << form.stored
    return (x.bitcast(form.unsigned) + exponent).bitcast(form.dtype)


def gelu(x: RecipeValue[V]) -> RecipeValue[V]:
    """x P(Z < x) for a normal Z; inf at inf and NaN at -inf.

    With z = |x|, P(Z > z) is Q = e^(-z^2/2) G(z) / (GELU_SCALE z + GELU_SHIFT), where G is nearly
    1. e^(-z^2/2) = 2^n e^u, with z^2/2 as a sum of two floats. Q, or 1 - Q where x is positive,
    is a sum of two floats as well, whose product by x is rounded once.
    """
    form = format_of(x)
    is_least = x < -form.gelu_underflow
    y = is_least.where(x.constant(-form.gelu_underflow), x)
    y = at_most(y, form.gelu_underflow)
    z = clear_sign(y, form)

    head = head_of(z, form)
    minus_half = head * -0.5
    square = head * minus_half
    raised = form.raised
    shifted = square.mulacc(form.log2_e[0], form.to_integer + raised)
    n = shifted - (form.to_integer + raised)
    first, second = form.ln_2
    u = n.mulacc(-first, square)
    rest = (z - head).mulacc(z.mulacc(-0.5, minus_half), n * -second)
    total = u + rest
    rest = (total * total).mulacc(horner(total, form.gelu_exp_tail), rest)  # e^total - 1 - u

    # The rounding errors of the reciprocals: of the first, 1 - inverse * divisor counts as it is.
    constant, *coefficients = form.gelu_ratio
    divisor = z.mulacc(GELU_SCALE, GELU_SHIFT)
    inverse = divisor.recip()
    lost = inverse.mulacc(-divisor, constant)
    lost = inverse.mulacc(z.mulacc(-GELU_SCALE, divisor - GELU_SHIFT), lost)
    second_inverse = (z + GELU_POLE).recip()
    t = second_inverse.mulacc(z, -GELU_CENTER)
    error = second_inverse.mulacc(-GELU_POLE, second_inverse.mulacc(-z, 1.0))
    lost = (error * z).mulacc(GELU_SLOPE, lost)
    ratio = t.mulacc(horner(t, tuple(coefficients)), lost)  # G - 1

    # scale (1 + u + rest) (1 + ratio) = top + small
    scale = _scaled(inverse, shifted)
    scale = is_least.where(scale.constant(0.0), scale)
    top = scale.mulacc(u, scale)
    small = scale.mulacc(rest, scale.mulacc(u, scale - top))
    small = scale.mulacc(ratio.mulacc(u + rest, ratio), small)

    # Q is raised, and the product by it rounded once more where it is subnormal.
    is_negative = x < 0.0
    down = 2.0**-raised
    other = top.mulacc(-down, 1.0)
    small_other = small.mulacc(-down, top.mulacc(-down, 1.0 - other))
    top = is_negative.where(top, other)
    small = is_negative.where(small, small_other)
    return x.mulacc(top, y * small) * is_negative.where(x.constant(down), 1.0)
