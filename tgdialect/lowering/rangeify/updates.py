"""Updates of a scatter in the loops of the STORE before them, for threads to share.

    for p: for k: out[p, k] = 0
    for p: for d: out[p, index[p, d]] += v[p, d]
    ->
    for p:
        for k: out[p, k] = 0
        for d: out[p, index[p, d]] = out[p, index[p, d]] + v[p, d]

Each iteration of the outer loop has cells of its own. So the additions of different threads need
not be atomic, and those of one keep their order.
"""

from __future__ import annotations

from xdsl.rewriter import Rewriter

from tgdialect.analysis.ranges import closed_ranges
from tgdialect.ops import tg
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.properties import same_dim


def nest_updates(kernel: tg.KernelOp) -> None:
    """Let the updates of a simplified kernel run in the outer loops that store to their cells."""
    for effect in kernel.sink.effects:
        last = effect.owner
        if not isinstance(last, tg.EndOp) or not isinstance(
            added := last.body.owner, tg.AtomicAddOp
        ):
            continue
        cell = added.buffer.owner
        if not isinstance(cell, tg.IndexOp) or not isinstance(
            after := cell.source.owner, tg.AfterOp
        ):
            continue
        if len(after.dependencies) == 1 and isinstance(
            first := after.dependencies[0].owner, tg.EndOp
        ):
            _nest(first, after, cell, added, last)


def _nest(
    first: tg.EndOp, after: tg.AfterOp, cell: tg.IndexOp, added: tg.AtomicAddOp, last: tg.EndOp
) -> None:
    """Nest the loops that `first` and `last` close, if the first indices of what they store to are
    loops that go over the same cells."""
    store = first.body.owner
    if not isinstance(store, tg.StoreOp) or not isinstance(start := store.buffer.owner, tg.IndexOp):
        return
    if start.source is not after.buffer or not first.result.has_one_use():
        return
    before, updating = closed_ranges(first), closed_ranges(last)
    shared: dict[tg.RangeOp, tg.RangeOp] = {}
    for a, b in zip(start.indices, cell.indices, strict=True):
        outer, copy = a.owner, b.owner
        if not isinstance(outer, tg.RangeOp) or not isinstance(copy, tg.RangeOp):
            break
        is_loop = copy.axis_type.data is tg.AxisType.LOOP and copy in updating and outer in before
        if not is_loop or not same_dim(outer.bound, copy.bound):
            break
        shared[outer] = copy
    if not shared:
        return
    for outer, copy in shared.items():
        copy.result.replace_all_uses_with(outer.result)
        Rewriter.erase_op(copy)
    rest = [axis for axis in updating if axis not in shared.values()]
    own = [axis for axis in before if axis not in shared]
    put = OpBuilder.before(last).put
    stored = put(tg.EndOp(store.result, [axis.result for axis in own])) if own else store.result
    steps = [axis.result for axis in rest if axis.axis_type.data is tg.AxisType.REDUCE]
    here = put(tg.IndexOp(put(tg.AfterOp(after.buffer, [stored, *steps])), cell.indices))
    total = put(tg.AddOp(put(tg.LoadOp(here)), added.value))
    updated = put(tg.EndOp(put(tg.StoreOp(here, total)), [axis.result for axis in rest]))
    around = [axis.result for axis in before if axis in shared]
    Rewriter.replace_op(last, tg.EndOp(updated, around))
    for op in (added, cell, after, first):
        Rewriter.erase_op(op)
