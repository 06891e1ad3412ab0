"""Races between what the oracle executes one after the other, and a device in any order."""

from __future__ import annotations

from collections.abc import Collection, Mapping
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
    iteration: Mapping[Axis, int]


_Byte = tuple[LiveMemory, int]


class ScalarRaces:
    """What has written each byte last, and what has read it since.

    Two writes race if the second one changes the byte, and neither op waits for the other or
    parallel iterations execute them. A read and a write race if parallel iterations execute them.
    A BARRIER orders what the work items of a workgroup do before it and after it: accesses carry
    the number of barriers that the workgroup had reached.
    """

    def __init__(self, unordered: Mapping[Operation, Collection[Operation]]):
        self._unordered = unordered
        self._barriers = 0
        self._writers: dict[_Byte, tuple[Instance, int]] = {}
        self._readers: dict[_Byte, list[tuple[Instance, int]]] = {}

    def barrier(self) -> None:
        """All work items of a workgroup have reached this point."""
        self._barriers += 1

    def read(self, memory: LiveMemory, bytes: Data, now: Instance) -> None:
        """An op reads bytes."""
        if not now.iteration:
            return
        for byte in bytes.ravel().tolist():
            key = memory, byte
            if key in self._writers and self._are_parallel(now, *self._writers[key]):
                raise _race(key, "a thread reads {}, which another has written")
            self._readers.setdefault(key, []).append((now, self._barriers))

    def write(self, memory: LiveMemory, bytes: Data, now: Instance, *, changes: bool) -> None:
        """An op writes the bytes of an element, whose value it `changes` or not."""
        for byte in bytes.tolist():
            key = memory, byte
            if any(self._are_parallel(now, *reader) for reader in self._readers.pop(key, ())):
                raise _race(key, "a thread writes {}, which another has read")
            if changes and key in self._writers:
                before, barriers = self._writers[key]
                if before.op in self._unordered.get(now.op, ()):
                    raise _race(key, "two stores that neither waits for the other write {}")
                if self._are_parallel(now, before, barriers):
                    raise _race(key, "parallel iterations write different values to {}")
            self._writers[key] = now, self._barriers

    def _are_parallel(self, now: Instance, before: Instance, barriers: int) -> bool:
        """Whether parallel iterations make two accesses, and no BARRIER is between them."""
        return any(
            now.iteration.get(axis, i) != i
            and (barriers == self._barriers or not is_work_item(axis))
            for axis, i in before.iteration.items()
        )


def _race(byte: _Byte, what: str) -> InterpretationError:
    memory, position = byte
    cell = f"cell {position // memory.dtype.itemsize} of {memory.name}"
    return InterpretationError(f"race: {what.format(cell)}")
