"""Index expressions: integers that a call computes from its scalar arguments.

Numbers of workgroups, offsets of views, the bounds of windows and the extents of results are
constants, or index arithmetic on the sizes of a call. Compiled for a CPU, such arithmetic is part
of the host function. A device's command buffer, the bounds that a call checks
(`runtime/windows.py`) and index arguments that no caller passes (`tg.computed`) have it as data.

Nothing here imports xDSL: programs from the cache evaluate expressions without it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

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
    WRAP: lambda a, low, high: (a - low) % max(high - low + 1, 1) + low,
}
OPERATIONS: Mapping[str, tuple[int, Callable[..., int]]] = {
    "neg": (1, int.__neg__),
    **{name: (2, compute) for name, compute in _BINARY.items()},
    **{name: (3, compute) for name, compute in _TERNARY.items()},
}
"""The ops of the dialect on index values, without the prefix `tg.`, and `WRAP`: how many operands
each has, and its value (docs/semantics.md), which is then wrapped to 64 bits."""


_SYMBOLS = {"add": " + ", "sub": " - ", "mul": " * ", "idiv": " // ", "mod": " % "}
"""The operations that errors show between their operands."""
_NUMBER = re.compile(r"-?[0-9]{1,19}")
_DIGITS = 9
"""The most digits of a position in an expression: a function has fewer arguments."""


def argument_at(position: int) -> Expression:
    """The scalar argument at a position."""
    return (f"%{position}",)


def arguments_of(expression: Expression) -> Iterator[int]:
    """The positions of the scalar arguments of an expression, as often as they occur."""
    return (int(t[1:]) for t in expression if isinstance(t, str) and t.startswith("%"))


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


class SizeSource(NamedTuple):
    """An axis of an array, whose extent is an index argument, or a multiple of it."""

    array: int
    axis: int
    factor: int = 1

    def size(self, shape: Sequence[int]) -> int:
        """The index argument, for an array of this shape."""
        return int(shape[self.axis]) // self.factor


def size_sources(
    arrays: Iterable[tuple[int, Sequence[int | None]]],
    formulas: Mapping[int, Expression] = {},
) -> dict[int, SizeSource]:
    """The array and the axis that each index argument is read off, by its position.

    `arrays` are the positions of arrays and, for each axis, that of the index argument that is its
    extent, if there is one. `formulas` are those of index arguments that are computed: where one is
    a multiple of another, that is read off as well.
    """
    found: dict[int, SizeSource] = {}
    multiples: dict[int, SizeSource] = {}
    for array, axes in arrays:
        for axis, position in enumerate(axes):
            if position is None:
                continue
            found.setdefault(position, SizeSource(array, axis))
            if (multiple := multiple_of(formulas.get(position, ()))) is not None:
                multiples.setdefault(multiple[0], SizeSource(array, axis, multiple[1]))
    return {**multiples, **found}


def multiple_of(expression: Expression) -> tuple[int, int] | None:
    """The argument of which an expression is a multiple, and the factor; None for others."""
    if len(expression) != 3 or expression[2] != "mul":
        return None
    factor, argument = sorted(expression[:2], key=lambda token: isinstance(token, str))
    if not isinstance(factor, int) or not isinstance(argument, str) or factor <= 0:
        return None
    (position,) = arguments_of((argument,))
    return position, factor


def is_expression(tokens: Iterable[object], is_argument: Callable[[int], bool]) -> bool:
    """Whether tokens are an expression that has one value. `is_argument` says which positions are
    those of scalar arguments."""
    depth = 0
    for token in tokens:
        text = token if isinstance(token, str) else ""
        if text.startswith("%"):
            position = text[1:]
            is_number = position.isascii() and position.isdecimal() and len(position) <= _DIGITS
            if not (is_number and is_argument(int(position))):
                return False
        elif not (type(token) is int and -_GREATEST - 1 <= token <= _GREATEST):
            if text not in OPERATIONS or depth < OPERATIONS[text][0]:
                return False
            depth -= OPERATIONS[text][0]
        depth += 1
    return depth == 1


def text_of(expression: Expression) -> str:
    """An expression as the text of `tg.computed`: `"%0 255 add 256 idiv"`."""
    return " ".join(map(str, expression))


def parsed(text: str) -> Expression:
    """The tokens of the text of `tg.computed`, which may be no expression (`is_expression`)."""
    return tuple(int(t) if _NUMBER.fullmatch(t) else t for t in text.split())


def infix(expression: Expression, names: Sequence[str]) -> str:
    """An expression as errors show it, with the names of the arguments: `(n + 255) // 256`."""
    stack: list[str] = []
    for token in expression:
        if isinstance(token, int):
            stack.append(str(token))
        elif token.startswith("%"):
            stack.append(names[int(token[1:])])
        else:
            arity = OPERATIONS[token][0]
            operands = stack[-arity:]
            del stack[-arity:]
            symbol = _SYMBOLS.get(token)
            if symbol is None:
                stack.append(f"{token}({', '.join(operands)})")
            else:
                stack.append(symbol.join(f"({o})" if " " in o else o for o in operands))
    (text,) = stack
    return text
