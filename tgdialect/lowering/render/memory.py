"""Memory in a function of the `llvm` dialect: pointers, contiguous views, loads and stores.

tg-select and tg-plan leave no views but contiguous ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DYNAMIC_INDEX, i8, i64
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.affine.lanes import covering, lane_indices
from tgdialect.analysis.min_max import MinMax
from tgdialect.llvm_dialect import MaskedLoadOp, MaskedStoreOp, StoreOp
from tgdialect.lowering.render.emitter import LLVMEmitter
from tgdialect.lowering.render.types import is_vector, lanes_of, memory_type, vector_of
from tgdialect.ops.attributes import AddrSpace
from tgdialect.ops.dtypes import DTYPES, INDEX, DType
from tgdialect.ops.intervals import Interval, dtype_range
from tgdialect.ops.movement import BitcastOp, IndexOp, ReshapeOp, ShrinkOp
from tgdialect.ops.properties import (
    Dim,
    Shape,
    dtype_of,
    place,
    same_dim,
    shape_of,
    tensor,
    window,
)
from tgdialect.targets import Target


@dataclass(frozen=True, slots=True)
class PointerView:
    """Elements of a dtype from a pointer on: memory, or the location of an access."""

    pointer: SSAValue
    dtype: DType
    alignment: int
    """The known alignment of the pointer, in bytes."""
    index: SSAValue | None = None
    """The position of the first element relative to the pointer; None is 0."""
    is_safe: bool = False
    """Whether the pointer itself is known to be valid. A gated load then reads there where its gate
    is false, instead of branching."""
    lanes: int = 1
    """The number of elements of an access."""
    elements: tuple[PointerView, ...] = ()
    """The views of the single elements of a gather or scatter; empty if they are neighbours."""
    offsets: tuple[int, ...] = ()
    """The offsets of the elements from the pointer, if they are known and the elements between them
    may be loaded as well."""
    is_streamed: bool = False
    """Whether STOREs bypass the caches: nothing reads them while they would still be cached."""


class MemoryRenderer:
    """The views of one function."""

    def __init__(
        self,
        emitter: LLVMEmitter,
        intervals: MinMax,
        values: Mapping[SSAValue, SSAValue],
        target: Target,
    ) -> None:
        """`values` has the LLVM values of index scalars."""
        self._emitter = emitter
        self._intervals = intervals
        self._values = values
        self._target = target
        self._views: dict[SSAValue, PointerView] = {}

    def __contains__(self, value: SSAValue) -> bool:
        return value in self._views

    def add(
        self,
        value: SSAValue,
        pointer: SSAValue,
        alignment: int | None = None,
        *,
        is_streamed: bool = False,
    ) -> None:
        """Add memory at a pointer; its alignment is that of an element unless given."""
        dtype = dtype_of(value)
        alignment = alignment or dtype.itemsize
        self._views[value] = PointerView(pointer, dtype, alignment, is_streamed=is_streamed)

    def view(self, op: Operation) -> None:
        """A movement op of memory."""
        if (movement := _MOVEMENTS.get(type(op))) is None:
            raise PassFailedException(f"the target {self._target.name} has no {op.name} of memory")
        self._views[op.results[0]] = movement(self, op, self._views[op.operands[0]])

    def pointer(self, value: SSAValue) -> SSAValue:
        """The address of the first element."""
        view = self._views[value]
        return self._address(view) if view.index is not None else view.pointer

    def load(self, location: SSAValue, gate: SSAValue | None, alt: SSAValue | None) -> SSAValue:
        """The elements at a location; where the gate is false, `alt`, and memory is not touched."""
        return self._load(self._views[location], gate, alt)

    def _load(self, view: PointerView, gate: SSAValue | None, alt: SSAValue | None) -> SSAValue:
        e = self._emitter
        # Elements at known offsets are picked out of full vectors. Under a gate the mask maps each
        # loaded cell to one lane, so no two lanes may load one cell.
        are_apart = view.offsets and (gate is None or len({*view.offsets}) == view.lanes)
        if are_apart and (starts := covering(view.offsets)):
            return self._gathered(view, starts, gate, alt)
        # Other elements are loaded one by one.
        if view.elements:
            choices = [
                [v if v is None or not is_vector(v.type) else e.lane(v, lane) for v in (gate, alt)]
                for lane in range(view.lanes)
            ]
            lanes = zip(view.elements, choices, strict=True)
            return e.stack([self._load(element, *choice) for element, choice in lanes])
        # Neighbours: one load, masked if there is a gate.
        if gate is None or alt is None:
            return self._loaded(view)
        if view.lanes > 1:
            return self._loaded(view, e.splat(gate, view.lanes), alt)
        # One element under a gate: read element 0 instead, or branch.
        if view.is_safe:
            if view.index is not None:
                view = replace(view, index=e.select(gate, view.index, e.number(0)))
            return e.select(gate, self._loaded(view), alt)
        then, merge = e.new_block(), e.new_block(alt.type)
        e.branch_if(gate, then, (), merge, (alt,))
        e.enter(then)
        e.branch(merge, self._loaded(view))
        e.enter(merge)
        return merge.args[0]

    def _gathered(
        self, view: PointerView, starts: Sequence[int], gate: SSAValue | None, alt: SSAValue | None
    ) -> SSAValue:
        """Gather elements by shuffles of the vectors at the offsets `starts`, which cover all of
        them."""
        e, lanes, near = self._emitter, view.lanes, replace(view, elements=(), offsets=())
        lane_at = {offset: lane for lane, offset in enumerate(view.offsets)}
        mask = result = None
        if gate is not None and alt is not None:
            gate, alt = e.splat(gate, lanes), e.splat(alt, lanes)
        for start in starts:
            here = range(start, start + lanes)
            if gate is not None:
                closed = e.number(0, gate.type)
                mask = e.shuffle(gate, closed, [lane_at.get(offset, lanes) for offset in here])
            vector = self._loaded(self._advanced(near, None, start), mask, alt)
            first, distance = (vector, 0) if result is None else (result, lanes)
            picked = [at - start + distance if at in here else lane_at[at] for at in view.offsets]
            result = e.shuffle(first, vector, picked)
        assert result is not None
        return result if gate is None or alt is None else e.select(gate, result, alt)

    def _loaded(
        self, view: PointerView, mask: SSAValue | None = None, alt: SSAValue | None = None
    ) -> SSAValue:
        e, type = self._emitter, vector_of(memory_type(view.dtype), view.lanes)
        address = self._address(view)
        if mask is None or alt is None:
            value = e.load(address, type, view.alignment)
        else:
            if view.dtype.is_bool:
                alt = e.emit(llvm.ZExtOp, (alt,), type)
            masked = MaskedLoadOp(address, mask, alt, view.alignment)
            e.insert(masked)
            value = masked.res
        # Any byte but 0 is true.
        return e.compare("ne", value, e.number(0, type)) if view.dtype.is_bool else value

    def store(self, value: SSAValue, location: SSAValue, gate: SSAValue | None = None) -> None:
        """Store a value at a location; a vector under a mask if there is a gate."""
        view = self._views[location]
        if not view.elements:
            self._store(value, view, gate)
        elif gate is not None:
            raise PassFailedException("a gated vector is stored to neighbouring elements")
        for lane, element in enumerate(view.elements):
            self._store(self._emitter.lane(value, lane), element)

    def _store(self, value: SSAValue, view: PointerView, gate: SSAValue | None = None) -> None:
        e = self._emitter
        is_whole = view.lanes == 1 and is_vector(value.type)
        if is_whole and value is e.number(0, value.type):
            e.clear(self._address(view), lanes_of(value.type) * view.dtype.itemsize)
            return
        if view.dtype.is_bool:
            value = e.emit(llvm.ZExtOp, (value,), vector_of(i8, view.lanes))
        address = self._address(view)
        if gate is not None:
            e.insert(MaskedStoreOp(value, address, gate, view.alignment))
        elif view.is_streamed and self._fills_lines(view):
            self._stream(value, address, view)
        else:
            e.store(value, address, view.alignment)

    def _fills_lines(self, view: PointerView) -> bool:
        """Whether two vectors fill a cache line. Smaller ones leave its write-combining buffer
        partly full for longer."""
        return 2 * view.lanes * view.dtype.itemsize % self._target.cache_line == 0

    def _stream(self, value: SSAValue, address: SSAValue, view: PointerView) -> None:
        """Store a vector non-temporally where its address is aligned, as the instruction
        requires."""
        e, bytes = self._emitter, view.lanes * view.dtype.itemsize
        bytes = 1 << min(bytes, self._target.alignment).bit_length() - 1
        number = e.emit(llvm.PtrToIntOp, (address,), i64)
        rest = e.binary(llvm.AndOp, number, e.number(bytes - 1))
        aligned, other, after = e.new_block(), e.new_block(), e.new_block()
        e.branch_if(e.compare("eq", rest, e.number(0)), aligned, (), other)
        e.enter(aligned)
        e.insert(StoreOp(value, address, bytes, nontemporal=True))
        e.branch(after)
        e.enter(other)
        e.store(value, address, view.alignment)
        e.branch(after)
        e.enter(after)

    def _address(self, view: PointerView) -> SSAValue:
        if view.index is None:
            return view.pointer
        return self._emitter.offset(view.pointer, view.index, memory_type(view.dtype))

    # -- movement

    def reshape(self, op: ReshapeOp, source: PointerView) -> PointerView:
        return source

    def bitcast(self, op: BitcastOp, source: PointerView) -> PointerView:
        return replace(source, pointer=self._address(source), index=None, dtype=dtype_of(op.result))

    def shrink(self, op: ShrinkOp, source: PointerView) -> PointerView:
        """A contiguous SHRINK: axes before the innermost that it cuts have one cell."""
        old, new = shape_of(op.source), shape_of(op.result)
        offsets, _ = window(op)
        kept = [same_dim(a, b) for a, b in zip(old, new, strict=True)]
        cut = [axis for axis, same in enumerate(kept) if not same]
        if any(extent != 1 for extent in new[: max(cut, default=0)]):
            raise PassFailedException("a shrink that is not contiguous")
        for axis, (offset, extent, bound) in enumerate(zip(offsets, new, old, strict=True)):
            start, size, limit = (self._interval(dim) for dim in (offset, extent, bound))
            inside = start.lo >= 0 and start.hi + size.hi <= limit.lo
            if not inside and not (offset == 0 and kept[axis]):
                raise PassFailedException(f"a shrink that may leave its source on axis {axis}")
        return self._moved(source, offsets, old)

    def _interval(self, dim: Dim) -> Interval:
        """The interval of an extent or offset."""
        if isinstance(dim, SSAValue):
            return self._intervals[dim]
        return Interval(dim, dim) if isinstance(dim, int) else dtype_range(DTYPES[INDEX])

    def index(self, op: IndexOp, source: PointerView) -> PointerView:
        """INDEX by scalars: an element or a row. INDEX by a vector: an element for each lane."""
        shape = shape_of(op.source)
        if any(tensor(index).get_shape() for index in op.indices):
            return self._neighbours(op, source)
        moved = self._moved(source, op.indices, shape)
        is_safe = source.index is None and all(self._interval(e).lo >= 1 for e in shape)
        return replace(moved, is_safe=is_safe)

    def _neighbours(self, op: IndexOp, source: PointerView) -> PointerView:
        (index,) = op.indices
        e, lanes = self._emitter, tensor(index).get_shape()[0]
        # Indices of unknown distances.
        if (found := lane_indices(index)) is None:
            vector = self._values[index]
            each = [self._advanced(source, e.lane(vector, lane), 0) for lane in range(lanes)]
            return replace(source, elements=tuple(each), lanes=lanes)
        # A scalar base and known offsets: neighbours if they are consecutive.
        total: SSAValue | None = None
        for scalar, factor in found.scalars.terms.items():
            value = self._values[scalar]
            if factor != 1:
                value = e.binary(llvm.MulOp, value, e.number(factor))
            total = value if total is None else e.binary(llvm.AddOp, total, value)
        if found.is_ramp:
            return replace(self._advanced(source, total, found.numbers[0]), lanes=lanes)
        first = self._advanced(source, total, 0)
        first = replace(first, pointer=self._address(first), index=None)
        each = [self._advanced(first, None, number) for number in found.numbers]
        # A REG buffer that is loaded in other pieces than it was stored stays on the stack.
        is_register = place(op.source).addrspace is AddrSpace.REG
        offsets = () if is_register else found.numbers
        return replace(first, elements=tuple(each), offsets=offsets, lanes=lanes)

    def _moved(self, source: PointerView, offsets: Sequence[Dim], shape: Shape) -> PointerView:
        """A view from the element on at these offsets along the leading axes."""
        e = self._emitter
        known, total = 0, None
        for axis, offset in enumerate(offsets):
            steps = shape[axis + 1 :]
            if isinstance(offset, int) and all(isinstance(s, int) for s in steps):
                known += offset * math.prod(cast("Sequence[int]", steps))
                continue
            term = self._index_value(offset)
            for step in steps:
                if step != 1:
                    term = e.binary(llvm.MulOp, term, self._index_value(step))
            total = term if total is None else e.binary(llvm.AddOp, total, term)
        return self._advanced(source, total, known)

    def _advanced(self, source: PointerView, total: SSAValue | None, known: int) -> PointerView:
        """A view from the element on that is `total + known` after the first."""
        if total is None and not known:
            return source
        e = self._emitter
        unit = source.dtype.itemsize * (known if total is None else 1)
        if known:
            step = e.number(known)
            total = step if total is None else e.binary(llvm.AddOp, total, step)
        alignment = math.gcd(source.alignment, unit)
        return replace(source, pointer=self._address(source), index=total, alignment=alignment)

    def _index_value(self, dim: Dim) -> SSAValue:
        if isinstance(dim, SSAValue):
            return self._values[dim]
        if not isinstance(dim, int) or dim == DYNAMIC_INDEX:
            raise PassFailedException("a dynamic dimension that no index value gives")
        return self._emitter.number(dim)


_MOVEMENTS: dict[type[Operation], Callable[[MemoryRenderer, Any, PointerView], PointerView]] = {
    ReshapeOp: MemoryRenderer.reshape,
    BitcastOp: MemoryRenderer.bitcast,
    ShrinkOp: MemoryRenderer.shrink,
    IndexOp: MemoryRenderer.index,
}
