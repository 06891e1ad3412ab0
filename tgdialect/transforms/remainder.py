"""FMOD in primitive operations, for f32 and f64: exact for every quotient, as C99's fmod.

A quotient that leaves its product with the divisor exact takes one step. A larger one, up to
2^2098, is first reduced: f32 in f64 by 25 bits of quotient at a time, f64 by powers of two that
are squared modulo the divisor. A target skips the reduction where no lane needs it, as that of SIN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Generic

from tgdialect.transforms.float_format import F64, format_of
from tgdialect.transforms.recipe import Pair, RecipeValue, Triple, V
from tgdialect.transforms.transcendental import clear_sign

STEP_F32 = 25
"""The bits of quotient that one step takes off in f64. Below 2^25 a quotient of 24-bit numbers is
further from the next integer than twice its error, and a product with 24 bits is exact."""
MOST_F32 = 277
"""The bits of the greatest quotient of two f32: 2^128 / 2^-149."""
STEP_F64 = 25
"""The bits of quotient for which the nearest quotient times either half of the divisor, and the
differences to both products, are exact."""
RAISED = 54
"""The exponent of the power of two that makes a subnormal f64 normal."""


def fmod(x: RecipeValue[V], y: RecipeValue[V]) -> RecipeValue[V]:
    """x - n y for the integer n with |x - n y| < |y| and the sign of x, which 0 has, too. NaN for
    an infinite x and y = 0; x for an infinite y."""
    form = format_of(x)
    rest = REMAINDERS[x.dtype](clear_sign(x, form), clear_sign(y, form))
    sign = x.bitcast(form.unsigned) & form.sign_bit
    return (rest.bitcast(form.unsigned) | sign).bitcast(form.dtype)


def _remainder_f32(x: RecipeValue[V], y: RecipeValue[V]) -> RecipeValue[V]:
    """`fmod` for x, y >= 0, in f64."""
    dividend, divisor = x.cast("f64"), y.cast("f64")
    # A whole quotient may be rounded down, but by less than this, and others end lower.
    quotient = dividend.mulacc(divisor.recip(), 2.0**-26).trunc()
    short = (dividend - quotient * divisor).cast("f32")
    rest = (x < y * 2.0**STEP_F32).where(short, _reduced_f32(dividend, divisor))
    return (x < y).where(x, rest)


def _reduced_f32(x: RecipeValue[V], y: RecipeValue[V]) -> RecipeValue[V]:
    """`fmod` for x >= y > 0, in f64, by steps of 25 bits; a quotient may be one off."""
    minus_inverse = y.recip() * -1.0
    for shift in range(MOST_F32 // STEP_F32 * STEP_F32, -1, -STEP_F32):
        quotient = (x * (minus_inverse * 2.0**-shift)).trunc()
        x = quotient.mulacc(y * 2.0**shift, x)
    return _not_negative(x, y).cast("f32")


def _remainder_f64(x: RecipeValue[V], y: RecipeValue[V]) -> RecipeValue[V]:
    """`fmod` for x, y >= 0."""
    head = _head(y)
    quotient = _quotient(x, y.recip() * -1.0)
    short = _not_negative(quotient.mulacc(y - head, quotient.mulacc(head, x)), y)
    # The nearest multiple may be greater than x, and has to be finite, as the reciprocal.
    is_short = (x < y * 2.0**STEP_F64) & (x < 2.0**1022) & (y > 2.0**-1022)
    return (x < y).where(x, is_short.where(short, _not_negative(_reduced_f64(x, y), y)))


def _not_negative(rest: RecipeValue[V], y: RecipeValue[V]) -> RecipeValue[V]:
    return (rest < 0.0).where(rest + y, rest)


def _reduced_f64(x: RecipeValue[V], y: RecipeValue[V]) -> RecipeValue[V]:
    """A number congruent to x modulo y from -y / 2 to y / 2, for x >= y.

    With x = m 2^i and y = n 2^j for integers m and n of 53 bits, it is (m 2^(i - j) mod n) 2^j.
    The power of two is squared five times modulo n, since i - j < 2^12.
    """
    m, i, _ = _parts(x)
    n, j, unit = _parts(y)
    modulus = _Modulus(n, _head(n), n.recip() * -1.0)
    distance = i - j
    power = modulus.reduced(_power_of_two(distance >> 5))
    for _ in range(5):
        power = modulus.product(power, power)
    power = modulus.product(power, _power_of_two(distance & 31))
    rest = modulus.product(power, modulus.reduced(m)) * 2.0**-F64.stored * unit
    rest = (y < F64.least_normal).where(rest * 2.0**-RAISED, rest)
    # An infinite x has no significand, and 0 is no modulus.
    return ((x < math.inf) & (y > 0.0)).where(rest, math.nan)


def _parts(x: RecipeValue[V]) -> Triple[V]:
    """The significand as an integer of 53 bits, the biased exponent, and the power of two below x,
    which is raised if x is subnormal."""
    is_subnormal = x < F64.least_normal
    bits = is_subnormal.where(x * 2.0**RAISED, x).bitcast("i64")
    exponent = bits >> F64.stored
    exponent = is_subnormal.where(exponent - RAISED, exponent)
    hidden = 1 << F64.stored
    significand = ((bits & (hidden - 1)) | hidden).cast("f64")
    return significand, exponent, (bits & -hidden).bitcast("f64")


def _power_of_two(exponent: RecipeValue[V]) -> RecipeValue[V]:
    return ((exponent + F64.bias) << F64.stored).bitcast("f64")


@dataclass(frozen=True)
class _Modulus(Generic[V]):
    """Arithmetic modulo an integer n of 53 bits, on integers in f64 from -n / 2 to n / 2, but for
    an error of the quotient that is far smaller. Products are exact, as sums of two floats (Dekker,
    "A floating-point technique for extending the available precision", 1971)."""

    n: RecipeValue[V]
    head: RecipeValue[V]
    minus_inverse: RecipeValue[V]

    def reduced(self, x: RecipeValue[V]) -> RecipeValue[V]:
        """The residue of an integer below 2^66 that has 53 bits."""
        quotient = _quotient(x, self.minus_inverse)
        return quotient.mulacc(self.n - self.head, quotient.mulacc(self.head, x))

    def product(self, x: RecipeValue[V], y: RecipeValue[V]) -> RecipeValue[V]:
        """The residue of the product of two residues, or of one and an integer up to 2^31."""
        product, lost = _exact_product(x, _head(x), y, _head(y))
        quotient = _quotient(product, self.minus_inverse)
        multiple, extra = _exact_product(quotient, _head(quotient), self.n, self.head)
        high, low = product + multiple, lost + extra
        # The quotient may be one off, and the sum of both parts then has 54 bits.
        return _quotient(high + low, self.minus_inverse).mulacc(self.n, high) + low


def _quotient(x: RecipeValue[V], minus_inverse: RecipeValue[V]) -> RecipeValue[V]:
    """Minus the integer nearest to a quotient below 2^51, or one beside it up to 2^52."""
    return x.mulacc(minus_inverse, F64.to_integer) - F64.to_integer


def _head(x: RecipeValue[V]) -> RecipeValue[V]:
    """x rounded to 26 bits; what that leaves has 26 bits and a sign, so that products are exact."""
    return ((x.bitcast("i64") + (1 << 26)) & -(1 << 27)).bitcast("f64")


def _exact_product(
    x: RecipeValue[V], x_head: RecipeValue[V], y: RecipeValue[V], y_head: RecipeValue[V]
) -> Pair[V]:
    """The product of two floats, and what its rounding loses."""
    product = x * y
    x_tail, y_tail = x - x_head, y - y_head
    lost = x_head * y_head - product
    lost = x_tail.mulacc(y_head, x_head.mulacc(y_tail, lost))
    return product, x_tail.mulacc(y_tail, lost)


REMAINDERS = {"f32": _remainder_f32, "f64": _remainder_f64}
