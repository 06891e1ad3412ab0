"""The pass that relaxes the maxima which softmaxes subtract from their exponents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Block, Operation, SSAValue

from tgdialect.diagnostics import begins
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.rangeify.function_pass import TargetFunctionPass
from tgdialect.ops import tg
from tgdialect.targets import Target
from tgdialect.targets.cpu import has_maximum


@dataclass(frozen=True)
class RelaxMaximaPass(TargetFunctionPass):
    """Let maxima be relaxed where softmaxes subtract them.

    That is done for a processor without an instruction for exact maxima. Elsewhere the pass changes
    nothing.
    """

    name = "tg-relax-maxima"

    def rewrite(self, block: Block, target: Target) -> None:
        if not has_cheap_maxima(target):
            for op in ops_of(block):
                if isinstance(op, tg.ReduceOp) and _is_shift(op) and begins("relax", op):
                    op.relaxed = UnitAttr()


def has_cheap_maxima(target: Target) -> bool:
    """Whether a target has an instruction for exact maxima."""
    return target.is_grid or has_maximum(target)


def _is_shift(op: tg.ReduceOp) -> bool:
    """Whether a REDUCE MAX of floats is only subtracted from its source, in exponents of which sums
    along the same axes divide all other uses of their exponentials.

    Then it may be relaxed. If an element is NaN, so is its exponential whatever is subtracted, so
    the sum is, and all that is divided by it. If none is, a relaxed maximum differs in the sign of
    zero at most, and as the shift of an exponent both zeros are the same.
    """
    if op.kind.data is not tg.ReduceKind.MAX or not tg.dtype_of(op.result).is_float or op.ranges:
        return False
    return all(_is_shifted(user, op) for user in _users(op.result))


def _is_shifted(user: Operation, op: tg.ReduceOp) -> bool:
    """Whether a use of a maximum is an exponent of such exponentials."""
    if not isinstance(user, tg.SubOp) or user.operands[0] is not op.source:
        return False
    exponentials = [use.operation for use in user.result.uses]
    return tg.tensor(user.result).get_num_dims() == tg.tensor(op.source).get_num_dims() and all(
        isinstance(each, tg.ExpOp | tg.Exp2Op) and _is_divided(each.result, tg.integers(op, "axes"))
        for each in exponentials
    )


def _is_divided(exponential: SSAValue, axes: tuple[int, ...]) -> bool:
    """Whether a value is used in sums along some axes and in products with their inverses only."""
    uses = {use.operation for use in exponential.uses}
    sums = {
        use
        for use in uses
        if isinstance(use, tg.ReduceOp) and use.kind.data is tg.ReduceKind.ADD and not use.ranges
        if tg.integers(use, "axes") == axes
    }
    inverses = {
        user.result
        for total in sums
        for user in _users(total.result)
        if isinstance(user, tg.RecipOp)
    }
    return all(
        isinstance(use, tg.MulOp)
        and any(tg.behind(each, tg.ExpandOp) in inverses for each in use.operands)
        for use in uses - sums
    )


def _users(value: SSAValue) -> Iterator[Operation]:
    """The users of a value, and of its EXPANDs."""
    for use in value.uses:
        if isinstance(op := use.operation, tg.ExpandOp):
            yield from _users(op.result)
        else:
            yield op
