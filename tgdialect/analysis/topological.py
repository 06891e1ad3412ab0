"""A topological order that keeps the order of the program where it can."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush


def topological(items: Iterable[int], successors: Mapping[int, Sequence[int]]) -> list[int]:
    """Kahn's algorithm, the least item first; items on a cycle, or after one, are missing from the
    result."""
    waiting = dict.fromkeys(items, 0)
    for after in successors.values():
        for item in after:
            waiting[item] += 1
    ready = [item for item, count in waiting.items() if not count]
    heapify(ready)
    order: list[int] = []
    while ready:
        item = heappop(ready)
        order.append(item)
        for successor in successors.get(item, ()):
            waiting[successor] -= 1
            if not waiting[successor]:
                heappush(ready, successor)
    return order
