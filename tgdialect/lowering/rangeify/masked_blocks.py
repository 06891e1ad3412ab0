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
from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.ir import SSAValue

from tgdialect.analysis.affine.bounds import exact_polynomial, interval, minimum
from tgdialect.analysis.conditions import conjuncts, order
from tgdialect.analysis.min_max import MinMax, keeps_integer
from tgdialect.lowering.rangeify.planning.online import unmasked
from tgdialect.ops import tg
from tgdialect.ops.properties import Atom


def skip_masked_blocks(
    store: tg.StoreOp, blocks: tg.RangeOp, steps: int, inside: Mapping[tg.RangeOp, int]
) -> None:
    """Let the loop over blocks end where no later block has a score that is not -inf, as far as the
    masks are inequalities of indices.

    `store` stores a block of scores, in loops over rows and over its `steps`. Loops `inside` of a
    block, which go over so many steps in each iteration, end where no later step has such a score.
    """
    intervals = MinMax()
    ends = (use.operation for use in blocks.result.uses if use.index)
    (end,) = (op for op in ends if isinstance(op, tg.EndOp))
    around = tg.dependent_ranges(end.result)
    for condition, holds in conjuncts(unmasked(store.value)):
        if (found := order(condition, holds)) is None:
            continue
        # A score is not masked only if this is not negative.
        low = _not_clamped(_exact(found.low, intervals), blocks, intervals)
        room = _exact(found.high, intervals) - low - found.margin
        known: tg.Polynomial = tg.Affine(constant=room.constant)
        rest: tg.Polynomial = tg.Affine()
        per_block = 0
        for product, factor in room.terms.items():
            loops = _loops_of(product)
            if product == (blocks.result,):
                per_block = factor
            elif blocks in loops:
                break
            elif loops <= around:
                known += tg.Affine({product: factor})
            else:
                rest += tg.Affine({product: factor})
        else:
            most = interval(rest, intervals).hi
            if per_block < 0 and math.isfinite(most):
                _end_at(blocks, known + int(most), -per_block, intervals)
                # The room of the first step of a block, at most.
                left = known + tg.Affine({(blocks.result,): per_block}) + int(most)
                for loop, each in inside.items():
                    _end_at(loop, left, -per_block // steps * each, intervals)


def _end_at(loop: tg.RangeOp, room: tg.Polynomial, each: int, intervals: MinMax) -> None:
    """Leave iterations out for which `each` times their number is more than `room`."""
    b = tg.OpBuilder.before(loop)
    total = b.index_constant(room.constant + each)
    for product, factor in room.terms.items():
        term = b.index_constant(factor)
        for atom in product:
            term = b.put(tg.MulOp(term, _value(atom)))
        total = b.put(tg.AddOp(total, term))
    count = total if each == 1 else b.put(tg.IDivOp(total, b.index_constant(each)))
    if interval(room, intervals).lo < -each:
        zero = b.index_constant(0)
        count = b.put(tg.WhereOp(b.put(tg.CmpLtOp(count, zero)), zero, count))
    is_less = b.put(tg.CmpLtOp(count, loop.bound))
    loop.operands[0] = b.put(tg.WhereOp(is_less, count, loop.bound))


def _not_clamped(low: tg.Polynomial, blocks: tg.RangeOp, intervals: MinMax) -> tg.Polynomial:
    """A polynomial with x for `min(x, c)`, if the first x of each block is not more than c. That
    decides whether a block has a score that is not masked."""
    result: tg.Polynomial = tg.Affine(constant=low.constant)
    for product, factor in low.terms.items():
        term: tg.Polynomial = tg.Affine({product: factor})
        pair = minimum(_value(product[0])) if len(product) == 1 and factor > 0 else None
        if pair is not None and isinstance(limit := pair[1].owner, tg.ConstOp):
            x = _exact(pair[0], intervals)
            of_block = tg.Affine({p: f for p, f in x.terms.items() if blocks in _loops_of(p)})
            first = interval(of_block, intervals).hi + interval(x - of_block, intervals).lo
            if first <= tg.number(limit.value):
                term = x * factor
        result += term
    return result


def _loops_of(product: Sequence[Atom]) -> set[tg.RangeOp]:
    """The loops that a product of atoms depends on; of a loop variable its own, and not those that
    its bound depends on."""
    loops = set[tg.RangeOp]()
    for value in map(_value, product):
        loops |= (
            {op} if isinstance(op := value.owner, tg.RangeOp) else {*tg.dependent_ranges(value)}
        )
    return loops


def _exact(value: SSAValue, intervals: MinMax) -> tg.Polynomial:
    """An integer as a polynomial; casts that keep all its values are left out."""
    while isinstance(op := value.owner, tg.CastOp) and keeps_integer(op, intervals):
        value = op.source
    return exact_polynomial(value, intervals)


def _value(atom: Atom) -> SSAValue:
    return cast(SSAValue, atom)
