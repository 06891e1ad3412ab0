"""Windows: parts of an axis whose bounds depend on the arguments of a call, which checks them.

Compiled code reads 0 outside of the source of a SHRINK, and writes nothing outside of the result of
a PAD. Without these checks it would be safe, but would compute something that the program does not
say.

The compiler is imported only for errors, so that a program from the cache starts without it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tgdialect.diagnostics import CompilationError


class Computed(NamedTuple):
    """A factor that is the result of an op, as a quotient."""

    op: str
    operands: tuple[Polynomial, ...]


Polynomial = tuple[tuple[int, tuple["int | Computed", ...]], ...]
"""Terms: a coefficient, and its factors: positions of scalar parameters, and computed values."""

OPS = frozenset(
    f"tg.{name}"
    for name in (
        *("idiv", "mod", "max", "where", "and", "or", "xor", "cast"),
        *("cmplt", "cmpgt", "cmple", "cmpge", "cmpeq", "cmpne"),
    )
)
"""The ops on index values and bools that factors are computed by. A CAST wraps between two bounds,
which are operands as well."""

_INDEX_VALUES, _GREATEST_INDEX = 2**64, 2**63 - 1
"""The number of values of an index, an i64, and the greatest of them."""


class Window(NamedTuple):
    """One axis of an op: the part of extent `inner` at `offset` in an axis of extent `outer`.

    `line` and `column` are 0 if they are unknown; `file` is "" for the compiled text itself.
    """

    axis: int
    offset: Polynomial
    inner: Polynomial
    outer: Polynomial
    file: str
    line: int
    column: int

    @classmethod
    def of(cls, fields: Sequence[Any]) -> Window:
        """A window from JSON, which has lists for tuples."""
        axis, *bounds, file, line, column = fields
        offset, inner, outer = map(_polynomial, bounds)
        return cls(axis, offset, inner, outer, file, line, column)


def _polynomial(terms: Sequence[Any]) -> Polynomial:
    return tuple((factor, tuple(map(_factor, at))) for factor, at in terms)


def _factor(of: Any) -> int | Computed:
    return of if isinstance(of, int) else Computed(of[0], tuple(map(_polynomial, of[1])))


def check_windows(windows: Sequence[Window], frame: Sequence[Any], name: str, text: str) -> None:
    """Raise CompilationError, at the op, for the first window that is out of bounds.

    `frame` has the values of the scalars by position; `name` and `text` are those of the program.
    """
    for window in windows:
        offset = _value(window.offset, frame)
        inner = _value(window.inner, frame)
        outer = _value(window.outer, frame)
        if min(offset, inner, outer) < 0 or offset + inner > outer:
            raise _error(window, (offset, inner, outer), name, text)


def _value(polynomial: Polynomial, frame: Sequence[Any]) -> int:
    """The value of a polynomial, which wraps as index arithmetic does."""
    total = sum(c * math.prod(_computed(f, frame) for f in factors) for c, factors in polynomial)
    wrapped = total % _INDEX_VALUES
    return wrapped if wrapped <= _GREATEST_INDEX else wrapped - _INDEX_VALUES


def _computed(factor: int | Computed, frame: Sequence[Any]) -> int:
    if isinstance(factor, Computed):
        return _evaluated(factor.op, *(_value(operand, frame) for operand in factor.operands))
    return frame[factor]


def _evaluated(op: str, a: int, b: int, c: int = 0) -> int:
    match op:
        case "tg.idiv":
            return a // b if b else 0
        case "tg.mod":
            return a % b if b else 0
        case "tg.max":
            return max(a, b)
        case "tg.where":
            return b if a else c
        case "tg.and":
            return a & b
        case "tg.or":
            return a | b
        case "tg.xor":
            return a ^ b
        case "tg.cast":
            return (a - b) % (c - b + 1) + b
        case "tg.cmplt":
            return a < b
        case "tg.cmpgt":
            return a > b
        case "tg.cmple":
            return a <= b
        case "tg.cmpge":
            return a >= b
        case "tg.cmpeq":
            return a == b
        case _:
            return a != b


def _error(window: Window, bounds: tuple[int, int, int], name: str, text: str) -> CompilationError:
    from tgdialect.diagnostics import CompilationError, Diagnostic, SourceFile
    from tgdialect.ops.properties import window_misfit

    message = window_misfit(window.axis, *bounds)
    assert message is not None
    at = Diagnostic(
        message,
        file=window.file or name or None,
        line=window.line or None,
        column=window.column or None,
    )
    return CompilationError(at).with_source(SourceFile(name, text))
