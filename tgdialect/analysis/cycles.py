"""The one cost model: from the features of a nest and a target to cycles, part by part."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from tgdialect.analysis.features import Count, Features
from tgdialect.targets import Target

OVERLAP = 0.1
"""The part of the time of all other resources that does not overlap with that of the slowest one.
Larger: tiles that use one resource less are preferred to those that use the slowest one less."""

LOADS = 2
"""The loads of single elements that a core starts in a cycle."""

LOOP = 1.0
"""The cycles of the branch, the counter and the addresses of an iteration."""

CODE = 1e-4
"""The part of the time by which an instruction of the innermost loop counts more: the time to
compile it. Larger: smaller tiles."""


class Cycles(NamedTuple):
    """The cycles of a nest on one core, by the resource that takes them."""

    ports: float
    """Arithmetic, or the latency of sums if that is more."""
    loads: float
    stores: float
    shuffles: float
    loops: float
    l2: float
    llc: float
    memory: float
    copies: float
    tlb: float
    code: float
    """The part of the time by which the code counts more."""

    @property
    def total(self) -> float:
        *others, copies, tlb, code = self
        most = _greatest(others)
        return (most + OVERLAP * (sum(others) - most) + copies + tlb) * (1 + code)


def cycles(found: Features, target: Target) -> Cycles:
    """The cycles of a nest with some features."""
    return Cycles(
        ports=_greatest(
            (found.arithmetic / (target.vector_ports * target.datapath), found.chain * target.mulacc_latency)
        ),
        loads=found.loads / (target.vector_loads * target.datapath) + (found.broadcasts + found.lanes) / LOADS,
        stores=found.stores / target.datapath + found.scattered,
        shuffles=found.shuffles + found.lanes + found.scattered,
        loops=LOOP * found.iterations,
        l2=found.into_l1 / target.l2_bytes,
        llc=found.into_l2 / target.llc_bytes,
        memory=found.into_llc / target.bytes_per_cycle,
        copies=found.copies,
        tlb=found.pages * target.tlb_cycles,
        code=CODE * found.code,
    )


def _greatest(counts: Sequence[Count]) -> Count:
    """The greatest of some counts, or of each tiling's."""
    if any(isinstance(count, np.ndarray) for count in counts):
        return reduce(np.maximum, counts)
    return max(counts)
