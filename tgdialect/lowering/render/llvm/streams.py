"""Parameters that are read or written from one end to the other: what a cache need not keep, and
what it can be told to load ahead."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import takewhile

from xdsl.ir import Block, Operation, OpResult, SSAValue

from tgdialect.analysis.affine.lanes import lane_indices
from tgdialect.ops.attributes import AxisType
from tgdialect.ops.elementwise import MulAccOp
from tgdialect.ops.memory import LoadOp
from tgdialect.ops.movement import IndexOp
from tgdialect.ops.ordering import EndOp, RangeOp
from tgdialect.ops.properties import dtype_of, is_memory, known_index, polynomial, tensor
from tgdialect.ops.source import BufferOp, ParamOp
from tgdialect.ops.views import memory_of
from tgdialect.targets import Target

AHEAD = 2048
"""The bytes between a vector and what is prefetched with it. With fewer, a tile arrives before the
line does: memory takes some 100 ns, in which a tile goes through 1 to 2 KiB. With more, as many
bytes at the start of the weights are not prefetched, and lines may leave L2 again. From timing BERT
and GPT-2: 0.5 to 8 KiB are alike, and 16 KiB are slower."""

MANY_USES, MANY_USES_KEPT = 4, 7
"""How often the steps of a register tile use each element of a parameter, so that prefetches at the
distance `AHEAD` pay: one takes a slot for loads, of which steps with fewer multiply-adds have none
to spare. The second number is for parameters that fit into L2: only the first block of rows misses
them. Of convolutions with 1 MiB of weights, those with 14 uses took 0.88 of the time with
prefetches, those with 6 took 1.1 times as long."""

PREFETCHED_PART = 0.25
"""The part of L2 that a parameter has to exceed to be prefetched. Smaller ones are there before
their first use costs much: with a tenth of L2 no kernel of MobileNetV2 was faster. With half of it,
fewer were."""


def streamed(block: Block, params: Sequence[SSAValue], cache: int) -> Set[SSAValue]:
    """The parameters that are larger than the cache and only written."""
    loaded = {memory_of(op.buffer).owner for op in block.ops if isinstance(op, LoadOp)}
    slots = {op.slot.data for op in loaded if isinstance(op, ParamOp)}
    return {p for slot, p in enumerate(params) if slot not in slots and _bytes(p) > cache}


@dataclass(frozen=True)
class Stream:
    """What each iteration of a loop prefetches: some bytes of a parameter, from an address on that
    is affine in the variables of loops."""

    memory: SSAValue
    strides: Mapping[SSAValue, int]
    """How many bytes each loop variable moves the address."""
    start: int
    """The distance from the parameter, in bytes, where all loop variables are 0."""
    bytes: int


def prefetched(
    block: Block, params: Sequence[SSAValue], target: Target
) -> Mapping[RangeOp, Sequence[Stream]]:
    """What the steps of register tiles prefetch, by their innermost loop: large memory whose
    elements they load in order, as packed weights and what a kernel packs itself. The processor's
    own prefetcher stops at the end of each page."""
    packed = (op.result for op in block.ops if isinstance(op, BufferOp))
    large = [
        *(p for p in params if _bytes(p) > PREFETCHED_PART * target.l2),
        *(p for p in packed if _bytes(p) > target.l1),
    ]
    found: dict[RangeOp, Sequence[Stream]] = {}
    if large:
        for loops, ops in _innermost(block):
            if streams := [*_in_order(loops, ops, large, target)]:
                found[loops[-1]] = streams
    return found


def _in_order(
    loops: Sequence[RangeOp], ops: Sequence[Operation], large: Sequence[SSAValue], target: Target
) -> Iterator[Stream]:
    """What the steps in the innermost of some loops prefetch."""
    loads = [op for op in ops if isinstance(op, LoadOp)]
    elements: Counter[SSAValue] = Counter()
    for load in loads:
        elements[memory_of(load.buffer)] += math.prod(tensor(load.result).get_shape())
    used = sum(math.prod(tensor(op.result).get_shape()) for op in ops if isinstance(op, MulAccOp))
    for memory, count in elements.items():
        if memory not in large or used < MANY_USES * count:
            continue
        here = [_strides(load) for load in loads if memory_of(load.buffer) is memory]
        if any(each.get(loops[-1].result) != count for each in here):
            continue
        if (stream := _next_block(loops, memory, here[0], count)) is not None:
            yield stream
        is_kept = isinstance(memory.owner, ParamOp) and _bytes(memory) <= target.l2
        if used >= (MANY_USES_KEPT if is_kept else MANY_USES) * count:
            itemsize = dtype_of(memory).itemsize
            strides = {variable: stride * itemsize for variable, stride in here[0].items()}
            yield Stream(memory, strides, AHEAD, count * itemsize)


def _next_block(
    loops: Sequence[RangeOp], memory: SSAValue, strides: Mapping[SSAValue, int], count: int
) -> Stream | None:
    """The stream that prefetches the next block of a parameter evenly while one is used, if loops
    around a reduction use a block several times. Each step prefetches an equal share, mostly less
    than a cache line. `strides` are those of the `count` elements that a step loads."""
    block, passes, around = count, 1, [*reversed(loops)]
    share: dict[SSAValue, int] = {}
    reduction = [*takewhile(lambda r: r.result in strides, around)]
    rest = around[len(reduction) :]
    again = [*takewhile(lambda r: r.result not in strides and _is_sequential(r), rest)]
    outer = rest[len(again) :]
    for r in reduction:
        block *= known_index(r.bound) or 0
    for r in again:
        passes *= known_index(r.bound) or 0
    is_last = not any(r.result in strides and _is_sequential(r) for r in outer)
    if passes < 2 or not block or is_last or any(strides[r.result] % count for r in reduction):
        return None
    itemsize = dtype_of(memory).itemsize
    part = -(-count * itemsize // passes)
    for r in reduction:
        share[r.result] = strides[r.result] // count * part
    steps = block // count
    for r in again:
        share[r.result] = steps * part
        steps *= known_index(r.bound) or 0
    share |= {r.result: strides[r.result] * itemsize for r in outer if r.result in strides}
    return Stream(memory, share, block * itemsize, part)


def _is_sequential(loop: RangeOp) -> bool:
    return loop.axis_type.data is not AxisType.THREAD


def _innermost(block: Block) -> Iterator[tuple[Sequence[RangeOp], Sequence[Operation]]]:
    """The loops of reductions that have no loop inside, as the last of the loops that are open
    there, with the ops in each."""
    loops: list[RangeOp] = []
    ops: list[Operation] | None = None
    for op in block.ops:
        if isinstance(op, RangeOp):
            loops.append(op)
            ops = []
        elif isinstance(op, EndOp):
            if ops is not None and loops[-1].axis_type.data is AxisType.REDUCE:
                yield loops, ops
            ops = None
            del loops[len(loops) - len(op.ranges) :]
        elif ops is not None:
            ops.append(op)


def _strides(load: LoadOp) -> Mapping[SSAValue, int]:
    """How many elements each loop variable moves the vectors that a LOAD loads; none if it loads
    scalars, or if that is not known."""
    if not isinstance(index := load.buffer.owner, IndexOp) or len(index.indices) != 1:
        return {}
    found = lane_indices(index.indices[0])
    if found is None or not found.is_ramp:
        return {}
    total: Counter[SSAValue] = Counter()
    for scalar, factor in found.scalars.terms.items():
        for values, coefficient in polynomial(scalar).terms.items():
            variable = values[0] if len(values) == 1 else None
            if not isinstance(variable, OpResult) or not isinstance(variable.owner, RangeOp):
                return {}
            total[variable] += factor * int(coefficient)
    return total


def _bytes(memory: SSAValue) -> int:
    """The size of memory in bytes; 0 for scalars and memory of dynamic size."""
    if not is_memory(memory) or not tensor(memory).has_static_shape():
        return 0
    return math.prod(tensor(memory).get_shape()) * dtype_of(memory).itemsize
