"""The program that a listing of tinygrad becomes, the loops that are open while its lines are read,
and the dtypes of those that do not write one.

Values that have the same dtype by the forms of the ops are in one class. Written dtypes decide;
then the literals in the class: a float makes it f32, an integer i32, a bool i1.

A form lists the sources of an op as `name:kind`. The kinds:

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

from xdsl.ir import Attribute, Operation, SSAValue

from tgdialect.diagnostics import CompilationError
from tgdialect.legacy.listing import arguments
from tgdialect.legacy.listing.dtypes import Column, show_element
from tgdialect.legacy.listing.lines import Line, Source, Token
from tgdialect.legacy.listing.values import PythonValue, parse_value
from tgdialect.ops import elementwise, tg


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


def elementwise_form(kind: type[tg.ElementwiseOp]) -> Form:
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
        return self.form.gives == "b" or self.column.element == tg.BOOL


_RANKS: Mapping[type, int] = {bool: 1, int: 2, float: 3}
"""The rank of a literal: the greatest one in a class decides."""
_BY_RANK = None, tg.BOOL, tg.I32, tg.F32
"""The dtype of literals of a rank; none without literals."""


@dataclass(slots=True)
class _Class:
    """The known facts about the values of a class: a dtype and its origin, a rank of literals."""

    dtype: Attribute | None = None
    origin: str = ""
    rank: int = 0


class Dtypes:
    """The element type of each line, and of each constant among the sources.

    A constant is known by its Source. tinygrad prints the text of a CONST instead of its number, so
    it has the dtype of the last CONST above of that text, unless its use says another.
    """

    def __init__(self, lines: Sequence[Matched]):
        self._parents: list[int] = list(range(len(lines)))
        self._classes = [_Class() for _ in lines]
        self._constants: dict[int, tuple[int, int | None]] = {}
        self._origins: dict[int, str] = {}
        written: dict[str, int] = {}
        for number, matched in enumerate(lines):
            self._enter(number, matched, written)
        for cell, above in self._constants.values():
            if above is not None and self._classes[self._root(cell)].dtype is None:
                self._join(cell, above, lines[above].line.op)

    def of_line(self, line: Line) -> Attribute:
        """The element type of a line's result. Raises CompilationError if nothing says it."""
        return self._known(line.number, line.op, line.name)

    def of_constant(self, source: Source) -> tuple[Attribute, int | None]:
        """The element type of a constant among the sources, and the CONST above that it may be."""
        cell, above = self._constants[id(source)]
        dtype = self._known(cell, source.token, repr(source.constant))
        if above is not None and self._dtype(above) != dtype:
            above = None
        return dtype, above

    def _dtype(self, cell: int) -> Attribute | None:
        found = self._classes[self._root(cell)]
        return _BY_RANK[found.rank] if found.dtype is None else found.dtype

    def _known(self, cell: int, place: Token, what: str) -> Attribute:
        if (dtype := self._dtype(cell)) is None:
            raise place.error(f"nothing says the dtype of {what}")
        return dtype

    def _enter(self, number: int, matched: Matched, written: dict[str, int]) -> None:
        """Enter what a line says."""
        line, column = matched.line, matched.column
        place = column.token if column.token.text else line.op
        if matched.form.gives == "b":
            self._fix(number, tg.BOOL, f"{line}", line.op)
        if column.element is not None:
            self._fix(number, column.element, f"{line}", place)
        alike: int | None = None
        for parameter in matched.form.parameters:
            for source in matched.sources[parameter.name]:
                cell = self._cell(source, written)
                if parameter.kind == "=":
                    self._join(cell, number, source.token)
                elif parameter.kind == "b":
                    self._fix(cell, tg.BOOL, f"a condition of {line}", source.token)
                elif parameter.kind == "i":
                    self._hint(cell, int)
                elif parameter.kind == "~":
                    if alike is not None:
                        self._join(cell, alike, source.token)
                    alike = cell
        if line.name in ("CONST", "DEFINE_ACC") and line.argument.text:
            self._hint(number, type(_literal(parse_value(line.argument))))
        if line.name == "CONST":
            written[line.argument.text] = number

    def _cell(self, source: Source, written: Mapping[str, int]) -> int:
        """The cell of a source; that of a constant is made here."""
        if source.number is not None:
            return source.number
        assert source.constant is not None
        cell = len(self._parents)
        self._constants[id(source)] = cell, written.get(source.constant)
        self._parents.append(cell)
        self._classes.append(_Class())
        self._hint(cell, type(parse_value(source.literal)))
        return cell

    def _root(self, cell: int) -> int:
        parents = self._parents
        while parents[cell] != cell:
            parents[cell] = parents[parents[cell]]
            cell = parents[cell]
        return cell

    def _hint(self, cell: int, literal: type) -> None:
        found = self._classes[self._root(cell)]
        found.rank = max(found.rank, _RANKS.get(literal, 0))

    def _fix(self, cell: int, dtype: Attribute, origin: str, place: Token) -> None:
        found = self._classes[self._root(cell)]
        if found.dtype is None:
            found.dtype, found.origin = dtype, origin
        elif found.dtype != dtype:
            raise _clash(place, found.dtype, self._origin(cell), dtype, origin)
        self._origins.setdefault(cell, origin)

    def _origin(self, cell: int) -> str:
        """The line that states the dtype of a value: its own line, if that does."""
        return self._origins.get(cell, self._classes[self._root(cell)].origin)

    def _join(self, first: int, second: int, place: Token) -> None:
        """Two values have the same dtype."""
        one, other = self._root(first), self._root(second)
        if one == other:
            return
        kept, gone = self._classes[one], self._classes[other]
        if kept.dtype is None:
            kept.dtype, kept.origin = gone.dtype, gone.origin
        elif gone.dtype is not None and gone.dtype != kept.dtype:
            origins = self._origin(first), self._origin(second)
            raise _clash(place, kept.dtype, origins[0], gone.dtype, origins[1])
        kept.rank = max(kept.rank, gone.rank)
        self._parents[other] = one


def _clash(
    place: Token, one: Attribute, origin: str, other: Attribute, other_origin: str
) -> CompilationError:
    """The error of two dtypes for one value."""
    return place.error(
        f"{show_element(one)} of {origin}, but {show_element(other)} of {other_origin}"
    )


def _literal(value: PythonValue) -> PythonValue:
    """The initial value among the arguments of DEFINE_ACC; the value of a CONST."""
    return value[0] if isinstance(value, tuple) and value else value


_ENDS = {
    "END": ("ranges", "RANGE"),
    "ENDRANGE": ("begin", "RANGE"),
    "ENDLOOP": ("begin", "LOOP"),
    "ENDIF": ("begin", "IF"),
}
"""Ops that end blocks: their sources that begin one, and the op that these are."""

_BEGINS = frozenset(begin for _, begin in _ENDS.values())
_ESCAPING = frozenset({"PHI", "ASSIGN"})
"""Accumulators, whose values are used after the loop that updates them."""


@dataclass(slots=True)
class _Block:
    """A loop or a condition."""

    begin: Line
    end: Line | None = None


class Nesting:
    """The open blocks, the innermost last, and the block that each value is in."""

    def __init__(self) -> None:
        self._open: list[_Block] = []
        self._begun: dict[int, _Block] = {}
        self._around: list[_Block | None] = []

    def is_visible(self, number: int) -> bool:
        """Whether the value of a line may be used at the present one."""
        around = self._around[number]
        return around is None or around.end is None

    def enter(self, matched: Matched, lines: Sequence[Matched]) -> None:
        """Go on to the next line. Raises CompilationError if it uses a value after its loop, or
        ends another block than the innermost one."""
        line = matched.line
        ends, kind = _ENDS.get(line.name, ("", ""))
        for name, sources in matched.sources.items():
            for source in sources:
                if name == ends:
                    self._close(line, kind, source, lines)
                elif source.number is not None:
                    self._check(source, lines[source.number])
        if line.name in _BEGINS:
            self._open.append(_Block(line))
            self._begun[line.number] = self._open[-1]
        escapes = line.name in _ESCAPING or not self._open
        self._around.append(None if escapes else self._open[-1])

    def _check(self, source: Source, used: Matched) -> None:
        around = self._around[used.line.number]
        is_value = used.gives_value or used.line.name == "NOOP"
        if is_value and around is not None and around.end is not None:
            raise source.token.error(
                f"{used.line} is inside {around.begin}, which {around.end} ends"
            )

    def _close(self, line: Line, kind: str, source: Source, lines: Sequence[Matched]) -> None:
        block = None if source.number is None else self._begun.get(source.number)
        if block is None or block.begin.name != kind:
            given = lines[source.number].line if source.number is not None else source.token.text
            raise source.token.error(f"{line.name} ends a {kind}, not {given}")
        if block.end is not None:
            raise source.token.error(f"{block.begin} is ended already, by {block.end}")
        if self._open[-1] is not block:
            raise source.token.error(
                f"{self._open[-1].begin} is inside {block.begin}, and is not ended yet"
            )
        block.end = line
        self._open.pop()

    def finish(self) -> None:
        """Raise unless all blocks are ended."""
        if self._open:
            raise self._open[-1].begin.op.error(f"this {self._open[-1].begin.name} is never ended")


class ProgramBuilder:
    """The ops so far, and the present line, whose ops are added next."""

    def __init__(self, lines: Sequence[Matched]):
        self.ops: list[Operation] = []
        self.name = ""
        """The kernel's name in KernelInfo."""
        self.axes: set[int] = set()
        """The numbers of the axes of loops."""
        self.slots: set[int] = set()
        """The slots of buffers."""
        self.loops: dict[int, SSAValue] = {}
        """The result of the op that begins the loop of a line."""
        self._lines = lines
        self.values: list[SSAValue] = []
        """The value that each line gives."""
        self.nesting = Nesting()
        self._dtypes = Dtypes(lines)

    def enter(self, matched: Matched) -> None:
        """Go on to the next line."""
        self.nesting.enter(matched, self._lines)
        self.matched, self.line, self.column = matched, matched.line, matched.column

    @property
    def dtype(self) -> Attribute:
        """The element type of the present line."""
        return self._dtypes.of_line(self.line)

    def add(self, op: Operation) -> SSAValue:
        """Add an op; its result."""
        op.location = self.line.op.location
        self.ops.append(op)
        return op.results[0]

    def number(self, value: PythonValue, dtype: Attribute, place: Token | None = None) -> SSAValue:
        """Add a constant."""
        attribute = arguments.number(value, dtype, place or self.line.argument)
        return self.add(tg.ConstOp(attribute))

    def loop_of(self, given: Source) -> SSAValue:
        """The result of the op that begins the loop of a source."""
        assert given.number is not None
        return self.loops.get(given.number, self.values[given.number])

    def operand(self, given: Source) -> SSAValue:
        """The value of a source. A constant is that of a CONST above, if one is alike."""
        if given.number is not None:
            return self.values[given.number]
        dtype, above = self._dtypes.of_constant(given)
        if above is not None and self.nesting.is_visible(above):
            return self.values[above]
        return self.number(parse_value(given.literal), dtype, given.token)
