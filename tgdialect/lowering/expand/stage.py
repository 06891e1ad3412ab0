"""The pass: kernels are rebuilt in an order in which reductions that share loops come together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from tgdialect.analysis.memory_order import MemoryOrder
from tgdialect.analysis.overwriting import check_overwriting
from tgdialect.analysis.ranges import closed_ranges, is_expanded, is_loop, needed_ops
from tgdialect.lowering.expand.expansion import Expansion
from tgdialect.lowering.expand.fragments import make_fragments
from tgdialect.lowering.expand.group_reductions import reduce_in_groups
from tgdialect.lowering.expand.reduction import expand_reductions
from tgdialect.lowering.expand.rules import Rules
from tgdialect.lowering.levels import KernelPass
from tgdialect.lowering.overwritten_memory import copy_overwritten
from tgdialect.lowering.recomputation import renumber
from tgdialect.ops import tg
from tgdialect.targets.attribute import target_of
from tgdialect.transforms.dead_ops import erase_dead_ops
from tgdialect.transforms.private_ranges import make_ranges_private
from tgdialect.transforms.unique_storage import make_storage_unique

Groups = dict[tg.ReduceOp, list[tg.ReduceOp]]
"""For each REDUCE, those that share its loops, itself included."""


class ExpandPass(KernelPass):
    """Expand UPCAST and UNROLL ranges into shape, and reductions into accumulators.

    A value gets an axis for each expanded range that it depends on. A REDUCE over a loop becomes a
    BUFFER in registers that the loop loads, adds to and stores. On a grid, GROUP_REDUCE ranges are
    work items, which exchange their results in LOCAL memory.
    """

    name = "tg-expand"
    level_before = "kernels"
    level_after = "tiles"

    def lower(self, module: ModuleOp) -> None:
        copy_overwritten(module)
        super().lower(module)

    def lower_kernel(self, kernel: tg.KernelOp | tg.ProgramOp) -> tg.KernelOp | tg.ProgramOp:
        if isinstance(kernel, tg.KernelOp) and not kernel.calls:
            target = target_of(kernel.parent_op())
            if target.is_grid:
                reduce_in_groups(kernel.body.block, target)
            expand_kernel(kernel, is_grid=target.is_grid)
        return kernel


def expand_kernel(kernel: tg.KernelOp, *, is_grid: bool = False) -> None:
    """Expand a kernel in place.

    Raises PassFailedException where a range cannot become shape, and where memory is read and
    written in a way that no order of the loops allows.
    """
    # One RANGE per loop, no loops of one iteration, and only the ops that the SINK needs.
    old = kernel.body.block
    make_storage_unique(old)
    make_ranges_private(old, is_loop)
    fragments = make_fragments(old)
    ops = needed_ops(old)
    if drop_single_iterations(ops) | gate_loads(ops):
        ops = needed_ops(old)
    # Memory accesses that no order of the loops allows.
    memory = MemoryOrder(ops)
    memory.check_races()
    if not kernel.sink.opts:
        # OptOps keep the order of accesses, but not the forms of locations that show it: they ask
        # before the first of them is applied.
        check_overwriting(ops, memory, is_grid=is_grid)
    # A kernel without reductions and expanded ranges stays as it is.
    if not any(map(_is_to_expand, ops)):
        erase_dead_ops(old, ops)
        return
    # A new block, to which ops are moved or rebuilt; reductions that share loops at once.
    done: set[Operation] = {op for each in fragments.values() for op in each.unused}
    expansion = Expansion(ops, done)
    groups = _groups(ops)
    rules = Rules(expansion, is_grid=is_grid)
    for op in _sources_first(ops, groups):
        if op in done:
            continue
        if isinstance(op, tg.ReduceOp):
            expand_reductions(expansion, groups[op], fragments)
            done.update(groups[op])
        elif isinstance(op, tg.TgOp):
            rules.expand(op)
    erase_dead_ops(old, ())
    kernel.body.detach_block(old)
    kernel.body.add_block(expansion.block)


def drop_single_iterations(ops: Sequence[Operation]) -> bool:
    """Replace RANGEs of one iteration that ENDs close by 0. Whether there were any.

    Else folding the RANGE could move ops out of the loop: a STORE that its END waits for would have
    to be both after the LOADs and before the loop. And an axis of one lane would have a STORE for
    every lane.
    """
    ends = [op for op in ops if isinstance(op, tg.EndOp)]
    closed = dict.fromkeys(range for end in ends for range in closed_ranges(end))
    found = [range for range in closed if _is_single(range)]
    for range in found:
        _drop(range)
    return bool(found)


def gate_loads(ops: Sequence[Operation]) -> bool:
    """Gate each LOAD of which only a WHERE takes the value, as padding does: `where(c, load, k)` is
    `load alt k gate c`, one mask instead of that and a bounds check. LOADs stay where they are, so
    the condition has to be there before. Whether there were any."""
    place: dict[Operation | Block, int] = {op: number for number, op in enumerate(ops)}
    gated = False
    for where in ops:
        if not isinstance(where, tg.WhereOp) or not isinstance(where.rhs.owner, tg.ConstOp):
            continue
        load, condition = where.lhs.owner, where.condition
        if (
            isinstance(load, tg.LoadOp)
            and load.gate is None
            and load.result.has_one_use()
            and place[condition.owner] < place[load]
        ):
            builder = tg.OpBuilder.before(load)
            alternative = builder.put(where.rhs.owner.clone())
            new = builder.put(tg.LoadOp(load.buffer, alternative, condition))
            place[new.owner] = place[load]
            where.result.replace_all_uses_with(new)
            builder.block.erase_op(where)
            builder.block.erase_op(load)
            gated = True
    return gated


def _is_single(range: tg.RangeOp) -> bool:
    if tg.known_index(range.bound) != 1 or range.axis_type.data is tg.AxisType.THREAD:
        return False
    named = (use.operation for use in range.result.uses if use.index)
    return not any(isinstance(op, tg.ReduceOp) for op in named)


def _drop(range: tg.RangeOp) -> None:
    builder = tg.OpBuilder.before(range)
    renumber(range, builder.index_constant(0))
    for op in dict.fromkeys(use.operation for use in range.result.uses):
        kept: list[SSAValue] = [operand for operand in op.operands if operand is not range.result]
        if len(kept) > 1:
            op.operands = kept
        else:
            op.results[0].replace_all_uses_with(kept[0])
            builder.block.erase_op(op)
    builder.block.erase_op(range)


def _is_to_expand(op: Operation) -> bool:
    return isinstance(op, tg.ReduceOp) or (isinstance(op, tg.RangeOp) and is_expanded(op))


def _groups(ops: Sequence[Operation]) -> Groups:
    by_loops: dict[frozenset[tg.RangeOp], list[tg.ReduceOp]] = defaultdict(list)
    groups: Groups = {}
    for op in ops:
        if isinstance(op, tg.ReduceOp):
            loops = frozenset(filter(is_loop, closed_ranges(op)))
            groups[op] = by_loops[loops] if loops else []
            groups[op].append(op)
    return groups


def _sources_first(ops: Sequence[Operation], groups: Groups) -> Iterator[Operation]:
    """The ops in an order in which the operands of all REDUCEs of a group come before them."""

    def sources(op: Operation) -> Sequence[Operation]:
        members = groups[op] if isinstance(op, tg.ReduceOp) else (op,)
        owners = [operand.owner for member in members for operand in member.operands]
        return [owner for owner in reversed(owners) if isinstance(owner, tg.TgOp)]

    return tg.postorder(ops, sources)
