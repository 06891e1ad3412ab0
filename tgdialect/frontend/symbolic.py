"""Symbolic sizes: variables that get a value when a program is called, and polynomials in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import index
from typing import Any, TypeVar, cast

from tgdialect.ops.properties import polynomials
from tgdialect.ops.properties.polynomials import is_small, monomial, negative, plus, times

T = TypeVar("T")


@dataclass(frozen=True)
class Variable:
    """A named size with inclusive bounds.

    `Variable("n", 1, 128).bind(5)` is a size whose present value is 5. Programs are compiled for
    all values within the bounds.
    """

    name: str
    min: int
    max: int

    def __post_init__(self) -> None:
        if not 0 <= self.min <= self.max:
            raise ValueError(f"{self.name} is between {self.min} and {self.max}")

    def bind(self, value: int) -> SymInt:
        """This variable with a value. Raises ValueError if it is out of bounds."""
        if isinstance(value, bool):
            raise TypeError(f"{self.name} is an integer, got {value!r}")
        value = index(value)
        if not self.min <= value <= self.max:
            raise ValueError(f"{self.name} is {value}, outside of [{self.min}, {self.max}]")
        return SymInt.of(Atom(self, value))


@dataclass(frozen=True)
class Atom:
    """A variable with a value, or with the number of a parameter of a traced function."""

    variable: Variable
    value: int | None
    parameter: int | None = None


Polynomial = polynomials.Polynomial[Atom]


class SymInt:
    """A size that depends on variables: a polynomial with the arithmetic of an int.

    Comparisons and quotients raise ValueError unless the answer, or the remainder, is the same for
    all values of the variables within their bounds.
    """

    def __init__(self, terms: Polynomial) -> None:
        self.terms = terms

    @staticmethod
    def of(atom: Atom) -> SymInt:
        """A size that is a single variable."""
        return SymInt({(atom,): 1})

    @cached_property
    def _content(self) -> frozenset[tuple[tuple[Atom, ...], int]]:
        return frozenset(self.terms.items())

    def __hash__(self) -> int:
        return hash(self._content)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SymInt) and self._content == other._content

    def __repr__(self) -> str:
        def term(atoms: tuple[Atom, ...], coefficient: int) -> str:
            names = [atom.variable.name for atom in atoms]
            is_plain = abs(coefficient) == 1 and names
            return "*".join(names if is_plain else [str(abs(coefficient)), *names])

        text = ""
        for atoms, coefficient in sorted(self.terms.items(), key=lambda t: (-len(t[0]), -t[1])):
            sign = "-" if coefficient < 0 else "+"
            text += f" {sign} {term(atoms, coefficient)}"
        return text[3:] if text.startswith(" +") else f"-{text[3:]}"

    # -- values ------------------------------------------------------------------------------------

    @cached_property
    def atoms(self) -> tuple[Atom, ...]:
        """The variables that occur, in order of their names."""
        found = {atom for atoms in self.terms for atom in atoms}
        return tuple(sorted(found, key=lambda atom: (atom.variable.name, atom.parameter or 0)))

    @property
    def atom(self) -> Atom | None:
        """The variable, if this size is a single variable; else None."""
        return self.atoms[0] if self.terms == {self.atoms[:1]: 1} else None

    @property
    def value(self) -> int:
        """The present value. Raises RuntimeError while a function is traced."""
        total = 0
        for atoms, coefficient in self.terms.items():
            for atom in atoms:
                if atom.value is None:
                    raise RuntimeError(f"{self!r} is not known while its function is traced")
                coefficient *= atom.value
            total += coefficient
        return total

    @property
    def is_bound(self) -> bool:
        """Whether all variables have values."""
        return all(atom.value is not None for atom in self.atoms)

    def unbind(self) -> tuple[Variable, int]:
        """The variable and its value, if this size is a single variable."""
        if self.atom is None:
            raise ValueError(f"{self!r} is not a variable")
        return self.atom.variable, self.value

    def __int__(self) -> int:
        return self.value

    def __index__(self) -> int:
        raise TypeError(f"{self!r} is symbolic: int() of it is what it is now")

    @cached_property
    def min(self) -> int:
        """A lower bound of the value."""
        return self._bound(False)

    @cached_property
    def max(self) -> int:
        """An upper bound of the value."""
        return self._bound(True)

    def _bound(self, is_upper: bool) -> int:
        total = 0
        for atoms, c in self.terms.items():
            wants_greatest = (c > 0) == is_upper
            total += c * math.prod(
                a.variable.max if wants_greatest else a.variable.min for a in atoms
            )
        return total

    def evaluated(
        self,
        atom: Callable[[Atom], T],
        constant: Callable[[int], T],
        times: Callable[[T, T], T],
        plus: Callable[[T, T], T],
    ) -> T:
        """Evaluate the polynomial in another arithmetic, given by four functions."""
        total: T | None = None
        for atoms, coefficient in self.terms.items():
            factors = [atom(a) for a in atoms]
            if coefficient != 1 or not factors:
                factors.append(constant(coefficient))
            term = reduce(times, factors)
            total = term if total is None else plus(total, term)
        assert total is not None
        return total

    def substituted(self, values: Mapping[Atom, Atom]) -> SymInt:
        """This size with some variables replaced by others."""
        return SymInt(
            {monomial(values.get(a, a) for a in atoms): c for atoms, c in self.terms.items()}
        )

    # -- arithmetic --------------------------------------------------------------------------------

    def __add__(self, other: Dim) -> Dim:
        if not isinstance(cast(object, other), Dim):
            return NotImplemented
        return _simplest(plus(self.terms, _terms(other)))

    def __sub__(self, other: Dim) -> Dim:
        if not isinstance(cast(object, other), Dim):
            return NotImplemented
        return _simplest(plus(self.terms, negative(_terms(other))))

    def __rsub__(self, other: int) -> Dim:
        return -self + other

    def __mul__(self, other: Dim) -> Dim:
        if not isinstance(cast(object, other), Dim):
            return NotImplemented
        product = times(self.terms, _terms(other))
        if product is None or not is_small(product):
            raise ValueError(f"({self!r}) * ({other!r}) has too many terms")
        return _simplest(product)

    def __neg__(self) -> SymInt:
        return SymInt(negative(self.terms))

    __radd__ = __add__
    __rmul__ = __mul__

    def __divmod__(self, other: Dim) -> tuple[Dim, Dim]:
        """Divides each term by a divisor with a single term."""
        if not isinstance(cast(object, other), Dim):
            return NotImplemented
        (factors, divisor), *more = _terms(other).items() or [((), 0)]
        quotient: Polynomial = {}
        rest: Polynomial = {}
        for atoms, c in self.terms.items():
            left = list(atoms)
            is_divided = not more and divisor != 0 and c % divisor == 0
            for factor in factors:
                is_divided = is_divided and factor in left
                if is_divided:
                    left.remove(factor)
            (quotient if is_divided else rest)[tuple(left) if is_divided else atoms] = (
                c // divisor if is_divided else c
            )
        remainder = _simplest(rest)
        if isinstance(remainder, SymInt) or not isinstance(other, int) or not divisor:
            if remainder == 0 and divisor:
                return _simplest(quotient), 0
            if is_surely_less(-1, self) and is_surely_less(self, other):
                return 0, self
            raise ValueError(f"{self!r} divided by {other!r}: the remainder depends on the size")
        return _simplest(quotient) + remainder // other, remainder % other

    def __floordiv__(self, other: Dim) -> Dim:
        return divmod(self, other)[0]

    def __mod__(self, other: Dim) -> Dim:
        return divmod(self, other)[1]

    def __rfloordiv__(self, other: int) -> Dim:
        return SymInt({(): other}) // self

    def __rmod__(self, other: int) -> Dim:
        return SymInt({(): other}) % self

    # -- comparisons -------------------------------------------------------------------------------

    def __lt__(self, other: Dim) -> bool:
        if not isinstance(cast(object, other), Dim):
            return NotImplemented
        difference = self - other
        if isinstance(difference, int):
            return difference < 0
        if difference.max < 0 or difference.min >= 0:
            return difference.max < 0
        raise ValueError(f"whether {self!r} < {other!r} depends on the size")

    def __ge__(self, other: Dim) -> bool:
        return not self < other

    def __gt__(self, other: Dim) -> bool:
        return -self < -other

    def __le__(self, other: Dim) -> bool:
        return not self > other

    def __bool__(self) -> bool:
        return self < 0 or self > 0


Dim = int | SymInt
"""A size: a number, or one that depends on variables."""


def _terms(dim: Dim) -> Polynomial:
    if isinstance(dim, SymInt):
        return dim.terms
    return {(): dim} if dim else {}


def _simplest(terms: Polynomial) -> Dim:
    """A polynomial as a size; an int if it is constant."""
    return SymInt(terms) if terms.keys() - {()} else terms.get((), 0)


def is_surely_less(a: Dim, b: Dim) -> bool:
    """Whether a < b: for all values within the bounds, or for the present values if both have
    one."""
    difference = a - b
    if isinstance(difference, int):
        return difference < 0
    return difference.max < 0 or (difference.is_bound and difference.value < 0)


def to_dim(size: Any) -> int:
    """Convert to a size: any kind of integer, or a symbolic size. Raises TypeError for other
    values, ValueError beyond 64 bits."""
    if isinstance(size, SymInt):
        return cast(int, size)
    if not hasattr(size, "__index__"):
        raise TypeError(f"an extent is an integer, not {type(size).__name__}")
    number = index(size)
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{number} is no extent: it has more than 64 bits")
    return number


def value_of(dim: Dim) -> int:
    """The present value of a size."""
    return dim if isinstance(dim, int) else dim.value


def greatest(dim: Dim) -> int:
    """An upper bound of a size."""
    return dim if isinstance(dim, int) else dim.max


def atoms_of(dims: Iterable[Dim]) -> Iterable[Atom]:
    """The variables in sizes."""
    return (atom for dim in dims if isinstance(dim, SymInt) for atom in dim.atoms)


def larger(a: int, b: int) -> int:
    """The larger of two sizes. Raises ValueError if the bounds do not decide which it is."""
    return _chosen(a, b, a - b, "larger")


def smaller(a: int, b: int) -> int:
    """The smaller of two sizes. Raises ValueError if the bounds do not decide which it is."""
    return _chosen(b, a, a - b, "smaller")


def _chosen(if_more: int, if_less: int, difference: Dim, what: str) -> int:
    if (difference if isinstance(difference, int) else difference.min) >= 0:
        return if_more
    if greatest(difference) <= 0:
        return if_less
    raise ValueError(f"which of {if_more!r} and {if_less!r} is {what} depends on the size")


def substituted(
    extents: tuple[Dim, ...] | None, values: Mapping[Atom, Atom]
) -> tuple[Dim, ...] | None:
    """A shape with some variables replaced by others; None stays None."""
    if extents is None:
        return None
    return tuple([e if isinstance(e, int) else e.substituted(values) for e in extents])
