"""Linear forms: an integer value as a constant plus multiples of values that are not sums.

Integers wrap, so a form stands for its value modulo 2^width: sums, differences and multiples of
forms are right whatever overflows on the way. What needs the numbers themselves (division,
comparison) first asks for a form that is exact: one whose interval, computed without wrapping, lies
in the dtype's range. It is congruent to the value, and both are in range, so they are equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from xdsl.ir import SSAValue

from tgdialect.ops.dtypes import DType
from tgdialect.ops.intervals import Interval


@dataclass(frozen=True)
class Linear:
    """`constant` plus the sum of `coefficient * atom`; no coefficient is 0."""

    terms: Mapping[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    constant: int = 0

    @cached_property
    def key(self) -> tuple[frozenset[tuple[SSAValue, int]], int]:
        """Equal for equal forms."""
        return frozenset(self.terms.items()), self.constant

    @property
    def atom(self) -> SSAValue | None:
        """The value that this form is nothing but, if so."""
        if self.constant or len(self.terms) != 1:
            return None
        ((atom, coefficient),) = self.terms.items()
        return atom if coefficient == 1 else None

    @property
    def divisor(self) -> int:
        """The greatest common divisor of the coefficients; 0 for a constant."""
        return math.gcd(*self.terms.values())

    def __add__(self, other: Linear) -> Linear:
        if not other.terms:
            return Linear(self.terms, self.constant + other.constant)
        terms = dict(self.terms)
        for atom, coefficient in other.terms.items():
            terms[atom] = terms.get(atom, 0) + coefficient
        return linear(terms, self.constant + other.constant)

    def __mul__(self, factor: int) -> Linear:
        if factor == 0:
            return Linear()
        return Linear({a: c * factor for a, c in self.terms.items()}, self.constant * factor)

    def __sub__(self, other: Linear) -> Linear:
        return self + other * -1

    def map(self, function: Callable[[int], int]) -> Linear:
        """The form with a function applied to every coefficient and to the constant."""
        terms = {a: function(c) for a, c in self.terms.items()}
        return linear(terms, function(self.constant))

    def divided(self, divisor: int) -> Linear:
        """A form whose numbers are all multiples of `divisor`, divided by it."""
        return self.map(lambda c: c // divisor)

    def wrapped(self, dtype: DType) -> Linear:
        """The representative whose numbers are least in magnitude, modulo 2^width."""
        half = 1 << (dtype.bits - 1)
        if all(-half <= c < half for c in self.terms.values()) and -half <= self.constant < half:
            return self
        return self.map(lambda c: (c + half) % (2 * half) - half)

    def interval(self, of: Callable[[SSAValue], Interval]) -> Interval:
        """The exact interval, from those of the atoms."""
        low = high = self.constant
        for atom, coefficient in self.terms.items():
            interval = of(atom)
            ends = coefficient * int(interval.lo), coefficient * int(interval.hi)
            low += min(ends)
            high += max(ends)
        return Interval(low, high)

    @cached_property
    def groups(self) -> Mapping[int, list[SSAValue]]:
        """The atoms by coefficient."""
        result: dict[int, list[SSAValue]] = {}
        for atom, coefficient in self.terms.items():
            result.setdefault(coefficient, []).append(atom)
        return result

    @property
    def cost(self) -> int:
        """How many additions and multiplications it takes, atoms of one coefficient added first."""
        multiplications = len(self.groups) - (1 in self.groups)
        summands = len(self.terms) + (self.constant != 0)
        return multiplications + max(summands - 1, 0)


def linear(terms: Mapping[SSAValue, int], constant: int = 0) -> Linear:
    """A form without the terms that are 0."""
    return Linear({a: c for a, c in terms.items() if c}, constant)
