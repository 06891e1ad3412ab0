"""SIN and COS in primitive operations, for f32 and f64.

Within 2 ulp (f32) and 3 ulp (f64) of the exact result for every argument. |x| is reduced by
multiples of pi/2: near zero with the parts of pi/2 (Cody and Waite, "Software Manual for the
Elementary Functions", 1980), further out with as many bits of 1/(2 pi) as the exponent asks for
(Payne and Hanek, "Radian Reduction for Trigonometric Functions", 1983). Both are computed and
one is selected; a target that knows |x| < `sine_limit` needs only `reduce_near`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from tgdialect.transforms.float_format import F32, F64, FloatFormat, format_of
from tgdialect.transforms.recipe import Operand, RecipeValue, Triple, V, horner

INVERSE_TURN = (
    "28BE60DB9391054A7F09D5F47D4D377036D8A5664F10E4107F9458EAF7AEF1586DC91B8E909374B801924BBA82"
    "7464873F877AC72C4A69CFBA208D7D4BAED1213A671C09AD17DF904E64758E60D4CE7D272117E2EF7E4A0EC7FE"
    "25FFF7816603FBCBC462D6829B47DB4D9FB3C9F2C26DD3D18FD9A797FA8B5D49EEB1FAF97C5ECF41CE7DE294A4"
    "BA9AFED7EC47E357421580CC1"
)
"""The hexadecimal digits of 1 / (2 pi) after the point."""


def _words(digits: str, width: int) -> tuple[int, ...]:
    """Hexadecimal digits as words of `width` digits, the first ones first."""
    return tuple(int(digits[i : i + width], 16) for i in range(0, len(digits), width))


TURN_WORDS_F32 = _words("0" * 4 + INVERSE_TURN[:52], 8)
"""2^-16 / (2 pi) in binary, 32 bits to a word, the word after the point first."""
TURN_START_F32 = 134
"""The biased exponent of the f32 whose significand's last bit has the weight 2^-16."""

TURN_WORDS_F64 = _words("0" * 9 + INVERSE_TURN, 16)
"""2^-36 / (2 pi) in binary, 64 bits to a word, the word after the point first."""
TURN_START_F64 = 1039
"""The biased exponent of the f64 whose significand's last bit has the weight 2^-36."""

PI_29 = 0x6487ED51
"""pi * 2^29, rounded."""
PI_F64 = (3.141592653589793, 1.2246467991473532e-16)
"""pi as a sum of two doubles."""

LOW_32 = 0xFFFFFFFF
"""Mask of the low 32 bits of a word of 64."""
QUARTER_TURN = (1 << 62) - 1
"""Mask of the fraction of a quarter turn, where 2^64 is a full one."""


def sin(x: RecipeValue[V]) -> RecipeValue[V]:
    """The sine of x in radians; NaN at the infinities, and -0 at -0."""
    return _wave(x, is_cosine=False)


def cos(x: RecipeValue[V]) -> RecipeValue[V]:
    """The cosine of x in radians, the sine a quarter turn later; NaN at the infinities."""
    return _wave(x, is_cosine=True)


def _wave(x: RecipeValue[V], *, is_cosine: bool) -> RecipeValue[V]:
    form = format_of(x)
    bits = x.bitcast(form.unsigned)
    magnitude = (bits & (form.sign_bit - 1)).bitcast(form.dtype)
    near, near_tail, near_quadrant = reduce_near(magnitude, form)
    far, far_tail, far_quadrant = FAR_REDUCTIONS[x.dtype](magnitude)

    is_near = magnitude < form.sine_limit
    r, tail = is_near.where(near, far), is_near.where(near_tail, far_tail)
    quadrant = is_near.where(near_quadrant, far_quadrant)
    if is_cosine:  # A quarter turn back where the quarter is mirrored, which bit 0 says.
        if x.dtype == "f64":
            quadrant = quadrant + (quadrant << 63)
        quadrant = quadrant + (form.sign_bit >> 1)
    z = r * r
    sine = r + (r * z).mulacc(horner(z, form.sine_tail), tail)
    half, rest = z * 0.5, z * z * horner(z, form.cosine_tail) - r * tail
    if x.dtype == "f64":  # The rounding of 1 - half is half of the error.
        most = 1.0 - half
        cosine = most + ((1.0 - most - half) + rest)
    else:  # What is taken from 1 is not negative, so that no result is greater.
        cosine = 1.0 - (half - rest)
    result = (quadrant & (form.sign_bit >> 1)).ne(0).where(cosine, sine)
    negative = (quadrant if is_cosine else quadrant ^ bits) & form.sign_bit
    result = (result.bitcast(form.unsigned) ^ negative).bitcast(form.dtype)
    return (magnitude < math.inf).where(result, math.nan)


def reduce_near(x: RecipeValue[V], form: FloatFormat) -> Triple[V]:
    """(r, tail, quadrant) with sin x = sin(r + tail + n pi/2), |r| <= pi/4, for 0 <= x <
    sine_limit. The tail is what r is rounded by.

    The two highest bits of the quadrant are n modulo 4. What the second subtraction loses goes
    into the third, so that r is rounded once.
    """
    first, second, third = form.quarter_turn
    shifted = x * form.quarter_turns + form.to_integer
    n = shifted - form.to_integer
    exact = x - n * first
    product = n * second
    rounded = exact - product
    lost = (exact - rounded) - product
    rest = n * third - lost
    r = rounded - rest
    return r, (rounded - r) - rest, shifted.bitcast(form.unsigned) << (form.width - 2)


def reduce_far_f32(x: RecipeValue[V]) -> Triple[V]:
    """(r, tail, quadrant) as `reduce_near`, for any finite x >= sine_limit.

    x = significand * 2^k. The 96 bits of 1/(2 pi) from the bit of weight 2^(-k-1) on give x in
    turns, modulo 1, with an error below 2^-63: those before only add whole turns.
    """
    bits = x.bitcast("ui32")
    position = (bits >> F32.stored) - TURN_START_F32
    significand = ((bits & ((1 << F32.stored) - 1)) | (1 << F32.stored)).cast("ui64")
    pairs = [first << 32 | second for first, second in pairwise(TURN_WORDS_F32)]
    steps = [(position & (32 << level)).ne(0) for level in (1, 0)]
    upper = select_window(significand, pairs[:4], steps, 1)[0]
    lower = select_window(significand, pairs[2:], steps, 1)[0]
    shift = (position & 31).cast("ui64")
    window = (upper << shift) | ((lower >> 32) >> (32 - shift))
    window_end = (lower << shift) >> 32
    turns = significand * window + ((significand * window_end) >> 32)

    # The signed fraction of the nearest quarter turn, in 2^-64 of it, by pi/2: 2^-32 of it is all
    # the precision that the constant needs.
    fraction = (turns << 2).bitcast("i64")
    scaled = (fraction >> 32) * PI_29 + (((fraction & LOW_32) * PI_29) >> 32)
    high = (scaled >> 40) << 40
    head, rest = (part.cast("f32") * 2.0**-62 for part in (high, scaled - high))
    r = head + rest
    return r, rest - (r - head), ((turns + (1 << 61)) >> 32).cast("ui32")


def reduce_far_f64(x: RecipeValue[V]) -> Triple[V]:
    """As `reduce_far_f32`, with turns of 128 bits from a window of 192.

    The upper half of a quarter turn is mirrored, so that r is never the small difference of
    large parts; sin and cos change places there, which the lowest bit of the quadrant says.

    No double comes closer to a multiple of pi/2 than 2^-61 (Ng, "Argument reduction for huge
    arguments: good to the last bit", 1992), which leaves r more than 53 bits.
    """
    bits = x.bitcast("ui64")
    position = (bits >> F64.stored) - TURN_START_F64
    significand = (bits & ((1 << F64.stored) - 1)) | (1 << F64.stored)
    steps = [(position & (64 << level)).ne(0) for level in (3, 2, 1, 0)]
    words = select_window(bits, TURN_WORDS_F64, steps, 4)
    shift = position & 63
    # Two shifts: one of 64 - 0 places would be past the width.
    complement = shift ^ 63
    first, second, third = (
        (word << shift) | ((following >> 1) >> complement) for word, following in pairwise(words)
    )
    middle = significand * second
    low = middle + _high_product(significand, third, exact=False)
    carry = (low < middle).cast("ui64")
    turns = significand * first + _high_product(significand, second, exact=True) + carry

    mirrored = ((turns << 2).bitcast("i64") >> 63).bitcast("ui64")
    high = (turns ^ mirrored) & QUARTER_TURN
    low = low ^ mirrored
    head = _to_f64(high & (QUARTER_TURN - 1023))
    tail = _to_f64(high & 1023) + _to_f64(low >> 11) * 2.0**-53
    rounded = head + tail
    tail = tail - (rounded - head)
    pi, pi_rest = (part * 2.0**-63 for part in PI_F64)
    rest = rounded.mulacc(pi_rest, tail * pi)
    quadrant = (turns ^ (mirrored & (1 << 62))) & (3 << 62)
    r = rounded.mulacc(pi, rest)
    return r, rounded.mulacc(pi, r * -1.0) + rest, quadrant | (mirrored & 1)


FAR_REDUCTIONS = {"f32": reduce_far_f32, "f64": reduce_far_f64}


def select_window(
    like: RecipeValue[V], words: Sequence[int], steps: Sequence[RecipeValue[V]], count: int
) -> list[RecipeValue[V]]:
    """`count` consecutive words, the first at the position whose bits `steps` are, highest first.

    A barrel shifter: each step drops the first or the last half of what may still be first.
    """
    window: list[Operand[V]] = list(words)
    for level, step in enumerate(steps):
        distance = 1 << (len(steps) - 1 - level)
        keep = count + distance - 1
        window = [step.where(like.lifted(window[i + distance]), window[i]) for i in range(keep)]
    return [like.lifted(word) for word in window]


def _high_product(a: RecipeValue[V], b: RecipeValue[V], *, exact: bool) -> RecipeValue[V]:
    """The upper 64 bits of a 53-bit a times a 64-bit b; if not exact, up to 2 less."""
    a_high, a_low = a >> 32, a & LOW_32
    b_high, b_low = b >> 32, b & LOW_32
    outer = a_high * b_low
    inner = a_low * b_high
    if exact:
        outer = outer + ((a_low * b_low) >> 32)
        inner = inner + (outer & LOW_32)
    return a_high * b_high + (outer >> 32) + (inner >> 32)


def _to_f64(x: RecipeValue[V]) -> RecipeValue[V]:
    """A ui64 below 2^63 as f64, by the signed conversion that processors have."""
    return x.bitcast("i64").cast("f64")
