"""Ops in one iteration of the parallel loops around them: what conflicts in a race.

A race is one error, at the later access, with a note at the earlier one.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from tgdialect.diagnostics import add_note, locate
from tgdialect.interpreter.block_analysis import Axis, BlockAnalysis, is_parallel, is_work_item
from tgdialect.ops import tg
from tgdialect.ops.codegen import warp_of


@dataclass(frozen=True, slots=True)
class Instance:
    """An op in one iteration of the parallel loops around it."""

    op: Operation
    iteration: tuple[tuple[Axis, int], ...]

    def __str__(self) -> str:
        """`work item (gidx0 = 1, lidx0 = 3)`, `workgroup (gidx0 = 1)` or `iteration (range 0 = 2)`;
        empty outside of parallel loops."""
        if not self.iteration:
            return ""
        axes = [axis for axis, _ in self.iteration]
        if any(map(is_work_item, axes)):
            kind = "work item"
        else:
            kind = "workgroup" if isinstance(axes[0], tg.SpecialOp) else "iteration"
        numbers = (f"{_name(axis)} = {i}" for axis, i in self.iteration)
        return f"{kind} ({', '.join(numbers)})"

    def is_parallel_to(self, other: Instance, *, is_ordered: bool) -> bool:
        """Whether the iterations run in parallel. `is_ordered` says that a BARRIER is between the
        two, which orders the work items of one workgroup."""
        iteration = dict(self.iteration)
        return any(
            iteration.get(axis, i) != i and not (is_ordered and is_work_item(axis))
            for axis, i in other.iteration
        )


def _name(axis: Axis) -> str:
    return axis.symbol.data if isinstance(axis, tg.SpecialOp) else f"range {axis.axis.data}"


def parallel_race(
    cell: str, now: Instance, does: str, before: Instance, did: str
) -> InterpretationError:
    """The error of two parallel instances that access one cell."""
    error = InterpretationError(f"race: {now} {does} {cell}, which {before} {did}")
    return add_note(locate(error, now.op), before.op, f"{before} {did} it here")


def unordered_stores(cell: str, now: Operation, before: Operation) -> InterpretationError:
    """The error of two STOREs, or ATOMICADDs, that neither waits for the other."""
    message = f"race: two stores that neither waits for the other write {cell}"
    return add_note(locate(InterpretationError(message), now), before, "the other store is here")


def out_of_bounds(now: Instance, index: str, name: str, size: int) -> InterpretationError:
    """The error of an access outside of its memory of `size` elements."""
    by = f" by {now}" if now.iteration else ""
    message = f"out of bounds: an access{by} to element {index} of {name}, which has {size}"
    return locate(InterpretationError(message), now.op)


def not_written(now: Instance, cell: str) -> InterpretationError:
    """The error of a read of LOCAL memory that has no contents yet."""
    message = f"{now} reads {cell}, which no work item has written: local memory of a grid is not 0"
    return locate(InterpretationError(message), now.op)


def not_reached(now: Instance, missing: Instance, analysis: BlockAnalysis) -> InterpretationError:
    """The error of a BARRIER or an op of a warp that one work item reaches and another does not."""
    group = "warp" if warp_of(now.op) > 1 else "workgroup"
    message = (
        f"a {now.op.name[3:]} is not reached by all work items of a {group}: {now} reaches it, "
        f"{missing} does not"
    )
    error = locate(InterpretationError(message), now.op)
    around = [op for op in analysis.scopes.of[now.op] if not is_parallel(op)]
    for op in around:
        add_note(error, op, f"it is inside this {op.name[3:]}")
    return error
