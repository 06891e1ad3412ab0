"""Which ops read and write which memory. The order of kernels and of LINEARs depends on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tgdialect.interpreter.movement import MOVEMENTS
from tgdialect.ops import tg
from tgdialect.ops.properties import is_memory

_ORDERING = (tg.AfterOp, tg.EndOp, tg.GroupOp, tg.SinkOp, tg.BarrierOp)
"""Ops that wait for their operands without reading them."""

_OPAQUE = (tg.CallOp, FuncCallOp, tg.CustomOp, tg.InsOp, tg.CustomFunctionOp)
"""Ops that may do anything to the memory they are given."""


def is_view(op: Operation) -> bool:
    """Whether the result is a view of the first operand where that is memory."""
    return op.name in MOVEMENTS or isinstance(
        op, tg.AfterOp | tg.DetachOp | tg.ContiguousBackwardOp
    )


@dataclass
class Roots:
    """The memory that each view shows, cached."""

    _known: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    _by_slot: dict[tuple[str, int, Attribute], SSAValue] = field(
        default_factory=dict[tuple[str, int, Attribute], SSAValue]
    )

    def __getitem__(self, value: SSAValue) -> SSAValue:
        """The value that made the memory that `value` is a view of."""
        chain: list[SSAValue] = []
        known = self._known
        while value not in known:
            owner = value.owner
            if not isinstance(owner, Operation) or not is_view(owner):
                known[value] = self._canonical(value, owner)
                break
            chain.append(value)
            value = owner.operands[0]
        root = known[value]
        for view in chain:
            known[view] = root
        return root

    def _canonical(self, value: SSAValue, owner: Operation | Block) -> SSAValue:
        """PARAMs of one slot are one memory, and so are BUFFERs of one slot and address space."""
        if isinstance(owner, tg.ParamOp | tg.BufferOp):
            return self._by_slot.setdefault((owner.name, owner.slot.data, value.type), value)
        return value


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """One op reading or writing (or both) memory through `view`, its operand at `position`."""

    op: Operation
    position: int
    view: SSAValue
    root: SSAValue
    reads: bool
    writes: bool


def memory_uses(op: Operation, roots: Roots) -> Iterable[MemoryUse]:
    """How an op uses the memory among its operands."""
    if isinstance(op, _ORDERING):
        return
    for position, operand in enumerate(op.operands):
        if not is_memory(operand):
            continue
        root = roots[operand]
        if isinstance(op, _OPAQUE):
            yield MemoryUse(op, position, operand, root, reads=True, writes=True)
        elif position == 0 and isinstance(op, tg.StoreOp):
            yield MemoryUse(op, position, operand, root, reads=False, writes=True)
        elif position == 0 and isinstance(op, tg.AtomicAddOp):
            yield MemoryUse(op, position, operand, root, reads=True, writes=True)
        elif position > 0 or not is_view(op):
            yield MemoryUse(op, position, operand, root, reads=True, writes=False)
