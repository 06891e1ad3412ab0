"""Object code of single kernels in the object cache: a program that has changed compiles only the
kernels that have changed with it.

An entry is named by the hash of the kernel's structure before its schedule, of what is left to do
to it, which includes all that the schedule depends on, and of the machine. It has the kernel's
code, and that of the kernels which its STAGEs have made of it, with what each of them packs: so
much the functions have to know to call them. Kernels that call others are not kept: what they call
is not in their structure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tgdialect.analysis.in_place import Slots
from tgdialect.analysis.structure import Structures
from tgdialect.lowering.optimize import Packing, Scheduled
from tgdialect.runtime.cache import ObjectCache, cache_key
from tgdialect.runtime.program import packed, unpacked
from tgdialect.targets import Target
from tgdialect.targets.host import host_cpu

PREFIX = "kernel-"
"""The prefix of these entries' names."""

_PROGRAMS = "programs"
_SYMBOL = "sym_name"
"""The property of a kernel that its code does not depend on."""


class Compiled(NamedTuple):
    """A program in object code."""

    code: bytes
    symbol: str
    """Its name there, which may be that of another program's kernel."""
    in_place: Sequence[Slots]
    """`in_place_slots` of it."""
    packing: Packing | None = None
    """The packing that it does, if a STAGE has made it."""


def _to_bytes(programs: Sequence[Compiled]) -> bytes:
    """A kernel and what its STAGEs have made as bytes."""
    return packed({_PROGRAMS: programs})


def _from_bytes(data: bytes) -> Sequence[Compiled]:
    """The inverse of `_to_bytes`."""
    return [
        Compiled(code, symbol, in_place, None if packing is None else Packing(*packing))
        for code, symbol, in_place, packing in unpacked(data)[_PROGRAMS]
    ]


class KernelCache:
    """The kernels of one program in the object cache, if there is one."""

    def __init__(self, cache: ObjectCache | None, machine: Target) -> None:
        """`machine` is what the kernels are compiled for."""
        self._cache = cache
        self._machine = str(machine)
        self._structures = Structures()
        self._missing: dict[str, str] = {}
        """The keys of the kernels that the cache lacks, by their names."""

    def find(self, scheduled: Scheduled) -> Sequence[Compiled] | None:
        """The object code of a kernel, after that of the kernels that its STAGEs have made, if the
        cache has it."""
        kernel = scheduled.kernel
        if self._cache is None or kernel.calls:
            return None
        about = [
            f"{name} {attribute}"
            for name, attribute in sorted((kernel.properties | kernel.attributes).items())
            if name != _SYMBOL
        ]
        structure = self._structures.of(kernel.body.block)
        facts = kernel.name, structure, str(scheduled.left), self._machine, host_cpu()
        key = PREFIX + cache_key(*facts, *about)
        if (data := self._cache.get(key)) is not None:
            return _from_bytes(data)
        self._missing[kernel.sym_name.data] = key
        return None

    def keep(self, name: str, programs: Sequence[Compiled]) -> None:
        """Put a kernel of that name into the cache, if it has been looked for."""
        if self._cache is not None and (key := self._missing.pop(name, None)) is not None:
            self._cache.put(key, _to_bytes(programs))
