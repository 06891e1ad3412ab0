"""Factors of WMMAs that all lanes read from LOCAL memory: where the block of a tile begins.

STAGE has copied them to the order that an instruction reads. Here that is proven again from the
indices of the kernel, which may have been written by hand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from tgdialect.analysis.affine.bits import BitSums
from tgdialect.lowering.optimize.axes import NOT_COPIED
from tgdialect.ops.attributes import AddrSpace
from tgdialect.ops.builder import OpBuilder
from tgdialect.ops.elementwise import AddOp, IDivOp, MulOp
from tgdialect.ops.memory import LoadOp
from tgdialect.ops.movement import IndexOp, ReshapeOp
from tgdialect.ops.properties import place, tensor
from tgdialect.ops.views import memory_of


def shared_block(
    builder: OpBuilder,
    factor: SSAValue,
    bits: Mapping[SSAValue, Sequence[str]],
    layout: Sequence[str],
) -> SSAValue | None:
    """The LOAD of the first element of the block of LOCAL memory that holds a factor, in the order
    of a layout, in a view of all blocks of this size; None if it is in no such block.

    rewrite, for blocks of 512:
        %v = load %b[64 * %t + (%lane mod 8) / 4, ...]  ->  %v = load (reshape %b)[%t, 0]
    Args:
        bits: by range, which bits of the coordinates its bits are.
        layout: which bit of the coordinates each bit of the position in the block is.
    """
    load = factor.owner
    if not isinstance(load, LoadOp) or load.gate is not None:
        return None
    index = load.buffer.owner
    if not isinstance(index, IndexOp) or place(memory_of(load.buffer)).addrspace is not (
        AddrSpace.LOCAL
    ):
        return None
    shape = tensor(index.source).get_shape()
    if len(index.indices) != len(shape):
        return None
    steps = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    found = BitSums(bits).flattened(index.indices, steps)
    wanted = {bit: 1 << position for position, bit in enumerate(layout)}
    size = 1 << len(layout)
    if found is None or found.strides != wanted or found.divisor % size or math.prod(shape) % size:
        return None
    # The same index where all bits are 0.
    put, constant = builder.put, builder.index_constant
    zero = constant(0)
    mapping = dict.fromkeys(bits, zero)
    start = zero
    for value, step in zip(index.indices, steps, strict=True):
        digit = builder.clone(value, mapping, shared=NOT_COPIED)
        start = put(AddOp(start, put(MulOp(digit, constant(step)))))
    blocks = put(ReshapeOp(index.source, [math.prod(shape) // size, size]))
    return put(LoadOp(put(IndexOp(blocks, [put(IDivOp(start, constant(size))), zero]))))
