"""Multi-device ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.irdl import operand_def, prop_def
from xdsl.utils.exceptions import VerifyException

from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.ops.attributes import NumberAttr, PlaceAttr
from tgdialect.ops.base import SIGNATURE, TENSOR, TgOp, Value, ValueOp
from tgdialect.ops.memory import CopyOp
from tgdialect.ops.movement import ExpandOp, PermuteOp, ReshapeOp
from tgdialect.ops.properties import Shape


@op_definition
class ReplicatedOp(ValueOp):
    """REPLICATED (T,), axis: the shards are copies of one value; drops the sharding axis.

    T has one entry per device on that axis, as `T.expand(n, s).copy(D)` makes them.

    `%1 = tg.replicated %0 axis 0
      : tensor<2x4xf32, #tg.place<["A", "B"], axis = 0>> -> tensor<4xf32, #tg.place<["A", "B"]>>`
    """

    name = "tg.replicated"

    source = operand_def(TENSOR)
    axis = prop_def(NumberAttr)

    assembly_format = f"$source `axis` custom<Int>($axis) {SIGNATURE}"

    def __init__(self, source: Value, axis: int):
        self.infer((source,), {"axis": NumberAttr(axis)})


Move = tuple[Callable[..., TgOp], Any]
"""An op of one tensor, with its argument."""


def placing(
    shape: Shape, source: PlaceAttr, devices: tuple[str, ...], axis: int | None
) -> Sequence[Move]:
    """The ops that split a value along an axis among devices, or copy it to each of them.

    COPY to several devices splits axis 0, so another axis is permuted to the front and back. Raises
    VerifyException if there is no such axis.

    Args:
        shape: of the value.
        source: where it is.
        devices, axis: where it is to be.
    """
    if axis is None:
        if source.device == devices and len(devices) == 1:
            return (ReshapeOp, (1, *shape)), (ReplicatedOp, 0)  # The one part is the whole.
        return (
            (ReshapeOp, (1, *shape)),
            (ExpandOp, (len(devices), *shape)),
            (CopyOp, devices),
            (ReplicatedOp, 0),
        )
    if axis not in range(len(shape)):
        raise VerifyException(f"axis {axis} of shape {tuple(shape)} cannot be split: there is none")
    if axis == 0:
        return ((CopyOp, devices),)
    order = (axis, *(i for i in range(len(shape)) if i != axis))
    back = tuple(order.index(i) for i in range(len(shape)))
    return (PermuteOp, order), (CopyOp, devices), (PermuteOp, back)
