"""Elementwise ops: the specification's primitives, then the ops it decomposes into them.

Shapes broadcast and devices are equal or null; an operand in memory is read. A float op on f16,
bf16 or fp8 computes in f32 and rounds its result.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from enum import Enum
from typing import ClassVar

from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AnyAttr, operand_def, opt_operand_def, prop_def, traits_def
from xdsl.traits import Commutative
from xdsl.utils.exceptions import VerifyException

from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.ops.base import SIGNATURE, TENSOR, Value, ValueOp
from tgdialect.ops.canonicalization import HasTgCanonicalization
from tgdialect.ops.dtypes import UI64, DType
from tgdialect.ops.folding import fold_elementwise
from tgdialect.ops.properties import dtype_of, tensor


class Domain(Enum):
    """The dtypes that an op is defined on."""

    ANY = "any dtype"
    NUMBER = "integers and floats"
    FLOAT = "floats"
    INTEGER = "integers"
    INDEX = "index"
    BITS = "integers and bool"
    BOOL = "bool"

    def __contains__(self, dtype: DType) -> bool:
        return {
            Domain.ANY: True,
            Domain.NUMBER: not dtype.is_bool,
            Domain.FLOAT: dtype.is_float,
            Domain.INTEGER: dtype.is_integer,
            Domain.INDEX: dtype.name == "index",
            Domain.BITS: not dtype.is_float,
            Domain.BOOL: dtype.is_bool,
        }[self]


class ElementwiseOp(ValueOp, HasFolderInterface, ABC):
    """An op applied per element to operands of broadcast shapes."""

    DOMAIN: ClassVar[Domain] = Domain.ANY
    SAME_DTYPE: ClassVar[slice] = slice(None)
    """The operands that have one dtype."""

    traits = traits_def(HasTgCanonicalization())

    @property
    def is_valid_by_types(self) -> bool:
        return True

    def verify_rule(self) -> None:
        if (dtype := dtype_of(self.operands[0])) not in self.DOMAIN:
            raise VerifyException(
                f"{self.name} is defined on {self.DOMAIN.value}, not {dtype.name}"
            )

        dtypes = [dtype_of(o).name for o in self.operands[self.SAME_DTYPE]]
        if len(set(dtypes)) > 1:
            raise VerifyException(f"operands have different dtypes: {' and '.join(dtypes)}")

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        """The result as a constant, if every operand is a `tg.const`."""
        constant = fold_elementwise(self)
        return None if constant is None else (constant,)


class UnaryOp(ElementwiseOp, ABC):
    """One operand; the result has its dtype and shape."""

    source = operand_def(TENSOR)

    assembly_format = f"$source {SIGNATURE}"

    def __init__(self, source: Value):
        self.infer((source,))


class BinaryOp(ElementwiseOp, ABC):
    """Two operands of one dtype."""

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)

    assembly_format = f"$lhs `,` $rhs {SIGNATURE}"

    def __init__(self, lhs: Value, rhs: Value):
        self.infer((lhs, rhs))


class FloatOp(UnaryOp, ABC):
    """One operand, a float."""

    DOMAIN: ClassVar[Domain] = Domain.FLOAT


class BinaryFloatOp(BinaryOp, ABC):
    """Two floats of one dtype."""

    DOMAIN: ClassVar[Domain] = Domain.FLOAT


class ApproximatedOp(ElementwiseOp, ABC):
    """A function of floats that is approximated: within 2 ulp (f32) or 3 ulp (f64)."""

    DOMAIN: ClassVar[Domain] = Domain.FLOAT


class CommutativeOp(BinaryOp, ABC):
    """Two operands of one dtype, which may change places."""

    traits = traits_def(Commutative())


# -- primitives ----------------------------------------------------------------------------------


@op_definition
class RecipOp(FloatOp):
    """RECIP (T,): 1/x, correctly rounded; 1/0 is an infinity.

    `%1 = tg.recip %0 : tensor<4xf32>`
    """

    name = "tg.recip"


@op_definition
class TruncOp(UnaryOp):
    """TRUNC (T,): round toward zero; the identity on integers and bools.

    `%1 = tg.trunc %0 : tensor<4xf32>`
    """

    name = "tg.trunc"


@op_definition
class CastOp(ElementwiseOp):
    """CAST (T,), dtype: convert to `dtype`.

    Float to integer truncates, saturates, and takes NaN to 0; integer to a narrower integer wraps;
    anything to bool is `!= 0`; to a float rounds to nearest even.

    `%1 = tg.cast %0 to i32 : tensor<4xf32> -> tensor<4xi32>`
    """

    name = "tg.cast"

    source = operand_def(TENSOR)
    dtype = prop_def(AnyAttr())

    assembly_format = f"$source `to` $dtype {SIGNATURE}"

    def __init__(self, source: Value, dtype: Attribute):
        self.infer((source,), {"dtype": dtype})


@op_definition
class AddOp(CommutativeOp):
    """ADD (A, B): a + b; integers wrap; on bools, or.

    `%2 = tg.add %0, %1 : tensor<4xf32>`
    """

    name = "tg.add"


@op_definition
class MulOp(CommutativeOp):
    """MUL (A, B): a * b; integers wrap; on bools, and.

    `%2 = tg.mul %0, %1 : (tensor<4x1xf32>, tensor<3xf32>) -> tensor<4x3xf32>`
    """

    name = "tg.mul"


@op_definition
class MaxOp(CommutativeOp):
    """MAX (A, B): the larger one; NaN if either is NaN; max(-0, +0) is +0; on bools, or.

    `%2 = tg.max %0, %1 : tensor<4xf32>`
    """

    name = "tg.max"


@op_definition
class ModOp(BinaryOp):
    """MOD (A, B): a - b * floor(a / b), which has the sign of b; x mod 0 is 0.

    `%2 = tg.mod %0, %1 : tensor<index>`
    """

    name = "tg.mod"
    DOMAIN: ClassVar[Domain] = Domain.INTEGER


@op_definition
class IDivOp(BinaryOp):
    """IDIV (A, B): floor(a / b); x idiv 0 is 0; the least integer idiv -1 wraps.

    `%2 = tg.idiv %0, %1 : tensor<index>`
    """

    name = "tg.idiv"
    DOMAIN: ClassVar[Domain] = Domain.INTEGER


class CompareOp(BinaryOp, ABC):
    """A comparison of two operands of one dtype; the result is bool."""


@op_definition
class CmpLtOp(CompareOp):
    """CMPLT (A, B): [a < b]; false if either is NaN.

    `%2 = tg.cmplt %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>`
    """

    name = "tg.cmplt"


@op_definition
class CmpNeOp(CompareOp, CommutativeOp):
    """CMPNE (A, B): [a != b]; true if either is NaN.

    `%2 = tg.cmpne %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>`
    """

    name = "tg.cmpne"


@op_definition
class XorOp(CommutativeOp):
    """XOR (A, B): bitwise exclusive or.

    `%2 = tg.xor %0, %1 : tensor<4xi32>`
    """

    name = "tg.xor"
    DOMAIN: ClassVar[Domain] = Domain.BITS


@op_definition
class OrOp(CommutativeOp):
    """OR (A, B): bitwise or.

    `%2 = tg.or %0, %1 : tensor<4xi32>`
    """

    name = "tg.or"
    DOMAIN: ClassVar[Domain] = Domain.BITS


@op_definition
class AndOp(CommutativeOp):
    """AND (A, B): bitwise and.

    `%2 = tg.and %0, %1 : tensor<4xi1>`
    """

    name = "tg.and"
    DOMAIN: ClassVar[Domain] = Domain.BITS


class ShiftOp(BinaryOp, ABC):
    """A shift. The count may have any integer dtype; a negative one is treated as too large."""

    DOMAIN: ClassVar[Domain] = Domain.INTEGER
    SAME_DTYPE: ClassVar[slice] = slice(1)

    def verify_rule(self) -> None:
        super().verify_rule()
        if not (count := dtype_of(self.rhs)).is_integer:
            raise VerifyException(f"the count of a shift is an integer, not {count.name}")


@op_definition
class ShrOp(ShiftOp):
    """SHR (A, B): a >> b, arithmetic on signed dtypes; a count past the width gives 0 or the sign.

    `%2 = tg.shr %0, %1 : tensor<4xi32>`
    """

    name = "tg.shr"


@op_definition
class ShlOp(ShiftOp):
    """SHL (A, B): a << b; a count past the width gives 0.

    `%2 = tg.shl %0, %1 : tensor<4xi32>`
    """

    name = "tg.shl"


@op_definition
class WhereOp(ElementwiseOp):
    """WHERE (P, A, B): a where p, else b; only the selected operand has to be valid.

    `%3 = tg.where %0, %1, %2 : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>`
    """

    name = "tg.where"
    DOMAIN: ClassVar[Domain] = Domain.BOOL
    SAME_DTYPE: ClassVar[slice] = slice(1, None)

    condition = operand_def(TENSOR)
    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)

    assembly_format = f"$condition `,` $lhs `,` $rhs {SIGNATURE}"

    def __init__(self, condition: Value, lhs: Value, rhs: Value):
        self.infer((condition, lhs, rhs))


def _ops_above() -> list[type[ElementwiseOp]]:
    """The ops that this file defines up to a call, but for abstract ones, which have no name."""
    kinds = (x for x in globals().values() if isinstance(x, type) and issubclass(x, ElementwiseOp))
    return [kind for kind in kinds if "name" in vars(kind)]


PRIMITIVES = tuple(_ops_above())

# -- decomposed ----------------------------------------------------------------------------------


@op_definition
class NegOp(UnaryOp):
    """NEG (T,) = MUL(A, -1): -x.

    `%1 = tg.neg %0 : tensor<4xf32>`
    """

    name = "tg.neg"
    DOMAIN: ClassVar[Domain] = Domain.NUMBER


@op_definition
class SubOp(BinaryOp):
    """SUB (A, B) = ADD(A, NEG(B)): a - b; integers wrap.

    `%2 = tg.sub %0, %1 : tensor<4xf32>`
    """

    name = "tg.sub"
    DOMAIN: ClassVar[Domain] = Domain.NUMBER


@op_definition
class DivOp(BinaryFloatOp):
    """DIV (A, B) = MUL(A, RECIP(B)): a / b. Undecomposed, it is correctly rounded.

    `%2 = tg.div %0, %1 : tensor<4xf32>`
    """

    name = "tg.div"


@op_definition
class CmpGtOp(CompareOp):
    """CMPGT (A, B) = CMPLT(B, A): [a > b].

    `%2 = tg.cmpgt %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>`
    """

    name = "tg.cmpgt"


@op_definition
class CmpGeOp(CompareOp):
    """CMPGE (A, B) = CMPNE(CMPLT(A, B), 1): [a >= b], so true if either is NaN.

    `%2 = tg.cmpge %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>`
    """

    name = "tg.cmpge"


@op_definition
class CmpLeOp(CompareOp):
    """CMPLE (A, B) = CMPNE(CMPLT(B, A), 1): [a <= b], so true if either is NaN.

    `%2 = tg.cmple %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>`
    """

    name = "tg.cmple"


@op_definition
class CmpEqOp(CompareOp, CommutativeOp):
    """CMPEQ (A, B) = CMPNE(CMPNE(A, B), 1): [a = b].

    `%2 = tg.cmpeq %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>`
    """

    name = "tg.cmpeq"


@op_definition
class NotOp(UnaryOp):
    """NOT (T,) = CMPNE(A, 1): logical not.

    `%1 = tg.not %0 : tensor<4xi1>`
    """

    name = "tg.not"
    DOMAIN: ClassVar[Domain] = Domain.BOOL


@op_definition
class Exp2Op(ApproximatedOp, FloatOp):
    """EXP2 (T,): 2^x, within 2 ulp (f32) or 3 ulp (f64).

    `%1 = tg.exp2 %0 : tensor<4xf32>`
    """

    name = "tg.exp2"


@op_definition
class Log2Op(ApproximatedOp, FloatOp):
    """LOG2 (T,): log2 x, within 2 ulp (f32) or 3 ulp (f64); -inf at 0, NaN below.

    `%1 = tg.log2 %0 : tensor<4xf32>`
    """

    name = "tg.log2"


@op_definition
class ExpOp(ApproximatedOp, FloatOp):
    """EXP (T,): e^x, within 1 ulp. EXP2 of x log2 e, without the rounding of that product.

    `%1 = tg.exp %0 : tensor<4xf32>`
    """

    name = "tg.exp"


@op_definition
class LogOp(ApproximatedOp, FloatOp):
    """LOG (T,): the natural logarithm, within 1 ulp; -inf at 0, NaN below.

    `%1 = tg.log %0 : tensor<4xf32>`
    """

    name = "tg.log"


@op_definition
class Log10Op(ApproximatedOp, FloatOp):
    """LOG10 (T,): the logarithm to base 10, within 1 ulp; -inf at 0, NaN below.

    `%1 = tg.log10 %0 : tensor<4xf32>`
    """

    name = "tg.log10"


@op_definition
class Expm1Op(ApproximatedOp, FloatOp):
    """EXPM1 (T,): e^x - 1, within 1 ulp, near 0 too.

    `%1 = tg.expm1 %0 : tensor<4xf32>`
    """

    name = "tg.expm1"


@op_definition
class Log1pOp(ApproximatedOp, FloatOp):
    """LOG1P (T,): the natural logarithm of 1 + x, within 1 ulp, near 0 too; -inf at -1, NaN below.

    `%1 = tg.log1p %0 : tensor<4xf32>`
    """

    name = "tg.log1p"


@op_definition
class SoftplusOp(ApproximatedOp, FloatOp):
    """SOFTPLUS (T,): log(1 + e^x), within 1 ulp (f32) or 2 ulp (f64), where it is almost 0 too.

    It is 0 at -inf and inf at inf. Within 1.1 ulp of f32 where MULACC is rounded twice.

    `%1 = tg.softplus %0 : tensor<4xf32>`
    """

    name = "tg.softplus"


@op_definition
class SinOp(ApproximatedOp, FloatOp):
    """SIN (T,): sin x in radians, within 2 ulp (f32) or 3 ulp (f64); NaN at the infinities.

    `%1 = tg.sin %0 : tensor<4xf32>`
    """

    name = "tg.sin"


@op_definition
class CosOp(ApproximatedOp, FloatOp):
    """COS (T,): cos x in radians, within 2 ulp (f32) or 3 ulp (f64); NaN at the infinities.

    `%1 = tg.cos %0 : tensor<4xf32>`
    """

    name = "tg.cos"


@op_definition
class ErfOp(ApproximatedOp, FloatOp):
    """ERF (T,): the error function, within 2 ulp (f32) or 3 ulp (f64).

    `%1 = tg.erf %0 : tensor<4xf32>`
    """

    name = "tg.erf"


@op_definition
class ErfcOp(ApproximatedOp, FloatOp):
    """ERFC (T,): 1 - erf x, within 2 ulp for large x too; 0 at inf and 2 at -inf.

    Within 3.1 ulp where MULACC is rounded twice.

    `%1 = tg.erfc %0 : tensor<4xf32>`
    """

    name = "tg.erfc"


@op_definition
class GateOp(ApproximatedOp):
    """GATE (X, T[, L]) = X / (1 + e^-(T + L)): x times the logistic function of t, within 1.1 ulp.

    Within 1 ulp where x is 1 or t, and within 2.2 where MULACC is rounded twice. L is what the
    rounding of T has lost. An infinite x gives NaN, unless t is above 16.9375 (f32) or 37.0625
    (f64); there, and at -inf, L is ignored.

    `%2 = tg.gate %0, %1 : tensor<4xf32>`
    `%3 = tg.gate %0, %1 lost %2 : tensor<4xf32>`
    """

    name = "tg.gate"

    factor = operand_def(TENSOR)
    argument = operand_def(TENSOR)
    lost = opt_operand_def(TENSOR)

    assembly_format = f"$factor `,` $argument (`lost` $lost^)? {SIGNATURE}"

    def __init__(self, factor: Value, argument: Value, lost: Value | None = None):
        self.infer((factor, argument) if lost is None else (factor, argument, lost))


@op_definition
class GeluOp(ApproximatedOp, FloatOp):
    """GELU (T,): x P(Z < x) for a normal Z, within 1 ulp (f32) or 2 ulp (f64), where it is almost 0
    too.

    It is inf at inf and NaN at -inf. Within 3.5 ulp where MULACC is rounded twice.

    `%1 = tg.gelu %0 : tensor<4xf32>`
    """

    name = "tg.gelu"


@op_definition
class PowOp(ApproximatedOp, BinaryFloatOp):
    """POW (A, B): a^b, within 2 ulp (f32) or 3 ulp (f64), special values as C99's pow.

    `%2 = tg.pow %0, %1 : tensor<4xf32>`
    """

    name = "tg.pow"


@op_definition
class LogAddExpOp(ApproximatedOp, BinaryFloatOp):
    """LOGADDEXP (A, B): log(e^a + e^b), within 2 ulp, near its zeros too.

    Near the zeros of f32 and narrower floats, and where MULACC is rounded twice, the error is an
    ulp of the greater operand. The greater one of infinities is the result.

    `%2 = tg.logaddexp %0, %1 : tensor<4xf32>`
    """

    name = "tg.logaddexp"


@op_definition
class LgammaOp(ApproximatedOp, BinaryFloatOp):
    """LGAMMA (X, A) = A, the logarithm of the magnitude of the gamma function of x.

    For x from -60 to -1.25 an f64 A may be log(pi / |x sin(pi x)|) less the logarithm for -x, a
    difference that loses digits: the result is within 2 ulp all the same, where MULACC is rounded
    once. The gradient is that of A.

    `%2 = tg.lgamma %0, %1 : tensor<4xf64>`
    """

    name = "tg.lgamma"


@op_definition
class SqrtOp(FloatOp):
    """SQRT (T,): the square root; NaN below 0, and sqrt(-0) is -0.

    `%1 = tg.sqrt %0 : tensor<4xf32>`
    """

    name = "tg.sqrt"


@op_definition
class FmodOp(BinaryFloatOp):
    """FMOD (A, B): a - b * trunc(a / b), exactly, with the sign of a; NaN for b = 0 and infinite a.

    `%2 = tg.fmod %0, %1 : tensor<4xf32>`
    """

    name = "tg.fmod"


@op_definition
class MulAccOp(ElementwiseOp):
    """MULACC (A, B, C) = ADD(MUL(A, B), C): a * b + c; a float may be rounded once or twice.

    `%3 = tg.mulacc %0, %1, %2 : tensor<4xf32>`
    """

    name = "tg.mulacc"
    DOMAIN: ClassVar[Domain] = Domain.NUMBER

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    accumulator = operand_def(TENSOR)

    assembly_format = f"$lhs `,` $rhs `,` $accumulator {SIGNATURE}"

    def __init__(self, lhs: Value, rhs: Value, accumulator: Value):
        self.infer((lhs, rhs, accumulator))


@op_definition
class ThreefryOp(BinaryOp):
    """THREEFRY (counter, key): the Threefry 2x32 generator with 20 rounds.

    Both operands and the result pack two 32-bit words in a ui64, the first word in the low half.
    Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).

    `%2 = tg.threefry %0, %1 : tensor<4xui64>`
    """

    name = "tg.threefry"

    def verify_rule(self) -> None:
        for operand in self.operands:
            if (dtype := tensor(operand).element_type) != UI64:
                raise VerifyException(f"tg.threefry is defined on ui64, not {dtype}")


DECOMPOSED = tuple(_ops_above()[len(PRIMITIVES) :])
TRANSCENDENTAL = tuple(op for op in DECOMPOSED if issubclass(op, ApproximatedOp))
"""Decomposed ops that are approximated."""
OPS: dict[str, type[ElementwiseOp]] = {op.name: op for op in (*PRIMITIVES, *DECOMPOSED)}
"""The elementwise ops by name."""

COMPARISONS = frozenset(name for name, op in OPS.items() if issubclass(op, CompareOp))
COMMUTATIVE = frozenset(name for name, op in OPS.items() if issubclass(op, CommutativeOp))
"""Ops whose two operands may be swapped."""
