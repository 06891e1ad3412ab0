"""From loops over workgroups and work items to a grid: what each work item executes.

Up to here GLOBAL ranges are loops over workgroups, and LOCAL and WARP ranges loops over the work
items of one. A grid has neither: all work items run the whole program, and SPECIALs tell each of
them its place. The loops at one depth are one axis of the grid:

    range %i global; range %j local; store b[%j]; end %j; range %k local; load b[63 - %k]; ...
    ->
    special %i "gidx0"; special %j "lidx0"; store b[%j]; barrier; load b[63 - %j]; ...

A loop with fewer iterations than its axis is put into an IF. A STORE outside of the loops of some
axis is done by the first work item, or workgroup, of that axis; everything else outside is done by
all, each in registers of its own. Source: the same is "generic" and "SPMD" mode of OpenMP target
regions in LLVM, and the single program that tinygrad writes for all threads.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial, reduce

from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.affine.cells import CellNumbers
from tgdialect.analysis.memory_order import MemoryAccess, accesses
from tgdialect.diagnostics import locate, noted
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.linear_blocks import GROUPS, ITEMS, close_one_by_one, loops_by_depth, nest
from tgdialect.lowering.linearize.registers import keep_in_registers, load_once, share_registers
from tgdialect.ops import tg
from tgdialect.ops.folding import constant_attribute
from tgdialect.ops.numbering import op_key
from tgdialect.targets import Target
from tgdialect.transforms.barriers import insert_barriers
from tgdialect.work_items.coverage import uncovered

DIMENSIONS = 3
"""The axes of a grid, and of a workgroup, that devices have. More are merged into one."""

SHORT_AXIS = 65535
"""The most workgroups along the second and third axis of a grid. Source: CUDA C++ Programming
Guide, "Technical Specifications"; other vendors allow more."""


def to_grid(linear: tg.LinearOp, target: Target, *, aliased: bool = False) -> None:
    """Rewrite a LINEAR with loops over workgroups and work items to the program of a work item.

    `aliased` says that different parameters may be the same memory.

    Raises PassFailedException where a workgroup has more work items than the target allows, and
    where a BARRIER would not be reached by all of them.
    """
    block = linear.body.block
    close_one_by_one(block)
    while found := set(_serial(block, aliased)) or _beyond(block, target):
        for range in found:
            range.axis_type = tg.AxisTypeAttr(tg.AxisType.LOOP)
    _Grid(block, target).rewrite()
    numbers = CellNumbers()
    keep_in_registers(block, numbers)
    load_once(block, numbers, aliased=aliased)
    clear_uncovered(block, numbers)
    share_indices(block)
    if (program := block.parent_op()) is not None:
        noted("insert barriers", program)
    insert_barriers(block)


# -- which loops become axes ----------------------------------------------------------------------


def _beyond(block: Block, target: Target) -> set[tg.RangeOp]:
    """Loops over work items for which the target's workgroups have no room, although they have for
    each nest by itself: at one depth, those that make its axis longer than others do. As many work
    items as possible are left."""
    around = tg.nesting(ops_of(block))
    levels = loops_by_depth(around, ITEMS)
    extents = {range: tg.known_index(range.bound) or 1 for same in levels for range in same}
    nests = [(*nest(around[range], ITEMS), range) for range in extents]
    largest = max((math.prod(map(extents.__getitem__, each)) for each in nests), default=1)
    longest = [max(map(extents.__getitem__, same)) for same in levels]
    size = math.prod(longest)
    if largest > target.workgroup or size <= target.workgroup:
        return set()
    choices: list[tuple[int, set[tg.RangeOp]]] = []
    for same, most in zip(levels, longest, strict=True):
        long = {range for range in same if extents[range] == most}
        if any(range.axis_type.data is tg.AxisType.WARP for range in long):
            continue
        others = (extents[range] for range in same if range not in long)
        choices.append((size // most * max(others, default=1), long))
    fitting = [choice for choice in choices if choice[0] <= target.workgroup]
    if fitting:
        return max(fitting, key=lambda choice: choice[0])[1]
    return min(choices, key=lambda choice: choice[0], default=(0, set[tg.RangeOp]()))[1]


def _serial(block: Block, aliased: bool) -> Iterator[tg.RangeOp]:
    """The loops over workgroups and work items that cannot be axes of the grid.

    A loop over workgroups is not inside of other loops or IFs, nor beside some in a loop over
    workgroups, which would all execute these. Its extent is known before the kernel starts, and
    loops at the same depth share it unless all are constant. The extent of a loop over work items
    is constant.
    """
    around = tg.nesting(ops_of(block))
    levels: dict[int, list[tg.RangeOp]] = defaultdict(list)
    loops = [op for op in around if isinstance(op, tg.RangeOp)]
    beside = Counter(around[op][-1] for op in loops if around[op])
    for op in loops:
        outer, kind = around[op], op.axis_type.data
        if kind in ITEMS and tg.known_index(op.bound) is None:
            yield op
        elif kind in GROUPS:
            is_nested = len(nest(outer, GROUPS)) == len(outer)
            if not is_nested or (outer and beside[outer[-1]] > 1) or not _is_argument(op.bound):
                yield op
            else:
                levels[len(outer)].append(op)
    for ranges in levels.values():
        bounds = {range.bound for range in ranges}
        if len(bounds) > 1 and any(tg.known_index(bound) is None for bound in bounds):
            yield from ranges
    yield from _dependent(block, around, aliased)


def _is_argument(bound: SSAValue) -> bool:
    """Whether a bound is known before the kernel starts: it is computed from scalar PARAMs."""
    kinds = tg.ConstOp | tg.ParamOp | tg.ElementwiseOp
    return all(isinstance(op, kinds) for op in tg.computed_from(bound))


def _dependent(
    block: Block, around: Mapping[Operation, Sequence[Operation]], aliased: bool
) -> Set[tg.RangeOp]:
    """The loops over workgroups that write memory which is accessed outside of them: workgroups
    cannot wait for each other."""
    uses: dict[SSAValue | None, list[MemoryAccess]] = defaultdict(list)
    for access in accesses(block.ops):
        if tg.place(access.memory).addrspace is tg.AddrSpace.GLOBAL:
            uses[None if aliased else access.memory].append(access)
    found: set[tg.RangeOp] = set()
    for same in uses.values():
        if any(access.writes for access in same):
            nests = [nest(around[access.op], GROUPS) for access in same]
            common = {*nests[0]}.intersection(*nests)
            found.update(range for each in nests for range in each if range not in common)
    return found


# -- the rewriting --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Axis:
    """An axis of the grid or of a workgroup: the loops at one depth."""

    extent: int | None
    """The greatest extent of these loops; None if it is dynamic, and the same for all."""
    index: SSAValue

    def is_whole(self, range: tg.RangeOp) -> bool:
        """Whether a loop has as many iterations as the axis."""
        return tg.known_index(range.bound) == self.extent


class _Grid:
    """The rewriting of one LINEAR, each of whose ENDs closes one loop."""

    def __init__(self, block: Block, target: Target) -> None:
        self._block = block
        self._target = target
        # PARAMs first: the extents of axes may depend on them.
        params = [op for op in block.ops if isinstance(op, tg.ParamOp) and not op.operands]
        for op in params:
            op.detach()
        first = block.first_op
        assert first is not None
        self._front = tg.OpBuilder.before(first)
        for op in params:
            self._front.insert(op)
        """Where the axes are defined."""
        self._copies: dict[SSAValue, SSAValue] = {}
        self._around = tg.nesting(ops_of(block))
        self._ifs: dict[SSAValue, tg.IfOp] = {}
        """The IF around the body of a loop that has fewer iterations than its axis."""

    def rewrite(self) -> None:
        share_registers(self._block, self._around)
        groups, items = self._axes(GROUPS, "gidx"), self._axes(ITEMS, "lidx")
        size = math.prod(axis.extent or 1 for axis in items)
        if size > self._target.workgroup:
            message = (
                f"a workgroup has {size} work items, and the target {self._target.name} allows "
                f"{self._target.workgroup}"
            )
            first = next(op for op in self._around if _is_axis(op) and nest([op], ITEMS))
            raise locate(PassFailedException(message), first)
        for op in list(self._around):
            match op:
                case tg.RangeOp() if op.axis_type.data in GROUPS:
                    self._open(op, groups[len(nest(self._around[op], GROUPS))])
                case tg.RangeOp() if op.axis_type.data in ITEMS:
                    self._open(op, items[len(nest(self._around[op], ITEMS))])
                case tg.EndOp() if _is_axis(op.ranges[0].owner):
                    self._close(op)
                case tg.StoreOp() | tg.AtomicAddOp():
                    self._guard(op, groups, items)
                case tg.BarrierOp():
                    self._check_barrier(op, items)
                case _:
                    pass

    def _axes(self, kinds: Set[tg.AxisType], name: str) -> list[_Axis]:
        """The axes that the loops of some types are, the outermost first."""
        levels = loops_by_depth(self._around, kinds)
        bounds = [
            max(ranges, key=lambda r: tg.known_index(r.bound) or 0).bound for ranges in levels
        ]
        put, shared = self._front.put, (tg.ParamOp,)
        clone = partial(self._front.clone, mapping=self._copies, shared=shared, everything=True)
        values = [clone(bound) for bound in bounds]
        extents = [tg.known_index(bound) for bound in bounds]
        is_long = any(extent is None or extent > SHORT_AXIS for extent in extents[:-1])
        if len(values) <= DIMENSIONS and not (is_long and kinds is GROUPS):
            names = [f"{name}{i}" for i in reversed(range(len(values)))]
            indices = [put(tg.SpecialOp(*each)) for each in zip(names, values, strict=True)]
        else:
            # One axis for all; the last loop varies fastest.
            sizes = [extent for extent in extents if extent is not None]
            if len(sizes) == len(values):
                if (count := math.prod(sizes)) > tg.DTYPES[tg.INDEX].high:
                    what = "workgroups" if kinds is GROUPS else "work items of a workgroup"
                    raise PassFailedException(f"{count} {what} are more than an index counts")
                whole = self._front.index_constant(count)
            else:
                whole = reduce(lambda a, b: put(tg.MulOp(a, b)), values)
            index, indices = put(tg.SpecialOp(f"{name}0", whole)), list[SSAValue]()
            for value in values[:0:-1]:
                indices.insert(0, put(tg.ModOp(index, value)))
                index = put(tg.IDivOp(index, value))
            indices.insert(0, index)
        for ranges, index in zip(levels, indices, strict=True):
            index.name_hint = index.name_hint or ranges[0].result.name_hint
        return [_Axis(*each) for each in zip(extents, indices, strict=True)]

    def _open(self, range: tg.RangeOp, axis: _Axis) -> None:
        """Replace the number of an iteration by the index along an axis."""
        range.result.replace_uses_with_if(
            axis.index, lambda use: not isinstance(use.operation, tg.EndOp)
        )
        if not axis.is_whole(range):
            builder = tg.OpBuilder.before(range)
            inside = builder.put(tg.CmpLtOp(axis.index, range.bound))
            self._ifs[range.result] = builder.insert(tg.IfOp(inside))

    def _close(self, end: tg.EndOp) -> None:
        """Erase an END, and the RANGE that it closes."""
        (range,) = end.ranges
        begin = self._ifs.get(range)
        body = end.body if begin is None else tg.OpBuilder.before(end).put(tg.EndIfOp(begin))
        end.result.replace_all_uses_with(body)
        self._block.erase_op(end)
        owner = range.owner
        assert isinstance(owner, tg.RangeOp)
        self._block.erase_op(owner)

    def _guard(
        self, op: tg.StoreOp | tg.AtomicAddOp, groups: Sequence[_Axis], items: Sequence[_Axis]
    ) -> None:
        """Have one work item execute a write of shared memory that is outside of some axes."""
        space, around = tg.place(op.buffer).addrspace, self._around[op]
        if space is tg.AddrSpace.REG:
            return
        others = list(items[len(nest(around, ITEMS)) :])
        if space is tg.AddrSpace.GLOBAL:
            others += groups[len(nest(around, GROUPS)) :]
        if not others:
            return
        builder = tg.OpBuilder.before(op)
        put, zero = builder.put, builder.index_constant(0)
        are_first = (put(tg.CmpEqOp(axis.index, zero)) for axis in others)
        begin = builder.insert(tg.IfOp(reduce(lambda a, b: put(tg.AndOp(a, b)), are_first)))
        end = tg.OpBuilder.after(op).put(tg.EndIfOp(begin))
        op.result.replace_all_uses_with(end)

    def _check_barrier(self, op: tg.BarrierOp, items: Sequence[_Axis]) -> None:
        for depth, range in enumerate(nest(self._around[op], ITEMS)):
            if not items[depth].is_whole(range):
                message = (
                    f"a barrier is in the loop of range {range.axis.data}, which has fewer "
                    "iterations than its workgroup has work items: not all of them reach it"
                )
                raise locate(PassFailedException(message), op)


def _is_axis(range: object) -> bool:
    return isinstance(range, tg.RangeOp) and range.axis_type.data in GROUPS | ITEMS


# -- LOCAL buffers that are not zero by themselves -------------------------------------------------

# Clearing LOCAL buffers: BUFFERs are zero at first, and the shared memory of a grid is not.


def clear_uncovered(block: Block, numbers: CellNumbers) -> None:
    """Store 0 to each LOCAL buffer of which some cell may be read before it is stored."""
    for buffer in [*uncovered(block, numbers)]:
        _clear(buffer)


def _clear(buffer: tg.BufferOp) -> None:
    """Store 0 to all cells, before anything else: the work items take turns.

    `range %i to ceil(n / items); if %item + %i * items < n; store %b[...], 0; endif; end`
    """
    block = buffer.parent
    assert block is not None
    items = [op for op in block.ops if isinstance(op, tg.SpecialOp) and op.symbol.data[0] == "l"]
    items.sort(key=lambda op: op.symbol.data)
    last = max([buffer, *items], key=lambda op: block.get_operation_index(op))
    b = tg.OpBuilder.after(last)
    type = tg.tensor(buffer.result)
    size = math.prod(type.get_shape())
    count, index = 1, b.index_constant(0)
    for item in items:
        index = b.put(tg.AddOp(index, b.put(tg.MulOp(item.result, b.index_constant(count)))))
        count *= tg.known_index(item.bound) or 1
    loop = b.range(tg.AxisType.LOOP, -(-size // count)).result
    cell = b.put(tg.AddOp(index, b.put(tg.MulOp(loop, b.index_constant(count)))))
    begin = b.insert(tg.IfOp(b.put(tg.CmpLtOp(cell, b.index_constant(size)))))
    view = buffer.result
    if len(type.get_shape()) != 1:
        view = b.put(tg.ReshapeOp(view, [size]))
    zero = b.put(tg.ConstOp(tg.number_attribute(0, type.element_type), type.element_type))
    b.insert(tg.StoreOp(b.put(tg.IndexOp(view, [cell])), zero))
    b.insert(tg.EndOp(b.put(tg.EndIfOp(begin)), [loop]))


# -- indices that several loops compute ------------------------------------------------------------

# Indices that several loops compute from the place of a work item are computed once, before them.
#
#     range %k; ... (%lidx0 mod 8) ...; end %k; range %j; ... (%lidx0 mod 8) ...; end %j
#     ->
#     %m = %lidx0 mod 8; range %k; ... %m ...; end %k; range %j; ... %m ...; end %j
#
# Until here these were loops over work items, each with a variable of its own: the copies of a
# pipeline before its loop and in it, for one. What a single loop computes stays there, as it would
# take a register in all others. Source: this is global value numbering with code motion, as in
# Click, "Global Code Motion, Global Value Numbering", PLDI 1995.


def share_indices(block: Block) -> None:
    """Compute equal indices of a work item once, before the first loop or IF."""
    begin = next((op for op in block.ops if isinstance(op, tg.RangeOp | tg.IfOp)), None)
    if begin is None:
        return
    # Of equal ops the first one stays.
    values: dict[Hashable, SSAValue] = {}
    indices: set[SSAValue] = set()
    shared: set[SSAValue] = set()
    inside: list[Operation] = []
    is_before = True
    for op in ops_of(block):
        is_before &= op is not begin
        if isinstance(op, tg.SpecialOp) and is_before:
            indices.add(op.result)
        key = _key(op, indices)
        if key is None:
            if isinstance(op, tg.ConstOp) and not is_before:
                inside.append(op)
            continue
        result = op.results[0]
        if (same := values.setdefault(key, result)) is not result:
            shared.add(same)
            result.replace_all_uses_with(same)
            block.erase_op(op)
            continue
        indices.add(result)
        if not is_before:
            inside.append(op)
    # It moves before the loops, with what it is computed from.
    moved: list[Operation] = []
    for op in reversed(inside):
        if op.results[0] in shared:
            shared.update(op.operands)
            moved.append(op)
    front = tg.OpBuilder.before(begin)
    for op in reversed(moved):
        op.detach()
        front.insert(op)


def _key(op: Operation, indices: set[SSAValue]) -> Hashable:
    """The key that equal ops share, if an op computes an index from those of the work item and
    constants; else None."""
    kinds = tg.AddOp | tg.MulOp | tg.IDivOp | tg.ModOp
    if not isinstance(op, kinds) or tg.tensor(op.results[0]).get_shape():
        return None
    operands = [o if o in indices else constant_attribute(o) for o in op.operands]
    if None in operands or indices.isdisjoint(op.operands):
        return None
    return op_key(op, operands)
