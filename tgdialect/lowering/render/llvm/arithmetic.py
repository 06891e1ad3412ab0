"""Elementwise ops as LLVM instructions: a row per op, a column per kind of dtype.

Nothing is undefined: integers wrap, no division traps, a count past the width shifts everything
out, and a conversion saturates (docs/semantics.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, reduce
from typing import cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FixedBitwidthType
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue

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
from tgdialect.lowering.render.elementwise import Columns, of_any, of_integers, written
from tgdialect.lowering.render.llvm.conversion import bitcast, convert
from tgdialect.lowering.render.llvm.division import floor_divide, modulo
from tgdialect.lowering.render.llvm.emitter import (
    INTEGER_PREDICATES,
    NO_FLAGS,
    Emitted,
    LLVMEmitter,
)
from tgdialect.lowering.render.llvm.shifts import shift_left, shift_right
from tgdialect.lowering.render.llvm.types import element_of, is_vector, lanes_of, vector_of
from tgdialect.ops import tg
from tgdialect.ops.dtypes import Kind
from tgdialect.ops.properties import dtype_of
from tgdialect.ops.reduce import identity
from tgdialect.targets import Target

Writer = Callable[[Emitted], SSAValue]


def _integer(kind: type[Operation]) -> Writer:
    return lambda of: of.function.binary(kind, *of.operands)


def _float(kind: type[Operation]) -> Writer:
    return lambda of: of.function.float(kind, *of.operands)


def _min_or_max(kind: type[Operation]) -> Writer:
    return lambda of: of.function.emit(kind, of.operands, of.operands[0].type)


def _compare(predicate: str) -> Writer:
    return lambda of: of.function.compare(predicate, *of.operands)


def _compare_floats(predicate: str) -> Writer:
    return lambda of: of.function.compare_floats(predicate, *of.operands)


def _identity(of: Emitted) -> SSAValue:
    return of.operands[0]


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


def _comparison(ordered: str, signed: str, unsigned: str) -> Columns:
    """A bool is an unsigned integer of one bit."""
    return {
        Kind.FLOAT: _compare_floats(ordered),
        Kind.SIGNED: _compare(signed),
        Kind.UNSIGNED: _compare(unsigned),
        Kind.BOOL: _compare(unsigned),
    }


def _bitwise(kind: type[Operation]) -> Columns:
    return {Kind.BOOL: _integer(kind), **of_integers(_integer(kind))}


_OR, _AND = _integer(llvm.OrOp), _integer(llvm.AndOp)

ELEMENTWISE: dict[str, Columns] = {
    "tg.recip": {Kind.FLOAT: _reciprocal},
    "tg.sqrt": {Kind.FLOAT: _float(llvm.FSqrtOp)},
    "tg.trunc": {**of_any(_identity), Kind.FLOAT: _float(FTruncOp)},
    "tg.cast": of_any(convert),
    "tg.bitcast": of_any(bitcast),
    "tg.neg": {Kind.FLOAT: _float(llvm.FNegOp), **of_integers(_negate)},
    "tg.add": {
        Kind.FLOAT: _float(llvm.FAddOp),
        **of_integers(_integer(llvm.AddOp)),
        Kind.BOOL: _OR,
    },
    "tg.sub": {Kind.FLOAT: _float(llvm.FSubOp), **of_integers(_integer(llvm.SubOp))},
    "tg.mul": {
        Kind.FLOAT: _float(llvm.FMulOp),
        **of_integers(_integer(llvm.MulOp)),
        Kind.BOOL: _AND,
    },
    "tg.div": {Kind.FLOAT: _float(llvm.FDivOp)},
    "tg.max": {
        # NaN if either is, and +0 is greater than -0: IEEE 754-2019 maximum.
        Kind.FLOAT: _float(MaximumOp),
        Kind.SIGNED: _min_or_max(SMaxOp),
        Kind.UNSIGNED: _min_or_max(UMaxOp),
        Kind.BOOL: _OR,
    },
    "tg.mulacc": {Kind.FLOAT: _float(llvm.FMAOp), **of_integers(_multiply_add)},
    "tg.idiv": of_integers(floor_divide),
    "tg.mod": of_integers(modulo),
    # CMPGE and CMPLE are the negations of CMPLT and so true on NaN; CMPEQ is that of CMPNE.
    "tg.cmplt": _comparison("olt", "slt", "ult"),
    "tg.cmpgt": _comparison("ogt", "sgt", "ugt"),
    "tg.cmpge": _comparison("uge", "sge", "uge"),
    "tg.cmple": _comparison("ule", "sle", "ule"),
    "tg.cmpne": _comparison("une", "ne", "ne"),
    "tg.cmpeq": _comparison("oeq", "eq", "eq"),
    "tg.xor": _bitwise(llvm.XOrOp),
    "tg.or": _bitwise(llvm.OrOp),
    "tg.and": _bitwise(llvm.AndOp),
    "tg.shl": of_integers(shift_left),
    "tg.shr": of_integers(shift_right),
    "tg.not": {Kind.BOOL: _not},
    "tg.where": of_any(_where),
}
"""How each elementwise op, and BITCAST, is computed, by the kind of its first operand's dtype."""


def compute(of: Emitted) -> SSAValue:
    """The result of an op of `ELEMENTWISE` on scalars, or on vectors of as many lanes. Raises for
    an op or a dtype that it lacks."""
    return written(ELEMENTWISE, "LLVM", of)


_ACROSS: dict[tg.ReduceKind, Mapping[Kind, type[Operation]]] = {
    tg.ReduceKind.ADD: {
        Kind.FLOAT: llvm.VectorReduceFAddOp,
        Kind.SIGNED: VectorReduceAddOp,
        Kind.UNSIGNED: VectorReduceAddOp,
        Kind.BOOL: VectorReduceOrOp,
    },
    tg.ReduceKind.MUL: {
        Kind.FLOAT: llvm.VectorReduceFMulOp,
        Kind.SIGNED: VectorReduceMulOp,
        Kind.UNSIGNED: VectorReduceMulOp,
        Kind.BOOL: VectorReduceAndOp,
    },
    tg.ReduceKind.MAX: {
        Kind.FLOAT: VectorReduceFMaximumOp,
        Kind.SIGNED: VectorReduceSMaxOp,
        Kind.UNSIGNED: VectorReduceUMaxOp,
        Kind.BOOL: VectorReduceOrOp,
    },
}
"""How the lanes of a vector are reduced to one, in any order."""


def across(e: LLVMEmitter, op: tg.ReduceOp, vector: SSAValue) -> SSAValue:
    """REDUCE of a vector to a scalar; one of a single lane is a scalar already."""
    dtype, kind = dtype_of(op.source), op.kind.data
    if not is_vector(vector.type):
        # A sum begins with +0: that of -0 alone is +0.
        is_sum = dtype.is_float and kind is tg.ReduceKind.ADD
        return e.float(llvm.FAddOp, e.number(0, vector.type), vector) if is_sum else vector
    type, reduction = element_of(vector.type), _ACROSS[kind][dtype.kind]
    if dtype.is_float and kind is not tg.ReduceKind.MAX:
        start = e.number(identity(kind, dtype), type)
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
