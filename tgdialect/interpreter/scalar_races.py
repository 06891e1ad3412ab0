"""Races between what the oracle executes one after the other, and a device in any order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from xdsl.ir import Operation

from tgdialect.interpreter.instances import Instance, parallel_race, unordered_stores
from tgdialect.interpreter.live import LiveMemory
from tgdialect.ops.numpy_dtypes import Array

_Byte = tuple[LiveMemory, int]

_Accesses = dict[Instance, int]
"""Accesses to a byte, the latest last, each with the number of barriers before it."""


class ScalarRaces:
    """Which STOREs have written the present value of each byte, what has added to it, and what has
    read it since.

    Two STOREs race if the second one changes the byte, and neither op waits for the other or
    parallel iterations execute them. A read races with a STORE or an ATOMICADD of a parallel
    iteration, an ATOMICADD with a STORE of one, or with one that it does not wait for. A BARRIER
    orders what the work items of a workgroup do before it and after it: accesses carry the number
    of barriers that the workgroup had reached.
    """

    def __init__(self, unordered: Mapping[Operation, Set[Operation]]):
        self._unordered = unordered
        self._barriers = 0
        self._writers: dict[_Byte, _Accesses] = {}
        self._adders: dict[_Byte, _Accesses] = {}
        self._readers: dict[_Byte, _Accesses] = {}

    def barrier(self) -> None:
        """All work items of a workgroup have reached this point."""
        self._barriers += 1

    def read(self, memory: LiveMemory, bytes: Array, now: Instance) -> None:
        """An op reads bytes."""
        if not now.iteration:
            return
        for byte in bytes.ravel().tolist():
            key = memory, byte
            self._check_parallel(key, now, "reads", self._writers, "has written")
            self._check_parallel(key, now, "reads", self._adders, "has added to")
            self._record(self._readers, key, now)

    def write(self, memory: LiveMemory, bytes: Array, now: Instance, *, changes: bool) -> None:
        """A STORE writes the bytes of an element, whose value it `changes` or not."""
        for byte in bytes.tolist():
            key = memory, byte
            self._check_parallel(key, now, "writes", self._readers, "has read")
            self._check_parallel(key, now, "writes", self._adders, "has added to")
            self._readers.pop(key, None)
            self._check_order(key, now.op, self._adders.get(key, ()))
            if changes:
                self._check_order(key, now.op, self._writers.get(key, ()))
                did = "has written with another value"
                self._check_parallel(key, now, "writes", self._writers, did)
                self._adders.pop(key, None)
                self._writers.pop(key, None)
            self._record(self._writers, key, now)

    def add(self, memory: LiveMemory, bytes: Array, now: Instance) -> None:
        """An ATOMICADD adds to bytes."""
        for byte in bytes.tolist():
            key = memory, byte
            self._check_parallel(key, now, "adds to", self._readers, "has read")
            self._check_parallel(key, now, "adds to", self._writers, "has written")
            self._check_order(key, now.op, self._writers.get(key, ()))
            self._record(self._adders, key, now)

    def _check_order(self, byte: _Byte, now: Operation, before: Iterable[Instance]) -> None:
        unordered = self._unordered.get(now, set())
        if (other := next((i.op for i in before if i.op in unordered), None)) is not None:
            raise unordered_stores(_cell(byte), now, other)

    def _check_parallel(
        self, byte: _Byte, now: Instance, does: str, others: dict[_Byte, _Accesses], did: str
    ) -> None:
        for before, barriers in others.get(byte, {}).items():
            if now.is_parallel_to(before, is_ordered=barriers != self._barriers):
                raise parallel_race(_cell(byte), now, does, before, did)

    def _record(self, accesses: dict[_Byte, _Accesses], byte: _Byte, now: Instance) -> None:
        """Make an access the latest; an earlier one by the same op and iteration is forgotten."""
        known = accesses.setdefault(byte, {})
        known.pop(now, None)
        known[now] = self._barriers


def _cell(byte: _Byte) -> str:
    memory, position = byte
    return f"cell {position // memory.dtype.itemsize} of {memory.name}"
