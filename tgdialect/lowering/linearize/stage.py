"""Linearize: a total order of execution for each kernel, and for the calls of each function.

Target level to linear level (docs/ir.md). `analysis/loop_nest.py` finds the order; this file makes
a LINEAR of it. The position of an op replaces the AFTERs.
"""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tgdialect.analysis.loop_nest import LoopTree, loop_nest
from tgdialect.diagnostics import noted
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.levels import KernelPass
from tgdialect.lowering.linearize.branches import LONG, LONG_ON_A_GRID, branch_around_alternatives
from tgdialect.lowering.linearize.peel import peel_loops
from tgdialect.lowering.passed_memory import aliased_kernels
from tgdialect.ops import tg
from tgdialect.targets.attribute import target_of
from tgdialect.transforms.unique_storage import make_storage_unique


class LinearizePass(KernelPass):
    """Put the ops of kernels and the calls of functions in order of execution.

    Each kernel becomes a PROGRAM with one LINEAR, in which position replaces AFTER. A STORE with a
    scalar gate is put between IF and ENDIF. For a grid, loops over workgroups and work items become
    SPECIALs, with the BARRIERs that they need. On a CPU iterations that need masks are peeled.
    Long alternatives of WHEREs are put into IFs.
    """

    name = "tg-linearize"
    level_before = "target"
    level_after = "linear"

    def lower_kernel(self, kernel: tg.KernelOp | tg.ProgramOp) -> tg.KernelOp | tg.ProgramOp:
        if not isinstance(kernel, tg.KernelOp):
            return kernel
        module = kernel.parent_op()
        target = target_of(module)
        program = linearize_kernel(kernel)
        if not target.is_grid:
            peel_loops(program.linear.body.block)
            branch_around_alternatives(program.linear.body.block, LONG)
        elif module is not None and not kernel.calls:
            # Imported if it is used: no compilation for a CPU needs the analyses of BARRIERs.
            from tgdialect.lowering.linearize.grid import to_grid

            branch_around_alternatives(program.linear.body.block, LONG_ON_A_GRID)
            is_aliased = program.sym_name.data in aliased_kernels(module)
            to_grid(program.linear, target, aliased=is_aliased)
        return program

    def lower_function(self, function: FuncOp) -> None:
        linearize_function(function)


def linearize_kernel(kernel: tg.KernelOp) -> tg.ProgramOp:
    """Replace a kernel by the program of the same name.

    rewrite: `tg.kernel @k { graph }` -> `tg.program @k { tg.linear { ops in order } }`
    """
    graph = kernel.body.block
    make_storage_unique(graph)
    nest = loop_nest(graph)
    for op in ops_of(graph):
        if isinstance(op, tg.GroupOp) and op.members:
            # Any of its members will do to name it: they are all in order.
            op.result.replace_all_uses_with(op.members[-1])
    linear = tg.LinearOp(Region(_LinearBuilder().emit(nest)))
    linear.location = kernel.location
    program = tg.ProgramOp(kernel.sym_name.data, Region(Block([linear])))
    program.attributes = dict(kernel.attributes)
    for op in reversed(ops_of(graph)):
        Rewriter.erase_op(op)
    builder = tg.OpBuilder.before(kernel)
    builder.insert(program)
    builder.block.erase_op(kernel)
    return program


def linearize_function(function: FuncOp) -> None:
    """Put the calls of a function into one LINEAR, after the buffers and views that they use."""
    block = function.body.block
    terminator = block.last_op
    assert terminator is not None
    make_storage_unique(block)
    calls = Block()
    for _, op in loop_nest(block).walk():
        if isinstance(op, tg.AfterOp):
            op.result.replace_all_uses_with(op.buffer)
        elif op is not None and not isinstance(op, tg.SinkOp | tg.GroupOp):
            op.detach()
            if isinstance(op, tg.CallOp):
                calls.add_op(op)
            else:
                block.insert_op_before(op, terminator)
    linear = tg.LinearOp(Region(calls))
    for op in reversed(ops_of(block)):
        if isinstance(op, tg.SinkOp | tg.GroupOp | tg.AfterOp):
            block.erase_op(op)
    tg.OpBuilder(InsertPoint.before(terminator), function.location).insert(linear)


def is_per_lane(gate: SSAValue) -> bool:
    """Whether a gate is a vector: a mask."""
    return bool(tg.tensor(gate).get_shape())


class _LinearBuilder:
    """Moves the ops of a loop nest into a new block."""

    def __init__(self) -> None:
        self.block = Block()
        self._closing: list[LoopTree] = []
        """Loops that end here and wait for their END, innermost first."""

    def emit(self, nest: LoopTree) -> Block:
        for loop, op in nest.walk():
            if op is None:
                if self._closing and self._closing[-1].end is not loop.end:
                    self._close()
                self._closing.append(loop)
                continue
            if self._closing:
                self._close()
            kind = type(op)
            if kind is tg.AfterOp:
                op.results[0].replace_all_uses_with(op.operands[0])
            elif kind is tg.StoreOp and len(op.operands) > 2 and not is_per_lane(op.operands[2]):
                noted("gated store", op)
                self._gated_store(op)
            else:
                op.detach()
                self.block.add_op(op)
        return self.block

    def _close(self) -> None:
        """Emit one END for the waiting loops; split it if it also closes outer loops."""
        end = self._closing[0].end
        assert end is not None
        ranges = [loop.range for loop in self._closing if loop.range is not None]
        self._closing = []
        if len(ranges) == len(end.ranges):
            end.detach()
            self.block.add_op(end)
            return
        part = tg.OpBuilder.at_end(self.block, end.location).put(tg.EndOp(end.body, ranges))
        # The rest of the END closes the outer loops.
        end.operands = (part, *end.ranges[len(ranges) :])

    def _gated_store(self, store: Operation) -> None:
        """Put a STORE into an IF of its gate.

        rewrite: `store %p, %v gate %g` -> `if %g; store %p, %v; endif`

        Consecutive STOREs under one gate share the IF.
        """
        gate = store.operands[2]
        store.detach()
        last = self.block.last_op
        begin = last.begin.owner if isinstance(last, tg.EndIfOp) else None
        if isinstance(last, tg.EndIfOp) and isinstance(begin, tg.IfOp) and begin.gate is gate:
            self.block.insert_op_before(store, last)
            end = last
        else:
            builder = tg.OpBuilder.at_end(self.block, store.location)
            begin = builder.insert(tg.IfOp(gate))
            builder.insert(store)
            end = builder.insert(tg.EndIfOp(begin))
        store.operands = store.operands[:2]
        store.results[0].replace_all_uses_with(end.result)
