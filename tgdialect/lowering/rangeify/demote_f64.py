"""The pass that computes f64 values in f32, for targets without f64.

Front ends compute functions of f32 in f64 and round once. On a target without f64 each op of them
rounds to f32.
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tgdialect.diagnostics import begins
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.rangeify.function_pass import TargetFunctionPass
from tgdialect.ops import tg
from tgdialect.targets import Target


@dataclass(frozen=True)
class DemoteF64Pass(TargetFunctionPass):
    """Compute f64 in f32, for a target without f64.

    That is done for values that are f64 only between CASTs from and to narrower floats. Elsewhere
    the pass changes nothing.
    """

    name = "tg-demote-f64"

    def rewrite(self, block: Block, target: Target) -> None:
        if not target.has_f64:
            demote_f64(block)


def demote_f64(block: Block) -> None:
    """Compute in f32 what a graph computes in f64 between CASTs from and to narrower floats.

    Bools and integers of at most 16 bits count as narrower floats, and constants are rounded. A
    value stays f64 if it depends on f64 memory, reductions, wider integers or bits, or one of these
    on it: its digits may be seen. So does FMOD, of whose result f32 may have no digit.

        %0 = tg.cast %x to f64 : tensor<4xf32> -> tensor<4xf64>
        %1 = tg.cos %0 : tensor<4xf64>
        %2 = tg.cast %1 to f32 : tensor<4xf64> -> tensor<4xf32>
        ->
        %1 = tg.cos %x : tensor<4xf32>
    """
    ops = ops_of(block)
    demoted = _values_between_casts(ops)
    users = [op for op in ops if any(v in demoted for v in (*op.operands, *op.results))]
    if not users or not begins("demote", users[0]):
        return
    new: dict[SSAValue, SSAValue] = {}
    for op in users:
        assert isinstance(op, tg.ElementwiseOp | tg.MovementOp)
        operands = [_demoted(operand, new) for operand in op.operands]
        result, builder = op.result, tg.OpBuilder.before(op)
        if isinstance(op, tg.CastOp):
            dtype = f32 if result in demoted else op.dtype
            is_same = tg.dtype_of(operands[0]) == tg.DTYPES[dtype]
            # A CAST of memory reads it, also to the dtype that it has.
            is_needed = tg.is_memory(operands[0]) or not is_same
            value = builder.put(tg.CastOp(operands[0], dtype)) if is_needed else operands[0]
        else:
            value = builder.put(op.rebuild(operands))
        new[result] = value
        if result not in demoted:
            result.replace_all_uses_with(value)
    for op in reversed(users):
        Rewriter.erase_op(op)


def _demoted(value: SSAValue, new: dict[SSAValue, SSAValue]) -> SSAValue:
    """The value that an op on demoted values takes for an operand."""
    constant = value.owner
    if value not in new and isinstance(constant, tg.ConstOp) and _is_f64(value):
        new[value] = tg.OpBuilder.before(constant).put(tg.ConstOp(_rounded(constant.value)))
    return new.get(value, value)


def _rounded(value: Attribute) -> Attribute:
    """A constant in f32. A finite one stays finite: what is compared with it may be infinite."""
    if isinstance(value, tg.InvalidAttr):
        return tg.InvalidAttr(f32)
    constant = float(tg.number(value))
    if math.isfinite(constant):
        constant = max(-_MOST, min(constant, _MOST))
    return tg.number_attribute(constant, f32)


def _values_between_casts(ops: Sequence[Operation]) -> Set[SSAValue]:
    """The f64 values that are computed from constants and narrower floats, and used by one another,
    comparisons, and CASTs to narrower floats: the greatest such set."""
    found: set[SSAValue] = {op.results[0] for op in ops if _may_be_demoted(op)}
    todo = list(found)
    while todo:
        value = todo.pop()
        op = value.owner
        if value not in found or isinstance(op, Block):
            continue
        users = [use.operation for use in value.uses]
        if _takes_demoted(op, found) and all(_uses_demoted(user, found) for user in users):
            continue
        found.remove(value)
        for other in (op, *users):
            todo += (*other.operands, *other.results)
    return found


def _may_be_demoted(op: Operation) -> bool:
    if isinstance(op, tg.CastOp):
        source = tg.dtype_of(op.source)
        return _is_f64(op.result) and (source.is_float or source.bits <= _EXACT_BITS)
    if isinstance(op, tg.FmodOp | tg.BitcastOp) or (
        isinstance(op, tg.PadOp) and op.fill is not None
    ):
        return False
    return (
        isinstance(op, tg.ElementwiseOp | tg.MovementOp)
        and _is_f64(op.result)
        and not tg.is_memory(op.result)
    )


def _takes_demoted(op: Operation, found: Set[SSAValue]) -> bool:
    """Whether all f64 operands of an op are constants or demoted."""
    return all(
        operand in found or isinstance(operand.owner, tg.ConstOp) or not _is_f64(operand)
        for operand in op.operands
    )


def _uses_demoted(op: Operation, found: Set[SSAValue]) -> bool:
    """Whether an op may use a demoted value."""
    if isinstance(op, tg.CompareOp):
        return _takes_demoted(op, found)
    if isinstance(op, tg.CastOp) and not _is_f64(op.result):
        return tg.dtype_of(op.result).is_float
    return any(result in found for result in op.results)


def _is_f64(value: SSAValue) -> bool:
    return tg.is_tensor(value.type) and tg.dtype_of(value).name == "f64"


_MOST = tg.DTYPES[f32].max_finite
_EXACT_BITS = 16
"""The bits of the widest integer dtype whose numbers f32 represents."""
