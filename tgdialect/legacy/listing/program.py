"""The program that a listing of tinygrad becomes, while its lines are read."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from tgdialect.legacy.listing import arguments
from tgdialect.legacy.listing.forms import Matched
from tgdialect.legacy.listing.inference import Dtypes
from tgdialect.legacy.listing.lines import Source, Token
from tgdialect.legacy.listing.nesting import Nesting
from tgdialect.legacy.listing.values import PythonValue, parse_value
from tgdialect.ops import source


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
        self._values: list[SSAValue] = []
        self._dtypes = Dtypes(lines)
        self._nesting = Nesting()

    def enter(self, matched: Matched) -> None:
        """Go on to the next line."""
        self._nesting.enter(matched, self._lines)
        self.matched, self.line, self.column = matched, matched.line, matched.column

    def leave(self, value: SSAValue) -> None:
        """The present line gives a value."""
        self._values.append(value)

    def finish(self) -> None:
        """Raise CompilationError for a loop or condition that is never ended."""
        self._nesting.finish()

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
        return self.add(source.ConstOp(attribute))

    def loop_of(self, given: Source) -> SSAValue:
        """The result of the op that begins the loop of a source."""
        assert given.number is not None
        return self.loops.get(given.number, self._values[given.number])

    def operand(self, given: Source) -> SSAValue:
        """The value of a source. A constant is that of a CONST above, if one is alike."""
        if given.number is not None:
            return self._values[given.number]
        dtype, above = self._dtypes.of_constant(given)
        if above is not None and self._nesting.is_visible(above):
            return self._values[above]
        return self.number(parse_value(given.literal), dtype, given.token)
