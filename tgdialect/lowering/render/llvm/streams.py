"""Parameters that are read or written from one end to the other: what a cache need not keep, and
what it can be told to load ahead."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence, Set

from xdsl.ir import Block, Operation, SSAValue

from tgdialect.analysis.affine.lanes import lane_indices
from tgdialect.ops.attributes import AxisType
from tgdialect.ops.elementwise import MulAccOp
from tgdialect.ops.memory import LoadOp
from tgdialect.ops.movement import IndexOp
from tgdialect.ops.ordering import EndOp, RangeOp
from tgdialect.ops.properties import dtype_of, is_memory, polynomial, tensor
from tgdialect.ops.source import ParamOp
from tgdialect.ops.views import memory_of
from tgdialect.targets import Target

MANY_USES = 4
"""How often the steps of a register tile use each element of a parameter, so that prefetches pay:
one takes a slot for loads, of which steps with fewer multiply-adds have none to spare."""


def streamed(block: Block, params: Sequence[SSAValue], cache: int) -> Set[SSAValue]:
    """The parameters that are larger than the cache and only written."""
    loaded = {memory_of(op.buffer).owner for op in block.ops if isinstance(op, LoadOp)}
    slots = {op.slot.data for op in loaded if isinstance(op, ParamOp)}
    return {p for slot, p in enumerate(params) if slot not in slots and _bytes(p) > cache}


def prefetched(block: Block, params: Sequence[SSAValue], target: Target) -> Set[SSAValue]:
    """The parameters larger than L2 whose elements the steps of a register tile load in order, as
    packed weights. The processor's own prefetcher stops at the end of each page."""
    large = [p for p in params if _bytes(p) > target.l2]
    return set(_in_order(block, large)) if large else set()


def _in_order(block: Block, params: Sequence[SSAValue]) -> Iterator[SSAValue]:
    for loop, ops in _innermost(block):
        loads = [op for op in ops if isinstance(op, LoadOp)]
        elements: Counter[SSAValue] = Counter()
        for load in loads:
            elements[memory_of(load.buffer)] += math.prod(tensor(load.result).get_shape())
        used = sum(
            math.prod(tensor(op.result).get_shape()) for op in ops if isinstance(op, MulAccOp)
        )
        for memory, count in elements.items():
            if memory in params and used >= MANY_USES * count:
                here = [load for load in loads if memory_of(load.buffer) is memory]
                if all(_stride(load, loop) == count for load in here):
                    yield memory


def _innermost(block: Block) -> Iterator[tuple[RangeOp, Sequence[Operation]]]:
    """The loops of reductions that have no loop inside, with the ops in each."""
    loop: RangeOp | None = None
    ops: list[Operation] = []
    for op in block.ops:
        if isinstance(op, RangeOp):
            loop, ops = op, []
        elif isinstance(op, EndOp):
            if loop is not None and loop.axis_type.data is AxisType.REDUCE:
                yield loop, ops
            loop = None
        else:
            ops.append(op)


def _stride(load: LoadOp, loop: RangeOp) -> int:
    """How far apart the vectors are that a LOAD loads in neighbouring iterations; 0 if it loads
    scalars, or if that is not known."""
    if not isinstance(index := load.buffer.owner, IndexOp) or len(index.indices) != 1:
        return 0
    found = lane_indices(index.indices[0])
    if found is None or not found.is_ramp:
        return 0
    return sum(
        factor * int(polynomial(scalar).terms.get((loop.result,), 0))
        for scalar, factor in found.scalars.terms.items()
    )


def _bytes(param: SSAValue) -> int:
    """The size of memory in bytes; 0 for scalars and memory of dynamic size."""
    if not is_memory(param) or not tensor(param).has_static_shape():
        return 0
    return math.prod(tensor(param).get_shape()) * dtype_of(param).itemsize
