"""Elementwise methods: arithmetic, comparisons, and functions made of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, Self, TypeVar, cast

import numpy as np

from tgdialect.frontend import dtypes
from tgdialect.frontend.base import (
    ArgumentError,
    DTypeError,
    Number,
    Operand,
    TensorBase,
    check_tensors,
    is_operand,
    number_of,
    operand_of,
)
from tgdialect.frontend.dtypes import DTypeLike
from tgdialect.frontend.graph import size_node
from tgdialect.frontend.precision import WIDER, rounded_once
from tgdialect.frontend.symbolic import SymInt
from tgdialect.ops import tg
from tgdialect.ops.elementwise import BinaryOp, UnaryOp
from tgdialect.ops.marker import MarkerOp

E = TypeVar("E")


def _reflected(method: Callable[[E, Any, bool], E]) -> Callable[[E, Any], E]:
    """The operator of a method for a tensor on the right."""
    return lambda self, x: method(self, x, True)


class Elementwise(TensorBase):
    """Functions of each element. Operands broadcast, and are promoted to one dtype."""

    __slots__ = ()

    __array_priority__ = 1000
    """Makes operators of NumPy's numbers return NotImplemented, so that the tensor's are called."""

    # -- operands ----------------------------------------------------------------------------------

    def _pair(
        self, other: Self | Operand, reverse: bool = False, *, as_float: bool = False
    ) -> tuple[Self, Self]:
        """Both operands, cast to the promoted dtype."""
        other = operand_of(self, other)
        if isinstance(other, TensorBase):
            dtype = dtypes.promote(self.dtype, other.dtype)
        else:
            other = number_of(other)
            dtype = dtypes.promote_number(self.dtype, other)
            other = self.of_node(size_node(other)) if isinstance(other, SymInt) else other
        dtype = dtypes.as_float(dtype) if as_float else dtype
        x = self.cast(dtype)
        y = other.cast(dtype) if isinstance(other, TensorBase) else self._constant(other, dtype)
        return (y, x) if reverse else (x, y)

    def _binary(
        self,
        op: type[BinaryOp],
        other: Self | Operand,
        reverse: bool = False,
        as_float: bool = False,
    ) -> Self:
        x, y = self._pair(other, reverse, as_float=as_float)
        return self._apply(op, x.node, y.node)

    def _unary(self, op: type[UnaryOp | MarkerOp]) -> Self:
        return self._apply(op, self.node)

    def _float(self) -> Self:
        return self.cast(dtypes.as_float(self.dtype))

    def _bits(self, op: type[BinaryOp], other: Self | Operand, reverse: bool = False) -> Self:
        if self._side(other):
            number = int(cast(int, other))
            if max(number, -1 - number).bit_length() <= self.dtype.bits:
                other = tg.wrap_to(self.dtype, number)  # In i32, 0xFFFFFFFF has the bits of -1.
        x, y = self._pair(other, reverse)
        if x.dtype.is_float:
            raise DTypeError(f"bits of {x.dtype.name}: only integers and bools have them")
        return self._apply(op, x.node, y.node)

    # -- arithmetic --------------------------------------------------------------------------------

    def add(self, x: Self | Operand, reverse: bool = False) -> Self:
        """self + x."""
        return self._binary(tg.AddOp, x, reverse)

    def sub(self, x: Self | Operand, reverse: bool = False) -> Self:
        """self - x; x - self if `reverse`."""
        return self._binary(tg.SubOp, x, reverse)

    def mul(self, x: Self | Operand, reverse: bool = False) -> Self:
        """self * x."""
        return self._binary(tg.MulOp, x, reverse)

    def div(
        self,
        x: Self | Operand,
        reverse: bool = False,
        rounding_mode: Literal["trunc", "floor"] | None = None,
    ) -> Self:
        """self / x in floats. With a rounding mode the quotient is rounded, and stays an integer
        for integers."""
        if rounding_mode is None:
            return self._binary(tg.DivOp, x, reverse, as_float=True)
        a, b = self._pair(x, reverse)
        if rounding_mode not in ("trunc", "floor"):
            raise ArgumentError(f"rounding_mode is trunc, floor or None, got {rounding_mode!r}")
        if a.dtype.is_float:
            return a._whole_quotient(b, rounding_mode)
        floor = a._binary(tg.IDivOp, b)
        if rounding_mode == "floor":
            return floor
        is_inexact = a._binary(tg.ModOp, b) != 0
        return floor + (is_inexact & (floor < 0)).cast(floor.dtype)

    def _whole_quotient(self, other: Self, rounding_mode: Literal["trunc", "floor"]) -> Self:
        """The quotient of floats rounded to an integer, and not to the float before that."""
        a, b = self.detach(), other.detach()
        rest = (a.mod(b) if rounding_mode == "floor" else a.fmod(b)).cast(dtypes.float64)
        whole = (a.cast(dtypes.float64) - rest) / b.cast(dtypes.float64)
        whole = whole.round().cast(a.dtype)
        whole = rest.isinf().where(-1, whole)  # A finite number over an infinity of other sign.
        quotient = a / b
        whole = whole.eq(0).where(quotient * 0, whole)  # The sign of the quotient.
        is_infinite = b.eq(0) if rounding_mode == "floor" else b.eq(0) | a.isinf()
        # The derivatives are 0: those of alternatives that nothing selects.
        never = self._everywhere(False)
        return never.where(self, never.where(other, is_infinite.where(quotient, whole)))

    def mod(self, x: Self | Operand, reverse: bool = False) -> Self:
        """The remainder with the sign of the divisor. Of floats it is exact, but for one rounding
        where the operands have different signs; 0 has the sign of the dividend, as in PyTorch."""
        a, b = self._pair(x, reverse)
        if not a.dtype.is_float:
            return a._binary(tg.ModOp, b)
        rest = a._binary(tg.FmodOp, b)
        has_other_sign = rest.ne(0) & (rest < 0).ne(b < 0)
        return has_other_sign.where(rest + b, rest)

    def fmod(self, x: Self | Operand) -> Self:
        """The remainder with the sign of the dividend, exact for floats."""
        a, b = self._pair(x)
        if not a.dtype.is_float:
            return a - a.div(b, rounding_mode="trunc") * b
        return a._binary(tg.FmodOp, b)

    def _mulacc(self, factor: Self | Number, addend: Self | Number) -> Self:
        """self * factor + addend in one float dtype, rounded once on machines with FMA."""
        y, z = (v if isinstance(v, Elementwise) else self._constant(v) for v in (factor, addend))
        return self._apply(tg.MulAccOp, self.node, y.node, z.node)

    def _accurate(self) -> Self:
        """Cast to a float of at least 32 bits, in which sums of f16 do not overflow."""
        dtype = dtypes.as_float(self.dtype)
        return self.cast(dtype if dtype.bits >= 32 else dtypes.float32)

    def _corrected(self, lost: Self) -> Self:
        """The sum with what rounding has lost; self where that is not finite, or self is 0."""
        is_finite = (lost - lost).eq(0) & self.ne(0)
        return self + is_finite.where(lost, -0.0)

    def _product(self, other: Self) -> Self:
        """The product of factors in a sum. Of floats of 16 bits or less it is f32, which holds it
        without an error, as matrix instructions and PyTorch compute it."""
        dtype = dtypes.promote(self.dtype, other.dtype)
        if dtype.is_float and dtype.bits < 32:
            return self.cast(dtypes.float32) * other.cast(dtypes.float32)
        return self * other

    def _wide(self) -> Self:
        """Cast to a float with twice the bits, at most 64."""
        return self.cast(WIDER.get(self.dtype, self.dtype))

    def maximum(self, x: Self | Operand) -> Self:
        """The larger of both; NaN if either is NaN."""
        return self._binary(tg.MaxOp, x)

    def minimum(self, x: Self | Operand) -> Self:
        """The smaller of both; NaN if either is NaN."""
        a, b = self._pair(x)
        if a.dtype.is_float:
            return -(-a).maximum(-b)
        if a.dtype.is_bool:
            return a & b
        return ~(~a).maximum(~b)

    def neg(self) -> Self:
        """-self; of a bool, its negation."""
        return self._unary(tg.NotOp if self.dtype.is_bool else tg.NegOp)

    def abs(self) -> Self:
        """The magnitude."""
        if self.dtype.is_bool or self.dtype.low == 0:
            return self._apart_from(self)
        return self.maximum(-self)

    def sign(self) -> Self:
        """-1, 0 or 1; 0 for NaN, as `torch.sign`."""
        if self.dtype.is_bool:
            return self._apart_from(self)
        return self._with_zero_gradient((self > 0).cast(self.dtype) - (self < 0).cast(self.dtype))

    def _with_zero_gradient(self, found: Self) -> Self:
        """`found`, which is computed from this tensor by comparisons, with a gradient of 0 by it as
        in PyTorch. Without, it has none: integers and bools have no history."""
        if not self.node.is_tracked:
            return found
        return found + (self == 0).where(self, 0) * 0

    @rounded_once
    def reciprocal(self) -> Self:
        """1 / self."""
        return self._float()._unary(tg.RecipOp)

    @rounded_once
    def sqrt(self) -> Self:
        """The square root."""
        return self._float()._unary(tg.SqrtOp)

    def square(self) -> Self:
        """self * self."""
        return self * self

    @rounded_once
    def lerp(self, end: Self, weight: Self | Operand) -> Self:
        """self + (end - self) * weight."""
        check_tensors(end)
        return self + (end - self) * weight

    def clamp(self, min_: Self | Operand | None = None, max_: Self | Operand | None = None) -> Self:
        """Clamped to [`min_`, `max_`]; NaN if a bound is NaN."""
        if min_ is None and max_ is None:
            raise RuntimeError("clamp needs min_ or max_")
        if self.dtype.is_integer:  # A bound beyond the dtype's range has no effect.
            min_ = None if isinstance(min_, int) and min_ <= self.dtype.low else min_
            max_ = None if isinstance(max_, int) and max_ >= self.dtype.high else max_
        low = self if min_ is None else (self < min_)._or_nan(min_).where(min_, self)
        result = low if max_ is None else (low > max_)._or_nan(max_).where(max_, low)
        return result._apart_from(self)

    def _or_nan(self, bound: Self | Operand) -> Self:
        if isinstance(bound, Elementwise):
            return self | bound.isnan()
        return self | True if isinstance(bound, float) and math.isnan(bound) else self

    def clip(self, min_: Self | Operand | None = None, max_: Self | Operand | None = None) -> Self:
        """`clamp`."""
        return self.clamp(min_, max_)

    def copysign(self, other: Self | Operand) -> Self:
        """The magnitude of self with the sign of the other, -0 included."""
        a, b = self._pair(other, as_float=True)
        # 1 / -0 is -inf.
        is_negative = (b < 0) | ((b == 0) & (b.reciprocal() < 0))
        magnitude = a.abs()
        return is_negative.where(-magnitude, magnitude)

    # -- powers ------------------------------------------------------------------------------------

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

    # -- comparisons -------------------------------------------------------------------------------

    def eq(self, x: Self | Operand) -> Self:
        """self == x."""
        if self._side(x):
            return self._everywhere(False)
        return self._binary(tg.CmpEqOp, x)

    def ne(self, x: Self | Operand) -> Self:
        """self != x; true if either is NaN."""
        if self._side(x):
            return self._everywhere(True)
        return self._binary(tg.CmpNeOp, x)

    def _less(self, x: Self | Operand, reverse: bool = False) -> Self:
        if side := self._side(x):
            return self._everywhere((side > 0) is not reverse)
        return self._binary(tg.CmpLtOp, x, reverse)

    def _at_least(self, x: Self | Operand, reverse: bool = False) -> Self:
        """self >= x, or x >= self if `reverse`; false if either is NaN."""
        if side := self._side(x):
            return self._everywhere((side < 0) is not reverse)
        a, b = self._pair(x, reverse)
        if a.dtype.is_float:
            return b._less(a) | a.eq(b)
        return a._less(b).logical_not()

    def _side(self, x: Self | Operand) -> int:
        """Whether an integer is out of the range of an integer dtype: 1 if it is above, -1 if it is
        below, 0 if it is inside. 0 for other numbers and dtypes."""
        if isinstance(x, int | np.integer) and self.dtype.is_integer:
            return int(x > self.dtype.high) - int(x < self.dtype.low)
        return 0

    def _everywhere(self, value: bool) -> Self:
        """A bool tensor of this shape, with the same value in every cell."""
        ones = self._constant(True, dtypes.bool_)
        every = self._apply(tg.OrOp, self.cast(dtypes.bool_).node, ones.node)
        return every if value else every.logical_not()

    def where(self, x: Self | Operand, y: Self | Operand) -> Self:
        """x where self is true, else y."""
        x, y = operand_of(self, x), operand_of(self, y)
        if isinstance(x, TensorBase):
            x, y = x._pair(y)
        elif isinstance(y, TensorBase):
            y, x = y._pair(x)
        else:
            dtype = dtypes.default_float if isinstance(x, float) or isinstance(y, float) else None
            is_bool = isinstance(x, bool) and isinstance(y, bool)
            dtype = dtype or (dtypes.bool_ if is_bool else dtypes.default_int)
            x, y = self._constant(x, dtype), self._constant(y, dtype)
        return self._apply(tg.WhereOp, self.cast(dtypes.bool_).node, x.node, y.node)

    def masked_fill(self, mask: Self, value: Self | Operand) -> Self:
        """`value` where the mask is true, else self."""
        check_tensors(mask)
        return mask.where(value, self)

    def logical_not(self) -> Self:
        """Whether it is 0."""
        return self.cast(dtypes.bool_)._unary(tg.NotOp)

    def isnan(self) -> Self:
        """Whether it is NaN."""
        return self != self

    def isinf(self, detect_positive: bool = True, detect_negative: bool = True) -> Self:
        """Whether it is infinite, with one of the requested signs."""
        if self.dtype.is_float and not math.isinf(self.dtype.high):
            return self._everywhere(False)
        return self._is(math.inf, detect_positive) | self._is(-math.inf, detect_negative)

    def _is(self, value: float, wanted: bool) -> Self:
        return self.eq(value) & self._constant(wanted, dtypes.bool_)

    def isfinite(self) -> Self:
        """Whether it is neither infinite nor NaN."""
        return (self.isinf() | self.isnan()).logical_not()

    def isclose(
        self,
        other: Self | Operand,
        rtol: float = 1e-05,
        atol: float = 1e-08,
        equal_nan: bool = False,
    ) -> Self:
        """|self - other| <= atol + rtol * |other|, or both the same infinity."""
        if not isinstance(other, TensorBase):
            x = self if self.dtype.is_float else self.cast(dtypes.float64)
            return x.isclose(x._pair(other)[1], rtol, atol, equal_nan)
        if not self.dtype.is_float or not other.dtype.is_float:
            exact = self.cast(dtypes.float64), other.cast(dtypes.float64)
            return self.eq(other) | exact[0].isclose(exact[1], rtol, atol, equal_nan)
        near = (self - other).abs() <= other.abs() * rtol + atol
        close = (self.isfinite() & other.isfinite() & near) | self.eq(other)
        return close | (self.isnan() & other.isnan()) if equal_nan else close

    # -- bits --------------------------------------------------------------------------------------

    def bitwise_and(self, x: Self | Operand, reverse: bool = False) -> Self:
        """self & x."""
        return self._bits(tg.AndOp, x, reverse)

    def bitwise_or(self, x: Self | Operand, reverse: bool = False) -> Self:
        """self | x."""
        return self._bits(tg.OrOp, x, reverse)

    def bitwise_xor(self, x: Self | Operand, reverse: bool = False) -> Self:
        """self ^ x."""
        return self._bits(tg.XorOp, x, reverse)

    def bitwise_not(self) -> Self:
        """~self."""
        if self.dtype.is_bool:
            return self.logical_not()
        return self._bits(tg.XorOp, -1 if self.dtype.low < 0 else int(self.dtype.high))

    def lshift(self, x: Self | int, reverse: bool = False) -> Self:
        """self << x."""
        return self._bits(tg.ShlOp, x, reverse)

    def rshift(self, x: Self | int, reverse: bool = False) -> Self:
        """self >> x; the sign is kept."""
        return self._bits(tg.ShrOp, x, reverse)

    # -- rounding ----------------------------------------------------------------------------------

    def trunc(self) -> Self:
        """Round toward zero."""
        return self._unary(tg.TruncOp)

    def floor(self) -> Self:
        """Round down."""
        if not self.dtype.is_float:
            return self._apart_from(self)
        whole = self.trunc()
        return (self < whole).where(whole - 1, whole)

    def ceil(self) -> Self:
        """Round up."""
        if not self.dtype.is_float:
            return self._apart_from(self)
        whole = self.trunc()
        return (self > whole).where(whole + 1, whole)

    @rounded_once
    def round(self, decimals: int = 0) -> Self:
        """Round to a number of decimals, halves to even; to tens, hundreds ... if it is
        negative."""
        if decimals and self.dtype.is_float:
            scale = self._constant(10.0 ** abs(decimals))
            whole = (self * scale if decimals > 0 else self / scale).round()
            return whole / scale if decimals > 0 else whole * scale
        if not self.dtype.is_float:
            return self._rounded_to(10**-decimals) if decimals < 0 else self._apart_from(self)
        whole = self.trunc()
        part = (self - whole).abs()
        is_odd = (whole * 0.5).trunc() * 2 != whole
        away = (part > 0.5) | (part.eq(0.5) & is_odd)
        return away.where(whole + (self < 0).where(-1.0, 1.0).cast(self.dtype), whole)

    def _rounded_to(self, unit: int) -> Self:
        """An integer rounded to a multiple of a unit, halves to even multiples."""
        times = self.div(unit, rounding_mode="floor")
        rest = self - times * unit
        is_odd = times.bitwise_and(1).ne(0)
        is_up = (rest > unit - rest) | (rest.eq(unit - rest) & is_odd)
        return (times + is_up.cast(self.dtype)) * unit

    # -- dtypes and marks --------------------------------------------------------------------------

    def bitcast(self, dtype: DTypeLike) -> Self:
        """The same bytes as another dtype; the last axis grows or shrinks."""
        target = dtypes.to_dtype(dtype)
        if target == self.dtype:
            return self
        return self._apply(tg.BitcastOp, self.node, dtypes.attribute_of(target))

    def is_floating_point(self) -> bool:
        """Whether the dtype is a float."""
        return self.dtype.is_float

    def element_size(self) -> int:
        """The bytes of an element."""
        return self.dtype.itemsize

    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.numel() * self.dtype.itemsize

    def contiguous(self) -> Self:
        """The same value in memory of its own."""
        return self._unary(tg.ContiguousOp)

    def contiguous_backward(self) -> Self:
        """The same value, whose gradient is stored in memory of its own."""
        return self._unary(tg.ContiguousBackwardOp)

    def detach(self) -> Self:
        """The same value without gradient."""
        return self._unary(tg.DetachOp)

    # -- operators ---------------------------------------------------------------------------------

    __neg__, __invert__, __abs__ = neg, bitwise_not, abs
    __add__, __radd__ = add, _reflected(add)
    __sub__, __rsub__ = sub, _reflected(sub)
    __mul__, __rmul__ = mul, _reflected(mul)
    __truediv__, __rtruediv__ = div, _reflected(div)
    __mod__, __rmod__ = mod, _reflected(mod)
    __and__, __rand__ = bitwise_and, _reflected(bitwise_and)
    __or__, __ror__ = bitwise_or, _reflected(bitwise_or)
    __xor__, __rxor__ = bitwise_xor, _reflected(bitwise_xor)
    __lshift__, __rlshift__ = lshift, _reflected(lshift)
    __rshift__, __rrshift__ = rshift, _reflected(rshift)
    __lt__, __gt__ = _less, _reflected(_less)
    __ge__, __le__ = _at_least, _reflected(_at_least)

    def __pow__(self, x: Self | Operand) -> Self:
        return self.pow(x)

    def __rpow__(self, x: Operand) -> Self:
        return self.pow(x, True)

    def __round__(self, ndigits: int | None = None) -> Self:
        return self.round(ndigits or 0)

    def __floordiv__(self, x: Self | Operand) -> Self:
        return self.div(x, rounding_mode="floor")

    def __rfloordiv__(self, x: Operand) -> Self:
        return self.div(x, True, rounding_mode="floor")

    def __eq__(self, x: Self | Operand) -> Self:  # type: ignore[override]
        return self.eq(x) if is_operand(x) else cast(Any, NotImplemented)

    def __ne__(self, x: Self | Operand) -> Self:  # type: ignore[override]
        return self.ne(x) if is_operand(x) else cast(Any, NotImplemented)

    def __hash__(self) -> int:
        return id(self)
