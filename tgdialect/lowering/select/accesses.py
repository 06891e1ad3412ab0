"""LOADs and STOREs of one piece of a register tile: a vector where its cells are neighbours in
memory, else one access for each lane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir import SSAValue

from tgdialect.analysis.ramps import is_near
from tgdialect.lowering.select.bounds import Bounds
from tgdialect.lowering.select.indices import Index, Ramp, Scalar, is_ramp, is_sum, lanes_of
from tgdialect.lowering.select.locations import Cell, Location, Locations
from tgdialect.lowering.select.narrow import NarrowFloats
from tgdialect.lowering.select.scalars import Scalars, dtype_name
from tgdialect.ops.folding import constant_attribute
from tgdialect.ops.memory import LoadOp, StoreOp, segments
from tgdialect.ops.movement import StackOp
from tgdialect.ops.properties import number, tensor, tensor_type


class Accesses:
    """Appends LOADs and STOREs to a kernel."""

    def __init__(
        self, scalars: Scalars, narrow: NarrowFloats, bounds: Bounds, locations: Locations
    ) -> None:
        self.scalars = scalars
        self.bounds = bounds
        self.locations = locations
        self._narrow = narrow

    def load(
        self,
        memory: SSAValue,
        cell: Cell,
        width: int,
        alt: SSAValue | None = None,
        gate: SSAValue | None = None,
    ) -> SSAValue:
        """The register that holds a piece: `alt` where the gate is false, 0 where an index is out
        of bounds."""
        where = self.locations.locate(memory, cell)
        position, exists = where.position, self.bounds.gate(where.checks, gate)
        choice = alt, gate, exists
        if is_ramp(position) and position.step == -1:
            # Neighbours in falling order: load them in rising order, and reverse the lanes.
            location = self.locations.reference(where.view, self._mirrored(position))
            choice = [v if v is None else self._reversed(v) for v in choice]
            return self._reversed(self._load(memory, location, *choice))
        is_one = max(map(lanes_of, (position, *(v for v in choice if v is not None)))) == 1
        is_free = gate is None and exists is None
        if is_one or (is_ramp(position) and (is_free or is_near(position.step, width))):
            # One element, or lanes that a vector LOAD of a ramp can have.
            return self._load(memory, self.locations.reference(where.view, position), *choice)
        # Neighbours in a tile that are not neighbours in memory.
        loaded: list[SSAValue] = []
        for lane in range(width):
            here = [None if v is None else self.scalars.lane(v, lane) for v in choice]
            loaded.append(self._load(memory, self._lane(where, lane), *here))
        return self.scalars.stack(loaded)

    def store(
        self, memory: SSAValue, cell: Cell, width: int, piece: SSAValue, gate: SSAValue | None
    ) -> Sequence[SSAValue]:
        """The STOREs of a piece, in its stored form, where the gate is true and no index is out of
        bounds."""
        where = self.locations.locate(memory, cell)
        position, exists = where.position, self.bounds.gate(where.checks, gate)
        if is_ramp(position) and position.step == -1:
            # Neighbours in falling order: reverse the lanes.
            piece = self._reversed(piece)
            exists = None if exists is None else self._reversed(exists)
            position = self._mirrored(position)
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
        """STORE to a location."""
        return self.scalars.append(StoreOp(location, value, gate))

    def _load(
        self,
        memory: SSAValue,
        location: SSAValue,
        alt: SSAValue | None,
        gate: SSAValue | None,
        exists: SSAValue | None,
    ) -> SSAValue:
        """LOAD of a location, which exists where `exists` says; `alt` where `gate` is false."""
        dtype = dtype_name(memory)
        type, lanes = tensor(location).element_type, lanes_of(location)
        result = tensor_type(type, (lanes,) if lanes > 1 else ())
        if exists is None:
            sizes = {"operandSegmentSizes": segments(1, 0, 0)}
            loaded = self.scalars.emit(LoadOp, (location,), sizes, result)
            return self._narrow.computed(loaded, dtype)
        zero = self.scalars.constant(0, self._narrow.stored_dtype(dtype))
        otherwise = zero if alt is None else self._narrow.stored(alt, dtype)
        direct = exists is gate or otherwise is zero
        alternative = self.scalars.splat(otherwise if direct else zero, lanes)
        sizes = {"operandSegmentSizes": segments(1, 1, 1)}
        stored = self.scalars.emit(LoadOp, (location, alternative, exists), sizes, result)
        if gate is not None and not direct:
            choice = gate, stored, otherwise
            stored = self.scalars.apply("where", choice, self._narrow.stored_dtype(dtype))
        return self._narrow.computed(stored, dtype)

    def _lane(self, where: Location, lane: int) -> SSAValue:
        """The location of one lane."""
        position: Index = where.position
        if not isinstance(position, int) and not is_sum(position):
            position = self.scalars.known_index(self.scalars.lane(position, lane))
        return self.locations.reference(where.view, position)

    def _mirrored(self, ramp: Ramp) -> Ramp:
        """The indices of a ramp that falls by 1, in rising order."""
        last = self.scalars.add(ramp.start, 1 - ramp.lanes)
        return Ramp(cast(Scalar, last), 1, ramp.lanes)

    def _reversed(self, value: SSAValue) -> SSAValue:
        count = lanes_of(value)
        return self.scalars.stack([self.scalars.lane(value, i) for i in reversed(range(count))])


def _is_constant(mask: SSAValue) -> bool:
    """Whether every lane of a mask is known."""
    return isinstance(op := mask.owner, StackOp) and all(
        constant_attribute(lane) is not None for lane in op.sources
    )


def _is_true(lane: SSAValue | None) -> bool:
    attribute = None if lane is None else constant_attribute(lane)
    return attribute is not None and bool(number(attribute))
