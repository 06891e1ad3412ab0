"""Every rule that `tg-simplify` and `canonicalize` apply is proven by z3, from the same object.

Integer rules are proven for all values of 6 bits, signed and unsigned, wrap included; those without
multiplication or division for 64 bits too. Rules on floats are proven on half precision. The
theorems behind sums, divisions and comparisons are proven for unbounded integers.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import z3
from z3_semantics import (
    Expr,
    Floats,
    Integers,
    Numbers,
    Translation,
    counterexample,
    is_bool,
)

from tgdialect.ops.elementwise import Domain
from tgdialect.transforms.simplify.arithmetic import ARITHMETIC
from tgdialect.transforms.simplify.identities import IDENTITIES
from tgdialect.transforms.simplify.terms import AnyConstant, AnyValue, Apply, Rule, Term

RULES = (*IDENTITIES, *ARITHMETIC)

NARROW = (Integers(6, signed=True), Integers(6, signed=False))
WIDE = (Integers(64, signed=True), Integers(64, signed=False))
HARD = frozenset({"tg.mul", "tg.idiv", "tg.mod"})
"""What z3 cannot do in 64 bits."""
NOT_ON_BOOL = frozenset({"tg.sub", "tg.neg", "tg.idiv", "tg.mod", "tg.shl", "tg.shr", "tg.div"})


def leaves(term: Term) -> Iterator[Term]:
    if isinstance(term, Apply):
        for operand in term.operands:
            yield from leaves(operand)
    else:
        yield term


def ops(term: Term) -> set[str]:
    if not isinstance(term, Apply):
        return set()
    return {term.op}.union(*(ops(o) for o in term.operands))


def models(rule: Rule) -> Iterator[Translation]:
    """The dtypes that a rule applies to."""
    sorts = {t.sort for t in leaves(rule.pattern) if isinstance(t, AnyValue)}
    used = ops(rule.pattern) | ops(rule.result)
    constants = any(isinstance(t, AnyConstant) for t in leaves(rule.pattern))
    if sorts <= {Domain.BOOL, Domain.ANY, Domain.BITS} and not used & NOT_ON_BOOL:
        yield Translation(NARROW[0], any_is_bool=True)
    if Domain.FLOAT not in sorts:
        numbers: tuple[Numbers, ...] = NARROW if used & HARD else NARROW + WIDE
        if Domain.INDEX in sorts:
            numbers = tuple(n for n in numbers if isinstance(n, Integers) and n.signed)
        yield from (Translation(n, any_is_bool=False) for n in numbers)
    if (
        sorts <= {Domain.BOOL, Domain.ANY, Domain.FLOAT}
        and not constants
        and sorts != {Domain.BOOL}
    ):
        yield Translation(Floats(), any_is_bool=False)


def both_sides_agree(rule: Rule, model: Translation) -> Expr:
    sides = (rule.pattern, rule.result)
    boolean = any(is_bool(side, any_is_bool=model.any_is_bool) for side in sides)
    before, after = (model.value(side, boolean=boolean) for side in sides)
    return before == after if boolean else model.numbers.same(before, after)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_rule(rule: Rule):
    proven = 0
    for model in models(rule):
        claim = both_sides_agree(rule, model)
        assert counterexample(claim, [model.guard(g) for g in rule.when]) is None, model.numbers
        proven += 1
    assert proven


@pytest.mark.sampled(4)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_no_guard_is_superfluous(rule: Rule):
    """Without any one of its guards a rule is wrong, for signed or unsigned integers."""
    for left_out in rule.when:
        counterexamples: list[str | None] = []
        for model in models(rule):
            if model.numbers in NARROW:
                claim = both_sides_agree(rule, model)
                guards = [model.guard(g) for g in rule.when if g is not left_out]
                counterexamples.append(counterexample(claim, guards))
        assert any(counterexamples), left_out


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_validity(rule: Rule):
    """Both sides are invalid in the same cells, where the rule's `needs_valid` are valid."""
    for model in models(rule):
        before, after = model.is_valid(rule.pattern), model.is_valid(rule.result)
        assumptions = [model.guard(g) for g in rule.when]
        assumptions += [v for name, v in model.valid.items() if name in rule.needs_valid]
        assert counterexample(before == after, assumptions) is None


def test_names_are_unique():
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)


# -- theorems ------------------------------------------------------------------------------------


def integers(names: str) -> list[Expr]:
    return list(z3.Ints(names))


def test_division_theorem():
    """(f (d Q + Y) + S) div (f d) = Q + Y div d, and mod is f (Y mod d) + S, for 0 <= S < f. With
    Q = 0 it is that of `quotients.py`.

    With y, r the quotient and remainder of Y by d, the dividend is (f d) (Q + y) + (f r + S).
    Quotient and remainder are unique, so what is to be shown is 0 <= f r + S < f d.
    """
    f, d, quotient, rest, low, y, r = integers("f d Q Y S y r")
    assumptions = [f > 0, d > 0, low >= 0, low < f, rest == d * y + r, r >= 0, r < d]
    dividend = f * (d * quotient + rest) + low
    assert counterexample(dividend == (f * d) * (quotient + y) + (f * r + low), assumptions) is None
    remainder_fits = z3.And(f * r + low >= 0, f * r + low < f * d)
    product = [f * r <= f * (d - 1), f * r >= 0]
    assert counterexample(remainder_fits, assumptions + product) is None
    factor, rest_ = integers("factor rest")
    assert (
        counterexample(factor * rest_ >= 0, [factor > 0, rest_ >= 0]) is None
    )  # both facts in `product`, with rest = r and rest = d - 1 - r


@pytest.mark.parametrize("factor", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("divisor", [1, 2, 3, 8])
def test_division_theorem_for_numbers(factor: int, divisor: int):
    """The same with z3's own div and mod, which are floor division for positive divisors."""
    quotient, rest, low = integers("Q Y S")
    dividend = factor * (divisor * quotient + rest) + low
    by = factor * divisor
    claim = z3.And(
        dividend / by == quotient + rest / divisor,
        dividend % by == factor * (rest % divisor) + low,
    )
    assert counterexample(claim, [low >= 0, low < factor]) is None


def test_common_factor():
    """(g X) div (g Y) = X div Y and (g X) mod (g Y) = g (X mod Y), whatever the sign of Y.

    X is Y q + r, with r between 0 and Y: quotient and remainder are unique, so that what is to be
    shown is that g r lies between 0 and g Y.
    """
    g, x, y, q, r, product = integers("g X Y q r p")
    between = z3.Or(z3.And(r >= 0, r < y), z3.And(r <= 0, r > y))
    assumptions = [g > 0, between, product == y * q, x == product + r]
    scaled = z3.Or(z3.And(g * r >= 0, g * r < g * y), z3.And(g * r <= 0, g * r > g * y))
    facts = [z3.Implies(r < y, g * r < g * y), z3.Implies(r > y, g * r > g * y)]
    facts += [z3.Implies(r >= 0, g * r >= 0), z3.Implies(r <= 0, g * r <= 0)]
    assert counterexample(z3.And(g * x == g * product + g * r, scaled), assumptions + facts) is None
    low, high = integers("a b")
    assert counterexample(g * (high - low) > 0, [g > 0, high - low > 0]) is None  # the facts


def test_multiples_of_the_divisor():
    """(X D + S) div D = X + S div D, and mod is that of S: they differ by X D."""
    x, d, s, q, r, product = integers("X D S q r p")
    between = z3.Or(z3.And(r >= 0, r < d), z3.And(r <= 0, r > d))
    assumptions = [between, product == x * d, s == q * d + r]
    claim = z3.And(product + s == product + q * d + r, between)
    assert counterexample(claim, assumptions) is None
    assert counterexample(x * d + q * d == (x + q) * d, []) is None


def test_negative_divisor():
    """X div -d = -X div d, and X mod -d = -(-X mod d): both are quotient and remainder of one."""
    x, d, q, r = integers("X d q r")
    assumptions = [d > 0, -x == d * q + r, r >= 0, r < d]
    claim = z3.And(x == -d * q - r, -r <= 0, -r > -d)
    assert counterexample(claim, assumptions) is None


def test_one_quotient():
    """X mod Y = X - Q Y, where X div Y is Q."""
    x, y, q, r = integers("X Y q r")
    assert counterexample(r == x - q * y, [x == q * y + r]) is None


def test_long_division():
    """X div Y is Q, and X mod Y is X - Q Y, where that is from 0 to below Y: they are unique."""
    x, y, q, other, rest, product = integers("X Y Q q r p")
    assumptions = [y > 0, x == q * y + rest, rest >= 0, rest < y, product == (other - q) * y]
    # Another quotient leaves a remainder that is out of bounds.
    facts = [z3.Implies(other > q, product >= y), z3.Implies(other < q, product <= -y)]
    outside = z3.Or(rest - product < 0, rest - product >= y)
    assert counterexample(z3.Implies(other != q, outside), assumptions + facts) is None


def test_range_below_its_bound():
    """c r M <= c (B - 1) M, and -c r M <= 0, for 0 <= r < B, c > 0 and M >= 0."""
    c, r, bound, rest, product = integers("c r B M p")
    assumptions = [c > 0, r >= 0, r < bound, rest >= 0, product == c * rest]
    assert counterexample(product >= 0, assumptions) is None
    facts = [product >= 0, product * (bound - 1 - r) >= 0, product * r >= 0]
    assert counterexample(product * r <= product * (bound - 1), facts) is None
    assert counterexample(-product * r <= 0, facts) is None


@pytest.mark.parametrize("terms", [1, 2, 3])
def test_comparison_with_an_extreme(terms: int):
    """A sum of c y for y >= 0 is less than b, where b is at most every c, only if all y are 0; and
    it is more than e, where e is less than every c, only if some y is not."""
    factors, values = z3.Ints("c d e")[:terms], z3.Ints("x y z")[:terms]
    (bound,) = integers("b")
    products = list(z3.Ints("p q r"))[:terms]
    assumptions = [v >= 0 for v in values]
    for factor, value, product in zip(factors, values, products, strict=True):
        # c y is 0 for y = 0, and at least c for y >= 1.
        assumptions += [z3.Implies(value == 0, product == 0)]
        assumptions += [z3.Implies(value >= 1, product >= factor)]
    least = [z3.And(bound > 0, bound <= f) for f in factors]
    claim = (z3.Sum(products) < bound) == (z3.Sum(values) < 1)
    assert counterexample(claim, assumptions + least) is None
    greatest = [z3.And(bound >= 0, bound < f) for f in factors]
    claim = (z3.Sum(products) > bound) == (z3.Sum(values) >= 1)
    assert counterexample(claim, assumptions + greatest) is None
    factor, value = integers("factor value")
    fact = factor * value >= factor
    assert counterexample(fact, [factor > 0, value >= 1, factor * (value - 1) >= 0]) is None


def test_sum_under_a_condition():
    """k F + R >= R for F >= 0 and k > 0; and what bounds a from c a + r >= 0, for either sign."""
    k, f, rest, product = integers("k F R p")
    assert counterexample(product + rest >= rest, [k > 0, f >= 0, product >= 0]) is None
    assert counterexample(product >= 0, [k > 0, f >= 0, z3.Or(product == 0, product >= k)]) is None
    for c in (1, 2, 3, 7, -1, -2, -3, -7):
        a, r, greatest = integers("a r g")
        bound = a >= -(greatest / c) if c > 0 else a <= greatest / -c
        assert counterexample(bound, [c * a + r >= 0, r <= greatest]) is None


def test_cases_of_a_sum():
    """Of a sum of values that are not negative and is 1 or more, one is 1 or more."""
    a, b, c, p, q = integers("a b c p q")
    products = [z3.Implies(a == 0, p == 0), z3.Implies(b == 0, q == 0)]
    claim = z3.Or(a >= 1, b >= 1)
    assert counterexample(claim, [a >= 0, b >= 0, p + q >= c, c >= 1, *products]) is None


def test_choices_by_one_condition():
    """Sums of choices are choices of sums, under wrap."""
    for numbers in NARROW + WIDE:
        a, b, c, d = (numbers.variable(name) for name in "abcd")
        (p,) = z3.Bools("p")
        claim = z3.If(p, a, b) + z3.If(p, c, d) == z3.If(p, a + c, b + d)
        assert counterexample(claim, []) is None


def test_comparison_theorem():
    """`g T + k < 0` is `T < ceil(-k / g)`, where ceil(-k / g) = -(k div g)."""
    g, terms, k, quotient, remainder = integers("g T k q r")
    assumptions = [g > 0, k == g * quotient + remainder, remainder >= 0, remainder < g]
    claim = (g * terms + k < 0) == (terms < -quotient)
    assert counterexample(claim, assumptions) is None


def test_dropped_low_part():
    """`f Y + S < f q + r` is `Y < q` for r = 0, `Y < q + 1` where S < r always."""
    f, y, low, greatest, q, r = integers("f Y S s q r")
    assumptions = [f > 0, low >= 0, low <= greatest, greatest < f]
    compared = f * y + low < f * q + r
    assert counterexample(compared == (y < q), [*assumptions, r == 0]) is None
    bounded = [*assumptions, greatest < r, r < f]
    assert counterexample(compared == (y < q + 1), bounded) is None
    multiple = integers("multiple")[0]
    assert counterexample(f * multiple >= f, [f > 0, multiple >= 1]) is None
    product = [z3.Implies(y > q, f * y - f * q >= f), z3.Implies(y < q, f * q - f * y >= f)]
    assert counterexample(f * y + low != f * q + r, bounded + product) is None


def _product(left: str, right: str) -> Apply:
    return Apply("tg.mul", (AnyValue(left, Domain.INTEGER), AnyValue(right, Domain.INTEGER)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("numbers", NARROW, ids=str)
def test_recombination(numbers: Integers):
    """The identities of `recombination.py`, under wrap."""
    y, n, m = (numbers.variable(name) for name in "ynm")
    model = Translation(numbers, any_is_bool=False, values={"y": y, "n": n, "m": m})
    idiv, mod = (numbers.apply(op, y, n) for op in ("tg.idiv", "tg.mod"))
    assert counterexample(n * idiv + mod == y, [n != 0]) is None
    assert counterexample(y - n * idiv == mod, [n != 0]) is None
    inner = numbers.apply("tg.mod", idiv, m)
    claim = n * inner + mod == numbers.apply("tg.mod", y, n * m)
    zero = numbers.literal(0)
    fits = model._fits(
        Apply("tg.mul", (AnyValue("n", Domain.INTEGER), AnyValue("m", Domain.INTEGER)))
    )
    positive = [numbers.less(zero, n), numbers.less(zero, m), fits]
    assert counterexample(claim, [n != 0, n != -1, *positive[1:]]) is None
    c = numbers.variable("c")
    shifted = numbers.apply("tg.mod", idiv + c, m)
    sums = [
        Apply("tg.add", (AnyValue("y", Domain.INTEGER), _product("c", "n"))),
        Apply("tg.mul", (AnyValue("n", Domain.INTEGER), AnyValue("m", Domain.INTEGER))),
    ]
    model.values["c"] = c
    model.values["q"] = idiv
    sums.append(Apply("tg.add", (AnyValue("q", Domain.INTEGER), AnyValue("c", Domain.INTEGER))))
    fitting = [model._fits(term) for term in sums]
    claim = n * shifted + mod == numbers.apply("tg.mod", y + c * n, n * m)
    assert counterexample(claim, [n != 0, n != -1, *positive[1:], *fitting]) is None
    nested = numbers.apply("tg.idiv", idiv, m)
    assert counterexample(nested == numbers.apply("tg.idiv", y, n * m), positive) is None


@pytest.mark.sampled(3)
@pytest.mark.parametrize("n", range(2, 9))
def test_hermite(n: int):
    (y,) = integers("y")
    assert counterexample(z3.Sum([(y + i) / n for i in range(n)]) == y, []) is None
