"""Object code of single kernels in the object cache: a program that has changed compiles only the
kernels that have changed with it.

An entry is named by the hash of the kernel's structure before the stages that take each kernel by
itself, of what is left to do to it, and of the machine. Kernels that call others are not kept: what
they call is not in their structure. Nor is the last kernel of a program, which shares an object
with the functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

from tgdialect.analysis.in_place import Slots
from tgdialect.analysis.structure import Structures
from tgdialect.lowering.optimize import Scheduled
from tgdialect.runtime.cache import ObjectCache, cache_key
from tgdialect.runtime.program import packed, unpacked
from tgdialect.targets import Target
from tgdialect.targets.host import host_cpu

PREFIX = "kernel-"
"""What the names of these entries begin with."""

_NAME, _SLOTS = "name", "in_place"
_SYMBOL = "sym_name"
"""The property of a kernel that its code does not depend on."""


class Compiled(NamedTuple):
    """A kernel in object code."""

    code: bytes
    symbol: str
    """Its name there, which may be that of another program's kernel."""
    in_place: Sequence[Slots]
    """`in_place_slots` of its program."""

    def to_bytes(self) -> bytes:
        """The kernel as bytes."""
        return packed({_NAME: self.symbol, _SLOTS: self.in_place}, [self.code])

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The inverse of `to_bytes`."""
        entries, (code,) = unpacked(data)
        return cls(code, entries[_NAME], [(source, target) for source, target in entries[_SLOTS]])


class KernelCache:
    """The kernels of one program in the object cache, if there is one."""

    def __init__(self, cache: ObjectCache | None, machine: Target) -> None:
        """`machine` is what the kernels are compiled for."""
        self._cache = cache
        self._machine = str(machine)
        self._structures = Structures()
        self._missing: dict[str, str] = {}
        """The keys of the kernels that the cache lacks, by their names."""

    def find(self, scheduled: Scheduled) -> Compiled | None:
        """The object code of a kernel, if the cache has it."""
        kernel = scheduled.kernel
        if self._cache is None or kernel.calls:
            return None
        about = [
            f"{name} {attribute}"
            for name, attribute in sorted((kernel.properties | kernel.attributes).items())
            if name != _SYMBOL
        ]
        structure = self._structures.of(kernel.body.block)
        facts = kernel.name, structure, scheduled.left, self._machine, host_cpu()
        key = PREFIX + cache_key(*facts, *about)
        if (data := self._cache.get(key)) is not None:
            return Compiled.from_bytes(data)
        self._missing[kernel.sym_name.data] = key
        return None

    def keep(self, name: str, compiled: Compiled) -> None:
        """Put a kernel of that name into the cache, if it has been looked for."""
        if self._cache is not None and (key := self._missing.pop(name, None)) is not None:
            self._cache.put(key, compiled.to_bytes())
