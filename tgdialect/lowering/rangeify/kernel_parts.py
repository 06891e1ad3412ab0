"""Kernels that become several, and updates that are put into other loops.

A loop is split where conditions on its index change (`analysis/index_sets.py`), on a CPU:

    for i in 0 .. 1000: out[i] = where(i < 300, a[i], 0) + where(i < 300, 0, b[i - 300])
    ->
    for i in 0 .. 300: out[i] = a[i]
    for i in 0 .. 700: out[i + 300] = b[i]

Each part is a kernel of its own: it has vectors, and threads, of its own. So is each of the parts
of a kernel of a grid of which one waits for another:

    for k: out[k] = 0
    for d: out[index[d]] += v[d]
    ->
    kernel 0: for k: out[k] = 0
    kernel 1: for d: out[index[d]] += v[d], in any order

A workgroup cannot wait for others: in one kernel, one workgroup would go through both loops. On a
CPU the updates of a scatter run in the loops of the STORE before them, for threads to share:

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

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from tgdialect.analysis.index_sets import index_set_split
from tgdialect.analysis.memory_order import accesses
from tgdialect.analysis.ranges import closed_ranges, needed_ops, open_ranges
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.passed_memory import drop_parameters
from tgdialect.ops import tg
from tgdialect.ops.views import versions
from tgdialect.transforms.dead_ops import erase_dead_ops
from tgdialect.transforms.simplify import simplify

KernelParts = list[tuple[tg.KernelOp, list[int]]]
"""The kernels that one becomes, in order, each with the slots of the parameters that it has."""


def split_index_sets(kernel: tg.KernelOp) -> KernelParts:
    """The kernels of the parts of a simplified kernel; the kernel itself if it is not split."""
    return _parts(kernel, _index_sets)


def split_phases(kernel: tg.KernelOp) -> KernelParts:
    """The kernels of the phases of a simplified kernel; the kernel itself if no part waits for
    another."""
    return _parts(kernel, _phases, _add_in_any_order)


def _parts(
    kernel: tg.KernelOp,
    divide: Callable[[tg.KernelOp], Sequence[tg.KernelOp]],
    finish: Callable[[tg.KernelOp], None] = lambda part: None,
) -> KernelParts:
    """Divide a kernel, and its parts again, until nothing is divided."""
    done: list[tg.KernelOp] = []
    stack = [kernel]
    while stack:
        part = stack.pop()
        stack.extend(reversed(found := divide(part)))
        if not found:
            done.append(part)
    if len(done) == 1:
        return [(kernel, list(range(len(kernel.params))))]
    for part in done:
        finish(part)
    return [(part, drop_parameters(part)) for part in done]


# -- index sets ----------------------------------------------------------------------------------


def _index_sets(kernel: tg.KernelOp) -> Sequence[tg.KernelOp]:
    """Two kernels: for the first half of the parts of a loop, and for the others; none if no loop
    is split. Where either has several parts, it is split again: most conditions of many parts are
    decided in one step."""
    if (split := index_set_split(kernel.body.block)) is None:
        return ()
    extent = tg.known_index(split.loop.bound)
    assert extent is not None
    middle = split.starts[len(split.starts) // 2]
    parts: list[tg.KernelOp] = []
    for start, end in ((0, middle), (middle, extent)):
        part = kernel.clone()
        loop = next(
            op
            for op in part.body.block.ops
            if isinstance(op, tg.RangeOp) and op.axis == split.loop.axis
        )
        _narrow(loop, start, end - start)
        simplify(part)
        parts.append(part)
    return parts


def _narrow(loop: tg.RangeOp, start: int, size: int) -> None:
    """Let a loop go over `size` cells from `start` on; one cell is no loop."""
    ends = [use for use in loop.result.uses if isinstance(use.operation, tg.EndOp) and use.index]
    builder = tg.OpBuilder.before(loop)
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


# -- phases --------------------------------------------------------------------------------------


def _phases(kernel: tg.KernelOp) -> Sequence[tg.KernelOp]:
    """Two kernels: for the loops that others wait for, and for the others; none where nothing
    waits, where the loops leave something in memory of the kernel's own, or where the others
    access what memory has been before."""
    ops = needed_ops(kernel.body.block)
    around = open_ranges(ops)
    waits = [
        op
        for op in ops
        if isinstance(op, tg.AfterOp)
        and isinstance(tg.memory_of(op.buffer).owner, tg.ParamOp)
        and all(isinstance(e.owner, tg.EndOp) and not around[e.owner] for e in op.dependencies)
    ]
    if not waits:
        return ()
    number: dict[object, int] = {op: i for i, op in enumerate(kernel.body.block.ops)}
    ends = sorted({number[each.owner] for wait in waits for each in wait.dependencies})
    first, second = kernel.clone(), kernel.clone()
    before, after = ops_of(first.body.block), ops_of(second.body.block)
    first.sink.operands = [before[i].results[0] for i in ends]
    for wait in waits:
        copy = after[number[wait]]
        copy.results[0].replace_all_uses_with(copy.operands[0])
    left = set(needed_ops(second.body.block))
    old = {access.op for access in accesses(ops) if not _waits_for(access.location, waits)}
    written = {tg.memory_of(a.location) for a in accesses(needed_ops(first.body.block)) if a.writes}
    slots = {memory.owner.slot for memory in written if isinstance(memory.owner, tg.ParamOp)}
    reads_old = any(
        after[number[op]] in left
        and isinstance(memory := tg.memory_of(op.operands[0]).owner, tg.ParamOp)
        and memory.slot in slots
        for op in old
    )
    return () if reads_old or any(after[i] in left for i in ends) else (first, second)


def _waits_for(location: SSAValue, waits: Sequence[tg.AfterOp]) -> bool:
    """Whether an access is of memory as one of some AFTERs has it."""
    return any(after in waits for after in versions(location))


def _add_in_any_order(kernel: tg.KernelOp) -> None:
    """Simplify a phase, and let the iterations of loops run in any order that do nothing but add to
    memory which no LOAD reads: each ATOMICADD is whole."""
    erase_dead_ops(kernel.body.block, needed_ops(kernel.body.block))
    simplify(kernel)
    ops = needed_ops(kernel.body.block)
    around = open_ranges(ops)
    added = {tg.memory_of(op.operands[0]) for op in ops if isinstance(op, tg.AtomicAddOp)}
    if any(isinstance(op, tg.LoadOp) and tg.memory_of(op.buffer) in added for op in ops):
        return
    ordered = {
        axis for op in ops if isinstance(op, tg.StoreOp | tg.ReduceOp) for axis in around[op]
    }
    ordered |= {axis for op in ops if isinstance(op, tg.ReduceOp) for axis in closed_ranges(op)}
    for op in ops:
        for axis in closed_ranges(op) if isinstance(op, tg.EndOp) else ():
            if axis not in ordered:
                axis.axis_type = tg.AxisTypeAttr(tg.AxisType.LOOP)


# -- updates -------------------------------------------------------------------------------------


def nest_updates(kernel: tg.KernelOp) -> None:
    """Let the updates of a simplified kernel run in the outer loops that store to their cells."""
    for effect in kernel.sink.effects:
        if (
            isinstance(last := effect.owner, tg.EndOp)
            and isinstance(added := last.body.owner, tg.AtomicAddOp)
            and isinstance(cell := added.buffer.owner, tg.IndexOp)
            and isinstance(after := cell.source.owner, tg.AfterOp)
            and len(after.dependencies) == 1
            and isinstance(first := after.dependencies[0].owner, tg.EndOp)
        ):
            _nest(first, after, cell, added, last)


def _nest(
    first: tg.EndOp, after: tg.AfterOp, cell: tg.IndexOp, added: tg.AtomicAddOp, last: tg.EndOp
) -> None:
    """Nest the loops that `first` and `last` close where indices of what they store to are loops
    that go over the same cells.

    A loop whose extent is known is shared also behind the index of an update: it gets vectors, in
    which whole pieces of rows are added. Without them, rows in order are better than columns.
    """
    store = first.body.owner
    if not isinstance(store, tg.StoreOp) or not isinstance(start := store.buffer.owner, tg.IndexOp):
        return
    if start.source is not after.buffer or not first.result.has_one_use():
        return
    before, updating = closed_ranges(first), closed_ranges(last)
    shared: dict[tg.RangeOp, tg.RangeOp] = {}
    is_first = True
    for a, b in zip(start.indices, cell.indices, strict=True):
        outer, copy = a.owner, b.owner
        if (
            not isinstance(outer, tg.RangeOp)
            or not isinstance(copy, tg.RangeOp)
            or copy.axis_type.data is not tg.AxisType.LOOP
            or copy not in updating
            or outer not in before
            or not tg.same_dim(outer.bound, copy.bound)
        ):
            is_first = False
        elif is_first or tg.known_index(outer.bound) is not None:
            shared[outer] = copy
    if not shared:
        return
    for outer, copy in shared.items():
        copy.result.replace_all_uses_with(outer.result)
        Rewriter.erase_op(copy)
    rest = [axis for axis in updating if axis not in shared.values()]
    own = [axis for axis in before if axis not in shared]
    put = tg.OpBuilder.before(last).put
    stored = put(tg.EndOp(store.result, [axis.result for axis in own])) if own else store.result
    steps = [axis.result for axis in rest if axis.axis_type.data is tg.AxisType.REDUCE]
    here = put(tg.IndexOp(put(tg.AfterOp(after.buffer, [stored, *steps])), cell.indices))
    total = put(tg.AddOp(put(tg.LoadOp(here)), added.value))
    updated = put(tg.EndOp(put(tg.StoreOp(here, total)), [axis.result for axis in rest]))
    around = [axis.result for axis in before if axis in shared]
    Rewriter.replace_op(last, tg.EndOp(updated, around))
    for op in (added, cell, after, first):
        Rewriter.erase_op(op)
