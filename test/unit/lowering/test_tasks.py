"""The order of tasks: what a task that no other waits for comes after."""

from __future__ import annotations

import random

import pytest
from xdsl.dialects import test

from tgdialect.lowering.rangeify.tasks import Task, next_to_readers
from tgdialect.ops.dtypes import F32


@pytest.mark.parametrize("seed", range(20))
def test_tasks_that_none_waits_for_come_next_to_what_they_read(seed: int) -> None:
    """Against random graphs: dependences hold, awaited tasks keep their order, and between a task
    that none waits for and the last one before it that shares a source are only others like it."""
    rng = random.Random(seed)
    op = test.TestOp(result_types=[F32] * 6)
    tasks: list[Task] = []
    for number in range(rng.randrange(1, 30)):
        before = set(rng.sample(tasks, min(len(tasks), rng.randrange(3))))
        reads = [(memory, frozenset[Task]()) for memory in rng.sample(op.results, rng.randrange(3))]
        tasks.append(Task(op, number, [], reads, before))
    awaited = {other for task in tasks for other in task.before}
    order = next_to_readers(tasks)
    assert sorted(order, key=tasks.index) == tasks
    assert [t for t in order if t in awaited] == [t for t in tasks if t in awaited]
    for place, task in enumerate(order):
        assert task.before <= set(order[:place])
        if task in awaited:
            continue
        sources = _sources(task)
        earlier = [t for t in tasks[: task.number] if t in sources or _sources(t) & sources]
        if earlier:
            last = max(order.index(t) for t in earlier if order.index(t) < place)
            assert not awaited & set(order[last + 1 : place])


def _sources(task: Task) -> set[object]:
    return {*task.before, *(memory for memory, _ in task.reads)}
