"""EXP2, LOG2, SQRT and POW in primitive operations, for f32 and f64.

Within 2 ulp (f32) and 3 ulp (f64) of the exact result over the whole range, subnormals
included; special values as C99. Without branches, tables in memory or library calls. The
coefficients come from `tools/minimax.py`. `sine.py` has SIN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tgdialect.transforms.recipe import Dtype, V, Value, horner


@dataclass(frozen=True, kw_only=True, slots=True)
class FloatFormat:
    """An IEEE 754 format, the integers that hold its bits, and its polynomials.

    Coefficients are lowest degree first, each exact in the format.
    """

    dtype: Dtype
    signed: Dtype
    unsigned: Dtype
    precision: int
    """Significand bits with the hidden one."""
    bias: int
    exp2_tail: tuple[float, ...]
    """(2^r - 1) / r on [-1/2, 1/2]."""
    log2_tail: tuple[float, ...]
    """log2(1 + f) / f for 1 + f in [sqrt(1/2), sqrt(2)]."""
    atanh_tail: tuple[float, ...]
    """(3 atanh(s)/s - 3 - s^2) / s^4 in s^2, for |s| <= (sqrt(2) - 1) / (sqrt(2) + 1)."""
    two_thirds_log2_e: tuple[float, float]
    """2 / (3 ln 2) as a head of at most `precision` / 2 bits, and the rest."""
    root_half_bits: int
    """The bit pattern of sqrt(1/2)."""
    inverse_root_bits: int
    """What to subtract half a bit pattern from for a first estimate of 1/sqrt(x)."""
    inverse_root_steps: int
    """Newton's steps that bring the estimate to full precision."""

    @property
    def stored(self) -> int:
        """Significand bits without the hidden one: the position of the exponent."""
        return self.precision - 1

    @property
    def least_normal(self) -> float:
        return 2.0 ** (1 - self.bias)

    @property
    def to_integer(self) -> float:
        """Adding this rounds |x| < 2^(stored - 1) to an integer, in the low bits of the sum."""
        return 1.5 * 2.0**self.stored

    @property
    def to_integer_bits(self) -> int:
        """The bit pattern of `to_integer`."""
        return (self.bias + self.stored) << self.stored | 1 << (self.stored - 1)

    @property
    def exponent_bits(self) -> int:
        return (self.bias + 1).bit_length()

    @property
    def width(self) -> int:
        return self.precision + self.exponent_bits

    @property
    def sign_bit(self) -> int:
        return 1 << (self.width - 1)

    @property
    def head_mask(self) -> int:
        """Keeps the sign, the exponent and the upper half of the significand's bits."""
        low = (self.precision + 1) // 2
        return 2 * self.sign_bit - (1 << low)


F32 = FloatFormat(
    dtype="f32",
    signed="i32",
    unsigned="ui32",
    precision=24,
    bias=127,
    exp2_tail=(  # relative error of 2^r: 2^-25.9
        0.6931471824645996,
        0.24022647738456726,
        0.055503323674201965,
        0.00961843691766262,
        0.0013398873852565885,
        0.0001535336923552677,
    ),
    log2_tail=(  # 2^-25.7
        1.4426950216293335,
        -0.7213473320007324,
        0.4808982312679291,
        -0.3606966435909271,
        0.2885673940181732,
        -0.23961739242076874,
        0.20460069179534912,
        -0.19106292724609375,
        0.18617461621761322,
        -0.10994874686002731,
    ),
    atanh_tail=(  # 2^-38.6 of log2
        0.5999999642372131,
        0.42857810854911804,
        0.3327752351760864,
        0.2920173108577728,
    ),
    two_thirds_log2_e=(0.961669921875, 0.00012677205086220056),
    root_half_bits=0x3F3504F3,
    inverse_root_bits=0x5F3759DF,
    inverse_root_steps=3,
)

F64 = FloatFormat(
    dtype="f64",
    signed="i64",
    unsigned="ui64",
    precision=53,
    bias=1023,
    exp2_tail=(  # relative error of 2^r: 2^-55.0
        0.6931471805599453,
        0.2402265069591013,
        0.055504108664820084,
        0.009618129107594119,
        0.001333355814677454,
        0.0001540353045711294,
        1.5252733493207057e-05,
        1.3215435281876094e-06,
        1.0178199538516241e-07,
        7.073783321245594e-09,
        4.4347762929112983e-10,
    ),
    log2_tail=(  # 2^-54.7
        1.4426950408889634,
        -0.7213475204444818,
        0.48089834696299105,
        -0.36067376022220776,
        0.28853900817668765,
        -0.24044917348694234,
        0.20609929170284935,
        -0.18033687976307672,
        0.16029943893241047,
        -0.14426951143594427,
        0.13115448892083056,
        -0.12022476415556438,
        0.11096726137463543,
        -0.10303666426763257,
        0.09630925048332992,
        -0.09046573425273588,
        0.08389576359810202,
        -0.07675858431900491,
        0.07819146659943646,
        -0.09080402669609644,
        0.08233658577439401,
        -0.03496866975028998,
    ),
    atanh_tail=(  # 2^-67.4 of log2
        0.5999999999999996,
        0.4285714285716765,
        0.3333333332630903,
        0.2727272830494275,
        0.2307683534251797,
        0.2000447474421596,
        0.17512255854480915,
        0.17983285701435564,
    ),
    two_thirds_log2_e=(0.9617966860532761, 7.872699542894897e-09),
    root_half_bits=0x3FE6A09E667F3BCD,
    inverse_root_bits=0x5FE6EB50C7B537A9,
    inverse_root_steps=4,
)

FORMATS: dict[str, FloatFormat] = {"f32": F32, "f64": F64}


def format_of(x: Value[V]) -> FloatFormat:
    return FORMATS[x.dtype]


def exp2(x: Value[V]) -> Value[V]:
    """2^x; shape and dtype of x."""
    return _exp2_sum(_clamped_exponent(x), None)


def log2(x: Value[V]) -> Value[V]:
    """log2 x; -inf at zeros and NaN below."""
    form = format_of(x)
    m, e = _split_exponent(x, form)
    f = m - 1.0
    result = f.mulacc(horner(f, form.log2_tail), e)
    return _log2_special(x, result)


def sqrt(x: Value[V]) -> Value[V]:
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
    head = _head(r, form)
    tail = r - head
    residual = scaled - head * head - head * tail * 2.0 - tail * tail
    r = r + residual * (y * 0.5)

    r = tiny.where(r * 2.0**-shift, r)
    r = (x + x).eq(x).where(x, r)  # zeros and inf
    return (x < 0.0).where(x.constant(math.nan), r)


def power(x: Value[V], y: Value[V]) -> Value[V]:
    """x^y with the special values of C99's pow.

    log2 |x| and its product with y are kept as sums of two floats. Every x^y that is neither
    NaN, 0 nor infinite has |y log2 x| < 2^12, so the relative error of the sum must stay below
    2^-(precision + 11). After the method of FreeBSD's e_pow.c (Sun Microsystems, 1993).
    """
    form = format_of(x)
    magnitude = _clear_sign(x, form)
    log_head, log_tail = _log2_pair(magnitude, form)

    # Past this bound x^y is 0, 1 or inf, and products of y would overflow.
    bound = 2.0 ** (form.precision + form.exponent_bits + 2)
    finite_y = (y < bound).where(y, bound)
    finite_y = (finite_y < -bound).where(y.constant(-bound), finite_y)
    y_head = _head(finite_y, form)
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


def _clear_sign(x: Value[V], form: FloatFormat) -> Value[V]:
    """|x|."""
    return (x.bitcast(form.unsigned) & (form.sign_bit - 1)).bitcast(form.dtype)


def _head(x: Value[V], form: FloatFormat) -> Value[V]:
    """x without the lower half of its significand: products of two heads are exact."""
    return (x.bitcast(form.unsigned) & form.head_mask).bitcast(form.dtype)


def _clamped_exponent(x: Value[V]) -> Value[V]:
    """x, moved to where 2^x has just become 0 or inf if it lies beyond; NaN stays."""
    form = format_of(x)
    high = float(form.bias + 2)
    low = -float(form.bias + form.precision + 2)
    return (x > high).where(x.constant(high), x).max(low)


def _exp2_sum(x: Value[V], tail: Value[V] | None) -> Value[V]:
    """2^(x + tail) for a clamped x and a tail below its last bit.

    x = n + r with an integer n and |r| <= 1/2. 2^n is applied in two factors, for it may be
    subnormal or beyond the greatest exponent; the first product is exact, so that the result
    is rounded once. They are factors, not sums of exponents, so that NaN stays NaN.
    """
    form = format_of(x)
    shifted = x + form.to_integer
    n = shifted.bitcast(form.signed) - form.to_integer_bits
    r = x - (shifted - form.to_integer)
    if tail is not None:
        r = r + tail
    fraction = r.mulacc(horner(r, form.exp2_tail), 1.0)
    half = n >> 1
    first = ((half + form.bias) << form.stored).bitcast(form.dtype)
    second = ((n - half + form.bias) << form.stored).bitcast(form.dtype)
    return fraction * first * second


def _split_exponent(x: Value[V], form: FloatFormat) -> tuple[Value[V], Value[V]]:
    """(m, e) with x = m * 2^e, m in [sqrt(1/2), sqrt(2)) and e an integral float, for x > 0."""
    subnormal = x < form.least_normal
    scaled = subnormal.where(x * 2.0**form.precision, x)
    bits = scaled.bitcast(form.signed)
    exponent = (bits - form.root_half_bits) >> form.stored
    m = (bits - (exponent << form.stored)).bitcast(form.dtype)
    e = exponent.cast(form.dtype)
    return m, subnormal.where(e - float(form.precision), e)


def _log2_special(x: Value[V], result: Value[V]) -> Value[V]:
    """`result` where x is positive and finite, else what C99 says."""
    result = (x < math.inf).where(result, x)  # inf and NaN
    nonpositive = x.eq(0.0).where(x.constant(-math.inf), math.nan)
    return (x > 0.0).where(result, nonpositive)


def _log2_pair(x: Value[V], form: FloatFormat) -> tuple[Value[V], Value[V]]:
    """log2 x as a head of half the significand's bits and a rest, for positive finite x.

    With s = (m - 1) / (m + 1), log2 m = 2/(3 ln 2) s (3 + s^2 + s^4 tail(s^2)).
    """
    m, e = _split_exponent(x, form)
    f = m - 1.0
    denominator = m + 1.0
    inverse = denominator.recip()
    s = f * inverse
    s_head = _head(s, form)
    denominator_head = _head(denominator, form)
    denominator_tail = m - (denominator_head - 1.0)
    s_tail = (f - s_head * denominator_head - s_head * denominator_tail) * inverse

    w = s * s
    square = s_head * s_head
    rest = (w * w).mulacc(horner(w, form.atanh_tail), s_tail * (s_head + s))
    bracket_head = _head(square + 3.0 + rest, form)
    bracket_tail = rest - (bracket_head - 3.0 - square)

    product = s_head * bracket_head
    product_tail = s_tail * bracket_head + bracket_tail * s
    head = _head(product + product_tail, form)
    tail = product_tail - (head - product)

    factor_head, factor_tail = form.two_thirds_log2_e
    log_head = head * factor_head
    log_tail = head * factor_tail + tail * (factor_head + factor_tail)
    total = _head(log_head + log_tail + e, form)
    return total, log_tail - (total - e - log_head)
