"""EXP2, EXP, EXPM1, LOG2, LOG, LOG10, LOG1P, SOFTPLUS, SQRT and POW in primitive operations, for
f32 and f64.

Within 2 ulp (f32) and 3 ulp (f64) of the exact result over the whole range, subnormals
included; special values as C99. Without branches, tables in memory or library calls. `sine.py`
has SIN, `float_format.py` the coefficients.
"""

from __future__ import annotations

import math

from tgdialect.transforms.float_format import FloatFormat, format_of
from tgdialect.transforms.recipe import Pair, RecipeValue, V, horner

LN_2 = math.log(2)
"""The natural logarithm of 2, as an f64."""


def exp2(x: RecipeValue[V]) -> RecipeValue[V]:
    """2^x; shape and dtype of x."""
    return _exp2_sum(_clamped_exponent(x), None)


def exp2_of_more(x: RecipeValue[V]) -> RecipeValue[V]:
    """2^x, if x is at least `least_of_normal` or NaN; else anything."""
    return exp2_of_normal(at_most(x, float(format_of(x).bias + 2)))


def least_of_normal(form: FloatFormat, *, natural: bool = False) -> float:
    """The least x for which EXP2, or EXP if `natural`, does not care whether the result is
    subnormal."""
    return float(math.ceil((2 - form.bias) * LN_2)) if natural else 2.0 - form.bias


def exp(x: RecipeValue[V]) -> RecipeValue[V]:
    """e^x; shape and dtype of x."""
    form = format_of(x)
    low = float(math.floor(-(form.bias + form.precision + 2) * LN_2))
    x = _below_overflow(at_least(x, low), form)
    shifted, r = exp_parts(x, form)
    # Where the result may be subnormal, it is raised and then rounded once, by the last product.
    raised = form.raised
    is_small = x < least_of_normal(form, natural=True)
    shifted = is_small.where(shifted + raised, shifted)
    result = _exp_of_parts(shifted, r, form)
    return is_small.where(result * 2.0**-raised, result)


def expm1(x: RecipeValue[V]) -> RecipeValue[V]:
    """e^x - 1 = 2^n (e^r - 1) + 2^n - 1. The terms of the first order are added with what their
    rounding loses. Half of the result is computed, so that 2^n is finite."""
    form = format_of(x)
    bounded = _below_overflow(at_least(x, float(math.ceil(-(form.bias - 3) * LN_2))), form)
    shifted, minus_n = exponents(bounded, form)
    first, second = form.ln_2
    high = minus_n.mulacc(first, bounded)
    r = minus_n.mulacc(second, high)
    tail = minus_n.mulacc(second, high - r)
    half = power_of_two(shifted, form)
    base = half - 0.5
    total = r.mulacc(half, base)
    lost = r.mulacc(half, base - total) + (half - base - 0.5)
    part = (r * r).mulacc(horner(r, form.exp_tail), tail)
    return _unless_tiny(x, (total + part.mulacc(half, lost)) * 2.0, form)


def _unless_tiny(x: RecipeValue[V], value: RecipeValue[V], form: FloatFormat) -> RecipeValue[V]:
    """The value of a function close to x, which x is for tiny x; 0 has its sign."""
    return (clear_sign(x, form) < 2.0 ** -(form.precision + 1)).where(x, value)


def exp_of_more(x: RecipeValue[V]) -> RecipeValue[V]:
    """e^x, if x is at least `least_of_normal` or NaN; else anything."""
    form = format_of(x)
    return _exp_of_parts(*exp_parts(_below_overflow(x, form), form), form)


def _below_overflow(x: RecipeValue[V], form: FloatFormat) -> RecipeValue[V]:
    """x, or a bound above which e^x is infinite."""
    return at_most(x, float(math.ceil((form.bias + 1) * LN_2)))


def exp_parts(x: RecipeValue[V], form: FloatFormat, less: int = 1) -> Pair[V]:
    """(s, r) with x = n ln 2 + r and |r| <= ln 2 / 2, but for a rounding of n; s has the exponent
    of 2^(n - less) in its low bits."""
    shifted, minus_n = exponents(x, form, less)
    first, second = form.ln_2
    return shifted, minus_n.mulacc(second, minus_n.mulacc(first, x))


def exponents(x: RecipeValue[V], form: FloatFormat, less: int = 1) -> Pair[V]:
    """s of `exp_parts`, and -n."""
    to_exponent = form.to_integer + (form.bias - less)
    shifted = x.mulacc(form.log2_e[0], to_exponent)
    return shifted, to_exponent - shifted


def _exp_of_parts(shifted: RecipeValue[V], r: RecipeValue[V], form: FloatFormat) -> RecipeValue[V]:
    """2^n e^r of `exp_parts`, as `exp2_of_normal`."""
    twice = horner(r, tuple(2.0 * c for c in (1.0, 1.0, *form.exp_tail)))
    return twice * power_of_two(shifted, form)


def log2(x: RecipeValue[V]) -> RecipeValue[V]:
    """log2 x; -inf at zeros and NaN below.

    log2(1 + f) is f log2 e + f^2 times a polynomial, the first product of the sum last: where it
    is not rounded, as with FMA, little else is."""
    form = format_of(x)
    m, e = _split_exponent(x, form)
    f = m - 1.0
    first, second = form.log2_e
    rest = f * f.mulacc(horner(f, form.log2_tail), second)
    return _log_special(x, f.mulacc(first, rest) + e)


def log(x: RecipeValue[V]) -> RecipeValue[V]:
    """The natural logarithm; -inf at zeros and NaN below."""
    form = format_of(x)
    m, e = _split_exponent(x, form)
    return _log_special(x, _natural_log(m - 1.0, e))


def _natural_log(
    f: RecipeValue[V], e: RecipeValue[V], lost: RecipeValue[V] | None = None
) -> RecipeValue[V]:
    """log(1 + f) + e ln 2 + lost."""
    form = format_of(f)
    first, second = form.ln_2
    square, tail = f * f, horner(f, form.log_tail)
    rest = square.mulacc(tail, e * second if lost is None else e.mulacc(second, lost))
    return e.mulacc(first, f + rest)


def log10(x: RecipeValue[V]) -> RecipeValue[V]:
    """The logarithm to base 10; -inf at zeros and NaN below. Both terms of the first order are
    products with constants of two parts; that of the exponent is exact, and comes last."""
    form = format_of(x)
    m, e = _split_exponent(x, form)
    f = m - 1.0
    slope, rest_of_slope = form.log10_e
    first, second = form.log10_2
    rest = e.mulacc(second, f * f.mulacc(horner(f, form.log10_tail), rest_of_slope))
    return _log_special(x, e.mulacc(first, f.mulacc(slope, rest)))


def log1p(x: RecipeValue[V]) -> RecipeValue[V]:
    """The natural logarithm of 1 + x; -inf at -1 and NaN below.

    What the rounding of 1 + x loses is added to its logarithm, divided by 1 + x; where that is near
    1, x itself takes the place of the rounded difference to 1.
    """
    form = format_of(x)
    total = x + 1.0
    lost = (x - (total - 1.0)) * total.recip()
    m, e = _split_exponent(total, form)
    is_near = e.eq(0.0)
    f = is_near.where(x, m - 1.0)
    lost = is_near.where(x.constant(0.0), lost)
    result = _natural_log(f, e, lost)
    return _unless_tiny(x, _log_special(total, result), form)


NEAR, NEAR_FACTOR = -1.1875, 2447 / 4096
"""The bound of -|x| above which SOFTPLUS takes the logarithm of NEAR_FACTOR (1 + e^-|x|), which is
near 1.

-log NEAR_FACTOR is added last; it is almost an f32, and almost an f64. What it is added to rounds
at half of the result's last bit or less: since NEAR_FACTOR < e^-1/2, that is below 1/2 where the
result is below 1, and it is above -1/4 where the result is above 1/4.
"""


def near_logarithm(
    exponent: RecipeValue[V], scale: RecipeValue[V], r: RecipeValue[V], rest: RecipeValue[V]
) -> tuple[RecipeValue[V], RecipeValue[V], RecipeValue[V], RecipeValue[V]]:
    """(s, base, tail, is_near) with log(c + s (1 + r + rest)) = base + (s r + tail), where s is
    c times `scale`, a power of two of 1 at most. The base is exact. The constant c is NEAR_FACTOR
    where `exponent` is above NEAR, and 1 elsewhere; its logarithm is still to be subtracted."""
    form = format_of(scale)
    is_near = exponent > NEAR
    scale = is_near.where(scale * NEAR_FACTOR, scale)
    base = is_near.where(scale - (1.0 - NEAR_FACTOR), scale)
    f = scale.mulacc(r + rest, base)
    tail = f.mulacc(f * horner(f, form.near_log_tail), scale * rest)
    return scale, base, tail, is_near


def softplus(x: RecipeValue[V]) -> RecipeValue[V]:
    """log(1 + e^x) = max(x, 0) + log(1 + e^-|x|); 0 at -inf and inf at inf.

    e^-|x| = 2^n (1 + r + rest) is not rounded. With c = 1, or NEAR_FACTOR where |x| is small, the
    logarithm is log(1 + f) - log c, where f = (c 2^n + c - 1) + c 2^n (r + rest). The first term
    of f is exact. It is added to the other terms of log(1 + f), which are smaller, after these.
    """
    form = format_of(x)
    exponent = (x.bitcast(form.unsigned) | form.sign_bit).bitcast(form.dtype)
    low = float(math.floor(-(form.bias + form.precision + 2) * LN_2))
    exponent = at_least(exponent, low)
    shifted, r = exp_parts(exponent, form, less=0)
    # Where e^-|x| may be subnormal, it is raised: log(1 + f) is then f.
    raised = form.raised
    is_small = exponent < least_of_normal(form, natural=True)
    shifted = is_small.where(shifted + raised, shifted)
    scale = power_of_two(shifted, form)
    rest = r * r * horner(r, form.exp_tail)

    scale, base, tail, is_near = near_logarithm(exponent, scale, r, rest)
    logarithm = base + scale.mulacc(r, tail)
    logarithm = is_small.where(logarithm * 2.0**-raised, logarithm)
    total = (x > 0.0).where(x, 0.0) + logarithm
    return is_near.where(total + form.minus_log_of_near_factor, total)


def sqrt(x: RecipeValue[V]) -> RecipeValue[V]:
    """The square root; NaN below zero, and -0 at -0.

    The estimate is EXP2(0.5 * LOG2(x)), each function taken to be linear between powers of two:
    an integer is the logarithm of the float with its bits, up to scale and offset. Newton's
    iteration on 1/sqrt(x) and one step with the exact residual x - r^2 do the rest.
    """
    form = format_of(x)
    # The residual of a tiny x would be subnormal.
    tiny = x < form.least_normal * 2.0 ** (2 * form.precision)
    shift = form.precision + form.precision % 2
    scaled = tiny.where(x * 2.0 ** (2 * shift), x)

    bits = scaled.bitcast(form.unsigned)
    y = (form.inverse_root_bits - (bits >> 1)).bitcast(form.dtype)
    half = scaled * 0.5
    for _ in range(form.inverse_root_steps):
        y = y * (1.5 - half * y * y)
    r = scaled * y
    head = head_of(r, form)
    tail = r - head
    residual = scaled - head * head - head * tail * 2.0 - tail * tail
    r = r + residual * (y * 0.5)

    r = tiny.where(r * 2.0**-shift, r)
    r = (x + x).eq(x).where(x, r)  # zeros and inf
    return (x < 0.0).where(x.constant(math.nan), r)


def power(x: RecipeValue[V], y: RecipeValue[V]) -> RecipeValue[V]:
    """x^y with the special values of C99's pow.

    log2 |x| and its product with y are kept as sums of two floats. Every x^y that is neither
    NaN, 0 nor infinite has |y log2 x| < 2^12, so the relative error of the sum must stay below
    2^-(precision + 11). After the method of FreeBSD's e_pow.c (Sun Microsystems, 1993).
    """
    form = format_of(x)
    magnitude = clear_sign(x, form)
    log_head, log_tail = _log2_pair(magnitude, form)

    # Past this bound x^y is 0, 1 or inf, and products of y would overflow.
    bound = 2.0 ** (form.precision + form.exponent_bits + 2)
    finite_y = (y < bound).where(y, bound)
    finite_y = at_least(finite_y, -bound)
    y_head = head_of(finite_y, form)
    tail = (finite_y - y_head) * log_head + finite_y * log_tail
    head = y_head * log_head
    total = head + tail
    rest = tail - (total - head)
    clamped = _clamped_exponent(total)
    result = _exp2_sum(clamped, clamped.eq(total).where(rest, 0.0))

    # 0 and inf: x^y is |x| or its reciprocal.
    extreme = (magnitude + magnitude).eq(magnitude)
    result = extreme.where((y < 0.0).where(magnitude.recip(), magnitude), result)

    integer = y.trunc().eq(y)
    half_y = y * 0.5
    odd = integer & half_y.trunc().ne(half_y)
    sign = x.bitcast(form.unsigned) & odd.where(x.constant(form.sign_bit, form.unsigned), 0)
    result = (result.bitcast(form.unsigned) | sign).bitcast(form.dtype)

    undefined = (x < 0.0) & ~integer & (magnitude < math.inf)
    result = undefined.where(x.constant(math.nan), result)
    result = (x.ne(x) | y.ne(y)).where(x + y, result)
    return (x.eq(1.0) | y.eq(0.0)).where(x.constant(1.0), result)


def power_of_two(shifted: RecipeValue[V], form: FloatFormat) -> RecipeValue[V]:
    """The float whose exponent's bits are the low bits of `shifted`."""
    return (shifted.bitcast(form.unsigned) << form.stored).bitcast(form.dtype)


def at_most(x: RecipeValue[V], high: float) -> RecipeValue[V]:
    """x, or a bound where it is greater; NaN stays."""
    bound = x.constant(high)
    return (x > bound).where(bound, x)


def at_least(x: RecipeValue[V], low: float) -> RecipeValue[V]:
    """x, or a bound where it is less; NaN stays."""
    bound = x.constant(low)
    return (x < bound).where(bound, x)


def clear_sign(x: RecipeValue[V], form: FloatFormat) -> RecipeValue[V]:
    """|x|."""
    return (x.bitcast(form.unsigned) & (form.sign_bit - 1)).bitcast(form.dtype)


def head_of(x: RecipeValue[V], form: FloatFormat) -> RecipeValue[V]:
    """x without the lower half of its significand: products of two heads are exact."""
    return (x.bitcast(form.unsigned) & form.head_mask).bitcast(form.dtype)


def _clamped_exponent(x: RecipeValue[V]) -> RecipeValue[V]:
    """x, moved to where 2^x has just become 0 or inf if it lies beyond; NaN stays."""
    form = format_of(x)
    x = at_most(x, float(form.bias + 2))
    return at_least(x, -float(form.bias + form.precision + 2))


def _exp2_sum(x: RecipeValue[V], tail: RecipeValue[V] | None) -> RecipeValue[V]:
    """2^(x + tail) for a clamped x and a tail below its last bit.

    Where the result may be subnormal, x is raised first: it is rounded once, by the last product.
    """
    form = format_of(x)
    raised = form.raised
    is_small = x < least_of_normal(form)
    result = exp2_of_normal(is_small.where(x + raised, x), tail)
    return is_small.where(result * 2.0**-raised, result)


def exp2_of_normal(x: RecipeValue[V], tail: RecipeValue[V] | None = None) -> RecipeValue[V]:
    """2^(x + tail) for a clamped x, a tail below its last bit, and a result that is not subnormal.

    x = n + r with an integer n and |r| <= 1/2, and the result is 2^(1 + r) times the float that has
    n - 1 for its exponent: that one is finite even where the result is not. Products, not sums
    of exponents, so that NaN stays NaN.
    """
    form = format_of(x)
    to_exponent = form.to_integer + (form.bias - 1)
    shifted = x + to_exponent
    r = x - (shifted - to_exponent)
    if tail is not None:
        r = r + tail
    twice = r.mulacc(horner(r, tuple(2.0 * c for c in form.exp2_tail)), 2.0)
    return twice * power_of_two(shifted, form)


def _split_exponent(x: RecipeValue[V], form: FloatFormat) -> Pair[V]:
    """(m, e) with x = m * 2^e, m in [sqrt(1/2), sqrt(2)) and e an integral float, for x > 0."""
    subnormal = x < form.least_normal
    scaled = subnormal.where(x * 2.0**form.precision, x)
    bits = scaled.bitcast(form.signed)
    exponent = (bits - form.root_half_bits) >> form.stored
    m = (bits - (exponent << form.stored)).bitcast(form.dtype)
    e = exponent.cast(form.dtype)
    return m, subnormal.where(e - float(form.precision), e)


def _log_special(x: RecipeValue[V], result: RecipeValue[V]) -> RecipeValue[V]:
    """`result` where x is positive and finite, else what C99 says."""
    result = (x < math.inf).where(result, x)  # inf and NaN
    nonpositive = x.eq(0.0).where(x.constant(-math.inf), math.nan)
    return (x > 0.0).where(result, nonpositive)


def _log2_pair(x: RecipeValue[V], form: FloatFormat) -> Pair[V]:
    """log2 x as a head of half the significand's bits and a rest, for positive finite x.

    With s = (m - 1) / (m + 1), log2 m = 2/(3 ln 2) s (3 + s^2 + s^4 tail(s^2)).
    """
    m, e = _split_exponent(x, form)
    f = m - 1.0
    denominator = m + 1.0
    inverse = denominator.recip()
    s = f * inverse
    s_head = head_of(s, form)
    denominator_head = head_of(denominator, form)
    denominator_tail = m - (denominator_head - 1.0)
    s_tail = (f - s_head * denominator_head - s_head * denominator_tail) * inverse

    w = s * s
    square = s_head * s_head
    rest = (w * w).mulacc(horner(w, form.atanh_tail), s_tail * (s_head + s))
    bracket_head = head_of(square + 3.0 + rest, form)
    bracket_tail = rest - (bracket_head - 3.0 - square)

    product = s_head * bracket_head
    product_tail = s_tail * bracket_head + bracket_tail * s
    head = head_of(product + product_tail, form)
    tail = product_tail - (head - product)

    factor, factor_head, factor_tail = form.two_thirds_log2_e
    log_head = head * factor_head
    log_tail = head * factor_tail + tail * factor
    total = head_of(log_head + log_tail + e, form)
    return total, log_tail - (total - e - log_head)
