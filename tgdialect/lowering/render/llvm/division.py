"""IDIV and MOD: floor division that never traps.

LLVM's division is undefined for the divisor 0, and for the least integer divided by -1. Unless
intervals exclude these cases, the divisor is replaced by 1 and the result corrected.
"""

from __future__ import annotations

from xdsl.dialects import llvm
from xdsl.ir import SSAValue

from tgdialect.lowering.render.llvm.emitter import Emitted
from tgdialect.ops.dtypes import Kind


def floor_divide(of: Emitted) -> SSAValue:
    """IDIV: x idiv 0 is 0, and the least integer idiv -1 wraps."""
    division = _FloorDivision(of)
    if (shift := division.power_of_two()) is not None:
        kind = llvm.AShrOp if division.is_signed else llvm.LShrOp
        return of.function.binary(kind, division.a, of.function.number(shift, division.a.type))
    return division.quotient()


def modulo(of: Emitted) -> SSAValue:
    """MOD: the sign of the divisor; x mod 0 is 0."""
    division = _FloorDivision(of)
    if (shift := division.power_of_two()) is not None:
        mask = of.function.number((1 << shift) - 1, division.a.type)
        return of.function.binary(llvm.AndOp, division.a, mask)
    return division.remainder()


class _FloorDivision:
    """A division, and the facts that intervals prove of its operands."""

    def __init__(self, of: Emitted) -> None:
        self.e, (self.a, self.b) = of.function, of.operands
        self.of_a, self.of_b = map(of.interval_of, (0, 1))
        self.is_signed = of.source.kind is Kind.SIGNED
        self.may_be_zero = self.of_b.lo <= 0 <= self.of_b.hi
        self.may_overflow = self.is_signed and self.of_b.lo <= -1 <= self.of_b.hi
        self.same_sign = not self.is_signed or (self.of_a.lo >= 0 and self.of_b.lo >= 0)

    def power_of_two(self) -> int | None:
        """The exponent of a divisor that is a constant power of two."""
        divisor = int(self.of_b.lo)
        if self.of_b.is_constant and divisor > 0 and divisor & (divisor - 1) == 0:
            return divisor.bit_length() - 1
        return None

    def quotient(self) -> SSAValue:
        e, a, b = self.e, self.a, self.b
        safe = self._safe_divisor()
        result = e.binary(llvm.UDivOp if self.same_sign else llvm.SDivOp, a, safe)
        if not self.same_sign:
            rest = e.binary(llvm.SubOp, a, e.binary(llvm.MulOp, result, safe))
            down = e.emit(llvm.SExtOp, (self._rounds_up(rest, safe),), a.type)
            result = e.binary(llvm.AddOp, result, down)
        if self.may_overflow:
            result = e.select(self._is(b, -1), e.binary(llvm.SubOp, self._zero(), a), result)
        if self.may_be_zero:
            result = e.select(self._is(b, 0), self._zero(), result)
        return result

    def remainder(self) -> SSAValue:
        """A divisor of 1 gives 0, which is what 0 and -1 give too."""
        e, safe = self.e, self._safe_divisor()
        result = e.binary(llvm.URemOp if self.same_sign else llvm.SRemOp, self.a, safe)
        if not self.same_sign:
            moved = e.binary(llvm.AddOp, result, safe)
            result = e.select(self._rounds_up(result, safe), moved, result)
        return result

    def _safe_divisor(self) -> SSAValue:
        """The divisor, or 1 where it would be undefined to divide by it."""
        wrong = [self._is(self.b, 0)] if self.may_be_zero else []
        if self.may_overflow:
            wrong.append(self._is(self.b, -1))
        if not wrong:
            return self.b
        any_wrong = wrong[0] if len(wrong) == 1 else self.e.binary(llvm.OrOp, *wrong)
        return self.e.select(any_wrong, self.e.number(1, self.b.type), self.b)

    def _rounds_up(self, rest: SSAValue, divisor: SSAValue) -> SSAValue:
        """Whether rounding toward zero was up: the rest is not 0 and differs in sign."""
        e = self.e
        differs = e.compare("slt", e.binary(llvm.XOrOp, rest, divisor), self._zero())
        return e.binary(llvm.AndOp, e.compare("ne", rest, self._zero()), differs)

    def _is(self, value: SSAValue, number: int) -> SSAValue:
        return self.e.compare("eq", value, self.e.number(number, value.type))

    def _zero(self) -> SSAValue:
        return self.e.number(0, self.a.type)
