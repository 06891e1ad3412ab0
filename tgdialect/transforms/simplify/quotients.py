"""IDIV and MOD by a divisor that is not constant.

Dividend and divisor are polynomials over the integers. The identities on the left need G > 0, and
either S = 0, or 0 <= S < G and Y > 0:

    (G X + S) idiv (G Y) = X idiv Y        (X D + S) idiv D = X + S idiv D
    (G X + S) mod  (G Y) = G (X mod Y) + S (X D + S) mod  D = S mod D

If X idiv Y always equals Q, then `X mod Y = X - Q Y`. If 0 <= X - Q Y < Y, then `X idiv Y = Q`.

A divisor that is a sum is first tried as one atom, because the dividend is often written as a
multiple of that same value. The second attempt expands the sum.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.affine.bounds import exact_polynomial, interval, is_less
from tgdialect.ops import intervals, tg
from tgdialect.ops.affine import Linear, Monomial, monomials, split_by, times
from tgdialect.ops.properties import Atom
from tgdialect.transforms.simplify.engine import Engine


def divide_by_value(engine: Engine, op: Operation) -> SSAValue | None:
    """Simplify an IDIV or MOD by a divisor that is never 0."""
    value, divisor = op.operands
    if 0 in engine.min_max[divisor]:
        return None
    result = _of_one_quotient(engine, op)
    # Treat the divisor as one atom first, then expand it.
    for atoms in ((divisor,), ()):
        if result is None:
            division = _Division(engine, op, atoms)
            result = (
                division.of_less()
                or division.by_factor()
                or division.of_multiples()
                or division.by_sum()
            )
    return None if result is None else engine.widened(engine.emit(result, value), op.results[0])


def _of_one_quotient(engine: Engine, op: Operation) -> Linear | None:
    """A MOD whose quotient is always the same, as a difference."""
    value, divisor = op.operands
    dtype = tg.dtype_of(value)
    quotient = intervals.floor_divide(dtype, engine.min_max[value], engine.min_max[divisor])
    if op.name != "tg.mod" or not quotient.is_constant:
        return None
    return (engine.form(value) - engine.form(divisor) * int(quotient.lo)).wrapped(dtype)


@dataclass
class _Division:
    """An IDIV or MOD of two polynomials. A rewrite returns None if it does not apply."""

    engine: Engine
    op: Operation
    atoms: tuple[SSAValue, ...]
    """The values that are atoms of the polynomials even if they are sums or products."""

    @cached_property
    def dividend(self) -> tg.Polynomial:
        return exact_polynomial(self.op.operands[0], self.engine.min_max, self.atoms)

    @cached_property
    def divisor(self) -> tg.Polynomial:
        return exact_polynomial(self.op.operands[1], self.engine.min_max, self.atoms)

    def of_less(self) -> Linear | None:
        """Divide a dividend that is nonnegative and less than the divisor."""
        value = self.op.operands[0]
        min_max = self.engine.min_max
        if min_max[value].lo < 0 or not is_less(self.dividend, self.divisor, min_max, self.atoms):
            return None
        return tg.Affine() if self.op.name == "tg.idiv" else self.engine.form(value)

    def by_factor(self) -> Linear | None:
        """Cancel a factor G of the divisor, and drop the low part S: the identities on the left."""
        for factor in self.factors():
            high, low = split_by(self.dividend, *factor)
            if not high.summands or not self.is_remainder(low, factor):
                continue
            divisor, _ = split_by(self.divisor, *factor)
            inner = self.applied(high, divisor)
            if self.op.name == "tg.idiv":
                return inner
            multiple = self.product(*factor.atoms, self.emitted(inner))
            return self.wrapped(multiple * factor.coefficient + self.sum(low))
        return None

    def of_multiples(self) -> Linear | None:
        """Take the multiples of a one-term divisor out: the identities on the right."""
        if self.divisor.summands != 1:
            return None
        ((atoms, coefficient),) = monomials(self.divisor)
        quotient, rest = split_by(self.dividend, coefficient, atoms)
        dtype, of_rest = tg.dtype_of(self.op.operands[0]), interval(rest, self.engine.min_max)
        if not quotient.summands or not of_rest.within(dtype.low, dtype.high):
            return None
        remainder = self.applied(rest, self.divisor)
        if self.op.name == "tg.mod":
            return remainder
        return self.wrapped(self.sum(quotient) + remainder)

    def by_sum(self) -> Linear | None:
        """Divide by a sum with long division: `2 n i + j` is `(2 n - 1) i + (i + j)`."""
        if self.divisor.summands < 2 or self.engine.min_max[self.op.operands[1]].lo <= 0:
            return None
        leading = max(self.divisor.terms, key=len)
        quotient, _ = split_by(self.dividend, self.divisor.terms[leading], leading)
        product = times(quotient, self.divisor)
        if not quotient.summands or product is None:
            return None
        # The quotient is exact only if the rest is a remainder.
        rest = self.dividend - product
        min_max = self.engine.min_max
        is_positive = interval(rest, min_max).lo >= 0
        if not is_positive or not is_less(rest, self.divisor, min_max, self.atoms):
            return None
        return self.sum(quotient if self.op.name == "tg.idiv" else rest)

    def factors(self) -> Iterator[_Factor]:
        """The positive factors of the divisor, the greatest first."""
        content = _content(self.divisor)
        for factor in (
            content,
            _Factor(content.coefficient, ()),
            _content(self.divisor, self.dividend),
        ):
            atoms = tuple(filter(self.is_positive, factor.atoms))
            if factor.coefficient > 1 or atoms:
                yield _Factor(factor.coefficient, atoms)

    def is_positive(self, atom: Atom) -> bool:
        return isinstance(atom, SSAValue) and self.engine.min_max[atom].lo > 0

    def is_remainder(self, low: tg.Polynomial, factor: _Factor) -> bool:
        """Whether a low part S may be dropped: it is 0, or 0 <= S < factor with a divisor >= 0."""
        min_max = self.engine.min_max
        if not low.summands or min_max[self.op.operands[1]].lo < 0:
            return not low.summands
        whole: tg.Polynomial = tg.Affine(constant=factor.coefficient)
        if factor.atoms:
            whole = tg.Affine({factor.atoms: factor.coefficient})
        return interval(low, min_max).lo >= 0 and is_less(low, whole, min_max, self.atoms)

    # -- making ops

    def applied(self, dividend: tg.Polynomial, divisor: tg.Polynomial) -> Linear:
        """The linear form of the op applied to two polynomials."""
        sides = [self.emitted(self.sum(side)) for side in (dividend, divisor)]
        return self.engine.form(self.engine.apply(self.op.name, sides))

    def sum(self, of: tg.Polynomial) -> Linear:
        """A polynomial as a linear form whose atoms are products."""
        result: Linear = tg.Affine(constant=of.constant)
        for atoms, coefficient in of.terms.items():
            result += self.product(*atoms) * coefficient
        return self.wrapped(result)

    def product(self, *atoms: Atom) -> Linear:
        values = sorted((a for a in atoms if isinstance(a, SSAValue)), key=self.engine.position)
        return self.engine.form(reduce(lambda a, b: self.engine.apply("tg.mul", (a, b)), values))

    def emitted(self, form: Linear) -> SSAValue:
        return self.engine.emit(form, self.op.operands[0])

    def wrapped(self, form: Linear) -> Linear:
        return form.wrapped(tg.dtype_of(self.op.operands[0]))


class _Factor(NamedTuple):
    """A factor of a polynomial: a coefficient times values."""

    coefficient: int
    atoms: Monomial[Atom]


def _content(*of: tg.Polynomial) -> _Factor:
    """The greatest common factor of all terms of some polynomials."""
    terms = [term for each in of for term in monomials(each)]
    common = reduce(lambda a, b: a & b, (Counter(atoms) for atoms, _ in terms))
    return _Factor(math.gcd(*(c for _, c in terms)), tuple(common.elements()))
