"""The language of rewrite rules: terms over variables, and rules between terms.

A rule says `pattern -> result`, provided that intervals prove the guards in `when`. A rule is data:
`matching.py` matches its pattern against IR and builds its result. The tests translate the same
object to bit-vectors, for which z3 proves the rule on wrapping signed and unsigned integers.

    x, y = variables("x y")
    Rule("mod of less", x % y, x, when=(lit(0) <= x, x < y))
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

from tgdialect.ops.elementwise import COMMUTATIVE, COMPARISONS, Domain
from tgdialect.ops.operators import Operators


class Term(Operators["Operand", "Apply"]):
    """A term of a rule. Python's operators build tg ops."""

    __slots__ = ()

    def applied(self, op: str, *others: Operand) -> Apply:
        return apply(f"tg.{op}", self, *others)


Operand = Term | int | float


@dataclass(frozen=True, slots=True, eq=False)
class AnyValue(Term):
    """A variable that matches any value of a sort."""

    name: str
    sort: Domain


@dataclass(frozen=True, slots=True, eq=False)
class AnyConstant(Term):
    """A variable that matches any integer constant."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Literal(Term):
    """A fixed constant. In an integer dtype it is this number wrapped (-1 has all bits set)."""

    value: int | float


@dataclass(frozen=True, slots=True, eq=False)
class Apply(Term):
    """An elementwise op applied to terms."""

    op: str
    operands: tuple[Term, ...]


lit = Literal


def term(value: Operand) -> Term:
    return value if isinstance(value, Term) else Literal(value)


def apply(op: str, *operands: Operand) -> Apply:
    return Apply(op, tuple(term(o) for o in operands))


def where(condition: Term, a: Operand, b: Operand) -> Apply:
    return apply("tg.where", condition, a, b)


def maximum(a: Operand, b: Operand) -> Apply:
    return apply("tg.max", a, b)


def variables(names: str, sort: Domain = Domain.INTEGER) -> Iterator[AnyValue]:
    """Variables with these names, as in `x, y = variables("x y")`."""
    return (AnyValue(name, sort) for name in names.split())


def constants(names: str) -> Iterator[AnyConstant]:
    return (AnyConstant(name) for name in names.split())


@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """The guard that no op of a term wraps in the dtype in which it is computed."""

    term: Term


Guard = Apply | Fits
"""A condition of a rule: a bool term that intervals prove, or a term that must not wrap."""


@dataclass(frozen=True, eq=False)
class Rule:
    """A rewrite `pattern -> result`, which applies where all guards in `when` are proven."""

    name: str
    pattern: Apply
    result: Term
    when: Sequence[Guard] = field(default=())

    @cached_property
    def variants(self) -> tuple[Apply, ...]:
        """The pattern with commutative operands in every order; constants stay on the right."""
        return tuple(v for v in _variants(self.pattern) if isinstance(v, Apply))

    @cached_property
    def gives_bool(self) -> bool:
        """Whether the result is always a bool. The rule then applies only to bool ops."""
        return _is_bool(self.result)

    @cached_property
    def drops(self) -> bool:
        """Whether the result lacks a variable of the pattern, and with it perhaps a RANGE."""
        return not _names(self.pattern) <= _names(self.result)

    @cached_property
    def needs_valid(self) -> frozenset[str]:
        """The variables that must not have invalid cells for both sides to be equal.

        An elementwise op on an invalid cell is invalid. A WHERE is invalid only if its condition or
        the branch that it takes is. So a variable may have invalid cells if both sides read it in
        the same cases.
        """
        before, after = reads(self.pattern), reads(self.result)
        names = {*before, *after}
        return frozenset(name for name in names if before.get(name) != after.get(name))


def _variants(pattern: Term) -> list[Term]:
    if not isinstance(pattern, Apply):
        return [pattern]
    result: list[Term] = []
    for operands in product(*map(_variants, pattern.operands)):
        result.append(Apply(pattern.op, operands))
        if pattern.op in COMMUTATIVE and not isinstance(operands[1], Literal | AnyConstant):
            result.append(Apply(pattern.op, operands[::-1]))
    return result


def subterms(term: Term) -> Iterator[Term]:
    """A term, and all terms in it."""
    yield term
    if isinstance(term, Apply):
        for operand in term.operands:
            yield from subterms(operand)


def _names(term: Term) -> set[str]:
    """The names of the variables of a term, read or not."""
    return {each.name for each in subterms(term) if isinstance(each, AnyValue | AnyConstant)}


def _is_bool(term: Term) -> bool:
    match term:
        case AnyValue(sort=sort):
            return sort is Domain.BOOL
        case Apply(op=op, operands=operands):
            return op in _GIVES_BOOL or (op in _KEEPS_BOOL and all(map(_is_bool, operands)))
        case _:
            return False


_GIVES_BOOL = COMPARISONS | {"tg.not"}
"""Ops whose result is a bool."""
_KEEPS_BOOL = frozenset({"tg.and", "tg.or", "tg.xor"})
"""Ops whose result is a bool if their operands are bools."""

Case = frozenset[tuple[str, bool]]
"""The outcomes of WHERE conditions under which a variable is read. The empty case means always."""


def reads(term: Term, case: Case = frozenset()) -> Mapping[str, frozenset[Case]]:
    """The cases in which each variable of a term is read. A variable that is never read is absent.

    Cases distinguish the outcomes of a condition only if the condition is a variable, or the
    negation of one. Any other condition gets a name of its own.
    """
    match term:
        case AnyValue(name=name):
            return {name: frozenset({case})}
        case Apply(op="tg.where", operands=(Literal(value=value), a, b)):
            return reads(a if value else b, case)
        case Apply(op="tg.where", operands=(condition, a, b)):
            name, value = _condition(condition)
            parts = [reads(condition, case)]
            if dict(case).get(name, value) == value:
                parts.append(reads(a, case | {(name, value)}))
            if dict(case).get(name, not value) != value:
                parts.append(reads(b, case | {(name, not value)}))
            return _merge(parts)
        case Apply(operands=operands):
            return _merge([reads(operand, case) for operand in operands])
        case _:
            return {}


def _condition(term: Term) -> tuple[str, bool]:
    """The name of a WHERE's condition, and its value where the WHERE takes its first branch."""
    match term:
        case AnyValue(name=name):
            return name, True
        case Apply(op="tg.not", operands=(AnyValue(name=name),)):
            return name, False
        case _:
            return f"condition {id(term)}", True


def _merge(parts: Sequence[Mapping[str, frozenset[Case]]]) -> Mapping[str, frozenset[Case]]:
    """The cases in which at least one of several terms reads each variable."""
    result: dict[str, frozenset[Case]] = {}
    for part in parts:
        for name, cases in part.items():
            result[name] = _union(result.get(name, frozenset()) | cases)
    return result


def _union(cases: frozenset[Case]) -> frozenset[Case]:
    """Reduce a set of cases to a normal form.

    A case that implies another one is dropped. Two cases that differ only in the outcome of one
    condition become one case without that condition.
    """
    for case in cases:
        if any(case > other for other in cases):
            return _union(cases - {case})
        for name, value in case:
            opposite = case - {(name, value)} | {(name, not value)}
            if opposite in cases:
                return _union(cases - {case, opposite} | {case - {(name, value)}})
    return cases
