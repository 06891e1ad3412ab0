"""Index expressions: integers that a call computes from its scalar arguments.

Numbers of workgroups, offsets of views and the bounds of windows (`Window`) are constants, or
index arithmetic on the sizes of a call. Compiled for a CPU, such arithmetic is part of the host
function. A device's command buffer, and what a call checks (`check_windows`), have it as data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

Expression = tuple[int | str, ...]
"""An expression in postfix notation: numbers, `%i` for the scalar argument at position i, and keys
of `OPERATIONS`. `("%0", 255, "add", 256, "idiv")` is (argument 0 + 255) // 256."""

WRAP = "wrap"
"""A CAST: a value is wrapped between two bounds, which are operands as well."""
_VALUES, _GREATEST, _BITS = 2**64, 2**63 - 1, 64
"""The number of values of an i64, its greatest value, and its bits."""


_BINARY: Mapping[str, Callable[[int, int], int]] = {
    "add": int.__add__,
    "sub": int.__sub__,
    "mul": int.__mul__,
    "idiv": lambda a, b: a // b if b else 0,
    "mod": lambda a, b: a % b if b else 0,
    "max": max,
    "shl": lambda a, count: a << count if 0 <= count < _BITS else 0,
    "shr": lambda a, count: a >> count if 0 <= count < _BITS else -(a < 0),
    "and": int.__and__,
    "or": int.__or__,
    "xor": int.__xor__,
    "cmplt": int.__lt__,
    "cmpgt": int.__gt__,
    "cmple": int.__le__,
    "cmpge": int.__ge__,
    "cmpeq": int.__eq__,
    "cmpne": int.__ne__,
}
_TERNARY: Mapping[str, Callable[[int, int, int], int]] = {
    "where": lambda condition, a, b: a if condition else b,
    WRAP: lambda a, low, high: (a - low) % (high - low + 1) + low,
}
OPERATIONS: Mapping[str, tuple[int, Callable[..., int]]] = {
    "neg": (1, int.__neg__),
    **{name: (2, compute) for name, compute in _BINARY.items()},
    **{name: (3, compute) for name, compute in _TERNARY.items()},
}
"""The ops of the dialect on index values, without the prefix `tg.`, and `WRAP`: how many operands
each has, and its value (docs/semantics.md), which is then wrapped to 64 bits."""


def argument_at(position: int) -> Expression:
    """The scalar argument at a position."""
    return (f"%{position}",)


def evaluate(expression: Expression, arguments: Sequence[Any]) -> int:
    """The value of an expression, given the arguments of a call by position."""
    stack: list[int] = []
    for token in expression:
        if isinstance(token, int):
            stack.append(token)
        elif token.startswith("%"):
            stack.append(arguments[int(token[1:])])
        else:
            arity, compute = OPERATIONS[token]
            operands = stack[-arity:]
            del stack[-arity:]
            wrapped = compute(*operands) % _VALUES
            stack.append(wrapped if wrapped <= _GREATEST else wrapped - _VALUES)
    (value,) = stack
    return value


def applied(operation: str, *operands: Expression) -> Expression:
    """An operation on expressions; its value, if that does not depend on arguments."""
    found = *(token for operand in operands for token in operand), operation
    is_constant = not any(isinstance(t, str) and t.startswith("%") for t in found)
    return (evaluate(found, ()),) if is_constant else found


if TYPE_CHECKING:
    from tgdialect.diagnostics import CompilationError


class Window(NamedTuple):
    """One axis of an op: the part of extent `inner` at `offset` in an axis of extent `outer`.

    `line` and `column` are 0 if they are unknown; `file` is "" for the compiled text itself. `node`
    has the names in the op's location, as errors show them, or is "".
    """

    axis: int
    offset: Expression
    inner: Expression
    outer: Expression
    file: str
    line: int
    column: int
    node: str = ""


def check_windows(windows: Sequence[Window], frame: Sequence[Any], name: str, text: str) -> None:
    """Raise CompilationError, at the op, for the first window that is out of bounds.

    Compiled code reads 0 outside of the source of a SHRINK, and writes nothing outside of the
    result of a PAD. Without this check it would be safe, but would compute something that the
    program does not say. The compiler is imported only for errors, so that a program from the cache
    starts without it.

    `frame` has the values of the scalars by position; `name` and `text` are those of the program.
    """
    for window in windows:
        offset = evaluate(window.offset, frame)
        inner = evaluate(window.inner, frame)
        outer = evaluate(window.outer, frame)
        if min(offset, inner, outer) < 0 or offset + inner > outer:
            raise _error(window, (offset, inner, outer), name, text)


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
        node=window.node or None,
    )
    return CompilationError(at).with_source(SourceFile(name, text))
