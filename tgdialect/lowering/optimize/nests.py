"""The loop nests of a kernel, what they access, and how often each op runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.affine.strides import Strides
from tgdialect.analysis.features import Moved, Nest, Work
from tgdialect.analysis.ranges import Ranges, closed_ranges, outermost_first
from tgdialect.lowering.optimize.axes import Axes, by_range
from tgdialect.lowering.optimize.optops.apply import attempt, opt, try_opt
from tgdialect.lowering.optimize.optops.merge import mergeable
from tgdialect.lowering.optimize.optops.prepack import may_prepack
from tgdialect.lowering.optimize.optops.split import divisors
from tgdialect.lowering.optimize.optops.tile_loads import is_of_parameter
from tgdialect.ops import tg
from tgdialect.ops.affine import polynomial_interval
from tgdialect.targets import Target
from tgdialect.targets.costs import cycles_of

UNKNOWN_EXTENT = 32
"""The iterations that the model assumes for each size of a dynamic extent: enough for vectors and
tiles to pay. Smaller: no tiles for loops that may be long; larger: tiles that short ones do not
fill. (`plan.TYPICAL_EXTENT` is assumed for memory, not for time.)"""


@dataclass(frozen=True)
class StridedAccess:
    """A LOAD or STORE, and its stride along each range."""

    op: Operation
    strides: Strides
    is_constant: bool = False
    """Whether it is a LOAD of weights that are the same in every call and that a reduction reuses:
    a kernel that runs once can pack them, whatever the tile is."""

    @property
    def itemsize(self) -> int:
        return tg.dtype_of(self.op.operands[0]).itemsize

    def apart(self, range: tg.RangeOp, most: int) -> int:
        """How many bytes apart the cells of neighbouring iterations are, `most` at most."""
        stride = self.strides.get(range, 0)
        return most if stride is None else min(abs(stride) * self.itemsize, most)


class Nests:
    """The loop nests of a kernel: the ops that close them, and how often each op runs."""

    def __init__(self, axes: Axes, target: Target) -> None:
        """`target` is the machine that the model is of."""
        self.axes, self.target = axes, target
        ops = [op for op in axes.ops if isinstance(op, tg.LoadOp | tg.StoreOp | tg.AtomicAddOp)]
        along = [(op, axes.strides(op.operands[0])) for op in ops]
        self.accesses = [StridedAccess(*each, self._is_weight(*each)) for each in along]
        self.stride_of = {access.op: access.strides for access in self.accesses}

    @classmethod
    def of(cls, axes: Axes, target: Target) -> Nests:
        """Those of a kernel, which are found again only if it has changed."""
        if (found := axes.kept.get(cls)) is None:
            found = axes.kept[cls] = cls(axes, target)
        return found

    def _is_weight(self, op: Operation, strides: Strides) -> bool:
        """Whether an access loads constants, each of which a reduction uses several times."""
        if not isinstance(op, tg.LoadOp) or not self.axes.constants:
            return False
        if not any(is_of_parameter(op, slot) for slot in self.axes.constants):
            return False
        if len(ends := {self.axes.ends[r] for r in strides if r in self.axes.ends}) != 1:
            return False
        loops = {r for end in ends for r in (*closed_ranges(end), *self.axes.open[end])}
        is_reused = any(self.extent(r) > 1 for r in loops if strides.get(r, 0) == 0)
        is_reduced = any(s != 0 and r not in self.axes.ends for r, s in strides.items())
        return is_reused and is_reduced and may_prepack(self.axes, op)

    @cached_property
    def loads(self) -> Sequence[StridedAccess]:
        return [access for access in self.accesses if isinstance(access.op, tg.LoadOp)]

    @cached_property
    def stores(self) -> Sequence[StridedAccess]:
        return [access for access in self.accesses if isinstance(access.op, tg.StoreOp)]

    def accesses_along(self, ranges: Iterable[tg.RangeOp]) -> Sequence[StridedAccess]:
        """The accesses with a stride other than 0 along any of these ranges."""
        along = {*ranges}
        return [
            a for a in self.accesses if any(s != 0 and r in along for r, s in a.strides.items())
        ]

    @cached_property
    def work(self) -> Sequence[Operation]:
        """The ops that the model counts: accesses and arithmetic on elements, not on indices."""
        return [op for op in self.axes.ops if op in self.stride_of or is_arithmetic(op)]

    @cached_property
    def work_in(self) -> Mapping[tg.RangeOp, Sequence[Operation]]:
        """The ops of `work` whose results are in the loop of each range."""
        return by_range((op, self.axes.open[op]) for op in self.work)

    @cached_property
    def reductions_along(self) -> Mapping[tg.RangeOp, Sequence[tg.ReduceOp]]:
        """The REDUCEs whose results or steps vectors along each range are."""
        found = (op for op in self.axes.closers if isinstance(op, tg.ReduceOp))
        return by_range((op, {*self.axes.open[op], *closed_ranges(op)}) for op in found)

    @cached_property
    def closers_in(self) -> Mapping[tg.RangeOp, Sequence[tg.EndOp | tg.ReduceOp]]:
        """The `closers` in the loop of each range."""
        return by_range((op, self.axes.open[op]) for op in self.closers)

    @cached_property
    def closers(self) -> Mapping[tg.EndOp | tg.ReduceOp, Ranges]:
        """The END or a REDUCE of each nest, inner nests first, and its ranges."""
        found: dict[Ranges, tg.EndOp | tg.ReduceOp] = {}
        for op in self.axes.closers:
            if isinstance(op, tg.EndOp) or op.ranges:
                found.setdefault(frozenset(closed_ranges(op)), op)
        return {op: ranges for ranges, op in found.items()}

    @cached_property
    def moving(self) -> Mapping[tg.EndOp | tg.ReduceOp, Sequence[StridedAccess]]:
        """The accesses of each nest that no nest inside has, as `models` numbers them. Registers
        are no memory."""
        found: dict[tg.EndOp | tg.ReduceOp, list[StridedAccess]] = {c: [] for c in self.closers}
        for access in self.accesses:
            place = tg.place(tg.memory_of(access.op.operands[0])).addrspace
            closer = self._closer(access.op)
            if closer is not None and place is not tg.AddrSpace.REG:
                found[closer].append(access)
        return found

    def _closer(self, op: Operation) -> tg.EndOp | tg.ReduceOp | None:
        """The innermost nest that an op is in."""
        around = self.around(op)
        found = (c for c, ranges in self.closers.items() if not around.isdisjoint(ranges))
        return next(found, None)

    @cached_property
    def models(self) -> Mapping[tg.EndOp | tg.ReduceOp, Nest]:
        """The arithmetic and the accesses of each nest that no nest inside has, inner nests
        first."""
        work: dict[Operation, Counter[tuple[Ranges, int]]] = {c: Counter() for c in self.closers}
        for op in self.work:
            is_counted = op not in self.stride_of and not _is_multiplied(op)
            if is_counted and (closer := self._closer(op)) is not None:
                size = max(tg.dtype_of(op.results[0]).itemsize, 4)
                work[closer][self.around(op), size] += cycles_of(op, self.target)
        reduces = (op for op in self.axes.closers if isinstance(op, tg.ReduceOp))
        chains = Counter(frozenset(closed_ranges(op)) for op in reduces)
        found: dict[tg.EndOp | tg.ReduceOp, Nest] = {}
        seen: dict[object, Operation] = {}
        for closer, ranges in self.closers.items():
            order = [*self._enclosing(closer), *outermost_first(closer)]
            steps = ranges if isinstance(closer, tg.ReduceOp) else frozenset[tg.RangeOp]()
            found[closer] = Nest(
                {r.axis.data: self.extent(r) for r in order},
                [r.axis.data for r in order],
                {r.axis.data for r in steps},
                [
                    Work({r.axis.data for r in around}, cycles, size)
                    for (around, size), cycles in work[closer].items()
                ],
                [self._moved(access, closer, seen) for access in self.moving[closer]],
                chains[ranges] or 1,
            )
        return found

    def _moved(
        self,
        access: StridedAccess,
        closer: tg.EndOp | tg.ReduceOp,
        seen: dict[object, Operation],
    ) -> Moved:
        """An access of a nest. `seen` has the first nest that accesses some cells: those that a
        nest beside accesses in the same iteration of the loops around are near."""
        op, memory = access.op, tg.memory_of(access.op.operands[0])
        is_near = tg.place(memory).addrspace is not tg.AddrSpace.GLOBAL
        shared = self.axes.open[closer] & self.around(op)
        if shared and self.bytes(access, shared) <= self.target.l2:
            key = memory, frozenset((r, access.strides.get(r, 0)) for r in shared)
            is_near |= seen.setdefault(key, closer) is not closer
        strides = {r.axis.data: stride for r, stride in access.strides.items()}
        gates = {r.axis.data for gate in _gates(op) for r in self.axes.around(gate)}
        is_store = not isinstance(op, tg.LoadOp)
        return Moved(strides, access.itemsize, is_store, access.is_constant, is_near, gates)

    def _enclosing(self, closer: tg.EndOp | tg.ReduceOp) -> Sequence[tg.RangeOp]:
        """The loops around a nest, outermost first."""
        axes = self.axes

        def depth(range: tg.RangeOp) -> tuple[int, int]:
            if (end := axes.ends.get(range)) is None:
                return len(axes.ranges), 0
            return len(axes.open[end]), outermost_first(end).index(range)

        # A loop that it is in is in turn in those outside of it.
        found = {*axes.open[closer]}
        for range in axes.open[closer] & axes.ends.keys():
            nest = outermost_first(axes.ends[range])
            found.update(nest[: nest.index(range)])
        return sorted(found, key=depth)

    def bytes(self, access: StridedAccess, outside: Set[tg.RangeOp] = frozenset()) -> int:
        """The bytes of the cells that an access is of in all loops but some."""
        along = (r for r, stride in access.strides.items() if stride != 0 and r not in outside)
        return math.prod(map(self.extent, along)) * access.itemsize

    def extent(self, range: tg.RangeOp) -> int:
        if (known := tg.known_index(range.bound)) is not None:
            return known
        # Sizes of images are multiplied, and products of networks, which halve them, divided.
        return max(self._assumed(range.bound), 1)

    def _assumed(self, value: SSAValue) -> int:
        """An index value, for sizes as they are assumed."""

        def atom(found: object) -> tg.Interval:
            known, of = UNKNOWN_EXTENT, cast(SSAValue, found)
            if isinstance(of.owner, tg.RangeOp):
                known = 0
            elif isinstance(quotient := of.owner, tg.IDivOp) and self.axes.around(of):
                # The chunks that threads take.
                known = self._assumed(quotient.lhs) // max(self._assumed(quotient.rhs), 1)
            return tg.Interval(known, known)

        return int(polynomial_interval(tg.polynomial(value), atom).lo)

    def trips(self, op: Operation) -> int:
        """How often an op runs; a REDUCE runs once per element that it reduces."""
        return math.prod(self.extent(r) for r in self.around(op))

    def around(self, op: Operation) -> Ranges:
        """The ranges in whose loops an op runs."""
        around = self.axes.around
        return around(op.operands[0]) if isinstance(op, tg.ReduceOp) else self.axes.open[op]


def _gates(access: Operation) -> Iterator[SSAValue]:
    """The conditions of an access: its gate, and that of a WHERE that alone takes its value."""
    if isinstance(access, tg.LoadOp | tg.StoreOp) and access.gate is not None:
        yield access.gate
    for use in access.results[0].uses if isinstance(access, tg.LoadOp) else ():
        if isinstance(use.operation, tg.WhereOp) and access.results[0].has_one_use():
            yield use.operation.condition


def _is_multiplied(op: Operation) -> bool:
    """Whether an op is a product that is only added: one instruction computes both."""
    if not isinstance(op, tg.MulOp) or not tg.dtype_of(op.result).is_float:
        return False
    match [use.operation for use in op.result.uses]:
        case [tg.ReduceOp() as reduce]:
            return reduce.kind.data is tg.ReduceKind.ADD
        case users:
            return len(users) == 1 and isinstance(users[0], tg.AddOp)


def is_arithmetic(op: Operation) -> bool:
    if not isinstance(op, tg.ElementwiseOp | tg.ReduceOp):
        return False
    return tg.tensor(op.results[0]).element_type not in (tg.INDEX, tg.BOOL)


def part(extent: int, most: int, of: int = 0) -> int:
    """The greatest divisor of `of`, by default the extent, up to both; 1 if there is no other."""
    whole = of or extent
    return next((n for n in range(min(extent, most), 0, -1) if whole % n == 0), 1)


# -- as few loops as possible, without divisions in their indices: what heuristics begin with ------


def split_loops(axes: Axes) -> None:
    """Split a loop whose variable indices divide, so that each digit is a loop variable. Strides
    are known of loop variables, not of quotients."""
    while any(try_opt(axes, which) for which in _digits(axes)):
        pass


def _digits(axes: Axes) -> Iterator[tg.OptAttr]:
    """The SPLITs that remove a division."""
    for axis, range in axes.ranges.items():
        if not (found := divisors(range)) or (extent := tg.known_index(range.bound)) is None:
            continue
        least = min(found)
        if 1 < least < extent and not any(each % least for each in (*found, extent)):
            yield opt(tg.OptOp.SPLIT, axis, least, range.axis_type.data.value)


def merge_loops(axes: Axes) -> None:
    """Merge loops whose indices are one flat index."""
    tried: set[tuple[int, int]] = set()
    while (pair := next((p for p in mergeable(axes) if p not in tried), None)) is not None:
        tried.add(pair)
        attempt(axes, tg.OptOp.MERGE, *pair)
