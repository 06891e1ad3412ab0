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

from tgdialect.legacy.listing.dtypes import Column
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


def elementwise_form(kind: type[ElementwiseOp]) -> Form:
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
