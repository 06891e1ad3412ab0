"""Indices that several loops compute from the place of a work item are computed once, before them.

    range %k; ... (%lidx0 mod 8) ...; end %k; range %j; ... (%lidx0 mod 8) ...; end %j
    ->
    %m = %lidx0 mod 8; range %k; ... %m ...; end %k; range %j; ... %m ...; end %j

Until here these were loops over work items, each with a variable of its own: the copies of a
pipeline before its loop and in it, for one. What a single loop computes stays there, as it would
take a register in all others. Source: this is global value numbering with code motion, as in Click,
"Global Code Motion, Global Value Numbering", PLDI 1995.
"""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.ir import Block, Operation, SSAValue

from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.folding import constant_attribute
from tgdialect.ops.numbering import op_key
from tgdialect.ops.properties import tensor


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
    front = OpBuilder.before(begin)
    for op in reversed(moved):
        op.detach()
        front.insert(op)


def _key(op: Operation, indices: set[SSAValue]) -> Hashable:
    """The key that equal ops share, if an op computes an index from those of the work item and
    constants; else None."""
    if (
        not isinstance(op, tg.AddOp | tg.MulOp | tg.IDivOp | tg.ModOp)
        or tensor(op.results[0]).get_shape()
    ):
        return None
    operands = [o if o in indices else constant_attribute(o) for o in op.operands]
    if None in operands or indices.isdisjoint(op.operands):
        return None
    return op_key(op, operands)
