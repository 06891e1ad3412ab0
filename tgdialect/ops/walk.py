"""Walks: the ops of a block, slices and orders of a graph, chains of views, nests of blocks, and
values that are computed along edges.

Stacks are explicit, so that graphs may be arbitrarily deep.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, Generic, TypeVar, cast

from xdsl.ir import Block, Operation, SSAValue

T = TypeVar("T")
R = TypeVar("R")
N = TypeVar("N", bound=Hashable)
OpT = TypeVar("OpT", bound=Operation)


class Walk(Generic[N]):
    """A work list that gives each thing once: `for each in walk` gives what was added last first,
    while the loop adds more.

    It ends when more than `most` have been added, and all that were are in `seen`, in that order.
    Linear in what is added.
    """

    def __init__(self, roots: Iterable[N] = (), most: float = math.inf) -> None:
        self.seen: dict[N, None] = {}
        self._left: list[N] = []
        self._most = most
        self.add(roots)

    def __iter__(self) -> Iterator[N]:
        left, seen, most = self._left, self.seen, self._most
        while left and len(seen) <= most:
            yield left.pop()

    def add(self, more: Iterable[N]) -> None:
        """Look at these as well, unless they were added before."""
        left, seen = self._left, self.seen
        for each in more:
            count = len(seen)
            seen[each] = None
            if len(seen) > count:
                left.append(each)

    @property
    def is_complete(self) -> bool:
        """Whether no more than `most` have been added."""
        return len(self.seen) <= self._most


def postorder(roots: Iterable[N], sources: Callable[[N], Iterable[N]]) -> Iterator[N]:
    """All that roots depend on in a graph without cycles, each once and after its `sources`: these
    in their order, each with its own. `sources` is asked once for each, when it is reached."""
    left = [*roots][::-1]
    opened, done = set[N](), set[N]()
    while left:
        each = left[-1]
        if each not in opened:
            opened.add(each)
            left += [source for source in sources(each) if source not in opened][::-1]
        else:
            left.pop()
            if each not in done:
                done.add(each)
                yield each


def topological(items: Iterable[int], successors: Mapping[int, Sequence[int]]) -> list[int]:
    """A topological order that keeps the order of the program where it can: Kahn's algorithm, the
    least item first. Items on a cycle, or after one, are missing from the result."""
    waiting = dict.fromkeys(items, 0)
    for after in successors.values():
        for item in after:
            waiting[item] += 1
    ready = [item for item, count in waiting.items() if not count]
    heapify(ready)
    order: list[int] = []
    while ready:
        item = heappop(ready)
        order.append(item)
        for successor in successors.get(item, ()):
            waiting[successor] -= 1
            if not waiting[successor]:
                heappush(ready, successor)
    return order


def through(value: SSAValue, *kinds: type[OpT]) -> Iterator[OpT]:
    """The ops of these kinds that a value goes through: the one that makes it, the one that makes
    the first operand of that, and so on."""
    while isinstance(op := value.owner, kinds):
        yield op
        value = op.operands[0]


def behind(value: SSAValue, *kinds: type[Operation]) -> SSAValue:
    """The value before all ops of these kinds that a value goes `through`."""
    while isinstance(op := value.owner, kinds):
        value = op.operands[0]
    return value


def nesting(ops: Iterable[Operation]) -> dict[Operation, tuple[Operation, ...]]:
    """The RANGEs and IFs of a LINEAR around each op, the outermost first. One that begins or ends a
    block is not in it."""
    found: dict[Operation, tuple[Operation, ...]] = {}
    around: tuple[Operation, ...] = ()
    for op in ops:
        closed: slice | None = getattr(op, "CLOSES", None)
        if closed is not None:
            around = around[: len(around) - len(op.operands[closed])]
        found[op] = around
        if getattr(op, "OPENS_BLOCK", False):
            around = (*around, op)
    return found


_DEPTH = 32
"""How deep `computed` calls itself, in calls. Larger: it may reach Python's limit, 1000 by default;
smaller: more walks take an explicit stack, which is slower. Most graphs are less deep; an order of
magnitude."""


def computed(
    root: SSAValue,
    known: dict[SSAValue, T],
    sources: Callable[[SSAValue], Iterable[SSAValue]],
    compute: Callable[[SSAValue], T],
    depth: int = _DEPTH,
) -> T:
    """The result of `compute` for a value, cached in `known`, as for all values that it needs.

    `compute(value)` is called when `known` has the results of all `sources(value)`. Graphs may be
    arbitrarily deep: beyond `depth` calls the stack is explicit.
    """
    if depth:
        if root not in known:
            # The last source first, as with a stack: some facts have numbers in this order.
            for source in reversed([each for each in sources(root) if each not in known]):
                computed(source, known, sources, compute, depth - 1)
            known[root] = compute(root)
        return known[root]
    stack = [root]
    while stack:
        value = stack[-1]
        if value in known:
            stack.pop()
        elif missing := [source for source in sources(value) if source not in known]:
            stack.extend(missing)
        else:
            known[value] = compute(value)
    return known[root]


class Computed(ABC, Generic[T]):
    """Facts about values: that of each is computed once, from what is known of its sources.

    It is right for as long as the ops that it has seen do not change.
    """

    def __init__(self, known: Mapping[SSAValue, T] = {}) -> None:
        self._known: dict[SSAValue, T] = dict(known)

    def __getitem__(self, value: SSAValue) -> T:
        if (known := self._known.get(value)) is not None:
            return known
        return computed(value, self._known, self._sources, self._compute)

    def _sources(self, value: SSAValue) -> Iterable[SSAValue]:
        """The values of which something has to be known before."""
        return operands_of(value)

    @abstractmethod
    def _compute(self, value: SSAValue) -> T:
        """The fact about a value, whose sources have theirs."""


def driven(
    root: Generator[N, T, R],
    known: dict[N, T],
    begin: Callable[[N], Generator[N, T, T]],
    resumed: Callable[[N], None] = lambda key: None,
) -> R:
    """The result of a computation that yields keys, and is sent the result for each.

    A result that is not `known` is that of the computation which `begin(key)` starts, of the same
    kind. `resumed` is told whose computation goes on. The stack is explicit, so that computations
    may need each other arbitrarily deep.
    """
    stack: list[tuple[N, Generator[N, T, T]]] = []
    reply: T | None = None
    while True:
        if stack:
            resumed(stack[-1][0])
        try:
            # None begins a computation.
            key = (stack[-1][1] if stack else root).send(cast(T, reply))
        except StopIteration as done:
            if not stack:
                return done.value
            reply = known[stack.pop()[0]] = done.value
        else:
            if (reply := known.get(key)) is None:
                stack.append((key, begin(key)))


def needing(key: N) -> Generator[N, T, T]:
    """The computation, for `driven`, of the result for one key."""
    return (yield key)


def operands_of(value: SSAValue) -> Sequence[SSAValue]:
    """The operands of the op that defines a value; none for a block argument."""
    return getattr(value.owner, "operands", ())


def users_of(op: Operation) -> Iterator[Operation]:
    """The op of each use of an op's results."""
    return (use.operation for result in op.results for use in result.uses)


def computed_from(
    *values: SSAValue, until: tuple[type[Operation], ...] = ()
) -> Iterator[Operation]:
    """The ops that values are computed by, each once, but those that only ops of the kinds `until`
    need. The caller may stop anywhere."""
    left: list[Any] = [value.owner for value in values]
    seen = set[Operation]()
    while left:
        op = left.pop()
        if op in seen or type(op) is Block:
            continue
        seen.add(op)
        yield op
        if not until or not isinstance(op, until):
            for operand in op.operands:
                left.append(operand.owner)
