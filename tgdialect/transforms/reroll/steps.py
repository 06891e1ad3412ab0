"""Steps that are alike: what one op of a step is in each of them, from the last ops of all steps
to what the steps are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import pairwise
from operator import eq
from typing import NamedTuple, TypeVar

from tgdialect.ops import tg
from tgdialect.transforms.reroll.graph import Row, ValueGraph

T = TypeVar("T")

_MOST_LAGS = 4
"""How many steps back a value may be used. Larger: recurrences of a higher order, each with more
states that a step moves on; smaller: these stay unrolled. An order of magnitude."""
_MOST_TRIMS = 8
"""How often steps at an end that differ are left out. Larger: more time for what has no steps."""


class Invariant(NamedTuple):
    """One value for all steps."""

    node: int


class Element(NamedTuple):
    """Parts of one value, `stride` cells along an axis after that of the step before."""

    source: int
    axis: int
    stride: int


class Lagged(NamedTuple):
    """The result of an op, in the step `lag` steps before; 0 is the same step."""

    op: Row
    lag: int


Operand = Invariant | Element | Lagged


class NoSteps(Exception):
    """Ops are no steps that are alike; the argument says why."""


class _DifferAt(Exception):
    """Steps are alike from one number to another, and not beyond."""

    def __init__(self, begin: int, end: int) -> None:
        self.kept = slice(begin, end)


@dataclass
class Steps:
    """Steps that are alike."""

    count: int
    ops: list[Row] = field(default_factory=list[Row])
    """The ops of a step, each after its operands: the nodes that it is in each step."""
    views: set[Row] = field(default_factory=set[Row])
    """Those of them that are views of parts that steps are given."""
    given: dict[Row, Operand] = field(default_factory=dict[Row, Operand])
    """The operands of these ops, by the nodes that each is in each step."""
    first: dict[Lagged, int] = field(default_factory=dict[Lagged, int])
    """The states: what a step uses of the ones before it, and the first of each."""


def steps_of(graph: ValueGraph, ends: Row, least: int) -> Steps:
    """The steps that compute some values, each from the one before.

    Raises NoSteps if fewer than `least` steps are alike.
    """
    for _ in range(_MOST_TRIMS):
        if len(ends) < least:
            break
        try:
            return _Matching(graph, ends).steps
        except _DifferAt as differ:
            ends = ends[differ.kept]
    raise NoSteps("too few steps are alike")


class _Matching:
    """The search for what each op of a step is in every step, from the last op.

    Of the values of the last step the deepest is looked at first: what a step uses of the one
    before is less deep than the value of its own that it is one of.
    """

    def __init__(self, graph: ValueGraph, ends: Row) -> None:
        self.graph = graph
        self.steps = Steps(len(ends))
        self.place: dict[int, tuple[Row, int]] = {}
        """The op of a step, and the step, that a node is."""
        self.left: list[tuple[int, int, Row]] = []
        self.seen: set[Row] = set()
        self.add(ends)
        while self.left:
            row = heappop(self.left)[2]
            self.steps.given[row] = self.operand(row)
        self.check()
        self.sort(ends)

    def add(self, row: Row) -> None:
        """Look at what is this in each step."""
        if row not in self.seen:
            self.seen.add(row)
            heappush(self.left, (-self.graph.depths[row[-1]], len(self.seen), row))

    def operand(self, row: Row) -> Operand:
        """The operand that some nodes are, one in each step."""
        graph = self.graph
        if min(row) < 0:
            raise NoSteps("a step uses a value of another block")
        if row[0] == row[-1] and len(set(row)) == 1:
            return Invariant(row[0])
        if (element := self.element(row)) is not None:
            return element
        is_view = self.is_view(row)
        if not is_view and (lagged := self.lagged(row)) is not None:
            return lagged
        kinds = graph.kinds
        begin, end = _longest(row, lambda a, b: a == b or kinds[a] == kinds[b])
        if (begin, end) != (0, len(row)):
            raise _DifferAt(begin, end)
        if len({graph.offsets[node] for node in row}) > 1:
            raise NoSteps("steps take parts of different values")
        if graph.kinds[row[0]] < 0:
            raise NoSteps("steps differ in what they are given")
        if is_view:
            self.steps.views.add(row)
        else:
            for step, node in enumerate(row):
                if self.place.setdefault(node, (row, step)) != (row, step):
                    raise NoSteps("an op has two places in the steps")
        self.steps.ops.append(row)
        for operands in zip(*(graph.operands[node] for node in row), strict=True):
            self.add(operands)
        return Lagged(row, 0)

    def lagged(self, row: Row) -> Lagged | None:
        """The result of a known op of a step, or of a step before; None if it is none."""
        if (found := self.place.get(row[-1])) is None:
            return None
        op, step = found
        lag = len(row) - 1 - step
        if lag > _MOST_LAGS or row[lag:] != op[: len(op) - lag]:
            return None
        for back in range(1, lag + 1):
            first = self.steps.first.setdefault(Lagged(op, back), row[lag - back])
            if first != row[lag - back]:
                raise NoSteps("two states of one op begin differently")
        return Lagged(op, lag)

    def element(self, row: Row) -> Element | None:
        """Parts of one value at equal distances; None if these are none."""
        graph = self.graph
        if not isinstance(graph.op(row[0]), tg.ShrinkOp) or not _are_alike(graph, row):
            return None
        (source,) = graph.operands[row[0]]
        if any(graph.operands[node] != (source,) for node in row):
            return None
        offsets = [graph.offsets[node] for node in row]
        moves = [tuple(b - a for a, b in pairwise(both)) for both in zip(*offsets, strict=True)]
        changes = [*zip(*moves, strict=True)]
        if not any(map(any, changes)):
            return None
        begin, end = _longest(changes, eq)
        if (begin, end) != (0, len(changes)):
            raise _DifferAt(begin, end + 1)
        moved = [axis for axis, move in enumerate(changes[0]) if move]
        shape = tg.tensor(graph.value(row[0])).get_shape()
        if len(moved) > 1 or abs(changes[0][moved[0]]) < shape[moved[0]]:
            raise NoSteps("steps take parts that overlap, or that move along several axes")
        return Element(source, moved[0], changes[0][moved[0]])

    def is_view(self, row: Row) -> bool:
        """Whether these are views of parts of one value, as `element` finds them."""
        graph = self.graph
        while isinstance(graph.op(row[0]), tg.MovementOp) and _are_alike(graph, row):
            if self.element(row) is not None:
                return True
            if len({graph.offsets[node] for node in row}) > 1 or len(graph.operands[row[0]]) != 1:
                return False
            row = tuple(graph.operands[node][0] for node in row)
            if row[0] < 0:
                return False
        return False

    def sort(self, ends: Row) -> None:
        """Put what is found into an order that depends on the steps alone, not on the graph that
        they are in: equal steps have equal texts."""
        steps, operands = self.steps, self.graph.operands
        ordered, given, first = dict[Row, None](), dict[Row, Operand](), dict[Lagged, int]()

        def sources(row: Row) -> list[Row]:
            found: list[Row] = []
            for each in zip(*(operands[node] for node in row), strict=True):
                of = given[each] = steps.given[each]
                if isinstance(of, Lagged) and of.lag:
                    roots.setdefault(of.op)
                    for lag in range(1, of.lag + 1):
                        first[Lagged(of.op, lag)] = steps.first[Lagged(of.op, lag)]
                elif isinstance(of, Lagged):
                    found.append(of.op)
            return found

        roots: dict[Row, None] = {ends: None}
        done = 0
        while done < len(roots):
            for row in tg.postorder([[*roots][done]], sources):
                ordered.setdefault(row)
            done += 1
        steps.ops[:], steps.given, steps.first = [*ordered], given, first

    def check(self) -> None:
        """Raise NoSteps if what steps are given is computed from what they compute."""
        graph, place = self.graph, self.place
        given = set(self.steps.first.values())
        for operand in self.steps.given.values():
            if isinstance(operand, Invariant):
                given.add(operand.node)
            elif isinstance(operand, Element):
                given.add(operand.source)
        after: set[int] = set()
        start = min(place)
        for node in range(start, max(given, default=-1) + 1):
            if node in place or any(o in after for o in graph.operands[node]):
                after.add(node)
                if node in given:
                    raise NoSteps("steps are given what other steps compute")


def _longest(items: Sequence[T], are_alike: Callable[[T, T], bool]) -> tuple[int, int]:
    """Where the longest part of a sequence begins and ends in which each is like the next."""
    best, begin = (0, 1), 0
    for end in range(1, len(items) + 1):
        if end == len(items) or not are_alike(items[end - 1], items[end]):
            best = max(best, (begin, end), key=lambda part: part[1] - part[0])
            begin = end
    return best


def _are_alike(graph: ValueGraph, row: Row) -> bool:
    """Whether nodes are of one kind."""
    return len({graph.kinds[node] for node in row}) == 1
