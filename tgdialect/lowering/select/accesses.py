"""LOADs and STOREs of one piece of a register tile.

Cells that are contiguous in memory are accessed as a vector, other cells one lane at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir import SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.affine.lanes import is_near
from tgdialect.fast_xdsl.unchecked import segments
from tgdialect.lowering.select.bounds_checks import BoundsChecks
from tgdialect.lowering.select.indices import LaneIndex, Ramp, Scalar, is_ramp, is_sum, lanes_of
from tgdialect.lowering.select.locations import CellIndex, Location, Locations
from tgdialect.lowering.select.narrow import NarrowFloats
from tgdialect.lowering.select.scalars import Scalars, dtype_name
from tgdialect.ops import tg
from tgdialect.ops.folding import constant_attribute
from tgdialect.ops.properties import number, tensor, tensor_type


class Accesses:
    """Appends LOADs and STOREs to a kernel."""

    def __init__(
        self, scalars: Scalars, narrow: NarrowFloats, bounds: BoundsChecks, locations: Locations
    ) -> None:
        self.scalars = scalars
        self.bounds = bounds
        self.locations = locations
        self._narrow = narrow

    def load(
        self,
        memory: SSAValue,
        cell: CellIndex,
        width: int,
        alt: SSAValue | None = None,
        gate: SSAValue | None = None,
    ) -> SSAValue:
        """Load a piece of `width` elements into a register. A lane is `alt` where the gate is
        false, and 0 where an index is out of bounds."""
        where = self.locations.locate(memory, cell)
        position, exists = where.position, self.bounds.gate(where.checks, gate)
        choice = alt, gate, exists
        if is_ramp(position) and position.step == -1:
            # Contiguous cells in descending order: load them ascending, and reverse the lanes.
            location = self.locations.reference(where.view, self._mirrored(position))
            choice = [v if v is None else self._reversed(v) for v in choice]
            return self._reversed(self._load(memory, location, *choice))
        is_one = max(map(lanes_of, (position, *(v for v in choice if v is not None)))) == 1
        is_free = gate is None and exists is None
        if is_one or (is_ramp(position) and (is_free or is_near(position.step, width))):
            # One element, or a ramp that one vector LOAD can read.
            return self._load(memory, self.locations.reference(where.view, position), *choice)
        # Cells that no vector LOAD covers: one LOAD for each lane.
        loaded: list[SSAValue] = []
        for lane in range(width):
            here = [None if v is None else self.scalars.lane(v, lane) for v in choice]
            loaded.append(self._load(memory, self._lane(where, lane), *here))
        return self.scalars.stack(loaded)

    def load_block(self, memory: SSAValue) -> SSAValue:
        """Load contiguous cells as one vector in their own dtype, which only a matrix instruction
        can do, whatever their number is."""
        (size,) = tensor(memory).get_shape()
        where = self.locations.locate(memory, (Ramp(0, 1, size),))
        if self.bounds.gate(where.checks, None) is not None:
            raise PassFailedException("a block of LOCAL memory that may be out of bounds")
        view, dtype = where.view, tensor(memory).element_type
        if tensor(view).element_type != dtype:
            view = self.scalars.emit(tg.BitcastOp, (view,), {"dtype": dtype})
        location = self.locations.reference(view, where.position)
        sizes = {"operandSegmentSizes": segments(1, 0, 0)}
        return self.scalars.emit(tg.LoadOp, (location,), sizes, tensor_type(dtype, (size,)))

    def store(
        self, memory: SSAValue, cell: CellIndex, width: int, piece: SSAValue, gate: SSAValue | None
    ) -> Sequence[SSAValue]:
        """Emit the STOREs of a piece, which is in its stored form. Lanes where the gate is false
        or an index is out of bounds are not written."""
        where = self.locations.locate(memory, cell)
        position, exists = where.position, self.bounds.gate(where.checks, gate)
        if is_ramp(position) and position.step == -1:
            # Contiguous cells in descending order: reverse the lanes, and store them ascending.
            piece = self._reversed(piece)
            exists = None if exists is None else self._reversed(exists)
            position = self._mirrored(position)
        # One vector STORE, unless a constant mask allows unmasked STOREs of the lanes it selects.
        is_known = exists is not None and _is_constant(exists)
        is_vector = is_ramp(position) and (position.step == 1 or exists is None)
        if width == 1 or (is_vector and not is_known):
            location = self.locations.reference(where.view, position)
            return [self.put(location, self.scalars.splat(piece, width), exists)]
        # One STORE for each lane whose mask is not known to be false.
        where = where._replace(position=position)
        stores: list[SSAValue] = []
        for lane in range(width):
            location = self._lane(where, lane)
            here = None if exists is None else self.scalars.lane(exists, lane)
            if not is_known or _is_true(here):
                value = self.scalars.lane(piece, lane)
                stores.append(self.put(location, value, None if is_known else here))
        return stores

    def put(self, location: SSAValue, value: SSAValue, gate: SSAValue | None) -> SSAValue:
        """Emit one STORE to a location."""
        return self.scalars.put(tg.StoreOp(location, value, gate))

    def _load(
        self,
        memory: SSAValue,
        location: SSAValue,
        alt: SSAValue | None,
        gate: SSAValue | None,
        exists: SSAValue | None,
    ) -> SSAValue:
        """Emit one LOAD of the lanes where `exists` is true; None stands for all lanes.

        The other lanes are `alt` where `gate` is false, and 0 where only a bounds check fails.
        """
        dtype = dtype_name(memory)
        type, lanes = tensor(location).element_type, lanes_of(location)
        result = tensor_type(type, (lanes,) if lanes > 1 else ())
        if exists is None:
            sizes = {"operandSegmentSizes": segments(1, 0, 0)}
            loaded = self.scalars.emit(tg.LoadOp, (location,), sizes, result)
            return self._narrow.computed(loaded, dtype)
        # A LOAD has one alternative value. It is `alt` if no bounds check was added to the gate,
        # or else 0, and a WHERE on the gate puts `alt` in place.
        zero = self.scalars.constant(0, self._narrow.stored_dtype(dtype))
        otherwise = zero if alt is None else self._narrow.stored(alt, dtype)
        direct = exists is gate or otherwise is zero
        alternative = self.scalars.splat(otherwise if direct else zero, lanes)
        sizes = {"operandSegmentSizes": segments(1, 1, 1)}
        stored = self.scalars.emit(tg.LoadOp, (location, alternative, exists), sizes, result)
        if gate is not None and not direct:
            choice = gate, stored, otherwise
            stored = self.scalars.apply("where", choice, self._narrow.stored_dtype(dtype))
        return self._narrow.computed(stored, dtype)

    def _lane(self, where: Location, lane: int) -> SSAValue:
        """The INDEX of the cell that one lane accesses."""
        position: LaneIndex = where.position
        if not isinstance(position, int) and not is_sum(position):
            position = self.scalars.known_index(self.scalars.lane(position, lane))
        return self.locations.reference(where.view, position)

    def _mirrored(self, ramp: Ramp) -> Ramp:
        """The indices of a ramp of step -1, in ascending order."""
        last = self.scalars.add(ramp.start, 1 - ramp.lanes)
        return Ramp(cast(Scalar, last), 1, ramp.lanes)

    def _reversed(self, value: SSAValue) -> SSAValue:
        """A vector with its lanes in reverse order."""
        count = lanes_of(value)
        return self.scalars.stack([self.scalars.lane(value, i) for i in reversed(range(count))])


def _is_constant(mask: SSAValue) -> bool:
    """Whether every lane of a mask is a constant."""
    return isinstance(op := mask.owner, tg.StackOp) and all(
        constant_attribute(lane) is not None for lane in op.sources
    )


def _is_true(lane: SSAValue | None) -> bool:
    """Whether one lane of a mask is the constant true."""
    attribute = None if lane is None else constant_attribute(lane)
    return attribute is not None and bool(number(attribute))
