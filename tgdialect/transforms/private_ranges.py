"""Give every loop of a kernel its own RANGE.

In a graph several REDUCEs, and an END, may go over one RANGE. A RANGE becomes one loop. The REDUCEs
that cannot be computed in the loop of the others get a copy of the RANGE, and of the ops in it that
they need.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import count

from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.ranges import Ranges, closed_ranges, needed_ops, open_ranges
from tgdialect.diagnostics import locate
from tgdialect.ops import tg
from tgdialect.ops.numbering import next_axis


def make_ranges_private(block: Block, is_loop: Callable[[tg.RangeOp], bool]) -> None:
    """Copy RANGEs until each is closed by one END, or by REDUCEs that can share a loop.

    REDUCEs share a loop when they go over the same ranges, inside the same loops, and do not depend
    on one another. Ranges that are not loops (UPCAST, UNROLL) may be shared by all.
    """
    while (group := _group_without_its_own_ranges(block, is_loop)) is not None:
        _copy_ranges(block, *group)


def _group_without_its_own_ranges(
    block: Block, is_loop: Callable[[tg.RangeOp], bool]
) -> tuple[list[tg.ReduceOp], Ranges] | None:
    """A group of REDUCEs that share a loop, and those of its ranges that another loop has already;
    None if there is no such group."""
    ops = needed_ops(block)
    if not any(type(op) is tg.ReduceOp for op in ops):
        return None
    open_in = open_ranges(ops)
    owner: dict[tg.RangeOp, object] = {}
    for op in ops:
        if isinstance(op, tg.EndOp):
            owner.update((r, op) for r in closed_ranges(op))
    stage: dict[Operation, int] = {}
    groups: dict[object, list[tg.ReduceOp]] = defaultdict(list)
    for op in ops:
        sources = (operand.owner for operand in op.operands)
        stage[op] = max((stage[o] for o in sources if isinstance(o, tg.TgOp)), default=0)
        if isinstance(op, tg.ReduceOp) and (loops := frozenset(filter(is_loop, closed_ranges(op)))):
            around = frozenset(filter(is_loop, open_in[op]))
            # Of two REDUCEs in one stage neither depends on the other.
            groups[loops, around, stage[op]].append(op)
            stage[op] += 1
    for key, group in groups.items():
        loops = [r for r in closed_ranges(group[0]) if is_loop(r)]
        if taken := [r for r in loops if owner.setdefault(r, key) != key]:
            return group, frozenset(taken)
    return None


def _copy_ranges(block: Block, group: Sequence[tg.ReduceOp], taken: Ranges) -> None:
    """Copy some ranges, and the ops in their loops that a group of REDUCEs needs."""
    ops = needed_ops(block)
    open_in = open_ranges(ops)
    sources: set[Operation] = set(group)
    for op in reversed(ops):
        if op in sources:
            inside = (o.owner for o in op.operands if isinstance(o.owner, Operation))
            sources.update(o for o in inside if open_in[o] & taken)
    axes = count(next_axis(block.ops))
    values: dict[SSAValue, SSAValue] = {}
    for op in ops:
        if op not in sources:
            continue
        if isinstance(op, tg.StoreOp | tg.AtomicAddOp):
            numbers = ", ".join(str(r.axis.data) for r in taken)
            message = f"range {numbers} would be the range of two loops, and this is in both"
            raise locate(PassFailedException(message), op)
        new = tg.OpBuilder.after(op).insert(op.clone(values))
        if isinstance(new, tg.RangeOp):
            new.axis = tg.NumberAttr(next(axes))
    for op in group:
        op.result.replace_all_uses_with(values[op.result])
        block.erase_op(op)
