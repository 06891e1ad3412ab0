"""STAGE in GLOBAL memory: prepacking, by a kernel that runs before.

BLAS libraries call it that: weights, which are the same in every call, are stored once in the order
in which the register tiles of a product load them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Region

from tgdialect.analysis.ranges import loops_of
from tgdialect.lowering.optimize.axes import Axes, IllegalOptError
from tgdialect.lowering.optimize.optops.tile_loads import (
    Digit,
    copy_loops,
    digits,
    in_tile_order,
    load_instead,
    staged_loads,
    whole_number,
)
from tgdialect.lowering.packing import Packing, packed_type, packing_name
from tgdialect.lowering.recomputation import IN_LOOPS
from tgdialect.ops import tg


def prepack(axes: Axes, slot: int, axis: int) -> None:
    """Load a packed copy of a parameter, which a new kernel stores before: its axes are the loops
    of the nest down to a range, then those of the tile inside. The CALLs of the kernel are those of
    before until `pass_packed`, for which `axes.prepacked` has the new kernel.

    before -> after:
        stage 2, 1, global:  %v = load %w[%2, 16 * %1 + %3]  ->  %v = load %w[%1, %2, %3], and each
            CALL @k(%o, %x, %w) is CALL @k(%o, %x, AFTER(%b, CALL @k_prepack_2(%b, %w))).
    """
    loads, outer, inner = _checked(axes, slot, axes[axis])
    first, ranges = loads[0], [*outer, *inner]
    cells = [*(whole_number(axes, range) for range in outer), *digits(axes, first, inner)]
    param = tg.memory_of(first.buffer).owner
    assert isinstance(param, tg.ParamOp)
    shape = tuple(digit.extent for digit in cells)
    packing = Packing(slot, tg.dtype_of(first.result).name, shape)
    packed = tg.ParamOp(slot, packed_type(packing))
    kernel = _packing_kernel(axes, first, ranges, cells, packed)
    tg.OpBuilder.before(param).insert(packed)
    builder = tg.OpBuilder.before(first)
    cell = [digit.value(builder, {}) for digit in cells]
    load_instead(axes, builder, loads, packed.result, cell)
    axes.erase_dead_ops()
    axes.kernel.body.block.erase_op(param)
    axes.changed()
    axes.prepacked[kernel] = packing
    if not axes.is_copy and axes.kernel.parent is not None:
        tg.OpBuilder.before(axes.kernel).insert(kernel)


def may_prepack(axes: Axes, load: tg.LoadOp) -> bool:
    """Whether a kernel that runs before can pack what a LOAD loads, whatever the tile is."""
    param = tg.memory_of(load.buffer).owner
    ranges = [r for r in axes.ranges.values() if r in axes.open[load] and r in axes.ends]
    if not isinstance(param, tg.ParamOp) or not ranges:
        return False
    try:
        _checked(axes, param.slot.data, ranges[0])
    except IllegalOptError:
        return False
    return True


def _checked(
    axes: Axes, slot: int, at: tg.RangeOp
) -> tuple[Sequence[tg.LoadOp], Sequence[tg.RangeOp], Sequence[tg.RangeOp]]:
    """The LOADs of a parameter, the loops around their tile, and the ranges of the tile; raises
    IllegalOptError where a kernel that runs before cannot pack it."""
    # The LOADs of the parameter in the loop.
    axis = at.axis.data
    if at not in axes.ends:
        raise IllegalOptError(f"range {axis} is no loop that an END closes")
    loads = staged_loads(axes, slot, axes.ops)
    if not loads or at not in axes.open[loads[0]]:
        raise IllegalOptError(f"nothing of parameter {slot} is loaded in the loop of range {axis}")
    load, end = loads[0], axes.ends[at]
    # They depend on the parameter and on loop variables alone.
    if axes.has_shared_memory:
        raise IllegalOptError("a CALL of the kernel passes the same memory twice")
    own = load, tg.memory_of(load.buffer).owner
    others = (tg.ParamOp, tg.BufferOp, tg.LoadOp, *IN_LOOPS)
    if any(isinstance(op, others) and op not in own for op in tg.computed_from(load.result)):
        raise IllegalOptError("where the parameter is loaded depends on other memory")
    # The loops around the tile, outermost first; all have known extents.
    loops = loops_of(end)
    loops = loops[: loops.index(at) + 1] if at in loops else loops
    around = sorted(axes.open[end], key=lambda r: r.axis.data)
    outer = [r for r in (*around, *loops) if r in axes.open[load]]
    for range in outer:
        axes.extent(range)
    return loads, outer, in_tile_order(axes, load, outer)


def _packing_kernel(
    axes: Axes,
    load: tg.LoadOp,
    ranges: Sequence[tg.RangeOp],
    cells: Sequence[Digit],
    packed: tg.ParamOp,
) -> tg.KernelOp:
    """The kernel that stores what a LOAD loads in each iteration of the ranges, where the digits of
    these say."""
    source = tg.memory_of(load.buffer)
    block = Block()
    builder = tg.OpBuilder.at_end(block, load.location)
    put = builder.put
    result = put(tg.ParamOp(0, tg.tensor(packed.result)))
    copies = {source: put(tg.ParamOp(1, tg.tensor(source)))}
    whole = [(tg.AxisType.LOOP, [whole_number(axes, range)]) for range in ranges]
    loops, numbers = copy_loops(builder, whole)
    copies |= zip((range.result for range in ranges), loops, strict=True)
    value = builder.clone(load.result, copies, everything=True)
    cell = put(tg.IndexOp(result, [digit.value(builder, numbers) for digit in cells]))
    store = put(tg.StoreOp(cell, value))
    put(tg.SinkOp([put(tg.EndOp(store, loops[::-1]))]))
    kernel = tg.KernelOp(packing_name(axes.kernel, packed.slot.data), Region(block))
    kernel.location = axes.kernel.location
    return kernel
