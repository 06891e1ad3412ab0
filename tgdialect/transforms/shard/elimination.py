"""The cheapest choice for many variables, of which few at a time have a common cost.

The cost is a sum of tables, each of which depends on some variables. Bucket elimination (Dechter,
1999) is exact: it removes one variable after the other, each with the tables that depend on it, for
one table of the least cost for each choice of their other variables. It takes time that grows
exponentially with the number of those, which is small for programs: chains with a few skips.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

Costs = np.ndarray[Any, np.dtype[np.float64]]

_LARGEST = 1 << 20
"""The number of cells of the largest table. A variable that needs a larger one gets the value that
each of its tables on its own likes best, so that the choice may not be the cheapest any more. It
trades optimality against 8 MiB and some milliseconds; no program of the tests comes near it."""


class Table(NamedTuple):
    """Costs that depend on some variables, an axis for each; no variable is named twice."""

    variables: tuple[int, ...]
    costs: Costs


def cheapest(sizes: Sequence[int], tables: Iterable[Table]) -> list[int]:
    """A choice for each variable that has the least sum of costs.

    Args:
        sizes: how many choices each variable has, at least one.
        tables: the costs, which may be infinite for choices that are not allowed. If all are, so is
            the result's.
    """
    of_variable: list[list[Table]] = [[] for _ in sizes]

    def insert(table: Table) -> None:
        for v in table.variables:
            of_variable[v].append(table)

    def remove(table: Table) -> None:
        for v in table.variables:
            of_variable[v] = [t for t in of_variable[v] if t is not table]

    def cells(v: int) -> int:
        return math.prod(sizes[u] for u in _joined(of_variable[v], v))

    for table in tables:
        # A variable without a choice is no axis: NumPy has at most 64 of them.
        variables = tuple(v for v in table.variables if sizes[v] > 1)
        insert(Table(variables, table.costs.reshape([sizes[v] for v in variables])))
    chosen: list[tuple[int, tuple[int, ...], Any]] = []
    queue = [(cells(v), v) for v in range(len(sizes))]
    heapq.heapify(queue)
    is_done = [False] * len(sizes)
    while queue:
        size, v = heapq.heappop(queue)
        if is_done[v]:
            continue
        if size != (now := cells(v)):
            heapq.heappush(queue, (now, v))
            continue
        is_done[v] = True
        found = of_variable[v]
        others = _joined(found, v)
        for table in found:
            remove(table)
        if size * sizes[v] <= _LARGEST:
            total = summed(found, (*others, v), sizes)
            chosen.append((v, others, total.argmin(-1)))
            insert(Table(others, np.asarray(total.min(-1))))
        else:
            total = np.zeros(sizes[v])
            for table in found:
                rest = tuple(i for i, u in enumerate(table.variables) if u != v)
                total += table.costs.min(rest)
            best = int(total.argmin())
            chosen.append((v, (), best))
            for table in found:
                at = table.variables.index(v)
                rest = (*table.variables[:at], *table.variables[at + 1 :])
                insert(Table(rest, np.asarray(table.costs.take(best, at))))
        for u in others:
            heapq.heappush(queue, (cells(u), u))
    result = [0] * len(sizes)
    for v, others, best in reversed(chosen):
        result[v] = int(best[tuple(result[u] for u in others)]) if others else int(best)
    return result


def summed(tables: Iterable[Table], variables: Sequence[int], sizes: Sequence[int]) -> Costs:
    """The sum of tables, with an axis for each of some variables, which have all of theirs."""
    total = np.zeros([sizes[v] for v in variables])
    for table in tables:
        total += _spread(table, variables)
    return total


def _joined(tables: Iterable[Table], v: int) -> tuple[int, ...]:
    """The variables of tables but for one, in order."""
    return tuple(sorted({u for table in tables for u in table.variables} - {v}))


def _spread(table: Table, variables: Sequence[int]) -> Costs:
    """The costs of a table with an axis for each of more variables, of extent 1 for new ones."""
    order = sorted(range(len(table.variables)), key=lambda i: variables.index(table.variables[i]))
    shape = [1] * len(variables)
    for v, extent in zip(table.variables, table.costs.shape, strict=True):
        shape[variables.index(v)] = extent
    return table.costs.transpose(order).reshape(shape)
