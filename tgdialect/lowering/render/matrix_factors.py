"""Factors that WMMAs read from memory by themselves, and the chains of such WMMAs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from tgdialect.ops.attributes import AddrSpace
from tgdialect.ops.codegen import AtomicAddOp, EndIfOp, IfOp, WmmaOp, is_shared_factor
from tgdialect.ops.memory import LoadOp, StoreOp
from tgdialect.ops.ordering import EndOp, RangeOp
from tgdialect.ops.properties import place
from tgdialect.ops.views import memory_of


def is_factor(op: LoadOp) -> bool:
    """Whether what is loaded is a factor that WMMAs read from memory."""
    uses = list(op.result.uses)
    return bool(uses) and all(is_shared_factor(use) for use in uses)


def overwritten(ops: Sequence[Operation]) -> Iterator[Operation]:
    """The LOADs of memory that a later op writes. Nothing writes the memory of others between a
    LOAD and a use of it: a loop that goes back to an earlier op goes through the LOAD again."""
    written: set[SSAValue] = set()
    for op in reversed(ops):
        if isinstance(op, StoreOp | AtomicAddOp):
            written.add(memory_of(op.operands[0]))
        elif isinstance(op, LoadOp) and memory_of(op.buffer) in written:
            yield op


class Chain(NamedTuple):
    """WMMAs of factors in memory that follow each other: the first begins with what is loaded from
    a REG buffer, each other one with the sum of the one before, and the last is stored there."""

    load: LoadOp
    products: Sequence[WmmaOp]
    store: StoreOp

    @property
    def ops(self) -> Sequence[Operation]:
        return self.load, *self.products, self.store


def chains(ops: Sequence[Operation]) -> Iterator[Chain]:
    """The WMMAs that add to a REG buffer, where nothing in between writes memory."""
    loaded: dict[SSAValue, LoadOp] = {}
    for op in ops:
        if isinstance(op, LoadOp):
            is_register = place(op.buffer).addrspace is AddrSpace.REG
            if is_register and op.gate is None and op.result.has_one_use():
                loaded[op.result] = op
        elif isinstance(op, StoreOp):
            products: list[WmmaOp] = []
            value = op.value
            while isinstance(product := value.owner, WmmaOp) and value.has_one_use():
                if len(product.config.shared_shapes) < 2:
                    break
                products.append(product)
                value = product.accumulator
            load = loaded.get(value)
            if products and load is not None and load.buffer is op.buffer and op.gate is None:
                yield Chain(load, products[::-1], op)
            loaded.clear()
        elif isinstance(op, RangeOp | EndOp | IfOp | EndIfOp | AtomicAddOp):
            loaded.clear()
