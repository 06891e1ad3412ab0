"""Which sources each of tinygrad's ops has, and which of them agree in dtype.

A form lists its sources as `name:kind`. The kinds:

| kind | the source |
|---|---|
| `=` | has the dtype of the result; of memory, the dtype is that of its elements |
| `~` | has the dtype of the other sources of this kind |
| `i` | is an integer |
| `b` | is a bool |
| `x` | is a value of any dtype |
| `v` | is anything, such as a STORE to wait for |

A `?` follows the kind of a source that may be absent, a `*` that of a source that may be repeated.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tgdialect.legacy.alu import ALU, TRUNCATED
from tgdialect.legacy.dialect import UNCHANGED
from tgdialect.legacy.listing.dtypes import Column, did_you_mean
from tgdialect.legacy.listing.lines import Line, Source
from tgdialect.ops import elementwise
from tgdialect.ops.dtypes import BOOL
from tgdialect.ops.elementwise import ElementwiseOp


@dataclass(frozen=True)
class FormOperand:
    """A source in a form."""

    name: str
    kind: str
    is_optional: bool
    is_repeated: bool


@dataclass(frozen=True)
class Form:
    """The sources of an op, and what it gives: `=` (see above), `b`, or nothing: `v`."""

    parameters: tuple[FormOperand, ...]
    gives: str

    @property
    def count(self) -> str:
        """How many sources there are, in words."""
        least = sum(not (p.is_optional or p.is_repeated) for p in self.parameters)
        if any(p.is_repeated for p in self.parameters):
            return f"at least {least} source{'s' * (least != 1)}"
        most = len(self.parameters)
        count = str(most) if least == most else f"{least} to {most}"
        return f"{count} source{'s' * (most != 1)}"


def form(text: str, gives: str = "=") -> Form:
    """The form that a text describes."""
    found = re.finditer(r"(\w+):([=~ibxv])([?*]?)", text)
    return Form(tuple(FormOperand(f[1], f[2], f[3] == "?", f[3] == "*") for f in found), gives)


def _elementwise(kind: type[ElementwiseOp]) -> Form:
    """The form of an elementwise op."""
    if issubclass(kind, elementwise.CompareOp):
        return form("lhs:~ rhs:~", "b")
    if issubclass(kind, elementwise.ShiftOp):
        return form("lhs:= rhs:i")
    if kind is elementwise.WhereOp:
        return form("condition:b lhs:= rhs:=")
    if kind is elementwise.MulAccOp:
        return form("lhs:= rhs:= accumulator:=")
    return form("source:=" if issubclass(kind, elementwise.UnaryOp) else "lhs:= rhs:=")


TODAY: Mapping[str, type[ElementwiseOp]] = {
    "CMPEQ": elementwise.CmpEqOp,
    "FLOORDIV": elementwise.IDivOp,
    "FLOORMOD": elementwise.ModOp,
    "RECIPROCAL": elementwise.RecipOp,
    "THREEFRY": elementwise.ThreefryOp,
    "TRUNC": elementwise.TruncOp,
}
"""Ops of today's tinygrad that are ops of `tg`, besides those of the UOp Summary."""

ELEMENTWISE: Mapping[str, type[ElementwiseOp]] = TODAY | {
    name: unchanged.op
    for name, unchanged in UNCHANGED.items()
    if issubclass(unchanged.op, ElementwiseOp) and unchanged.op is not elementwise.CastOp
}
"""The elementwise ops that are ops of `tg`, by tinygrad's names."""

ALU_FORMS = {name: _elementwise(op) for name, op in ALU.items()} | {
    name: form("lhs:= rhs:=") for name in TRUNCATED
}
"""The form of ALU for each of its operations."""

FORMS: Mapping[str, Form] = {
    **{name: _elementwise(op) for name, op in ELEMENTWISE.items()},
    **{name: form("lhs:= rhs:=") for name in ("IDIV", "MOD", "CDIV", "CMOD", "FDIV")},
    "CONST": form(""),
    "VCONST": form(""),
    "CAST": form("source:x more:x*"),
    "BITCAST": form("source:x"),
    # memory
    "DEFINE_GLOBAL": form(""),
    "DEFINE_LOCAL": form(""),
    "DEFINE_REG": form(""),
    "DEFINE_VAR": form("bounds:=*"),
    "DEFINE_ACC": form("initial:=? ranges:v*"),
    "PARAM": form("size:x?"),
    "BUFFER": form("size:x"),
    "INDEX": form("buffer:= position:i valid:b?"),
    "SHRINK": form("buffer:= position:i size:i"),
    "ASSIGN": form("target:= value:="),
    # loops and conditions
    "SPECIAL": form("bound:=?"),
    "RANGE": form("first:= second:=? dependencies:v*"),
    "LOOP": form("first:= second:="),
    "ENDRANGE": form("begin:x", "v"),
    "ENDLOOP": form("begin:x", "v"),
    "END": form("body:v ranges:x*", "v"),
    "PHI": form("target:= value:= loops:x*"),
    "IF": form("condition:b dependencies:v*", "v"),
    "ENDIF": form("begin:v", "v"),
    "BARRIER": form("dependencies:v*", "v"),
    "AFTER": form("buffer:= dependencies:v*"),
    "GROUP": form("members:v*", "v"),
    "SINK": form("effects:v*", "v"),
    # vectors
    "GEP": form("vector:="),
    "VECTORIZE": form("scalars:=*"),
    "STACK": form("scalars:=*"),
    "CAT": form("vectors:=*"),
    "WMMA": form("a:~ b:~ accumulator:="),
    # others
    "NOOP": form("source:= others:v*"),
    "CUSTOM": form("arguments:x*"),
    "CUSTOMI": form("arguments:x*"),
}
"""The form of each op that has one form. ALU's depends on its argument."""

_TUTORIAL_LOAD = form("buffer:= at:i gate:b alt:= dependencies:v*")
_LOAD = {
    True: form("buffer:= alt:=? gate:b? dependencies:v*"),
    False: form("buffer:= at:i alt:=? gate:b? dependencies:v*"),
}
_STORE = {
    True: form("buffer:~ value:~ gate:b? dependencies:v*", "v"),
    False: form("buffer:~ at:i value:~ gate:b? dependencies:v*", "v"),
}
"""LOAD and STORE of a location, and of a position in a buffer."""

_LOCATIONS = frozenset({"INDEX", "CAST", "SHRINK"})
_WAITED_FOR = frozenset({"RANGE", "LOOP", "SPECIAL"})
"""Ops that LOAD and STORE wait for, though they give values."""

NAMES = (*FORMS, "LOAD", "STORE", "ALU")
"""The names of the ops that a listing may have."""


@dataclass
class Matched:
    """A line whose sources are known by their names in the form of the op."""

    line: Line
    column: Column
    form: Form
    sources: Mapping[str, Sequence[Source]]
    is_location: bool
    """Whether the line gives a location in memory."""

    @property
    def gives_value(self) -> bool:
        return self.form.gives != "v" and not self.column.is_void

    @property
    def gives_bool(self) -> bool:
        return self.form.gives == "b" or self.column.element == BOOL


def match_sources(
    line: Line, column: Column, sources: Sequence[Source], before: Sequence[Matched]
) -> Matched:
    """Match the sources of a line with the form of its op. `before` has the lines above.

    Raises CompilationError if there are too few or too many, or if one gives no value.
    """

    def owner(source: Source) -> Matched | None:
        return None if source.number is None else before[source.number]

    first = owner(sources[0]) if sources else None
    is_location = line.name in _LOCATIONS or (
        line.name in ("AFTER", "NOOP") and first is not None and first.is_location
    )
    chosen = _form(line, first is not None and first.is_location, [owner(s) for s in sources])
    rest, bound = list(reversed(sources)), dict[str, Sequence[Source]]()
    for parameter in chosen.parameters:
        if parameter.is_repeated:
            taken, rest = rest[::-1], []
        elif rest and (not parameter.is_optional or _is_operand(owner(rest[-1]))):
            taken = [rest.pop()]
        else:
            taken = []
        if not (taken or parameter.is_optional or parameter.is_repeated):
            raise line.source_list.error(f"{line.name} takes {chosen.count}, got {len(sources)}")
        for source in taken if parameter.kind != "v" else ():
            if (given := owner(source)) is not None and not given.gives_value:
                raise source.token.error(f"{given.line} gives no value")
        bound[parameter.name] = taken
    if rest:
        raise line.source_list.error(f"{line.name} takes {chosen.count}, got {len(sources)}")
    return Matched(line, column, chosen, bound, is_location)


def _is_operand(source: Matched | None) -> bool:
    """Whether a source is an operand that may be absent, not something to wait for."""
    return source is None or (source.gives_value and source.line.name not in _WAITED_FOR)


def _form(line: Line, of_location: bool, owners: Sequence[Matched | None]) -> Form:
    """The form of a line."""
    if line.name == "LOAD":
        # A LOAD of memory without a position reads all of it.
        second = owners[1] if len(owners) > 1 else None
        of_location |= len(owners) < 2 or (second is not None and not second.gives_value)
        swapped = not of_location and len(owners) > 3 and [_is_bool(o) for o in owners[2:4]]
        return _TUTORIAL_LOAD if swapped == [True, False] else _LOAD[of_location]
    if line.name == "STORE":
        return _STORE[of_location]
    if line.name == "ALU":
        if (found := ALU_FORMS.get(line.argument.text)) is None:
            known = did_you_mean(line.argument.text, ALU_FORMS)
            raise line.argument.error(f"{line.argument.text!r} is not an operation of ALU{known}")
        return found
    if (found := FORMS.get(line.name)) is None:
        raise line.op.error(f"there is no op {line.name}{did_you_mean(line.name, NAMES)}")
    return found


def _is_bool(source: Matched | None) -> bool:
    return source is not None and source.gives_bool
