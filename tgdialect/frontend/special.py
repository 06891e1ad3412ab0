"""Functions of probability: the error function, its complement and its inverse, and the logarithm
of the gamma function."""

from __future__ import annotations

import math
from typing import Self

from tgdialect.frontend.base import rounded_once, widened
from tgdialect.frontend.functions import Functions
from tgdialect.ops import tg


class Special(Functions):
    """Functions that are ops or made of polynomials, exponentials and logarithms."""

    __slots__ = ()

    @rounded_once
    def erf(self) -> Self:
        """The error function."""
        return self._float()._unary(tg.ErfOp)

    @widened
    def erfc(self) -> Self:
        """1 - erf(self), without cancellation where that is small."""
        return self._unary(tg.ErfcOp)

    @widened
    def erfinv(self) -> Self:
        """The inverse of the error function: infinite at -1 and 1, NaN beyond.

        Beyond ERFINV_NEAR an approximation of y with erfc(y) = 1 - |x| is improved by the series of
        the inverse at erfc of it.
        """
        magnitude = self.abs()
        is_near, is_inside = magnitude <= ERFINV_NEAR, magnitude < 1
        x = is_near.where(self, 0)
        square = x * x
        tail = square._mulacc(square._polynomial(_ERFINV), _HALF_ROOT_PI_TAIL)
        near = x._mulacc(_HALF_ROOT_PI, x * tail)
        rest = (is_near | is_inside.logical_not()).where(0.25, 1 - magnitude)
        y = (-rest.log()).sqrt()._polynomial(_ERFINV_FAR)
        step = (y.erfc() - rest) * (y * y).exp() * _HALF_ROOT_PI
        series = step._mulacc((y * y)._mulacc(4 / 3, 1 / 3), y)
        far = y + step * step._mulacc(series, 1)
        # An infinity at 1, and NaN beyond, as are the derivatives.
        far = is_inside.where(far, -is_inside.where(0.5, 1 - magnitude).sqrt().log())
        return is_near.where(near, (self < 0).where(-far, far))

    @widened
    def lgamma(self) -> Self:
        """The logarithm of the magnitude of the gamma function; infinite at 0, -1, -2, ...

        In LGAMMA_NEAR a polynomial, below it after one or two steps of the recurrence, and beyond
        it Stirling's formula. Below -1.5 it is that of -x by reflection; LGAMMA makes up for the
        digits that this loses.
        """
        is_reflected = self < -1.5
        x = is_reflected.where(-self, self)
        is_low, is_lower, is_far = x < 0.55, x < -0.5, x > LGAMMA_NEAR[1]
        # Near 1 and 2, where the result is 0.
        z = is_far.where(1.5, x + is_lower.where(2, is_low.where(1, x._constant(0))))
        zeros = (z - 1) * (z - 2)
        lost = (z - 1).detach()._mulacc((z - 2).detach(), -zeros.detach())
        constant, *coefficients = _LGAMMA
        t = (z - LGAMMA_CENTER) / (z + LGAMMA_CENTER)
        ratio = t * t._polynomial(coefficients)
        rest = zeros._mulacc(ratio, lost * (ratio.detach() + constant))
        near = zeros._mulacc(constant, rest)
        # The logarithm of what the recurrence divides by, or of x / e in Stirling's formula.
        product = is_low.where(is_lower.where(x * (x + 1), x), 1)
        product = (product < 0).where(-product, product)
        large = is_far.where(x, 4)
        share, known = large * _INVERSE_E, large.detach()
        lost = known._mulacc(_INVERSE_E, -share.detach()) + known * _INVERSE_E_TAIL
        logarithm = is_far.where(share, product).log()
        inverse = large.reciprocal()
        series = (inverse * inverse)._polynomial(_STIRLING)
        rest = inverse._mulacc(series, _STIRLING_CONSTANT_TAIL)
        # What the rounding of x / e takes from the logarithm, times x - 1/2.
        factor = inverse.detach()._mulacc(-0.5 * math.e, math.e)
        rest = rest + lost.eq(lost).where(lost, 0) * factor
        far = (large - 0.5)._mulacc(logarithm, _STIRLING_CONSTANT + rest)
        value = is_far.where(far, near - logarithm)
        # pi / |x sin(pi x)| is the product of the gamma functions of x and -x.
        is_pole = self.eq(self.trunc())
        turned = (is_reflected & is_pole.logical_not()).where(self, -2.5)
        sine = ((turned - turned.round()) * math.pi).sin().abs()
        reflected = (math.pi / (turned.abs() * sine)).log() - value
        value = is_reflected.where(is_pole.where(math.inf, reflected), value)
        return self._binary(tg.LgammaOp, value)


ERFINV_NEAR = 0.53
"""Up to here `erfinv` is a polynomial. The errors of `erfc` count for less beyond."""
LGAMMA_NEAR = 0.5, 2.6
"""The bounds between which `lgamma` is (x - 1)(x - 2) times a polynomial: around its two zeros, and
so wide that a step of the recurrence from below ends there."""
LGAMMA_CENTER = 73 / 64
"""About the geometric mean of these bounds, at which the polynomial's variable is 0."""
_HALF_ROOT_PI, _HALF_ROOT_PI_TAIL = 0.8862269254527579, 7.268937280462235e-17
"""sqrt(pi) / 2 as a sum of two f64 of one sign."""
_INVERSE_E, _INVERSE_E_TAIL = 0.36787944117144233, -1.2428753672788363e-17
"""1 / e as a sum of two f64."""
_STIRLING_CONSTANT, _STIRLING_CONSTANT_TAIL = 0.4189385332046727, 1.6728209650585413e-17
"""(log(2 pi) - 1) / 2 as a sum of two f64."""
_ERFINV = (
    *(0.23201366653465277, 0.1275561753061446, 0.08655212918064537, 0.06495962116957807),
    *(0.05173116808233003, 0.04283916577817856, 0.03643026506092206, 0.03205326064011511),
    *(0.02533726219902906, 0.0386626117105607, -0.026704185981141288, 0.14090484145472215),
    *(-0.16355845255038606, 0.1574963153700802),
)
"""(erfinv(x)/x - sqrt(pi)/2) / x^2 in x^2, with a relative error of erfinv x of 2^-58.6."""
_ERFINV_FAR = (
    *(0.030842791804309877, -0.23662235048890626, 1.644658606469366, -1.2865813766500869),
    *(0.684996052943462, -0.25891366834636353, 0.07025344296419171, -0.01358985293138922),
    *(0.0018279821367224117, -0.00016234160096044697, 8.551197694273204e-06),
    -2.0218096725261608e-07,
)
"""erfinv(1 - e^(-w^2)) in w, with an error of 2^-19."""
_LGAMMA = (
    *(0.5455130306746763, -0.4732968579449639, 0.13029765988943415, -0.16254342037226965),
    *(0.08670801772839302, -0.09883964351339308, 0.06453708412595963, -0.07096454703929986),
    *(0.05133405046896029, -0.055332904013624507, 0.04260135204113259, -0.045332519547162185),
    *(0.036408946512521335, -0.03843529230183391, 0.031736282837418354, -0.03282470432025608),
    *(0.028375995334335866, -0.032665273688197376, 0.025510123863932872, -0.012249120632338158),
    *(0.017707477430537556, -0.05563187122856873, 0.04125375500717331),
)
"""lgamma(x) / ((x - 1)(x - 2)) in (x - c) / (x + c), with a relative error of 2^-53.5."""
_STIRLING = (
    *(0.08333333333332955, -0.002777777776319908, 0.0007936505839049214, -0.0005952222141557353),
    *(0.0008410148099557013, -0.001894751117767171, 0.005910633378341956, -0.02136762448951927),
    *(0.07337679107606507, -0.19952480799695485, 0.35678267143394204, -0.3040326305945364),
)
"""x times what Stirling's formula lacks, in 1 / x^2, with a relative error of lgamma x of
2^-57.5."""
