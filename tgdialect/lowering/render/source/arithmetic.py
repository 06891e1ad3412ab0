"""Elementwise ops as expressions: a row per op, a column per kind of dtype.

Nothing is undefined: integers wrap, no division traps, a count past the width shifts everything
out, and a conversion saturates (docs/semantics.md).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace

from tgdialect.lowering.render.elementwise import Columns, first_operand, of_any, row, written
from tgdialect.lowering.render.source.builder import (
    INT,
    LONG,
    Precedence,
    Scalar,
    SourceBuilder,
    Spelled,
    index_type,
    unsigned_of,
)
from tgdialect.ops import tg
from tgdialect.ops.dtypes import UI64, Kind

Writer = Callable[[Spelled], Scalar]

_Corner = Callable[[float, float], float]


def _plain(symbol: str, precedence: Precedence) -> Writer:
    """A binary operator whose result has the type of its operands."""
    return lambda of: of.function.binary(symbol, precedence, *_promoted(of))


def _relation(symbol: str, precedence: Precedence = Precedence.RELATION) -> Writer:
    """A comparison, or an operator on bools."""
    return lambda of: of.function.binary(symbol, precedence, *of.operands, dtype=of.dtype)


def _negated(writer: Writer) -> Writer:
    return lambda of: of.function.unary("!", writer(of))


def _wrapping(symbol: str, precedence: Precedence, corner: _Corner) -> Writer:
    """An operator on integers that may wrap."""

    def write(of: Spelled) -> Scalar:
        f, dtype, operands = of.function, of.dtype, _promoted(of)
        promoted_to_int = dtype.bits < INT.bits and (dtype.bits < 16 or symbol != "*")
        is_defined = f.language.signed_wraps or promoted_to_int
        is_defined |= dtype.kind is Kind.UNSIGNED and dtype.bits >= INT.bits
        if is_defined or _fits(of, corner):
            return f.narrowed(f.binary(symbol, precedence, *operands), dtype)
        wide = unsigned_of(operands[0].dtype)
        return f.cast(f.binary(symbol, precedence, *(f.cast(o, wide) for o in operands)), dtype)

    return write


def _fits(of: Spelled, corner: _Corner) -> bool:
    """Whether the exact result of an op is one of its dtype, by the intervals of its operands."""
    a, b = map(of.interval_of, (0, 1))
    corners = [corner(x, y) for x in (a.lo, a.hi) for y in (b.lo, b.hi)]
    return of.dtype.low <= min(corners) and max(corners) <= of.dtype.high


def _promoted(of: Spelled) -> Sequence[Scalar]:
    """The operands; indices of 32 bits as 64 if another operand or the result takes 64."""
    operands = of.operands
    if tg.dtype_of(of.op.operands[-1]) is not tg.DTYPES[tg.INDEX]:
        return operands
    is_wide = of.dtype is tg.DTYPES[tg.INDEX] and index_type(of.interval) is LONG
    if is_wide or any(operand.dtype is LONG for operand in operands):
        return of.function.cast(operands[0], LONG), *operands[1:]
    return operands


def _negate(of: Spelled) -> Scalar:
    f, (value,), dtype = of.function, of.operands, of.dtype
    if dtype is tg.DTYPES[tg.INDEX]:
        (value,) = _promoted(of)
    if dtype.is_float or f.language.signed_wraps or of.interval_of(0).lo > dtype.low:
        return f.narrowed(f.unary("-", value), dtype)
    return f.cast(f.unary("-", f.cast(value, unsigned_of(value.dtype))), value.dtype)


def _reciprocal(of: Spelled) -> Scalar:
    one = of.function.literal(1, of.operands[0].dtype)
    return of.function.binary("/", Precedence.PRODUCT, one, *of.operands)


def _function(name: str) -> Writer:
    return lambda of: of.function.function(name, of.operands, of.operands[0].dtype)


def _multiply_add(of: Spelled) -> Scalar:
    f, operands, dtype = of.function, of.operands, of.dtype
    if not f.language.signed_wraps:
        wide = unsigned_of(dtype)
        operands = [f.cast(operand, wide) for operand in operands]
    product = f.binary("*", Precedence.PRODUCT, *operands[:2])
    total = f.binary("+", Precedence.SUM, product, operands[2])
    return (f.narrowed if f.language.signed_wraps else f.cast)(total, dtype)


def _floor(symbol: str, shifted: str, name: str) -> Writer:
    """IDIV or MOD: C's operator where both operands are known not to be negative."""

    def write(of: Spelled) -> Scalar:
        f, operands, dtype = of.function, of.operands, of.dtype
        a, b = map(of.interval_of, (0, 1))
        is_signed = dtype.kind is Kind.SIGNED
        if b.lo >= 1 and (a.lo >= 0 or not is_signed):
            return f.binary(symbol, Precedence.PRODUCT, *operands)
        if (shift := of.shift) is not None:
            # Rounds toward minus infinity.
            is_shift = shifted == ">>"
            precedence = Precedence.SHIFT if is_shift else Precedence.BITWISE
            count = f.literal(shift if is_shift else (1 << shift) - 1, INT)
            return f.binary(shifted, precedence, operands[0], count, dtype=operands[0].dtype)
        operands = _promoted(of)
        type = dtype if dtype is not tg.DTYPES[tg.INDEX] else operands[0].dtype
        return f.helper(f"floor_{name}" if is_signed else name, operands, type)

    return write


def _shift(symbol: str, name: str) -> Writer:
    def write(of: Spelled) -> Scalar:
        f, (value, count), dtype = of.function, of.operands, of.dtype
        if dtype is tg.DTYPES[tg.INDEX] and index_type(of.interval) is LONG:
            value = f.cast(value, LONG)
        width = dtype.bits if dtype is not tg.DTYPES[tg.INDEX] else value.dtype.bits
        if of.interval_of(1).within(0, width - 1):
            is_left = symbol == "<<" and dtype.kind is Kind.SIGNED
            if is_left and not f.language.signed_wraps:
                wide = unsigned_of(value.dtype)
                shifted = f.binary(symbol, Precedence.SHIFT, f.cast(value, wide), count)
                return f.cast(shifted, value.dtype)
            result = f.binary(symbol, Precedence.SHIFT, value, count, dtype=value.dtype)
            return f.narrowed(result, dtype)
        is_arithmetic = symbol == ">>" and dtype.kind is Kind.SIGNED
        out = f"a >> {width - 1}" if is_arithmetic else "0"
        if dtype is tg.DTYPES[tg.INDEX]:
            value = f.cast(value, LONG)
            out = out.replace(str(width - 1), str(LONG.bits - 1))
        return f.helper(
            name, (value, count), value.dtype, count=f.type_name(tg.DTYPES[UI64]), out=out
        )

    return write


def _maximum(of: Spelled) -> Scalar:
    return of.function.maximum(*_promoted(of))


def _where(of: Spelled) -> Scalar:
    return of.function.choice(*of.operands)


# -- CAST and BITCAST


def _convert(of: Spelled) -> Scalar:
    """CAST between any two dtypes."""
    f, (value,), source, result = of.function, of.operands, of.source, of.dtype
    if result.is_bool:
        zero = f.literal(0, value.dtype)
        if source.is_bool:
            return value
        return f.binary("!=", Precedence.EQUALITY, value, zero, dtype=result)
    if source.is_float and not result.is_float:
        return _saturated(f, value, result)
    if result is tg.DTYPES[tg.INDEX]:
        # Its values decide about the type.
        return f.cast(value, index_type(of.interval))
    return f.cast(value, result)


def _saturated(f: SourceBuilder, value: Scalar, result: tg.DType) -> Scalar:
    """Floats truncate, saturate, and NaN becomes 0."""
    least, bound = int(result.low), int(result.high) + 1
    return f.helper(
        "convert",
        (value,),
        result,
        S=f.type_name(value.dtype),
        suffix=value.dtype.name,
        above=f.literal(bound, value.dtype).text,
        low_bound=f.literal(least, value.dtype).text,
        high=f.literal(int(result.high), result).text,
        low=f.literal(least, result).text,
    )


def _bitcast(of: Spelled) -> Scalar:
    """BITCAST to a dtype of the same size; fp8 is its bits."""
    f, (value,), source, result = of.function, of.operands, of.source, of.dtype
    if source == result or (result.is_float and result.bits == 8):
        return value
    if result.is_bool:
        # Any byte but 0 is true.
        return f.binary("!=", Precedence.EQUALITY, value, f.literal(0, INT), dtype=result)
    if not source.is_float and not result.is_float:
        return f.cast(value, result)
    return reinterpreted(f, f.cast(value, source), result)


def reinterpreted(f: SourceBuilder, value: Scalar, result: tg.DType) -> Scalar:
    """The number of a dtype that has the bits of another one, a float or an integer."""
    source, own = value.dtype, f.language.functions
    template = own.get(f"bitcast {source.name} {result.name}", own.get("bitcast"))
    if template is None:
        return f.helper("bitcast", (value,), result, S=f.type_name(source), suffix=source.name)
    text = template.format(value=value.text, type=f.type_name(result))
    precedence = Precedence.UNARY if text.startswith("(") else Precedence.POSTFIX
    return Scalar(text, result, precedence, reads=value.reads)


# -- the table

_OR, _AND = _relation("||", Precedence.OR), _relation("&&", Precedence.AND)
_NE, _EQ = (_relation(symbol, Precedence.EQUALITY) for symbol in ("!=", "=="))
_LT, _GT = map(_relation, "<>")
_SUM, _PRODUCT = Precedence.SUM, Precedence.PRODUCT


def _bitwise(symbol: str, of_bools: Writer) -> Columns:
    return row(None, _plain(symbol, Precedence.BITWISE), of_bools)


ELEMENTWISE: dict[str, Columns] = {
    "tg.recip": row(_reciprocal),
    "tg.sqrt": row(_function("sqrt")),
    "tg.trunc": row(_function("trunc"), first_operand, first_operand),
    "tg.cast": of_any(_convert),
    "tg.bitcast": of_any(_bitcast),
    "tg.neg": row(_negate, _negate),
    "tg.add": row(_plain("+", _SUM), _wrapping("+", _SUM, operator.add), _OR),
    "tg.sub": row(_plain("-", _SUM), _wrapping("-", _SUM, operator.sub)),
    "tg.mul": row(_plain("*", _PRODUCT), _wrapping("*", _PRODUCT, operator.mul), _AND),
    "tg.div": row(_plain("/", _PRODUCT)),
    "tg.max": row(_maximum, _maximum, _OR),
    "tg.mulacc": row(_function("fma"), _multiply_add),
    "tg.idiv": row(None, _floor("/", ">>", "div")),
    "tg.mod": row(None, _floor("%", "&", "mod")),
    # CMPGE and CMPLE are the negations of CMPLT and so true on NaN; CMPEQ is that of CMPNE.
    "tg.cmplt": of_any(_LT),
    "tg.cmpgt": of_any(_GT),
    "tg.cmpge": {**of_any(_relation(">=")), Kind.FLOAT: _negated(_LT)},
    "tg.cmple": {**of_any(_relation("<=")), Kind.FLOAT: _negated(_GT)},
    "tg.cmpne": of_any(_NE),
    "tg.cmpeq": of_any(_EQ),
    "tg.xor": _bitwise("^", _NE),
    "tg.or": _bitwise("|", _OR),
    "tg.and": _bitwise("&", _AND),
    "tg.shl": row(None, _shift("<<", "shl")),
    "tg.shr": row(None, _shift(">>", "shr")),
    "tg.not": row(bool=_negated(first_operand)),
    "tg.where": of_any(_where),
}
"""How each elementwise op, and BITCAST, is computed, by the kind of its first operand's dtype."""


def compute(of: Spelled) -> Scalar:
    """The result of an op of `ELEMENTWISE` on scalars. Raises for an op or a dtype that it
    lacks."""
    found = written(ELEMENTWISE, of.function.language.name, of)
    return replace(found, interval=of.interval if of.dtype is tg.DTYPES[tg.INDEX] else None)


def combine(f: SourceBuilder, kind: tg.ReduceKind, a: Scalar, b: Scalar) -> Scalar:
    """One step of a REDUCE."""
    is_product = kind is tg.ReduceKind.MUL
    if a.dtype.is_bool:
        symbol, precedence = ("&&", Precedence.AND) if is_product else ("||", Precedence.OR)
        return f.binary(symbol, precedence, a, b)
    if kind is tg.ReduceKind.MAX:
        return f.maximum(a, b)
    symbol, precedence = ("*", _PRODUCT) if is_product else ("+", _SUM)
    dtype = a.dtype
    if dtype.kind is Kind.SIGNED and not f.language.signed_wraps:
        wide = unsigned_of(dtype)
        return f.cast(f.binary(symbol, precedence, f.cast(a, wide), f.cast(b, wide)), dtype)
    return f.narrowed(f.binary(symbol, precedence, a, b), dtype)
