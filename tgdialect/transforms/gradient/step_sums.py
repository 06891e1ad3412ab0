"""Sums over the steps of a loop, of values that each step makes by a product and a sum.

Such a value is the gradient of a weight: a product of what a layer was given and of its result's
gradient, summed over a batch. Its two factors are much smaller, so that they are kept for all
steps, and one product after the loop goes over steps and batch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Set

from xdsl.ir import SSAValue

from tgdialect.ops import tg
from tgdialect.ops.properties import dtype_of, integers, shape_of, tensor
from tgdialect.ops.walk import computed, operands_of
from tgdialect.transforms.gradient.builder import Builder


def factors_of(value: SSAValue, known: Set[SSAValue]) -> list[SSAValue] | None:
    """The values of a step that its part of a sum is computed from, by movements, one product and a
    sum. None if it is computed in another way, or if those that are not `known` for all steps have
    more elements than the sum."""
    factors: dict[SSAValue, None] = {}
    stack = [(value, False, False)]
    while stack:
        value_, is_summed, is_multiplied = stack.pop()
        match value_.owner:
            case tg.ReduceOp() as op if not is_summed and _adds(op):
                stack.append((op.source, True, is_multiplied))
            case tg.AddOp(operands=(a, b)) if not is_summed and a.type == b.type:
                stack += [(a, False, False), (b, False, False)]
            case tg.MulOp(operands=(a, b)) if is_summed and not is_multiplied:
                stack += [(a, True, True), (b, True, True)]
            case tg.CastOp() as op if dtype_of(op.source).is_float and dtype_of(op.result).is_float:
                stack.append((op.source, is_summed, is_multiplied))
            case tg.ReshapeOp() | tg.PermuteOp() | tg.ExpandOp() | tg.ShrinkOp() as op if (
                len(op.operands) == 1
            ):
                stack.append((op.source, is_summed, is_multiplied))
            case _ if is_summed:
                factors[value_] = None
            case _:
                return None
    new = sum(math.prod(tensor(f).get_shape()) for f in factors if f not in known)
    return list(factors) if new <= math.prod(tensor(value).get_shape()) else None


def _adds(op: tg.ReduceOp) -> bool:
    return op.kind.data is tg.ReduceKind.ADD and op.ordered is None and not op.ranges


def sum_over_steps(
    builder: Builder, value: SSAValue, of_steps: Mapping[SSAValue, SSAValue]
) -> SSAValue:
    """The sum of a value over the steps, given its factors with an axis of steps before the others:
    of one cell for what is the same in all steps."""

    def again(inner: SSAValue) -> SSAValue:
        op = inner.owner
        sources = [found[source] for source in operands_of(inner)]
        lead = shape_of(sources[0])[0]
        match op:
            case tg.ReduceOp():
                axes = [0, *(axis + 1 for axis in integers(op, "axes"))]
                new = tg.ReduceOp(op.kind.data, sources[0], axes)
            case tg.AddOp():
                new = tg.AddOp(*sources)
            case tg.MulOp():
                rank = max(len(tensor(source).get_shape()) for source in sources)
                new = tg.MulOp(*(_with_rank(builder, source, rank) for source in sources))
            case tg.CastOp():
                new = tg.CastOp(sources[0], tensor(inner).element_type)
            case tg.PermuteOp():
                new = tg.PermuteOp(sources[0], [0, *(axis + 1 for axis in integers(op, "order"))])
            case tg.ShrinkOp():
                offsets, shape = integers(op, "offsets"), tensor(inner).get_shape()
                new = tg.ShrinkOp(sources[0], [0, *offsets], [lead, *shape])
            case _:
                kind = tg.ReshapeOp if isinstance(op, tg.ReshapeOp) else tg.ExpandOp
                new = kind(sources[0], (lead, *tensor(inner).get_shape()))
        return builder.put(new)

    found = dict(of_steps)
    total = computed(value, found, operands_of, again)
    return builder.put(tg.ReshapeOp(total, tensor(value).get_shape()))


def _with_rank(builder: Builder, value: SSAValue, rank: int) -> SSAValue:
    """A value with axes of one cell after the first, for a rank in all."""
    first, *rest = tensor(value).get_shape()
    missing = rank - 1 - len(rest)
    return builder.put(tg.ReshapeOp(value, (first, *[1] * missing, *rest))) if missing else value
