"""`tg-explicit-broadcast`: write every broadcast as RESHAPE and EXPAND."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import begins, locate
from tgdialect.ops import tg
from tgdialect.ops.properties import NAME_THE_EXTENT

Known = dict[tuple[Block | None, SSAValue, tg.Shape], SSAValue]
"""The values broadcast so far, by block and shape."""


@dataclass(frozen=True)
class ExplicitBroadcastPass(ModulePass):
    """Give all operands of an elementwise op the shape of its result.

    A RESHAPE adds leading axes of 1, an EXPAND repeats them. One walk; an operand that several ops
    of a loop broadcast to one shape is expanded once.

        %1 = tg.add %x, %c : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
        ->
        %0 = tg.reshape %c [1] : tensor<f32> -> tensor<1xf32>
        %1 = tg.expand %0 [4] : tensor<1xf32> -> tensor<4xf32>
        %2 = tg.add %x, %1 : tensor<4xf32>
    """

    name = "tg-explicit-broadcast"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        known: Known = {}
        for inner in list(op.walk()):
            if isinstance(inner, tg.ElementwiseOp):
                broadcast_operands(inner, known)
            elif isinstance(inner, tg.EndOp | tg.EndIfOp):
                known.clear()  # What a loop has computed is not to be used after it.


def broadcast_operands(op: tg.ElementwiseOp, known: Known) -> None:
    """Expand the operands of one op, in place. Raises PassFailedException for an unknown extent."""
    for index, operand in enumerate(op.operands):
        static = tg.tensor(op.result)
        if static.has_static_shape() and static.shape == tg.tensor(operand).shape:
            continue
        target, source = tg.shape_of(op.result), tg.shape_of(operand)
        if tg.same_shape(source, target):
            continue
        key = (op.parent, operand, target)
        if not begins("broadcast", op):
            return
        if key not in known:
            known[key] = _broadcast(op, operand, source, target)
        op.operands[index] = known[key]


def _broadcast(op: Operation, operand: SSAValue, source: tg.Shape, target: tg.Shape) -> SSAValue:
    """`operand` of shape `source` as a value of shape `target`, made before `op`."""
    padded = (1,) * (len(target) - len(source)) + _known(source, op)
    builder = tg.OpBuilder.before(op)
    value = operand if len(padded) == len(source) else builder.put(tg.ReshapeOp(operand, padded))
    return (
        value
        if tg.same_shape(padded, target)
        else builder.put(tg.ExpandOp(value, _known(target, op)))
    )


def _known(shape: tg.Shape, op: Operation) -> tuple[int | SSAValue, ...]:
    """A shape whose dynamic extents are all index values."""
    known = tuple(dim for dim in shape if not isinstance(dim, tg.UnknownDim))
    if len(known) < len(shape):
        message = (
            f"{op.name} broadcasts with {tg.show_shape(shape)}, but no index value gives the "
            f"extent: {NAME_THE_EXTENT}"
        )
        raise locate(PassFailedException(message), op)
    return known
