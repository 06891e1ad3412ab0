"""Repetitions in a sequence: parts that are one word, many times."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

_GROWTH = 4
"""The ratio of the lengths of the contexts that are tried. Larger: fewer, so that a repetition
which a short context hides is found only where it is longer; smaller: more passes over the
sequence."""


class Repetition(NamedTuple):
    """Part `start` to `end` of a sequence, each element of which equals that `period` before."""

    start: int
    end: int
    period: int

    @property
    def times(self) -> int:
        """How often the word is there."""
        return (self.end - self.start) // self.period


def repetitions(sequence: Sequence[Hashable], least: int) -> list[Repetition]:
    """The repetitions of at least `least` times, the longest first.

    Where the last time that the last w elements were there is equally long ago for many elements,
    that is a period. A short context is there more often, in a word that itself repeats, so that w
    goes up to a part of the sequence: n log n for n elements.
    """
    found: dict[Repetition, None] = {}
    size = len(sequence)
    words: dict[Hashable, int] = {}
    context = [words.setdefault(each, len(words)) for each in sequence]
    width = 1
    while 2 * width <= size:
        last: dict[int, int] = {}
        begin, period = 0, 0
        first = width - 1
        for position in range(first, size + 1):
            gap = 0
            if position < size:
                gap = position - last.get(context[position], position)
                last[context[position]] = position
            if gap != period:
                run = Repetition(begin - period - first, position, period)
                if period and run.times >= least:
                    found[run] = None
                begin, period = position, gap
        longer: dict[Hashable, int] = {}
        for position in range(size - 1, _GROWTH * width - 2, -1):
            parts = tuple(context[position - i * width] for i in range(_GROWTH))
            context[position] = longer.setdefault(parts, len(longer))
        width *= _GROWTH
    return sorted(found, key=lambda run: (run.start - run.end, run.period))
