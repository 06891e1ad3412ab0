"""CAST and BITCAST of scalars."""

from __future__ import annotations

from tgdialect.lowering.render.source.builder import SourceBuilder, Spelled
from tgdialect.lowering.render.source.expressions import INT, Precedence, Scalar, index_type
from tgdialect.ops.dtypes import DTYPES, INDEX, DType


def convert(of: Spelled) -> Scalar:
    """CAST between any two dtypes."""
    f, (value,), source, result = of.function, of.operands, of.source, of.dtype
    if result.is_bool:
        zero = f.literal(0, value.dtype)
        if source.is_bool:
            return value
        return f.binary("!=", Precedence.EQUALITY, value, zero, dtype=result)
    if source.is_float and not result.is_float:
        return _saturated(f, value, result)
    if result is DTYPES[INDEX]:
        # Its values decide about the type.
        return f.cast(value, index_type(of.interval))
    return f.cast(value, result)


def _saturated(f: SourceBuilder, value: Scalar, result: DType) -> Scalar:
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


def bitcast(of: Spelled) -> Scalar:
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


def reinterpreted(f: SourceBuilder, value: Scalar, result: DType) -> Scalar:
    """The number of a dtype that has the bits of another one, a float or an integer."""
    source, own = value.dtype, f.language.functions
    template = own.get(f"bitcast {source.name} {result.name}", own.get("bitcast"))
    if template is None:
        return f.helper("bitcast", (value,), result, S=f.type_name(source), suffix=source.name)
    text = template.format(value=value.text, type=f.type_name(result))
    precedence = Precedence.UNARY if text.startswith("(") else Precedence.POSTFIX
    return Scalar(text, result, precedence, reads=value.reads)
