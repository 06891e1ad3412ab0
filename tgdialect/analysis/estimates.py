"""Estimates of the work of kernels and of tensor programs: floating-point operations, and bytes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, SSAValue

from tgdialect.analysis.memory_order import accesses
from tgdialect.analysis.min_max import MinMax
from tgdialect.analysis.one_hot import may_be_one_hot
from tgdialect.fast_xdsl.walk import ops_of
from tgdialect.ops import tg
from tgdialect.ops.source import parameters


class Estimates(NamedTuple):
    """The work of one run, with dynamic sizes at their maximum.

    `flops` counts arithmetic on floats: a multiply-accumulate is two, and moves, casts and
    selections are none. `bytes` is the memory traffic with GLOBAL memory, for each buffer at most
    its size: what is moved if all reuse hits the caches.
    """

    flops: int
    bytes: int


def estimate(linear: tg.LinearOp, assumed: Mapping[SSAValue, tg.Interval] = {}) -> Estimates:
    """The work of a kernel that is in order, for sizes in the intervals that are assumed."""
    intervals = MinMax(assumed)
    flops = 0
    touched: dict[SSAValue, int] = defaultdict(int)
    trips: dict[SSAValue, int] = {}
    times = 1
    ops = ops_of(linear.body.block)
    found = {access.op: access.memory for access in accesses(ops)}
    for op in ops:
        match op:
            case tg.RangeOp() | tg.SpecialOp():
                trips[op.result] = _at_most(op.bound, intervals)
                times = math.prod(trips.values())
            case tg.EndOp():
                for value in op.operands[1:]:
                    del trips[value]
                times = math.prod(trips.values())
            case tg.WmmaOp(config=config) | tg.InsOp(config=tg.WmmaAttr() as config):
                flops += 2 * times * math.prod(config.m_n_k) // config.threads
            case tg.ElementwiseOp():
                flops += times * _arithmetic(op, intervals)
            case _ if (memory := found.get(op)) is not None:
                if tg.place(memory).addrspace is tg.AddrSpace.GLOBAL:
                    elements = times * cells_of(op.operands[0], intervals)
                    touched[memory] += elements * tg.dtype_of(memory).itemsize
            case _:
                pass
    sizes = {m: cells_of(m, intervals) * tg.dtype_of(m).itemsize for m in touched}
    return Estimates(flops, sum(min(sizes[m], nbytes) for m, nbytes in touched.items()))


def estimate_tensors(body: Block) -> Estimates:
    """The work of a function at level `tensor`, before it has kernels.

    It is assumed that elementwise ops are computed where they are used, and that what REDUCE and
    INDEX give goes through memory, as inputs and results do, those of each step of a SCAN, too. A
    sum with a one-hot mask reads one element.
    """
    intervals = MinMax()
    inputs = [*body.args, *(p.result for p in parameters(body))]
    moved = sum(_bytes(value, intervals) for value in inputs)
    flops = 0
    for op in body.ops:
        match op:
            case tg.ElementwiseOp():
                flops += _arithmetic(op, intervals)
            case tg.ReduceOp():
                moved += 2 * _bytes(op.result, intervals)
                if tg.dtype_of(op.source).is_float:
                    read = op.result if may_be_one_hot(op) else op.source
                    flops += cells_of(read, intervals)
            case tg.IndexOp():
                moved += 2 * _bytes(op.result, intervals)
            case tg.ScanOp():
                step = estimate_tensors(op.body.block)
                extent = op.extent
                steps = extent if isinstance(extent, int) else _at_most(extent, intervals)
                flops += steps * step.flops
                moved += steps * step.bytes
            case ReturnOp() | tg.TupleOp():
                moved += sum(_bytes(value, intervals) for value in op.operands)
            case _:
                pass
    return Estimates(flops, moved)


def _arithmetic(op: tg.ElementwiseOp, intervals: MinMax) -> int:
    """The arithmetic on floats of an op."""
    if isinstance(op, tg.CastOp | tg.WhereOp) or not tg.dtype_of(op.operands[0]).is_float:
        return 0
    return (2 if isinstance(op, tg.MulAccOp) else 1) * cells_of(op.results[0], intervals)


def _bytes(value: SSAValue, intervals: MinMax) -> int:
    return cells_of(value, intervals) * tg.dtype_of(value).itemsize


def cells_of(value: SSAValue, intervals: MinMax) -> int:
    """The cells of a value, with the greatest extents."""
    return math.prod(
        extent if isinstance(extent, int) else _at_most(extent, intervals)
        for extent in tg.shape_of(value)
    )


def _at_most(extent: SSAValue | tg.UnknownDim, intervals: MinMax) -> int:
    return int(max(intervals[extent].hi, 0)) if isinstance(extent, SSAValue) else 1
