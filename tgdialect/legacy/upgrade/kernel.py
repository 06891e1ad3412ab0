"""A kernel of the older vocabularies as a `tg.kernel`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from tgdialect.diagnostics import errors_at
from tgdialect.legacy.ops import blocks, control
from tgdialect.legacy.upgrade.blocks import has_blocks, in_order
from tgdialect.legacy.upgrade.ordered import OrderedKernel
from tgdialect.legacy.upgrade.unordered import UnorderedKernel
from tgdialect.ops.call import KernelOp


def upgrade_kernel(name: str, ops: Sequence[Operation]) -> KernelOp:
    """The `tg.kernel` of the ops of a kernel: in the order of execution if some of them end loops,
    or if they are in blocks, else those of a graph.

    Without vectors it is at level `kernels`: loops that reduce have become REDUCEs. With vectors it
    is at level `tiles`. Raises PassFailedException, located, for ops that belong to programs on
    tensors.
    """
    if has_blocks(ops):
        ops = in_order(ops)
    has_loops = any(isinstance(op, control.LoopBegin) for op in ops)
    has_ends = any(isinstance(op, control.BlockEnd | blocks.BlockEndOp) for op in ops)
    kernel = UnorderedKernel(ops) if has_loops and not has_ends else OrderedKernel(ops)
    for op in ops:
        with errors_at(op):
            kernel.rewrite(op)
    return kernel.kernel(name)
