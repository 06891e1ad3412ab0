"""Loads and stores of the `llvm` dialect.

A vector load may be gated per lane, a gather is taken out of full vectors where its offsets are
known, and stores to large results bypass the caches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from dataclasses import replace

from xdsl.dialects import llvm
from xdsl.dialects.builtin import i8, i32, i64
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.affine.lanes import covering
from tgdialect.llvm_dialect.memory import MaskedLoadOp, MaskedStoreOp, StoreOp
from tgdialect.lowering.render.llvm.emitter import LLVMEmitter
from tgdialect.lowering.render.llvm.types import (
    address_type,
    is_vector,
    lanes_of,
    memory_type,
    vector_of,
)
from tgdialect.lowering.render.output import PointerView
from tgdialect.targets import Target

View = PointerView[SSAValue]

_READ = 0, 3, 1
"""Operands of `llvm.prefetch`: it is to be read, all caches are to have it, and it is no code. What
steps prefetch in shares of a line is in L1 after the first share: networks of convolutions take
0.97 to 0.99 of the time that they take if only L2 has it."""


class LLVMAccesses(LLVMEmitter):
    """A function whose memory is accessed through views."""

    _target: Target
    _streamed: Set[SSAValue]
    """The parameters to which STOREs bypass the caches."""

    def address(self, view: View) -> SSAValue:
        if view.index is None:
            return view.pointer
        return self.offset(view.pointer, view.index, address_type(view.dtype))

    def load_view(self, view: View, gate: SSAValue | None, alt: SSAValue | None) -> SSAValue:
        # Elements at known offsets are picked out of full vectors. Under a gate the mask maps each
        # loaded cell to one lane, so no two lanes may load one cell.
        are_apart = view.offsets and (gate is None or len({*view.offsets}) == view.lanes)
        if are_apart and (starts := covering(view.offsets)):
            return self._gathered(view, starts, gate, alt)
        # Other elements are loaded one by one.
        if view.elements:
            choices = [
                [None if v is None else self.lane(v, lane) for v in (gate, alt)]
                for lane in range(view.lanes)
            ]
            lanes = zip(view.elements, choices, strict=True)
            return self.stack([self.load_view(element, *choice) for element, choice in lanes])
        # Neighbours: one load, masked if there is a gate.
        if gate is None or alt is None:
            return self._loaded(view)
        # A scalar gate: read the first elements instead, or branch.
        if view.is_safe and not is_vector(gate.type):
            if view.index is not None:
                view = replace(view, index=self.select(gate, view.index, self.number(0)))
            chosen = self.splat(gate, view.lanes)
            return self.select(chosen, self._loaded(view), self.splat(alt, view.lanes))
        if view.lanes > 1:
            return self._loaded(view, self.splat(gate, view.lanes), alt)
        then, merge = self.new_block(), self.new_block(alt.type)
        self.branch_if(gate, then, (), merge, (alt,))
        self.enter(then)
        self.branch(merge, self._loaded(view))
        self.enter(merge)
        return merge.args[0]

    def _gathered(
        self, view: View, starts: Sequence[int], gate: SSAValue | None, alt: SSAValue | None
    ) -> SSAValue:
        """Gather elements by shuffles of the vectors at the offsets `starts`, which cover all of
        them."""
        lanes, first_cells = view.lanes, replace(view, elements=(), offsets=())
        lane_at = {offset: lane for lane, offset in enumerate(view.offsets)}
        mask = result = None
        if gate is not None and alt is not None:
            gate, alt = self.splat(gate, lanes), self.splat(alt, lanes)
        for start in starts:
            here = range(start, start + lanes)
            if gate is not None:
                closed = self.number(0, gate.type)
                mask = self.shuffle(gate, closed, [lane_at.get(offset, lanes) for offset in here])
            near = first_cells
            if start:
                alignment = math.gcd(view.alignment, start * view.dtype.itemsize)
                near = replace(near, index=self.number(start), alignment=alignment)
            vector = self._loaded(near, mask, alt)
            first, distance = (vector, 0) if result is None else (result, lanes)
            picked = [at - start + distance if at in here else lane_at[at] for at in view.offsets]
            result = self.shuffle(first, vector, picked)
        assert result is not None
        return result if gate is None or alt is None else self.select(gate, result, alt)

    def _loaded(
        self, view: View, mask: SSAValue | None = None, alt: SSAValue | None = None
    ) -> SSAValue:
        type = vector_of(memory_type(view.dtype), view.lanes)
        address = self.address(view)
        if mask is None or alt is None:
            value = self.load(address, type, view.alignment)
        else:
            if view.dtype.is_bool:
                alt = self.emit(llvm.ZExtOp, (alt,), type)
            masked = MaskedLoadOp(address, mask, alt, view.alignment)
            self.insert(masked)
            value = masked.res
        # Any byte but 0 is true.
        return self.compare("ne", value, self.number(0, type)) if view.dtype.is_bool else value

    def prefetch(self, address: SSAValue, bytes: int) -> None:
        """Have the caches load the lines of some bytes."""
        for start in range(0, bytes, self._target.cache_line):
            line = self.offset(address, self.number(start), i8) if start else address
            read = [self.number(number, i32) for number in _READ]
            self.insert(llvm.CallIntrinsicOp("llvm.prefetch", [line, *read], []))

    def store_view(self, value: SSAValue, view: View, gate: SSAValue | None) -> None:
        if not view.elements:
            self._store(value, view, gate)
        elif gate is not None:
            raise PassFailedException("a gated vector is stored to neighbouring elements")
        for lane, element in enumerate(view.elements):
            self._store(self.lane(value, lane), element)

    def _store(self, value: SSAValue, view: View, gate: SSAValue | None = None) -> None:
        is_whole = view.lanes == 1 and is_vector(value.type)
        if is_whole and value is self.number(0, value.type):
            self.clear(self.address(view), lanes_of(value.type) * view.dtype.itemsize)
            return
        if view.dtype.is_bool:
            value = self.emit(llvm.ZExtOp, (value,), vector_of(i8, view.lanes))
        address = self.address(view)
        if gate is not None:
            self.insert(MaskedStoreOp(value, address, gate, view.alignment))
        elif view.memory in self._streamed and self._fills_lines(view):
            self._stream(value, address, view)
        else:
            self.store(value, address, view.alignment)

    def _fills_lines(self, view: View) -> bool:
        """Whether two vectors fill a cache line. Smaller ones leave its write-combining buffer
        partly full for longer."""
        return 2 * view.lanes * view.dtype.itemsize % self._target.cache_line == 0

    def _stream(self, value: SSAValue, address: SSAValue, view: View) -> None:
        """Store a vector non-temporally where its address is aligned, as the instruction
        requires."""
        bytes = view.lanes * view.dtype.itemsize
        bytes = 1 << min(bytes, self._target.alignment).bit_length() - 1
        number = self.emit(llvm.PtrToIntOp, (address,), i64)
        rest = self.binary(llvm.AndOp, number, self.number(bytes - 1))
        aligned, other, after = self.new_block(), self.new_block(), self.new_block()
        self.branch_if(self.compare("eq", rest, self.number(0)), aligned, (), other)
        self.enter(aligned)
        self.insert(StoreOp(value, address, bytes, nontemporal=True))
        self.branch(after)
        self.enter(other)
        self.store(value, address, view.alignment)
        self.branch(after)
        self.enter(after)
