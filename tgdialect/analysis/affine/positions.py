"""Positions along an axis, as symbolic sums of digits of loop variables.

A position is `sum of c * atom + constant`. An atom is a digit of a loop variable,
`(i // divisor) % extent`, or an opaque term: a quotient, a remainder, a product, an extent, or a
number from memory. Where RESHAPE splits and merges axes, digits are split and merged, so a chain of
movements that cancel out gives back the original loop variable.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import attrgetter
from typing import cast

from xdsl.ir import Block, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.min_max import MinMax
from tgdialect.diagnostics import locate
from tgdialect.ops import tg
from tgdialect.ops.affine import monomials, without
from tgdialect.ops.intervals import product

Bound = int | float
EXACT = 2**62
"""Sums beyond this magnitude might wrap an i64, so division does not distribute over them. Half the
range of i64 leaves room for one more addition."""


@dataclass(eq=False)
class LoopVariable:
    """The variable of a loop, with values from 0 to `extent - 1`."""

    extent: tg.Dim
    trips: Bound
    """The extent, or an upper bound of a dynamic extent."""
    outer: tuple[Dependence, ...] = ()
    """The digits of the loops around it, outermost first."""


Dependence = tuple[LoopVariable, int]
"""A loop variable and the divisor of the lowest of its digits that matters."""


@dataclass(frozen=True, eq=False, slots=True)
class PositionAtom:
    """An atom of a position. Atoms are unique: equal `kind` and `parts` give the same object."""

    kind: str
    parts: tuple[Hashable, ...]
    number: int
    interval: tg.Interval
    depends: frozenset[Dependence]

    @property
    def digit(self) -> tuple[LoopVariable, int, int | None]:
        """For an atom of kind `digit`: the loop variable, the divisor, and the extent if known."""
        return cast("tuple[LoopVariable, int, int | None]", self.parts)


Position = tg.Affine[PositionAtom]
Index = tuple[Position, ...]
"""One position per axis."""

ZERO: Position = tg.Affine()


def interval_of(position: Position) -> tg.Interval:
    """The interval of the values of a position."""
    return position.interval(attrgetter("interval"))


def depends_of(*positions: Position) -> frozenset[Dependence]:
    """The loops that positions depend on, each with its lowest digit."""
    return frozenset[Dependence]().union(*(a.depends for p in positions for a in p.terms))


def loops_of(*positions: Position) -> set[LoopVariable]:
    """The loops that positions depend on."""
    return {loop for loop, _ in depends_of(*positions)}


@lru_cache(maxsize=1024)
def trips_of(depends: frozenset[Dependence]) -> Bound:
    """How often a value is computed that depends on these loops. Loops around them count too.
    Cached: fusion asks for the same ones five times."""
    return math.prod(loop.trips // divisor for loop, divisor in surrounding(depends))


def surrounding(depends: Iterable[Dependence]) -> tuple[Dependence, ...]:
    """The loops in which a value with these dependences is computed, the outermost loop first, each
    with the divisor of its lowest digit."""
    lowest: dict[LoopVariable, int] = {}
    for loop, divisor in sorted(depends, key=lambda d: len(d[0].outer)):
        for around, digit in (*loop.outer, (loop, divisor)):
            lowest[around] = min(digit, lowest.get(around, digit))
    return tuple(lowest.items())


def is_of_loops(index: Index) -> bool:
    """Whether each position of an index is constant, or a whole loop variable plus a constant."""

    def is_of_loop(position: Position) -> bool:
        match [*position.terms.items()]:
            case []:
                return True
            case [(atom, 1)] if atom.kind == "digit":
                loop, divisor, extent = atom.digit
                return divisor == 1 and extent in (None, loop.extent)
            case _:
                return False

    return all(map(is_of_loop, index))


class Positions:
    """Creates positions, with unique atoms, and computes with them."""

    def __init__(self, intervals: MinMax | None = None) -> None:
        self.intervals = intervals or MinMax()
        self._atoms: dict[tuple[str, tuple[Hashable, ...]], PositionAtom] = {}

    # -- making atoms

    def _atom(
        self,
        kind: str,
        parts: tuple[Hashable, ...],
        interval: tg.Interval,
        depends: frozenset[Dependence],
    ) -> PositionAtom:
        key = (kind, parts)
        if (atom := self._atoms.get(key)) is None:
            atom = self._atoms[key] = PositionAtom(kind, parts, len(self._atoms), interval, depends)
        return atom

    def digit(self, loop: LoopVariable, divisor: int = 1, extent: int | None = None) -> Position:
        """The digit `(i // divisor) % extent` of a loop variable, by default the whole variable.

        A digit of extent 1 is 0, unless the loop has extent 0: then it stays a digit, so that
        values that depend on it stay in the loop.
        """
        whole = loop.extent if isinstance(loop.extent, int) else None
        extent = whole if extent is None else extent
        if extent == 1 and whole != 0:
            return ZERO
        return tg.Affine({self._digit(loop, divisor, extent): 1})

    def _digit(self, loop: LoopVariable, divisor: int, extent: int | None) -> PositionAtom:
        interval = tg.Interval(0, max((loop.trips if extent is None else extent) - 1, 0))
        return self._atom("digit", (loop, divisor, extent), interval, frozenset({(loop, divisor)}))

    def number_of(self, value: SSAValue, depends: frozenset[Dependence] = frozenset()) -> Position:
        """An atom for a number known only at run time: an extent, or an index from memory."""
        interval = self.intervals[value]
        if interval.is_constant:
            return tg.Affine(constant=int(interval.lo))
        return tg.Affine({self._atom("value", (value,), interval, depends): 1})

    def dim(self, dim: tg.Dim) -> Position:
        """The extent of an axis as a position. Raises PassFailedException for an unknown extent."""
        if isinstance(dim, int):
            return tg.Affine(constant=dim)
        if isinstance(dim, tg.UnknownDim):
            message = "a dynamic dimension of unknown origin: name its index argument with tg.dims"
            owner = dim.value.owner
            op = owner.parent_op() if isinstance(owner, Block) else owner
            assert op is not None
            raise locate(PassFailedException(message), op)
        result = ZERO
        for atoms, factor in monomials(tg.polynomial(dim)):
            term: Position = tg.Affine(constant=factor)
            for atom in atoms:
                if isinstance(atom, tg.UnknownDim):
                    return self.dim(atom)
                term = self.mul(term, self.number_of(atom))
            result = self.add(result, term)
        return result

    # -- arithmetic

    def _merged(self, position: Position) -> Position:
        """Simplify a sum: merge quotients with remainders, and neighbouring digits."""
        if len(position.terms) < 2:
            return position
        position = self._merge_divisions(position)
        terms = dict(position.terms)
        self._merge_digits(terms)
        return tg.Affine(terms, position.constant)

    def _merge_divisions(self, position: Position) -> Position:
        """Rewrite `c * n * (a // n) + c * (a % n)` to `c * a`."""
        for low in [a for a in position.terms if a.kind == "mod"]:
            a, n = cast("tuple[Position, Position]", low.parts)
            high, factor = self._atoms.get(("idiv", low.parts)), position.terms.get(low, 0)
            if high is None or n.terms or not factor:
                continue
            if position.terms.get(high) == factor * n.constant:
                position += a * factor - tg.Affine({high: factor * n.constant, low: factor})
        return position

    def _merge_digits(self, factors: dict[PositionAtom, int]) -> None:
        """Merge neighbouring digits of a loop variable, in place: digits of extents e and f become
        one of extent `e * f` if the factor of the higher one is e times that of the lower."""
        pending = [a for a in factors if a.kind == "digit"]
        while len(pending) > 1:
            low = pending.pop(0)
            loop, divisor, extent = low.digit
            # Look for the digit right above `low`.
            for high in pending:
                if extent is None or high.digit[:2] != (loop, divisor * extent):
                    continue
                if factors[high] == factors[low] * extent and (more := high.digit[2]) is not None:
                    both = self._digit(loop, divisor, extent * more)
                    del factors[high]
                    factors[both] = factors.pop(low)
                    pending.remove(high)
                    pending.append(both)
                    break
            else:
                # Try `low` again after digits below it, which may merge to its neighbour.
                if any(a.digit[0] is loop and a.digit[1] < divisor for a in pending):
                    pending.append(low)

    def add(self, a: Position, b: Position) -> Position:
        return self._merged(a + b) if a.terms and b.terms else a + b

    def sub(self, a: Position, b: Position) -> Position:
        return self.add(a, -b)

    def mul(self, a: Position, b: Position) -> Position:
        if not a.terms:
            return b * a.constant
        if not b.terms:
            return a * b.constant
        return self._merged(a.times(b, self._product))

    def _product(self, x: PositionAtom, y: PositionAtom) -> PositionAtom:
        factors = sorted((*_factors(x), *_factors(y)), key=lambda atom: atom.number)
        interval = product(x.interval, y.interval)
        return self._atom("product", tuple(factors), interval, x.depends | y.depends)

    # -- division

    def idiv(self, a: Position, divisor: Position) -> Position:
        """Floor division; division by 0 gives 0."""
        return self.divided(a, divisor)[0]

    def mod(self, a: Position, divisor: Position) -> Position:
        """The remainder of floor division; modulo 0 gives 0."""
        return self.divided(a, divisor)[1]

    def divided(self, a: Position, divisor: Position) -> tuple[Position, Position]:
        """Quotient and remainder: sums where that is proven to be exact, otherwise opaque atoms."""
        by_sum = bool(divisor.terms)
        split = self._by_sum(a, divisor) if by_sum else self._by_constant(a, divisor.constant)
        return split or (self._opaque("idiv", a, divisor), self._opaque("mod", a, divisor))

    def _by_constant(self, a: Position, n: int) -> tuple[Position, Position] | None:
        if n == 0:
            return ZERO, ZERO
        if not a.terms:
            return a.split(n)
        if n < 0 or not interval_of(a).within(-EXACT, EXACT):
            return None
        while True:
            high, low = a.split(n)
            if interval_of(low).within(0, n - 1):
                return self._merged(high), self._merged(low)
            # `9 k + p` is `8 k + (k + p)`: windows of a repeated axis.
            whole = tg.Affine({a: c // n if c > 0 else -(-c // n) for a, c in low.terms.items()})
            whole = tg.Affine({atom: c for atom, c in whole.terms.items() if c})
            if whole.terms and interval_of(rest := low - whole * n).within(0, n - 1):
                return self._merged(high + whole), self._merged(rest)
            if (cut := self._cut(low, n)) is None:
                return None
            a += cut

    def _cut(self, low: Position, n: int) -> Position | None:
        """A sum that is 0 and splits a digit of `low` in two, `(i // m) * m + i % m - i`, so that n
        divides the factor of the upper part. None if no digit can be split."""
        for atom, factor in low.terms.items():
            if atom.kind != "digit" or factor <= 0 or n % factor:
                continue
            loop, divisor, extent = atom.digit
            below = n // factor
            if extent is None or extent <= below or extent % below:
                continue
            high = self.digit(loop, divisor * below, extent // below)
            return high * n + self.digit(loop, divisor, below) * factor - tg.Affine({atom: factor})
        return None

    def _by_sum(self, a: Position, divisor: Position) -> tuple[Position, Position] | None:
        """Division by a symbolic extent. The terms that are multiples of the extent are the
        quotient. None unless the sum of the other terms is proven to be less than the extent."""
        if (extent := divisor.atom) is None:
            return None
        quotient: Position = tg.Affine()
        remainder: Position = tg.Affine(constant=a.constant)
        for atom, factor in a.terms.items():
            rest = without(_factors(atom), _factors(extent))
            if rest is None:
                remainder += tg.Affine({atom: factor})
            elif not rest:
                quotient += factor
            else:
                quotient += tg.Affine({reduce(self._product, rest): factor})
        if not self.is_below(remainder, divisor):
            return None
        return self._merged(quotient), remainder

    def is_below(self, a: Position, extent: Position) -> bool:
        """Whether 0 <= a < extent is proven."""
        interval = interval_of(a)
        if interval.lo < 0:
            return False
        if interval.hi < interval_of(extent).lo:
            return True
        if (atom := a.atom) is None:
            return False
        if atom.kind == "mod":
            return atom.parts[1] == extent
        if atom.kind != "digit":
            return False
        loop, divisor, _ = atom.digit
        return divisor == 1 and self.dim(loop.extent) == extent

    def _opaque(self, kind: str, a: Position, b: Position) -> Position:
        """A quotient or remainder as an atom, with its interval."""
        x, y = interval_of(a), interval_of(b)
        if y.lo <= 0 or not x.within(-EXACT, EXACT):
            interval = tg.Interval(-(2**63), 2**63 - 1)
        elif kind == "mod":
            interval = tg.Interval(0, y.hi - 1)
        else:
            ends = [int(p) // int(q) for p in (x.lo, x.hi) for q in (y.lo, min(y.hi, EXACT))]
            interval = tg.Interval(min(ends), max(ends))
        return tg.Affine({self._atom(kind, (a, b), interval, depends_of(a, b)): 1})


def _factors(atom: PositionAtom) -> tuple[PositionAtom, ...]:
    return cast("tuple[PositionAtom, ...]", atom.parts) if atom.kind == "product" else (atom,)
