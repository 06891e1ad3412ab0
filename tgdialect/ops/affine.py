"""Integer sums, `constant + sum of coefficient * atom`: indices, extents and strides.

The sums of the project differ in their atoms only:

* `Linear`: integer values of the IR, in `transforms/simplify`;
* `Polynomial`: products of values, in `ops/properties/symbolic.py` and `frontend/symbolic.py`;
* a position: digits of loop variables, in `analysis/affine/positions.py`.

The arithmetic is that of the integers. A value of the IR wraps: it is congruent to its sum modulo
2^width, and equal to it where the interval of the sum lies in the dtype's range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from xdsl.ir import SSAValue

from tgdialect.ops import intervals
from tgdialect.ops.dtypes import DType
from tgdialect.ops.intervals import Interval

A = TypeVar("A", bound=Hashable, covariant=True)
B = TypeVar("B", bound=Hashable)


@dataclass(frozen=True, init=False)
class Affine(Generic[A]):
    """`constant` plus the sum of `coefficient * atom`; no coefficient is 0."""

    terms: Mapping[A, int]
    constant: int

    def __init__(self, terms: Mapping[A, int] | None = None, constant: int = 0) -> None:
        # Half of the time of that of a frozen dataclass, which calls Python's `__setattr__`.
        fields = vars(self)
        fields["terms"] = {} if terms is None else terms
        fields["constant"] = constant

    @cached_property
    def _hash(self) -> int:
        return hash((frozenset(self.terms.items()), self.constant))

    def __hash__(self) -> int:
        return self._hash

    # -- parts

    @property
    def atom(self) -> A | None:
        """The only atom, if the sum is exactly 1 times that atom; otherwise None."""
        if self.constant or len(self.terms) != 1:
            return None
        ((atom, coefficient),) = self.terms.items()
        return atom if coefficient == 1 else None

    @property
    def divisor(self) -> int:
        """The greatest common divisor of the coefficients; 0 for a constant."""
        return math.gcd(*self.terms.values())

    def is_multiple_of(self, number: int) -> bool:
        """Whether the sum is a multiple of a number, whatever its atoms are."""
        return self.divisor % number == 0 and self.constant % number == 0

    @property
    def summands(self) -> int:
        """The number of terms, a constant that is not 0 included."""
        return len(self.terms) + (self.constant != 0)

    @cached_property
    def groups(self) -> Mapping[int, list[A]]:
        """The atoms by coefficient."""
        result: dict[int, list[A]] = {}
        for atom, coefficient in self.terms.items():
            result.setdefault(coefficient, []).append(atom)
        return result

    @property
    def cost(self) -> int:
        """The number of additions and multiplications, if atoms of one coefficient are added
        before they are multiplied."""
        multiplications = len(self.groups) - (1 in self.groups)
        return multiplications + max(self.summands - 1, 0)

    # -- arithmetic

    def __add__(self, other: Affine[A] | int) -> Affine[A]:
        if isinstance(other, int):
            return Affine(self.terms, self.constant + other)
        if not self.terms or not other.terms:
            return Affine(self.terms or other.terms, self.constant + other.constant)
        terms = dict(self.terms)
        for atom, coefficient in other.terms.items():
            if total := terms.get(atom, 0) + coefficient:
                terms[atom] = total
            else:
                del terms[atom]
        return Affine(terms, self.constant + other.constant)

    def __neg__(self) -> Affine[A]:
        return self * -1

    def __sub__(self, other: Affine[A] | int) -> Affine[A]:
        return self + -other

    def __mul__(self, factor: int) -> Affine[A]:
        if factor == 0:
            return Affine()
        return Affine({a: c * factor for a, c in self.terms.items()}, self.constant * factor)

    def times(self, other: Affine[A], product: Callable[[A, A], A]) -> Affine[A]:
        """The product of two sums, given the function that multiplies two atoms."""
        terms = [
            (product(x, y), m * n) for x, m in self.terms.items() for y, n in other.terms.items()
        ]
        terms += [(x, m * other.constant) for x, m in self.terms.items()]
        terms += [(y, n * self.constant) for y, n in other.terms.items()]
        return affine(terms, self.constant * other.constant)

    def map(self, function: Callable[[int], int]) -> Affine[A]:
        """The sum with a function applied to every coefficient and to the constant."""
        terms = {a: n for a, c in self.terms.items() if (n := function(c))}
        return Affine(terms, function(self.constant))

    def divided(self, divisor: int) -> Affine[A]:
        """The quotient by a divisor of every coefficient and of the constant."""
        return self.map(lambda c: c // divisor)

    def split(self, divisor: int) -> tuple[Affine[A], Affine[A]]:
        """Quotient and rest: `divisor * quotient + rest` is the sum.

        The rest has the terms whose coefficients the divisor does not divide, and the constant's
        remainder.
        """
        quotient, remainder = divmod(self.constant, divisor)
        return (
            Affine({a: c // divisor for a, c in self.terms.items() if not c % divisor}, quotient),
            Affine({a: c for a, c in self.terms.items() if c % divisor}, remainder),
        )

    def wrapped(self, dtype: DType) -> Affine[A]:
        """The congruent sum, modulo 2^width, whose coefficients are least in magnitude."""
        half = 1 << (dtype.bits - 1)
        if all(-half <= c < half for c in self.terms.values()) and -half <= self.constant < half:
            return self
        return self.map(lambda c: (c + half) % (2 * half) - half)

    def interval(self, of: Callable[[A], Interval]) -> Interval:
        """The interval of the sum over the integers, from those of the atoms."""
        low: float = self.constant
        high: float = self.constant
        for atom, coefficient in self.terms.items():
            interval = of(atom)
            if coefficient > 0:
                low += coefficient * interval.lo
                high += coefficient * interval.hi
            else:
                low += coefficient * interval.hi
                high += coefficient * interval.lo
        return Interval(low, high)


def affine(terms: Iterable[tuple[A, int]], constant: int = 0) -> Affine[A]:
    """The sum of terms, of which several may have one atom."""
    total: dict[A, int] = {}
    for atom, coefficient in terms:
        total[atom] = total.get(atom, 0) + coefficient
    return Affine({atom: c for atom, c in total.items() if c}, constant)


Linear = Affine[SSAValue]
"""A constant plus multiples of integer values."""


# -- polynomials ---------------------------------------------------------------------------------

Monomial = tuple[A, ...]
"""A product of one or more atoms, in one order."""
Polynomial = Affine[Monomial[A]]

_MAX_SUMMANDS, _MAX_DEGREE, _MAX_COEFFICIENT = 64, 16, 2**62
"""Limits of polynomials, so that comparing extents takes bounded time."""


def monomial(atoms: Iterable[A]) -> Monomial[A]:
    """The product of atoms."""
    return tuple(sorted(atoms, key=hash))


def is_small(a: Polynomial[A]) -> bool:
    """Whether a polynomial is within the limits of this module."""
    is_low = all(abs(c) <= _MAX_COEFFICIENT for c in a.terms.values())
    return is_low and a.summands <= _MAX_SUMMANDS and abs(a.constant) <= _MAX_COEFFICIENT


def times(a: Polynomial[A], b: Polynomial[A]) -> Polynomial[A] | None:
    """The product of polynomials, or None where it is too large."""
    if not b.terms and a.summands <= _MAX_SUMMANDS:  # Hot: the extents of most axes are constant.
        return a * b.constant
    degree = sum(max(map(len, of.terms), default=0) for of in (a, b))
    if a.summands * b.summands > _MAX_SUMMANDS or degree > _MAX_DEGREE:
        return None
    return a.times(b, lambda x, y: monomial(x + y))


def monomials(of: Polynomial[A]) -> Iterator[tuple[Monomial[A], int]]:
    """The terms of a polynomial, and last its constant as a multiple of the empty product."""
    yield from of.terms.items()
    if of.constant:
        yield (), of.constant


def composed(of: Polynomial[A], value: Callable[[A], Polynomial[B] | None]) -> Polynomial[B] | None:
    """A polynomial of polynomials, which stand for its atoms; None if an atom has none, or the
    result is too large."""
    result: Polynomial[B] = Affine()
    for atoms, coefficient in monomials(of):
        term: Polynomial[B] | None = Affine(constant=coefficient)
        for atom in atoms:
            if term is None or (factor := value(atom)) is None:
                return None
            term = times(term, factor)
        if term is None:
            return None
        result += term
    return result if is_small(result) else None


def renamed(of: Polynomial[A], name: Callable[[A], B]) -> Polynomial[B]:
    """A polynomial with other atoms."""
    return affine(((monomial(map(name, x)), c) for x, c in of.terms.items()), of.constant)


def split_by(
    of: Polynomial[A], coefficient: int, factors: Iterable[A]
) -> tuple[Polynomial[A], Polynomial[A]]:
    """Divide by the term `coefficient * factors`: the quotient, and the sum of the terms that it
    does not divide."""
    if not (factors := tuple(factors)):
        return of.split(coefficient)
    whole = 0
    quotient: dict[Monomial[A], int] = {}
    rest: dict[Monomial[A], int] = {}
    for product, c in of.terms.items():
        left = without(product, factors)
        if left is None or c % coefficient:
            rest[product] = c
        elif left:
            quotient[left] = c // coefficient
        else:
            whole = c // coefficient
    return Affine(quotient, whole), Affine(rest, of.constant)


def without(product: Monomial[A], factors: Iterable[A]) -> Monomial[A] | None:
    """A product of atoms without some of its factors; None unless it has them all."""
    rest = list(product)
    for factor in factors:
        if factor not in rest:
            return None
        rest.remove(factor)
    return tuple(rest)


def polynomial_interval(of: Polynomial[A], atom: Callable[[A], Interval]) -> Interval:
    """The interval of a polynomial over the integers, each monomial on its own."""

    def product(factors: Monomial[A]) -> Interval:
        result = atom(factors[0])
        for factor in factors[1:]:
            result = intervals.product(result, atom(factor))
        return result

    return of.interval(product)
