"""Kernels that are graphs, before the older linearizer: no op says where a loop ends."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.legacy.ops import control, framework
from tgdialect.legacy.ops import memory as old_memory
from tgdialect.legacy.upgrade.loops import Variable, variable_of
from tgdialect.legacy.upgrade.memory import keep_order
from tgdialect.legacy.upgrade.ordered import Carried, Open, OrderedKernel
from tgdialect.ops import codegen, tg


class UnorderedKernel(OrderedKernel):
    """A kernel that is being rewritten, op by op; the order of the ops says nothing.

    A DEFINE_ACC names the loops that it accumulates in, and its ASSIGN is its value after them. The
    other loops are around all that the kernel writes. A LOAD or STORE comes after the ops that it
    names.
    """

    def __init__(self, ops: Sequence[Operation], *, reduces: bool) -> None:
        super().__init__(ops, reduces=reduces)
        self.loops: dict[SSAValue, tg.RangeOp] = {}
        """The RANGE of each loop of the older vocabulary."""
        self.carried: dict[Variable, tuple[Carried, Sequence[tg.RangeOp]]] = {}
        """The accumulators that have no value yet, and the loops of each."""
        self.around = _loops_around(ops)

    def begin_loop(self, op: control.LoopBegin | tg.RangeOp) -> None:
        range = self.new_loop(op)
        self.loops[op.result] = range

    def define_accumulator(self, op: old_memory.DefineAccOp) -> None:
        super().define_accumulator(op)
        loops = [self.loops[range] for range in op.ranges]
        if loops:
            variable = op.result, 0
            self.open = [Open(self.loops[each]) for each in self.around.get(op.result, ())]
            self.carried[variable] = self.carry(variable, loops), loops
            self.open = []

    def assign_accumulator(self, op: framework.AssignOp | control.PhiOp) -> None:
        super().assign_accumulator(op)
        variable = variable_of(op.target)
        assert variable is not None
        if variable not in self.carried:
            raise PassFailedException("this accumulator is assigned to twice, or has no loops")
        carried, loops = self.carried.pop(variable)
        result = self.reduction(carried, loops)
        if result is None:
            stored = self.put(tg.StoreOp(carried.inside, self.variables[variable]))
            for loop in loops:
                keep_order(loop)
            end = self.put(tg.EndOp(stored, [loop.result for loop in reversed(loops)]))
            result = self.put(tg.LoadOp(self.put(tg.AfterOp(carried.memory, (end,)))))
        self.variables[variable] = result

    def to_read(self, op: old_memory.LoadOp, buffer: SSAValue) -> SSAValue:
        return self._after(buffer, op.dependencies)

    def to_write(
        self, op: old_memory.StoreOp, buffer: SSAValue, position: SSAValue | None
    ) -> SSAValue:
        return self._after(buffer, op.dependencies)

    def _after(self, buffer: SSAValue, dependencies: Sequence[SSAValue]) -> SSAValue:
        """A buffer after what an access waits for."""
        waits = [self.values[each] for each in dependencies]
        return self.put(tg.AfterOp(buffer, waits)) if waits else buffer

    def barrier(self, op: codegen.BarrierOp) -> None:
        waits = [self.values[each] for each in op.dependencies]
        self.values[op.result] = self.put(codegen.BarrierOp(waits))


def loops_first(ops: Sequence[Operation]) -> list[Operation]:
    """The ops of a graph: definitions, then loops and what their bounds need, then the others."""
    needed: set[object] = set()
    for op in reversed(ops):
        if op in needed or isinstance(op, control.LoopBegin | tg.RangeOp):
            needed.update([op, *(operand.owner for operand in op.operands)])
    return sorted(ops, key=lambda op: (bool(op.operands), op not in needed))


def _loops_around(ops: Sequence[Operation]) -> Mapping[SSAValue, Collection[SSAValue]]:
    """The loops in which each accumulator begins anew: those that its ASSIGN depends on, but for
    those that it accumulates in. The first of them are the outer ones."""
    loops: dict[SSAValue, dict[SSAValue, None]] = {}
    around: dict[SSAValue, Collection[SSAValue]] = {}
    for op in ops:
        found = {loop: None for operand in op.operands for loop in loops.get(operand, ())}
        if isinstance(op, control.LoopBegin | tg.RangeOp):
            found[op.result] = None
        elif isinstance(op, framework.AssignOp | control.PhiOp):
            variable = variable_of(op.target)
            accumulator = None if variable is None else variable[0].owner
            if isinstance(accumulator, old_memory.DefineAccOp):
                found = {loop: None for loop in found if loop not in accumulator.ranges}
                around[accumulator.result] = found
        for result in op.results:
            loops[result] = found
    return around
