"""What becomes of each op of a kernel whose operands have axes.

Ops whose operands have none are kept as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, reduce
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.min_max import MinMax
from tgdialect.analysis.ranges import is_expanded
from tgdialect.diagnostics import locate
from tgdialect.lowering.expand.tile import Axes, Tile
from tgdialect.ops.base import TgOp
from tgdialect.ops.codegen import AtomicAddOp, BarrierOp
from tgdialect.ops.dtypes import INDEX
from tgdialect.ops.elementwise import (
    AddOp,
    AndOp,
    CastOp,
    CmpGeOp,
    CmpLtOp,
    ElementwiseOp,
    MulOp,
    WhereOp,
)
from tgdialect.ops.memory import LoadOp, StoreOp
from tgdialect.ops.movement import BitcastOp, IndexOp, PermuteOp, ReshapeOp
from tgdialect.ops.ordering import AfterOp, EndOp, RangeOp, SinkOp
from tgdialect.ops.properties import UnknownDim, shape_of, tensor
from tgdialect.ops.source import ConstOp


class Rules:
    """Moves the ops of a kernel to its new block, one by one, in a topological order."""

    def __init__(self, tile: Tile) -> None:
        self.tile = tile
        self._intervals = MinMax()

    def expand(self, op: TgOp) -> None:
        """Expand an op, other than a REDUCE, whose operands have been expanded."""
        tile = self.tile
        tile.location = op.location
        operands = [tile.value(o) for o in op.operands]
        if isinstance(op, RangeOp) and is_expanded(op):
            new = tile.lanes(op)
        elif not any(map(tile.axes, operands)) and not self._is_repeated(op):
            self._move(op, operands)
            return
        else:
            new = self._rule(op)(self, op, *operands)
        if new.name_hint is None:
            new.name_hint = op.results[0].name_hint
        tile.values[op.results[0]] = new

    def _is_repeated(self, op: TgOp) -> bool:
        """Whether an op without axes has to be done once for each lane of some."""
        return isinstance(op, AtomicAddOp) and bool(self.tile.around(op))

    def _move(self, op: TgOp, operands: list[SSAValue]) -> None:
        """An op that stays as it is."""
        op.detach()
        if operands != list(op.operands):
            op.operands = operands
        self.tile.insert(op)
        if isinstance(op, ConstOp):
            self.tile.reuse(op)

    def _rule(self, op: TgOp) -> Callable[..., SSAValue]:
        for kind, rule in self.RULES:
            if isinstance(op, kind):
                return rule
        axes = self.tile.union(self.tile.value(o) for o in op.operands)
        ranges = ", ".join(str(axis.axis.data) for axis in axes)
        raise locate(
            PassFailedException(f"{op.name} has no shape to expand range {ranges} into"), op
        )

    # -- values

    def _elementwise(self, op: TgOp, *operands: SSAValue) -> SSAValue:
        axes = self.tile.union(operands)
        return self.tile.put(op.rebuild([self.tile.align(o, axes) for o in operands]), axes)

    # -- memory

    def _index(self, op: IndexOp, source: SSAValue, *indices: SSAValue) -> SSAValue:
        """A location with the axes of its indices.

        Each index becomes (k,), all its axes in one, and the location takes them apart again.
        """
        tile = self.tile
        axes: Axes = tuple(axis for index in indices for axis in tile.axes(index))
        if len(set(axes)) < len(axes):
            source, flat = self._flat_index(op, source, indices)
            indices, axes = (flat,), tile.axes(flat)
        location: TgOp = IndexOp(source, [tile.flattened(index) for index in indices])
        if any(len(tile.axes(index)) > 1 for index in indices):
            location = ReshapeOp(tile.put(location), tile.shape(axes))
        ordered = tile.sorted(axes)
        if axes != ordered:
            location = PermuteOp(tile.put(location), [axes.index(axis) for axis in ordered])
        return tile.put(location, ordered)

    def _flat_index(
        self, op: IndexOp, source: SSAValue, indices: tuple[SSAValue, ...]
    ) -> tuple[SSAValue, SSAValue]:
        """The buffer as one axis, and one index into it, which is -1 where any index is outside.

        INDEX would take the product of indices that share an axis, and here they go together.
        """
        tile = self.tile
        flat: SSAValue | None = None
        exists: SSAValue | None = None
        dims: list[SSAValue] = []
        for old, index, extent in zip(op.indices, indices, shape_of(op.source), strict=True):
            if tensor(index).element_type != INDEX:
                index = tile.put(CastOp(index, INDEX), tile.axes(index))
            assert not isinstance(extent, UnknownDim)
            dim = tile.constant(extent) if isinstance(extent, int) else extent
            dims.append(dim)
            if not isinstance(extent, int) or not self._intervals[old].within(0, extent - 1):
                start = tile.elementwise(CmpGeOp, index, tile.constant(0))
                inside = tile.elementwise(AndOp, start, tile.elementwise(CmpLtOp, index, dim))
                exists = inside if exists is None else tile.elementwise(AndOp, exists, inside)
            if flat is not None:
                index = tile.elementwise(AddOp, tile.elementwise(MulOp, flat, dim), index)
            flat = index
        assert flat is not None
        if exists is not None:
            flat = tile.elementwise(WhereOp, exists, flat, tile.constant(-1))
        shape = tensor(source).get_shape()
        size: int | SSAValue = math.prod(shape)
        if DYNAMIC_INDEX in shape:
            size = reduce(partial(tile.elementwise, MulOp), dims)
        return tile.put(ReshapeOp(source, [size])), flat

    def _load(self, op: LoadOp, buffer: SSAValue, *alt_and_gate: SSAValue) -> SSAValue:
        axes = self.tile.union((buffer, *alt_and_gate))
        operands = [self.tile.broadcast(o, axes) for o in (buffer, *alt_and_gate[:1])]
        operands += [self._gate(o, axes) for o in alt_and_gate[1:]]
        return self.tile.put(op.rebuild(operands), axes)

    def _store(
        self, op: TgOp, buffer: SSAValue, value: SSAValue, gate: SSAValue | None = None
    ) -> SSAValue:
        tile = self.tile
        operands = [buffer, value] if gate is None else [buffer, value, gate]
        axes = tile.axes(buffer)
        if extra := [a for a in tile.union(operands) if a not in axes]:
            message = (
                "a race: this STORE writes one cell in every iteration of "
                f"{extra[0].axis_type.data} range {extra[0].axis.data}"
            )
            raise locate(PassFailedException(message), op)
        operands[1] = tile.broadcast(value, axes)
        if gate is not None:
            operands[2] = self._gate(gate, axes)
        return tile.put(op.rebuild(operands))

    def _gate(self, gate: SSAValue, axes: Axes) -> SSAValue:
        """A gate is of shape () or of that of the location."""
        return self.tile.broadcast(gate, axes) if self.tile.axes(gate) else gate

    def _atomic_add(self, op: AtomicAddOp, buffer: SSAValue, value: SSAValue) -> SSAValue:
        """Every lane adds, also where several add to one cell, or all the same to the same."""
        axes = self.tile.sorted({*self.tile.union((buffer, value)), *self.tile.around(op)})
        return self.tile.put(op.rebuild([self.tile.broadcast(o, axes) for o in (buffer, value)]))

    # -- ordering

    def _after(self, op: AfterOp, buffer: SSAValue, *dependencies: SSAValue) -> SSAValue:
        """There is no order among the lanes: the ranges are not waited for."""
        kept = [
            new
            for old, new in zip(op.dependencies, dependencies, strict=True)
            if not _is_expanded(old)
        ]
        if not kept:
            return buffer
        return self.tile.put(AfterOp(buffer, kept), self.tile.axes(buffer))

    def _end(self, op: EndOp, body: SSAValue, *ranges: SSAValue) -> SSAValue:
        loops = [new for old, new in zip(op.ranges, ranges, strict=True) if not _is_expanded(old)]
        return self.tile.put(EndOp(body, loops)) if loops else body

    def _wait(self, op: TgOp, *operands: SSAValue) -> SSAValue:
        return self.tile.put(op.rebuild(operands))

    RULES: ClassVar[tuple[tuple[type[Operation], Callable[..., SSAValue]], ...]] = (
        (ElementwiseOp, _elementwise),
        (BitcastOp, _elementwise),
        (IndexOp, _index),
        (LoadOp, _load),
        (StoreOp, _store),
        (AtomicAddOp, _atomic_add),
        (AfterOp, _after),
        (EndOp, _end),
        (SinkOp, _wait),
        (BarrierOp, _wait),
    )


def _is_expanded(value: SSAValue) -> bool:
    return isinstance(value.owner, RangeOp) and is_expanded(value.owner)
