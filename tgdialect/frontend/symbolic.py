"""Sizes that are not known when a program is compiled: variables, polynomials in them, quotients
rounded down, and maxima."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import repeat
from math import gcd
from operator import index
from typing import Any, ClassVar, Literal, NoReturn, TypeVar, cast

from tgdialect.frontend.dtypes import DTypeLike, to_dtype
from tgdialect.ops import affine, tg
from tgdialect.ops.affine import is_small, monomials, polynomial_interval, renamed, split_by, times

T = TypeVar("T")

_MAX_NESTING = 16
"""The greatest number of quotients and maxima within one another in a size: comparing and printing
take time that grows with it. Those of strides and pools merge, so that no layer comes near."""

_MOST_CASES = 128
"""The most polynomials whose bounds decide those of a size: each maximum in it makes two cases.
Larger: narrower bounds of sizes with many maxima; smaller: less time, which doubles with each."""


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
    dtype: DTypeLike = None

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
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise TypeError(f"{self.name} is an integer, got {value!r}")
        value = index(value)
        if not self.min <= value <= self.max:
            raise ValueError(f"{self.name} is {value}, outside of [{self.min}, {self.max}]")
        return SymInt.of(Atom(self, value))

    def _no_number(self, *_: object) -> NoReturn:
        raise RuntimeError(f"{self.name} is unbound: {self.name}.bind(...) has a value")

    __index__ = __int__ = __float__ = __neg__ = __abs__ = _no_number
    __lt__ = __le__ = __gt__ = __ge__ = _no_number
    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = _no_number
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = _no_number


@dataclass(frozen=True)
class Atom:
    """A variable that has a value, or that is the parameter of this number of a traced function.
    With neither it is unbound: shapes may have it, but nothing is computed."""

    variable: Variable
    value: int | None
    parameter: int | None = None

    def __str__(self) -> str:
        return self.variable.name

    @property
    def interval(self) -> tg.Interval:
        """The bounds of the value."""
        return tg.Interval(self.variable.min, self.variable.max)


@dataclass(frozen=True)
class Derived:
    """A factor of a size that is no polynomial: floor(a / b) for b > 0, or the maximum of a and b.
    `SymInt.__floordiv__` and `larger` make one, in a form in which equal ones are the same."""

    rule: Literal["//", "max"]
    a: SymInt
    b: Dim

    def __str__(self) -> str:
        if self.rule == "max":
            return f"max({self.a}, {self.b})"
        a, b = (f"({d})" if " " in (d := str(size)) else d for size in (self.a, self.b))
        return f"{a}//{b}"

    @cached_property
    def nesting(self) -> int:
        """The number of factors of this kind within one another."""
        inner = (f.nesting for f in factors_of((self.a, self.b)) if isinstance(f, Derived))
        return 1 + max(inner, default=0)

    @cached_property
    def interval(self) -> tg.Interval:
        """The bounds of the value."""
        (a, c), (b, d) = ((least(size), greatest(size)) for size in (self.a, self.b))
        if self.rule == "max":
            return tg.Interval(max(a, b), max(c, d))
        ends = [x // y for x in (a, c) for y in (b, d)]
        return tg.Interval(min(ends), max(ends))


Factor = Atom | Derived
Polynomial = affine.Polynomial[Factor]


def _operator(
    of_sizes: Callable[[SymInt, Dim], Dim], of_tensors: Callable[[Any, Any], Any]
) -> Callable[[SymInt, Dim], Dim]:
    """An operator on two sizes; with a float it is that on scalar tensors."""

    def compute(self: SymInt, other: Dim) -> Dim:
        if isinstance(cast(object, other), Dim):
            return of_sizes(self, other)
        return self.in_floats(of_tensors, other)

    return compute


def _operator_on_tensors(operation: Callable[[Any, Any], Any]) -> Callable[[SymInt, Any], Any]:
    """An operator whose result is a scalar tensor."""
    return lambda self, other: self.in_floats(operation, other)


class SymInt:
    """A size that depends on variables. It does arithmetic with others and with integers. `/`, and
    operations with floats, give scalar tensors.

    A comparison is answered if it has the same answer for all values within the bounds of the
    variables. Raises ValueError for one that depends on them, for a division by what may be 0, and
    for sizes with too many terms.
    """

    as_tensor: ClassVar[Callable[[SymInt], Any]]
    """A size as a scalar tensor: the class `Tensor`, which says so."""

    def __init__(self, polynomial: Polynomial) -> None:
        self.polynomial = polynomial

    @staticmethod
    def of(factor: Factor) -> SymInt:
        """A size that is a single variable, quotient or maximum."""
        return SymInt(tg.Affine({(factor,): 1}))

    def __hash__(self) -> int:
        return hash(self.polynomial)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SymInt) and self.polynomial == other.polynomial

    def __repr__(self) -> str:
        def term(factors: tuple[Factor, ...], coefficient: int) -> str:
            names = [str(f) for f in factors]
            is_plain = abs(coefficient) == 1 and names
            if len(names) > 1 or not is_plain:
                names = [f"({name})" if "//" in name else name for name in names]
            return "*".join(names if is_plain else [str(abs(coefficient)), *names])

        text = ""
        terms = monomials(self.polynomial)
        for factors, coefficient in sorted(terms, key=lambda t: (-len(t[0]), -t[1])):
            sign = "-" if coefficient < 0 else "+"
            text += f" {sign} {term(factors, coefficient)}"
        return text[3:] if text.startswith(" +") else f"-{text[3:]}"

    # -- values ------------------------------------------------------------------------------------

    @cached_property
    def factors(self) -> frozenset[Factor]:
        """The variables, quotients and maxima that occur in a term."""
        return frozenset(f for factors in self.polynomial.terms for f in factors)

    @cached_property
    def atoms(self) -> tuple[Atom, ...]:
        """The variables that occur, also within quotients and maxima, in order of their names."""
        derived = (atoms_of((f.a, f.b)) for f in self.factors if isinstance(f, Derived))
        found = {f for f in self.factors if isinstance(f, Atom)}.union(*derived)
        return tuple(sorted(found, key=lambda atom: (atom.variable.name, atom.parameter or 0)))

    @property
    def factor(self) -> Factor | None:
        """The variable, quotient or maximum, if this size is a single one; else None."""
        factors = self.polynomial.atom or ()
        return factors[0] if len(factors) == 1 else None

    @property
    def atom(self) -> Atom | None:
        """The variable, if this size is a single variable; else None."""
        return factor if isinstance(factor := self.factor, Atom) else None

    @property
    def value(self) -> int:
        """The present value. Raises RuntimeError if it is unbound, or a function is traced."""
        return self.evaluated(self._value_of, int, operator.mul, operator.add)

    def _value_of(self, factor: Factor) -> int:
        if isinstance(factor, Derived):
            a, b = value_of(factor.a), value_of(factor.b)
            return max(a, b) if factor.rule == "max" else a // b
        if factor.value is None:
            check_bound(factor)
            raise RuntimeError(f"{self!r} is not known while its function is traced")
        return factor.value

    @property
    def dtype(self) -> tg.DType | None:
        """The dtype that was given for it, if it is a single variable."""
        return None if self.atom is None else cast("tg.DType | None", self.atom.variable.dtype)

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
    def _interval(self) -> tg.Interval:
        return _interval(self.polynomial)

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
        factor: Callable[[Factor], T],
        constant: Callable[[int], T],
        times: Callable[[T, T], T],
        plus: Callable[[T, T], T],
    ) -> T:
        """The sum of products in any arithmetic, in an order that values of variables do not
        change: programs for several of them are equal."""
        terms: list[T] = []
        for product, coefficient in monomials(self.polynomial):
            factors = [factor(f) for f in sorted(product, key=str)]
            if coefficient != 1 or not factors:
                factors.append(constant(coefficient))
            terms.append(reduce(times, factors))
        return reduce(plus, terms)

    def substituted(self, values: Mapping[Atom, Atom]) -> SymInt:
        """This size with some variables replaced by others."""

        def replaced(factor: Factor) -> Factor:
            if isinstance(factor, Atom):
                return values.get(factor, factor)
            b = factor.b if isinstance(factor.b, int) else factor.b.substituted(values)
            return Derived(factor.rule, factor.a.substituted(values), b)

        return SymInt(renamed(self.polynomial, replaced))

    # -- arithmetic --------------------------------------------------------------------------------

    def in_floats(self, operation: Callable[[Any, Any], Any], other: object) -> Any:
        """An operation on this size as a scalar tensor."""
        if not isinstance(other, int | float | SymInt):
            return NotImplemented
        return operation(SymInt.as_tensor(self), other)

    def __neg__(self) -> SymInt:
        return SymInt(-self.polynomial)

    def __pow__(self, other: Any) -> Any:
        if isinstance(other, int) and other >= 0:
            return reduce(operator.mul, repeat(self, other), cast(Dim, 1))
        return self.in_floats(lambda a, b: a**b, other)

    def __divmod__(self, other: Dim) -> tuple[Dim, Dim]:
        return self // other, self % other

    def _times(self, other: Dim) -> Dim:
        product = times(self.polynomial, _polynomial(other))
        if product is None or not is_small(product):
            raise ValueError(f"({self!r}) * ({other!r}) has too many terms")
        return _simplest(product)

    def _divided(self, other: Dim) -> Dim:
        quotient, rest = tg.Affine[tuple[Factor, ...]](), self.polynomial
        if len(terms := list(monomials(_polynomial(other)))) == 1:
            ((factors, divisor),) = terms
            quotient, rest = split_by(self.polynomial, divisor, factors)
        if rest.summands and least(other) <= 0:
            raise ValueError(f"{self!r} divided by {other!r}, which may be 0 or less")
        return _simplest(quotient) + _floor(_simplest(rest), other)

    __add__ = __radd__ = _operator(
        lambda a, b: _simplest(a.polynomial + _polynomial(b)), operator.add
    )
    __sub__ = _operator(lambda a, b: _simplest(a.polynomial - _polynomial(b)), operator.sub)
    __rsub__ = _operator(lambda a, b: -a + b, lambda a, b: b - a)
    __mul__ = __rmul__ = _operator(_times, operator.mul)
    __floordiv__ = _operator(_divided, lambda a, b: a // b)
    __rfloordiv__ = _operator(lambda a, b: SymInt(_polynomial(b)) // a, lambda a, b: b // a)
    __mod__ = _operator(lambda a, b: a - b * (a // b), operator.mod)
    __rmod__ = _operator(lambda a, b: SymInt(_polynomial(b)) % a, lambda a, b: b % a)
    __truediv__ = _operator_on_tensors(lambda a, b: a / b)
    __rtruediv__ = _operator_on_tensors(lambda a, b: b / a)
    __rpow__ = _operator_on_tensors(lambda a, b: b**a)

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
        if self.min == self.max == 0 or self.min > 0 or self.max < 0:
            return self.max != 0
        raise ValueError(f"whether {self!r} is 0 depends on the size")


Dim = int | SymInt
"""A size: a number, or one that depends on variables."""


def _polynomial(dim: Dim) -> Polynomial:
    return dim.polynomial if isinstance(dim, SymInt) else tg.Affine(constant=dim)


def _simplest(polynomial: Polynomial) -> Dim:
    """A polynomial as a size; an int if it is constant."""
    return SymInt(polynomial) if polynomial.terms else polynomial.constant


def _floor(a: Dim, b: Dim) -> Dim:
    """floor(a / b) for b > 0, in one form for all that are known to be equal."""
    if a == 0 or (isinstance(a, int) and isinstance(b, int)):
        return 0 if a == 0 else a // b
    if least(a) >= 0 and greatest(a - b) < 0:
        return 0
    if greatest(a) < 0 and least(a + b) >= 0:
        return -1
    dividend = _polynomial(a)
    if isinstance(b, int):
        # floor(-x / b) is -floor((x + b - 1) / b),
        if repr(a).startswith("-"):
            return -((b - 1 - a) // b)
        # floor((g x + c) / (g d)) is floor((x + floor(c / g)) / d),
        if (common := gcd(dividend.divisor, b)) > 1:
            return _simplest(dividend.divided(common)) // (b // common)
        # and floor((floor(x / d) + c) / b) is floor((x + c d) / (b d)).
        inner = (dividend - dividend.constant).atom
        if inner is not None and len(inner) == 1 and isinstance(inner[0], Derived):
            ((rule, x, divisor),) = [(f.rule, f.a, f.b) for f in inner if isinstance(f, Derived)]
            if rule == "//" and isinstance(divisor, int):
                return (x + dividend.constant * divisor) // (b * divisor)
    return _derived(Derived("//", SymInt(dividend), b))


def _derived(factor: Derived) -> SymInt:
    if factor.nesting > _MAX_NESTING:
        raise ValueError(f"{factor} has too many terms")
    return SymInt.of(factor)


def _interval(of: Polynomial, known: dict[Polynomial, tg.Interval] | None = None) -> tg.Interval:
    """The bounds of a size. Those of `n - 2 * (n // 2)` are 0 and 1, and so on: in the first
    quotient or maximum of a term, `b * (a // b)` is between a - b + 1 and a. `known` are the bounds
    of the cases that have been looked at."""
    known = {} if known is None else known
    if of not in known:
        known[of] = polynomial_interval(of, lambda f: f.interval)
        if len(known) <= _MOST_CASES:
            known[of] = _narrower(of, known[of], known)
    return known[of]


def _narrower(
    of: Polynomial, found: tg.Interval, known: dict[Polynomial, tg.Interval]
) -> tg.Interval:
    """The bounds that have been found, or narrower ones, by its first quotient or maximum."""
    if all(isinstance(f, Atom) for factors in of.terms for f in factors):
        return found
    for factors, coefficient in of.terms.items():
        quotients = [f for f in factors if isinstance(f, Derived)]
        if not quotients:
            continue
        factor = quotients[0]
        rest = of - tg.Affine({factors: coefficient})
        if factor.rule == "max" and len(factors) == 1:
            zero = _interval(rest, known)
            more = _interval(rest + factor.a.polynomial * coefficient, known)
            choose = max if coefficient > 0 else min
            low, high = choose(zero.lo, more.lo), choose(zero.hi, more.hi)
        elif factor.rule == "//" and (scale := _scale(factor, factors)) is not None:
            whole = _interval(rest * scale + factor.a.polynomial * coefficient, known)
            most = coefficient * (greatest(factor.b) - 1)
            low, high = whole.lo - max(most, 0), whole.hi - min(most, 0)
            low, high = -(-low // scale), high // scale
        else:
            continue
        return tg.Interval(max(found.lo, low), min(found.hi, high))
    return found


def _scale(quotient: Derived, factors: tuple[Factor, ...]) -> int | None:
    """The number s for which s * (the product of factors) is the divisor times the quotient; None
    if there is none."""
    if isinstance(quotient.b, int):
        return quotient.b if len(factors) == 1 else None
    rest = affine.without(factors, (quotient,))
    return 1 if rest and quotient.b.polynomial == tg.Affine({rest: 1}) else None


def is_surely_less(a: Dim, b: Dim) -> bool:
    """Whether a < b for all values within the bounds, or for the values that both have now."""
    difference = a - b
    if isinstance(difference, int):
        return difference < 0
    return difference.max < 0 or (difference.is_bound and difference.value < 0)


def is_undecided(a: Dim, b: Dim) -> bool:
    """Whether it depends on the variables which of two sizes is the greater one."""
    difference = a - b
    return isinstance(difference, SymInt) and difference.min < 0 < difference.max


def check_bound(atom: Atom) -> None:
    """Raise RuntimeError for a variable that has no value, and is no parameter."""
    if atom.value is None and atom.parameter is None:
        index(atom.variable)  # Raises.


def to_dim(size: Any) -> int:
    """The size that a caller has given: anything that is an integer, or symbolic. A variable itself
    is a size without value. Raises TypeError for others, ValueError beyond 64 bits."""
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
    """The present value of a size."""
    return dim if isinstance(dim, int) else dim.value


def least(dim: Dim) -> int:
    """A lower bound of a size."""
    return dim if isinstance(dim, int) else dim.min


def greatest(dim: Dim) -> int:
    """An upper bound of a size."""
    return dim.max if isinstance(dim, SymInt) else dim


def atoms_of(dims: Iterable[Dim]) -> Iterable[Atom]:
    """The variables in sizes."""
    return (atom for dim in dims if isinstance(dim, SymInt) for atom in dim.atoms)


def factors_of(dims: Iterable[Dim]) -> Iterable[Factor]:
    """The variables, quotients and maxima that are factors of terms of sizes."""
    return (factor for dim in dims if isinstance(dim, SymInt) for factor in dim.factors)


def larger(a: int, b: int) -> int:
    """The greater of two sizes."""
    difference = cast(Dim, a - b)
    if least(difference) >= 0:
        return a
    if greatest(difference) <= 0:
        return b
    # max(a, b) is b + max(a - b, 0), or a + max(b - a, 0): one of them, without common factors.
    assert isinstance(difference, SymInt)
    if _order(-difference) < _order(difference):
        b, difference = a, -difference
    polynomial = difference.polynomial
    common = gcd(polynomial.divisor, polynomial.constant)
    maximum = _derived(Derived("max", SymInt(polynomial.divided(common)), 0))
    return b + cast(int, common * maximum)


def _order(size: SymInt) -> tuple[bool, str]:
    return (text := repr(size)).startswith("-"), text


def smaller(a: int, b: int) -> int:
    """The lesser of two sizes."""
    return a + b - larger(a, b)


def substituted(
    extents: tuple[Dim, ...] | None, values: Mapping[Atom, Atom]
) -> tuple[Dim, ...] | None:
    """A shape with other variables in place of some; None is one that depends on none."""
    if extents is None:
        return None
    return tuple([e if isinstance(e, int) else e.substituted(values) for e in extents])
