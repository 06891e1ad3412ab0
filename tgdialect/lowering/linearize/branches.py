"""Long alternatives of WHEREs are computed under an IF, which skips them if no lane selects them.

    %w = where(%c, %short, %long)
    ->
    %r = %short;  if any(not %c) { %long;  %r = where(%c, %short, %long) }

The sine of a large angle takes 40 ops, most of them on 64-bit integers, and a program may never
have one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count

from xdsl.ir import Block, Operation, SSAValue

from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.kernel_memory import buffer_type
from tgdialect.ops import tg
from tgdialect.ops.elementwise import DECOMPOSED, PRIMITIVES
from tgdialect.ops.numbering import next_slot

LONG = 24
"""The fewest ops of an alternative that is worth a branch. A branch costs a few ops, and if it is
predicted wrongly as much as some 20. By counting, that of SIN for large angles has 50 ops or more,
that of FMOD for large quotients 40, and both of GATE 31; the near one of ERF has 8."""

LONG_ON_A_GRID = 100
"""The same on a grid, whose work items wait for each other at a branch: those near the zeros of
LOGADDEXP and LGAMMA have 300 or more."""

OTHER = 5
"""The fewest ops of the other alternative. One of fewer stands for special values, as NaN for
infinities, which are seldom all that is selected: LOG2 has 2. The other one of SIN has 13 or more,
that of FMOD with a constant divisor 5."""

_COMPUTE = frozenset({*PRIMITIVES, *DECOMPOSED, tg.BitcastOp})
_BORDERS = (tg.RangeOp, tg.EndOp, tg.IfOp, tg.EndIfOp, tg.BarrierOp)
_YES, _NO = 1, 2
"""The operands of a WHERE that are its alternatives."""


def branch_around_alternatives(block: Block, long: int) -> None:
    """Put the alternatives of the WHEREs of a LINEAR that have at least `long` ops into IFs."""
    slots = count(next_slot(ops_of(block)))
    for ops in _straight_lines(block):
        wheres: dict[SSAValue, list[Operation]] = defaultdict(list)
        for op in ops:
            if isinstance(op, tg.WhereOp):
                wheres[op.operands[0]].append(op)
        if wheres:
            positions = {op: position for position, op in enumerate(ops)}
            # The last ones first: an alternative may be the result of a WHERE before.
            moved: set[Operation] = set()
            for group in reversed(wheres.values()):
                if moved.isdisjoint(group):
                    moved.update(_branch(block, group, positions, slots, long))


def _straight_lines(block: Block) -> Iterator[Sequence[Operation]]:
    """The ops between loops and IFs, where these may have a long alternative."""
    line: list[Operation] = []
    for op in [*ops_of(block), None]:
        if op is None or isinstance(op, _BORDERS):
            if len(line) > LONG:
                yield line
            line = []
        else:
            line.append(op)


def _branch(
    block: Block,
    group: Sequence[Operation],
    positions: Mapping[Operation, int],
    slots: Iterator[int],
    long: int,
) -> Collection[Operation]:
    """Skip the longer alternatives of WHEREs that have one condition, if no lane selects them. Of
    two long ones the first is skipped: recipes select a tail so, as GATE does. Returns the ops that
    are under an IF now."""
    # Neither alternative is a scalar for all lanes.
    types = [{where.results[0].type, *(o.type for o in where.operands[1:])} for where in group]
    alike = [where for where, each in zip(group, types, strict=True) if len(each) == 1]
    if not alike or not _are_together(group, positions):
        return ()
    values = {which: [where.operands[which] for where in alike] for which in (_YES, _NO)}
    only = {which: _only_for(values[which], positions) for which in values}
    lengths = {which: _length(ops) for which, ops in only.items()}
    other, skipped = sorted(only, key=lengths.__getitem__)
    conditions = [where.operands[0] for where in alike]
    if lengths[skipped] < long or not _is_computed(values[other], conditions, positions):
        return ()
    if lengths[other] >= long:
        skipped, other = _YES, _NO
    last, top = max(alike, key=positions.__getitem__), block.first_op
    end = last.next_op
    assert top is not None
    assert end is not None
    first, before, after = map(tg.OpBuilder.before, (top, last, end))
    cells = [_registers(first, where, next(slots)) for where in alike]
    users = [list(where.results[0].uses) for where in alike]

    for where, cell in zip(alike, cells, strict=True):
        before.insert(tg.StoreOp(cell, where.operands[other]))
    begin = before.insert(tg.IfOp(_gate(before, group[0].operands[0], skipped)))
    moved = sorted({*only[skipped], *alike}, key=positions.__getitem__)
    for op in moved:
        op.detach()
        after.insert(op)
    for where, cell in zip(alike, cells, strict=True):
        after.insert(tg.StoreOp(cell, where.results[0]))
    after.insert(tg.EndIfOp(begin))
    for cell, uses in zip(cells, users, strict=True):
        selected = after.put(tg.LoadOp(cell))
        for use in uses:
            use.operation.operands[use.index] = selected
    return moved


def _length(ops: Iterable[Operation]) -> int:
    """The number of ops. A GATE that the target has counts as its recipe would."""
    return sum(LONG if isinstance(op, tg.GateOp) else 1 for op in ops)


def _registers(builder: tg.OpBuilder, where: Operation, slot: int) -> SSAValue:
    """A new place for what a WHERE selects."""
    type = tg.tensor(where.results[0])
    lanes = tg.static_shape(type)
    buffer = buffer_type(type.element_type, lanes or (1,), tg.AddrSpace.REG)
    index = builder.put(tg.VConstOp(range(*lanes))) if lanes else builder.index_constant(0)
    return builder.put(tg.IndexOp(builder.put(tg.BufferOp(slot, buffer)), [index]))


def _are_together(group: Sequence[Operation], positions: Mapping[Operation, int]) -> bool:
    """Whether no WHERE's result is needed before the last of them."""
    last = max(positions[where] for where in group)
    users = (user for where in group for user in tg.users_of(where))
    return all(positions.get(user, last + 1) > last for user in users)


def _is_computed(
    values: Sequence[SSAValue], conditions: Sequence[SSAValue], positions: Mapping[Operation, int]
) -> bool:
    """Whether an alternative takes some ops. If the condition needs it, these are the condition's
    as well: whether a result has digits is seen from it."""
    own = _only_for(values, positions)
    if _length(own) >= OTHER:
        return True
    found = _only_for([*values, *conditions], positions)
    is_needed = any(v.owner in found and v.owner not in own for v in values)
    return is_needed and _length(found) >= OTHER


def _only_for(
    values: Iterable[SSAValue], positions: Mapping[Operation, int]
) -> Collection[Operation]:
    """The ops whose results only these uses of values need."""
    found: dict[Operation, None] = {}
    uses: dict[Operation, int] = {}
    needed = list(values)
    while needed:
        op = needed.pop().owner
        if not isinstance(op, Operation) or type(op) not in _COMPUTE or op not in positions:
            continue
        left = uses[op] = uses.get(op, op.results[0].uses.get_length()) - 1
        if not left:
            found[op] = None
            needed += op.operands
    return found


def _gate(builder: tg.OpBuilder, condition: SSAValue, which: int) -> SSAValue:
    """Whether any lane selects an alternative."""
    is_needed = condition if which == _YES else builder.put(tg.NotOp(condition))
    if not tg.static_shape(tg.tensor(condition)):
        return is_needed
    any_lane = builder.put(tg.ReduceOp(tg.ReduceKind.MAX, is_needed, [0]))
    return builder.put(tg.ReshapeOp(any_lane, []))
