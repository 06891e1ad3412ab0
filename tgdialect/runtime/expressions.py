"""Index expressions: integers that a call computes from its scalar arguments.

Numbers of workgroups, offsets of views and the bounds of windows (`windows.py`) are constants, or
index arithmetic on the sizes of a call. Compiled for a CPU, such arithmetic is part of the host
function. A device's command buffer, and what a call checks, have it as data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Expression = tuple[int | str, ...]
"""An expression in postfix notation: numbers, `%i` for the scalar argument at position i, and keys
of `OPERATIONS`. `("%0", 255, "add", 256, "idiv")` is (argument 0 + 255) // 256."""

WRAP = "wrap"
"""A CAST: a value is wrapped between two bounds, which are operands as well."""
_VALUES, _GREATEST, _BITS = 2**64, 2**63 - 1, 64
"""The number of values of an i64, its greatest value, and its bits."""


def _idiv(a: int, b: int) -> int:
    return a // b if b else 0


def _mod(a: int, b: int) -> int:
    return a % b if b else 0


def _shl(a: int, count: int) -> int:
    return a << count if 0 <= count < _BITS else 0


def _shr(a: int, count: int) -> int:
    return a >> count if 0 <= count < _BITS else -(a < 0)


def _wrap(a: int, low: int, high: int) -> int:
    return (a - low) % (high - low + 1) + low


def _where(condition: int, a: int, b: int) -> int:
    return a if condition else b


OPERATIONS: Mapping[str, tuple[int, Callable[..., Any]]] = {
    "neg": (1, int.__neg__),
    "add": (2, int.__add__),
    "sub": (2, int.__sub__),
    "mul": (2, int.__mul__),
    "idiv": (2, _idiv),
    "mod": (2, _mod),
    "max": (2, max),
    "shl": (2, _shl),
    "shr": (2, _shr),
    "and": (2, int.__and__),
    "or": (2, int.__or__),
    "xor": (2, int.__xor__),
    "cmplt": (2, int.__lt__),
    "cmpgt": (2, int.__gt__),
    "cmple": (2, int.__le__),
    "cmpge": (2, int.__ge__),
    "cmpeq": (2, int.__eq__),
    "cmpne": (2, int.__ne__),
    "where": (3, _where),
    WRAP: (3, _wrap),
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
