"""The dtype column, as each age of tinygrad writes it, and as our own listings do."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import Attribute

from tgdialect.legacy.listing.lines import Token
from tgdialect.legacy.listing.values import Call, PythonValue, Word, parse_value
from tgdialect.ops import tg

NAMES = {
    **{"i1": "bool", "i8": "char", "i16": "short", "i32": "int", "i64": "long"},
    **{"ui8": "uchar", "ui16": "ushort", "ui32": "uint", "ui64": "ulong"},
    **{"f8E4M3FN": "fp8e4m3", "f8E5M2": "fp8e5m2", "f16": "half", "bf16": "bfloat16"},
    **{"f32": "float", "f64": "double", "index": "index"},
}
"""tinygrad's name of each of our dtypes."""

_OTHER_NAMES = {
    **{
        f"{kind}{bits}": f"{'u' * (kind == 'uint')}i{bits}"
        for kind in ("int", "uint")
        for bits in (8, 16, 32, 64)
    },
    **{f"float{bits}": f"f{bits}" for bits in (16, 32, 64)},
    "weakint": "index",
    "weakfloat": "f64",
}
"""Further names that tinygrad has had, with ours. Weak numbers have no width until a CAST."""

ELEMENTS = {
    **{name: tg.TYPES[ours] for ours, name in NAMES.items()},
    **{name: tg.TYPES[ours] for name, ours in _OTHER_NAMES.items()},
}
"""The element type of each of tinygrad's names."""


@dataclass(frozen=True)
class Shaped:
    """The arguments of `.vec(...)` or `.ptr(...)`."""

    extents: tuple[int, ...]
    space: tg.AddrSpace | None = None
    device: tg.Device = None
    axis: int | None = None


@dataclass(frozen=True)
class Column:
    """The dtype column of a line: an element type, `.vec(...)`, and `.ptr(...)`.

    The element type is None where nothing is written, and for `dtypes.void`.
    """

    token: Token
    element: Attribute | None = None
    is_void: bool = False
    vector: Shaped | None = None
    pointer: Shaped | None = None

    @property
    def lanes(self) -> int:
        """How many elements a vector has; 1 for a scalar."""
        return self.vector.extents[0] if self.vector is not None and self.vector.extents else 1

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a vector or a scalar."""
        return () if self.lanes == 1 else (self.lanes,)

    @property
    def size(self) -> int:
        """How many elements a pointer points to; `DYNAMIC_INDEX` if it does not say so."""
        extents = () if self.pointer is None else self.pointer.extents
        return extents[0] if extents and extents[0] >= 0 else DYNAMIC_INDEX

    @property
    def type(self) -> TensorType[Attribute] | None:
        """The type that one of our own listings says; None if it does not write one."""
        if self.element is None:
            return None
        shaped = self.pointer or self.vector or Shaped(())
        where = tg.PlaceAttr.of(shaped.device, shaped.space, shaped.axis)
        return tg.tensor_type(self.element, shaped.extents, where)


_ELEMENT = re.compile(
    r"(?P<old>ptr\.|PtrDType\()?dtypes\.(?P<name>[A-Za-z]\w*|_(?P<vector>[a-z]\w*?)(?P<lanes>[0-9]{1,3}))"
    r"(?P<close>\))?"
)
_SUFFIX = re.compile(r"\.(?P<kind>vec|ptr)(?P<arguments>\()")


def parse_dtype(token: Token) -> Column:
    """The dtype column of a line. Raises CompilationError where it is no dtype."""
    if not token.text:
        return Column(token)
    found = _ELEMENT.match(token.text)
    if found is None or (found["old"] == "PtrDType(") != (found["close"] is not None):
        raise token.error(f"{token.text!r} is not a dtype, such as dtypes.float")
    name = found["vector"] or found["name"]
    if name == "void" and found.end() == len(token.text):
        return Column(token, is_void=True)
    if (element := ELEMENTS.get(name)) is None:
        raise token.error(f"there is no dtype {name!r}{did_you_mean(name, ELEMENTS)}")
    suffixes: dict[str, Shaped | None] = {
        "vec": Shaped((int(found["lanes"]),)) if found["lanes"] else None,
        "ptr": Shaped((), tg.AddrSpace.GLOBAL) if found["old"] else None,
    }
    start = found.end()
    while start < len(token.text):
        suffix = _SUFFIX.match(token.text, start)
        if suffix is None:
            raise token.part(start).error(f"unexpected {token.part(start).text!r} after a dtype")
        end = _closing(token.text, suffix.start("arguments"))
        arguments = token.part(suffix.start("kind"), end)
        if suffixes[suffix["kind"]] is None:
            suffixes[suffix["kind"]] = _shaped(arguments, is_pointer=suffix["kind"] == "ptr")
        start = end
    return Column(token, element, False, suffixes["vec"], suffixes["ptr"])


def _closing(text: str, start: int) -> int:
    """The offset after the parenthesis that closes the one at `start`."""
    depth = 0
    for mark in re.finditer(r"""'[^']*'|"[^"]*"|[()]""", text[start:]):
        depth += {"(": 1, ")": -1}.get(mark[0], 0)
        if depth == 0:
            return start + mark.end()
    return len(text)


SPACES = {f"AddrSpace.{space.name}": space for space in tg.AddrSpace}
"""The address spaces by tinygrad's names."""


def _shaped(token: Token, *, is_pointer: bool) -> Shaped:
    """The arguments of `ptr(4, 8, AddrSpace.REG, device='CPU')` and `vec(4)`."""
    call = parse_value(token)
    assert isinstance(call, Call)
    extents = [DYNAMIC_INDEX if n in (Word("?"), -1) else n for n in call.arguments]
    space = tg.AddrSpace.GLOBAL if is_pointer else None
    last = extents[-1] if extents and is_pointer else None
    if isinstance(last, Word):
        del extents[-1]
        if (space := SPACES.get(last.text)) is None:
            raise token.error(f"{last.text!r} is not one of {', '.join(SPACES)}")
    if call.keywords.get("local") is True:
        space = tg.AddrSpace.LOCAL
    shape = [n for n in extents if type(n) is int and (0 <= n < 2**63 or n == DYNAMIC_INDEX)]
    device, axis = call.keywords.get("device"), call.keywords.get("axis")
    if len(shape) != len(extents) or not isinstance(axis, int | None):
        raise token.error(f"{token.text!r} does not read .{call.function}(4, 8)")
    return Shaped(tuple(shape), space, _device(token, device), axis)


def _device(token: Token, value: PythonValue) -> tg.Device:
    if value is None or isinstance(value, str):
        return value
    names = [name for name in value if isinstance(name, str)] if isinstance(value, tuple) else []
    if not names:
        raise token.error("a device is a string, or a tuple of them")
    return tuple(names)


def did_you_mean(name: str, known: object) -> str:
    """The end of a message about a name that is unknown."""
    nearest = difflib.get_close_matches(name[:64], list(known), n=2)  # pyright: ignore
    return f"; did you mean {' or '.join(nearest)}?" if nearest else ""


def show_element(element: Attribute) -> str:
    """tinygrad's name of an element type."""
    row = tg.DTYPES.get(element)
    return f"dtypes.{NAMES[row.name]}" if row is not None else str(element)


def show_type(type: TensorType[Attribute]) -> str:
    """A tensor type, as our own listings write it."""
    place, shape = tg.place_of(type), type.get_shape()
    arguments = ["?" if n == DYNAMIC_INDEX else str(n) for n in shape]
    if place.addrspace not in (None, tg.AddrSpace.GLOBAL):
        arguments.append(f"AddrSpace.{place.addrspace.name}")
    if place.device is not None:
        arguments.append(f"device={place.device!r}")
    if place.axis is not None:
        arguments.append(f"axis={place.axis}")
    kind = "vec" if place.addrspace is None else "ptr"
    suffix = f".{kind}({', '.join(arguments)})" if arguments or kind == "ptr" else ""
    return show_element(type.element_type) + suffix
