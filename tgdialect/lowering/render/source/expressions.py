"""Values of C-like languages: expressions with type and precedence, vectors of them, pointers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import accumulate

from tgdialect.ops import tg
from tgdialect.ops.dtypes import DTYPES, I32, I64, DType, unsigned
from tgdialect.ops.intervals import Interval

INT = DTYPES[I32]
LONG = DTYPES[I64]


class Precedence(IntEnum):
    """The precedence levels of C, loosest first."""

    CONDITIONAL = 1
    OR = 2
    AND = 3
    BITWISE = 4
    EQUALITY = 5
    RELATION = 6
    SHIFT = 7
    SUM = 8
    PRODUCT = 9
    UNARY = 10
    POSTFIX = 11
    NAME = 12
    """A name or a literal: writing it again costs nothing."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """An expression without side effects."""

    text: str
    dtype: DType
    """The type of the expression. An index is an `INT` or a `LONG`."""
    precedence: Precedence = Precedence.NAME
    operator: str = ""
    """The operator of a binary expression; `left` and `right` are its operands."""
    left: str = ""
    right: str = ""
    uncast: Scalar | None = None
    """The operand of a conversion."""
    reads: bool = False
    """Whether its value depends on memory that later statements may change."""
    interval: Interval | None = None
    """The possible values of an index."""


@dataclass(frozen=True, slots=True)
class Vector:
    """A value of several lanes, each of which is an expression of its own."""

    elements: tuple[Scalar, ...]
    whole: str = ""
    """The expression of a vector type that has these lanes, if there is one."""


@dataclass(frozen=True, slots=True)
class Pointer:
    """A position in memory."""

    base: str
    dtype: DType
    """The dtype that the name is declared with."""
    space: tg.AddrSpace = tg.AddrSpace.GLOBAL
    index: Scalar | None = None
    """The position relative to the name; None is 0."""
    is_variable: bool = False
    """Whether the name is that of a variable, not of an array."""
    is_const: bool = False
    """Whether this function only reads the memory."""


SourceValue = Scalar | Vector | Pointer


ANY_INDEX = Interval(LONG.low, LONG.high)


def index_type(interval: Interval | None) -> DType:
    """The type of an index: 32 bits if all its values fit."""
    return INT if interval is not None and interval.within(INT.low, INT.high) else LONG


def unsigned_of(dtype: DType) -> DType:
    """The unsigned dtype in which integers of a dtype are computed: of 32 bits or more."""
    return DTYPES[unsigned(max(dtype.bits, INT.bits))]


def scalar_of(value: SourceValue) -> Scalar:
    assert isinstance(value, Scalar)
    return value


def pointer_of(value: SourceValue) -> Pointer:
    assert isinstance(value, Pointer)
    return value


def without_parentheses(text: str) -> str:
    """A text without the pair of parentheses that is around all of it, if there is one."""
    depths = list(accumulate((c == "(") - (c == ")") for c in text))
    return text[1:-1] if all(depths[:-1]) and text[0] == "(" else text


def lanes_of(value: SourceValue) -> Sequence[Scalar]:
    """The lanes of a vector; of a scalar, that scalar."""
    return value.elements if isinstance(value, Vector) else (scalar_of(value),)
