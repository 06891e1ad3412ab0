"""The ops of a kernel that know of lanes: loops, stores, work items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.ir import Operation

from tgdialect.interpreter.kernel import COMMON, Function, LiveValue
from tgdialect.interpreter.lane_run import LaneRun
from tgdialect.interpreter.live import LiveView
from tgdialect.interpreter.movement import extent
from tgdialect.interpreter.values import MaskedArray, aligned, all_valid
from tgdialect.interpreter.warps import shuffle
from tgdialect.interpreter.wmma import wmma
from tgdialect.ops import tg
from tgdialect.ops.codegen import warp_of
from tgdialect.ops.properties import tensor


def _range(run: LaneRun, op: tg.RangeOp) -> LiveValue:
    """A range that is not stepped: all its values, along its axis."""
    bound = run.bound(op)
    index = run.values_of(op, int(bound.max(initial=0)))
    run.mask_range(op, bound, index)
    return MaskedArray(index)


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
    adds = isinstance(op, tg.AtomicAddOp)
    shape = run.lane_shape(op)
    mask = all_valid(masks)
    run.check_bounds(op, op.operands[0], view, mask)
    run.watch(view.memory, op.operands[0])
    unordered = run.analysis.unordered.get(op)
    view.memory.scatter(
        view.cell_map,
        value.data,
        mask,
        (lambda: run.instances(op)) if run.parallel_around(op) else None,
        adds=adds,
        # Every lane makes its own addition. A store that does not vary with the lane is made once,
        # if any lane is active.
        shape=shape if adds else [min(size, 1) for size in shape],
        unordered=None if unordered is None else (op, unordered),
    )
    return None


def _reduce(run: LaneRun, op: tg.ReduceOp) -> LiveValue:
    return run.reduce(op)


def _special(run: LaneRun, op: tg.SpecialOp) -> LiveValue:
    """SPECIAL: all its values, along its axis. `LaneRun.run` has evaluated it before the block."""
    if (known := run.known.get(op.result)) is not None:
        return known
    return MaskedArray(run.values_of(op, max(extent(run.array(op, op.bound)), 0)))


def _barrier(run: LaneRun, op: Operation) -> LiveValue:
    run.barrier(op)
    return None


def _if(run: LaneRun, op: tg.IfOp) -> LiveValue:
    run.masks[op] = run.array(op, op.gate).materialised()
    return None


def _wmma(run: LaneRun, op: tg.WmmaOp | tg.InsOp) -> LiveValue:
    operands = [run.array(op, operand) for operand in op.operands]
    if warp_of(op) > 1:
        operands = _of_all_work_items(run, op, operands)
    return run.result(op, wmma(op, operands, run.lanes, run.group_axes()))


def _instruction(run: LaneRun, op: tg.InsOp) -> LiveValue:
    return (_wmma if warp_of(op) > 1 else COMMON["tg.ins"])(run, op)


def _shuffle(run: LaneRun, op: tg.ShuffleOp) -> LiveValue:
    (value,) = _of_all_work_items(run, op, [run.array(op, op.value)])
    return run.result(op, shuffle(op, value, run.lanes, run.group_axes()))


def _of_all_work_items(
    run: LaneRun, op: Operation, values: Sequence[MaskedArray]
) -> Sequence[MaskedArray]:
    """Values with an element for each work item, all of which have to reach the op."""
    run.check_reached(op)
    shape, lanes = run.lane_shape(op), run.lanes
    return [
        MaskedArray(
            np.broadcast_to(
                x.materialised(),
                np.broadcast_shapes(shape + (1,) * (x.data.ndim - lanes), x.data.shape),
            )
        )
        for x in values
    ]


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
    "tg.ins": _instruction,
    "tg.shuffle": _shuffle,
}
"""Every op of a kernel, by name."""
