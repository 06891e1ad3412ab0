"""Masks of vectors are compared in 32 bits.

    %v = add(%i, [0, 1, ..., 7]);  %mask = cmplt(%v, %n)
    ->
    %mask = cmplt(cast([0, 1, ..., 7], i32), cast(%n - %i, i32))

Indices have 64 bits, so a mask of a vector of f32 would take twice the registers, and be packed
afterwards. What all lanes have in common is subtracted as a scalar. So `%i + [1, ..., 8] < 34` and
`%i + [0, ..., 7] < 33` are one op: the gate of a LOAD, and the condition on what it loads.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, SSAValue
from xdsl.rewriter import Rewriter

from tgdialect.analysis.affine.bounds import interval
from tgdialect.analysis.min_max import MinMax
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg
from tgdialect.ops.affine import Affine
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.dtypes import DTYPES, INDEX, TYPES
from tgdialect.ops.elementwise import CompareOp
from tgdialect.ops.folding import constant_attribute
from tgdialect.ops.properties import Polynomial, integers, number, tensor

_NARROW = TYPES["i32"]
"""The element type of lane comparisons. It has f32's width, the width of most masked operands."""


def narrow_lane_masks(block: Block) -> bool:
    """Compare lanes of indices in 32 bits where they provably fit, and equal lanes once. Whether
    there are any, which leaves ops that are unused, or constant."""
    intervals = MinMax()
    known: dict[object, SSAValue] = {}
    for op in ops_of(block):
        if not isinstance(op, CompareOp) or tensor(op.lhs).element_type != INDEX:
            continue
        if not (shape := tensor(op.result).get_shape()):
            continue
        left, right = (_lanes(side, shape[0], intervals) for side in (op.lhs, op.rhs))
        if left is None or right is None:
            continue
        # The comparison is `steps < limit` in each lane, if it is `left < right`.
        steps = [a - b for a, b in zip(left[1], right[1], strict=True)]
        limit = right[0] - left[0] - steps[0]
        steps = tuple(step - steps[0] for step in steps)
        narrow = DTYPES[_NARROW]
        in_range = interval(limit, intervals).within(narrow.low, narrow.high)
        if not in_range or not (narrow.low <= min(steps) <= max(steps) <= narrow.high):
            continue
        key = op.name, steps, frozenset(limit.terms.items()), limit.constant
        if (mask := known.get(key)) is None:
            builder = OpBuilder.before(op)
            if (numbers := known.get(steps)) is None:
                numbers = builder.put(tg.CastOp(builder.put(tg.VConstOp(steps)), _NARROW))
                known[steps] = numbers
            bound = builder.put(tg.CastOp(_emit(builder, limit), _NARROW))
            mask = known[key] = builder.put(type(op)(numbers, bound))
        op.result.replace_all_uses_with(mask)
        Rewriter.erase_op(op)
    return bool(known)


def _lanes(
    value: SSAValue, count: int, intervals: MinMax
) -> tuple[Polynomial, Sequence[int]] | None:
    """A vector of indices as a sum of scalars and a constant for each lane, over the integers; None
    for others, and where the sum may wrap."""
    common: Polynomial = Affine()
    numbers = [0] * count
    stack = [value]
    while stack:
        value = stack.pop()
        op = value.owner
        if isinstance(op, tg.VConstOp):
            numbers = [a + b for a, b in zip(numbers, integers(op, "values"), strict=True)]
        elif (attribute := constant_attribute(value)) is not None:
            common += int(number(attribute))
        elif isinstance(op, tg.AddOp):
            stack += op.operands
        elif tensor(value).get_shape():
            return None
        else:
            common += Affine({(value,): 1})
    index, whole = DTYPES[INDEX], interval(common, intervals)
    fits = whole.lo + min(numbers) >= index.low and whole.hi + max(numbers) <= index.high
    return (common, numbers) if fits else None


def _emit(builder: OpBuilder, form: Polynomial) -> SSAValue:
    """A sum of scalars, each with factor 1 or -1 or more, and a constant."""
    result = builder.index_constant(form.constant)
    for (atom,), factor in form.terms.items():
        assert isinstance(atom, SSAValue)
        kind = tg.AddOp if factor > 0 else tg.SubOp
        for _ in range(abs(factor)):
            result = builder.put(kind(result, atom))
    return result
