"""Tasks and their order of execution.

A task writes memory: it is a STORE of the program, a realised value, or a CALL of the program.
Memory is versioned (docs/ir.md): a read without AFTER comes before every task that writes the
buffer, a read AFTER some writers comes before all other writers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.memory_order import written_operands
from tgdialect.analysis.min_max import MinMax
from tgdialect.diagnostics import locate
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.lowering.rangeify.copy_non_contiguous import copy_arguments
from tgdialect.ops import tg
from tgdialect.ops.views import movements, versions


@dataclass(eq=False)
class Task:
    """An op to execute, and its dependences."""

    op: Operation
    number: int
    writes: list[SSAValue]
    reads: list[tuple[SSAValue, frozenset[Task]]] = field(
        default_factory=list[tuple[SSAValue, "frozenset[Task]"]]
    )
    """The memory that it reads, with the tasks whose writes each read must see."""
    before: set[Task] = field(default_factory=set["Task"])
    """The tasks that come first."""

    @property
    def bit(self) -> int:
        """The task as a set of one, in bits."""
        return 1 << self.number


def tasks_of(block: Block, realised: set[Operation]) -> list[Task]:
    """The tasks of a function, with the edges between them that the program asks for."""
    tasks: dict[Operation, Task] = {}
    for op in ops_of(block):
        if op in realised:
            tasks[op] = Task(op, len(tasks), [])
        elif isinstance(op, tg.StoreOp):
            tasks[op] = Task(op, len(tasks), [tg.memory_of(op.buffer)])
        elif isinstance(op, tg.CallOp):
            written = [tg.memory_of(a) for a in written_operands(op)]
            tasks[op] = Task(op, len(tasks), written)
    for task in tasks.values():
        _add_data_edges(task, tasks)
    numbered = list(tasks.values())
    _add_version_edges(numbered)
    return numbered


def ordered_tasks(
    tasks: Sequence[Task], overwrites: Iterable[tuple[Operation, SSAValue]] = ()
) -> list[Task]:
    """Tasks in execution order. Refuses cycles and races.

    `overwrites` are tasks that may write memory which nothing needs after this function: each is
    put after the tasks that read it, if that is possible, and if it is the first for this memory.
    """
    by_op = {task.op: task for task in tasks}
    _put_readers_first(tasks, ((by_op[op], memory) for op, memory in overwrites))
    order = next_to_readers(_topological(tasks))
    _refuse_races(order)
    return order


def _add_data_edges(task: Task, tasks: dict[Operation, Task]) -> None:
    """Edges from the tasks whose results a task reads: realised values, CALLs, and the writers that
    the AFTERs of memory name."""
    if isinstance(task.op, tg.StoreOp):
        task.before.update(_effects_of(task.op.buffer, tasks))
    for _, _, memory, version in _needs(task, tasks):
        task.before |= version
        if memory is not None:
            task.reads.append((memory, version))


def _needs(
    task: Task, tasks: Mapping[Operation, Task]
) -> Iterator[tuple[Operation, int, SSAValue | None, frozenset[Task]]]:
    """The values that the ops of a task read, with positions of operands. Of a view of memory the
    memory, and the tasks whose writes it sees; of a value the task that makes it."""
    walk = tg.Walk([task.op])
    for op in walk:
        for position, operand in enumerate(op.operands):
            sources = [operand]
            if tg.is_memory(operand):
                sources = [v for movement in movements(operand) for v in movement.operands[1:]]
                if position or not isinstance(op, tg.StoreOp):
                    version = frozenset(_effects_of(operand, tasks))
                    yield op, position, tg.memory_of(operand), version
            for owner in (source.owner for source in sources):
                if isinstance(owner, tg.TgOp) and (other := tasks.get(owner)) is not None:
                    yield op, position, None, frozenset({other})
                elif isinstance(owner, tg.TgOp):
                    walk.add([owner])


def _effects_of(value: SSAValue, tasks: Mapping[Operation, Task]) -> Iterable[Task]:
    """The tasks that the AFTERs under a view of memory wait for."""
    walk = tg.Walk(each for after in versions(value) for each in after.dependencies)
    for value in walk:
        owner = value.owner
        if isinstance(owner, tg.TgOp) and (task := tasks.get(owner)) is not None:
            yield task
        else:
            walk.add(tg.operands_of(value))


def _up_to(order: Iterable[Task]) -> dict[Task, int]:
    """For each task, the set of all tasks before it and itself, in bits."""
    up_to: dict[Task, int] = {}
    for task in order:
        mask = task.bit
        for other in task.before:
            mask |= up_to[other]
        up_to[task] = mask
    return up_to


def _add_version_edges(tasks: Sequence[Task]) -> None:
    """Edges from each reader to every writer whose write it must not see."""
    up_to = _up_to(_topological(tasks))
    writers: dict[SSAValue, list[Task]] = {}
    for task in tasks:
        for buffer in task.writes:
            writers.setdefault(buffer, []).append(task)
    for task in tasks:
        for buffer, version in task.reads:
            seen = 0
            for other in version:
                seen |= up_to[other]
            for writer in writers.get(buffer, ()):
                if writer is not task and not seen & writer.bit:
                    writer.before.add(task)


def _put_readers_first(tasks: Sequence[Task], overwrites: Iterable[tuple[Task, SSAValue]]) -> None:
    """Edges from the readers of memory to a task that may write it, where these make no cycle."""
    overwrites = list(overwrites)
    if not overwrites:
        return
    up_to = _up_to(_topological(tasks))
    followers: dict[Task, list[Task]] = defaultdict(list)
    readers: dict[SSAValue, set[Task]] = defaultdict(set)
    for task in tasks:
        for other in task.before:
            followers[other].append(task)
        for memory, _ in task.reads:
            readers[memory].add(task)
    settled: set[SSAValue] = set()
    writers: set[Task] = set()
    for writer, memory in overwrites:
        first = readers[memory] - {writer}
        if memory in settled or writer in writers or any(up_to[t] & writer.bit for t in first):
            continue
        settled.add(memory)
        writers.add(writer)
        # All that come after the writer come after these readers, too.
        before = 0
        for task in first:
            before |= up_to[task]
            followers[task].append(writer)
        writer.before |= first
        stack = [writer]
        while stack:
            task = stack.pop()
            if before & ~up_to[task]:
                up_to[task] |= before
                stack += followers[task]


def _topological(tasks: Sequence[Task]) -> list[Task]:
    """The tasks, by number, in an order of execution; among those that are ready, the first of the
    program."""
    order = _runnable(tasks)
    if len(order) != len(tasks):
        stuck = min({task.number for task in tasks}.difference(task.number for task in order))
        error = PassFailedException("a cycle: this needs memory both before and after a STORE")
        raise locate(error, tasks[stuck].op)
    return order


def _runnable(tasks: Sequence[Task]) -> list[Task]:
    """The tasks that are in no cycle and wait for none, in the order of `_topological`."""
    followers: dict[int, list[int]] = defaultdict(list)
    for task in tasks:
        for other in task.before:
            followers[other.number].append(task.number)
    return [tasks[number] for number in tg.topological(range(len(tasks)), followers)]


def early_reads(tasks: Sequence[Task]) -> set[Operation]:
    """The ops to compute by tasks of their own since they read memory before STOREs that tasks
    which use them wait for; none where tasks are in no cycle, or that does not help.

    An operand that is memory is copied where an op that is a task reads it so: by a LOAD, or for a
    CALL by a STORE to a buffer.
    """
    stuck = {*tasks}.difference(_runnable(tasks))
    while awaited := stuck & {other for task in stuck for other in task.before}:
        if awaited == stuck:
            break
        stuck = awaited  # Without those that only wait for tasks in a cycle.
    writers: dict[SSAValue, set[Task]] = defaultdict(set)
    for task in stuck:
        for memory in task.writes:
            writers[memory].add(task)
    fused: set[Operation] = set()
    loaded: list[tuple[Operation, int]] = []
    by_op = {task.op: task for task in tasks}
    for task in stuck if writers else ():
        for reader, position, memory, version in _needs(task, by_op):
            for writer in writers[memory] - version - {task} if memory else ():
                if reader is not task.op:
                    fused.add(reader)
                elif not isinstance(reader, tg.LoadOp) and (
                    writer.op not in tg.computed_from(*reader.operands)
                ):
                    loaded.append((reader, position))
    if not fused:
        for op, position in dict.fromkeys(loaded):
            view = op.operands[position]
            if isinstance(op, tg.CallOp):
                if view not in written_operands(op):
                    fused.add(copy_arguments(op, [view])[0])
                continue
            copy = tg.OpBuilder.before(op).insert(tg.LoadOp(view))
            op.operands[position] = copy.result
            fused.add(copy)
    return fused


def next_to_readers(order: Sequence[Task]) -> list[Task]:
    """An order in which a task that no other waits for comes right after the last task before it
    that makes, or also reads, something that it reads: caches still hold that.

    So the copy of a cache of keys, which a step of decoding returns, follows the product that reads
    the same keys. In the order of the program it would come after all layers.
    """
    awaited = {other for task in order for other in task.before}
    last: dict[SSAValue | Task, int] = {}
    after: list[list[Task]] = [[] for _ in order]
    for place, task in enumerate(order):
        sources = [*task.before, *(memory for memory, _ in task.reads)]
        if task not in awaited:
            place = max((last[source] for source in sources if source in last), default=place)
        after[place].append(task)
        last[task] = place
        last.update((source, place) for source in sources)
    return [task for group in after for task in group]


def _refuse_races(order: Sequence[Task]) -> None:
    """Raise PassFailedException where two tasks without an order may write one cell. Sets of tasks
    are bits: only pairs without an order are compared."""
    up_to = _up_to(order)
    by_number = {task.number: task for task in order}
    writers: dict[SSAValue, int] = defaultdict(int)
    intervals = MinMax()
    for task in order:
        for buffer in task.writes:
            unordered = writers[buffer] & ~up_to[task]
            while unordered:
                other = by_number[unordered.bit_length() - 1]
                if not _disjoint(task.op, other.op, intervals):
                    error = PassFailedException("a race: two unordered stores may write one cell")
                    raise locate(error, task.op)
                unordered ^= other.bit
            writers[buffer] |= task.bit


def _disjoint(a: Operation, b: Operation, intervals: MinMax) -> bool:
    """Whether the windows of two STOREs prove that they write different cells."""
    if not (isinstance(a, tg.StoreOp) and isinstance(b, tg.StoreOp)):
        return False
    window_a, window_b = _written_window(a.buffer, intervals), _written_window(b.buffer, intervals)
    if window_a is None or window_b is None:
        return False
    return any(x.hi < y.lo or y.hi < x.lo for x, y in zip(window_a, window_b, strict=True))


def _written_window(view: SSAValue, intervals: MinMax) -> list[tg.Interval] | None:
    """An interval per axis of the buffer that contains the cells of a view; None if unknown."""
    chain, view = [*movements(view)], tg.memory_of(view)
    if not tg.tensor(view).has_static_shape():
        return None
    result = [tg.Interval(0, n - 1) for n in tg.tensor(view).get_shape()]
    for op in reversed(chain):
        match op:
            case tg.ShrinkOp():
                offsets, shape = tg.window(op)
                cut: list[tg.Interval] = []
                for interval, offset, extent in zip(result, offsets, shape, strict=True):
                    if not isinstance(offset, int) or not isinstance(extent, int):
                        return None
                    first = interval.lo + offset
                    cut.append(tg.Interval(first, first + extent - 1))
                result = cut
            case tg.PermuteOp():
                # From here on the axes of the view are not those of the buffer.
                order = tg.integers(op, "order")
                if list(order) != sorted(order):
                    return None
            case tg.IndexOp() if all(not tg.tensor(i).get_shape() for i in op.indices):
                # An index counts from where a SHRINK below begins.
                at = zip(result, (intervals[i] for i in op.indices), strict=False)
                fixed = [tg.Interval(axis.lo + i.lo, axis.lo + i.hi) for axis, i in at]
                return [*fixed, *result[len(fixed) :]]
            case tg.ReshapeOp():
                return result
            case _:
                return None
    return result
