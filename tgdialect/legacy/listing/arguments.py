"""The arguments of tinygrad's ops, in the forms that its ages have had."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from typing_extensions import TypeIs
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tgdialect.diagnostics import CompilationError
from tgdialect.legacy.attributes import LegacyWmmaAttr, integers_attribute
from tgdialect.legacy.listing.dtypes import ELEMENTS, SPACES
from tgdialect.legacy.listing.lines import Line, Token
from tgdialect.legacy.listing.values import Call, PythonValue, Word, parse_value
from tgdialect.ops import tg


def _malformed(line: Line, example: str) -> CompilationError:
    """The error of an argument that does not have the form of an example."""
    return line.argument.error(f"the argument of {line.name} reads {example}")


def _is_index(value: PythonValue) -> TypeIs[int]:
    return type(value) is int and 0 <= value < 2**63


def _values(line: Line) -> tuple[PythonValue, ...]:
    """The values of a tuple, or the one that is there without one."""
    value = parse_value(line.argument)
    return value if isinstance(value, tuple) else (value,)


def number(value: PythonValue, dtype: Attribute, place: Token) -> Attribute:
    """A number as an attribute of a dtype."""
    if value == Word("Invalid"):
        return tg.InvalidAttr(dtype)
    if not isinstance(value, int | float):
        raise place.error("a constant is a number, True or False")
    try:
        return tg.number_attribute(value, dtype)
    except VerifyException as error:
        raise place.error(str(error)) from error


def accumulator(line: Line) -> tuple[PythonValue, int]:
    """DEFINE_ACC, the initial value and the number: `0.0`, or `(0.0, 0, 0)`."""
    match parse_value(line.argument):
        case (initial, *_, int(number)) if _is_index(number):
            return initial, number
        case tuple():
            raise _malformed(line, "0.0 or (0.0, 0, 0)")
        case initial:
            return initial, 0


def global_argument(line: Line) -> tuple[int, str | None, bool]:
    """DEFINE_GLOBAL, the slot, the name, and whether it is written: `0`, `(0, True)` or
    `(0, 'data0', True)`."""
    match _values(line):
        case (slot,) if _is_index(slot):
            return slot, None, False
        case (slot, bool(mutable)) if _is_index(slot):
            return slot, None, mutable
        case (slot, str(name), bool(mutable)) if _is_index(slot):
            return slot, name, mutable
        case _:
            raise _malformed(line, "0, (0, True) or (0, 'data0', True)")


def slot(line: Line) -> int:
    """DEFINE_REG, and DEFINE_ACC with an initial value among its sources: `0` or `(0,)`."""
    match _values(line):
        case (number,) if _is_index(number):
            return number
        case _:
            raise _malformed(line, "0 or (0,)")


def local(line: Line) -> tuple[str, int | None]:
    """DEFINE_LOCAL, the name and perhaps the size: `temp0`, `('temp0', 16)` or `0`."""
    match parse_value(line.argument):
        case Word(name) | str(name):
            return name, None
        case (str(name), int(size)) if _is_index(size):
            return name, size
        case int(number) if not isinstance(number, bool):
            return f"temp{number}" if number >= 0 else "temp", None
        case _:
            raise _malformed(line, "temp0, ('temp0', 16) or 0")


class ParamArgument(NamedTuple):
    """Today's argument of PARAM and BUFFER."""

    slot: int
    name: str | None
    bounds: tuple[int, int] | None
    space: tg.AddrSpace


def parameter(line: Line) -> ParamArgument:
    """`0`, or `ParamArg(0, dtypes.float, name='n', vmin_vmax=(1, 8), addrspace=AddrSpace.REG)`."""
    keywords: dict[str, PythonValue] = {}
    match parse_value(line.argument):
        case Call("ParamArg", (slot, *_), keywords):
            pass
        case slot:
            pass
    name, bounds, space = map(keywords.get, ("name", "vmin_vmax", "addrspace"))
    if not _is_index(slot) or not isinstance(name, str | None):
        raise _malformed(line, "0, or ParamArg(0, dtypes.float)")
    where = SPACES.get(space.text) if isinstance(space, Word) else None
    match bounds:
        case None | (int(), int()):
            return ParamArgument(slot, name, bounds, where or tg.AddrSpace.GLOBAL)
        case _:
            raise _malformed(line, "ParamArg(0, dtypes.int, vmin_vmax=(1, 8))")


def variable(line: Line) -> tuple[str, int, int]:
    """DEFINE_VAR: `('n', 1, 8)` or `Variable('n', 1, 8)`."""
    value = parse_value(line.argument)
    match value.arguments if isinstance(value, Call) else value:
        case (str(name), int(low), int(high)):
            return name, low, high
        case _:
            raise _malformed(line, "('n', 1, 8)")


def special(line: Line) -> tuple[str, int | None]:
    """SPECIAL, the name and the bound: `gidx0`, `('gidx0', 4)`, or `(0, 'lidx1', 4)`.

    In the last form, which is the oldest, the first number says the dimension; names go on counting
    from `gidx` to `lidx`.
    """
    match parse_value(line.argument):
        case Word(name) | str(name):
            return name, None
        case (str(name), int(bound)):
            return name, bound
        case (int(dimension), str(name), int(bound)):
            return re.sub(r"\d+$", str(dimension), name), bound
        case _:
            raise _malformed(line, "gidx0, ('gidx0', 4) or (0, 'gidx0', 4)")


_AXIS_TYPES = {
    **{f"AxisType.{each.name}": each for each in tg.AxisType},
    **{f"AxisType.{name}": tg.AxisType.LOOP for name in ("DEVICE", "OUTER", "PLACEHOLDER", "WEAK")},
}
"""tinygrad's types of axes; those that the specification lacks are plain loops."""


def loop_axis(line: Line) -> tuple[int, tg.AxisType | None]:
    """RANGE, the number and the type of the axis: `0`, `(0, True)` or `(0, AxisType.REDUCE)`."""
    match _values(line):
        case (int(number), *_, Word(kind)) if not isinstance(number, bool):
            if kind not in _AXIS_TYPES:
                raise line.argument.error(f"{kind} is not one of {', '.join(_AXIS_TYPES)}")
            return abs(number), _AXIS_TYPES[kind]
        case (int(number), *_) if not isinstance(number, bool):
            return abs(number), None
        case _:
            raise _malformed(line, "0, (0, True) or (0, AxisType.REDUCE)")


def integers(line: Line) -> list[int]:
    """GEP: `0`, or `(0, 1)`."""
    values = _values(line)
    if len(found := [v for v in values if _is_index(v)]) != len(values):
        raise _malformed(line, "0, or (0, 1)")
    return found


def wmma(line: Line) -> LegacyWmmaAttr:
    """WMMA: name, dims, two dtypes, device, threads, the axes upcast and those reduced."""
    match parse_value(line.argument):
        case (str(name), dims, Word(a), Word(c), str(device), int(threads), upcast, reduced) if (
            source := _element(a)
        ) and (result := _element(c)):
            return LegacyWmmaAttr(
                *(StringAttr(name), integers_attribute(_integers(line, dims)), source, result),
                *(StringAttr(device), tg.NumberAttr(threads)),
                integers_attribute([_pairs(line, each) for each in _tuple(line, upcast)]),
                integers_attribute(_integers(line, reduced)),
            )
        case _:
            example = "(8, 16, 16), dtypes.half, dtypes.float, 'CUDA', 32, (((0, 8),), ...), ()"
            raise _malformed(line, f"('WMMA', {example})")


def _element(dtype: str) -> Attribute | None:
    return ELEMENTS.get(dtype.removeprefix("dtypes."))


def _tuple(line: Line, value: PythonValue) -> tuple[PythonValue, ...]:
    if not isinstance(value, tuple):
        raise _malformed(line, "tuples for the axes")
    return value


def _integers(line: Line, value: PythonValue) -> list[int]:
    found = [v for v in _tuple(line, value) if isinstance(v, int)]
    if len(found) != len(_tuple(line, value)):
        raise _malformed(line, "integers for the dims and axes")
    return found


def _pairs(line: Line, value: PythonValue) -> Sequence[Sequence[int]]:
    return [_integers(line, each) for each in _tuple(line, value)]
