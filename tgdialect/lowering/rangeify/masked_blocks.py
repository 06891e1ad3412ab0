"""Blocks of scores that are masked throughout are not computed: fewer iterations of their loop.

A block of -inf changes neither the maxima nor the sums (`online.py`), so a loop may end before the
first of the blocks from which on all are -inf. With a causal mask that halves the work.

    for block in 0 .. n: s = where(64 * block + step <= 64 * rows + row, ..., -inf)
    ->
    for block in 0 .. min(n, rows + 1): ...

Products with exponentials of masked scores are left out, too: an infinity or NaN there would have
made the result NaN, as 0 times infinity is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from xdsl.ir import SSAValue

from tgdialect.analysis.affine.bounds import exact_polynomial, interval
from tgdialect.analysis.conditions import Condition, conjuncts, order
from tgdialect.analysis.min_max import MinMax
from tgdialect.ops.affine import Affine
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.elementwise import AddOp, CastOp, CmpLtOp, IDivOp, MulOp, WhereOp
from tgdialect.ops.memory import StoreOp
from tgdialect.ops.ordering import EndOp, RangeOp, dependent_ranges
from tgdialect.ops.properties import Atom, Polynomial, dtype_of, number
from tgdialect.ops.source import ConstOp


def skip_masked_blocks(store: StoreOp, blocks: RangeOp) -> None:
    """Let the loop over blocks end where no later block has a score that is not -inf, as far as the
    masks are inequalities of indices. `store` stores a block of scores."""
    intervals = MinMax()
    (end,) = (use.operation for use in blocks.result.uses if _closes(use.operation, blocks))
    around = dependent_ranges(end.results[0])
    for condition, holds in conjuncts(_unmasked(store.value)):
        if (found := order(condition, holds)) is None:
            continue
        # A score is not masked only if this is not negative.
        room = _exact(found.high, intervals) - _exact(found.low, intervals) - found.margin
        known: Polynomial = Affine(constant=room.constant)
        rest: Polynomial = Affine()
        per_block = 0
        for product, factor in room.terms.items():
            loops = {r for atom in product for r in dependent_ranges(_value(atom))}
            if product == (blocks.result,):
                per_block = factor
            elif blocks in loops:
                break
            elif loops <= around:
                known += Affine({product: factor})
            else:
                rest += Affine({product: factor})
        else:
            most = interval(rest, intervals).hi
            if per_block < 0 and math.isfinite(most):
                _end_at(blocks, known + int(most), -per_block, intervals)


def _end_at(blocks: RangeOp, room: Polynomial, each: int, intervals: MinMax) -> None:
    """Leave blocks out for which `each * block` is more than `room`."""
    b = OpBuilder.before(blocks)
    total = b.index_constant(room.constant + each)
    for product, factor in room.terms.items():
        term = b.index_constant(factor)
        for atom in product:
            term = b.put(MulOp(term, _value(atom)))
        total = b.put(AddOp(total, term))
    count = b.put(IDivOp(total, b.index_constant(each)))
    if interval(room, intervals).lo < -each:
        zero = b.index_constant(0)
        count = b.put(WhereOp(b.put(CmpLtOp(count, zero)), zero, count))
    is_less = b.put(CmpLtOp(count, blocks.bound))
    blocks.operands[0] = b.put(WhereOp(is_less, count, blocks.bound))


def _unmasked(value: SSAValue) -> Iterator[Condition]:
    """What holds where a score is not -inf."""
    while isinstance(op := value.owner, WhereOp):
        if _is_masked(op.rhs):
            yield op.condition, True
            value = op.lhs
        elif _is_masked(op.lhs):
            yield op.condition, False
            value = op.rhs
        else:
            return


def _is_masked(value: SSAValue) -> bool:
    op = value.owner
    return isinstance(op, ConstOp) and number(op.value) == -math.inf


def _exact(value: SSAValue, intervals: MinMax) -> Polynomial:
    """An integer as a polynomial; casts that keep all its values are left out."""
    while isinstance(op := value.owner, CastOp) and dtype_of(op.source).is_integer:
        dtype = dtype_of(value)
        if not intervals[op.source].within(dtype.low, dtype.high):
            break
        value = op.source
    return exact_polynomial(value, intervals)


def _value(atom: Atom) -> SSAValue:
    assert isinstance(atom, SSAValue)
    return atom


def _closes(op: object, blocks: RangeOp) -> bool:
    return isinstance(op, EndOp) and blocks.result in op.ranges
