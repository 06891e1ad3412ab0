"""Positions along an axis, as symbolic sums: what index arithmetic comes to inside loops.

A position is `sum of c * atom + constant`. An atom is a digit of a loop variable,
`(i // divisor) % extent`, or something that is no sum: a quotient, a remainder, a product, an
extent, a number from memory. Splitting and merging axes by RESHAPE takes digits apart and puts them
together again, so that a chain of movements that cancels leaves the loop variable it began with.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from xdsl.ir import Block, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.min_max import MinMax
from tgdialect.diagnostics import locate
from tgdialect.ops.intervals import Interval
from tgdialect.ops.properties import Dim, UnknownDim, polynomial

Bound = int | float
_EXACT = 2**62
"""Beyond this, sums may wrap, and division does not distribute over them."""


@dataclass(eq=False)
class Loop:
    """A loop variable, from 0 to below its extent, and the loops around it, outermost first."""

    extent: Dim
    trips: Bound
    """The extent, or the most that it may be."""
    outer: tuple[Dependence, ...] = ()
    """The digits of the loops around it, outermost first."""


Dependence = tuple[Loop, int]
"""A loop variable and the divisor of the lowest of its digits that matters."""


@dataclass(frozen=True, eq=False, slots=True)
class Atom:
    """Something that sums are made of. There is one object for each `kind` and `parts`."""

    kind: str
    parts: tuple[Hashable, ...]
    number: int
    low: Bound
    high: Bound
    depends: frozenset[Dependence]

    @property
    def digit(self) -> tuple[Loop, int, int | None]:
        """Of a digit: the loop variable, the divisor, and the extent if that is known."""
        return cast("tuple[Loop, int, int | None]", self.parts)


class Position(NamedTuple):
    """A sum; terms have different atoms, in the order of their numbers."""

    terms: tuple[tuple[Atom, int], ...]
    constant: int

    @property
    def interval(self) -> Interval:
        low: Bound = self.constant
        high: Bound = self.constant
        for atom, factor in self.terms:
            low += factor * (atom.low if factor > 0 else atom.high)
            high += factor * (atom.high if factor > 0 else atom.low)
        return Interval(low, high)

    @property
    def depends(self) -> frozenset[Dependence]:
        """The loops that the position changes with."""
        return frozenset[Dependence]().union(*(atom.depends for atom, _ in self.terms))


Index = tuple[Position, ...]
"""One position per axis."""

ZERO = Position((), 0)


def trips_of(depends: Iterable[Dependence]) -> Bound:
    """How often something is computed that changes with these loops: those around count as well."""
    return math.prod(loop.trips // divisor for loop, divisor in surrounding(depends))


def surrounding(depends: Iterable[Dependence]) -> tuple[Dependence, ...]:
    """The digits of loops that something is in, those of the outermost loop first."""
    lowest: dict[Loop, int] = {}
    for loop, divisor in sorted(depends, key=lambda d: len(d[0].outer)):
        for around, digit in (*loop.outer, (loop, divisor)):
            lowest[around] = min(digit, lowest.get(around, digit))
    return tuple(lowest.items())


class Positions:
    """Makes positions. Conditions hold by themselves here; `rangeify` emits them."""

    def __init__(self, intervals: MinMax | None = None) -> None:
        self.intervals = intervals or MinMax()
        self._atoms: dict[tuple[str, tuple[Hashable, ...]], Atom] = {}

    # -- making atoms

    def _atom(
        self,
        kind: str,
        parts: tuple[Hashable, ...],
        low: Bound,
        high: Bound,
        depends: frozenset[Dependence],
    ) -> Position:
        key = (kind, parts)
        if (atom := self._atoms.get(key)) is None:
            atom = Atom(kind, parts, len(self._atoms), low, high, depends)
            self._atoms[key] = atom
        return Position(((atom, 1),), 0)

    def digit(self, loop: Loop, divisor: int = 1, extent: int | None = None) -> Position:
        """`(i // divisor) % extent` of a loop variable, by default all of it.

        A digit that is 0 in each iteration stays one where there may be no iteration: what depends
        on it is in the loop.
        """
        whole = loop.extent if isinstance(loop.extent, int) else None
        extent = whole if extent is None else extent
        if extent == 1 and whole != 0:
            return ZERO
        high = max((loop.trips if extent is None else extent) - 1, 0)
        return self._atom("digit", (loop, divisor, extent), 0, high, frozenset({(loop, divisor)}))

    def number_of(self, value: SSAValue, depends: frozenset[Dependence] = frozenset()) -> Position:
        """A number that is not known: an extent, or one from memory."""
        interval = self.intervals[value]
        if interval.is_constant:
            return Position((), int(interval.lo))
        return self._atom("value", (value,), interval.lo, interval.hi, depends)

    def dim(self, dim: Dim) -> Position:
        """An extent."""
        if isinstance(dim, int):
            return Position((), dim)
        if isinstance(dim, UnknownDim):
            message = "a dynamic dimension of unknown origin: name its index argument with tg.dims"
            owner = dim.value.owner
            op = owner.parent_op() if isinstance(owner, Block) else owner
            assert op is not None
            raise locate(PassFailedException(message), op)
        result = ZERO
        for monomial, factor in polynomial(dim).items():
            term = Position((), factor)
            for atom in monomial:
                if isinstance(atom, UnknownDim):
                    return self.dim(atom)
                term = self.mul(term, self.number_of(atom))
            result = self.add(result, term)
        return result

    # -- arithmetic

    def _sum(self, terms: Iterable[tuple[Atom, int]], constant: int) -> Position:
        factors: dict[Atom, int] = {}
        for atom, factor in terms:
            factors[atom] = factors.get(atom, 0) + factor
        if len(factors) > 1:
            constant += self._merge_divisions(factors)
            self._merge_digits(factors)
        kept = sorted(((a, c) for a, c in factors.items() if c), key=lambda term: term[0].number)
        return Position(tuple(kept), constant)

    @staticmethod
    def _merge_divisions(factors: dict[Atom, int]) -> int:
        """`c n (a // n) + c (a % n)` is `c a`, whose constant is returned."""
        constant = 0
        for low in [a for a in factors if a.kind == "mod"]:
            a, n = cast("tuple[Position, Position]", low.parts)
            for high in [b for b in factors if b.kind == "idiv" and b.parts == low.parts]:
                factor = factors[low]
                if n.terms or factors[high] != factor * n.constant:
                    continue
                del factors[low], factors[high]
                for atom, times in a.terms:
                    factors[atom] = factors.get(atom, 0) + factor * times
                constant += factor * a.constant
        return constant

    def _merge_digits(self, factors: dict[Atom, int]) -> None:
        """Digits that follow each other with the right factors are one digit."""
        pending = [a for a in factors if a.kind == "digit"]
        while len(pending) > 1:
            low = pending.pop(0)
            loop, divisor, extent = low.digit
            for high in pending:
                if extent is None or high.digit[:2] != (loop, divisor * extent):
                    continue
                if factors[high] == factors[low] * extent and (more := high.digit[2]) is not None:
                    ((both, _),) = self.digit(loop, divisor, extent * more).terms
                    del factors[high]
                    factors[both] = factors.pop(low)
                    pending.remove(high)
                    pending.append(both)
                    break
            else:
                if any(a.digit[0] is loop and a.digit[1] < divisor for a in pending):
                    pending.append(low)

    def add(self, a: Position, b: Position) -> Position:
        if not a.terms or not b.terms:
            return Position(a.terms or b.terms, a.constant + b.constant)
        return self._sum((*a.terms, *b.terms), a.constant + b.constant)

    def sub(self, a: Position, b: Position) -> Position:
        return self.add(a, self.mul(b, Position((), -1)))

    def mul(self, a: Position, b: Position) -> Position:
        if not a.terms:
            a, b = b, a
        if not b.terms:
            if b.constant == 0:
                return ZERO
            scaled = tuple((atom, factor * b.constant) for atom, factor in a.terms)
            return Position(scaled, a.constant * b.constant)
        terms = [(self._product(x, y), m * n) for x, m in a.terms for y, n in b.terms]
        terms += [(x, m * b.constant) for x, m in a.terms]
        terms += [(y, n * a.constant) for y, n in b.terms]
        return self._sum(terms, a.constant * b.constant)

    def _product(self, x: Atom, y: Atom) -> Atom:
        factors = sorted((*_factors(x), *_factors(y)), key=lambda atom: atom.number)
        corners = [_times(p, q) for p in (x.low, x.high) for q in (y.low, y.high)]
        depends = x.depends | y.depends
        position = self._atom("product", tuple(factors), min(corners), max(corners), depends)
        return position.terms[0][0]

    # -- division

    def idiv(self, a: Position, divisor: Position) -> Position:
        """Floor division; by 0 it is 0."""
        return self.divided(a, divisor)[0]

    def mod(self, a: Position, divisor: Position) -> Position:
        """The remainder of floor division; by 0 it is 0."""
        return self.divided(a, divisor)[1]

    def divided(self, a: Position, divisor: Position) -> tuple[Position, Position]:
        """Quotient and remainder."""
        if not divisor.terms:
            split = self._by_constant(a, divisor.constant)
        else:
            split = self._by_sum(a, divisor)
        return split or (
            self._opaque("idiv", a, divisor),
            self._opaque("mod", a, divisor),
        )

    def _by_constant(self, a: Position, n: int) -> tuple[Position, Position] | None:
        if not a.terms:
            q, r = divmod(a.constant, n) if n else (0, 0)
            return Position((), q), Position((), r)
        if n <= 0 or not a.interval.within(-_EXACT, _EXACT):
            return (ZERO, ZERO) if n == 0 else None
        quotient, remainder = divmod(a.constant, n)
        terms = list(a.terms)
        while True:
            high = [(atom, c // n) for atom, c in terms if c % n == 0]
            low = Position(tuple((atom, c) for atom, c in terms if c % n), remainder)
            if low.interval.within(0, n - 1):
                return self._sum(high, quotient), self._sum(low.terms, remainder)
            if (cut := self._cut(low, n)) is None:
                return None
            whole, parts = cut
            terms = [term for term in terms if term[0] is not whole] + parts

    def _cut(self, low: Position, n: int) -> tuple[Atom, list[tuple[Atom, int]]] | None:
        """A digit that n divides into a part above n and one below it."""
        for atom, factor in low.terms:
            if atom.kind != "digit" or factor <= 0 or n % factor:
                continue
            loop, divisor, extent = atom.digit
            below = n // factor
            if extent is None or extent <= below or extent % below:
                continue
            parts = [
                *(
                    (a, factor * below)
                    for a, _ in self.digit(loop, divisor * below, extent // below).terms
                ),
                *((a, factor) for a, _ in self.digit(loop, divisor, below).terms),
            ]
            return atom, parts
        return None

    def _by_sum(self, a: Position, divisor: Position) -> tuple[Position, Position] | None:
        """Division by an extent, where the terms that are no multiples of it are below it."""
        atom, factor = divisor.terms[0]
        if len(divisor.terms) > 1 or divisor.constant or factor != 1:
            return None
        factors = _factors(atom)
        high: list[tuple[Atom, int]] = []
        low: list[tuple[Atom, int]] = []
        constant = 0
        for atom, factor in a.terms:
            rest = _without(_factors(atom), factors)
            if rest is None:
                low.append((atom, factor))
            elif not rest:
                constant += factor
            else:
                high.append((self._joined(rest), factor))
        remainder = Position(tuple(low), a.constant)
        if not self.is_below(remainder, divisor):
            return None
        return self._sum(high, constant), remainder

    def _joined(self, factors: Sequence[Atom]) -> Atom:
        result, *rest = factors
        for factor in rest:
            result = self._product(result, factor)
        return result

    def is_below(self, a: Position, extent: Position) -> bool:
        """Whether 0 <= a < extent is certain."""
        interval = a.interval
        if interval.lo < 0:
            return False
        if interval.hi < extent.interval.lo:
            return True
        if len(a.terms) != 1 or a.constant:
            return False
        atom, factor = a.terms[0]
        if atom.kind == "mod":
            return factor == 1 and atom.parts[1] == extent
        if atom.kind != "digit" or factor != 1:
            return False
        loop, divisor, _ = atom.digit
        return divisor == 1 and self.dim(loop.extent) == extent

    def _opaque(self, kind: str, a: Position, b: Position) -> Position:
        x, y = a.interval, b.interval
        depends = a.depends | b.depends
        if y.lo <= 0 or x.lo < -_EXACT or x.hi > _EXACT:
            return self._atom(kind, (a, b), -(2**63), 2**63 - 1, depends)
        if kind == "mod":
            return self._atom(kind, (a, b), 0, y.hi - 1, depends)
        ends = [int(p) // int(q) for p in (x.lo, x.hi) for q in (y.lo, min(y.hi, _EXACT))]
        return self._atom(kind, (a, b), min(ends), max(ends), depends)


def _factors(atom: Atom) -> tuple[Atom, ...]:
    return cast("tuple[Atom, ...]", atom.parts) if atom.kind == "product" else (atom,)


def _without(factors: Sequence[Atom], divisor: Sequence[Atom]) -> list[Atom] | None:
    """The factors that are left after division; None where it leaves a rest."""
    rest = list(factors)
    for factor in divisor:
        if factor not in rest:
            return None
        rest.remove(factor)
    return rest


def _times(x: Bound, y: Bound) -> Bound:
    return 0 if x == 0 or y == 0 else x * y
