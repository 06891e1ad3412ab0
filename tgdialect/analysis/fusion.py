"""Which values of a function are worth a buffer of their own, and which are computed where used.

A value is *realised* when its elements are stored once and loaded by its consumers. Everything else
fuses: it is computed again in every kernel, and at every index, that asks for it. The choice is
about cost alone; any choice gives the same results.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from tgdialect.ops.attributes import VOID
from tgdialect.ops.elementwise import (
    ElementwiseOp,
    Exp2Op,
    Log2Op,
    PowOp,
    SinOp,
    ThreefryOp,
)
from tgdialect.ops.memory import LoadOp
from tgdialect.ops.movement import (
    BitcastOp,
    ExpandOp,
    FlipOp,
    IndexOp,
    PadOp,
    PermuteOp,
    ReshapeOp,
    ShrinkOp,
    StackOp,
)
from tgdialect.ops.ordering import AfterOp
from tgdialect.ops.properties import dtype_of, is_memory, tensor
from tgdialect.ops.reduce import ReduceOp

RECOMPUTE_LIMIT = 32
"""Elementwise ops that recomputing a value may cost per element before it is realised."""

_COST: dict[type[Operation], int] = {Exp2Op: 8, Log2Op: 8, SinOp: 12, PowOp: 24, ThreefryOp: 60}
"""Ops that cost more than one."""

_BIJECTIVE = (ReshapeOp, PermuteOp, FlipOp, PadOp, ShrinkOp, AfterOp)
"""Movements that show each element of their source at most once."""


@dataclass
class _Use:
    """How a value is consumed: whether at most once per element, and through which views.

    A view identifies the index expression at which elements are asked for: two consumers with one
    view ask for the same element at the same time, so that they can share it.
    """

    count: int = 0
    once: bool = True
    views: dict[Hashable, None] = field(default_factory=dict[Hashable, None])

    def add(self, once: bool, views: Iterator[Hashable]) -> None:
        self.count += 1
        self.once = self.once and once and self.count == 1
        self.views.update(dict.fromkeys(views))


def _costs(block: Block) -> dict[SSAValue, int]:
    """Ops per element if a value is computed where it is used, capped just above the limit."""
    costs: dict[SSAValue, int] = {}
    for op in block.ops:
        for result in op.results:
            if isinstance(op, ReduceOp | LoadOp) or is_memory(result):
                costs[result] = 1
            else:
                inner = sum(costs.get(o, 1) for o in op.operands)
                costs[result] = min(_COST.get(type(op), 1) + inner, RECOMPUTE_LIMIT + 1)
    return costs


def _once_through(op: Operation, operand: SSAValue) -> bool:
    """Whether an op that is computed once per element asks for an operand's elements once."""
    match op:
        case ElementwiseOp():
            return tensor(operand).shape == tensor(op.result).shape
        case BitcastOp():
            return dtype_of(operand).itemsize == dtype_of(op.result).itemsize
        case ExpandOp() | IndexOp() | StackOp():
            return False
        case _:
            return isinstance(op, (*_BIJECTIVE, ReduceOp, LoadOp))


def _is_elementwise_view(op: Operation, operand: SSAValue) -> bool:
    """Whether an op asks for an operand at the index at which it is asked for itself."""
    return isinstance(op, ElementwiseOp | AfterOp) and _once_through(op, operand)


def realised_values(block: Block) -> set[Operation]:
    """The ops whose results get a buffer: one walk from the roots to the leaves.

    LOAD is realised because it says so. A REDUCE is, unless each of its elements is used once: then
    what follows is its epilogue. Any other value is, when computing it again for each further view
    would cost more than `RECOMPUTE_LIMIT` ops per element.
    """
    costs = _costs(block)
    uses: dict[SSAValue, _Use] = {}
    realised: set[Operation] = set()
    for op in reversed(block.ops):
        if not op.results or op.results[0].type == VOID:
            for operand in op.operands:
                uses.setdefault(operand, _Use()).add(True, iter([op]))
            continue
        result = op.results[0]
        use = uses.get(result, _Use())
        if use.count == 0:
            continue
        if _is_worth_a_buffer(op, use, costs[result]):
            realised.add(op)
            use = _Use(count=1, views={op: None})
        once = use.once and use.count == 1
        for operand in op.operands:
            views = (
                iter(use.views)
                if _is_elementwise_view(op, operand)
                else ((op, view) for view in use.views)
            )
            uses.setdefault(operand, _Use()).add(once and _once_through(op, operand), views)
    return realised


def _is_worth_a_buffer(op: Operation, use: _Use, cost: int) -> bool:
    if isinstance(op, LoadOp):
        return True
    if isinstance(op, ReduceOp):
        return not use.once
    return cost > 1 and cost * (len(use.views) - 1) > RECOMPUTE_LIMIT
