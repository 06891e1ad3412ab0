"""Factors that WMMAs read from memory by themselves, and the chains of such WMMAs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from tgdialect.ops import tg


def is_factor(op: tg.LoadOp) -> bool:
    """Whether a LOAD is of a factor that WMMAs read from memory."""
    uses = list(op.result.uses)
    return bool(uses) and all(tg.is_shared_factor(use) for use in uses)


def overwritten(ops: Sequence[Operation]) -> Iterator[Operation]:
    """The LOADs of memory that a later op writes. Nothing writes the memory of others between a
    LOAD and a use of it: a loop that goes back to an earlier op goes through the LOAD again."""
    written: set[SSAValue] = set()
    for op in reversed(ops):
        if isinstance(op, tg.StoreOp | tg.AtomicAddOp):
            written.add(tg.memory_of(op.operands[0]))
        elif isinstance(op, tg.LoadOp) and tg.memory_of(op.buffer) in written:
            yield op


class Chain(NamedTuple):
    """WMMAs of factors in memory that follow each other: the first begins with what is loaded from
    a REG buffer, each other one with the sum of the one before, and the last is stored there."""

    load: tg.LoadOp
    products: Sequence[tg.WmmaOp]
    store: tg.StoreOp

    @property
    def ops(self) -> Sequence[Operation]:
        return self.load, *self.products, self.store


def chains(ops: Sequence[Operation]) -> Iterator[Chain]:
    """The WMMAs that add to a REG buffer, where nothing in between writes memory."""
    loaded: dict[SSAValue, tg.LoadOp] = {}
    for op in ops:
        if isinstance(op, tg.LoadOp):
            is_register = tg.place(op.buffer).addrspace is tg.AddrSpace.REG
            if is_register and op.gate is None and op.result.has_one_use():
                loaded[op.result] = op
        elif isinstance(op, tg.StoreOp):
            products: list[tg.WmmaOp] = []
            value = op.value
            while isinstance(product := value.owner, tg.WmmaOp) and value.has_one_use():
                if len(product.config.shared_shapes) < 2:
                    break
                products.append(product)
                value = product.accumulator
            load = loaded.get(value)
            if products and load is not None and load.buffer is op.buffer and op.gate is None:
                yield Chain(load, products[::-1], op)
            loaded.clear()
        elif isinstance(op, tg.RangeOp | tg.EndOp | tg.IfOp | tg.EndIfOp | tg.AtomicAddOp):
            loaded.clear()


class Stay(NamedTuple):
    """How long the sums of a chain stay in the registers of a matrix instruction: while a loop
    runs that does nothing else, or else for the chain alone. They begin with 0 if what is stored
    to all of the buffer directly before is 0."""

    chain: Chain
    zeros: tg.StoreOp | None = None
    loop: tg.RangeOp | None = None


def stays(ops: Sequence[Operation]) -> Iterator[Stay]:
    """The chains of some ops, and how long the sums of each stay in registers.

    before -> after:
        store %b, 0; range %k; load %b[...]; wmma; store %b[...]; end  ->
            registers are 0; range %k; wmma; end; store %b
    """
    events = [
        op
        for op in ops
        if isinstance(op, _EVENTS) and not (isinstance(op, tg.LoadOp) and is_factor(op))
    ]
    places = {op: at for at, op in enumerate(events)}
    for chain in chains(ops):
        begin, end = places[chain.load], places[chain.store]
        if events[begin : end + 1] != [*chain.ops] or not _is_of_all(chain.load):
            yield Stay(chain)
            continue
        before, after = [None, None, *events[:begin]], [*events[end + 1 :], None]
        loop = before[-1]
        if isinstance(loop, tg.RangeOp) and isinstance(after[0], tg.EndOp):
            before.pop()
        else:
            loop = None
        start = before[-1]
        if not isinstance(start, tg.StoreOp) or not _is_cleared(start, chain):
            start = None
        yield Stay(chain, start, loop)


_EVENTS = (
    *(tg.LoadOp, tg.StoreOp, tg.AtomicAddOp, tg.WmmaOp),
    *(tg.RangeOp, tg.EndOp, tg.IfOp, tg.EndIfOp),
)
"""The ops that access memory, multiply matrices, or begin or end a block."""


def _is_of_all(load: tg.LoadOp) -> bool:
    """Whether a LOAD is of all cells of a buffer, in order."""
    index, memory = load.buffer.owner, tg.memory_of(load.buffer)
    if not isinstance(index, tg.IndexOp) or index.source is not memory or len(index.indices) > 1:
        return False
    cells = index.indices[0].owner
    if not isinstance(memory.owner, tg.BufferOp) or not isinstance(cells, tg.VConstOp):
        return False
    return [*tg.integers(cells, "values")] == [*range(math.prod(tg.tensor(memory).get_shape()))]


def _is_cleared(store: tg.StoreOp, chain: Chain) -> bool:
    """Whether a STORE is one of +0 to all of the buffer of a chain."""
    if store.buffer is not tg.memory_of(chain.load.buffer) or store.gate is not None:
        return False
    value = tg.behind(store.value, tg.ExpandOp, tg.ReshapeOp).owner
    if (
        not isinstance(value, tg.ConstOp)
        or tg.tensor(store.value).get_shape() != tg.tensor(store.buffer).get_shape()
    ):
        return False
    constant = tg.number(value.value)
    return constant == 0 and math.copysign(1, constant) > 0
