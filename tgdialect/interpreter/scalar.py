"""The oracle of kernels: a nest of Python loops that executes one iteration at a time.

An op is executed on the values of one iteration, and a STORE changes memory at once. Work items
take turns: each of them runs up to its next BARRIER, then all go on. What an elementwise op or a
movement computes is in `pure.py` and `movement.py`, the order of ops and loops in `nesting.py`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence

import numpy as np
from xdsl.ir import Operation

from tgdialect.diagnostics import errors_at
from tgdialect.interpreter.block_analysis import (
    Axis,
    BlockAnalysis,
    is_work_item,
)
from tgdialect.interpreter.instances import Instance, not_reached
from tgdialect.interpreter.kernel import COMMON, Function, Given, LiveValue, ordering
from tgdialect.interpreter.live import LiveView
from tgdialect.interpreter.nesting import Accumulate, GraphNest, Item, LoopBody, linear_items
from tgdialect.interpreter.reduction import combine, finish, initial
from tgdialect.interpreter.run_context import RunContext
from tgdialect.interpreter.scalar_memory import Iteration, ScalarMemory
from tgdialect.interpreter.values import MaskedArray, all_valid
from tgdialect.interpreter.wmma import of_warp
from tgdialect.ops import tg
from tgdialect.ops.codegen import warp_of
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.ops.properties import dtype_of, tensor


class ScalarRun(ScalarMemory):
    """One run of a block; `known` has the values of the iteration and work item that is running."""

    def __init__(self, analysis: BlockAnalysis, context: RunContext, given: Given):
        super().__init__(analysis, context, SCALAR, given)
        self._items = _loop_nest(analysis)
        ifs = [op for op in analysis.block.ops if isinstance(op, tg.IfOp)]
        self._conditions = {
            op: inside
            for op, scope in analysis.scopes.of.items()
            if (inside := [c for c in ifs if c in scope])
        }
        self._totals: dict[tuple[Operation, Iteration], Array] = {}
        self._fragments: dict[tuple[Operation, int], Sequence[MaskedArray]] = {}
        self._done: set[tuple[Operation, Iteration]] = set()

    # -- loops

    def run(self) -> None:
        """Execute the block."""
        for reached in self._execute(self._items):
            if isinstance(reached, tg.BarrierOp):
                self.raise_errors()
                self.races.barrier()
        self.raise_errors()

    def _execute(self, items: Sequence[Item]) -> Generator[Operation]:
        """Execute items in order. Yields for the other work items to catch up: at each BARRIER, and
        at each op of a warp."""
        stack: list[Iterator[Item]] = [iter(items)]
        while stack:
            for item in stack[-1]:
                if isinstance(item, Accumulate):
                    with errors_at(item.op):
                        self._accumulate(item.op)
                elif isinstance(item, LoopBody):
                    if not self._is_reached(item.axis):
                        continue
                    if is_work_item(item.axis):
                        yield from self._work_items(item)
                    else:
                        stack.append(self._iterations(item))
                        break
                elif self._is_reached(item):
                    if isinstance(item, tg.BarrierOp):
                        yield item
                    elif warp_of(item) > 1:
                        key = item, self._work_item()[0]
                        self._fragments[key] = [self.array(item, x) for x in item.operands]
                        yield item
                    self.execute(item)
            else:
                stack.pop()

    def _is_reached(self, op: Operation) -> bool:
        """Whether the gates of the IFs that an op is inside of are true."""
        return all(bool(self.array(c, c.gate).data) for c in self._conditions.get(op, ()))

    def _iterations(self, loop: LoopBody) -> Iterator[Item]:
        """The body again and again, the loop variable having the next value each time."""
        for i in range(self._bound(loop.axis)):
            self.known[loop.axis.result] = _index(i)
            yield from loop.body

    def _work_items(self, loop: LoopBody) -> Generator[Operation]:
        """The body of each work item up to its next BARRIER, and again until all are done."""
        outer = self.known
        work_items = [
            ({**outer, loop.axis.result: _index(i)}, self._execute(loop.body))
            for i in range(self._bound(loop.axis))
        ]
        while True:
            reached: list[Operation | None] = []
            for known, work_item in work_items:
                self.known = known
                reached.append(next(work_item, None))
            waiting = next((op for op in reached if op is not None), None)
            if waiting is not None and any(op is not waiting for op in reached):
                first = reached.index(waiting)
                other = next(i for i, op in enumerate(reached) if op is not waiting)
                at: list[Instance] = []
                for self.known, _ in (work_items[first], work_items[other]):
                    at.append(self.instance(waiting))
                raise not_reached(at[0], at[1], self.analysis)
            self.known = outer
            if waiting is None:
                break
            yield waiting

    def _bound(self, axis: Axis) -> int:
        with errors_at(axis):
            return int(self.array(axis, axis.bound).materialised())

    def _open_work_items(self) -> Sequence[Axis]:
        """The axes that number the work item that is running, the fastest first."""
        return [a for a in self.analysis.work_items if a.result in self.known]

    def _work_item(self) -> tuple[int, int]:
        """The number of the work item that is running in its workgroup, and how many it has."""
        number, count = 0, 1
        axes = self._open_work_items()
        for axis, i in zip(axes, self.iteration(axes), strict=True):
            number += i * count
            count *= self._bound(axis)
        return number, count

    def is_first(self, op: Operation) -> bool:
        """Whether this is the first time that an op is executed in an iteration of its loops.

        Expanded ranges are the innermost loops here, while tg-expand makes axes of values of them.
        So a STORE in an expanded range can have loops around it that it does not depend on: one
        that clears the accumulators of a tile is inside the loop of the reduction. It is executed
        in the first iteration of those loops alone, as if it stood before them.
        """
        key = op, self.iteration(self.analysis.loops_around[op])
        is_first = key not in self._done
        self._done.add(key)
        return is_first

    # -- reductions and matrices

    def _accumulate(self, op: tg.ReduceOp) -> None:
        """A REDUCE in one iteration of its loops: add the elements of its operand, in order."""
        key = op, self.iteration(self.analysis.loops_around[op])
        total = self._totals.get(key, initial(op))
        self._totals[key] = combine(op, total, self.array(op, op.source))

    def reduce(self, op: tg.ReduceOp) -> LiveValue:
        """The value of a REDUCE, once its loops are done."""
        key = op, self.iteration(self.analysis.loops_around[op])
        if not op.ranges:
            total = combine(op, initial(op), self.array(op, op.source))
        else:
            total = self._totals.pop(key, initial(op))
        total = np.broadcast_to(total, tensor(op.result).get_shape())
        return MaskedArray(finish(total, dtype_of(op.source)))

    def of_warp(self, op: Operation) -> LiveValue:
        """The part of a product, or the value of a SHUFFLE, that the running work item gets from
        its warp."""
        if warp_of(op) == 1:
            return COMMON[op.name](self, op)
        number, count = self._work_item()
        fragments = zip(*(self._fragments[op, item] for item in range(count)), strict=True)
        operands = [MaskedArray(np.stack([x.materialised() for x in each])) for each in fragments]
        return self.result(op, MaskedArray(of_warp(op, operands, 1, [0]).data[number]))


def _index(i: int) -> MaskedArray:
    return MaskedArray(np.asarray(i, np.int64))


def _loop_nest(analysis: BlockAnalysis) -> Sequence[Item]:
    """All ranges as loops; SPECIALs are loops around everything, workgroups outside work items."""
    block, ranges = analysis.block, analysis.scopes.ranges
    if analysis.is_graph:
        connected = analysis.connected(analysis.private)
        items = GraphNest(block, analysis.scopes, analysis.before, ranges, connected).items()
    else:
        items = linear_items(block, ranges)
    if not analysis.specials:
        return items
    for special in sorted(analysis.specials, key=is_work_item, reverse=True):
        items: list[Item] = [LoopBody(special, items)]
    needed = {special.bound.owner for special in analysis.specials}
    for op in reversed(list(block.ops)):
        if op in needed:
            needed.update(operand.owner for operand in op.operands)
    return [*(op for op in block.ops if op in needed), *items]


def _store(run: ScalarRun, op: Operation) -> LiveValue:
    """STORE and ATOMICADD: valid cells of the value, where the gate is true."""
    view = run.known[op.operands[0]]
    assert isinstance(view, LiveView)
    value = run.array(op, op.operands[1])
    gate = run.array(op, op.operands[2]).materialised() if len(op.operands) > 2 else None
    mask = all_valid([value.valid, gate])
    if run.is_first(op):
        run.write(op, view, value.data, mask, adds=isinstance(op, tg.AtomicAddOp))
    return None


SCALAR: Mapping[str, Function] = {
    **COMMON,
    "tg.store": _store,
    "tg.atomicadd": _store,
    "tg.reduce": ScalarRun.reduce,
    **dict.fromkeys(("tg.wmma", "tg.ins", "tg.shuffle"), ScalarRun.of_warp),
    "tg.special": lambda run, op: run.known[op.result],  # A loop variable, which has its value.
    "tg.barrier": ordering,
    "tg.if": ordering,
}
"""Every op of a kernel but RANGE, by name."""
