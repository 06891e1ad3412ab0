"""Building a function of a C-like language: expressions with type and precedence, vectors of them,
pointers, names and statements."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import accumulate, count
from pathlib import Path
from string import Template

import numpy as np
from xdsl.utils.exceptions import PassFailedException

from tgdialect.lowering.render.elementwise import ComputedOp
from tgdialect.lowering.render.source.language import Language
from tgdialect.ops import tg
from tgdialect.ops.dtypes import I64, Kind

INT = tg.DTYPES[tg.I32]
LONG = tg.DTYPES[I64]


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
    dtype: tg.DType
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
    interval: tg.Interval | None = None
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
    dtype: tg.DType
    """The dtype that the name is declared with."""
    space: tg.AddrSpace = tg.AddrSpace.GLOBAL
    index: Scalar | None = None
    """The position relative to the name; None is 0."""
    is_variable: bool = False
    """Whether the name is that of a variable, not of an array."""
    is_const: bool = False
    """Whether this function only reads the memory."""


SourceValue = Scalar | Vector | Pointer


ANY_INDEX = tg.Interval(LONG.low, LONG.high)


def index_type(interval: tg.Interval | None) -> tg.DType:
    """The type of an index: 32 bits if all its values fit."""
    return INT if interval is not None and interval.within(INT.low, INT.high) else LONG


def unsigned_of(dtype: tg.DType) -> tg.DType:
    """The unsigned dtype in which integers of a dtype are computed: of 32 bits or more."""
    return tg.DTYPES[tg.unsigned(max(dtype.bits, INT.bits))]


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


_ASSOCIATIVE = ("+", "*", "|", "&", "^")

HELPERS = {
    kind: Template(text.rstrip())
    for kind, text in re.findall(
        r"^// ([\w ]+):.*\n(?://.*\n)*((?:(?!//).+\n)+)",
        Path(__file__).with_name("helpers.c").read_text("utf-8"),
        re.M,
    )
}
"""The helper functions of `helpers.c`, by the kinds that begin their comments."""


class _Scope(set[str]):
    """The names of an open block."""

    def __init__(self, names: Iterable[str] = (), numbers: Mapping[str, int] = {}) -> None:
        super().__init__(names)
        self.numbers = dict(numbers)
        """For each prefix the number up to which all names are taken: to try them again takes
        quadratic time."""


class SourceBuilder:
    """A function under construction: the text of its body, and the helper functions it needs."""

    def __init__(self, language: Language, called: Iterable[str] = ()) -> None:
        """`called` are the names of the functions that it may call, besides those of the language
        and helper functions."""
        self.language = language
        self.helpers: dict[str, str] = {}
        """The text of each helper function, by its name."""
        self.headers: dict[str, None] = {}
        """The lines of the preamble for the types that are used."""
        self.body: list[str] = []
        """The lines of the body."""
        self._scopes = [_Scope(called)]
        """The names of each open block."""

    # -- statements and names

    def line(self, text: str) -> None:
        """Append a line to the current block."""
        self.body.append("  " * len(self._scopes) + text)

    def open(self, text: str) -> None:
        """Begin a block."""
        self.line(f"{text} {{")
        self.begin_scope()

    def begin_scope(self) -> None:
        """Begin a block that has its own names."""
        self._scopes.append(_Scope(numbers=self._scopes[-1].numbers))

    def close(self) -> None:
        """End a block."""
        self._scopes.pop()
        self.line("}")

    def fresh(self, hint: str | None, names: Iterator[str]) -> str:
        """A name that no open block has: the hint, or the next of some names."""
        if hint is not None and (hint := self.language.names.value(hint)):
            names = self.numbered(hint, is_hint=True)
        name = next(
            name
            for name in map(self.language.names.free, names)
            if not any(name in scope for scope in self._scopes)
        )
        self._scopes[-1].add(name)
        return name

    def numbered(self, prefix: str, *, is_hint: bool = False) -> Iterator[str]:
        """Names for `fresh`: a prefix and each number. That of a hint begins without one."""
        numbers, key = self._scopes[-1].numbers, f"{prefix} hint" if is_hint else prefix
        for number in count(numbers.get(key, 0)):
            numbers[key] = number + 1
            yield prefix if is_hint and not number else f"{prefix}{number}"

    def named(self, value: Scalar, hint: str | None = None, prefix: str = "t") -> Scalar:
        """A value as a name or a literal: a new variable, unless it is one already."""
        if value.precedence is Precedence.NAME:
            return value
        dtype = value.dtype if value.interval is None else index_type(value.interval)
        name = self.fresh(hint, self.numbered(prefix))
        self.line(f"{self.type_name(dtype)} {name} = {self.statement(value)};")
        return Scalar(name, dtype, interval=value.interval)

    def array(self, prefix: str, lanes: Sequence[Scalar], qualifier: str = "") -> str:
        """The name of a new array of some values."""
        name = self.fresh(None, self.numbered(prefix))
        values = ", ".join(lane.text for lane in lanes)
        self.line(
            f"{qualifier}{self.type_name(lanes[0].dtype)} {name}[{len(lanes)}] = {{{values}}};"
        )
        return name

    def statement(self, value: Scalar) -> str:
        """The text of an expression that stands by itself."""
        is_binary = Precedence.CONDITIONAL <= value.precedence < Precedence.UNARY
        parenthesizes = self.language.style.parenthesizes
        return f"({value.text})" if is_binary and parenthesizes else value.text

    # -- types and literals

    def type_name(self, dtype: tg.DType) -> str:
        """The type of a value. Raises for a dtype that the language lacks."""
        if (name := self.language.types.get(dtype.name)) is None:
            raise PassFailedException(f"{self.language.name} has no {dtype.name}")
        if header := self.language.headers.get(dtype.name):
            self.headers[header] = None
        return name

    def stored(self, dtype: tg.DType) -> tg.DType:
        """The dtype of elements in memory: a bool is a byte there, and a float that the language
        lacks is its bits."""
        is_bits = dtype.is_bool or dtype.name not in self.language.types
        return tg.DTYPES[tg.unsigned(dtype.bits)] if is_bits else dtype

    def memory_type(self, dtype: tg.DType) -> str:
        """The type of an element in memory."""
        return self.type_name(self.stored(dtype))

    def literal(self, value: float, dtype: tg.DType) -> Scalar:
        """A number."""
        if dtype.is_bool:
            return Scalar("true" if value else "false", dtype)
        if dtype.is_float and dtype.bits < 32:
            text = f"({self.type_name(dtype)}){self.literal(value, tg.DTYPES[tg.F32]).text}"
            return Scalar(text, dtype, Precedence.UNARY)
        suffix = self.language.suffixes.get(dtype.name, "")
        if not dtype.is_float:
            if dtype.kind is Kind.SIGNED and dtype.bits >= INT.bits and value == dtype.low:
                # C has no negative literals, and the absolute value does not fit.
                text = f"({int(value) + 1}{suffix} - 1)"
                return Scalar(text, dtype, Precedence.POSTFIX)
            level = Precedence.NAME if value >= 0 else Precedence.UNARY
            return Scalar(f"{int(value)}{suffix}", dtype, level)
        if math.isfinite(value):
            text = f"{np.float32(value) if dtype.bits == 32 else np.float64(value)!s}{suffix}"
        else:
            infinity, nan = self.language.special_floats[dtype.name]
            text = nan if value != value else f"-{infinity}" if value < 0 else infinity
        return Scalar(text, dtype, Precedence.UNARY if text[0] == "-" else Precedence.NAME)

    def number(self, value: int) -> Scalar:
        """An index."""
        interval = tg.Interval(value, value)
        found = self.literal(value, index_type(interval))
        return replace(found, interval=interval)

    # -- operators

    def binary(
        self, symbol: str, level: Precedence, a: Scalar, b: Scalar, *, dtype: tg.DType | None = None
    ) -> Scalar:
        """An operator between two operands, with the parentheses that it needs. Its type is that of
        the operands unless given."""
        dtype = dtype or (LONG if b.dtype is LONG else a.dtype)
        left = self._operand(a, symbol, level, is_right=False)
        right = self._operand(b, symbol, level, is_right=True)
        is_negative = b.precedence is Precedence.UNARY and right[0] == "-" and right[1:2].isdigit()
        if symbol == "+" and is_negative:
            symbol, right = "-", right[1:]
        text = f"{left} {symbol} {right}"
        return Scalar(text, dtype, level, symbol, left, right, reads=a.reads or b.reads)

    def _operand(self, value: Scalar, symbol: str, level: Precedence, *, is_right: bool) -> str:
        """The text of an operand, in parentheses if it would read differently without."""
        is_same = value.operator == symbol and (
            not is_right or (symbol in _ASSOCIATIVE and not value.dtype.is_float)
        )
        parenthesizes = self.language.style.parenthesizes
        if is_same and (symbol in _ASSOCIATIVE or not parenthesizes):
            return value.text
        least = level if not is_right else level + 1
        if parenthesizes or level in (Precedence.BITWISE, Precedence.SHIFT):
            least = Precedence.UNARY
        elif level in (Precedence.EQUALITY, Precedence.RELATION):
            least = Precedence.SUM
        elif level is Precedence.OR:
            least = Precedence.BITWISE
        return f"({value.text})" if value.precedence < least else value.text

    def unary(self, symbol: str, value: Scalar) -> Scalar:
        """A prefix operator; `!` of a comparison is in parentheses."""
        is_loose = value.precedence < Precedence.UNARY or value.text[0] == symbol
        text = f"({value.text})" if is_loose else value.text
        return Scalar(f"{symbol}{text}", value.dtype, Precedence.UNARY, reads=value.reads)

    def cast(self, value: Scalar, dtype: tg.DType) -> Scalar:
        """A conversion as C defines it, if there is anything to convert."""
        dtype = LONG if dtype is tg.DTYPES[tg.INDEX] else dtype
        if value.dtype == dtype:
            return value
        if (source := value.uncast) is not None and _keeps_bits(source.dtype, value.dtype, dtype):
            return self.cast(source, dtype)
        own = self.language.functions.get(f"cast {value.dtype.name} {dtype.name}")
        if own is not None:
            self.type_name(dtype)
            text = own.format(value=value.text)
            return Scalar(text, dtype, Precedence.POSTFIX, reads=value.reads)
        return replace(self._converted(value, dtype), uncast=value)

    def narrowed(self, value: Scalar, dtype: tg.DType) -> Scalar:
        """The result of arithmetic, which C does on 32 bits or more, as a narrower dtype."""
        return value if dtype.is_float or dtype.bits >= INT.bits else self._converted(value, dtype)

    def _converted(self, value: Scalar, dtype: tg.DType) -> Scalar:
        return replace(self.unary(f"({self.type_name(dtype)})", value), dtype=dtype)

    def choice(self, condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
        """`condition ? a : b`."""
        texts = [
            f"({part.text})"
            if part.precedence is Precedence.CONDITIONAL
            or (self.language.style.parenthesizes and part.precedence < Precedence.UNARY)
            else part.text
            for part in (condition, a, b)
        ]
        dtype = LONG if b.dtype is LONG else a.dtype
        reads = condition.reads or a.reads or b.reads
        return Scalar("{} ? {} : {}".format(*texts), dtype, Precedence.CONDITIONAL, reads=reads)

    # -- functions

    def function(self, name: str, operands: Sequence[Scalar], dtype: tg.DType) -> Scalar:
        """A call of a built-in function."""
        own = self.language.functions
        called = own.get(f"{name} {dtype.name}") or own[name]
        return self._call(called, operands, dtype)

    def helper(
        self, kind: str, operands: Sequence[Scalar], dtype: tg.DType, **fields: str
    ) -> Scalar:
        """A call of a helper function, which is added to the source."""
        text = ["tg", "".join(kind.split()[:1]), fields.pop("suffix", ""), dtype.name]
        name = "_".join(part for part in text if part).lower()
        self.add_helper(kind, name, dtype, **fields)
        return self._call(name, operands, dtype)

    def add_helper(self, kind: str, name: str, dtype: tg.DType, **fields: str) -> None:
        """Add a helper function to the source, unless it is there."""
        if name not in self.helpers:
            wide = {"T": self.type_name(dtype), "bits": str(dtype.bits), "name": name}
            if not dtype.is_float:
                wide["U"] = self.language.types[f"ui{dtype.bits}"]
            body = HELPERS[kind].substitute(wide, **fields)
            self.helpers[name] = self.language.helper + body

    def _call(self, name: str, operands: Sequence[Scalar], dtype: tg.DType) -> Scalar:
        text = f"{name}({', '.join(operand.text for operand in operands)})"
        reads = any(operand.reads for operand in operands)
        dtype = LONG if dtype is tg.DTYPES[tg.INDEX] else dtype
        return Scalar(text, dtype, Precedence.POSTFIX, reads=reads)

    def maximum(self, a: Scalar, b: Scalar) -> Scalar:
        """The greater of two numbers."""
        dtype = LONG if b.dtype is LONG else a.dtype
        if dtype.is_float:
            return self.helper("max float", (a, b), dtype)
        # C computes in at least 32 bits: a narrow operand and a literal have different types.
        name = self.language.functions.get("max integer")
        if name is not None and dtype.bits >= INT.bits:
            return self._call(name, [self.cast(each, dtype) for each in (a, b)], dtype)
        return self.helper("max integer", (a, b), dtype)


def _keeps_bits(source: tg.DType, between: tg.DType, result: tg.DType) -> bool:
    """Whether an integer comes out the same if it is converted without the step between."""
    is_integer = source.is_integer and between.is_integer and result.is_integer
    return is_integer and source.bits == between.bits == result.bits


Spelled = ComputedOp[SourceBuilder, Scalar]
"""An elementwise op that a function computes."""
