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
from tgdialect.ops.attributes import AxisType
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.call import KernelOp
from tgdialect.ops.codegen import AtomicAddOp
from tgdialect.ops.elementwise import AddOp
from tgdialect.ops.memory import LoadOp, StoreOp
from tgdialect.ops.movement import IndexOp
from tgdialect.ops.ordering import AfterOp, EndOp, RangeOp
from tgdialect.ops.properties import same_dim


def nest_updates(kernel: KernelOp) -> None:
    """Let the updates of a simplified kernel run in the outer loops that store to their cells."""
    for effect in kernel.sink.effects:
        last = effect.owner
        if not isinstance(last, EndOp) or not isinstance(added := last.body.owner, AtomicAddOp):
            continue
        cell = added.buffer.owner
        if not isinstance(cell, IndexOp) or not isinstance(after := cell.source.owner, AfterOp):
            continue
        if len(after.dependencies) == 1 and isinstance(first := after.dependencies[0].owner, EndOp):
            _nest(first, after, cell, added, last)


def _nest(first: EndOp, after: AfterOp, cell: IndexOp, added: AtomicAddOp, last: EndOp) -> None:
    """Nest the loops that `first` and `last` close, if the first indices of what they store to are
    loops that go over the same cells."""
    store = first.body.owner
    if not isinstance(store, StoreOp) or not isinstance(start := store.buffer.owner, IndexOp):
        return
    if start.source is not after.buffer or not first.result.has_one_use():
        return
    before, updating = closed_ranges(first), closed_ranges(last)
    shared: dict[RangeOp, RangeOp] = {}
    for a, b in zip(start.indices, cell.indices, strict=True):
        outer, copy = a.owner, b.owner
        if not isinstance(outer, RangeOp) or not isinstance(copy, RangeOp):
            break
        is_loop = copy.axis_type.data is AxisType.LOOP and copy in updating and outer in before
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
    stored = put(EndOp(store.result, [axis.result for axis in own])) if own else store.result
    steps = [axis.result for axis in rest if axis.axis_type.data is AxisType.REDUCE]
    here = put(IndexOp(put(AfterOp(after.buffer, [stored, *steps])), cell.indices))
    total = put(AddOp(put(LoadOp(here)), added.value))
    updated = put(EndOp(put(StoreOp(here, total)), [axis.result for axis in rest]))
    around = [axis.result for axis in before if axis in shared]
    Rewriter.replace_op(last, EndOp(updated, around))
    for op in (added, cell, after, first):
        Rewriter.erase_op(op)
