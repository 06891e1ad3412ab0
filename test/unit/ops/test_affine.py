"""Affine sums and polynomials have the values that Python's integers have."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from tgdialect.ops.affine import (
    Affine,
    affine,
    is_small,
    monomial,
    monomials,
    polynomial_interval,
    renamed,
    split_by,
    times,
)
from tgdialect.ops.dtypes import DTYPES, I32
from tgdialect.ops.intervals import Interval

NUMBERS = st.integers(-20, 20)
NAMES = "xyz"
VALUES = st.fixed_dictionaries(dict.fromkeys(NAMES, NUMBERS))
TERMS = st.lists(st.tuples(st.sampled_from(NAMES), NUMBERS), max_size=4)
SUMS = st.builds(affine, TERMS, NUMBERS)
PRODUCTS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map(monomial)
POLYNOMIALS = st.builds(affine, st.lists(st.tuples(PRODUCTS, NUMBERS), max_size=4), NUMBERS)
DIVISORS = st.integers(-9, 9).filter(bool)


def value(of: Affine[str], values: dict[str, int]) -> int:
    return of.constant + sum(c * values[atom] for atom, c in of.terms.items())


def value_of_polynomial(of, values: dict[str, int]) -> int:
    return sum(c * math.prod(values[atom] for atom in atoms) for atoms, c in monomials(of))


def is_normal(of: Affine[str]) -> bool:
    return all(of.terms.values())


@given(SUMS, SUMS, NUMBERS, VALUES)
def test_sums(a, b, n, values):
    x, y = value(a, values), value(b, values)
    for result, expected in (
        (a + b, x + y),
        (a - b, x - y),
        (a + n, x + n),
        (a - n, x - n),
        (-a, -x),
        (a * n, x * n),
        (a - a, 0),
    ):
        assert value(result, values) == expected
        assert is_normal(result)
    assert (a == b) == ((a - b).summands == 0)
    assert a + b == b + a
    assert hash(a + b) == hash(b + a)


@given(SUMS, VALUES, DIVISORS)
def test_split_by_an_integer(a, values, n):
    quotient, rest = a.split(n)
    assert value(quotient, values) * n + value(rest, values) == value(a, values)
    assert not any(c % n == 0 for c in rest.terms.values())
    assert rest.constant == a.constant % n
    assert is_normal(quotient)


@given(SUMS, VALUES, st.integers(-(2**40), 2**40))
def test_wrapped_sums_are_congruent_and_small(a, values, factor):
    result = (a * factor).wrapped(DTYPES[I32])
    assert (value(result, values) - value(a, values) * factor) % 2**32 == 0
    assert all(-(2**31) <= c < 2**31 for c in (*result.terms.values(), result.constant))
    assert is_normal(result)


@given(SUMS, st.fixed_dictionaries({n: st.tuples(NUMBERS, NUMBERS) for n in NAMES}), st.data())
def test_intervals_hold_every_value_and_have_their_ends(a, pairs, data):
    box = {name: sorted(pair) for name, pair in pairs.items()}
    values = {name: data.draw(st.integers(*ends)) for name, ends in box.items()}
    interval = a.interval(lambda atom: Interval(*box[atom]))
    assert value(a, values) in interval
    least = {n: box[n][0] if c > 0 else box[n][1] for n, c in a.terms.items()}
    greatest = {n: box[n][1] if c > 0 else box[n][0] for n, c in a.terms.items()}
    assert (value(a, least), value(a, greatest)) == (interval.lo, interval.hi)


def test_parts():
    a = affine([("x", 2), ("y", 2), ("x", 4), ("z", 3), ("y", -2)], 6)
    assert a == Affine({"x": 6, "z": 3}, 6)
    assert (a.divisor, a.summands, a.atom) == (3, 3, None)
    assert a.divided(3) == Affine({"x": 2, "z": 1}, 2)
    assert Affine({"x": 1}).atom == "x"
    assert Affine({"x": 2, "y": 2, "z": 1}).cost == 3  # (x + y) * 2 + z


@given(POLYNOMIALS, POLYNOMIALS, VALUES, DIVISORS, PRODUCTS)
def test_polynomials(a, b, values, n, product):
    x, y = value_of_polynomial(a, values), value_of_polynomial(b, values)
    result = times(a, b)
    assert result is not None
    assert value_of_polynomial(result, values) == x * y
    assert is_normal(result)
    quotient, rest = split_by(a, n, product)
    factor = n * math.prod(values[atom] for atom in product)
    assert value_of_polynomial(quotient, values) * factor + value_of_polynomial(rest, values) == x
    assert split_by(a, n, ()) == a.split(n)
    swapped = renamed(a, {"x": "y", "y": "x", "z": "z"}.__getitem__)
    assert value_of_polynomial(swapped, values | {"x": values["y"], "y": values["x"]}) == x


@given(
    POLYNOMIALS, st.fixed_dictionaries({n: st.tuples(NUMBERS, NUMBERS) for n in NAMES}), st.data()
)
def test_intervals_of_polynomials_hold_every_value(a, pairs, data):
    box = {name: sorted(pair) for name, pair in pairs.items()}
    values = {name: data.draw(st.integers(*ends)) for name, ends in box.items()}
    interval = polynomial_interval(a, lambda atom: Interval(*box[atom]))
    assert value_of_polynomial(a, values) in interval


def test_polynomials_stay_small():
    a = affine([((name,), 1) for name in "abcdefghi"])
    assert times(a, a) is None
    assert times(Affine({("x",) * 9: 1}), Affine({("x",) * 8: 1})) is None
    assert not is_small(Affine({("x",): 2**62 + 1}))
    assert not is_small(Affine(constant=-(2**62) - 1))
    assert is_small(a)
