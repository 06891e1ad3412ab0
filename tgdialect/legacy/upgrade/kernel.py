"""A kernel of the older vocabularies as a `tg.kernel`; kernels that are graphs, in which no op says
where a loop ends."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import errors_at
from tgdialect.legacy.ops import control, framework
from tgdialect.legacy.ops import memory as old_memory
from tgdialect.legacy.ops.control import BlockEndOp, BlockForkOp, BlockOp, BlockStartOp
from tgdialect.legacy.upgrade.loops import Variable, accumulators_first, variable_of
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

    on_range = on_loop = on_tg_range = begin_loop

    def on_define_acc(self, op: old_memory.DefineAccOp) -> None:
        super().on_define_acc(op)
        loops = [self.loops[range] for range in op.ranges]
        if loops:
            variable = op.result, 0
            self.open = [Open(self.loops[each]) for each in self.around.get(op.result, ())]
            self.carried[variable] = self.carry(variable, loops), loops
            self.open = []

    def on_assign(self, op: framework.AssignOp | control.PhiOp) -> None:
        super().on_assign(op)
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

    on_phi = on_assign

    def version(
        self, op: old_memory.LoadOp | old_memory.StoreOp, buffer: SSAValue, where: SSAValue | None
    ) -> SSAValue:
        """A buffer after what an access waits for."""
        waits = [self.values[each] for each in op.dependencies]
        return self.put(tg.AfterOp(buffer, waits)) if waits else buffer

    def on_tg_barrier(self, op: codegen.BarrierOp) -> None:
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


def upgrade_kernel(name: str, ops: Sequence[Operation], *, reduces: bool) -> tg.KernelOp:
    """The `tg.kernel` of the ops of a kernel: in the order of execution if some of them end loops,
    or if they are in blocks, else those of a graph.

    With `reduces` loops that reduce become REDUCEs, as at level `kernels`, and there are no
    vectors; else it is at level `tiles`. Raises PassFailedException, located, for ops that belong
    to programs on tensors.
    """
    if any(isinstance(op, BlockOp | BlockEndOp) for op in ops):
        ops = _in_order(ops)
    has_loops = any(isinstance(op, control.LoopBegin | tg.RangeOp) for op in ops)
    has_ends = any(isinstance(op, tg.TgOp) and op.closed_blocks for op in ops)
    is_graph = has_loops and not has_ends
    ops = loops_first(ops) if is_graph else accumulators_first(ops)
    kernel = (UnorderedKernel if is_graph else OrderedKernel)(ops, reduces=reduces)
    for op in ops:
        with errors_at(op):
            kernel.rewrite(op)
    return kernel.finished(name)


# -- kernels that are made of blocks -------------------------------------------------------------


def _in_order(ops: Sequence[Operation]) -> list[Operation]:
    """The ops of blocks in the order of execution, each once: definitions, then what a block comes
    after, then its members, each after its operands."""
    roots = [op for op in ops if isinstance(op, tg.SinkOp) or not (op.operands or _is_block(op))]
    roots.sort(key=lambda op: isinstance(op, tg.SinkOp))
    return [op for op in tg.postorder(roots, _before) if not _is_block(op)]


def _is_block(op: Operation) -> bool:
    return isinstance(op, BlockOp | BlockStartOp | BlockForkOp)


def _before(op: Operation) -> Iterator[Operation]:
    """The ops that execute before an op: for a block, the blocks before its members."""
    operands = op.operands
    if isinstance(op, BlockOp):
        operands = *op.before, *op.members
    elif isinstance(op, BlockEndOp):
        operands = *op.before, op.begin
    for operand in operands:
        if not isinstance(operand.owner, Block):
            yield operand.owner
