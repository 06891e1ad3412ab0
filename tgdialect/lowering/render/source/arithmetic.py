"""Elementwise ops as expressions: a row per op, a column per kind of dtype.

Nothing is undefined: integers wrap, no division traps, a count past the width shifts everything
out, and a conversion saturates (docs/semantics.md).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.min_max import MinMax
from tgdialect.lowering.render.output import refusal
from tgdialect.lowering.render.source.builder import SourceBuilder
from tgdialect.lowering.render.source.conversion import bitcast, convert
from tgdialect.lowering.render.source.expressions import (
    INT,
    LONG,
    Precedence,
    Scalar,
    index_type,
    unsigned_of,
)
from tgdialect.ops import tg
from tgdialect.ops.dtypes import DTYPES, INDEX, UI64, DType, Kind
from tgdialect.ops.properties import dtype_of

Writer = Callable[[SourceBuilder, Operation, Sequence[Scalar], MinMax], Scalar]
"""(function, op, its operands, intervals of tg values) -> the result."""

_Corner = Callable[[float, float], float]


def _plain(symbol: str, precedence: Precedence) -> Writer:
    """A binary operator whose result has the type of its operands."""

    def write(
        f: SourceBuilder, op: Operation, operands: Sequence[Scalar], intervals: MinMax
    ) -> Scalar:
        return f.binary(symbol, precedence, *_promoted(f, op, operands, intervals))

    return write


def _relation(symbol: str, precedence: Precedence = Precedence.RELATION) -> Writer:
    """A comparison, or an operator on bools."""
    return lambda f, op, operands, intervals: f.binary(
        symbol, precedence, *operands, dtype=dtype_of(op.results[0])
    )


def _negated(writer: Writer) -> Writer:
    return lambda f, op, operands, intervals: f.unary("!", writer(f, op, operands, intervals))


def _wrapping(symbol: str, precedence: Precedence, corner: _Corner) -> Writer:
    """An operator on integers that may wrap."""

    def write(
        f: SourceBuilder, op: Operation, operands: Sequence[Scalar], intervals: MinMax
    ) -> Scalar:
        dtype = dtype_of(op.results[0])
        operands = _promoted(f, op, operands, intervals)
        promoted_to_int = dtype.bits < INT.bits and (dtype.bits < 16 or symbol != "*")
        is_defined = f.language.signed_wraps or promoted_to_int
        is_defined |= dtype.kind is Kind.UNSIGNED and dtype.bits >= INT.bits
        if is_defined or _fits(dtype, corner, op, intervals):
            return f.narrowed(f.binary(symbol, precedence, *operands), dtype)
        wide = unsigned_of(operands[0].dtype)
        return f.cast(f.binary(symbol, precedence, *(f.cast(o, wide) for o in operands)), dtype)

    return write


def _fits(dtype: DType, corner: _Corner, op: Operation, intervals: MinMax) -> bool:
    """Whether the exact result of an op is one of its dtype, by the intervals of its operands."""
    a, b = (intervals[operand] for operand in op.operands)
    corners = [corner(x, y) for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
    return dtype.low <= min(corners) and max(corners) <= dtype.high


def _promoted(
    f: SourceBuilder, op: Operation, operands: Sequence[Scalar], intervals: MinMax
) -> Sequence[Scalar]:
    """The operands; indices of 32 bits as 64 if another operand or the result takes 64."""
    if dtype_of(op.operands[-1]) is not DTYPES[INDEX]:
        return operands
    is_index = dtype_of(op.results[0]) is DTYPES[INDEX]
    is_wide = is_index and index_type(intervals[op.results[0]]) is LONG
    if is_wide or any(operand.dtype is LONG for operand in operands):
        return f.cast(operands[0], LONG), *operands[1:]
    return operands


def _negate(
    f: SourceBuilder, op: Operation, operands: Sequence[Scalar], intervals: MinMax
) -> Scalar:
    (value,) = operands
    dtype = dtype_of(op.results[0])
    if dtype is DTYPES[INDEX]:
        (value,) = _promoted(f, op, operands, intervals)
    if dtype.is_float or f.language.signed_wraps or intervals[op.operands[0]].lo > dtype.low:
        return f.narrowed(f.unary("-", value), dtype)
    return f.cast(f.unary("-", f.cast(value, unsigned_of(value.dtype))), value.dtype)


def _reciprocal(
    f: SourceBuilder, op: Operation, operands: Sequence[Scalar], intervals: MinMax
) -> Scalar:
    one = f.literal(1, operands[0].dtype)
    return f.binary("/", Precedence.PRODUCT, one, *operands)


def _function(name: str) -> Writer:
    return lambda f, op, operands, intervals: f.function(name, operands, operands[0].dtype)


def _identity(
    f: SourceBuilder, op: Operation, operands: Sequence[Scalar], intervals: MinMax
) -> Scalar:
    return operands[0]


def _multiply_add(
    f: SourceBuilder, op: Operation, operands: Sequence[Scalar], intervals: MinMax
) -> Scalar:
    dtype = dtype_of(op.results[0])
    if f.language.signed_wraps:
        product = f.binary("*", Precedence.PRODUCT, *operands[:2])
        return f.narrowed(f.binary("+", Precedence.SUM, product, operands[2]), dtype)
    wide = unsigned_of(dtype)
    a, b, c = (f.cast(operand, wide) for operand in operands)
    product = f.binary("*", Precedence.PRODUCT, a, b)
    return f.cast(f.binary("+", Precedence.SUM, product, c), dtype)


def _floor(symbol: str, shifted: str, name: str) -> Writer:
    """IDIV or MOD: C's operator where both operands are known not to be negative."""

    def write(
        f: SourceBuilder, op: Operation, operands: Sequence[Scalar], intervals: MinMax
    ) -> Scalar:
        dtype = dtype_of(op.results[0])
        a, b = (intervals[operand] for operand in op.operands)
        is_signed = dtype.kind is Kind.SIGNED
        if b.lo >= 1 and (a.lo >= 0 or not is_signed):
            return f.binary(symbol, Precedence.PRODUCT, *operands)
        divisor = int(b.lo)
        if b.is_constant and divisor > 0 and divisor & (divisor - 1) == 0:
            # Rounds toward minus infinity.
            number = divisor.bit_length() - 1 if shifted == ">>" else divisor - 1
            precedence = Precedence.SHIFT if shifted == ">>" else Precedence.BITWISE
            count = f.literal(number, INT)
            return f.binary(shifted, precedence, operands[0], count, dtype=operands[0].dtype)
        operands = _promoted(f, op, operands, intervals)
        type = dtype if dtype is not DTYPES[INDEX] else operands[0].dtype
        return f.helper(f"floor_{name}" if is_signed else name, operands, type)

    return write


def _shift(symbol: str, name: str) -> Writer:
    def write(
        f: SourceBuilder, op: Operation, operands: Sequence[Scalar], intervals: MinMax
    ) -> Scalar:
        dtype = dtype_of(op.results[0])
        value, count = operands
        if dtype is DTYPES[INDEX] and index_type(intervals[op.results[0]]) is LONG:
            value = f.cast(value, LONG)
        width = dtype.bits if dtype is not DTYPES[INDEX] else value.dtype.bits
        if intervals[op.operands[1]].within(0, width - 1):
            is_left = symbol == "<<" and dtype.kind is Kind.SIGNED
            if is_left and not f.language.signed_wraps:
                wide = unsigned_of(value.dtype)
                shifted = f.binary(symbol, Precedence.SHIFT, f.cast(value, wide), count)
                return f.cast(shifted, value.dtype)
            result = f.binary(symbol, Precedence.SHIFT, value, count, dtype=value.dtype)
            return f.narrowed(result, dtype)
        is_arithmetic = symbol == ">>" and dtype.kind is Kind.SIGNED
        out = f"a >> {width - 1}" if is_arithmetic else "0"
        if dtype is DTYPES[INDEX]:
            value = f.cast(value, LONG)
            out = out.replace(str(width - 1), str(LONG.bits - 1))
        return f.helper(name, (value, count), value.dtype, count=f.type_name(DTYPES[UI64]), out=out)

    return write


def _maximum(
    f: SourceBuilder, op: Operation, operands: Sequence[Scalar], intervals: MinMax
) -> Scalar:
    operands = _promoted(f, op, operands, intervals)
    return f.maximum(*operands)


def _where(
    f: SourceBuilder, op: Operation, operands: Sequence[Scalar], intervals: MinMax
) -> Scalar:
    return f.choice(*operands)


Columns = Mapping[Kind, Writer]


def _integers(writer: Writer) -> Columns:
    return {Kind.SIGNED: writer, Kind.UNSIGNED: writer}


def _any(writer: Writer) -> Columns:
    return dict.fromkeys(Kind, writer)


_OR, _AND = _relation("||", Precedence.OR), _relation("&&", Precedence.AND)
_PLUS, _TIMES, _DIVIDED, _MINUS = (
    _plain(symbol, precedence)
    for symbol, precedence in (
        ("+", Precedence.SUM),
        ("*", Precedence.PRODUCT),
        ("/", Precedence.PRODUCT),
        ("-", Precedence.SUM),
    )
)


def _bitwise(symbol: str, of_bools: Writer) -> Columns:
    return {Kind.BOOL: of_bools, **_integers(_plain(symbol, Precedence.BITWISE))}


ELEMENTWISE: dict[str, Columns] = {
    "tg.recip": {Kind.FLOAT: _reciprocal},
    "tg.sqrt": {Kind.FLOAT: _function("sqrt")},
    "tg.trunc": {**_any(_identity), Kind.FLOAT: _function("trunc")},
    "tg.cast": _any(convert),
    "tg.bitcast": _any(bitcast),
    "tg.neg": {Kind.FLOAT: _negate, **_integers(_negate)},
    "tg.add": {
        Kind.FLOAT: _PLUS,
        **_integers(_wrapping("+", Precedence.SUM, operator.add)),
        Kind.BOOL: _OR,
    },
    "tg.sub": {
        Kind.FLOAT: _MINUS,
        **_integers(_wrapping("-", Precedence.SUM, operator.sub)),
    },
    "tg.mul": {
        Kind.FLOAT: _TIMES,
        **_integers(_wrapping("*", Precedence.PRODUCT, operator.mul)),
        Kind.BOOL: _AND,
    },
    "tg.div": {Kind.FLOAT: _DIVIDED},
    "tg.max": {Kind.FLOAT: _maximum, **_integers(_maximum), Kind.BOOL: _OR},
    "tg.mulacc": {Kind.FLOAT: _function("fma"), **_integers(_multiply_add)},
    "tg.idiv": _integers(_floor("/", ">>", "div")),
    "tg.mod": _integers(_floor("%", "&", "mod")),
    # CMPGE and CMPLE are the negations of CMPLT and so true on NaN; CMPEQ is that of CMPNE.
    "tg.cmplt": _any(_relation("<")),
    "tg.cmpgt": _any(_relation(">")),
    "tg.cmpge": {**_any(_relation(">=")), Kind.FLOAT: _negated(_relation("<"))},
    "tg.cmple": {**_any(_relation("<=")), Kind.FLOAT: _negated(_relation(">"))},
    "tg.cmpne": _any(_relation("!=", Precedence.EQUALITY)),
    "tg.cmpeq": _any(_relation("==", Precedence.EQUALITY)),
    "tg.xor": _bitwise("^", _relation("!=", Precedence.EQUALITY)),
    "tg.or": _bitwise("|", _OR),
    "tg.and": _bitwise("&", _AND),
    "tg.shl": _integers(_shift("<<", "shl")),
    "tg.shr": _integers(_shift(">>", "shr")),
    "tg.not": {
        Kind.BOOL: lambda f, op, operands, intervals: f.unary("!", operands[0]),
    },
    "tg.where": _any(_where),
}
"""How each elementwise op, and BITCAST, is computed, by the kind of its first operand's dtype."""


def compute(
    f: SourceBuilder, op: Operation, operands: Sequence[Scalar], intervals: MinMax
) -> Scalar:
    """The result of an op of `ELEMENTWISE` on scalars. Raises for an op or a dtype that it
    lacks."""
    if (columns := ELEMENTWISE.get(op.name)) is None:
        raise refusal(op)
    dtype = dtype_of(op.operands[0])
    if (writer := columns.get(dtype.kind)) is None:
        raise PassFailedException(f"{f.language.name} has no {op.name} of {dtype.name}")
    found = writer(f, op, operands, intervals)
    is_index = dtype_of(op.results[0]) is DTYPES[INDEX]
    return replace(found, interval=intervals[op.results[0]] if is_index else None)


def combine(f: SourceBuilder, kind: tg.ReduceKind, a: Scalar, b: Scalar) -> Scalar:
    """One step of a REDUCE."""
    if a.dtype.is_bool:
        symbol, precedence = (
            ("&&", Precedence.AND) if kind is tg.ReduceKind.MUL else ("||", Precedence.OR)
        )
        return f.binary(symbol, precedence, a, b)
    if kind is tg.ReduceKind.MAX:
        return f.maximum(a, b)
    symbol, precedence = (
        ("+", Precedence.SUM) if kind is tg.ReduceKind.ADD else ("*", Precedence.PRODUCT)
    )
    dtype = a.dtype
    if dtype.kind is Kind.SIGNED and not f.language.signed_wraps:
        wide = unsigned_of(dtype)
        return f.cast(f.binary(symbol, precedence, f.cast(a, wide), f.cast(b, wide)), dtype)
    return f.narrowed(f.binary(symbol, precedence, a, b), dtype)
