"""Elementwise ops as LLVM instructions: a row per op, a column per kind of dtype.

Nothing is undefined: integers wrap, no division traps, a count past the width shifts everything
out, and a conversion saturates (docs/semantics.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, reduce
from typing import cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FixedBitwidthType, IntegerType
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue

from tgdialect.llvm_dialect.intrinsics import (
    FTruncOp,
    MaximumOp,
    SMaxOp,
    UMaxOp,
    VectorReduceAddOp,
    VectorReduceAndOp,
    VectorReduceFMaximumOp,
    VectorReduceMulOp,
    VectorReduceOrOp,
    VectorReduceSMaxOp,
    VectorReduceUMaxOp,
)
from tgdialect.llvm_dialect.values import UIToFPOp
from tgdialect.lowering.render.elementwise import Columns, first_operand, of_any, row, written
from tgdialect.lowering.render.llvm.emitter import (
    INTEGER_PREDICATES,
    NO_FLAGS,
    Emitted,
    LLVMEmitter,
)
from tgdialect.lowering.render.llvm.types import (
    element_of,
    is_vector,
    lanes_of,
    register_type,
    vector_of,
)
from tgdialect.ops import tg
from tgdialect.ops.dtypes import Kind
from tgdialect.targets import Target

Writer = Callable[[Emitted], SSAValue]


def _integer(kind: type[Operation]) -> Writer:
    return lambda of: of.function.binary(kind, *of.operands)


def _float(kind: type[Operation]) -> Writer:
    return lambda of: of.function.float(kind, *of.operands)


def _compare(predicate: str) -> Writer:
    return lambda of: of.function.compare(predicate, *of.operands)


def _negate(of: Emitted) -> SSAValue:
    (value,) = of.operands
    return of.function.binary(llvm.SubOp, of.function.number(0, value.type), value)


def _reciprocal(of: Emitted) -> SSAValue:
    (value,) = of.operands
    return of.function.float(llvm.FDivOp, of.function.number(1, value.type), value)


def _not(of: Emitted) -> SSAValue:
    (value,) = of.operands
    return of.function.binary(llvm.XOrOp, value, of.function.number(1, value.type))


def _multiply_add(of: Emitted) -> SSAValue:
    a, b, c = of.operands
    return of.function.binary(llvm.AddOp, of.function.binary(llvm.MulOp, a, b), c)


def _where(of: Emitted) -> SSAValue:
    """The selected side. LLVM 22 turns "0 < x ? 0 : x" of an x that was widened into a minimum of
    narrow floats that makes +0 of -0; a fence hides that x was widened."""
    e, (condition, *sides) = of.function, of.operands
    widened = [side for side in sides if isinstance(side.owner, llvm.FPExtOp)]
    if widened and any(
        side in (e.number(0.0, side.type), e.number(-0.0, side.type)) for side in sides
    ):
        fences = {
            side: e.intrinsic("llvm.arithmetic.fence", (side,), side.type) for side in widened
        }
        sides = [fences.get(side, side) for side in sides]
    return e.select(condition, *sides)


# -- IDIV and MOD: floor division that never traps


class _FloorDivision:
    """LLVM's division is undefined for the divisor 0, and for the least integer divided by -1.
    Unless intervals exclude these cases, the divisor is replaced by 1 and the result corrected."""

    def __init__(self, of: Emitted) -> None:
        (a, b), self.is_signed = map(of.interval_of, (0, 1)), of.source.kind is Kind.SIGNED
        self.e, (self.a, self.b) = of.function, of.operands
        self.may_be_zero = b.lo <= 0 <= b.hi
        self.may_overflow = self.is_signed and b.lo <= -1 <= b.hi
        self.same_sign = not self.is_signed or (a.lo >= 0 and b.lo >= 0)

    def quotient(self) -> SSAValue:
        """x idiv 0 is 0, and the least integer idiv -1 wraps."""
        e, a = self.e, self.a
        safe = self._safe_divisor()
        result = e.binary(llvm.UDivOp if self.same_sign else llvm.SDivOp, a, safe)
        if not self.same_sign:
            rest = e.binary(llvm.SubOp, a, e.binary(llvm.MulOp, result, safe))
            down = e.emit(llvm.SExtOp, (self._rounds_up(rest, safe),), a.type)
            result = e.binary(llvm.AddOp, result, down)
        if self.may_overflow:
            result = e.select(self._divides_by(-1), e.binary(llvm.SubOp, self._zero(), a), result)
        if self.may_be_zero:
            result = e.select(self._divides_by(0), self._zero(), result)
        return result

    def remainder(self) -> SSAValue:
        """The sign of the divisor; x mod 0 is 0. A divisor of 1 gives 0, as 0 and -1 do."""
        e, safe = self.e, self._safe_divisor()
        result = e.binary(llvm.URemOp if self.same_sign else llvm.SRemOp, self.a, safe)
        if not self.same_sign:
            moved = e.binary(llvm.AddOp, result, safe)
            result = e.select(self._rounds_up(result, safe), moved, result)
        return result

    def _safe_divisor(self) -> SSAValue:
        """The divisor, or 1 where it would be undefined to divide by it."""
        cases = ((0, self.may_be_zero), (-1, self.may_overflow))
        wrong = [self._divides_by(number) for number, may_be in cases if may_be]
        if not wrong:
            return self.b
        any_wrong = reduce(partial(self.e.binary, llvm.OrOp), wrong)
        return self.e.select(any_wrong, self.e.number(1, self.b.type), self.b)

    def _rounds_up(self, rest: SSAValue, divisor: SSAValue) -> SSAValue:
        """Whether rounding toward zero was up: the rest is not 0 and differs in sign."""
        e = self.e
        differs = e.compare("slt", e.binary(llvm.XOrOp, rest, divisor), self._zero())
        return e.binary(llvm.AndOp, e.compare("ne", rest, self._zero()), differs)

    def _divides_by(self, number: int) -> SSAValue:
        return self.e.compare("eq", self.b, self.e.number(number, self.b.type))

    def _zero(self) -> SSAValue:
        return self.e.number(0, self.a.type)


def _floor_divide(of: Emitted) -> SSAValue:
    if (shift := of.shift) is None:
        return _FloorDivision(of).quotient()
    kind = llvm.AShrOp if of.source.kind is Kind.SIGNED else llvm.LShrOp
    return of.function.binary(kind, of.operands[0], of.function.number(shift, of.operands[0].type))


def _modulo(of: Emitted) -> SSAValue:
    if (shift := of.shift) is None:
        return _FloorDivision(of).remainder()
    mask = of.function.number((1 << shift) - 1, of.operands[0].type)
    return of.function.binary(llvm.AndOp, of.operands[0], mask)


# -- SHL and SHR


def _shift(kind: type[Operation]) -> Writer:
    """A count that is negative or not less than the width shifts everything out; arithmetically, it
    leaves the sign. LLVM's result is poison then; SELECT does not look at the operand that it does
    not take."""

    def write(of: Emitted) -> SSAValue:
        e, (value, count), width = of.function, of.operands, of.source.bits
        distance = _resized(e, count, value.type, llvm.ZExtOp)
        if of.interval_of(1).within(0, width - 1):
            return e.binary(kind, value, distance)
        if kind is llvm.AShrOp:
            last = e.number(width - 1, value.type)
            return e.binary(kind, value, e.select(_is_in_width(e, count, width), distance, last))
        if e.masks_counts and width > 32:
            distance = e.binary(llvm.AndOp, distance, e.number(width - 1, value.type))
        result = e.binary(kind, value, distance)
        return e.select(_is_in_width(e, count, width), result, e.number(0, value.type))

    return write


def _is_in_width(e: LLVMEmitter, count: SSAValue, width: int) -> SSAValue:
    """A negative count is a great unsigned one."""
    return e.compare("ult", count, e.number(width, count.type))


def _resized(e: LLVMEmitter, value: SSAValue, type: Attribute, extend: type[Operation]) -> SSAValue:
    """An integer as one of another width."""
    source, wanted = (cast(IntegerType, element_of(each)).bitwidth for each in (value.type, type))
    if source == wanted:
        return value
    return e.emit(extend if source < wanted else llvm.TruncOp, (value,), type)


# -- CAST and BITCAST


def _convert(of: Emitted) -> SSAValue:
    """CAST between any two dtypes. Floats truncate to integers, saturate, and NaN becomes 0;
    integers wrap; a bool is x != 0, true for NaN."""
    e, (value,), source, result = of.function, of.operands, of.source, of.dtype
    if result.is_bool:
        if source.is_bool:
            return value
        predicate = "une" if source.is_float else "ne"
        return e.compare(predicate, value, e.number(0, value.type))
    type = vector_of(register_type(result), lanes_of(value.type))
    is_signed = (result if source.is_float else source).kind is Kind.SIGNED
    if not result.is_float and source.is_float:
        return e.intrinsic(f"llvm.fpto{'s' if is_signed else 'u'}i.sat", (value,), type)
    if not result.is_float:
        return _resized(e, value, type, llvm.SExtOp if is_signed else llvm.ZExtOp)
    if not source.is_float:
        return e.emit(llvm.SIToFPOp if is_signed else UIToFPOp, (value,), type)
    if type == value.type:
        return value
    return e.emit(llvm.FPExtOp if result.bits > source.bits else llvm.FPTruncOp, (value,), type)


def _bitcast(of: Emitted) -> SSAValue:
    """BITCAST to a dtype of the same size; integers have no sign here, and fp8 is its bits."""
    (value,), dtype = of.operands, of.dtype
    if dtype.is_float and dtype.bits == 8:
        return value
    type = vector_of(register_type(dtype), lanes_of(value.type))
    return value if value.type == type else of.function.emit(llvm.BitcastOp, (value,), type)


# -- the table


def _comparison(ordered: str, signed: str, unsigned: str) -> Columns:
    """A bool is an unsigned integer of one bit."""
    lesser = _compare(unsigned)
    return row(_compare(ordered), _compare(signed), lesser, unsigned=lesser)


_OR, _AND, _XOR = map(_integer, (llvm.OrOp, llvm.AndOp, llvm.XOrOp))

ELEMENTWISE: dict[str, Columns] = {
    "tg.recip": row(_reciprocal),
    "tg.sqrt": row(_float(llvm.FSqrtOp)),
    "tg.trunc": row(_float(FTruncOp), first_operand, first_operand),
    "tg.cast": of_any(_convert),
    "tg.bitcast": of_any(_bitcast),
    "tg.neg": row(_float(llvm.FNegOp), _negate),
    "tg.add": row(_float(llvm.FAddOp), _integer(llvm.AddOp), _OR),
    "tg.sub": row(_float(llvm.FSubOp), _integer(llvm.SubOp)),
    "tg.mul": row(_float(llvm.FMulOp), _integer(llvm.MulOp), _AND),
    "tg.div": row(_float(llvm.FDivOp)),
    # NaN if either is, and +0 is greater than -0: IEEE 754-2019 maximum.
    "tg.max": row(_float(MaximumOp), _integer(SMaxOp), _OR, unsigned=_integer(UMaxOp)),
    "tg.mulacc": row(_float(llvm.FMAOp), _multiply_add),
    "tg.idiv": row(None, _floor_divide),
    "tg.mod": row(None, _modulo),
    # CMPGE and CMPLE are the negations of CMPLT and so true on NaN; CMPEQ is that of CMPNE.
    "tg.cmplt": _comparison("olt", "slt", "ult"),
    "tg.cmpgt": _comparison("ogt", "sgt", "ugt"),
    "tg.cmpge": _comparison("uge", "sge", "uge"),
    "tg.cmple": _comparison("ule", "sle", "ule"),
    "tg.cmpne": _comparison("une", "ne", "ne"),
    "tg.cmpeq": _comparison("oeq", "eq", "eq"),
    "tg.xor": row(None, _XOR, _XOR),
    "tg.or": row(None, _OR, _OR),
    "tg.and": row(None, _AND, _AND),
    "tg.shl": row(None, _shift(llvm.ShlOp)),
    "tg.shr": row(None, _shift(llvm.AShrOp), unsigned=_shift(llvm.LShrOp)),
    "tg.not": row(bool=_not),
    "tg.where": of_any(_where),
}
"""How each elementwise op, and BITCAST, is computed, by the kind of its first operand's dtype."""


def compute(of: Emitted) -> SSAValue:
    """The result of an op of `ELEMENTWISE` on scalars, or on vectors of as many lanes. Raises for
    an op or a dtype that it lacks."""
    return written(ELEMENTWISE, "LLVM", of)


_ACROSS: Mapping[tg.ReduceKind, Mapping[Kind, type[Operation]]] = {
    tg.ReduceKind.ADD: row(llvm.VectorReduceFAddOp, VectorReduceAddOp, VectorReduceOrOp),
    tg.ReduceKind.MUL: row(llvm.VectorReduceFMulOp, VectorReduceMulOp, VectorReduceAndOp),
    tg.ReduceKind.MAX: row(
        VectorReduceFMaximumOp, VectorReduceSMaxOp, VectorReduceOrOp, unsigned=VectorReduceUMaxOp
    ),
}
"""How the lanes of a vector are reduced to one, in any order."""


def across(e: LLVMEmitter, op: tg.ReduceOp, vector: SSAValue) -> SSAValue:
    """REDUCE of a vector to a scalar; one of a single lane is a scalar already."""
    dtype, kind = tg.dtype_of(op.source), op.kind.data
    if not is_vector(vector.type):
        # A sum begins with +0: that of -0 alone is +0.
        is_sum = dtype.is_float and kind is tg.ReduceKind.ADD
        return e.float(llvm.FAddOp, e.number(0, vector.type), vector) if is_sum else vector
    type, reduction = element_of(vector.type), _ACROSS[kind][dtype.kind]
    if dtype.is_float and kind is not tg.ReduceKind.MAX:
        start = e.number(tg.identity(kind, dtype), type)
        return e.emit(reduction, (start, vector), type, {"fastmathFlags": _REASSOCIATED})
    properties = {"fastmathFlags": NO_FLAGS} if dtype.is_float else {}
    return e.emit(reduction, (vector,), type, properties)


def any_register(e: LLVMEmitter, mask: SSAValue, target: Target) -> SSAValue:
    """A vector that has a true lane if a mask has one: of a comparison in several registers, their
    OR, or the comparison of their maximum with a constant. LLVM packs the lanes of a longer mask to
    bytes first."""
    comparison = mask.owner
    if not isinstance(comparison, llvm.FCmpOp | llvm.ICmpOp) or not is_vector(mask.type):
        return mask
    compared = cast("FixedBitwidthType", element_of(comparison.operands[0].type))
    count, lanes = lanes_of(mask.type), target.lanes(compared.size)
    if not 1 < lanes < count or count % lanes:
        return mask
    lhs, rhs = (
        [e.shuffle(each, each, range(start, start + lanes)) for start in range(0, count, lanes)]
        for each in comparison.operands
    )
    properties, type = comparison.properties, vector_of(element_of(mask.type), lanes)
    if _is_signed_above(comparison):
        rhs = [reduce(lambda a, b: e.emit(SMaxOp, (a, b), a.type), rhs)]
    parts = [
        e.emit(comparison.__class__, pair, type, properties) for pair in zip(lhs, rhs, strict=False)
    ]
    return reduce(partial(e.binary, llvm.OrOp), parts)


def _is_signed_above(comparison: llvm.FCmpOp | llvm.ICmpOp) -> bool:
    """Whether it asks of signed integers which are above a constant."""
    bound = comparison.operands[0].owner
    return (
        comparison.properties["predicate"] == INTEGER_PREDICATES["slt"]
        and isinstance(comparison, llvm.ICmpOp)
        and isinstance(bound, llvm.ConstantOp)
        and isinstance(bound.value, DenseIntOrFPElementsAttr)
        and bound.value.is_splat()
    )


_REASSOCIATED = llvm.FastMathAttr([FastMathFlag.REASSOC])
