"""The cells of memory that the work items of a workgroup access, and whether two of them may
access the same one.

An index is a sum of three parts: a number for each work item, where only `lidx` SPECIALs and
constants decide it; terms that are the same for all work items, such as `4 * gidx0`; and terms of
which only an interval is known. The first is computed for every work item, so that digits,
remainders and swizzles of `lidx` are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import product as pairs
from math import prod
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.affine.bounds import exact_polynomial, interval
from tgdialect.analysis.affine.cells import cell_number
from tgdialect.analysis.affine.lanes import shifted
from tgdialect.analysis.memory_order import MemoryAccess
from tgdialect.analysis.min_max import MinMax
from tgdialect.ops import tg
from tgdialect.ops.elementwise import DECOMPOSED, PRIMITIVES
from tgdialect.ops.folding import constant_attribute, evaluate
from tgdialect.ops.properties import Atom
from tgdialect.work_items.meetings import ItemParts, Meeting, Numbers, Sums, distances

MOST_WORK_ITEMS = 2048
"""Workgroups with more work items, or with a number that is not constant, are not enumerated: then
any two accesses may conflict. No device has more than 1024."""

_ELEMENTWISE = frozenset({*PRIMITIVES, *DECOMPOSED})
_VIEWS = (tg.IndexOp, tg.ReshapeOp, tg.AfterOp)
_OF_OPERANDS = frozenset({*_ELEMENTWISE, *_VIEWS, tg.LoadOp, tg.RangeOp})
"""The ops whose results vary only if operands do, if what LOADs read does not."""

_AT_ONCE: Mapping[str, Callable[[Numbers, Numbers], Numbers]] = {
    "tg.add": np.add,
    "tg.mul": np.multiply,
    "tg.idiv": np.floor_divide,
    "tg.mod": np.remainder,
    "tg.xor": np.bitwise_xor,
}
"""The ops on indices that are computed for all work items at once, if no number is negative or
beyond _SMALL, and no divisor 0: then nothing wraps, and all roundings are one."""

_SMALL = 1 << 31
"""The greatest index that is computed for all work items at once: sums and products of two do not
wrap an i64."""


def _are_small(op: Operation, operands: Sequence[Numbers]) -> bool:
    is_division = isinstance(op, tg.IDivOp | tg.ModOp)
    return all(each.min() >= 0 and each.max() <= _SMALL for each in operands) and not (
        is_division and not operands[1].all()
    )


class CellShape(NamedTuple):
    """All of the index of an access but a constant."""

    items: ItemParts
    lanes: Sequence[int]
    """The part that each lane has to itself, beyond that of the first one: a `range` where all are
    equally far apart."""
    uniform: tg.Polynomial
    """The part that all work items share, in values that loops outside may change."""
    rest: Sequence[tuple[int, tg.Interval]]
    """Multiples of values of which only an interval is known."""


class CellIndex(NamedTuple):
    """The index of an access in memory of one axis, for the work items that make it."""

    shape: CellShape
    first: int
    """The cell of the first lane of the first work item, without the other parts."""


@dataclass(frozen=True)
class Relation:
    """How the iterations of two accesses relate, of which one comes before the other."""

    changed: frozenset[Operation]
    """The RANGEs of which the accesses may be in different iterations."""
    carrier: Operation | None = None
    """The RANGE of which the second access is in a later iteration."""
    distance: int | None = None
    """How many iterations later, if that is known."""


@dataclass
class WorkItems:
    """The work items of a LINEAR, and the values that they compute."""

    ops: Iterable[Operation]
    read_only: Set[SSAValue]
    """The memory that no op writes: what is read from it at one index is the same for all."""
    intervals: MinMax = field(default_factory=MinMax)

    def __post_init__(self) -> None:
        specials = [
            op
            for op in self.ops
            if isinstance(op, tg.SpecialOp) and op.axis_type is tg.AxisType.LOCAL
        ]
        extents = [tg.known_index(op.bound) for op in specials]
        count = prod(extent or MOST_WORK_ITEMS + 1 for extent in extents)
        self.count = count if specials else 1
        self.is_known = self.count <= MOST_WORK_ITEMS
        self._values: dict[SSAValue, Numbers | None] = {}
        self._varies: dict[SSAValue, bool] = {op.result: True for op in specials}
        self._meetings: dict[tuple[CellShape, CellShape, Relation], Meeting] = {}
        self._polynomials: dict[SSAValue, tg.Polynomial] = {}
        self._ranges: dict[SSAValue, Set[Operation]] = {}
        self._parts: dict[tuple[bytes, bytes], ItemParts] = {}
        """By their arrays: equal ones are one."""
        self._apart: dict[tuple[ItemParts, ItemParts], Numbers] = {}
        self._indices: dict[Hashable, CellIndex] = {}
        """By terms, lanes and gates."""
        if self.is_known:
            numbers = np.arange(self.count)
            for op, extent in zip(specials, extents, strict=True):
                assert extent is not None
                self._values[op.result] = numbers % extent
                numbers = numbers // extent

    # -- values

    def varies(self, value: SSAValue) -> bool:
        """Whether a value may differ between the work items of a workgroup."""

        def compute(value: SSAValue) -> bool:
            op = value.owner
            if isinstance(op, tg.LoadOp) and tg.behind(op.buffer, *_VIEWS) not in self.read_only:
                return True
            if tg.operands_of(value) and type(op) not in _OF_OPERANDS:
                return not isinstance(op, tg.SpecialOp)
            return any(self._varies[operand] for operand in tg.operands_of(value))

        return tg.computed(value, self._varies, tg.operands_of, compute)

    def numbers(self, value: SSAValue) -> Numbers | None:
        """The value of an integer for each work item, if `lidx` and constants decide it."""

        def sources(value: SSAValue) -> Iterable[SSAValue]:
            is_scalar = type(value.owner) in _ELEMENTWISE and not tg.tensor(value).get_shape()
            return tg.operands_of(value) if is_scalar else ()

        return tg.computed(value, self._values, sources, self._number)

    def _number(self, value: SSAValue) -> Numbers | None:
        op = value.owner
        if (attribute := constant_attribute(value)) is not None:
            constant = tg.number(attribute)
            return np.full(self.count, int(constant)) if _is_integer(value) else None
        if type(op) not in _ELEMENTWISE or not _is_integer(value):
            return None
        operands = [self._values.get(operand) for operand in tg.operands_of(value)]
        if any(each is None for each in operands):
            return None
        assert isinstance(op, Operation)
        arrays = [each for each in operands if each is not None]
        types = tg.dtype_of(op.operands[0]), tg.dtype_of(value)
        at_once = _AT_ONCE.get(op.name)
        if at_once is not None and types[1] is tg.DTYPES[tg.INDEX] and _are_small(op, arrays):
            return at_once(*arrays)
        rows = list(zip(*(each.tolist() for each in arrays), strict=True))
        results = {row: evaluate(op.name, *types, row) for row in {*rows}}
        if any(each is None for each in results.values()):
            return None
        return np.array([results[row] for row in rows], np.int64)

    def _mask(self, gates: Iterable[SSAValue]) -> NDArray[np.bool_]:
        """The work items for which all gates may be true."""
        active = np.ones(self.count, np.bool_)
        walk = tg.Walk(gates)
        for gate in walk:
            if isinstance(op := gate.owner, tg.AndOp | tg.MulOp):
                walk.add(op.operands)
            elif (known := self.numbers(gate)) is not None:
                active &= known != 0
        return active

    # -- accesses

    def index_of(self, access: MemoryAccess, gates: Sequence[SSAValue]) -> CellIndex | None:
        """The index of an access that is made under gates; None if it may be to any cell."""
        location = access.location.owner
        if not isinstance(location, tg.IndexOp) or not _is_flat(location) or not self.is_known:
            return None
        if (cells := cell_number(location.indices[0], self._exact)) is None:
            return None
        own = getattr(access.op, "gate", None)
        gates = [each for each in (*gates, own) if each and not tg.tensor(each).get_shape()]
        lanes, terms = shifted(cells.lanes, -cells.lanes[0]), cells.shared.terms
        key = frozenset(terms.items()), lanes, tuple(gates)
        if (found := self._indices.get(key)) is None:
            found = self._indices[key] = self._index(terms, lanes, gates)
        return CellIndex(found.shape, found.first + cells.lanes[0])

    def _index(
        self, terms: Mapping[tuple[Atom, ...], int], lanes: Sequence[int], gates: Sequence[SSAValue]
    ) -> CellIndex:
        """The index that is a sum of terms, plus a number for each lane."""
        items = np.zeros(self.count, np.int64)
        uniform: tg.Polynomial = tg.Affine()
        rest: list[tuple[int, tg.Interval]] = []
        for product, coefficient in terms.items():
            atoms = [atom for atom in product if isinstance(atom, SSAValue)]
            numbers = [self.numbers(atom) for atom in atoms]
            known = [each for each in numbers if each is not None]
            if len(known) == len(product):
                items += coefficient * prod(known, start=np.ones(self.count, np.int64))
            elif any(map(self.varies, atoms)):
                term: tg.Polynomial = tg.Affine({product: 1})
                rest.append((coefficient, interval(term, self.intervals)))
            else:
                uniform += tg.Affine({product: coefficient})
        first = int(items[0])
        parts = ItemParts(items - first, self._mask(gates))
        parts = self._parts.setdefault((parts.numbers.tobytes(), parts.active.tobytes()), parts)
        return CellIndex(CellShape(parts, lanes, uniform, tuple(rest)), first)

    def _exact(self, value: SSAValue) -> tg.Polynomial:
        return exact_polynomial(value, self.intervals, known=self._polynomials)

    # -- conflicts

    def meeting(self, before: CellShape, after: CellShape, relation: Relation) -> Meeting:
        """Where two different work items may access one cell, one by each of two accesses."""
        key = before, after, relation
        if (known := self._meetings.get(key)) is None:
            known = self._meetings[key] = self._meet(before, after, relation)
        return known

    def _meet(self, one: CellShape, other: CellShape, relation: Relation) -> Meeting:
        sums = Sums()
        sums.add(one.lanes, -1)
        sums.add(other.lanes)
        for shape, sign in ((one, -1), (other, 1)):
            for factor, bounds in shape.rest:
                sums.add_multiple(factor * sign, bounds)
        earlier, later = dict(one.uniform.terms), dict(other.uniform.terms)
        for a, b in pairs(list(earlier), list(later)):
            factor = earlier.get(a)
            if factor is None or later.get(b) != factor:
                continue
            if (steps := self._steps_of_remainders(a, b, relation)) is not None:
                sums.add([factor * step for step in steps])
                del earlier[a], later[b]
        for product in {**earlier, **later}:
            factors = earlier.get(product, 0), later.get(product, 0)
            self._add_difference(sums, product, factors, relation)
        parts = one.items, other.items
        if (apart := self._apart.get(parts)) is None:
            apart = self._apart[parts] = distances(*parts)
        return Meeting(apart, sums)

    def _add_difference(
        self, sums: Sums, product: tuple[Atom, ...], factors: tuple[int, int], relation: Relation
    ) -> None:
        """Add the values of `factors[1] * product` later minus `factors[0] * product` before."""
        before, after = factors
        atoms = [cast(SSAValue, atom) for atom in product]
        bounds = interval(tg.Affine({product: 1}), self.intervals)
        changed = {op for atom in atoms for op in self._loops_of(atom) if op in relation.changed}
        if not changed:
            sums.add_multiple(after - before, bounds)
            return
        if before == after and changed == {relation.carrier} and len(atoms) == 1:
            (atom,) = atoms
            trips = bounds.hi - bounds.lo
            if atom.owner is relation.carrier:
                exact = relation.distance
                later = (
                    tg.Interval(exact, exact)
                    if exact is not None
                    else tg.Interval(1, max(trips, 1))
                )
                sums.add_multiple(after, later)
                return
        sums.add_multiple(after, bounds)
        sums.add_multiple(-before, bounds)

    def _steps_of_remainders(
        self, before: tuple[Atom, ...], after: tuple[Atom, ...], relation: Relation
    ) -> Sequence[int] | None:
        """The values of `b mod m` later minus `a mod m` before, where b - a is known. One of the
        two may be a value that is less than m."""
        if max(map(len, (before, after))) > 1:
            return None
        values = [cast(SSAValue, product[0]) for product in (before, after)]
        moduli = {
            tg.known_index(v.owner.operands[1]) for v in values if isinstance(v.owner, tg.ModOp)
        }
        modulus = moduli.pop() if len(moduli) == 1 else None
        if not modulus or not all(
            isinstance(v.owner, tg.ModOp) or self.intervals[v].within(0, modulus - 1)
            for v in values
        ):
            return None
        a, b = (
            self._exact(v.owner.operands[0] if isinstance(v.owner, tg.ModOp) else v) for v in values
        )
        difference = b - a
        carried = () if relation.carrier is None else (relation.carrier.results[0],)
        for product in {*a.terms, *b.terms}:
            if product == carried and relation.distance is not None:
                difference += b.terms.get(product, 0) * relation.distance
            elif any(self._loops_of(cast(SSAValue, atom)) & relation.changed for atom in product):
                return None
        if difference.terms or modulus < 0:
            return None
        step = difference.constant % modulus
        return [step, step - modulus] if step else [0]

    def _loops_of(self, value: SSAValue) -> Set[Operation]:
        """The RANGEs that a value depends on."""

        def compute(value: SSAValue) -> Set[Operation]:
            if isinstance(op := value.owner, tg.RangeOp):
                return {op}
            operands = tg.operands_of(value)
            return frozenset[Operation]().union(*(self._ranges[operand] for operand in operands))

        def sources(value: SSAValue) -> Iterable[SSAValue]:
            return () if isinstance(value.owner, tg.RangeOp) else tg.operands_of(value)

        return tg.computed(value, self._ranges, sources, compute)


def _is_flat(op: tg.IndexOp) -> bool:
    """Whether one index counts the elements of memory in row-major order."""
    is_one = len(op.indices) == 1 and len(tg.tensor(op.source).get_shape()) == 1
    root = tg.behind(op.source, tg.ReshapeOp, tg.AfterOp)
    return is_one and not isinstance(root.owner, tg.IndexOp)


def _is_integer(value: SSAValue) -> bool:
    dtype = tg.DTYPES.get(tg.tensor(value).element_type)
    return dtype is not None and not dtype.is_float
