"""Orders of magnitude of costs: of ops on an element, of memory, and of ops on a vector."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from xdsl.ir import Operation

from tgdialect.ops import tg
from tgdialect.ops.elementwise import TRANSCENDENTAL
from tgdialect.targets.target import Target

COSTS: Mapping[str, float] = {
    "tg.sqrt": 4,
    **dict.fromkeys(("tg.exp2", "tg.exp", "tg.log2", "tg.log", "tg.log10", "tg.lgamma"), 8),
    "tg.expm1": 10,
    **dict.fromkeys(("tg.log1p", "tg.sin", "tg.cos", "tg.erf"), 12),
    **dict.fromkeys(("tg.softplus", "tg.erfc", "tg.gate", "tg.logaddexp", "tg.fmod"), 16),
    "tg.gelu": 18,
    "tg.pow": 24,
    "tg.threefry": 60,
}
"""The costs of an element by op, in additions; those of other elementwise ops are 1. Larger: an op
is stored rather than computed again, and less of a program with it is written out; smaller: it is
computed more often. Estimates from the lengths of recipes."""

# Prices of memory in the same unit. They are no fields of `Target`, so that a program has the same
# kernels on most targets: what a target decides about fusion is the size of its LOCAL memory, and
# whether a grid keeps the rows of a product there.

LOAD, STORE = 4.0, 16.0
"""The cost of a load from memory, and of a store to it with the loop and the CALL that it takes.
Greater: more is computed again; smaller: more kernels and passes over memory. From timing programs
of `python -m bench`."""

LOCAL_LOAD, LOCAL_STORE = 1.0, 2.0
"""The cost of a load from a LOCAL buffer and of a store to it: less than LOAD and STORE, as the
buffer stays in a cache close to the core."""

CHEAP = STORE - LOAD
"""The cost up to which an element is computed again wherever it is used: a kernel of its own would
take more. A value with a transcendental op (8) and some arithmetic is cheap, two are not."""

FREE = 1.5
"""Recompute an operand inside a reduction only if it costs at most so many operations beyond one
LOAD, or few results use each element; else store it first. Larger: more is computed again; smaller:
more kernels that do not pay. A value that depends on constants alone is also stored if it costs
more: its kernel runs once, but it is compiled. Found with the ResNet of `bench`."""

RECIPE_CYCLES = 20
"""The cycles of an op on a vector that is computed by a polynomial. Larger: fewer of them in a step
that is written out; smaller: longer code. An order of magnitude."""

_RECIPES = frozenset(op.name for op in (*TRANSCENDENTAL, tg.FmodOp))

_DIVISIONS = frozenset(("tg.div", "tg.recip", "tg.sqrt", "tg.idiv", "tg.mod"))
"""The ops that take `Target.division_cycles`."""


@cache
def own_cost(kind: type[Operation]) -> float:
    """The cost of an op per element, without its operands."""
    # A REDUCE costs its iterations, which `demand_cost` counts.
    return COSTS.get(kind.name, 1) if issubclass(kind, tg.ElementwiseOp) else 0


def cycles_of(op: Operation, target: Target) -> int:
    """The cycles of an op on a vector of a CPU."""
    if op.name in _RECIPES:
        return RECIPE_CYCLES
    return target.division_cycles if op.name in _DIVISIONS else 1
