"""Marker ops: the identity on data."""

from __future__ import annotations

from abc import ABC

from xdsl.irdl import operand_def, traits_def

from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.ops.base import SIGNATURE, TENSOR, Value, ValueOp
from tgdialect.ops.canonicalization import HasTgCanonicalization


class MarkerOp(ValueOp, ABC):
    """The operand, with a mark for a later stage."""

    source = operand_def(TENSOR)

    traits = traits_def(HasTgCanonicalization())

    assembly_format = f"$source {SIGNATURE}"

    def __init__(self, source: Value):
        self.infer((source,))


@op_definition
class ContiguousOp(MarkerOp):
    """CONTIGUOUS (T,): force a contiguous memory layout; invalid cells become 0.

    `%1 = tg.contiguous %0 : tensor<4xf32>`
    """

    name = "tg.contiguous"


@op_definition
class ContiguousBackwardOp(MarkerOp):
    """CONTIGUOUSBACKWARD (T,): force a contiguous layout in the backward pass.

    `%1 = tg.contiguous_backward %0 : tensor<4xf32>`
    """

    name = "tg.contiguous_backward"


@op_definition
class DetachOp(MarkerOp):
    """DETACH (T,): stop gradient propagation.

    `%1 = tg.detach %0 : tensor<4xf32>`
    """

    name = "tg.detach"
