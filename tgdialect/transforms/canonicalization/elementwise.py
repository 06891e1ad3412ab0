"""Canonicalisation of elementwise ops: the identities of `simplify/identities.py`, and casts."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint

from tgdialect.analysis.validity import Validity
from tgdialect.ops import tg
from tgdialect.ops.elementwise import COMMUTATIVE, OPS
from tgdialect.transforms.canonicalization.rules import Replacement, same_type
from tgdialect.transforms.simplify.identities import IDENTITIES
from tgdialect.transforms.simplify.matching import (
    REPEATING,
    RuleIndex,
    build,
    constant_of,
    match,
    operand_dtype,
    repeated,
)

RULES = RuleIndex(IDENTITIES)


def _has_computed_movement(value: SSAValue) -> bool:
    """Whether a value is moved by computed extents or offsets, which may depend on a RANGE."""
    owner = value.owner
    while isinstance(owner, Operation) and owner.name in REPEATING:
        if len(owner.operands) > 1:
            return True
        owner = owner.operands[0].owner
    return False


class NewOps(tg.OpBuilder):
    """Builds a rule's right side."""

    def apply(self, op: str, operands: Sequence[SSAValue]) -> SSAValue:
        return self.put(OPS[op](*operands))

    def constant(self, value: Attribute) -> SSAValue:
        return self.put(tg.ConstOp(value))


class ApplyIdentities(RewritePattern):
    """Apply the rules that hold without knowing intervals.

    The operand of an END or REDUCE must depend on the RANGEs that are closed, so a rule does not
    apply where a RANGE would be lost. `tg-simplify` applies it and repairs the loop.
    """

    name = "identity"
    """The name of the rule that was applied last."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        validity = Validity()
        for rule, pattern in RULES.candidates(op):
            binding = match(pattern, op)
            if binding is None or not all(validity[binding[n]] for n in rule.needs_valid):
                continue
            new, result = NewOps.at_end(Block(), op.location), op.results[0]
            inner = operand_dtype(op, binding)
            value = build(rule.result, tg.tensor(result).element_type, inner, binding, new)
            is_known = value.type == result.type or constant_of(value) is not None
            value = repeated(value, result.type, new.put) if is_known else None
            # A RANGE is lost only with a variable, or with the movement of a constant.
            may_lose = rule.drops or any(map(_has_computed_movement, op.operands))
            if value is not None and (
                not may_lose or tg.dependent_ranges(result) <= tg.dependent_ranges(value)
            ):
                self.name = rule.name
                rewriter.inline_block(new.block, InsertPoint.before(op))
                rewriter.replace(op, (), (value,))
                return
            new.block.erase()


class ConstantOnTheRight(RewritePattern):
    """A commutative op has its constant operand on the right."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        left, right = op.operands
        if constant_of(left) is not None and constant_of(right) is None:
            op.operands = (right, left)
            rewriter.notify_op_modified(op)


def _cast_of_cast(op: tg.CastOp) -> Operation | None:
    """cast(cast(x, B), C) is cast(x, C) if B has every x, or if all three are integers and C is not
    wider than B."""
    inner = op.source.owner
    if not isinstance(inner, tg.CastOp):
        return None
    source, middle, target = (tg.dtype_of(v) for v in (inner.source, inner.result, op.result))
    wraps = source.is_integer and middle.is_integer and target.is_integer
    is_exact = holds(middle, source) or (wraps and target.bits <= middle.bits)
    return tg.CastOp(inner.source, op.dtype) if is_exact else None


def holds(wide: tg.DType, narrow: tg.DType) -> bool:
    """Whether every value of `narrow` is one of `wide`, NaN and both zeros included."""
    if narrow.is_float:
        return (
            wide.is_float
            and wide.precision >= narrow.precision
            and wide.min_exponent - wide.precision <= narrow.min_exponent - narrow.precision
            and wide.low <= narrow.low
            and wide.high >= narrow.high
        )
    if wide.is_float:
        # Exact up to 2^precision; the ends say whether that is enough.
        bits = int(narrow.high - narrow.low).bit_length() - (narrow.low < 0)
        return bits <= wide.precision and tg.round_to(wide, narrow.high) == narrow.high
    return wide.low <= narrow.low and narrow.high <= wide.high


PATTERNS: dict[str, tuple[RewritePattern, ...]] = {
    name: (
        *((ConstantOnTheRight(),) if name in COMMUTATIVE else ()),
        *((Replacement(same_type), Replacement(_cast_of_cast)) if name == tg.CastOp.name else ()),
        *((ApplyIdentities(),) if name in RULES.roots else ()),
    )
    for name in OPS
}
