"""The pass that copies views which a CALL cannot pass."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Block, SSAValue

from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.rangeify.copies import copy_arguments
from tgdialect.lowering.rangeify.function_pass import FunctionPass
from tgdialect.ops import tg
from tgdialect.ops.movement import MovementOp
from tgdialect.ops.properties import is_memory, tensor
from tgdialect.ops.views import views_of


@dataclass(frozen=True)
class CopyNonContiguousPass(FunctionPass):
    """Copy each view that is not contiguous before a CALL: a program gets a pointer.

    rewrite: `%0 = call @k(permute %a)` ->
    `%s = store %b, (permute %a)`, `%c = call @k(after %b, %s)`; and if `@k` writes the argument
    `%t = store (permute %a), (after %b, %c)`, `%0 = group %c, %t`
    """

    name = "tg-copy-non-contiguous"

    def rewrite(self, block: Block) -> None:
        for call in ops_of(block):
            if isinstance(call, tg.CallOp):
                memory = [a for a in dict.fromkeys(call.arguments) if is_memory(a)]
                if views := [a for a in memory if _is_non_contiguous(a)]:
                    copy_arguments(call, views)


def _is_non_contiguous(argument: SSAValue) -> bool:
    """Whether the cells of a view are not known to be contiguous in memory."""
    return not all(map(_keeps_contiguous, views_of(argument)[1]))


def _keeps_contiguous(view: MovementOp) -> bool:
    """Whether a view of contiguous memory is contiguous.

    A SHRINK is if its offsets are constant and each axis before the innermost that it cuts has one
    cell in the result.
    """
    if isinstance(view, tg.ReshapeOp | tg.BitcastOp):
        return True
    if not isinstance(view, tg.ShrinkOp) or len(view.operands) > 1:
        return False
    old, new = tensor(view.source).get_shape(), tensor(view.result).get_shape()
    cut = [axis for axis, pair in enumerate(zip(old, new, strict=True)) if len({*pair}) > 1]
    return all(extent == 1 for extent in new[: max(cut, default=0)])
