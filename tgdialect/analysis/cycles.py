"""The one cost model: from the features of a nest and a target to cycles, part by part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from tgdialect.analysis.features import Count, Features, greater
from tgdialect.targets import Target

OVERLAP, FAR = 0.1, 0.5
"""The parts of the time of other resources that do not overlap with that of the slowest one: of a
core's own, and of what comes from beyond its L2. Larger: tiles that use one resource less, and
loops that go through memory less often, are preferred to those that use the slowest one less. From
timing 40 schedules each of 20 kernels (docs/notes/heuristic.md has the processors)."""

ERROR = 0.02
"""The part of a cost by which candidates may differ that are taken to be equal: then others decide,
as the order in which loops are. The model is not as exact. Larger: a worse one is taken; smaller:
what the model does not know of decides less often. An order of magnitude."""

STREAM = 0.4
"""The part of the time by which memory takes longer for one stream of a core than for many: with n
streams it is an nth of that. Larger: sums read more rows at a time. From timing: one stream reads
33 GB/s on two cores, eight 46 (docs/notes/heuristic.md has the processor)."""

ENTRY = 5.0
"""The cycles of entering and leaving the innermost loop: addresses, and a branch that is not always
predicted. Larger: more loops are written out."""

CODE = 3e-4
"""The part of the time by which an instruction of the innermost loop counts more: the time to
compile it. Larger: smaller tiles."""


class Cycles(NamedTuple):
    """The cycles of a nest on one core, by the resource that takes them."""

    ports: Count
    """Arithmetic."""
    latency: Count
    """Sums, in which each step waits for the one before."""
    loads: Count
    stores: Count
    shuffles: Count
    l2: Count
    llc: Count
    memory: Count
    tlb: Count
    unforeseen: Count
    """Cache lines that nothing has loaded ahead."""
    loops: Count
    """One for the branch, the counter and the addresses of an iteration, and entries."""
    copies: Count
    code: Count
    """The part of the time by which the code counts more."""

    def named(self) -> Mapping[str, float]:
        """The parts by name, in cycles."""
        parts = self._asdict()
        del parts["code"]
        return parts

    @property
    def total(self) -> Count:
        """The cycles of the nest: those of the slowest resource, and what does not overlap."""
        *others, loops, copies, code = self
        core, far = others[:-4], others[-4:]
        rest = OVERLAP * sum(core) + FAR * sum(far)
        slowest = _greatest([(1 - OVERLAP) * _greatest(core), (1 - FAR) * _greatest(far)])
        return (slowest + rest + loops + copies) * (1 + code)


def cycles(found: Features, target: Target) -> Cycles:
    """The cycles of a nest with some features."""
    # Vectors that registers do not hold are stored and loaded in each iteration.
    spilled = greater(found.registers - target.vector_registers, 0) * found.iterations
    return Cycles(
        ports=found.arithmetic / (target.vector_ports * target.datapath),
        latency=found.chain * target.mulacc_latency,
        loads=(found.loads + spilled) / (target.vector_loads * target.datapath)
        + (found.broadcasts + found.lanes) / target.vector_loads,
        stores=(found.stores + spilled) / target.datapath + 2 * found.scattered,
        shuffles=found.shuffles + 2 * (found.lanes + found.scattered),
        l2=found.into_l1 / target.l2_bytes,
        llc=found.into_l2 / target.llc_bytes,
        memory=found.into_llc / target.bytes_per_cycle * (1 + STREAM / found.streams),
        tlb=found.pages * target.tlb_cycles,
        unforeseen=found.unforeseen * target.unforeseen_cycles,
        loops=found.iterations + ENTRY * found.entries,
        copies=found.copies,
        code=CODE * found.code,
    )


def _greatest(counts: Sequence[Count]) -> Count:
    """The greatest of some counts, or of each tiling's."""
    if any(isinstance(count, np.ndarray) for count in counts):
        return reduce(np.maximum, counts)
    return max(counts)
