"""Functions of floats: exponentials, trigonometry, the activations of networks, the error function
and the logarithm of the gamma function."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Self

import numpy as np

from tgdialect.frontend import dtypes
from tgdialect.frontend.base import Number
from tgdialect.frontend.elementwise import Elementwise
from tgdialect.frontend.precision import rounded_once, widened
from tgdialect.ops import tg

_LN_2 = math.log(2)
"""The natural logarithm of 2, as an f64."""
_LARGE = {32: 1e15, 64: 1e150}
"""By the bits of a float: the square of more may overflow. sqrt(x^2 + 1) rounds to x, and 1 + x,
too."""


class Functions(Elementwise):
    """Functions that are transcendental ops, or made of them and of arithmetic."""

    __slots__ = ()

    # -- exponentials and their inverses -----------------------------------------------------------

    @rounded_once
    def exp2(self) -> Self:
        """2 ** self."""
        return self._float()._unary(tg.Exp2Op)

    @rounded_once
    def exp(self) -> Self:
        """e ** self."""
        return self._float()._unary(tg.ExpOp)

    @rounded_once
    def expm1(self) -> Self:
        """e ** self - 1, without cancellation near 0."""
        return self._float()._unary(tg.Expm1Op)

    @rounded_once
    def log2(self) -> Self:
        """The logarithm to base 2."""
        return self._float()._unary(tg.Log2Op)

    @rounded_once
    def log(self) -> Self:
        """The natural logarithm."""
        return self._float()._unary(tg.LogOp)

    @rounded_once
    def log10(self) -> Self:
        """The logarithm to base 10."""
        return self._float()._unary(tg.Log10Op)

    @rounded_once
    def log1p(self) -> Self:
        """The logarithm of 1 + self, without cancellation near 0."""
        return self._float()._unary(tg.Log1pOp)

    @rounded_once
    def rsqrt(self) -> Self:
        """1 / sqrt(self)."""
        x = self._float()
        root = x.sqrt().reciprocal()
        # A step of Newton's; 0 and infinity have none. Layers do without: the sums that they take
        # the root of are less exact than it.
        exact = root.detach()
        rest = (x.detach() * exact)._mulacc(exact * -0.5, 0.5)
        return root + rest.eq(rest).where(rest * exact, 0)

    @widened
    def logaddexp(self, other: Self | Number) -> Self:
        """log(exp(self) + exp(other))."""
        return self._binary(tg.LogAddExpOp, other, as_float=True)

    # -- trigonometry ------------------------------------------------------------------------------

    @rounded_once
    def sin(self) -> Self:
        """The sine of an angle in radians."""
        return self._float()._unary(tg.SinOp)

    @widened
    def cos(self) -> Self:
        """The cosine of an angle in radians."""
        return self._float()._unary(tg.CosOp)

    def tan(self) -> Self:
        """The tangent of an angle in radians."""
        return self._tan(_MOST[self._function_bits()] / 2)

    @widened
    def _tan(self, most: float) -> Self:
        """The tangent as sin 2x / (1 + cos 2x) or (1 - cos 2x) / sin 2x, for which the errors of
        sine and cosine count less than for sin x / cos x. Twice a number beyond `most` may be
        infinite."""
        is_huge = self.abs() > most
        angle = is_huge.where(self, 2 * self)
        sine, cosine = angle.sin(), angle.cos()
        is_steep = (cosine < 0) & is_huge.logical_not()
        share = is_steep.where(-cosine, cosine)
        total = is_huge.where(share, 1 + share)
        lost = is_huge.where(0, share - (total - 1)).detach()
        ratio = is_steep.where(total, sine) / is_steep.where(sine, total)
        rest = ratio.detach() * (lost / total.detach())
        return ratio._corrected(is_steep.where(rest, -rest))

    @widened
    def asin(self) -> Self:
        """The inverse sine, beyond 1/2 as pi/2 - 2 asin(sqrt((1 - |x|) / 2))."""
        magnitude = self.abs()
        is_steep = magnitude > 0.5
        value = self._asin_of_less(is_steep, magnitude)
        angle = is_steep.where(_HALF_PI - (2 * value - _HALF_PI_TAIL), value)
        return self.eq(0).where(self, (self < 0).where(-angle, angle))

    @widened
    def acos(self) -> Self:
        """The inverse cosine: pi/2 - asin x, beyond 1/2 as 2 asin(sqrt((1 - |x|) / 2)) or pi less
        that."""
        is_negative = self < 0
        magnitude = is_negative.where(-self, self)
        is_steep = magnitude > 0.5
        value = self._asin_of_less(is_steep, magnitude)
        steep = is_negative.where(math.pi - (2 * value - 2 * _HALF_PI_TAIL), 2 * value)
        angle = is_negative.where(value, -value)
        return is_steep.where(steep, _HALF_PI + (angle + _HALF_PI_TAIL))

    def _asin_of_less(self, is_steep: Self, magnitude: Self) -> Self:
        """asin |x|, or asin(sqrt((1 - |x|) / 2)) where x is steep."""
        square = is_steep.where((1 - magnitude) * 0.5, magnitude * magnitude)
        root = is_steep.where(is_steep.where(square, 1).sqrt(), magnitude)
        return root._mulacc(square * square._polynomial(_ASIN), root)

    @widened
    def atan(self) -> Self:
        """The inverse tangent."""
        is_negative = self._has_sign()
        magnitude = is_negative.where(-self, self)
        # Of greater ones the reciprocal is subnormal, and the angle is pi/2.
        large = _LARGE[self.dtype.bits]
        bounded = (magnitude > large).where(large, magnitude)
        angle = bounded._atan_of_ratio(self._constant(1))
        return is_negative.where(-angle, angle)

    def _has_sign(self) -> Self:
        """Whether an f32 or f64 is negative, or -0; the sign outlives a rounding to f32."""
        return self.detach().cast(dtypes.float32).bitcast(dtypes.int32) < 0

    def _atan_of_ratio(self, other: Self) -> Self:
        """atan(self / other) of numbers that are not negative, one of which is 1 or both 0.

        With t the ratio of the lesser to the greater, it is atan t or pi/2 - atan t, and beyond
        tan(pi/8) atan t is pi/4 + atan((t - 1) / (t + 1)). What the rounding of sum, difference
        and quotient loses is added.
        """
        is_steep = self > other
        low, high = is_steep.where(other, self), is_steep.where(self, other)
        is_near = low > _TAN_EIGHTH * high
        difference = is_near.where(low - high, low)
        total = is_near.where(low + high, high.eq(0).where(1, high))
        inverse = total.reciprocal()
        ratio = difference * inverse
        # The same without derivatives.
        low, high, n, d, t = (x.detach() for x in (low, high, difference, total, ratio))
        lost = t._mulacc(low - (d - high), (n + high) - low)
        lost = (t._mulacc(d, -n) + is_near.where(lost, 0)) * inverse.detach()
        square = ratio * ratio
        angle = (ratio * square)._mulacc(square._polynomial(_ATAN), -lost)
        base, tail = (
            is_near.where(part * 0.5, is_steep.where(self._constant(part), 0))
            for part in (_HALF_PI, _HALF_PI_TAIL)
        )
        ratio, angle = (is_steep.where(-part, part) for part in (ratio, angle))
        return base + (ratio + (angle + tail))

    @widened
    def atan2(self, other: Self | Number) -> Self:
        """The angle of the point (other, self), from -pi to pi, with the sign of self."""
        y, x = self._pair(other, as_float=True)
        is_below, is_left = y._has_sign(), x._has_sign()
        # The angle does not depend on the scale, so neither does its gradient.
        scale = y.detach().abs().maximum(x.detach().abs())
        scale = scale.eq(0).where(1, scale)
        y, x = (t.isinf().where(t.sign(), t / scale) for t in (y, x))
        is_origin = y.eq(0) & x.eq(0)
        y = is_origin.where(y.detach(), y)  # Its gradient is 0, as in PyTorch.
        height, distance = is_below.where(-y, y), is_left.where(-x, x)
        angle = height._atan_of_ratio(distance)
        angle = is_left.where(math.pi - (angle - 2 * _HALF_PI_TAIL), angle)
        return is_below.where(-angle, angle)

    def sinh(self) -> Self:
        """The hyperbolic sine."""
        return self._sinh(_HUGE[self._function_bits()])

    @widened
    def _sinh(self, huge: float) -> Self:
        magnitude = self.abs()
        is_huge, less = magnitude._less_if_huge(huge)
        growth = less.expm1()
        value = 0.5 * (growth + growth / (growth + 1))
        value = is_huge.where(growth * _HUGE_FACTOR, value)
        return self.eq(0).where(self, (self < 0).where(-value, value))

    def cosh(self) -> Self:
        """The hyperbolic cosine."""
        return self._cosh(_HUGE[self._function_bits()])

    @widened
    def _cosh(self, huge: float) -> Self:
        is_huge, less = self.abs()._less_if_huge(huge)
        growth = less.exp() * is_huge.where(less._constant(_HUGE_FACTOR), 0.5)
        return growth + 0.25 / growth

    def _function_bits(self) -> int:
        """The bits of the float that a function of this tensor is for, at least 32. A function that
        is widened may not depend on wider numbers: some targets compute it in f32."""
        return max(dtypes.as_float(self.dtype).bits, 32)

    def _less_if_huge(self, huge: float) -> tuple[Self, Self]:
        """Whether e^x may be infinite and half of it not; and x, then less 8."""
        is_huge = self > huge
        return is_huge, self - is_huge.where(self._constant(8), 0)

    @rounded_once
    def tanh(self) -> Self:
        """The hyperbolic tangent."""
        x = self._float()
        magnitude = x.abs()
        twice = 2 * (magnitude > _TANH_IS_ONE).where(_TANH_IS_ONE, magnitude)
        if x.dtype.bits == 64:
            growth = twice.expm1()
            total = growth + 2
            lost = growth - (total - 2)  # What the rounding of the sum loses.
            value = growth / total
            value = value - value * (lost / total)
            return x.eq(0).where(x, (x < 0).where(-value, value))
        value = 1 - 2 / (twice.exp() + 1)
        value = (x < 0).where(-value, value)
        is_small = magnitude < _TANH_LIMIT
        small = is_small.where(x, 0)
        square = small * small
        # A share that is not negative at 0, so that 0 keeps its sign.
        share = square._mulacc(square._polynomial(_TANH), 2.0**x.dtype.min_exponent)
        return is_small.where(small._mulacc(share, small), value)

    def asinh(self) -> Self:
        """The inverse hyperbolic sine."""
        return self._asinh(_LARGE[self._function_bits()])

    @widened
    def _asinh(self, large: float) -> Self:
        magnitude = self.abs()
        is_large = magnitude > large
        small = is_large.where(1, magnitude)
        root = (small * small + 1).sqrt()
        value = magnitude._log1p_of(is_large, small + small * small / (1 + root))
        return self.eq(0).where(self, (self < 0).where(-value, value))

    def acosh(self) -> Self:
        """The inverse hyperbolic cosine; NaN below 1."""
        return self._acosh(_LARGE[self._function_bits()])

    @widened
    def _acosh(self, large: float) -> Self:
        is_large = self > large
        small = is_large.where(1, self)
        less, square = small - 1, small * small - 1
        # Near 1 the square has lost digits, but it has the derivative.
        square = square + (less * (less + 2) - square).detach()
        value = self._log1p_of(is_large, less + square.sqrt())
        return value + (self < 1).where(math.nan, value._constant(0))

    def _log1p_of(self, is_large: Self, value: Self) -> Self:
        """log(1 + value), or log(2 self) where that is large."""
        logarithm = is_large.where(self, value).log1p()
        return logarithm + is_large.where(self._constant(_LN_2), 0)

    @widened
    def atanh(self) -> Self:
        """The inverse hyperbolic tangent."""
        return (self.log1p() - (-self).log1p()) * 0.5

    def _scaled(self, factor: Fraction | float, addend: float = 0.0) -> Self:
        """self * factor + addend of an f32 or f64, rounded about once; the addend is small."""
        high, low = _parts(factor, self.dtype)
        if not low and not addend:
            return self * high
        rest = self._mulacc(low, addend) if addend else self * low
        return self._mulacc(high, rest)

    def _polynomial(self, coefficients: Sequence[float]) -> Self:
        """The polynomial with these coefficients, the constant one first, by Horner's rule."""
        *rest, last = coefficients
        total = self._constant(last)
        for coefficient in reversed(rest):
            total = self._mulacc(total, coefficient)
        return total

    # -- activations -------------------------------------------------------------------------------

    def relu(self) -> Self:
        """max(self, 0), with gradient 0 at 0."""
        return (self <= 0).where(0, self)

    @rounded_once
    def sigmoid(self) -> Self:
        """1 / (1 + exp(-self))."""
        x = self._float()
        return x._constant(1)._gated(x)

    @rounded_once
    def logsigmoid(self) -> Self:
        """log(sigmoid(self))."""
        return -(-self).softplus()

    @rounded_once
    def softplus(self, beta: float = 1.0, threshold: float = math.inf) -> Self:
        """log(1 + exp(beta * self)) / beta; self where beta * self is above a threshold."""
        if beta == 0:
            raise ValueError("softplus with beta 0")
        x = self._float() * beta
        result = x._unary(tg.SoftplusOp) * (1 / beta)
        return result if threshold == math.inf else (x > threshold).where(self, result)

    @rounded_once
    def silu(self) -> Self:
        """self * sigmoid(self)."""
        x = self._float()
        return x._gated(x)

    def swish(self) -> Self:
        """`silu`."""
        return self.silu()

    def mish(self) -> Self:
        """self * tanh(softplus(self))."""
        x = self._float()
        return x._mish_of_f64() if x.dtype.bits == 64 else x._mish()

    @widened
    def _mish(self) -> Self:
        """With g = exp(self) and n = g (g + 2) it is self * n / (n + 2); self * g where g of f32,
        in which some targets compute this, may be subnormal."""
        is_tail = self < -_MISH_IS_X
        bounded = (self > _MISH_IS_X).where(_MISH_IS_X, self)
        growth = is_tail.where(self + 16, bounded).exp()
        n = growth * (growth + 2)
        return is_tail.where(self * growth, self) * is_tail.where(math.exp(-16), n / (n + 2))

    def _mish_of_f64(self) -> Self:
        """The same with n, n + 2 and their quotient as sums of two floats; silu, which is as close,
        where g may be subnormal."""
        growth = (self > _MISH_IS_X).where(_MISH_IS_X, self).exp()
        n = growth._mulacc(growth, 2 * growth)
        total = n + 2
        ratio = n / total
        # The same without derivatives.
        x, g, high, d, q = (t.detach() for t in (self, growth, n, total, ratio))
        low = g._mulacc(g, 2 * g - high)
        two = d - high
        total_low = (high - (d - two)) + (2 - two) + low
        rest = q._mulacc(-total_low, q._mulacc(-d, high) + low)
        rest = rest * (0.5 - 0.5 * q)  # 1 / (n + 2) is half of 1 - q.
        lost = (x > _MISH_IS_X).where(0.0, x * rest)
        return (self < -_MISH_IS_X).where(self._gated(self), self._mulacc(ratio, lost))

    @rounded_once
    def gelu(self, approximate: str = "tanh") -> Self:
        """self * P(Z < self) for a normal Z; `approximate` is "tanh" or "none"."""
        if approximate == "none":
            return self._float()._unary(tg.GeluOp)
        if approximate != "tanh":
            raise ValueError(f"approximate is tanh or none, got {approximate!r}")
        x = self._float()
        linear, _ = _parts(_GELU_LINEAR, x.dtype)
        cubic, cubic_rest = _parts(_GELU_CUBIC, x.dtype)
        square = x * x
        slope = square._mulacc(cubic, linear)
        argument = x * slope
        # The rounding errors of the three. head has so few digits that head - slope is exact.
        bits = x.dtype.precision // 2
        head = round(linear * 2**bits) / 2**bits
        known, square, slope = x.detach(), square.detach(), slope.detach()
        square_lost = known._mulacc(known, -square)
        lost = square._mulacc(cubic_rest, float(_GELU_LINEAR - Fraction(head)))
        lost = square._mulacc(cubic, head - slope) + square_lost._mulacc(cubic, lost)
        lost = known._mulacc(lost, known._mulacc(slope, -argument.detach()))
        return x._gated(argument, lost)

    @rounded_once
    def quick_gelu(self) -> Self:
        """self * sigmoid(1.702 * self)."""
        x = self._float()
        high, low = _parts(1.702, x.dtype)
        argument, y = x * high, x.detach()
        return x._gated(argument, y._mulacc(low, y._mulacc(high, -argument.detach())))

    def _gated(self, argument: Self, lost: Self | None = None) -> Self:
        """self * sigmoid(argument + lost), where rounding has lost that of the argument."""
        rest = () if lost is None else (lost.node,)
        return self._apply(tg.GateOp, self.node, argument.node, *rest)

    def relu6(self) -> Self:
        """relu, at most 6."""
        return self._between(0, 6)

    def _between(self, low: float, high: float) -> Self:
        """Clamped to [low, high], with gradient 0 outside; NaN stays NaN."""
        return (self <= low).where(low, (self >= high).where(high, self))

    @rounded_once
    def elu(self, alpha: float = 1.0) -> Self:
        """self where that is positive, else alpha * (exp(self) - 1)."""
        return (self > 0).where(self, alpha * (self > 0).where(0, self)._float().expm1())

    @rounded_once
    def celu(self, alpha: float = 1.0) -> Self:
        """self where that is positive, else alpha * (exp(self / alpha) - 1)."""
        return (self > 0).where(self, alpha * ((self > 0).where(0, self) / alpha).expm1())

    @widened
    def selu(self, alpha: float = 1.67326, gamma: float = 1.0507) -> Self:
        """gamma * elu(self, alpha)."""
        less = (self > 0).where(0, self).expm1()
        return (self > 0).where(self._scaled(gamma), less._scaled(gamma * alpha))

    @rounded_once
    def leaky_relu(self, neg_slope: float = 0.01) -> Self:
        """self where that is positive, else neg_slope * self."""
        return (self > 0).where(self, neg_slope * self)

    @rounded_once
    def hardsigmoid(self, alpha: float = 1 / 6, beta: float = 0.5) -> Self:
        """alpha * self + beta between 0 and 1. A number like 1/6 or 0.2 is that fraction."""
        if not (math.isfinite(alpha) and abs(beta) < _MOST_SHIFT * abs(alpha)):
            return (self * alpha + beta)._between(0, 1)
        slope, height = (
            near if float(near := Fraction(n).limit_denominator(1 << 20)) == n else Fraction(n)
            for n in (alpha, beta)
        )
        x = self._float()
        shift, rest = _parts(height / slope, x.dtype)
        return (x + shift)._scaled(slope, rest * alpha)._between(0, 1)

    @rounded_once
    def hardswish(self) -> Self:
        """self * relu6(self + 3) / 6."""
        x = self._float()
        bounded = x._between(-3, 3)
        total = bounded + 3
        share = total * (1 / 6)
        factor, sum_, inner = share.detach(), total.detach(), bounded.detach()
        # The rounding errors of sum and quotient, six times.
        lost = factor._mulacc(-6, sum_) + (inner - (sum_ - 3))
        return x._mulacc(share, inner * (lost * (1 / 6)))

    def hardtanh(self, min_val: float = -1, max_val: float = 1) -> Self:
        """Between `min_val` and `max_val`, with gradient 0 at both."""
        return self._between(min_val, max_val)

    @rounded_once
    def softsign(self) -> Self:
        """self / (1 + |self|)."""
        magnitude = self.abs()
        if not self.dtype.is_float:
            return self / (1 + magnitude)
        total = (magnitude < 2.0**self.dtype.precision).where(1 + magnitude, magnitude)
        ratio = self / total
        # The same without derivatives.
        x, a, d, q = (t.detach() for t in (self, magnitude, total, ratio))
        # The rounding errors of sum and quotient, times the sum, whose inverse is 1 - |q|.
        gained = q._mulacc(a - (d - 1), q._mulacc(d, -x))
        return gained._mulacc(q.abs() - 1, ratio)

    # -- probability -------------------------------------------------------------------------------

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
        # The error in the logarithm by the rounding of x / e, times x - 1/2.
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


def _parts(number: Fraction | float, dtype: dtypes.DType) -> tuple[float, float]:
    """A number as a sum of two floats of a dtype of 32 or 64 bits, both with its sign: products of
    an infinity with them are not of different signs."""
    kind = dtypes.numpy_of(dtype).type
    with np.errstate(over="ignore"):
        high = float(kind(number))
    if not math.isfinite(high):
        return high, 0.0
    if abs(Fraction(high)) > abs(number):
        high = float(np.nextafter(kind(high), kind(0)))
    return high, float(kind(Fraction(number) - Fraction(high)))


_MOST_SHIFT = 1e9
"""The argument beyond which `hardsigmoid` is 0, so that its digits do not matter."""
_GELU_LINEAR = Fraction("1.595769121605730711759784239737527473903")
"""2 sqrt(2 / pi): `gelu` is x sigmoid(x (_GELU_LINEAR + _GELU_CUBIC x^2))."""
_GELU_CUBIC = _GELU_LINEAR * Fraction(0.044715)
"""The constant of Hendrycks and Gimpel, "Gaussian Error Linear Units" (2016), as an f64."""
_TAN_EIGHTH = math.tan(math.pi / 8)
"""The greatest t of the series of atan: tan(pi / 8), as an f64."""
_ATAN = tuple((-1) ** n / (2 * n + 1) for n in range(1, 21))
"""(atan(t)/t - 1) / t^2 in t^2: the terms of the series that f64 needs up to tan(pi / 8)."""
_HALF_PI, _HALF_PI_TAIL = math.pi / 2, 6.123233995736766e-17
"""pi / 2 as a sum of two f64."""
_MOST = {32: dtypes.float32.max_finite, 64: dtypes.float64.max_finite}
"""The greatest finite float, by bits."""
_HUGE, _HUGE_FACTOR = {32: 80.0, 64: 700.0}, 0.5 * math.exp(8)
"""By the bits of a float, the x beyond which e^x may be infinite and half of it not: e^(x - 8)
times the second number is e^x / 2."""
_ASIN = (
    *(0.1666666666666676, 0.074999999999708, 0.04464285717461178, 0.030381942707800418),
    *(0.02237221498682623, 0.017351612033914936, 0.013980820251142573, 0.011398914958602447),
    *(0.010780236403880882, 0.0037064727109961523, 0.021707289475733773, -0.020998839628855067),
    0.03262848575143863,
)
"""(asin(t)/t - 1) / t^2 in t^2 up to t = 1/2, with a relative error of asin t of 2^-59."""
_TANH_LIMIT = 1.0
"""Up to here tanh of f32 is a polynomial; beyond, the quotient loses less than half an ulp."""
_TANH_IS_ONE, _MISH_IS_X = 20.0, 40.0
"""From here on tanh rounds to 1 and mish to its argument, and from -40 down to silu, in f64 too."""
_TANH = (
    *(-0.33333295583724976, 0.13332344591617584, -0.05387980118393898, 0.021486656740307808),
    *(-0.007946105673909187, 0.002301363507285714, -0.0003584516525734216),
)
"""(tanh(x)/x - 1) / x^2 in x^2 up to the limit, with a relative error of tanh x of 2^-27.4."""
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
