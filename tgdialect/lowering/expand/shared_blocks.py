"""Factors of WMMAs that all lanes read from memory: where the block of a tile begins.

STAGE has copied them to the order that an instruction reads. Here that is proven again from the
indices of the kernel, which may have been written by hand.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

from xdsl.ir import SSAValue

from tgdialect.analysis.affine.bits import BitSums
from tgdialect.lowering.recomputation import computed_again
from tgdialect.ops import tg
from tgdialect.ops.affine import Affine
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.properties import Polynomial, place, polynomial, tensor
from tgdialect.ops.views import memory_of


def shared_block(
    builder: OpBuilder,
    factor: SSAValue,
    bits: Mapping[SSAValue, Sequence[str]],
    layout: Sequence[str],
    *,
    is_local: bool,
) -> SSAValue | None:
    """The LOAD of the first element of the block of memory that holds a factor, in the order of a
    layout, in a view of all blocks of this size; None if it is in no such block.

    rewrite, for blocks of 512:
        %v = load %b[64 * %t + (%lane mod 8) / 4, ...]  ->  %v = load (reshape %b)[%t, 0]
    Args:
        bits: by range, which bits of the coordinates its bits are.
        layout: which bit of the coordinates each bit of the position in the block is.
        is_local: whether the memory has to be LOCAL.
    """
    load = factor.owner
    if not isinstance(load, tg.LoadOp) or load.gate is not None:
        return None
    index = load.buffer.owner
    if not isinstance(index, tg.IndexOp):
        return None
    if is_local and place(memory_of(load.buffer)).addrspace is not tg.AddrSpace.LOCAL:
        return None
    shape = tensor(index.source).get_shape()
    if len(index.indices) != len(shape):
        return None
    steps = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    sums = BitSums(bits)
    found = sums.flattened(index.indices, steps)
    wanted = {bit: 1 << position for position, bit in enumerate(layout)}
    size = 1 << len(layout)
    if found is None or found.strides != wanted or found.divisor % size or math.prod(shape) % size:
        return None
    number = _number(builder, list(zip(index.indices, steps, strict=True)), sums, bits, size)
    blocks = builder.put(tg.ReshapeOp(index.source, [math.prod(shape) // size, size]))
    return builder.put(
        tg.LoadOp(builder.put(tg.IndexOp(blocks, [number, builder.index_constant(0)])))
    )


def _number(
    builder: OpBuilder,
    digits: Sequence[tuple[SSAValue, int]],
    sums: BitSums,
    bits: Collection[SSAValue],
    size: int,
) -> SSAValue:
    """The sum of digits times steps where all bits are 0, divided by the size of a block."""
    put, constant = builder.put, builder.index_constant
    known: dict[SSAValue, Polynomial] = {value: Affine() for value in bits}
    start: Polynomial = Affine()
    for value, step in digits:
        start += polynomial(value, known=known) * step
    # A quotient or remainder of bits alone is 0, and its terms are left out.
    atoms = {atom for product in start.terms for atom in product if isinstance(atom, SSAValue)}
    of_bits = {atom: part for atom in atoms if (part := sums[atom]) is not None and part.strides}
    terms = {p: c for p, c in start.terms.items() if of_bits.keys().isdisjoint(p)}
    is_whole = not any(factor % size for factor in (*terms.values(), start.constant))
    if is_whole and not any(part.divisor for part in of_bits.values()):
        number = constant(start.constant // size)
        for product, factor in terms.items():
            term = constant(factor // size)
            for atom in product:
                assert isinstance(atom, SSAValue)
                term = put(tg.MulOp(atom, term))
            number = put(tg.AddOp(number, term))
        return number
    # Otherwise it is computed from the same ops, with 0 for the bits.
    mapping = dict.fromkeys(bits, constant(0))
    number = constant(0)
    for value, step in digits:
        digit = computed_again(builder, value, mapping)
        number = put(tg.AddOp(number, put(tg.MulOp(digit, constant(step)))))
    return put(tg.IDivOp(number, constant(size)))
