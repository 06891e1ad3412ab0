"""Polynomials with integer coefficients, in hashable atoms of any kind."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

A = TypeVar("A", bound=Hashable)

Monomial = tuple[A, ...]
"""A product of atoms, in canonical order."""
Polynomial = dict[Monomial[A], int]
"""The coefficient of each monomial, never 0."""

_MAX_TERMS, _MAX_DEGREE, _MAX_COEFFICIENT = 64, 16, 2**62
"""Limits of products, so that no program makes comparisons expensive."""


def monomial(atoms: Iterable[A]) -> Monomial[A]:
    """The product of atoms."""
    return tuple(sorted(atoms, key=hash))


def is_small(a: Polynomial[A]) -> bool:
    """Whether a polynomial is within the limits of this module."""
    return len(a) <= _MAX_TERMS and all(abs(c) <= _MAX_COEFFICIENT for c in a.values())


def plus(a: Polynomial[A], b: Polynomial[A]) -> Polynomial[A]:
    """The sum."""
    total = dict(a)
    for product, coefficient in b.items():
        total[product] = total.get(product, 0) + coefficient
    return {product: c for product, c in total.items() if c}


def times(a: Polynomial[A], b: Polynomial[A]) -> Polynomial[A] | None:
    """The product, or None where it is too large."""
    degree = max(map(len, a), default=0) + max(map(len, b), default=0)
    if len(a) * len(b) > _MAX_TERMS or degree > _MAX_DEGREE:
        return None
    result: Polynomial[A] = {}
    for x, p in a.items():
        result = plus(result, {monomial(x + y): p * q for y, q in b.items()})
    return result


def negative(a: Polynomial[A]) -> Polynomial[A]:
    """The polynomial times -1."""
    return {product: -c for product, c in a.items()}
