"""How long the ops of a kernel take, as an order of magnitude."""

from __future__ import annotations

import math

from xdsl.ir import Operation

from tgdialect.lowering.optimize.nests import Nests
from tgdialect.ops import tg
from tgdialect.ops.elementwise import TRANSCENDENTAL
from tgdialect.ops.properties import dtype_of, place
from tgdialect.targets import Target

RECIPE_CYCLES = 20
"""About the cycles of an op that is computed by a polynomial. Larger: fewer of them in a step that
is written out; smaller: longer code."""

_RECIPES = frozenset(op.name for op in (*TRANSCENDENTAL, tg.FmodOp))

_DIVISIONS = frozenset(("tg.div", "tg.recip", "tg.sqrt", "tg.idiv", "tg.mod"))
"""The ops that take `Target.division_cycles`."""


def cycles_of(op: Operation, target: Target) -> int:
    """The cycles of an op on a vector, as an order of magnitude."""
    if op.name in _RECIPES:
        return RECIPE_CYCLES
    return target.division_cycles if op.name in _DIVISIONS else 1


def cycles(nests: Nests) -> float:
    """How long a kernel takes on one core, as an order of magnitude."""
    ops = sum(
        nests.trips(op)
        * cycles_of(op, nests.target)
        / nests.target.lanes(dtype_of(op.operands[0]).itemsize)
        for op in nests.work
    )
    moved = 0
    for access in nests.accesses:
        if place(access.op.operands[0]).addrspace is tg.AddrSpace.GLOBAL:
            # The bytes of the distinct cells.
            ranges = [r for r, stride in access.strides.items() if stride != 0]
            moved += math.prod(map(nests.extent, ranges)) * access.itemsize
    return max(ops / nests.target.vector_ports, moved / nests.target.bytes_per_cycle)
