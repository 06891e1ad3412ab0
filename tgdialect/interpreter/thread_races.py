"""Races between what runs in parallel: the threads of a workgroup, and the iterations of a loop.

Here all threads execute an op before any executes the next. So a kernel that lacks a BARRIER would
give the right result here, and a wrong one on a device. To find such races, the cells that each
thread reads and writes between two barriers are recorded.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.utils.exceptions import InterpretationError

from tgdialect.ops.arrays import Data

_NOBODY = -1
_SEVERAL = -2


class ThreadRaces:
    """For each cell, which thread has read and which has written it since the last barrier."""

    def __init__(self, cells: int, threads: Data, name: str):
        """`threads` numbers the threads, an array that broadcasts to the lanes of an access."""
        self._readers = np.full(cells, _NOBODY, np.int64)
        self._writers = np.full(cells, _NOBODY, np.int64)
        self._threads = threads
        self._name = name

    def barrier(self) -> None:
        """Forget the accesses before a barrier: they are ordered before those after it."""
        self._readers.fill(_NOBODY)
        self._writers.fill(_NOBODY)

    def read(self, cells: Data, there: Data) -> None:
        """Threads read cells, where `there`; nobody else may have written them."""
        cells, threads = self._by_thread(there, cells)
        writers = self._writers[cells]
        self._check((writers >= 0) & (writers != threads), cells, "reads", "written")
        self._note(self._readers, cells, threads)

    def write(self, cells: Data, there: Data, changed: Data) -> None:
        """Threads write cells, where `there`; nobody else may have read or written them.

        Several threads may write a cell in one op: it does not matter which of them is last. After
        that no thread may change it; `changed` says which of the writes do.
        """
        changes = np.zeros(there.shape, np.bool_)
        changes[there] = changed
        cells, changes, threads = self._by_thread(there, cells, changes)
        for others, verb in ((self._readers, "read"), (self._writers, "written")):
            before = others[cells]
            several = (before == _SEVERAL) & (changes | (others is self._readers))
            other = (before >= 0) & (before != threads)
            self._check(several | other, cells, "writes", verb)
        self._note(self._writers, cells, threads)

    def _by_thread(self, there: Data, *arrays: Data) -> Sequence[Data]:
        """The elements of arrays where `there`, once for each thread, and the threads' numbers."""
        shape = np.broadcast_shapes(there.shape, *(x.shape for x in arrays))
        lane_shape = self._threads.shape + (1,) * (len(shape) - self._threads.ndim)
        there = np.broadcast_to(there, np.broadcast_shapes(shape, lane_shape))
        elements = [np.broadcast_to(x, there.shape)[there] for x in arrays]
        return [*elements, on_elements(self._threads, there)[there]]

    def _note(self, known: Data, cells: Data, threads: Data) -> None:
        before = known[cells]
        alone = (before == _NOBODY) | (before == threads)
        known[cells] = np.where(alone, threads, _SEVERAL)
        # Where a cell occurs for two threads, only the last has been noted.
        shared = known[cells] != threads
        known[cells[shared]] = _SEVERAL

    def _check(self, wrong: Data, cells: Data, verb: str, done: str) -> None:
        if bool(wrong.any()):
            raise InterpretationError(
                f"race: a thread {verb} cell {int(cells[wrong][0])} of {self._name}, which another "
                f"has {done} since the last barrier"
            )


def on_elements(lanes: Data, there: Data) -> Data:
    """An array of lanes, broadcast to the elements that each lane has."""
    return np.broadcast_to(
        lanes.reshape(lanes.shape + (1,) * (there.ndim - lanes.ndim)), there.shape
    )


def differ(a: Data, b: Data) -> Data:
    """Where two one-dimensional arrays of one dtype differ in any bit: a NaN equals itself."""
    width = a.dtype.itemsize
    one, other = (np.ascontiguousarray(x).view(np.uint8).reshape(-1, width) for x in (a, b))
    return np.asarray((one != other).any(axis=1))


def check_parallel_writes(cells: Data, lost: Data, iterations: Data, name: str) -> None:
    """Refuse writes of one op to one cell by iterations that run in parallel.

    `lost` are the writes whose value another write to the same cell has replaced; of one iteration
    the last may do that. Of writes of equal values it does not matter which is last.
    """
    contested = np.isin(cells, cells[lost])
    unique, which = np.unique(cells[contested], return_inverse=True)
    least = np.full(unique.size, np.iinfo(np.int64).max)
    greatest = np.full(unique.size, -1)
    np.minimum.at(least, which, iterations[contested])
    np.maximum.at(greatest, which, iterations[contested])
    if bool((least != greatest).any()):
        cell = int(unique[least != greatest][0])
        raise InterpretationError(
            f"race: parallel iterations write different values to cell {cell} of {name}"
        )
