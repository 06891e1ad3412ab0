"""Which loops and conditions of a listing are open at a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tgdialect.legacy.listing.forms import Matched
from tgdialect.legacy.listing.lines import Line, Source

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
