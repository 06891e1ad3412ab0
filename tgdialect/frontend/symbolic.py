"""Sizes that are not known when a program is compiled: variables, and polynomials in them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import index
from typing import Any, TypeVar, cast

from tgdialect.frontend.dtypes import DTypeLike, to_dtype
from tgdialect.ops import affine
from tgdialect.ops.affine import (
    Affine,
    is_small,
    monomials,
    polynomial_interval,
    renamed,
    split_by,
    times,
)
from tgdialect.ops.dtypes import DType
from tgdialect.ops.intervals import Interval

T = TypeVar("T")


@dataclass(frozen=True)
class Variable:
    """A size with a name, between two bounds that are included.

    `Variable("n", 1, 128).bind(5)` is a size that is 5 now. Programs are compiled for every value
    that it may have. A tensor of it has the integer dtype `dtype`, by default i32 if the bounds fit
    it, else i64. Raises ValueError for bounds that are negative, or out of the range of `dtype`.
    """

    name: str
    min: int
    max: int
    dtype: DTypeLike | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.min <= self.max:
            raise ValueError(f"{self.name} is between {self.min} and {self.max}")
        if self.dtype is None:
            return
        found = to_dtype(self.dtype)
        if not found.is_integer:
            raise TypeError(f"{self.name} of dtype {found.name}: a size is an integer")
        if self.max > found.high:
            raise ValueError(f"{self.name} is up to {self.max}, out of the range of {found.name}")
        object.__setattr__(self, "dtype", found)

    def bind(self, value: int) -> SymInt:
        """The size that this variable is now. Raises ValueError for one outside of the bounds."""
        if isinstance(value, bool):
            raise TypeError(f"{self.name} is an integer, got {value!r}")
        value = index(value)
        if not self.min <= value <= self.max:
            raise ValueError(f"{self.name} is {value}, outside of [{self.min}, {self.max}]")
        return SymInt.of(Atom(self, value))


@dataclass(frozen=True)
class Atom:
    """A variable that has a value, or that is the parameter of this number of a traced function.
    With neither it is unbound: shapes may have it, but nothing is computed."""

    variable: Variable
    value: int | None
    parameter: int | None = None


Polynomial = affine.Polynomial[Atom]


class SymInt:
    """A size that depends on variables. It does arithmetic with others and with integers.

    A comparison is answered if it has the same answer for all values within the bounds of the
    variables. Raises ValueError for one that depends on them, and for a quotient with a remainder
    that does.
    """

    def __init__(self, polynomial: Polynomial) -> None:
        self.polynomial = polynomial

    @staticmethod
    def of(atom: Atom) -> SymInt:
        """A size that is a single variable."""
        return SymInt(Affine({(atom,): 1}))

    def __hash__(self) -> int:
        return hash(self.polynomial)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SymInt) and self.polynomial == other.polynomial

    def __repr__(self) -> str:
        def term(atoms: tuple[Atom, ...], coefficient: int) -> str:
            names = [atom.variable.name for atom in atoms]
            is_plain = abs(coefficient) == 1 and names
            return "*".join(names if is_plain else [str(abs(coefficient)), *names])

        text = ""
        terms = monomials(self.polynomial)
        for atoms, coefficient in sorted(terms, key=lambda t: (-len(t[0]), -t[1])):
            sign = "-" if coefficient < 0 else "+"
            text += f" {sign} {term(atoms, coefficient)}"
        return text[3:] if text.startswith(" +") else f"-{text[3:]}"

    # -- values ------------------------------------------------------------------------------------

    @cached_property
    def atoms(self) -> tuple[Atom, ...]:
        """The variables that occur, in order of their names."""
        found = {atom for atoms in self.polynomial.terms for atom in atoms}
        return tuple(sorted(found, key=lambda atom: (atom.variable.name, atom.parameter or 0)))

    @property
    def atom(self) -> Atom | None:
        """The variable, if this size is a single variable; else None."""
        factors = self.polynomial.atom or ()
        return factors[0] if len(factors) == 1 else None

    @property
    def value(self) -> int:
        """The present value. Raises RuntimeError if it is unbound, or a function is traced."""
        return self.evaluated(self._value_of, int, operator.mul, operator.add)

    def _value_of(self, atom: Atom) -> int:
        if atom.value is None:
            check_bound(atom)
            raise RuntimeError(f"{self!r} is not known while its function is traced")
        return atom.value

    @property
    def dtype(self) -> DType | None:
        """The dtype that was given for it, if it is a single variable."""
        return None if self.atom is None else cast("DType | None", self.atom.variable.dtype)

    @property
    def is_bound(self) -> bool:
        """Whether all variables have values."""
        return all(atom.value is not None for atom in self.atoms)

    def unbind(self) -> tuple[Variable, int]:
        """The variable that this is, and its value."""
        if self.atom is None:
            raise ValueError(f"{self!r} is not a variable")
        return self.atom.variable, self.value

    def __int__(self) -> int:
        return self.value

    def __index__(self) -> int:
        raise TypeError(f"{self!r} is symbolic: int(size) is its present value")

    @cached_property
    def _interval(self) -> Interval:
        return polynomial_interval(
            self.polynomial, lambda a: Interval(a.variable.min, a.variable.max)
        )

    @property
    def min(self) -> int:
        """A lower bound of the value."""
        return int(self._interval.lo)

    @property
    def max(self) -> int:
        """An upper bound of the value."""
        return int(self._interval.hi)

    def evaluated(
        self,
        atom: Callable[[Atom], T],
        constant: Callable[[int], T],
        times: Callable[[T, T], T],
        plus: Callable[[T, T], T],
    ) -> T:
        """The sum of products in any arithmetic."""
        total: T | None = None
        for atoms, coefficient in monomials(self.polynomial):
            factors = [atom(a) for a in atoms]
            if coefficient != 1 or not factors:
                factors.append(constant(coefficient))
            term = reduce(times, factors)
            total = term if total is None else plus(total, term)
        assert total is not None
        return total

    def substituted(self, values: Mapping[Atom, Atom]) -> SymInt:
        """This size with some variables replaced by others."""
        return SymInt(renamed(self.polynomial, lambda atom: values.get(atom, atom)))

    # -- arithmetic --------------------------------------------------------------------------------

    def __add__(self, other: Dim) -> Dim:
        if not isinstance(cast(object, other), Dim):
            return NotImplemented
        return _simplest(self.polynomial + _polynomial(other))

    def __sub__(self, other: Dim) -> Dim:
        if not isinstance(cast(object, other), Dim):
            return NotImplemented
        return _simplest(self.polynomial - _polynomial(other))

    def __rsub__(self, other: int) -> Dim:
        return -self + other

    def __mul__(self, other: Dim) -> Dim:
        if not isinstance(cast(object, other), Dim):
            return NotImplemented
        product = times(self.polynomial, _polynomial(other))
        if product is None or not is_small(product):
            raise ValueError(f"({self!r}) * ({other!r}) has too many terms")
        return _simplest(product)

    def __neg__(self) -> SymInt:
        return SymInt(-self.polynomial)

    __radd__ = __add__
    __rmul__ = __mul__

    def __divmod__(self, other: Dim) -> tuple[Dim, Dim]:
        """Term by term, by one term."""
        if not isinstance(cast(object, other), Dim):
            return NotImplemented
        terms = list(monomials(_polynomial(other)))
        if len(terms) == 1:
            ((factors, divisor),) = terms
            quotient, remainder = split_by(self.polynomial, divisor, factors)
            if not remainder.summands or (isinstance(other, int) and not remainder.terms):
                return _simplest(quotient), remainder.constant
        if is_surely_less(-1, self) and is_surely_less(self, other):
            return 0, self
        raise ValueError(f"{self!r} divided by {other!r}: the remainder depends on the size")

    def __floordiv__(self, other: Dim) -> Dim:
        return divmod(self, other)[0]

    def __mod__(self, other: Dim) -> Dim:
        return divmod(self, other)[1]

    def __rfloordiv__(self, other: int) -> Dim:
        return SymInt(Affine(constant=other)) // self

    def __rmod__(self, other: int) -> Dim:
        return SymInt(Affine(constant=other)) % self

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


def _polynomial(dim: Dim) -> Polynomial:
    return dim.polynomial if isinstance(dim, SymInt) else Affine(constant=dim)


def _simplest(polynomial: Polynomial) -> Dim:
    """A polynomial as a size; an int if it is constant."""
    return SymInt(polynomial) if polynomial.terms else polynomial.constant


def is_surely_less(a: Dim, b: Dim) -> bool:
    """Whether a < b for all values within the bounds, or for the values that both have now."""
    difference = a - b
    if isinstance(difference, int):
        return difference < 0
    return difference.max < 0 or (difference.is_bound and difference.value < 0)


def quotient(a: Dim, b: Dim) -> Dim:
    """a / b rounded up, for b > 0 and a not negative. If that is no polynomial it is a variable of
    its own, bound to the present value. Raises RuntimeError while a function is traced."""
    text = f"ceil({a!r} / {b!r})"
    if is_surely_less(b, 1) or is_surely_less(a, 0):
        raise ValueError(f"{text}: {b!r} is not positive, or {a!r} is negative")
    try:
        return -(-a // b)
    except ValueError:
        pass  # A remainder that depends on the variables.
    greatest_value, now = greatest(a), -(-value_of(a) // value_of(b))
    return Variable(text, 0, max(greatest_value, now)).bind(now)


def is_undecided(a: Dim, b: Dim) -> bool:
    """Whether it depends on the variables which of two sizes is the greater one."""
    difference = a - b
    return isinstance(difference, SymInt) and difference.min < 0 < difference.max


def check_bound(atom: Atom) -> None:
    """Raise RuntimeError for a variable that has no value, and is no parameter."""
    if atom.value is None and atom.parameter is None:
        name = atom.variable.name
        raise RuntimeError(f"{name} is unbound: {name}.bind(...) has a value")


def to_dim(size: Any) -> int:
    """What was given as a size: anything that is an integer, or symbolic. Raises TypeError for
    others, ValueError beyond 64 bits. A variable itself is a size without value."""
    if isinstance(size, SymInt):
        return cast(int, size)
    if isinstance(size, Variable):
        return cast(int, SymInt.of(Atom(size, None)))
    if not hasattr(size, "__index__"):
        raise TypeError(f"an extent is an integer, not {type(size).__name__}")
    number = index(size)
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{number} is no extent: it has more than 64 bits")
    return number


def value_of(dim: Dim) -> int:
    """What a size is now."""
    return dim if isinstance(dim, int) else dim.value


def greatest(dim: Dim) -> int:
    """What a size is at most."""
    return dim if isinstance(dim, int) else dim.max


def atoms_of(dims: Iterable[Dim]) -> Iterable[Atom]:
    """The variables in sizes."""
    return (atom for dim in dims if isinstance(dim, SymInt) for atom in dim.atoms)


def larger(a: int, b: int) -> int:
    """The greater of two sizes. Raises ValueError where it depends on the variables."""
    return _chosen(a, b, a - b, "larger")


def smaller(a: int, b: int) -> int:
    """The lesser of two sizes. Raises ValueError where it depends on the variables."""
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
    """A shape with other variables in place of some; None is one that depends on none."""
    if extents is None:
        return None
    return tuple([e if isinstance(e, int) else e.substituted(values) for e in extents])
