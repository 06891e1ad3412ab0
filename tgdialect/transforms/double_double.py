"""Sums of two floats, which have twice the digits of one (Dekker, "A floating-point technique for
extending the available precision", 1971).

Sums are exact. What a product loses is known where MULACC is rounded once; where it is rounded
twice, it counts as 0, and products have the digits of one float.
"""

from __future__ import annotations

from collections.abc import Sequence

from tgdialect.transforms.recipe import RecipeValue, V

Pair = tuple[RecipeValue[V], RecipeValue[V]]
"""A float, and what it lacks."""


def two_sum(a: RecipeValue[V], b: RecipeValue[V]) -> Pair[V]:
    """a + b, and what its rounding loses."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def fast_two_sum(a: RecipeValue[V], b: RecipeValue[V] | float) -> Pair[V]:
    """The same for |a| >= |b|, or a = 0."""
    total = a + b
    return total, -(total - a) + b


def two_product(a: RecipeValue[V], b: RecipeValue[V]) -> Pair[V]:
    """a b, and what its rounding loses."""
    product = a * b
    return product, a.mulacc(b, -product)


def times(a: Pair[V], b: Pair[V]) -> Pair[V]:
    """The product of two sums, but for an error of about 2^(3 - 2p) of it, for a precision of p."""
    product, lost = two_product(a[0], b[0])
    return product, a[0].mulacc(b[1], a[1].mulacc(b[0], lost))


def scaled(a: Pair[V], factor: RecipeValue[V]) -> Pair[V]:
    """The product of a sum and a float; as `times`."""
    product, lost = two_product(a[0], factor)
    return product, a[1].mulacc(factor, lost)


def horner_of_pairs(
    x: RecipeValue[V], coefficients: Sequence[tuple[float, float]], rest: RecipeValue[V]
) -> Pair[V]:
    """The polynomial with these coefficients, the constant one first, plus the next power of x
    times `rest`."""
    result = rest, x.constant(0.0)
    for high, low in reversed(coefficients):
        product, lost = scaled(result, x)
        total, missing = two_sum(x.constant(high), product)
        result = total, missing + (lost + low)
    return result
