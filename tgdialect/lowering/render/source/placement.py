"""Where the ops of a LINEAR are, and so which values need no variable of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.memory_order import accesses
from tgdialect.ops import tg

_EFFECTS = (tg.StoreOp, tg.AtomicAddOp, tg.BarrierOp, tg.RangeOp, tg.IfOp, tg.EndOp, tg.EndIfOp)


class Placement:
    """The block of each op, and how many effects come before it."""

    def __init__(self, ops: Sequence[Operation]) -> None:
        self._blocks = tg.nesting(ops)
        before = accumulate((isinstance(op, _EFFECTS) for op in ops), initial=0)
        self._effects = dict(zip(ops, before, strict=False))
        self.initial_stores = self._find_initial_stores(ops)
        """The STOREs that give a buffer its first value, by buffer: the buffer is declared
        there."""

    def _find_initial_stores(self, ops: Sequence[Operation]) -> Mapping[SSAValue, Operation]:
        """A STORE of all cells of a buffer before every other access, in a block around these."""
        found: dict[SSAValue, Operation] = {}
        refused: set[SSAValue] = set()
        for access in accesses(ops):
            memory, op = access.memory, access.op
            if not isinstance(memory.owner, tg.BufferOp) or memory in refused:
                continue
            if (first := found.get(memory)) is not None:
                block = self._blocks[first]
                if self._blocks[op][: len(block)] != block:
                    refused.add(memory)
            elif isinstance(op, tg.StoreOp) and _stores_all(op, memory):
                found[memory] = op
            else:
                refused.add(memory)
        return {memory: op for memory, op in found.items() if memory not in refused}

    def is_inlined(self, value: SSAValue, *, reads: bool) -> bool:
        """Whether an expression may be written at its only use, in the same block. One that reads
        memory may not move across an effect."""
        use = next(iter(value.uses)) if value.has_one_use() else None
        while use is not None and is_memory_view(user := use.operation):
            view = user.results[0]
            use = next(iter(view.uses)) if view.has_one_use() else None
        owner = value.owner
        if use is None or not isinstance(owner, Operation) or owner not in self._blocks:
            return False
        user = use.operation
        if self._blocks.get(user) != self._blocks[owner] or _passes_on(user):
            return False
        is_moved = self._effects[user] != self._effects[owner]
        return not (reads and (is_moved or isinstance(user, tg.RangeOp)))


def is_memory_view(op: Operation) -> bool:
    """Whether an op is a view of memory, which is part of the accesses that use it."""
    return isinstance(op, tg.MovementOp) and tg.is_memory(op.results[0])


def _passes_on(op: Operation) -> bool:
    """Whether the result of an op is an operand as it is, which may be used more than once."""
    if isinstance(op, tg.StackOp):
        return bool(tg.tensor(op.sources[0]).get_shape())
    return isinstance(op, tg.PermuteOp | tg.ReshapeOp)


def _stores_all(store: tg.StoreOp, memory: SSAValue) -> bool:
    """Whether a STORE is one of the only cell of a buffer in registers, or of all its cells."""
    if store.gate is not None or tg.place(memory).addrspace is tg.AddrSpace.GLOBAL:
        return False
    shape, cells = tg.tensor(memory).get_shape(), tg.tensor(store.value).get_shape()
    is_whole = store.buffer is memory and shape == cells
    return is_whole or all(extent == 1 for extent in shape)
