"""Views of memory in a LINEAR: the pointer, index and alignment of each location.

tg-select and tg-plan leave no views but contiguous ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, NamedTuple, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.affine.bounds import is_inside
from tgdialect.analysis.affine.lanes import lane_indices
from tgdialect.analysis.divisors import Divisors
from tgdialect.analysis.min_max import MinMax
from tgdialect.lowering.render.output import Output, PointerView, V
from tgdialect.ops import tg
from tgdialect.ops.intervals import dtype_range
from tgdialect.targets import Target


class MemoryViews(Generic[V]):
    """The views of one function."""

    def __init__(
        self, output: Output[V], intervals: MinMax, values: Mapping[SSAValue, V], target: Target
    ) -> None:
        """`values` has the index scalars."""
        self._output = output
        self._intervals = intervals
        self._values = values
        self._target = target.name
        # A CPU accesses vectors at any address.
        self._divisors = Divisors() if target.execution == "grid" else None
        self._views: dict[SSAValue, PointerView[V]] = {}

    def __contains__(self, value: SSAValue) -> bool:
        return value in self._views

    def __getitem__(self, location: SSAValue) -> PointerView[V]:
        return self._views[location]

    def add(self, value: SSAValue, pointer: V, alignment: int | None = None) -> None:
        """Add memory at a pointer; its alignment is that of an element unless given."""
        dtype = tg.dtype_of(value)
        self._views[value] = PointerView(value, pointer, dtype, alignment or dtype.itemsize)

    def view(self, op: Operation) -> None:
        """A movement op of memory."""
        if (movement := _MOVEMENTS.get(type(op))) is None:
            raise PassFailedException(f"the target {self._target} has no {op.name} of memory")
        self._views[op.results[0]] = movement(self, op, self._views[op.operands[0]])

    def pointer(self, value: SSAValue) -> V:
        """The address of the first element."""
        return self._output.address(self._views[value])

    # -- movement

    def reshape(self, op: tg.ReshapeOp, source: PointerView[V]) -> PointerView[V]:
        return source

    def bitcast(self, op: tg.BitcastOp, source: PointerView[V]) -> PointerView[V]:
        return replace(
            source, pointer=self._output.address(source), index=None, dtype=tg.dtype_of(op.result)
        )

    def shrink(self, op: tg.ShrinkOp, source: PointerView[V]) -> PointerView[V]:
        """A contiguous SHRINK: axes before the innermost that it cuts have one cell."""
        old, new = tg.shape_of(op.source), tg.shape_of(op.result)
        offsets, _ = tg.window(op)
        kept = [tg.same_dim(a, b) for a, b in zip(old, new, strict=True)]
        cut = [axis for axis, same in enumerate(kept) if not same]
        if any(extent != 1 for extent in new[: max(cut, default=0)]):
            raise PassFailedException("a shrink that is not contiguous")
        for axis, bounds in enumerate(zip(offsets, new, old, strict=True)):
            is_whole = offsets[axis] == 0 and kept[axis]
            if not (is_whole or _is_of_arena(op) or is_inside(bounds, self._intervals)):
                raise PassFailedException(f"a shrink that may leave its source on axis {axis}")
        return self._moved(source, offsets, old)

    def _interval(self, dim: tg.Dim) -> tg.Interval:
        """The interval of an extent or offset."""
        if isinstance(dim, SSAValue):
            return self._intervals[dim]
        return tg.Interval(dim, dim) if isinstance(dim, int) else dtype_range(tg.DTYPES[tg.INDEX])

    def index(self, op: tg.IndexOp, source: PointerView[V]) -> PointerView[V]:
        """INDEX by scalars: an element or a row. INDEX by a vector: an element for each lane."""
        shape = tg.shape_of(op.source)
        if any(tg.static_shape(tg.tensor(index)) for index in op.indices):
            return self._neighbours(op, source)
        moved = self._moved(source, op.indices, shape)
        is_safe = source.index is None and all(self._interval(e).lo >= 1 for e in shape)
        return replace(moved, is_safe=is_safe)

    def _neighbours(self, op: tg.IndexOp, source: PointerView[V]) -> PointerView[V]:
        (index,) = op.indices
        out, lanes = self._output, tg.static_shape(tg.tensor(index))[0]
        # Indices of unknown distances.
        if (found := lane_indices(index)) is None:
            vector = self._values[index]
            each = [self._advanced(source, out.lane(vector, lane)) for lane in range(lanes)]
            return replace(source, elements=tuple(each), lanes=lanes)
        # A scalar base and known offsets: neighbours if they are consecutive.
        total: V | None = None
        divisor = 0
        for scalar, factor in found.scalars.terms.items():
            divisor = math.gcd(divisor, factor * self._divisor(scalar))
            value = self._values[scalar]
            if factor != 1:
                value = out.multiply(value, out.number(factor))
            total = value if total is None else out.add(total, value)
        if found.is_ramp:
            first = self._advanced(source, total, found.numbers[0], divisor)
            (extent,) = tg.shape_of(op.source)
            is_safe = source.index is None and self._interval(extent).lo >= lanes
            return replace(first, lanes=lanes, is_safe=is_safe)
        first = self._advanced(source, total, 0, divisor)
        first = replace(first, pointer=self._output.address(first), index=None)
        each = [self._advanced(first, None, number) for number in found.numbers]
        # A REG buffer that is loaded in other pieces than it was stored stays on the stack.
        is_register = tg.place(op.source).addrspace is tg.AddrSpace.REG
        offsets = () if is_register else found.numbers
        return replace(first, elements=tuple(each), offsets=offsets, lanes=lanes)

    def _moved(
        self, source: PointerView[V], offsets: Sequence[tg.Dim], shape: tg.Shape
    ) -> PointerView[V]:
        """A view from the element on at these offsets along the leading axes."""
        out = self._output
        known = divisor = 0
        total: V | None = None
        for axis, offset in enumerate(offsets):
            steps = shape[axis + 1 :]
            if isinstance(offset, int) and all(isinstance(s, int) for s in steps):
                known += offset * math.prod(cast("Sequence[int]", steps))
                continue
            factors = math.prod(map(self._divisor, (offset, *steps)))
            divisor = math.gcd(divisor, factors)
            term = self._index_value(offset)
            for step in steps:
                if step != 1:
                    term = out.multiply(term, self._index_value(step))
            total = term if total is None else out.add(total, term)
        return self._advanced(source, total, known, divisor)

    def _divisor(self, dim: tg.Dim) -> int:
        """A number that divides an extent, an offset or a stride."""
        if isinstance(dim, int):
            return dim
        if self._divisors is None or not isinstance(dim, SSAValue):
            return 1
        return self._divisors[dim]

    def _advanced(
        self, source: PointerView[V], total: V | None, known: int = 0, divisor: int = 1
    ) -> PointerView[V]:
        """A view from the element on that is `total + known` after the first. `divisor` divides
        `total`."""
        if total is None and not known:
            return source
        out = self._output
        unit = source.dtype.itemsize * math.gcd(known, 0 if total is None else divisor)
        if known:
            step = out.number(known)
            total = step if total is None else out.add(total, step)
        alignment = math.gcd(source.alignment, unit)
        return replace(
            source, pointer=self._output.address(source), index=total, alignment=alignment
        )

    def _index_value(self, dim: tg.Dim) -> V:
        if isinstance(dim, SSAValue):
            return self._values[dim]
        if not isinstance(dim, int) or dim == DYNAMIC_INDEX:
            raise PassFailedException("a dynamic dimension that no index value gives")
        return self._output.number(dim)


_Views = MemoryViews[Any]

_MOVEMENTS: dict[type[Operation], Callable[[_Views, Any, PointerView[Any]], PointerView[Any]]] = {
    tg.ReshapeOp: _Views.reshape,
    tg.BitcastOp: _Views.bitcast,
    tg.ShrinkOp: _Views.shrink,
    tg.IndexOp: _Views.index,
}


class CopyPart(NamedTuple, Generic[V]):
    """A copy of some aligned bytes, which are zeros where a gate is false."""

    to: PointerView[V]
    source: PointerView[V]
    bytes: int
    gate: V | None


def copy_parts(
    output: Output[V], to: PointerView[V], source: PointerView[V], gate: V | None
) -> Sequence[CopyPart[V]] | None:
    """The copies of 4, 8 or 16 bytes that one access is; None where that is not possible."""
    size = to.dtype.itemsize
    bytes = size * to.lanes
    alignment = math.gcd(to.alignment, source.alignment)
    is_one_gate = gate is None or output.lanes(gate) == 1
    is_run = not to.elements and not source.elements and is_one_gate
    if is_run and bytes in (4, 8, 16) and alignment % bytes == 0:
        return [CopyPart(to, source, bytes, gate)]
    if size not in (4, 8) or alignment % size:
        return None
    pairs = zip(elements(output, to), elements(output, source), strict=True)
    return [
        CopyPart(a, b, size, gate if gate is None or is_one_gate else output.lane(gate, lane))
        for lane, (a, b) in enumerate(pairs)
    ]


def elements(output: Output[V], view: PointerView[V]) -> Sequence[PointerView[V]]:
    """The single elements of a view."""
    if view.elements or view.lanes == 1:
        return view.elements or (view,)
    first = replace(view, lanes=1)
    later: list[PointerView[V]] = []
    for lane in range(1, view.lanes):
        step = output.number(lane)
        index = step if view.index is None else output.add(view.index, step)
        alignment = math.gcd(view.alignment, lane * view.dtype.itemsize)
        later.append(replace(first, index=index, alignment=alignment))
    return [first, *later]


def _is_of_arena(op: tg.ShrinkOp) -> bool:
    """Whether an op makes a buffer of an arena that is as large as a call needs it: `tg-plan` has
    computed the size as that of the last buffer's end. A module that says so itself is one of those
    that need `allow_custom`."""
    source = op.source
    return isinstance(source, BlockArgument) and "tg.workspace" in tg.argument_attributes(source)
