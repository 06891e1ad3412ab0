"""Index-set splitting: where a loop falls into parts in which its conditions are decided.

A concatenation is a sum of padded values, or a choice by a comparison of an index. Either way an
element of it is computed under conditions such as `i < 300`. Before 300 they hold, and from there
on they do not: two loops, each with the condition decided, have no mask and load one operand.

Source: M. Griebl, P. Feautrier and C. Lengauer, "Index set splitting", 2000.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from tgdialect.analysis.affine.bounds import exact_polynomial
from tgdialect.analysis.conditions import Order, conjuncts, order
from tgdialect.analysis.limits import MANY
from tgdialect.analysis.min_max import MinMax, keeps_integer
from tgdialect.analysis.parts import CELLS_OF_PART, REPAID
from tgdialect.analysis.ranges import Ranges, needed_ops, open_ranges
from tgdialect.ops import tg

BORDER = 3
"""The widest border, in cells, that is no part of its own at either end of a loop, if it is a small
part of it: `lowering/linearize/peel.py` takes as many iterations out of a loop. Larger: kernels
keep conditions in more iterations; smaller: more kernels to compile. The border of a stencil or of
a convolution is seldom wider. As kernels, the borders of a stencil in three dimensions took 0.5 s
more to compile, for the same speed."""

_PLAIN = (
    *(tg.ConstOp, tg.ParamOp, tg.RangeOp, tg.ElementwiseOp, tg.MovementOp, tg.LoadOp, tg.ReduceOp),
    *(tg.StoreOp, tg.GroupOp, tg.EndOp, tg.SinkOp),
)
"""The ops of a kernel whose iterations are in no order: it has no memory of its own."""


class IndexSetSplit(NamedTuple):
    """A loop, and the indices at which its parts begin, 0 among them."""

    loop: tg.RangeOp
    starts: Sequence[int]


def index_set_split(block: Block) -> IndexSetSplit | None:
    """The loop of a kernel whose parts save the most choices; None if that pays for no loop."""
    ops = needed_ops(block)
    if not all(isinstance(op, _PLAIN) for op in ops):
        return None
    open_at = open_ranges(ops)
    intervals = MinMax()
    saved: dict[tg.RangeOp, float] = defaultdict(float)
    cuts: dict[tg.RangeOp, set[int]] = defaultdict(set)
    for op in ops:
        condition = op.condition if isinstance(op, tg.WhereOp) else getattr(op, "gate", None)
        if condition is None:
            continue
        found = [cut for each in conjuncts([(condition, True)]) if (cut := _cut(*each, intervals))]
        for loop, start in found:
            saved[loop] += _trips(open_at[op])
            cuts[loop].add(start)
    for loop in sorted(saved, key=saved.__getitem__, reverse=True):
        # Each further kernel has to save choices: elements times conditions.
        starts = sorted({0} | cuts[loop])
        enough = CELLS_OF_PART * (len(starts) - 1)
        if 1 < len(starts) <= MANY and saved[loop] >= enough and _is_free(loop, ops, open_at):
            return IndexSetSplit(loop, starts)
    return None


def _trips(ranges: Ranges) -> float:
    """How often an op is executed in loops."""
    return math.prod(tg.known_index(axis.bound) or 1 for axis in ranges)


def _cut(condition: SSAValue, holds: bool, intervals: MinMax) -> tuple[tg.RangeOp, int] | None:
    """The loop that alone decides a condition, and where its outcome changes."""
    if (found := order(condition, holds)) is None:
        return None
    room = _room(found, intervals)
    if len(room.terms) != 1:
        return None
    ((product, factor),) = room.terms.items()
    loop = product[0].owner if len(product) == 1 and isinstance(product[0], SSAValue) else None
    if not isinstance(loop, tg.RangeOp) or loop.axis_type.data is not tg.AxisType.LOOP:
        return None
    # The condition is `factor * i + constant >= 0`.
    start = -(room.constant // factor) if factor > 0 else room.constant // -factor + 1
    extent = tg.known_index(loop.bound)
    if extent is None or not 0 < start < extent:
        return None
    # Of 8 channels, 3 of one operand and 5 of another are parts.
    is_border = min(start, extent - start) <= min(BORDER, extent // REPAID)
    return None if is_border else (loop, start)


def _room(found: Order, intervals: MinMax) -> tg.Polynomial:
    """A polynomial that is at least 0 where `low + margin <= high`. Casts that keep all integers
    are left out."""
    room: tg.Polynomial = tg.Affine(constant=-found.margin)
    stack = [(found.high, 1), (found.low, -1)]
    while stack:
        value, factor = stack.pop()
        op = value.owner
        if isinstance(op, tg.CastOp) and keeps_integer(op, intervals):
            stack.append((op.source, factor))
            continue
        for product, coefficient in (form := exact_polynomial(value, intervals)).terms.items():
            atom = product[0]
            if len(product) == 1 and isinstance(atom, SSAValue) and atom is not value:
                stack.append((atom, factor * coefficient))
            else:
                room += tg.Affine({product: factor * coefficient})
        room += form.constant * factor
    return room


def _is_free(loop: tg.RangeOp, ops: Sequence[Operation], open_at: dict[Operation, Ranges]) -> bool:
    """Whether parts of a loop repeat no reduction: each is computed inside of the loop."""
    reductions = (op for op in ops if isinstance(op, tg.ReduceOp))
    return all(loop in open_at[op] for op in reductions)
