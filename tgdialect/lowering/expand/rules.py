"""How each op is expanded when its operands have axes. Other ops are moved as they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.min_max import MinMax
from tgdialect.analysis.ranges import is_expanded
from tgdialect.diagnostics import locate, noted
from tgdialect.lowering.expand.expansion import ExpandedRanges, Expansion
from tgdialect.ops import tg


class Rules:
    """Moves the ops of a kernel to its new block, one by one, in a topological order."""

    def __init__(self, expansion: Expansion, *, is_grid: bool = False) -> None:
        """On a grid, whole axes of LOCAL memory are accessed as one: the parts of a register tile
        need not be vectors of their own."""
        self.expansion = expansion
        self._is_grid = is_grid
        self._intervals = MinMax()

    def expand(self, op: tg.TgOp) -> None:
        """Expand an op, other than a REDUCE, whose operands have been expanded."""
        expansion = self.expansion
        expansion.location = op.location
        noted("expand", op)
        operands = [expansion.value(o) for o in op.operands]
        if isinstance(op, tg.RangeOp) and is_expanded(op):
            new = expansion.lanes(op)
        elif not any(map(expansion.axes, operands)) and not self._is_repeated(op):
            self._move(op, operands)
            return
        else:
            new = self._rule(op)(self, op, *operands)
        if new.name_hint is None:
            new.name_hint = op.results[0].name_hint
        expansion.values[op.results[0]] = new

    def _is_repeated(self, op: tg.TgOp) -> bool:
        """Whether an op without axes has an effect for each lane of the ranges around it."""
        is_effect = isinstance(op, tg.AtomicAddOp) or (
            isinstance(op, tg.CustomOp) and isinstance(op.result.type, tg.VoidType)
        )
        return is_effect and bool(self.expansion.around(op))

    def _move(self, op: tg.TgOp, operands: list[SSAValue]) -> None:
        """Move an op to the new block."""
        op.detach()
        if operands != list(op.operands):
            op.operands = operands
        self.expansion.insert(op)
        if isinstance(op, tg.ConstOp):
            self.expansion.reuse(op)

    def _rule(self, op: tg.TgOp) -> Callable[..., SSAValue]:
        for kind, rule in self.RULES:
            if isinstance(op, kind):
                return rule
        axes = self.expansion.union(self.expansion.value(o) for o in op.operands)
        ranges = ", ".join(str(axis.axis.data) for axis in axes)
        message = f"{op.name} has no shape to expand range {ranges} into"
        raise locate(PassFailedException(message), op)

    # -- values

    def _elementwise(self, op: tg.TgOp, *operands: SSAValue) -> SSAValue:
        axes = self.expansion.union(operands)
        aligned = [self.expansion.align(o, axes) for o in operands]
        return self.expansion.put(op.rebuild(aligned), axes)

    def _instruction(self, op: tg.InsOp, *operands: SSAValue) -> SSAValue:
        axes = self.expansion.union(operands)
        if op.result.type == tg.VOID:
            raise locate(PassFailedException(f"{op.mnemonic} has one effect, not several"), op)
        type = tg.tensor_type(tg.tensor(op.result).element_type, self.expansion.shape(axes))
        aligned = [self.expansion.broadcast(o, axes) for o in operands]
        return self.expansion.put(tg.InsOp(op.mnemonic.data, aligned, type), axes)

    # -- memory

    def _index(self, op: tg.IndexOp, source: SSAValue, *indices: SSAValue) -> SSAValue:
        """A location with the axes of its indices.

        Each index is flattened to (k,); the location is then reshaped to all axes.
        """
        expansion = self.expansion
        axes: ExpandedRanges = tuple(axis for index in indices for axis in expansion.axes(index))
        if len(set(axes)) < len(axes):
            source, flat = self._flat_index(op, source, indices)
            indices, axes = (flat,), expansion.axes(flat)
        last = self._whole_axes(op, source, axes)
        flattened = [expansion.flattened(index) for index in indices]
        if last > 1:
            source, flattened[-last:] = self._merged(source, last)
        location: tg.TgOp = tg.IndexOp(source, flattened)
        if last > 1 or any(len(expansion.axes(index)) > 1 for index in indices):
            location = tg.ReshapeOp(expansion.put(location), expansion.shape(axes))
        ordered = expansion.sorted(axes)
        if axes != ordered:
            location = tg.PermuteOp(expansion.put(location), [axes.index(axis) for axis in ordered])
        return expansion.put(location, ordered)

    def _whole_axes(self, op: tg.IndexOp, source: SSAValue, axes: ExpandedRanges) -> int:
        """How many of the last axes of LOCAL memory expanded ranges are the indices of, each
        of one whole axis, in the order of the axes of values."""
        expansion, found = self.expansion, 0
        own = [expansion.axes(expansion.value(index)) for index in op.indices]
        is_global = tg.place(source).addrspace is tg.AddrSpace.GLOBAL
        if not self._is_grid or is_global or len(own) != len(axes) + own.count(()):
            return 0
        each = zip(op.indices[::-1], own[::-1], tg.shape_of(source)[::-1], strict=False)
        for index, axis, extent in each:
            if not isinstance(index.owner, tg.RangeOp) or expansion.shape(axis) != (extent,):
                break
            found += 1
        kept = axes[len(axes) - found :] if found else ()
        return found if kept == expansion.sorted(kept) else 0

    def _merged(self, source: SSAValue, last: int) -> tuple[SSAValue, list[SSAValue]]:
        """A view of memory whose last axes are one, and the index of all of its elements: what is
        contiguous is accessed as such."""
        *outer, size = *(shape := tg.tensor(source).get_shape())[:-last], math.prod(shape[-last:])
        view = self.expansion.emit(tg.ReshapeOp, source, (*outer, size))
        return view, [self.expansion.emit(tg.VConstOp, tuple(range(size)))]

    def _flat_index(
        self, op: tg.IndexOp, source: SSAValue, indices: tuple[SSAValue, ...]
    ) -> tuple[SSAValue, SSAValue]:
        """A flat view of the buffer, and one flat index, which is -1 where an index is out of
        bounds.

        INDEX takes the outer product of its indices; indices that share an axis have to be
        combined.
        """
        expansion = self.expansion
        emit, constant = expansion.elementwise, expansion.constant
        flat: SSAValue | None = None
        exists: SSAValue | None = None
        dims: list[SSAValue] = []
        # Horner's scheme, and the condition for all indices to be in bounds.
        for old, index, extent in zip(op.indices, indices, tg.shape_of(op.source), strict=True):
            if tg.tensor(index).element_type != tg.INDEX:
                index = expansion.put(tg.CastOp(index, tg.INDEX), expansion.axes(index))
            assert not isinstance(extent, tg.UnknownDim)
            dim = constant(extent) if isinstance(extent, int) else extent
            dims.append(dim)
            if not isinstance(extent, int) or not self._intervals[old].within(0, extent - 1):
                start = emit(tg.CmpGeOp, index, constant(0))
                inside = emit(tg.AndOp, start, emit(tg.CmpLtOp, index, dim))
                exists = inside if exists is None else emit(tg.AndOp, exists, inside)
            flat = index if flat is None else emit(tg.AddOp, emit(tg.MulOp, flat, dim), index)
        assert flat is not None
        if exists is not None:
            flat = emit(tg.WhereOp, exists, flat, constant(-1))
        # The flat view.
        shape = tg.tensor(source).get_shape()
        size: int | SSAValue = math.prod(shape)
        if DYNAMIC_INDEX in shape:
            size = reduce(partial(emit, tg.MulOp), dims)
        return expansion.put(tg.ReshapeOp(source, [size])), flat

    def _load(self, op: tg.LoadOp, buffer: SSAValue, *alt_and_gate: SSAValue) -> SSAValue:
        axes = self.expansion.union((buffer, *alt_and_gate))
        operands = [self.expansion.broadcast(o, axes) for o in (buffer, *alt_and_gate[:1])]
        operands += [self._gate(o, axes) for o in alt_and_gate[1:]]
        return self.expansion.put(op.rebuild(operands), axes)

    def _store(
        self, op: tg.TgOp, buffer: SSAValue, value: SSAValue, gate: SSAValue | None = None
    ) -> SSAValue:
        expansion = self.expansion
        operands = [buffer, value] if gate is None else [buffer, value, gate]
        axes = expansion.axes(buffer)
        if extra := [a for a in expansion.union(operands) if a not in axes]:
            message = (
                "a race: this STORE writes one cell in every iteration of "
                f"{extra[0].axis_type.data} range {extra[0].axis.data}"
            )
            raise locate(PassFailedException(message), op)
        if gate is None and (same := self._contiguous(buffer, value)) is not None:
            return expansion.put(op.rebuild(same))
        operands[1] = expansion.broadcast(value, axes)
        if gate is not None:
            operands[2] = self._gate(gate, axes)
        return expansion.put(op.rebuild(operands))

    def _contiguous(self, buffer: SSAValue, value: SSAValue) -> Sequence[SSAValue] | None:
        """The operands of a STORE to memory that is contiguous, of a value that was computed as one
        vector or is the same everywhere; None for others."""
        view = buffer.owner
        if not isinstance(view, tg.ReshapeOp) or len(tg.tensor(view.source).get_shape()) != 1:
            return None
        shape = tg.tensor(view.source).get_shape()
        while isinstance(op := value.owner, tg.ReshapeOp) and tg.tensor(value).get_shape() != shape:
            value = op.source
        if tg.tensor(value).get_shape() == ():
            one = self.expansion.emit(tg.ReshapeOp, value, (1,))
            return view.source, self.expansion.put(tg.ExpandOp(one, shape))
        return (view.source, value) if tg.tensor(value).get_shape() == shape else None

    def _gate(self, gate: SSAValue, axes: ExpandedRanges) -> SSAValue:
        """A gate is of shape () or of that of the location."""
        return self.expansion.broadcast(gate, axes) if self.expansion.axes(gate) else gate

    def _atomic_add(self, op: tg.AtomicAddOp, buffer: SSAValue, value: SSAValue) -> SSAValue:
        """Every lane adds, also where several add to one cell, or all the same to the same."""
        union, around = self.expansion.union((buffer, value)), self.expansion.around(op)
        axes = self.expansion.sorted({*union, *around})
        operands = [self.expansion.broadcast(o, axes) for o in (buffer, value)]
        return self.expansion.put(op.rebuild(operands))

    def _custom(self, op: tg.CustomOp, *operands: SSAValue) -> SSAValue:
        """The code is executed for each lane, also where it has no result."""
        expansion, type = self.expansion, op.result.type
        axes = expansion.union(operands)
        if isinstance(type, tg.VoidType):
            axes = expansion.sorted({*axes, *expansion.around(op)})
        else:
            type = tg.tensor_type(tg.tensor(op.result).element_type, expansion.shape(axes))
        new = op.rebuild([expansion.broadcast(o, axes) for o in operands], type)
        new.attributes = dict(op.attributes)
        return expansion.put(new, () if isinstance(type, tg.VoidType) else axes)

    # -- ordering

    def _after(self, op: tg.AfterOp, buffer: SSAValue, *dependencies: SSAValue) -> SSAValue:
        """AFTER without the expanded ranges: there is no order among lanes."""
        pairs = zip(op.dependencies, dependencies, strict=True)
        kept = [new for old, new in pairs if not _is_expanded(old)]
        if not kept:
            return buffer
        return self.expansion.put(tg.AfterOp(buffer, kept), self.expansion.axes(buffer))

    def _end(self, op: tg.EndOp, body: SSAValue, *ranges: SSAValue) -> SSAValue:
        loops = [new for old, new in zip(op.ranges, ranges, strict=True) if not _is_expanded(old)]
        return self.expansion.put(tg.EndOp(body, loops)) if loops else body

    def _wait(self, op: tg.TgOp, *operands: SSAValue) -> SSAValue:
        return self.expansion.put(op.rebuild(operands))

    RULES: ClassVar[tuple[tuple[type[Operation], Callable[..., SSAValue]], ...]] = (
        (tg.ElementwiseOp, _elementwise),
        (tg.BitcastOp, _elementwise),
        (tg.ShuffleOp, _elementwise),
        (tg.InsOp, _instruction),
        (tg.IndexOp, _index),
        (tg.LoadOp, _load),
        (tg.StoreOp, _store),
        (tg.AtomicAddOp, _atomic_add),
        (tg.CustomOp, _custom),
        (tg.AfterOp, _after),
        (tg.EndOp, _end),
        (tg.SinkOp, _wait),
        (tg.BarrierOp, _wait),
    )


def _is_expanded(value: SSAValue) -> bool:
    return isinstance(value.owner, tg.RangeOp) and is_expanded(value.owner)
