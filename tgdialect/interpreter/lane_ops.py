"""The ops of a kernel that know of lanes: loops, stores, work items."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from xdsl.ir import Operation
from xdsl.utils.exceptions import InterpretationError

from tgdialect.interpreter.block_analysis import is_parallel
from tgdialect.interpreter.kernel import COMMON, Function, LiveValue
from tgdialect.interpreter.lane_run import LaneRun
from tgdialect.interpreter.live import Lanes, LiveView
from tgdialect.interpreter.movement import extent
from tgdialect.interpreter.values import Array, aligned, all_valid
from tgdialect.interpreter.wmma import wmma
from tgdialect.ops.arrays import Data
from tgdialect.ops.codegen import AtomicAddOp, IfOp, SpecialOp, WmmaOp
from tgdialect.ops.ordering import RangeOp
from tgdialect.ops.properties import tensor
from tgdialect.ops.reduce import ReduceOp


def _range(run: LaneRun, op: Operation) -> LiveValue:
    """A range that is not stepped: all its values, along its axis."""
    assert isinstance(op, RangeOp)
    bound = run.bound(op)
    index = run.values_of(op, int(bound.max(initial=0)))
    run.mask_range(op, bound, index)
    return Array(index)


def _store(run: LaneRun, op: Operation) -> LiveValue:
    """STORE and ATOMICADD: valid cells of the value, where the gate is true, in active lanes."""
    view = run.known[op.operands[0]]
    assert isinstance(view, LiveView)
    value = run.array(op, op.operands[1])
    rank = len(tensor(op.operands[0]).get_shape())
    lanes = run.lanes
    masks = [value.valid]
    if (active := run.active(op)) is not None:
        masks.append(active.reshape(active.shape + (1,) * rank))
    if len(op.operands) > 2:
        masks.append(aligned(run.array(op, op.operands[2]).materialised(), lanes, rank))
    adds = isinstance(op, AtomicAddOp)
    shape = run.lane_shape(op)
    view.memory.scatter(
        view.cell_map,
        value.data,
        all_valid(masks),
        adds=adds,
        # Every lane makes its own addition. A store that does not vary with the lane is made once,
        # if any lane is active.
        shape=shape if adds else [min(size, 1) for size in shape],
        writer=_writer(run, op),
        iterations=_iterations(run, op),
    )
    return None


def _writer(run: LaneRun, op: Operation) -> tuple[int, frozenset[int]] | None:
    """The number of a write, and the numbers of writes unordered with it; None without any."""
    if (others := run.analysis.unordered.get(op)) is None:
        return None
    return run.writers[op], frozenset(run.writers[other] for other in others)


def _iterations(run: LaneRun, op: Operation) -> Callable[[], Data] | None:
    """A number for each of the lanes that do an op in parallel; None if nothing is parallel."""
    around = run.analysis.loops_around[op]
    axes = [run.plan.axes[at] for at in around if is_parallel(at) and at in run.plan.axes]
    return (lambda: Lanes(run.extents, axes).number) if axes else None


def _reduce(run: LaneRun, op: Operation) -> LiveValue:
    assert isinstance(op, ReduceOp)
    return run.reduce(op)


def _special(run: LaneRun, op: Operation) -> LiveValue:
    """SPECIAL: all its values, along its axis. `LaneRun.run` has evaluated it before the block."""
    assert isinstance(op, SpecialOp)
    if (known := run.known.get(op.result)) is not None:
        return known
    return Array(run.values_of(op, max(extent(run.array(op, op.bound)), 0)))


def _barrier(run: LaneRun, op: Operation) -> LiveValue:
    """BARRIER: all threads of a workgroup reach it, or none."""
    if (active := run.active(op)) is not None:
        active = np.broadcast_to(active, run.lane_shape(op))
        axes = tuple(run.group_axes())
        if bool((active.any(axis=axes) != active.all(axis=axes)).any()):
            raise InterpretationError("a barrier is not reached by all threads of a workgroup")
    for memory in run.buffers.values():
        if memory.races is not None:
            memory.races.barrier()
    return None


def _if(run: LaneRun, op: Operation) -> LiveValue:
    assert isinstance(op, IfOp)
    run.masks[op] = run.array(op, op.gate).materialised()
    return None


def _wmma(run: LaneRun, op: Operation) -> LiveValue:
    assert isinstance(op, WmmaOp)
    operands = [run.array(op, operand) for operand in op.operands]
    lanes = run.lanes
    threads = run.group_axes()
    if op.config.threads > 1:
        if (active := run.active(op)) is not None and not bool(active.all()):
            raise InterpretationError("a wmma is not reached by all threads of a warp")
        shape = run.lane_shape(op)
        operands = [
            Array(
                np.broadcast_to(
                    x.materialised(),
                    np.broadcast_shapes(shape + (1,) * (x.data.ndim - lanes), x.data.shape),
                )
            )
            for x in operands
        ]
    return run.result(op, wmma(op, operands, lanes, threads))


LANES: Mapping[str, Function] = {
    **COMMON,
    "tg.store": _store,
    "tg.atomicadd": _store,
    "tg.reduce": _reduce,
    "tg.range": _range,
    "tg.special": _special,
    "tg.barrier": _barrier,
    "tg.if": _if,
    "tg.wmma": _wmma,
}
"""Every op of a kernel, by name."""
