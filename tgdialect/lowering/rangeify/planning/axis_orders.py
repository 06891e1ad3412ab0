"""The order of the axes of the buffers between kernels, for the whole program.

A stored value has its axes in memory as in its shape, unless the kernels that write and read it
take longer then: nobody else sees the buffer. In a convolutional network the channels are put last.
Vectors then lie along channels, whatever the stride, the padding and the width of an image are, and
packed weights are read from first to last.

The vectors of a kernel lie along one of its loops. An access that depends on this loop moves whole
vectors if neighbours along the loop are neighbours in memory. Else it moves elements one by one, or
transposes. An operand of a product that depends on the loop, and of which many results need each
element, is packed into tiles in any case, unless it is constant. One that does not depend on it is
broadcast from where it is. A kernel has the cost of its cheapest loop, and the orders are those for
which all kernels have the least.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.affine.positions import (
    Index,
    LoopVariable,
    Position,
    depends_of,
    loops_of,
    trips_of,
)
from tgdialect.lowering.rangeify.planning.demand import Demand
from tgdialect.ops import tg

LEAST_GAIN = 0.25
"""The part of the cost of connected kernels that other orders have to save. The costs leave out
caches and register tiles, so that a small gain may be none. Not fitted: networks of convolutions
save nearly all of it."""

MANY_USES = 24
"""The results per element from which on an operand of a product counts as packed, although its
neighbours are along the vectors: fewer uses do not repay a copy. An order of magnitude. The
schedule packs such an operand for 128 rows of results, or for few if its steps span many pages
(`copies.py`), which is not known here."""

_Vectors = tuple[LoopVariable, ...]
"""Where the vectors of a kernel lie: along a loop, or along two that are one, the inner first."""


@dataclass(eq=False)
class _Memory:
    """A buffer that kernels write and read. `choices` are the axes that may be last in memory,
    first the one that is if the axes are in order."""

    shape: tuple[int, ...]
    choices: Sequence[int]
    is_constant: bool
    kernels: list[_Kernel] = field(default_factory=list["_Kernel"])

    def order(self, last: int) -> tuple[int, ...]:
        """The axes, outermost first."""
        return (*(axis for axis in range(len(self.shape)) if axis != last), last)


@dataclass(frozen=True, eq=False)
class _Access:
    """Memory that a kernel writes or reads at an index. If it `is_reused`, the index does not
    depend on all loops around the root: each element counts for several results. It `is_packed` if
    it is also an operand of a product, and counts for many."""

    memory: _Memory
    at: Index
    loops: Set[LoopVariable]
    is_reused: bool
    is_packed: bool = False

    def cost(self, vectors: _Vectors, last: int) -> float:
        """How many elements are moved without vectors, or packed."""
        if self.memory.is_constant or self.loops.isdisjoint(vectors):
            return 0
        if not self.is_packed and self._is_along(vectors, last):
            return 0
        trips, shape = trips_of(depends_of(*self.at)), self.memory.shape
        is_known = self.is_reused and DYNAMIC_INDEX not in shape
        return min(trips, math.prod(shape)) if is_known else trips

    @property
    def favours_orders(self) -> bool:
        """Whether another order may pay: where weights are packed once, or vectors are to lie
        across strides and windows. Other products pack one of their operands in any order."""
        return self.memory.is_constant or any(map(_has_windows, self.at))

    def _is_along(self, vectors: _Vectors, last: int) -> bool:
        """Whether neighbours along vectors are neighbours in memory."""
        axes = [*zip(vectors, self.memory.order(last)[::-1], strict=False)]
        is_whole = all(loop.trips == self.memory.shape[axis] for loop, axis in axes[:-1])
        return is_whole and all(loop in _loops_of(self.at[axis]) for loop, axis in axes)


@dataclass(frozen=True, eq=False)
class _Kernel:
    """The accesses of a kernel, and the loops that its vectors may lie along."""

    accesses: Sequence[_Access]
    vectors: Sequence[_Vectors]


def axis_orders(
    reads: Iterable[Demand],
    roots: Mapping[Operation, Index],
    constants: Set[SSAValue],
    lanes: int,
) -> dict[Operation, tuple[int, ...]]:
    """For stored values whose buffers do not have their axes in order: the axes, outermost first.

    `reads` has the indices at which kernels access memory that they do not compute, among it what a
    STORE writes. `roots` has the loops of each kernel by its root, a stored value or a STORE. What
    other kernels read stays in order. Memory of `constants` is packed once, in whichever order.
    `lanes` is how many elements a vector has.
    """
    accesses: dict[Operation, list[tuple[SSAValue, Index]]] = {
        op: [] if isinstance(op, tg.StoreOp) else [(op.results[0], index)]
        for op, index in roots.items()
    }
    fixed: set[SSAValue] = set()
    for root, value, at in reads:
        if root in roots:
            accesses[root].append((value, at))
        else:
            fixed.add(value)
    indices = defaultdict[SSAValue, list[Index]](list)
    for value, at in chain(*accesses.values()):
        indices[value].append(at)
    memories: dict[SSAValue, _Memory] = {}
    for value, found in indices.items():
        is_stored = value.owner in roots and not isinstance(value.owner, tg.StackOp)
        choices = _choices(value, found if is_stored and value not in fixed else (), lanes)
        shape = tg.tensor(value).get_shape()
        memories[value] = _Memory(shape, choices, value in constants)
    for op, index in roots.items():
        kernel = _kernel(index, [(memories[v], at) for v, at in accesses[op]], lanes)
        for memory in {access.memory: None for access in kernel.accesses}:
            memory.kernels.append(kernel)
    last: dict[_Memory, int] = {}
    for part in _connected(memories.values()):
        last |= _settled(part)
    return {
        value.owner: memory.order(last[memory])
        for value, memory in memories.items()
        if isinstance(value.owner, tg.TgOp) and last.get(memory, axis := memory.choices[0]) != axis
    }


def _choices(value: SSAValue, indices: Sequence[Index], lanes: int) -> Sequence[int]:
    """The axes that may be last in memory that is accessed at some indices: those which are whole
    vectors, and along which each access has a loop. The order of a result is fixed, as is that of
    memory without indices."""
    shape = tg.tensor(value).get_shape()
    last = max((a for a, extent in enumerate(shape) if extent != 1), default=0)
    if not indices or any(isinstance(use.operation, tg.StoreOp) for use in value.uses):
        return (last,)
    # Vectors along an axis of dynamic extent have masks: part of a vector takes less.
    least, part = (lanes // 2, 1) if DYNAMIC_INDEX in shape else (lanes, lanes)
    axes = (
        axis
        for axis, extent in enumerate(shape[:last])
        if extent >= least
        and extent % part == 0
        and all(len(_loops_of(at[axis])) == 1 for at in indices)
    )
    return (last, *axes)


def _kernel(index: Index, accesses: Sequence[tuple[_Memory, Index]], lanes: int) -> _Kernel:
    """A kernel, with the places for vectors that are long enough: loops around its root, or two
    that are next to each other. If it computes no product, also loops of its reductions."""
    around = [loop for position in index for loop in loops_of(position) if loop.trips > 1]
    found: list[_Access] = []
    for memory, at in accesses:
        loops = loops_of(*at)
        found.append(_Access(memory, at, loops, not loops.issuperset(around)))
    steps = {loop for access in found for loop in access.loops}.difference(around)
    factors = {a for a in found if a.is_reused and not a.loops.isdisjoint(steps)}
    is_product = len(factors) > 1
    if is_product:
        rows = {a: math.prod(loop.trips for loop in around if loop not in a.loops) for a in found}
        found = [replace(a, is_packed=a in factors and rows[a] >= MANY_USES) for a in found]
    places = around if is_product else (*around, *steps)
    if any(not isinstance(loop.extent, int) for loop in around):
        static = [p for p in places if isinstance(p.extent, int) and p.trips >= lanes // 2]
        return _Kernel(found, [(loop,) for loop in static])
    vectors: list[_Vectors] = [(loop,) for loop in places if loop.trips >= lanes]
    vectors += [
        (inner, outer)
        for outer, inner in pairwise(around)
        if inner.trips < lanes <= inner.trips * outer.trips
    ]
    return _Kernel(found, vectors)


def _loops_of(position: Position) -> Sequence[LoopVariable]:
    """The loops of which neighbours are neighbours along an axis: several where it has windows."""
    return [
        atom.digit[0]
        for atom, factor in position.terms.items()
        if factor == 1 and atom.kind == "digit" and atom.digit[1] == 1
    ]


def _has_windows(position: Position) -> bool:
    """Whether the loops along an axis go through it in steps, or overlap: they are no digits."""
    radix = 1
    for atom, factor in sorted(position.terms.items(), key=lambda term: term[1]):
        if factor != radix:
            return True
        radix *= int(atom.interval.hi) + 1 if atom.interval.hi < math.inf else 1
    return False


def _connected(memories: Iterable[_Memory]) -> Iterator[Sequence[_Memory]]:
    """The memory of which the order may change, in parts without common kernels."""
    left = {memory: None for memory in memories if len(memory.choices) > 1}
    while left:
        walk = tg.Walk([left.popitem()[0]])
        for memory in walk:
            left.pop(memory, None)
            near = (a.memory for kernel in memory.kernels for a in kernel.accesses)
            walk.add(each for each in near if each in left)
        yield list(walk.seen)


def _settled(part: Sequence[_Memory]) -> Mapping[_Memory, int]:
    """The last axis of each memory of a part: an axis of the same number in all of them, then the
    best one of each, given the others. They are in order if too little is gained."""
    in_order = {memory: memory.choices[0] for memory in part}
    kernels = [*{kernel: None for memory in part for kernel in memory.kernels}]
    if not any(access.favours_orders for kernel in kernels for access in kernel.accesses):
        return in_order
    costs = {
        (access, axis): [access.cost(vectors, axis) for vectors in kernel.vectors]
        for kernel in kernels
        for access in kernel.accesses
        for axis in access.memory.choices
    }

    def cost(last: Mapping[_Memory, int], kernels: Iterable[_Kernel] = kernels) -> float:
        """A kernel has the cost of its cheapest vectors."""
        total = 0.0
        for kernel in kernels:
            own = [costs[a, last.get(a.memory, a.memory.choices[0])] for a in kernel.accesses]
            total += min(map(sum, zip(*own, strict=True)), default=0)
        return total

    found = [in_order]
    for wanted in sorted({axis for memory in part for axis in memory.choices[1:]}):
        last = {m: wanted if wanted in m.choices else m.choices[0] for m in part}
        before: dict[_Memory, int] = {}
        while last != before:  # Each change costs less.
            before = dict(last)
            for memory, axis in before.items():
                near = {
                    each: cost({**last, memory: each}, memory.kernels)
                    for each in (axis, *memory.choices)
                }
                last[memory] = min(near, key=near.__getitem__)
        found.append(last)
    best = min(found, key=cost)
    return best if cost(best) <= (1 - LEAST_GAIN) * cost(in_order) else in_order
