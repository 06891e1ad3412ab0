"""Transposes: squares that go through LOCAL memory, so that loads and stores are of rows."""

from __future__ import annotations

from tgdialect.lowering.optimize.grid.nests import GridNest
from tgdialect.ops import tg
from tgdialect.ops.properties import known_index
from tgdialect.ops.views import memory_of

SIDE, TALL = 32, 8
"""The side of a square, and the rows of it that are copied at a time. A row of 32 elements of f32
fills the 128 bytes of one transaction; each work item copies SIDE / TALL elements. The usual choice
of hand-written transposes."""


def transpose(nest: GridNest) -> bool:
    """Tile a kernel that stores rows and loads columns, if it is one and that is legal."""
    accesses = nest.nests.accesses
    stores = [a.strides for a in accesses if isinstance(a.op, tg.StoreOp)]
    column = next((r for r in nest.loops if all(s.get(r) == 1 for s in stores)), None)
    if column is None:
        return False
    for access in accesses:
        row = next((r for r in nest.loops if access.strides.get(r) == 1), None)
        apart = access.strides.get(column, 0)
        if isinstance(access.op, tg.LoadOp) and row is not None and apart not in (0, 1):
            param = memory_of(access.op.operands[0]).owner
            if isinstance(param, tg.ParamOp):
                return _tile(nest, param.slot.data, row, column)
    return False


def _tile(nest: GridNest, slot: int, row: tg.RangeOp, column: tg.RangeOp) -> bool:
    extents = [known_index(range.bound) or 1 for range in (row, column)]
    if any(extent % SIDE for extent in extents) or nest.items < SIDE * TALL:
        return False
    outer = [r.axis.data for r in nest.loops]
    if (inside := nest.split_blocks((row, column), (SIDE, SIDE))) is None:
        return False
    around = [axis for axis in outer if axis not in inside]
    if not around or not nest.stage(slot, nest.loops[-3].axis.data, SIDE * TALL):
        return False
    high, wide = (nest.axes[axis] for axis in inside)
    nest.split(wide, SIDE, tg.AxisType.LOCAL)
    nest.split(high, TALL, tg.AxisType.LOCAL)
    return True
