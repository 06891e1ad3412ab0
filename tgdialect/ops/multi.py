"""Multi-device ops."""

from __future__ import annotations

from xdsl.dialects.builtin import IntAttr
from xdsl.irdl import operand_def, prop_def, result_def, traits_def

from tgdialect.ops.base import TENSOR, PureInGraph, TgOp, Value
from tgdialect.ops.syntax import op_definition


@op_definition
class ReplicatedOp(TgOp):
    """REPLICATED (T,), axis: the shards are copies of one value; drops the sharding axis.

    T has one entry per device on that axis, as `T.expand(n, s).copy(D)` makes them.

    `%1 = tg.replicated %0 axis 0
      : tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4xf32, #tg.place<["A", "B"]>>`
    """

    name = "tg.replicated"

    source = operand_def(TENSOR)
    axis = prop_def(IntAttr)
    result = result_def(TENSOR)

    traits = traits_def(PureInGraph())

    assembly_format = (
        "$source `axis` custom<Int>($axis) attr-dict `:` "
        "custom<Signature>(functional-type(operands, results))"
    )

    def __init__(self, source: Value, axis: int):
        self.infer((source,), {"axis": IntAttr(axis)})
