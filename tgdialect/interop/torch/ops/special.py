"""ATen's other special functions: of the normal distribution, of integers, of the bits of floats,
orthogonal polynomials."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportPrivateUsage=false

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

import tgdialect as tg
from tgdialect.frontend import dtypes
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.torch.ops.bessel import polynomial
from tgdialect.interop.torch.rules import Table, in_f64, in_own_dtype, in_result_dtype

aten = torch.ops.aten
prims = torch.ops.prims

# -- the normal distribution -----------------------------------------------------------------------


def _erfcx(x: Tensor) -> Tensor:
    """exp(x^2) erfc(x)."""
    above = x.abs().minimum(1e300)  # Beyond, the polynomial's variable is 1.
    found = polynomial((above - 3) / (above + 3), _ERFCX) / (x.abs() * 2 + 1)
    square = x * x
    lost = x._mulacc(x, -square)
    rise = square.exp() * 2 * (square.isinf().where(0, lost) + 1)
    return (x < 0).where(rise - found, found)


def _ndtri(p: Tensor) -> Tensor:
    """The inverse of the normal distribution function.

    In the middle by the inverse of the error function. In the tails by four of Newton's steps for
    the logarithm of the probability, each of which doubles the digits.
    """
    is_low, is_high = p < 0.1, p > 0.9
    tail = is_low.where(p, is_high.where(1 - p, 0.1))
    is_open = (tail > 0) & (tail < 1)
    logarithm = is_open.where(tail, 0.1).log()
    w = (logarithm * -2).sqrt()
    y = w - (w * math.sqrt(2 * math.pi)).log() / w
    for _ in range(4):
        scaled = _erfcx(y * math.sqrt(0.5))
        excess = (scaled * 0.5).log() - y * y * 0.5 - logarithm
        y = y + excess * scaled * math.sqrt(math.pi / 2)
    middle = (is_low | is_high).where(0, p * 2 - 1).erfinv() * math.sqrt(2)
    found = is_low.where(-y, is_high.where(y, middle))
    found = (p == 0).where(-math.inf, (p == 1).where(math.inf, found))
    return ((p >= 0) & (p <= 1)).where(found, math.nan)


# -- integers and bits -----------------------------------------------------------------------------


def _gcd(a: Tensor, b: Tensor) -> Tensor:
    """The greatest common divisor, by Euclid's algorithm."""
    a, b = a.abs()._broadcasted(b.abs())

    def step(state: Any) -> Any:
        x, y = state
        is_done = y == 0
        rest = x.mod(is_done.where(1, y))
        return is_done.where(x, y), is_done.where(0, rest)

    return tg.while_loop(lambda state: (state[1] != 0).any(), step, (a, b))[0]


def _lcm(a: Tensor, b: Tensor) -> Tensor:
    """The least common multiple; 0 if one is 0."""
    divisor = _gcd(a, b)
    is_zero = divisor == 0
    return is_zero.where(0, (a.div(is_zero.where(1, divisor), rounding_mode="trunc") * b).abs())


def _frexp(x: Tensor) -> tuple[Tensor, Tensor]:
    """The mantissa in [0.5, 1) and the exponent to base 2, as C's; 0, infinities and NaN are their
    own mantissas."""
    wide = x.cast(dtypes.float64)
    is_subnormal = wide.abs() < 2.0**-1022
    scaled = is_subnormal.where(wide * 2.0**54, wide)
    bits = scaled.bitcast("int64")
    exponent = (bits >> 52) & 0x7FF
    mantissa = ((bits & ~(0x7FF << 52)) | (1022 << 52)).bitcast("float64")
    is_special = (wide == 0) | wide.isinf() | wide.isnan()
    exponent = exponent - 1022 - is_subnormal.where(54, 0).cast("int64")
    return is_special.where(wide, mantissa), is_special.where(0, exponent)


def hypot(a: Tensor, b: Tensor) -> Tensor:
    """sqrt(a^2 + b^2) without overflow."""
    a, b = a.abs(), b.abs()
    greater, less = a.maximum(b), a.minimum(b)
    is_finite = (greater > 0) & (greater < math.inf)
    ratio = is_finite.where(less, 0) / is_finite.where(greater, 1)
    found = is_finite.where(greater, 1) * (ratio * ratio + 1).sqrt()
    found = is_finite.where(found, greater)
    return ((a == math.inf) | (b == math.inf)).where(math.inf, found)


# -- orthogonal polynomials ------------------------------------------------------------------------


@dataclass(frozen=True)
class _Family:
    """Polynomials that a recurrence makes of the two before.

    Attributes:
        first: the polynomial of degree 1.
        step: that of degree k + 1, from x, k, that of degree k and the one before.
        inside: the polynomial of degree n for |x| < 1 as a function of acos(x) and n; None if there
            is no short one.
        ends: its magnitude at 1 and at -1, which have no sign and the sign (-1)^n.
    """

    first: Callable[[Tensor], Tensor]
    step: Callable[[Tensor, Any, Tensor, Tensor], Tensor]
    inside: Callable[[Tensor, Tensor], Tensor] | None = None
    ends: Callable[[Tensor], tuple[Any, Any]] | None = None


def _chebyshev(
    first: Callable[[Tensor], Tensor],
    inside: Callable[[Tensor, Tensor], Tensor],
    ends: Callable[[Tensor], tuple[Any, Any]],
) -> _Family:
    return _Family(first, lambda x, k, p, before: x * 2 * p - before, inside, ends)


_T = _chebyshev(lambda x: x, lambda t, n: (t * n).cos(), lambda n: (1.0, 1.0))
_U = _chebyshev(
    lambda x: x * 2, lambda t, n: (t * (n + 1)).sin() / t.sin(), lambda n: (n + 1, n + 1)
)
_V = _chebyshev(
    lambda x: x * 2 - 1,
    lambda t, n: (t * (n + 0.5)).cos() / (t * 0.5).cos(),
    lambda n: (1.0, n * 2 + 1),
)
_W = _chebyshev(
    lambda x: x * 2 + 1,
    lambda t, n: (t * (n + 0.5)).sin() / (t * 0.5).sin(),
    lambda n: (n * 2 + 1, 1.0),
)
_H = _Family(lambda x: x * 2, lambda x, k, p, before: x * 2 * p - k * 2 * before)
_HE = _Family(lambda x: x, lambda x, k, p, before: x * p - k * before)
_L = _Family(lambda x: 1 - x, lambda x, k, p, before: ((k * 2 + 1 - x) * p - k * before) / (k + 1))
_P = _Family(lambda x: x, lambda x, k, p, before: ((k * 2 + 1) * x * p - k * before) / (k + 1))

_SHORT = 8
"""The degree up to which a recurrence is as exact as cosines, and is one kernel without a loop."""
_HERMITE_DEGREES = {32: 128, 64: 512}
"""By the bits of a float: the degree of Hermite polynomials beyond which PyTorch has NaN."""


def _orthogonal(family: _Family, x: Any, n: Any, most: bool = False) -> Tensor:
    """The polynomials of a family of degrees n; 0 for negative ones."""
    bits = next(v.dtype.bits for v in (x, n) if isinstance(v, Tensor))
    x, n = Tensor(x, "float64")._broadcasted(Tensor(n, "float64"))
    degree = n.isfinite().where(n, -1).trunc()
    limit, is_closed, found = degree, degree < 0, degree * 0
    if family.inside is not None and family.ends is not None:
        is_closed = (degree > _SHORT) & (x.abs() <= 1)
        limit = is_closed.where(0, degree)
        angle = (is_closed & (x.abs() < 1)).where(x, 0.5).acos()
        above, below = (v + degree * 0 for v in family.ends(degree))
        at_end = (x > 0).where(above, (degree.mod(2) == 0).where(below, -below))
        found = (x.abs() == 1).where(at_end, family.inside(angle, degree))
    if most:
        limit = limit.minimum(_HERMITE_DEGREES.get(bits, 1024))

    def goes_on(state: Any) -> Tensor:
        k, p, _ = state
        return ((limit > k) & p.isnan().logical_not()).any()

    def step(state: Any) -> Any:
        k, p, before = state
        is_open = limit > k
        return k + 1, is_open.where(family.step(x, k, p, before), p), is_open.where(p, before)

    # The first steps are one kernel, without a loop.
    state: Any = (1.0, family.first(x), x * 0 + 1)
    for _ in range(_SHORT):
        state = step(state)
    state = (Tensor(state[0]).cast(dtypes.float64), *state[1:])
    value = tg.while_loop(goes_on, step, state)[1]
    value = (degree == 0).where(1, value)
    if most:
        value = (degree > _HERMITE_DEGREES.get(bits, 1024)).where(math.nan, value)
    return (degree < 0).where(0, is_closed.where(found, value))


def _lines(name: str, family: _Family, shifted: bool = False, most: bool = False) -> Any:
    """The lines of the overloads of a family: of tensors, and of a number in the place of one."""

    def compute(x: Any, n: Any) -> Tensor:
        if shifted:
            x = (x.cast(dtypes.float64) if isinstance(x, Tensor) else float(x)) * 2 - 1
        return _orthogonal(family, x, n, most)

    packet = getattr(aten, name)
    return {getattr(packet, overload): compute for overload in ("default", "x_scalar", "n_scalar")}


SPECIAL: Table = {
    **in_f64(
        {
            aten.special_erfcx.default: _erfcx,
            aten.special_ndtri.default: _ndtri,
            prims.hypot.default: hypot,
        }
    ),
    **in_own_dtype({aten.frexp.Tensor: _frexp}),
    **in_result_dtype(
        {
            aten.gcd.default: _gcd,
            aten.lcm.default: _lcm,
            **_lines("special_chebyshev_polynomial_t", _T),
            **_lines("special_chebyshev_polynomial_u", _U),
            **_lines("special_chebyshev_polynomial_v", _V),
            **_lines("special_chebyshev_polynomial_w", _W),
            **_lines("special_shifted_chebyshev_polynomial_t", _T, shifted=True),
            **_lines("special_shifted_chebyshev_polynomial_u", _U, shifted=True),
            **_lines("special_shifted_chebyshev_polynomial_v", _V, shifted=True),
            **_lines("special_shifted_chebyshev_polynomial_w", _W, shifted=True),
            **_lines("special_hermite_polynomial_h", _H, most=True),
            **_lines("special_hermite_polynomial_he", _HE, most=True),
            **_lines("special_laguerre_polynomial_l", _L),
            **_lines("special_legendre_polynomial_p", _P),
        }
    ),
}

_ERFCX = (
    *(1.2530080582697296, -0.13562110612458123, -0.047562294353451176, 0.1296451587027649),
    *(-0.11927366341527554, 0.06830802734383974, -0.023770514919609846, 0.0025293918181241806),
    *(0.001888690372865711, -0.0007798322890919704, -0.00010515990906392902),
    *(0.00012509943856881694, 4.9500234180295395e-06, -2.0100852729251828e-05),
    *(-7.332447173064987e-07, 3.4730449918834743e-06, 3.6059375955111935e-07),
    *(-6.175922646727533e-07, -1.4710961394997167e-07, 1.0280982449402661e-07),
    *(4.72080673199222e-08, -1.3924844635302213e-08, -1.1887923223951075e-08),
    *(1.2087504427200233e-09, 2.115962671989073e-09, -3.5596455016217064e-11),
    -1.963916858054108e-10,
)
"""(1 + 2 x) erfcx(x) in (x - 3) / (x + 3), with a relative error of 2^-52.3."""
