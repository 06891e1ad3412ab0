"""ERF, ERFC and GELU in primitive operations, for f32 and f64.

ERF is within 2 ulp (f32) and 3 ulp (f64) of the exact result for every argument. Up to 1 it is x
plus x times a polynomial in x^2; beyond, 1 - 2^(x Q(x)), where x Q(x) approximates log2 of
1 - erf x: what Q loses counts for little there, since 1 - erf x is small beside 1. After Juffa's
`erff` (2017).
"""

from __future__ import annotations

from dataclasses import dataclass

from tgdialect.transforms.float_format import format_of
from tgdialect.transforms.recipe import RecipeValue, V, horner
from tgdialect.transforms.transcendental import at_most, clear_sign, exp2_of_normal, head_of


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorFunctionTables:
    """The constants of ERF in one format; the coefficients come from `tools/minimax.py`."""

    near: tuple[float, ...]
    """erf(x)/x - 1 in x^2, for |x| <= 1."""
    far: tuple[float, ...]
    """log2(1 - erf x) / x in x, for 1 <= x <= saturation."""
    saturation: float
    """From here on erf x rounds to 1."""
    ratio: tuple[float, ...]
    """F(x) of `erfc` / FACTOR in t = x / (x + POLE) - CENTER, for 0 <= x <= underflow."""
    exp_tail: tuple[float, ...]
    """FACTOR (e^-r - 1 + r) / r^2 for |r| <= ln 2 / 2, and what x^2 is more than h^2."""
    underflow: float
    """From here on erfc x rounds to 0."""
    gelu_ratio: tuple[float, ...]
    """G(x) of `gelu` in t = x / (x + GELU_POLE) - GELU_CENTER, for 0 <= x <= gelu_underflow."""
    gelu_exp_tail: tuple[float, ...]
    """(e^u - 1 - u) / u^2 for |u| <= ln 2 / 2, and what x^2 / 2 is more than h^2 / 2."""
    gelu_underflow: float
    """From here on -x P(Z > x) rounds to 0."""


SHIFT, FACTOR, POLE, CENTER = 11 / 16, 321 / 512, 3.0, 345 / 1024
"""Constants of ERFC, found by trial. With this SHIFT, F is within a seventh of FACTOR, so that its
rounding counts for little; with this POLE, a polynomial in t has a low degree, and with this CENTER
small coefficients. F / FACTOR at the center is an f32, but for 2^-34."""

GELU_SCALE, GELU_SHIFT, GELU_POLE, GELU_CENTER = 17 / 8, 63 / 32, 17 / 4, 351 / 1024
"""Constants of GELU, found by trial, as those of ERFC: with them G is 1 within a tenth, flat for
small x and for large x, and at the center an f32, but for 2^-30."""
GELU_SLOPE = -9 / 512
"""x times this is about the derivative of G by log x, for large x."""


TABLES = {
    "f32": ErrorFunctionTables(
        near=(  # relative error: 2^-28.7
            0.12837916612625122,
            -0.3761262595653534,
            0.1128358542919159,
            -0.026853814721107483,
            0.005188330542296171,
            -0.0008010202436707914,
            7.853849820094183e-05,
        ),
        far=(  # error of erf x: 2^-27.8
            -1.6282249689102173,
            -0.9167030453681946,
            -0.15244822204113007,
            0.033314187079668045,
            -0.00459067290648818,
            0.00020017210044898093,
            4.1023700759978965e-05,
            -5.131674242875306e-06,
        ),
        saturation=4.0,
        ratio=(  # relative error of F: 2^-28.7
            1.1206369400024414,
            -0.3938418924808502,
            -0.3530120849609375,
            1.741258978843689,
            -2.8840456008911133,
            2.6695382595062256,
            -1.108994960784912,
            -0.3795797824859619,
            0.5824140906333923,
            0.017978699877858162,
            -0.20617204904556274,
        ),
        exp_tail=(  # relative error of e^-r: 2^-27.1
            0.3134762644767761,
            -0.10449125617742538,
            0.02613081783056259,
            -0.00524683715775609,
            0.0008271306287497282,
        ),
        underflow=10.0625,
        gelu_ratio=(  # relative error of G: 2^-28.5
            1.0382472276687622,
            -0.32312312722206116,
            -0.3874097466468811,
            1.6811950206756592,
            -2.74324369430542,
            2.547884941101074,
            -1.088600754737854,
            -0.33344554901123047,
            0.5603740215301514,
            0.0016952153528109193,
            -0.19566400349140167,
        ),
        gelu_exp_tail=(  # relative error of e^u: 2^-32.4
            0.5,
            0.16666661202907562,
            0.04166644811630249,
            0.008334672078490257,
            0.0013936382019892335,
            0.000191168233868666,
        ),
        gelu_underflow=14.5,
    ),
    "f64": ErrorFunctionTables(
        near=(  # relative error: 2^-55.1
            0.12837916709551256,
            -0.3761263890318352,
            0.112837916709442,
            -0.026866170643113415,
            0.005223977606130842,
            -0.0008548325929766244,
            0.0001205529358693695,
            -1.4924712439534814e-05,
            1.6447132699786621e-06,
            -1.6206318752969208e-07,
            1.3710988704190523e-08,
            -7.779462971761597e-10,
        ),
        far=(  # error of erf x: 2^-55.2
            -1.6279065807605968,
            -0.9184523285878369,
            -0.14825191975996943,
            0.027551026041492906,
            0.0003810406341353034,
            -0.002544092845048322,
            0.0009344106681668973,
            -8.271283794684047e-05,
            -8.510990690916182e-05,
            5.487252232957945e-05,
            -1.926065098683906e-05,
            4.691381728949049e-06,
            -8.293975669281295e-07,
            1.0541851388328279e-07,
            -9.1806420703343e-09,
            4.917678733786181e-10,
            -1.2231496353596717e-11,
        ),
        saturation=6.0,
        ratio=(  # relative error of F: 2^-57.3
            1.1206369400380505,
            -0.3938418834713144,
            -0.3530126446340354,
            1.741257396706456,
            -2.88400030481143,
            2.6696001566593237,
            -1.1102021921078644,
            -0.380420405906278,
            0.5964201114361952,
            0.02198507627681366,
            -0.2787496000500884,
            -0.005672478373588765,
            0.14208909403842473,
            0.02489759322462734,
            -0.07290015751197307,
            -0.035757243633606876,
            0.03014180885927329,
            0.035175171267991655,
            -0.002574264621937213,
            -0.028576397801413314,
            -0.009058918985948664,
            0.02095367083923716,
            0.002564607882074498,
            -0.006095243928707771,
        ),
        exp_tail=(  # relative error of e^-r: 2^-57.7
            0.3134765625000008,
            -0.1044921874999988,
            0.026123046874907112,
            -0.005224609375076668,
            0.0008707682327597558,
            -0.00012439545971957764,
            1.5549372146326013e-05,
            -1.727727075023079e-06,
            1.7323335690711884e-07,
            -1.5687523018805225e-08,
        ),
        underflow=27.25,
        gelu_ratio=(  # relative error of G: 2^-57.3
            1.038247228254662,
            -0.32312313085737526,
            -0.38741032853180074,
            1.6811949264672346,
            -2.7431968137709095,
            2.547893616685939,
            -1.0898319392794362,
            -0.33349305534320306,
            0.5743724353492594,
            0.0005006638133444252,
            -0.26667572166981673,
            0.00755362931195304,
            0.137350922818245,
            0.015673230323526716,
            -0.07292351518964209,
            -0.029842711935718493,
            0.03290586703855814,
            0.03247529456074737,
            -0.006549254542375794,
            -0.028095411507677845,
            -0.005047827540419872,
            0.020325834958023998,
            0.0007003291959076033,
            -0.005398003368898392,
        ),
        gelu_exp_tail=(  # relative error of e^u: 2^-57.8
            0.5000000000000012,
            0.16666666666666471,
            0.04166666666651974,
            0.008333333333458781,
            0.0013888888945924698,
            0.00019841269580740163,
            2.4801491025492468e-05,
            2.7557522211670346e-06,
            2.7630910072357295e-07,
            2.50198512270166e-08,
        ),
        gelu_underflow=38.75,
    ),
}


def erf(x: RecipeValue[V]) -> RecipeValue[V]:
    """2/sqrt(pi) times the integral of exp(-t^2) from 0 to x; -0 at -0."""
    form, tables = format_of(x), TABLES[x.dtype]
    magnitude = clear_sign(x, form)
    square = x * x
    near = x.mulacc(horner(square, tables.near), x)

    bounded = (magnitude < tables.saturation).where(magnitude, tables.saturation)
    far = 1.0 - exp2_of_normal(bounded * horner(bounded, tables.far))
    sign = x.bitcast(form.unsigned) & form.sign_bit
    far = (far.bitcast(form.unsigned) | sign).bitcast(form.dtype)
    return (magnitude > 1.0).where(far, near)  # NaN is near.


def erfc(x: RecipeValue[V]) -> RecipeValue[V]:
    """1 - erf x; 0 at inf and 2 at -inf.

    With z = |x| it is e^(-z^2) F(z) / (z + SHIFT), or 2 less that where x is negative. F is nearly
    constant. e^(-z^2) = 2^n e^(-r), with z^2 as a sum of two floats. The product of all three is
    rounded once, and what e^(-r), z + SHIFT and its reciprocal lose is added to F.
    """
    form, tables = format_of(x), TABLES[x.dtype]
    z = clear_sign(x, form)
    z = at_most(z, tables.underflow)

    head = head_of(z, form)
    raised = form.raised
    square = head * head
    shifted = square.mulacc(-form.log2_e[0], form.to_integer + raised)
    n = shifted - (form.to_integer + raised)
    first, second = form.ln_2
    r = n.mulacc(first, square) + n.mulacc(second, (z - head) * (z + head))

    divisor = z + SHIFT
    inverse = divisor.recip()
    constant, *rest = tables.ratio
    lost = inverse.mulacc(-divisor, constant)  # 1 - inverse * divisor, and F(0) / FACTOR - 1.
    lost = inverse.mulacc(divisor - SHIFT - z, lost)
    t = (z + POLE).recip().mulacc(z, -CENTER)
    ratio = t.mulacc(horner(t, tuple(rest)), lost)

    slope = horner(r, (-FACTOR, *tables.exp_tail))
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
    form, tables = format_of(x), TABLES[x.dtype]
    is_least = x < -tables.gelu_underflow
    y = is_least.where(x.constant(-tables.gelu_underflow), x)
    y = at_most(y, tables.gelu_underflow)
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
    rest = (total * total).mulacc(horner(total, tables.gelu_exp_tail), rest)  # e^total - 1 - u

    # What the reciprocals lose: of the first, 1 - inverse * divisor counts as it is.
    constant, *coefficients = tables.gelu_ratio
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
