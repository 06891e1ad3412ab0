"""The pass: chains of steps on the longest paths of each block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass

from tgdialect.analysis.symbols import own_functions
from tgdialect.diagnostics import RemarkKind, begins, emit_remark
from tgdialect.fast_xdsl.walk import nested_ops, ops_of
from tgdialect.ops import tg
from tgdialect.transforms.reroll.graph import Row, ValueGraph
from tgdialect.transforms.reroll.merge import merge_scans
from tgdialect.transforms.reroll.periods import Repetition, repetitions
from tgdialect.transforms.reroll.scan import Roll
from tgdialect.transforms.reroll.steps import NoSteps, Steps, steps_of

LEAST_STEPS = 8
"""The fewest steps that become a SCAN. Larger: programs of a few dozen steps compile as long as all
of them; smaller: short chains lose what fuses across their steps, and gain little time. An order of
magnitude."""
_LEAST_OPS = 256
"""The fewest ops of a step without a REDUCE, whose state is stored only if it becomes a SCAN.
Larger: long chains of small steps take long to compile; smaller: their steps, which would be fused,
each read and write the state. Half of what a kernel fuses."""
_MOST_TRIES = 8
"""The most repetitions that are tried before a block is left as it is. Larger: more time for
programs without steps that are alike; smaller: steps are missed where other ops repeat as well."""
_MOST_ENDS = 2
"""The most places in a repetition that are tried as the end of a step. Larger: more time, as above;
smaller: more steps are missed whose best end is not where least is used later."""


@dataclass(frozen=True)
class RerollPass(ModulePass):
    """Make SCANs of steps that are alike.

    A step computes values from those of the step before, from parts of tensors that are as far from
    those of the step before in each, and from what is the same for all. Where steps at an end
    differ, they stay as they are. `tg-callify` begins with this pass.
    """

    name = "tg-reroll"

    steps: int = LEAST_STEPS
    """The fewest steps that become a SCAN."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        reroll(op, self.steps)


def reroll(module: ModuleOp, least: int = LEAST_STEPS) -> None:
    """Apply the pass."""
    for function in own_functions(module):
        for op in nested_ops(function):
            if isinstance(op, FuncOp | tg.FunctionOp | tg.ScanOp) and op.regions[0].blocks:
                reroll_block(op.regions[0].block, least)
                merge_scans(op.regions[0].block)


def reroll_block(block: Block, least: int = LEAST_STEPS) -> None:
    """Make SCANs of steps in a block that are alike."""
    while _reroll_one(block, least):
        pass


def _reroll_one(block: Block, least: int) -> bool:
    """Make a SCAN of steps in a block; whether there were any."""
    if len(ops_of(block)) < 2 * least:  # A REDUCE and its operand, in each.
        return False
    graph = ValueGraph(block)
    path = graph.longest_path()
    runs = repetitions([graph.kinds[node] for node in path], least)
    for run in runs[:_MOST_TRIES]:
        for ends in islice(_ends(graph, path, run), _MOST_ENDS):
            op = cast(Operation, graph.op(ends[-1]))
            try:
                steps = steps_of(graph, ends, least)
                _check_worth(graph, steps)
                roll = Roll(graph, steps)
            except NoSteps as why:
                emit_remark(op, f"no loop: {why}", "Reroll", RemarkKind.MISSED, Steps=len(ends))
                continue
            if not begins("reroll", op):
                return False
            message = f"{steps.count} steps of {len(steps.ops)} ops are a loop"
            more = {"Steps": steps.count, "Ops": len(steps.ops), "States": len(steps.first)}
            emit_remark(op, message, "Reroll", RemarkKind.PASSED, **more)
            roll.apply()
            return True
    return False


def _ends(graph: ValueGraph, path: Sequence[int], run: Repetition) -> Iterator[Row]:
    """Where the steps of a repetition may end: where least is used later, the last place first."""
    period = run.period
    nodes = range(run.end - period, run.end)
    live = _live_bytes(graph, path[run.start : run.end])
    middle = run.start + period * (run.times // 2)
    for position in sorted(nodes, key=lambda p: (live[p - middle], -p)):
        yield tuple(path[at] for at in range(position, run.start - 1, -period))[::-1]


def _live_bytes(graph: ValueGraph, path: Sequence[int]) -> Sequence[int]:
    """The bytes, at each node of a path, of what has been computed for it by then, from the first
    node, and is used for a later one."""
    first, last = path[0], path[-1]
    needed = {last}
    uses = [0] * (last + 1)
    for node in range(last, -1, -1):
        if node in needed:
            for operand in graph.operands[node]:
                needed.add(operand)
                uses[operand] += 1
    after = {first}
    for node in range(first, last + 1):
        if any(operand in after for operand in graph.operands[node]):
            after.add(node)
    done: set[int] = set()
    live, found = 0, list[int]()
    for end in path:
        stack = [end]
        while stack:
            node = stack.pop()
            if node in done or node < 0:
                continue
            done.add(node)
            if node in after:
                live += graph.bytes(node)
            for operand in graph.operands[node]:
                uses[operand] -= 1
                if not uses[operand] and operand in after:
                    live -= graph.bytes(operand)
                stack.append(operand)
        found.append(live)
    return found


def _check_worth(graph: ValueGraph, steps: Steps) -> None:
    """Raise NoSteps if a step is so small that steps are fused, and has nothing that is stored."""
    if not steps.first:
        raise NoSteps("no step uses what the one before has computed")
    ops = [graph.op(row[0]) for row in steps.ops]
    is_stored = any(isinstance(op, tg.ReduceOp | tg.FunctionOp | tg.ScanOp) for op in ops)
    if not is_stored and len(ops) < _LEAST_OPS:
        raise NoSteps(f"steps of {len(ops)} ops without a reduction are fused")
