"""The arguments of tinygrad's ops, in the forms that its ages have had."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tgdialect.diagnostics import CompilationError
from tgdialect.legacy.attributes import LegacyWmmaAttr, axes_attribute, integer_list
from tgdialect.legacy.listing.dtypes import ELEMENTS
from tgdialect.legacy.listing.lines import Line, Token
from tgdialect.legacy.listing.values import Call, PythonValue, Word, parse_value
from tgdialect.ops import tg
from tgdialect.ops.dtypes import number_attribute


def _malformed(line: Line, example: str) -> CompilationError:
    """The error of an argument that does not have the form of an example."""
    return line.argument.error(f"the argument of {line.name} reads {example}")


def _is_index(value: PythonValue) -> bool:
    return type(value) is int and 0 <= value < 2**63


def number(value: PythonValue, dtype: Attribute, place: Token) -> Attribute:
    """A number as an attribute of a dtype."""
    if value == Word("Invalid"):
        return tg.InvalidAttr(dtype)
    if not isinstance(value, int | float):
        raise place.error("a constant is a number, True or False")
    try:
        return number_attribute(value, dtype)
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


@dataclass(frozen=True)
class GlobalArgument:
    """An argument of a kernel."""

    slot: int
    name: str | None = None
    is_mutable: bool = False


def global_argument(line: Line) -> GlobalArgument:
    """DEFINE_GLOBAL: `0`, `(0, True)` or `(0, 'data0', True)`."""
    value = parse_value(line.argument)
    match value if isinstance(value, tuple) else (value,):
        case (int(slot),) if _is_index(slot):
            return GlobalArgument(slot)
        case (int(slot), bool(mutable)) if _is_index(slot):
            return GlobalArgument(slot, None, mutable)
        case (int(slot), str(name), bool(mutable)) if _is_index(slot):
            return GlobalArgument(slot, name, mutable)
        case _:
            raise _malformed(line, "0, (0, True) or (0, 'data0', True)")


def slot(line: Line) -> int:
    """DEFINE_REG, and DEFINE_ACC with an initial value among its sources: `0` or `(0,)`."""
    value = parse_value(line.argument)
    found = value[0] if isinstance(value, tuple) and len(value) == 1 else value
    if not isinstance(found, int) or not _is_index(found):
        raise _malformed(line, "0 or (0,)")
    return found


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


@dataclass(frozen=True)
class ParamArgument:
    """Today's argument of PARAM and BUFFER."""

    slot: int
    name: str | None = None
    bounds: tuple[int, int] | None = None
    space: tg.AddrSpace = tg.AddrSpace.GLOBAL


_SPACES = {Word(f"AddrSpace.{space.name}"): space for space in tg.AddrSpace}


def parameter(line: Line) -> ParamArgument:
    """`0`, or `ParamArg(0, dtypes.float, name='n', vmin_vmax=(1, 8), addrspace=AddrSpace.REG)`."""
    value = parse_value(line.argument)
    keywords: dict[str, PythonValue] = {}
    if isinstance(value, Call) and value.function == "ParamArg" and value.arguments:
        value, keywords = value.arguments[0], value.keywords
    name, bounds = keywords.get("name"), keywords.get("vmin_vmax")
    space = keywords.get("addrspace")
    if not isinstance(value, int) or not _is_index(value) or not isinstance(name, str | None):
        raise _malformed(line, "0, or ParamArg(0, dtypes.float)")
    match bounds:
        case None:
            found = None
        case (int(low), int(high)):
            found = low, high
        case _:
            raise _malformed(line, "ParamArg(0, dtypes.int, vmin_vmax=(1, 8))")
    return ParamArgument(value, name, found, _SPACES.get(space, tg.AddrSpace.GLOBAL))  # pyright: ignore


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
    value = parse_value(line.argument)
    values = value if isinstance(value, tuple) else (value,)
    first, last = (values[0], values[-1]) if values else (None, None)
    if not isinstance(first, int) or isinstance(first, bool):
        raise _malformed(line, "0, (0, True) or (0, AxisType.REDUCE)")
    if not isinstance(last, Word):
        return abs(first), None
    if last.text not in _AXIS_TYPES:
        raise line.argument.error(f"{last.text} is not one of {', '.join(_AXIS_TYPES)}")
    return abs(first), _AXIS_TYPES[last.text]


def integers(line: Line) -> list[int]:
    """GEP: `0`, or `(0, 1)`."""
    value = parse_value(line.argument)
    values = value if isinstance(value, tuple) else (value,)
    found = [v for v in values if isinstance(v, int) and _is_index(v)]
    if len(found) != len(values):
        raise _malformed(line, "0, or (0, 1)")
    return found


def wmma(line: Line) -> LegacyWmmaAttr:
    """WMMA: name, dims, two dtypes, device, threads, the axes upcast and those reduced."""
    match parse_value(line.argument):
        case (str(name), dims, Word(a), Word(c), str(device), int(threads), upcast, reduced):
            elements = [ELEMENTS.get(dtype.removeprefix("dtypes.")) for dtype in (a, c)]
            if elements[0] is not None and elements[1] is not None:
                return LegacyWmmaAttr(
                    StringAttr(name),
                    integer_list(_integers(line, dims)),
                    elements[0],
                    elements[1],
                    StringAttr(device),
                    tg.NumberAttr(threads),
                    ArrayAttr(axes_attribute(_pairs(line, each)) for each in _tuple(line, upcast)),
                    integer_list(_integers(line, reduced)),
                )
        case _:
            pass
    raise _malformed(
        line, "('WMMA', (8, 16, 16), dtypes.half, dtypes.float, 'CUDA', 32, (((0, 8),), ...), ())"
    )


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
