"""Parameters that are read or written from one end to the other: what a cache need not keep, and
what it can be told to load ahead."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from xdsl.ir import Block, Operation, OpResult, SSAValue

from tgdialect.analysis.affine.lanes import LaneIndices, compact, is_ramp, lane_indices, shifted
from tgdialect.analysis.min_max import MinMax
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg
from tgdialect.ops.properties import static_bytes
from tgdialect.targets import Target

AHEAD = 1024
"""The bytes that a tile loads between a prefetch and its use. Fewer: the tile gets there before the
line does; more: as many bytes at the start of the weights are not prefetched, and lines may leave
L2 again. Memory takes some 100 ns, in which a tile goes through 1 to 2 KiB. From timing BERT and
GPT-2, whose weights are packed: 0.5 to 8 KiB are alike, and 16 KiB are slower. Of a matrix of 4 MiB
in rows, 8 rows of products are as fast with 0.75 to 2 KiB."""

MANY_USES, MANY_USES_KEPT = 4, 7
"""The fewest uses of each element of a parameter by the steps of a register tile, for prefetches at
the distance `AHEAD`; the second number is for parameters that fit into L2, which only the first
block of rows misses. Smaller: prefetches take slots for loads that steps with few multiply-adds do
not have to spare; larger: tiles wait for memory. Of convolutions with 1 MiB of weights, those with
14 uses took 0.88 of the time with prefetches, those with 6 took 1.1 times as long."""

PREFETCHED_PART = 0.25
"""The part of L2 that a parameter has to exceed to be prefetched. Smaller: prefetches of parameters
that are in L2 before their first use costs much; larger: fewer kernels gain. With a tenth of L2 no
kernel of MobileNetV2 was faster, and with half of it fewer were."""

ROW_OF_L2 = 0.125
"""The part of L2 that a row may fill so that the next one is prefetched: a kernel has other rows
there. Not fitted."""


def streamed(
    block: Block, params: Sequence[SSAValue], evicted: Set[int], cache: int
) -> Set[SSAValue]:
    """The parameters that are only written, and larger than the cache or in `evicted` slots."""
    loaded = {tg.memory_of(op.buffer).owner for op in ops_of(block) if isinstance(op, tg.LoadOp)}
    slots = {op.slot.data for op in loaded if isinstance(op, tg.ParamOp)}
    return {
        param
        for slot, param in enumerate(params)
        if slot not in slots and (slot in evicted or static_bytes(param) > cache)
    }


@dataclass(frozen=True)
class Stream:
    """The prefetch of each iteration of a loop: some bytes of a parameter, from an address on that
    is affine in the variables of loops."""

    memory: SSAValue
    strides: Mapping[SSAValue, int]
    """How many bytes each loop variable moves the address."""
    start: int
    """The distance from the parameter, in bytes, where all loop variables are 0."""
    bytes: int


def prefetched(
    block: Block, params: Sequence[SSAValue], target: Target
) -> Mapping[tg.RangeOp, Sequence[Stream]]:
    """Prefetches of each register tile, keyed by its innermost loop. They are of large memory that
    the steps use one block after the other, as packed weights, buffers that a kernel packs itself,
    and the keys and values of an attention, or one row after the other, as matrices that are not
    packed. The processor's own prefetcher stops at the end of each page."""
    packed = (op.result for op in ops_of(block) if isinstance(op, tg.BufferOp))
    large = [
        *(p for p in params if static_bytes(p) > PREFETCHED_PART * target.l2),
        *(p for p in packed if static_bytes(p) > target.l1),
    ]
    found: defaultdict[tg.RangeOp, list[Stream]] = defaultdict(list)
    passes: dict[tuple[SSAValue, tg.RangeOp, int], tuple[tg.RangeOp, Stream, bool]] = {}
    for loops, ops in _innermost(block) if large else ():
        loaded = _loaded(ops, large)
        if loops[-1].axis_type.data is tg.AxisType.REDUCE:
            found[loops[-1]] += _in_order(loops, ops, loaded, target)
        for memory, cells in loaded.items():
            if (row := _next_row(loops, memory, cells, target)) is not None:
                which = memory, loops[-2], row.block
                passes[which] = loops[-1], row.stream, which in passes
    for loop, stream, is_again in passes.values():
        if is_again:
            found[loop].append(stream)
    return found


def _loaded(ops: Sequence[Operation], large: Sequence[SSAValue]) -> dict[SSAValue, _Cells]:
    """The cells of large memory that the ops of a loop load, where they are known."""
    loads: dict[SSAValue, list[tg.LoadOp]] = {}
    for op in ops:
        if isinstance(op, tg.LoadOp) and (memory := tg.memory_of(op.buffer)) in large:
            loads.setdefault(memory, []).append(op)
    known = ((memory, _cells(here)) for memory, here in loads.items())
    return {memory: cells for memory, cells in known if cells is not None}


def _in_order(
    loops: Sequence[tg.RangeOp],
    ops: Sequence[Operation],
    loaded: Mapping[SSAValue, _Cells],
    target: Target,
) -> Iterator[Stream]:
    """The prefetches of the steps in the innermost of some loops of a reduction."""
    used = sum(
        math.prod(tg.tensor(op.result).get_shape()) for op in ops if isinstance(op, tg.MulAccOp)
    )
    for memory, cells in loaded.items():
        count = len(cells.numbers)
        if used < MANY_USES * count:
            continue
        if (stream := _next_block(loops, memory, cells)) is not None:
            yield stream
        is_kept = isinstance(memory.owner, tg.ParamOp) and static_bytes(memory) <= target.l2
        if used < (MANY_USES_KEPT if is_kept else MANY_USES) * count:
            continue
        if (stream := _later_steps(loops[-1], memory, cells, target)) is not None:
            yield stream


def _next_block(loops: Sequence[tg.RangeOp], memory: SSAValue, cells: _Cells) -> Stream | None:
    """The stream that prefetches the next block of a parameter evenly while one is used, if loops
    around a reduction use a block several times. Each step prefetches an equal share, mostly less
    than a cache line, of the block from its beginning to its end: that is the order in memory, and
    need not be that in which steps use the block. `cells` are those that a step loads."""
    strides, around = cells.strides, [*reversed(loops)]
    reduction = [*takewhile(lambda r: r.result in strides, around)]
    rest = around[len(reduction) :]
    again = [*takewhile(lambda r: r.result not in strides and _is_sequential(r), rest)]
    outer = rest[len(again) :]
    is_last = not any(r.result in strides and _is_sequential(r) for r in outer)
    passes = math.prod(_most(r) for r in again)
    if passes < 2 or is_last or not _is_dense(cells, reduction):
        return None
    itemsize = tg.dtype_of(memory).itemsize
    part = -(-len(cells.numbers) * itemsize // passes)
    share: dict[SSAValue, int] = {}
    steps = 1
    for r in (*reduction, *again):
        share[r.result] = steps * part
        steps *= _most(r)
    block = steps // passes * len(cells.numbers)
    share |= {r.result: strides[r.result] * itemsize for r in outer if r.result in strides}
    return Stream(memory, share, block * itemsize, part)


def _later_steps(
    loop: tg.RangeOp, memory: SSAValue, cells: _Cells, target: Target
) -> Stream | None:
    """The stream that prefetches what later steps of a reduction load: the next cells of packed
    weights, or cells of a later row of a matrix, if there is one. Where memory does not begin at a
    cache line, the first line of a tile's columns is the last one of the columns before, and the
    lines after it are prefetched."""
    itemsize, count = tg.dtype_of(memory).itemsize, len(cells.numbers)
    step = cells.strides[loop.result]
    ahead = max(AHEAD // (count * itemsize), 1)
    has_later = step == count or not 0 < _most(loop) <= ahead
    if not is_ramp(cells.numbers) or step < count or not has_later:
        return None
    strides = {variable: stride * itemsize for variable, stride in cells.strides.items()}
    start = ahead * step * itemsize + target.cache_line - 1
    return Stream(memory, strides, start, count * itemsize)


class _Row(NamedTuple):
    """A row that a loop goes over."""

    block: int
    """Its bytes."""
    stream: Stream
    """The prefetch of the next one meanwhile."""


def _next_row(
    loops: Sequence[tg.RangeOp], memory: SSAValue, cells: _Cells, target: Target
) -> _Row | None:
    """The row that the innermost loop goes over from its beginning to its end, if it is small and
    one of many of a parameter that L2 does not keep."""
    itemsize, count = tg.dtype_of(memory).itemsize, len(cells.numbers)
    step = cells.strides[loops[-1].result]
    block = step * _most(loops[-1]) * itemsize
    if len(loops) < 2 or not _is_sequential(loops[-2]) or not cells.strides[loops[-2].result]:
        return None
    is_large = isinstance(memory.owner, tg.ParamOp) and static_bytes(memory) > target.l2
    if not is_large or not is_ramp(cells.numbers) or step != count:
        return None
    if not 0 < block <= ROW_OF_L2 * target.l2:
        return None
    strides = {variable: stride * itemsize for variable, stride in cells.strides.items()}
    start = strides[loops[-2].result] + target.cache_line - 1
    return _Row(block, Stream(memory, strides, start, count * itemsize))


def _is_dense(cells: _Cells, loops: Sequence[tg.RangeOp]) -> bool:
    """Whether the cells that all iterations of some loops use are one after the other, each in one
    iteration."""
    numbers = cells.numbers
    extent = {cells.strides[r.result]: _most(r) for r in loops}
    if not isinstance(numbers, range) or numbers.start != 0 or len(extent) < len(loops):
        return False
    if len(numbers) > 1:
        if numbers.step in extent:
            return False
        extent[numbers.step] = len(numbers)
    size = 1
    for stride in sorted(extent):
        if stride != size or not extent[stride]:
            return False
        size *= extent[stride]
    return True


def _most(loop: tg.RangeOp) -> int:
    """The most iterations of a loop; 0 if they are not known."""
    most = MinMax()[loop.bound].hi
    return int(most) if math.isfinite(most) else 0


def _is_sequential(loop: tg.RangeOp) -> bool:
    return loop.axis_type.data is not tg.AxisType.THREAD


def _innermost(block: Block) -> Iterator[tuple[Sequence[tg.RangeOp], Sequence[Operation]]]:
    """The loops that have no loop inside, as the last of the loops that are open there, with the
    ops in each."""
    loops: list[tg.RangeOp] = []
    ops: list[Operation] | None = None
    for op in ops_of(block):
        if isinstance(op, tg.RangeOp):
            loops.append(op)
            ops = []
        elif isinstance(op, tg.EndOp):
            if ops is not None:
                yield loops, ops
            ops = None
            del loops[len(loops) - len(op.ranges) :]
        elif ops is not None:
            ops.append(op)


class _Cells(NamedTuple):
    """The elements of some memory that the LOADs of an iteration load."""

    strides: Mapping[SSAValue, int]
    """How many elements each loop variable moves them."""
    numbers: Sequence[int]
    """The elements where all loop variables are 0."""


def _cells(loads: Sequence[tg.LoadOp]) -> _Cells | None:
    """The elements that LOADs of one memory load; None unless loop variables, and nothing else,
    move all of them alike."""
    strides: dict[SSAValue, int] | None = None
    numbers = set[int]()
    for load in loads:
        if not isinstance(index := load.buffer.owner, tg.IndexOp) or len(index.indices) != 1:
            return None
        lanes = lane_indices(index.indices[0])
        if lanes is None:
            if tg.tensor(index.indices[0]).get_shape():
                return None
            lanes = LaneIndices(tg.Affine({index.indices[0]: 1}), range(1))
        total, start = Counter[SSAValue](), 0
        for scalar, factor in lanes.scalars.terms.items():
            moved = tg.polynomial(scalar)
            for values, coefficient in moved.terms.items():
                variable = values[0] if len(values) == 1 else None
                if not isinstance(variable, OpResult) or not isinstance(variable.owner, tg.RangeOp):
                    return None
                total[variable] += factor * int(coefficient)
            start += factor * int(moved.constant)
        if strides is not None and strides != total:
            return None
        strides = total
        numbers |= {*shifted(lanes.numbers, start)}
    return None if strides is None else _Cells(strides, compact(sorted(numbers)))
