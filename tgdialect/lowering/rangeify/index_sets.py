"""Kernels whose loops are split where conditions on their indices change (`analysis/index_sets`).

    for i in 0 .. 1000: out[i] = where(i < 300, a[i], 0) + where(i < 300, 0, b[i - 300])
    ->
    for i in 0 .. 300: out[i] = a[i]
    for i in 0 .. 700: out[i + 300] = b[i]

Each part is a kernel of its own: it has vectors, and threads, of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.rewriter import Rewriter

from tgdialect.analysis.index_sets import IndexSetSplit, index_set_split
from tgdialect.lowering.passed_memory import drop_parameters
from tgdialect.ops import tg
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.properties import known_index
from tgdialect.transforms.simplify import simplify


def split_index_sets(kernel: tg.KernelOp) -> list[tuple[tg.KernelOp, list[int]]]:
    """The kernels of the parts of a simplified kernel, in order, each with the slots of the
    parameters that it has; the kernel itself if it is not split."""
    done: list[tg.KernelOp] = []
    stack = [kernel]
    while stack:
        kernel = stack.pop()
        if (split := index_set_split(kernel.body.block)) is None:
            done.append(kernel)
        else:
            stack.extend(reversed(list(_parts(kernel, split))))
    if len(done) == 1:
        return [(kernel, list(range(len(kernel.params))))]
    return [(part, drop_parameters(part)) for part in done]


def _parts(kernel: tg.KernelOp, split: IndexSetSplit) -> Iterator[tg.KernelOp]:
    """Two kernels: for the first half of the parts of a loop, and for the others. Where either has
    several parts, it is split again: most conditions of many parts are decided in one step."""
    extent = known_index(split.loop.bound)
    assert extent is not None
    middle = split.starts[len(split.starts) // 2]
    for start, end in ((0, middle), (middle, extent)):
        part = kernel.clone()
        loop = next(
            op
            for op in part.body.block.ops
            if isinstance(op, tg.RangeOp) and op.axis == split.loop.axis
        )
        _narrow(loop, start, end - start)
        simplify(part)
        yield part


def _narrow(loop: tg.RangeOp, start: int, size: int) -> None:
    """Let a loop go over `size` cells from `start` on; one cell is no loop."""
    ends = [use for use in loop.result.uses if isinstance(use.operation, tg.EndOp) and use.index]
    builder = OpBuilder.before(loop)
    index = builder.index_constant(start)
    if size == 1:
        for use in ends:
            end = use.operation
            assert isinstance(end, tg.EndOp)
            if len(end.operands) == 2:
                Rewriter.replace_op(end, (), [end.body])
            else:
                end.operands = [o for i, o in enumerate(end.operands) if i != use.index]
        Rewriter.replace_op(loop, (), [index])
        return
    new = tg.RangeOp(loop.axis.data, loop.axis_type.data, builder.index_constant(size))
    builder.insert(new)
    for use in ends:
        use.operation.operands[use.index] = new.result
    Rewriter.replace_op(loop, (), [builder.put(tg.AddOp(new.result, index))])
