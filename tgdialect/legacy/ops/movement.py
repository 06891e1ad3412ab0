"""Movements whose arguments are a pair of numbers for each axis."""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import ArrayAttr
from xdsl.irdl import operand_def, prop_def

from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.legacy.base import PureOp
from tgdialect.ops import tg
from tgdialect.ops.base import TENSOR


class PairsOp(PureOp, ABC):
    """A movement with a pair of numbers for each axis."""

    source = operand_def(TENSOR)
    pairs = prop_def(ArrayAttr[ArrayAttr[tg.NumberAttr]])

    assembly_format = (
        "$source custom<AxisSizes>($pairs) attr-dict `:` type($source) `->` type($result)"
    )


@op_definition
class PadOp(PairsOp):
    """PAD (u), pairs: put zeros around the elements, so many before and after them on each axis.

    Arguments: for each axis, how many zeros come before and after.
    Sources: what is padded.
    Stage: high level, lowering.
    Becomes: `tg.pad` with `fill 0`.

    `%1 = tg_legacy.pad %0 [[1, 2]] : tensor<4xf32> -> tensor<7xf32>`
    """

    name = "tg_legacy.pad"


@op_definition
class ShrinkOp(PairsOp):
    """SHRINK (u), pairs: the elements from the first number of an axis up to the second.

    Arguments: for each axis, the first index and the one after the last.
    Sources: what is shrunk.
    Stage: high level, lowering.
    Becomes: `tg.shrink`.

    `%1 = tg_legacy.shrink %0 [[1, 3]] : tensor<4xf32> -> tensor<2xf32>`
    """

    name = "tg_legacy.shrink"
