"""Counts of actions, in a file that runs add to: what the tests of patterns do."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from tgdialect.diagnostics import Action


class Fired(NamedTuple):
    """A kind of action."""

    stage: str
    """The name of the pass."""
    pattern: str
    """The name of the pattern, rule, OptOp or step."""
    op: str
    """The name of the op that it was done to."""


class Coverage:
    """How often each kind of action was done."""

    def __init__(self) -> None:
        self.counts: Counter[Fired] = Counter()

    def add(self, action: Action) -> None:
        """Count an action."""
        op = action.op.partition(" ")[0]
        self.counts[Fired(action.stage, action.pattern, op)] += 1

    def append_to(self, file: str) -> None:
        """Add a line for each kind to a file: the count, the pass, the pattern and the op, with
        tabs between them. It is one write, so other processes may add to the file meanwhile.
        Raises OSError."""
        lines = ("\t".join((str(count), *fired)) for fired, count in sorted(self.counts.items()))
        with open(file, "ab", buffering=0) as stream:
            stream.write("".join(f"{line}\n" for line in lines).encode())


def counts_in(text: str) -> Counter[Fired]:
    """The counts in such a file."""
    counts: Counter[Fired] = Counter()
    for line in text.splitlines():
        count, stage, pattern, op = line.split("\t")
        counts[Fired(stage, pattern, op)] += int(count)
    return counts
