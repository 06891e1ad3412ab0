"""Kernels of a grid of which one part waits for another: each part is a kernel of its own.

    for k: out[k] = 0
    for d: out[index[d]] += v[d]
    ->
    kernel 0: for k: out[k] = 0
    kernel 1: for d: out[index[d]] += v[d], in any order

A workgroup cannot wait for others: in one kernel, one workgroup would go through both loops.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tgdialect.analysis.memory_order import accesses
from tgdialect.analysis.ranges import closed_ranges, needed_ops, open_ranges
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.passed_memory import drop_parameters
from tgdialect.ops import tg
from tgdialect.ops.views import memory_of, versions
from tgdialect.transforms.dead_ops import erase_dead_ops
from tgdialect.transforms.simplify import simplify


def split_phases(kernel: tg.KernelOp) -> list[tuple[tg.KernelOp, list[int]]]:
    """The kernels of the phases of a simplified kernel, in order, each with the slots of the
    parameters that it has; the kernel itself if no part waits for another."""
    done: list[tg.KernelOp] = []
    stack = [kernel]
    while stack:
        phase = stack.pop()
        if (divided := _divided(phase)) is None:
            done.append(phase)
        else:
            stack.extend(reversed(divided))
    if len(done) == 1:
        return [(kernel, list(range(len(kernel.params))))]
    for phase in done:
        erase_dead_ops(phase.body.block, needed_ops(phase.body.block))
        simplify(phase)
        _add_in_any_order(phase)
    return [(phase, drop_parameters(phase)) for phase in done]


def _divided(kernel: tg.KernelOp) -> tuple[tg.KernelOp, tg.KernelOp] | None:
    """Two kernels: for the loops that others wait for, and for the others. None where nothing
    waits, where the loops leave something in memory of the kernel's own, or where the others
    access what memory has been before."""
    ops = needed_ops(kernel.body.block)
    around = open_ranges(ops)
    waits = [
        op
        for op in ops
        if isinstance(op, tg.AfterOp)
        and isinstance(memory_of(op.buffer).owner, tg.ParamOp)
        and all(isinstance(e.owner, tg.EndOp) and not around[e.owner] for e in op.dependencies)
    ]
    if not waits:
        return None
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
    written = {memory_of(a.location) for a in accesses(needed_ops(first.body.block)) if a.writes}
    slots = {memory.owner.slot for memory in written if isinstance(memory.owner, tg.ParamOp)}
    reads_old = any(
        after[number[op]] in left
        and isinstance(memory := memory_of(op.operands[0]).owner, tg.ParamOp)
        and memory.slot in slots
        for op in old
    )
    return None if reads_old or any(after[i] in left for i in ends) else (first, second)


def _waits_for(location: SSAValue, waits: Sequence[tg.AfterOp]) -> bool:
    """Whether an access is of memory as one of some AFTERs has it."""
    return any(after in waits for after in versions(location))


def _add_in_any_order(kernel: tg.KernelOp) -> None:
    """Let the iterations of loops run in any order that do nothing but add to memory which no LOAD
    reads: each ATOMICADD is whole."""
    ops = needed_ops(kernel.body.block)
    around = open_ranges(ops)
    added = {memory_of(op.operands[0]) for op in ops if isinstance(op, tg.AtomicAddOp)}
    if any(isinstance(op, tg.LoadOp) and memory_of(op.buffer) in added for op in ops):
        return
    ordered = {
        axis for op in ops if isinstance(op, tg.StoreOp | tg.ReduceOp) for axis in around[op]
    }
    ordered |= {axis for op in ops if isinstance(op, tg.ReduceOp) for axis in closed_ranges(op)}
    for op in ops:
        for axis in closed_ranges(op) if isinstance(op, tg.EndOp) else ():
            if axis not in ordered:
                axis.axis_type = tg.AxisTypeAttr(tg.AxisType.LOOP)
