"""Powers: of constant exponents by products, of integers by squaring."""

from __future__ import annotations

from typing import Self

from tgdialect.frontend import dtypes
from tgdialect.frontend.base import ArgumentError, Number, Operand, TensorBase, number_of
from tgdialect.frontend.elementwise import Elementwise
from tgdialect.frontend.precision import rounded_once
from tgdialect.frontend.symbolic import SymInt
from tgdialect.ops import tg


class Powers(Elementwise):
    """`pow`, and what it is made of."""

    __slots__ = ()

    @rounded_once
    def pow(self, x: Self | Operand, reverse: bool = False) -> Self:
        """self ** x. An integer to the power of an integer is an integer."""
        base, exponent = self._pair(x, reverse)
        if not reverse and not isinstance(x, TensorBase | SymInt):
            return self._to_the(number_of(x))
        if base.dtype.is_float:
            return base._binary(tg.PowOp, exponent)
        return base._integer_power(exponent)

    def _integer_power(self, exponent: Self) -> Self:
        """A power by repeated squaring, which wraps as products do; 0 for negative exponents, whose
        results are fractions."""
        bits = int(self.dtype.high).bit_length()
        result, square, rest = self._constant(1), self, exponent
        is_odd = exponent.bitwise_and(1).ne(0)
        for i in range(bits):
            result = rest.bitwise_and(1).ne(0).where(result * square, result)
            if i < bits - 1:
                square, rest = square * square, rest.rshift(1)
        if self.dtype.low == 0:
            return result
        inverse = (self.eq(1) | (self.eq(-1) & is_odd.logical_not())).cast(self.dtype)
        inverse = inverse - (self.eq(-1) & is_odd).cast(self.dtype)
        return (exponent < 0).where(inverse, result)

    def _to_the(self, x: Number) -> Self:
        """A power with a constant exponent."""
        x_dtype = dtypes.promote_number(self.dtype, x)
        base = self.cast(x_dtype)
        if isinstance(x, int) or float(x).is_integer():
            n = int(x)
            if n < 0 and not x_dtype.is_float:
                raise ArgumentError("an integer has no negative power that is an integer")
            if abs(n) <= 64:
                if n == 0:
                    # 1, for NaN and infinities too.
                    return base._with_zero_gradient(base.eq(base).where(1, 1).cast(x_dtype))
                if n > 0:
                    return base._repeated_product(n)._apart_from(self)
                if n == -1:
                    return base.reciprocal()  # Of others the product may overflow.
        if x == 0.5:
            return base.sqrt()
        if not x_dtype.is_float:
            return base.pow(base._constant(x))
        return base._binary(tg.PowOp, base._constant(x))

    def _repeated_product(self, n: int) -> Self:
        """self ** n. From three factors of floats on, what the rounding of products loses is kept,
        and added once."""
        if not self.dtype.is_float or n < 3:
            return self._power_and_rest(n, None)[0]
        if n == 3:
            square = self * self
            x, s = self.detach(), square.detach()
            lost = x * x._mulacc(x, -s)
            # The square is below this bound wherever the cube is finite, and the loss is finite.
            is_bounded = s < self.dtype.max_finite**0.7
            return self._mulacc(square, is_bounded.where(lost, 0))
        # The rounding errors of small products may be subnormal.
        bits = -self.dtype.min_exponent // 2 // n
        is_small = self.detach().abs() < 2.0**-bits
        factor, back = (
            is_small.where(2.0**exponent, self._constant(1)) for exponent in (bits, -bits * n)
        )
        result, lost = (self * factor)._power_and_rest(n, self._constant(0))
        assert lost is not None
        return result._corrected(lost) * back

    def _power_and_rest(self, n: int, zero: Self | None) -> tuple[Self, Self | None]:
        """self ** n, and what its rounding loses; None without a zero, which self loses."""
        if n == 1:
            return self, zero
        half, lost = self._power_and_rest(n // 2, zero)
        square, lost = half._product_and_rest(lost, half, lost)
        return square._product_and_rest(lost, self, zero) if n % 2 else (square, lost)

    def _product_and_rest(
        self, lost: Self | None, other: Self, other_lost: Self | None
    ) -> tuple[Self, Self | None]:
        """The product of two numbers, and what its rounding loses if that is known of both; NaN or
        infinite where the product is, and without derivative."""
        product = self * other
        if lost is None or other_lost is None:
            return product, None
        x, y = self.detach(), other.detach()
        cross = lost._mulacc(y, x * other_lost)
        return product, x._mulacc(y, -product.detach()) + cross

    def __pow__(self, x: Self | Operand) -> Self:
        return self.pow(x)

    def __rpow__(self, x: Operand) -> Self:
        return self.pow(x, True)
