"""Constant folding: the semantics of elementwise ops on scalars, in Python arithmetic.

The semantics are those of docs/semantics.md. A rule gets the dtype of the op's first operand and
the operands as numbers (a bool is 0 or 1). It returns the result before rounding or wrapping into
the result's dtype. Integers are exact. A float rule computes in f64, which rounds correctly to
every narrower dtype (see `round_to`). A transcendental op is folded only if its result is exact,
since otherwise a target may differ from Python in the last place. POW, ERF and THREEFRY are not
folded.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from xdsl.dialect_interfaces.constant_materialization import ConstantMaterializationInterface
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tgdialect.ops.attributes import InvalidAttr
from tgdialect.ops.dtypes import (
    DTYPES,
    F32,
    DType,
    Kind,
    dtype_row,
    number_attribute,
    round_to,
    wrap_to,
)
from tgdialect.ops.properties import number, tensor
from tgdialect.ops.source import ConstOp

Number = int | float
ScalarRule = Callable[..., Number | None]
"""(operand dtype, *operands) -> the result, or None if it is not exact."""


# -- arithmetic ----------------------------------------------------------------------------------


Unary = Callable[[Any], Number]
Binary = Callable[[Any, Any], Number]


def _plain(function: Unary | Binary) -> ScalarRule:
    """A rule that is the same for every dtype."""

    def rule(dtype: DType, *values: Number) -> Number:
        return function(*values)

    return rule


def _on_numbers(numeric: Binary, logical: Binary) -> ScalarRule:
    """ADD, MUL and MAX of bools are or, and, or."""

    def rule(dtype: DType, a: Number, b: Number) -> Number:
        return (logical if dtype.is_bool else numeric)(a, b)

    return rule


def _select(dtype: DType, condition: Number, a: Number, b: Number) -> Number:
    return a if condition else b


def _divide(a: float, b: float) -> float:
    if b != 0:
        return a / b
    if a == 0 or a != a:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _maximum(a: Number, b: Number) -> Number:
    """NaN if either is NaN; +0 is larger than -0."""
    if a != a or b != b:
        return math.nan
    if a == b == 0 and isinstance(a, float):
        return b if math.copysign(1.0, a) < 0 else a
    return max(a, b)


def _truncate(x: Number) -> Number:
    if isinstance(x, int) or not math.isfinite(x):
        return x
    return math.copysign(float(math.trunc(x)), x)


def _shift_left(dtype: DType, a: int, count: int) -> int:
    return a << count if 0 <= count < dtype.bits else 0


def _shift_right(dtype: DType, a: int, count: int) -> int:
    return a >> (count if 0 <= count < dtype.bits else dtype.bits)


def _multiply_add(dtype: DType, a: Number, b: Number, c: Number) -> Number:
    """A float product is rounded before the addition; for narrower dtypes both are done in f32."""
    if dtype.is_bool:
        return (a and b) or c
    wide = DTYPES[F32] if dtype.is_float and dtype.bits < 32 else dtype
    return _into(wide, _into(wide, a * b) + c)


# -- ops that are folded where they are exact ----------------------------------------------------


def _where_exact(function: Callable[[float], float | None]) -> ScalarRule:
    """NaN gives NaN. The function returns None if its result is not exact."""

    def rule(dtype: DType, x: float) -> float | None:
        return x if x != x else function(x)

    return rule


def _exact_at(at_low: float, at_zero: float | None, at_high: float) -> ScalarRule:
    """A function that is exact at -inf, 0 and inf only. Where it is 0 at 0, it keeps the sign."""

    def function(x: float) -> float | None:
        if x == 0:
            return at_zero or (None if at_zero is None else x)
        return None if math.isfinite(x) else at_low if x < 0 else at_high

    return _where_exact(function)


def _exp2(x: float) -> float | None:
    if math.isinf(x):
        return math.inf if x > 0 else 0.0
    if x != math.trunc(x) or abs(x) > 1074:
        return None
    return math.ldexp(1.0, int(x)) if x < 1024 else None


def _log2(x: float) -> float | None:
    if x <= 0:
        return -math.inf if x == 0 else math.nan
    if math.isinf(x):
        return x
    mantissa, exponent = math.frexp(x)
    return float(exponent - 1) if mantissa == 0.5 else None


def _log(x: float) -> float | None:
    return None if 0 < x < math.inf and x != 1 else _log2(x)


def _log10(x: float) -> float | None:
    if not 1 < x < math.inf:
        return _log(x)
    exponent = round(math.log10(x))
    return float(exponent) if x == 10**exponent else None


def _log1p(x: float) -> float | None:
    return x if x == 0 else _log(1 + x) if x <= -1 or math.isinf(x) else None


def _fmod(dtype: DType, a: float, b: float) -> float:
    is_nan = a != a or b != b or math.isinf(a) or b == 0
    return math.nan if is_nan else math.fmod(a, b)


def _sqrt(x: float) -> float | None:
    if x < 0:
        return math.nan
    if math.isinf(x) or x == 0:
        return x
    root = math.sqrt(x)
    return root if Fraction(root) ** 2 == Fraction(x) else None


# -- the table -----------------------------------------------------------------------------------

_UNARY: dict[str, Unary] = {
    "tg.recip": lambda x: _divide(1.0, x),
    "tg.trunc": _truncate,
    "tg.cast": lambda x: x,
    "tg.neg": lambda x: -x,
    "tg.not": operator.not_,
}
_BINARY: dict[str, Binary] = {
    "tg.mod": lambda a, b: a % b if b else 0,
    "tg.idiv": lambda a, b: a // b if b else 0,
    "tg.cmplt": operator.lt,
    "tg.cmpne": operator.ne,
    "tg.xor": lambda a, b: a ^ b,
    "tg.or": lambda a, b: a | b,
    "tg.and": lambda a, b: a & b,
    "tg.sub": operator.sub,
    "tg.div": _divide,
    "tg.cmpgt": operator.gt,
    "tg.cmpge": lambda a, b: not a < b,
    "tg.cmple": lambda a, b: not b < a,
    "tg.cmpeq": operator.eq,
}
SCALAR_RULES: dict[str, ScalarRule] = {
    **{name: _plain(function) for name, function in (*_UNARY.items(), *_BINARY.items())},
    "tg.add": _on_numbers(operator.add, _BINARY["tg.or"]),
    "tg.mul": _on_numbers(operator.mul, _BINARY["tg.and"]),
    "tg.max": _on_numbers(_maximum, _BINARY["tg.or"]),
    "tg.shr": _shift_right,
    "tg.shl": _shift_left,
    "tg.where": _select,
    "tg.exp2": _where_exact(_exp2),
    "tg.log2": _where_exact(_log2),
    "tg.exp": _exact_at(0.0, 1.0, math.inf),
    "tg.log": _where_exact(_log),
    "tg.log10": _where_exact(_log10),
    "tg.expm1": _exact_at(-1.0, 0.0, math.inf),
    "tg.log1p": _where_exact(_log1p),
    "tg.softplus": _exact_at(0.0, None, math.inf),
    "tg.sin": _exact_at(math.nan, 0.0, math.nan),
    "tg.cos": _exact_at(math.nan, 1.0, math.nan),
    "tg.erfc": _exact_at(2.0, 1.0, 0.0),
    "tg.gelu": _exact_at(math.nan, 0.0, math.inf),
    "tg.sqrt": _where_exact(_sqrt),
    "tg.fmod": _fmod,
    "tg.mulacc": _multiply_add,
}
"""The scalar semantics of every elementwise op that is folded."""


def _into(dtype: DType, value: Number) -> Number:
    """A result converted to `dtype`: floats round, integers wrap, and floats saturate to
    integers."""
    if dtype.is_float:
        return round_to(dtype, value)
    if dtype.kind is Kind.BOOL:
        return int(value != 0)
    if isinstance(value, int):
        return wrap_to(dtype, value)
    if value != value:
        return 0
    return math.trunc(min(max(value, dtype.low), dtype.high))


def evaluate(name: str, operand: DType, result: DType, values: Sequence[Number]) -> Number | None:
    """The op `name` on scalars, the first of which has dtype `operand`; its result has dtype
    `result`. None if the op is not folded on these values.
    """
    rule = SCALAR_RULES.get(name)
    folded = None if rule is None else rule(operand, *values)
    return None if folded is None else _into(result, folded)


# -- on the IR -----------------------------------------------------------------------------------


def constant_attribute(value: SSAValue) -> Attribute | None:
    """The attribute of a `tg.const`; None for any other value."""
    owner: Any = value.owner  # Hot: `isinstance` with an abstract class is slow.
    if owner.__class__ is not Block and owner.name == "tg.const":
        return owner.properties["value"]
    return None


def fold_elementwise(op: Operation) -> Attribute | None:
    """The result of an elementwise op on constants; None if it is not folded.

    An invalid operand makes the result invalid; of WHERE only the selected one.
    """
    attributes: list[Attribute] = []
    for operand in op.operands:
        if (attribute := constant_attribute(operand)) is None:
            return None
        attributes.append(attribute)
    result = tensor(op.results[0]).element_type
    if op.name == "tg.where" and not isinstance(attributes[0], InvalidAttr):
        return attributes[1 if number(attributes[0]) else 2]
    if any(isinstance(a, InvalidAttr) for a in attributes):
        return InvalidAttr(result)
    values = [number(a) for a in attributes]
    source = tensor(op.operands[0]).element_type
    folded = evaluate(op.name, dtype_row(source), dtype_row(result), values)
    return None if folded is None else number_attribute(folded, result)


class ConstantMaterialization(ConstantMaterializationInterface):
    """Creates the `tg.const` of a folded op for xDSL's folder."""

    def materialize_constant(self, value: Attribute, type: Attribute) -> Operation | None:
        """A `tg.const`, which has shape () and no place; None for other types."""
        op = ConstOp(value)
        return op if op.result.type == type else None
