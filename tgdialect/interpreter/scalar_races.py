"""Races between what the oracle executes one after the other, and a device in any order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from tgdialect.interpreter.block_analysis import Axis, is_work_item
from tgdialect.interpreter.live import LiveMemory
from tgdialect.ops.arrays import Data


@dataclass(frozen=True, slots=True)
class Instance:
    """An op in one iteration of the parallel loops around it."""

    op: Operation
    iteration: tuple[tuple[Axis, int], ...]


_Byte = tuple[LiveMemory, int]

_Accesses = dict[Instance, int]
"""Accesses to a byte, the latest last, each with the number of barriers before it."""


class ScalarRaces:
    """Which STOREs have written the present value of each byte, and what has read it since.

    Two STOREs race if the second one changes the byte, and neither op waits for the other or
    parallel iterations execute them. A read and a STORE race if parallel iterations execute them,
    an ATOMICADD and a STORE if neither waits for the other. A BARRIER orders what the work items of
    a workgroup do before it and after it: accesses carry the number of barriers that the workgroup
    had reached.
    """

    def __init__(self, unordered: Mapping[Operation, Set[Operation]]):
        self._unordered = unordered
        self._barriers = 0
        self._writers: dict[_Byte, _Accesses] = {}
        self._adders: dict[_Byte, set[Operation]] = {}
        self._readers: dict[_Byte, _Accesses] = {}

    def barrier(self) -> None:
        """All work items of a workgroup have reached this point."""
        self._barriers += 1

    def read(self, memory: LiveMemory, bytes: Data, now: Instance) -> None:
        """An op reads bytes."""
        if not now.iteration:
            return
        for byte in bytes.ravel().tolist():
            key = memory, byte
            if writers := self._writers.get(key):
                last = next(reversed(writers))
                if self._are_parallel(now, last, writers[last]):
                    raise _race(key, "a thread reads {}, which another has written")
            self._record(self._readers, key, now)

    def write(self, memory: LiveMemory, bytes: Data, now: Instance, *, changes: bool) -> None:
        """A STORE writes the bytes of an element, whose value it `changes` or not."""
        for byte in bytes.tolist():
            key = memory, byte
            if any(self._are_parallel(now, *r) for r in self._readers.pop(key, {}).items()):
                raise _race(key, "a thread writes {}, which another has read")
            self._check_order(key, now.op, self._adders.get(key, ()))
            if changes:
                self._adders.pop(key, None)
                writers = self._writers.pop(key, {})
                self._check_order(key, now.op, (before.op for before in writers))
                if any(self._are_parallel(now, *before) for before in writers.items()):
                    raise _race(key, "parallel iterations write different values to {}")
            self._record(self._writers, key, now)

    def add(self, memory: LiveMemory, bytes: Data, op: Operation) -> None:
        """An ATOMICADD adds to bytes."""
        if op not in self._unordered:
            return
        for byte in bytes.tolist():
            key = memory, byte
            self._check_order(key, op, (before.op for before in self._writers.get(key, ())))
            self._adders.setdefault(key, set()).add(op)

    def _check_order(self, byte: _Byte, op: Operation, before: Iterable[Operation]) -> None:
        if not self._unordered.get(op, set()).isdisjoint(before):
            raise _race(byte, "two stores that neither waits for the other write {}")

    def _record(self, accesses: dict[_Byte, _Accesses], byte: _Byte, now: Instance) -> None:
        """Make an access the latest; an earlier one by the same op and iteration is forgotten."""
        known = accesses.setdefault(byte, {})
        known.pop(now, None)
        known[now] = self._barriers

    def _are_parallel(self, now: Instance, before: Instance, barriers: int) -> bool:
        """Whether parallel iterations make two accesses, and no BARRIER is between them."""
        iteration = dict(now.iteration)
        return any(
            iteration.get(axis, i) != i and (barriers == self._barriers or not is_work_item(axis))
            for axis, i in before.iteration
        )


def _race(byte: _Byte, what: str) -> InterpretationError:
    memory, position = byte
    cell = f"cell {position // memory.dtype.itemsize} of {memory.name}"
    return InterpretationError(f"race: {what.format(cell)}")
