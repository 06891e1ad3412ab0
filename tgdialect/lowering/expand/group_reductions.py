"""GROUP_REDUCE on a grid: the work items of a workgroup each reduce a part, and then the parts.

On a CPU, GROUP_REDUCE ranges are lanes of accumulators (`reduction.py`). On a grid they are work
items. Those of a warp exchange their results by shuffles, where the target has them and all work
items take part, and others through LOCAL memory.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.ranges import (
    closed_ranges,
    extents_by_depth,
    is_loop,
    needed_ops,
    open_ranges,
)
from tgdialect.diagnostics import locate, noted
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.kernel_memory import grouped, new_buffer, version
from tgdialect.ops import tg
from tgdialect.ops.axis_types import WORKGROUP
from tgdialect.ops.reduce import ALU
from tgdialect.targets import Target
from tgdialect.transforms.private_ranges import make_ranges_private

MOST_PARTS = 32
"""The most parts that one work item reduces alone. With more, groups of work items first reduce
groups of parts. Each step costs as many loads from LOCAL memory as it has parts, and a BARRIER. An
order of magnitude."""

FEW_PARTS = 8
"""So many parts are loaded at once, and reduced without a loop: one for each warp of a workgroup
of usual size."""

_PRIVATE = frozenset((tg.AxisType.LOCAL, tg.AxisType.WARP, tg.AxisType.UPCAST, tg.AxisType.UNROLL))
"""The loops around a REDUCE whose iterations have parts of their own at the same time."""


def reduce_in_groups(block: Block, target: Target) -> None:
    """Rewrite the REDUCEs over GROUP_REDUCE ranges of a kernel.

    rewrite:
        %r = reduce add %v over %k, %g
        ->
        %p = reduce add %v over %k; %s = store %parts[%g], %p; %e = end %s over %g (a LOCAL range)
        %r = reduce add (load (after %parts, %e)[%j]) over %j

    With shuffles, there is one part for each warp; and if they are all in one, its work items have
    the result in registers:

        %p = reduce add %v over %k
        %q = add %p, (shuffle %p xor 1); ...; %s = store %result, %q; %e = end %s over %g
        %r = load (after %result, %e)
    """
    if not any(isinstance(op, tg.RangeOp) and _is_group(op) for op in ops_of(block)):
        return
    make_ranges_private(block, lambda range: is_loop(range) or _is_group(range))
    batches: dict[tuple[tg.RangeOp, ...], list[tg.ReduceOp]] = defaultdict(list)
    ops = needed_ops(block)
    for op in ops:
        if isinstance(op, tg.ReduceOp) and (ranges := _groups(op)):
            batches[ranges].append(op)
    around = open_ranges(ops)
    levels = extents_by_depth(ops, around, _items)
    for ranges, batch in batches.items():
        outer = sorted(around[batch[0]], key=lambda range: range.axis.data)
        # A part that does not depend on the work item would be computed outside of their loop.
        owners = [op.source.owner for op in batch]
        depends = all(isinstance(o, tg.TgOp) and around[o].issuperset(ranges) for o in owners)
        depth = sum(len(_items(range)) for range in outer)
        warps = _warps(levels, depth, len(ranges), target) if depends else None
        _Exchange(outer, ranges, warps).rewrite(batch)
    _sort(block)


def _is_group(range: tg.RangeOp) -> bool:
    return range.axis_type.data is tg.AxisType.GROUP_REDUCE


def _groups(op: tg.ReduceOp) -> tuple[tg.RangeOp, ...]:
    return tuple(filter(_is_group, closed_ranges(op)))


class _Exchange:
    """The exchange of the parts of REDUCEs over the same GROUP_REDUCE ranges."""

    def __init__(
        self, outer: Sequence[tg.RangeOp], groups: Sequence[tg.RangeOp], warps: Warps | None
    ) -> None:
        """`outer` are the loops around the REDUCEs. `warps` are those of the work items, which
        exchange their parts by shuffles; None if they do not."""
        self._outer = [range.result for range in outer]
        private = [range for range in outer if range.axis_type.data in _PRIVATE]
        self._before = [range for range in private if is_loop(range)]
        self._behind = [range for range in private if not is_loop(range)]
        self._groups = groups
        self._warps = warps

    def rewrite(self, batch: Sequence[tg.ReduceOp]) -> None:
        # The part of each work item.
        b = self._builder = tg.OpBuilder.before(batch[-1])
        parts: list[SSAValue] = []
        for op in batch:
            noted("exchange parts", op)
            value, wide, kind = op.source, tg.accumulated_dtype(op), op.kind.data
            if tg.tensor(value).element_type != wide:
                value = b.put(tg.CastOp(value, wide))
            if rest := [range.result for range in closed_ranges(op) if not _is_group(range)]:
                value = b.put(tg.ReduceOp(kind, value, (), rest))
            elif self._warps is not None and kind is tg.ReduceKind.ADD and tg.DTYPES[wide].is_float:
                # A sum begins with +0: that of -0s is not -0.
                zero = b.put(
                    tg.ConstOp(tg.number_attribute(tg.identity(kind, tg.DTYPES[wide]), wide))
                )
                value = b.put(tg.AddOp(zero, value))
            parts.append(value)
        kinds = [op.kind.data for op in batch]
        sizes = list(map(_extent, self._groups))
        items = [range.result for range in self._groups]
        for range in self._groups:
            range.axis_type = tg.AxisTypeAttr(tg.AxisType.LOCAL)
        position = items[0]
        for item, size in zip(items[1:], sizes[1:], strict=True):
            position = b.put(tg.AddOp(b.put(tg.MulOp(position, b.index_constant(size))), item))
        count, gate = math.prod(sizes), None
        if (warps := self._warps) is not None:
            parts = [self._shuffled(kind, part) for kind, part in zip(kinds, parts, strict=True)]
            if warps.width == count:
                memory = self._exchange(parts, items)
                self._finish(batch, [b.put(tg.LoadOp(self._cell(each, None))) for each in memory])
                return
            # One work item of each warp stores its part.
            width = b.index_constant(warps.width)
            gate = b.put(tg.CmpEqOp(b.put(tg.ModOp(position, width)), b.index_constant(0)))
            position, count = b.put(tg.IDivOp(position, width)), count // warps.width
        shared = self._exchange(parts, items, position, count, gate)
        # In two steps, if there are many: neighbouring work items load neighbouring parts.
        if count > MOST_PARTS and warps is None and (width := _divisor(count)):
            item = b.range(tg.AxisType.LOCAL, width).result
            parts = [
                self._total(*each, count // width, width, item)
                for each in zip(kinds, shared, strict=True)
            ]
            shared, count = self._exchange(parts, [item], item, width), width
        self._finish(
            batch, [self._total(*each, count, 1, None) for each in zip(kinds, shared, strict=True)]
        )

    def _finish(self, batch: Sequence[tg.ReduceOp], totals: Sequence[SSAValue]) -> None:
        """Replace the REDUCEs by their results."""
        b = self._builder
        for op, total in zip(batch, totals, strict=True):
            dtype = tg.tensor(op.result).element_type
            if tg.tensor(total).element_type != dtype:
                total = b.put(tg.CastOp(total, dtype))
            total.name_hint = op.result.name_hint
            op.result.replace_all_uses_with(total)
            b.block.erase_op(op)

    def _shuffled(self, kind: tg.ReduceKind, part: SSAValue) -> SSAValue:
        """The total of the parts of a warp, which each of its work items gets."""
        assert self._warps is not None
        distance = 1
        while distance < self._warps.width:
            other = self._builder.put(tg.ShuffleOp(part, distance, self._warps.threads))
            part = self._builder.put(ALU[kind](part, other))
            distance *= 2
        return part

    def _exchange(
        self,
        parts: Sequence[SSAValue],
        items: Sequence[SSAValue],
        position: SSAValue | None = None,
        count: int = 1,
        gate: SSAValue | None = None,
    ) -> Sequence[SSAValue]:
        """Store `count` parts, each at its position, where a gate is true. Returns the memory with
        all parts. Without a position, store the total that each work item has in a register of its
        own, because values do not leave a loop otherwise."""
        b, extents, space = self._builder, list(map(_extent, self._behind)), tg.AddrSpace.REG
        if position is not None:
            extents, space = [*map(_extent, self._before), count, *extents], tg.AddrSpace.LOCAL
        buffers = [new_buffer(b, tg.tensor(part).element_type, extents, space) for part in parts]
        stores = [
            b.put(tg.StoreOp(self._cell(version(b, buffer, self._outer), position), part, gate))
            for buffer, part in zip(buffers, parts, strict=True)
        ]
        end = b.put(tg.EndOp(grouped(b, stores), items[::-1]))
        return [b.put(tg.AfterOp(buffer, [end])) for buffer in buffers]

    def _total(
        self, kind: tg.ReduceKind, memory: SSAValue, count: int, step: int, first: SSAValue | None
    ) -> SSAValue:
        """REDUCE of the parts `first + step * i`, for i to `count`."""
        b, kinds = self._builder, (tg.AxisType.REDUCE, tg.AxisType.UNROLL)
        position = range = b.range(kinds[count <= FEW_PARTS], count).result
        if first is not None:
            position = b.put(tg.AddOp(b.put(tg.MulOp(range, b.index_constant(step))), first))
        part = b.put(tg.LoadOp(self._cell(memory, position)))
        return b.put(tg.ReduceOp(kind, part, (), [range]))

    def _cell(self, memory: SSAValue, position: SSAValue | None) -> SSAValue:
        """The location of a work item's part, or of what all have without a position."""
        before, behind = ([r.result for r in ranges] for ranges in (self._before, self._behind))
        indices = behind if position is None else [*before, position, *behind]
        return self._builder.put(tg.IndexOp(memory, indices)) if indices else memory


def _extent(range: tg.RangeOp) -> int:
    extent = tg.known_index(range.bound)
    if extent is None:
        message = f"range {range.axis.data} around a GROUP_REDUCE range has no constant extent"
        raise locate(PassFailedException(message), range)
    return extent


def _divisor(count: int) -> int:
    """The divisor of a number that is nearest to its root; 0 for a prime."""
    found = [n for n in range(2, count) if count % n == 0]
    return min(found, key=lambda n: n + count // n, default=0)


def _sort(block: Block) -> None:
    """Put the ops of a graph in a topological order, near the one that they have."""

    def sources(op: Operation) -> list[Operation]:
        owners = (operand.owner for operand in reversed(op.operands))
        return [owner for owner in owners if isinstance(owner, tg.TgOp)]

    for op in list(tg.postorder(ops_of(block), sources)):
        op.detach()
        block.add_op(op)


# -- warps ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Warps:
    """The warps that the work items of a GROUP_REDUCE are in, so that shuffles reach them."""

    threads: int
    """The work items of a warp; fewer than the target's where a workgroup has no more."""
    width: int
    """How many neighbouring parts are those of one warp, or of a part of one: a power of two."""


def _warps(
    levels: Sequence[set[int | None]], depth: int, groups: int, target: Target
) -> Warps | None:
    """The warps of the work items that share a REDUCE, which closes so many loops over them, inside
    of `depth` others; None if they cannot exchange values by shuffles.

    `levels` are the extents of the loops at each depth: `tg-linearize` makes an axis of the
    workgroup of them, of which the innermost varies fastest. All work items of the workgroup have
    to take part: the loops around the REDUCE and those that it closes are as many as a workgroup
    has axes, and none is shorter than its axis.
    """
    sizes = [extent for level in levels for extent in level if extent is not None]
    is_one_each = len(sizes) == len(levels) == sum(map(len, levels))
    if not target.shuffles or depth + groups != len(levels) or not is_one_each:
        return None
    count = math.prod(sizes)
    threads = min(target.warp, count)
    if threads & (threads - 1) or count % threads:
        return None
    parts = math.prod(sizes[depth:])
    width = min(parts & -parts, threads)
    return Warps(threads, width) if width > 1 else None


def _items(range: tg.RangeOp) -> Sequence[int | None]:
    """The extent of a loop that becomes an axis of a workgroup; of other loops nothing."""
    return [tg.known_index(range.bound)] if range.axis_type.data in WORKGROUP else []
