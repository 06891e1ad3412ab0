"""A kernel of the older vocabularies as a `tg.kernel`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from tgdialect.diagnostics import errors_at
from tgdialect.legacy.ops import control
from tgdialect.legacy.upgrade.blocks import has_blocks, in_order
from tgdialect.legacy.upgrade.loops import accumulators_first
from tgdialect.legacy.upgrade.ordered import OrderedKernel
from tgdialect.legacy.upgrade.unordered import UnorderedKernel, loops_first
from tgdialect.ops import tg
from tgdialect.ops.base import TgOp


def upgrade_kernel(name: str, ops: Sequence[Operation], *, reduces: bool) -> tg.KernelOp:
    """The `tg.kernel` of the ops of a kernel: in the order of execution if some of them end loops,
    or if they are in blocks, else those of a graph.

    With `reduces` loops that reduce become REDUCEs, as at level `kernels`, and there are no
    vectors; else it is at level `tiles`. Raises PassFailedException, located, for ops that belong
    to programs on tensors.
    """
    if has_blocks(ops):
        ops = in_order(ops)
    has_loops = any(isinstance(op, control.LoopBegin | tg.RangeOp) for op in ops)
    has_ends = any(isinstance(op, TgOp) and op.closed_blocks for op in ops)
    is_graph = has_loops and not has_ends
    ops = loops_first(ops) if is_graph else accumulators_first(ops)
    kernel = (UnorderedKernel if is_graph else OrderedKernel)(ops, reduces=reduces)
    for op in ops:
        with errors_at(op):
            kernel.rewrite(op)
    return kernel.kernel(name)
