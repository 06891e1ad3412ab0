"""The elementwise ops on z3 bit-vectors and floats, and the translation of rule terms into them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import z3

from tgdialect.ops.elementwise import OPS, CompareOp, Domain
from tgdialect.transforms.simplify.terms import (
    AnyConstant,
    AnyValue,
    Apply,
    Fits,
    Guard,
    Literal,
    Term,
)

Expr = Any
"""A z3 expression: z3's own classes are not generic."""


def floor_divide(a: Expr, b: Expr, *, signed: bool) -> Expr:
    """Floor division; x idiv 0 is 0."""
    if not signed:
        return z3.If(b == 0, b, z3.UDiv(a, b))
    quotient = a / b
    inexact = z3.And(z3.SRem(a, b) != 0, (a < 0) != (b < 0))
    return z3.If(b == 0, b, z3.If(inexact, quotient - 1, quotient))


def modulo(a: Expr, b: Expr, *, signed: bool) -> Expr:
    """The sign of the divisor; x mod 0 is 0."""
    return z3.If(b == 0, b, a % b if signed else z3.URem(a, b))


@dataclass(frozen=True)
class Integers:
    """Integers of a width, signed or not."""

    width: int
    signed: bool

    def variable(self, name: str) -> Expr:
        return z3.BitVec(name, self.width)

    def literal(self, value: float) -> Expr:
        return z3.BitVecVal(int(value), self.width)

    def same(self, a: Expr, b: Expr) -> Expr:
        return a == b

    def less(self, a: Expr, b: Expr) -> Expr:
        return a < b if self.signed else z3.ULT(a, b)

    def apply(self, op: str, a: Expr, b: Expr | None = None) -> Expr:
        """An op on one or two integers."""
        zero = z3.BitVecVal(0, self.width)
        too_far = None if b is None else z3.Or(self.less(b, zero), z3.UGE(b, self.width))
        rules: Mapping[str, Callable[[], Expr]] = {
            "tg.add": lambda: a + b,
            "tg.sub": lambda: a - b,
            "tg.mul": lambda: a * b,
            "tg.neg": lambda: -a,
            "tg.trunc": lambda: a,
            "tg.max": lambda: z3.If(self.less(a, b), b, a),
            "tg.idiv": lambda: floor_divide(a, b, signed=self.signed),
            "tg.mod": lambda: modulo(a, b, signed=self.signed),
            "tg.and": lambda: a & b,
            "tg.or": lambda: a | b,
            "tg.xor": lambda: a ^ b,
            "tg.shl": lambda: z3.If(too_far, zero, a << b),
            "tg.shr": lambda: z3.If(
                too_far,
                z3.If(self.less(a, zero), ~zero, zero),
                a >> b if self.signed else z3.LShR(a, b),
            ),
            "tg.cmplt": lambda: self.less(a, b),
            "tg.cmpgt": lambda: self.less(b, a),
            "tg.cmpge": lambda: z3.Not(self.less(a, b)),
            "tg.cmple": lambda: z3.Not(self.less(b, a)),
            "tg.cmpne": lambda: a != b,
            "tg.cmpeq": lambda: a == b,
        }
        return rules[op]()

    def widened(self, a: Expr, extra: int) -> Expr:
        return z3.SignExt(extra, a) if self.signed else z3.ZeroExt(extra, a)


@dataclass(frozen=True)
class Floats:
    """Half-precision floats: narrow enough to be quick, and with all the special values."""

    sort: Expr = field(default_factory=z3.Float16)

    def variable(self, name: str) -> Expr:
        return z3.FP(name, self.sort)

    def literal(self, value: float) -> Expr:
        return z3.FPVal(value, self.sort)

    def same(self, a: Expr, b: Expr) -> Expr:
        """Both NaN, or the same number with the same sign."""
        equal = z3.And(z3.fpEQ(a, b), z3.fpIsNegative(a) == z3.fpIsNegative(b))
        return z3.Or(z3.And(z3.fpIsNaN(a), z3.fpIsNaN(b)), equal)

    def apply(self, op: str, a: Expr, b: Expr | None = None) -> Expr:
        """An op on one or two floats."""
        nearest, nan = z3.RNE(), z3.fpNaN(self.sort)
        rules: Mapping[str, Callable[[], Expr]] = {
            "tg.add": lambda: z3.fpAdd(nearest, a, b),
            "tg.sub": lambda: z3.fpSub(nearest, a, b),
            "tg.mul": lambda: z3.fpMul(nearest, a, b),
            "tg.div": lambda: z3.fpDiv(nearest, a, b),
            "tg.neg": lambda: z3.fpNeg(a),
            "tg.trunc": lambda: z3.fpRoundToIntegral(z3.RTZ(), a),
            "tg.max": lambda: z3.If(
                z3.Or(z3.fpIsNaN(a), z3.fpIsNaN(b)),
                nan,
                z3.If(z3.Or(z3.fpLT(a, b), z3.And(z3.fpEQ(a, b), z3.fpIsNegative(a))), b, a),
            ),
            "tg.cmplt": lambda: z3.fpLT(a, b),
            "tg.cmpgt": lambda: z3.fpLT(b, a),
            "tg.cmpge": lambda: z3.Not(z3.fpLT(a, b)),
            "tg.cmple": lambda: z3.Not(z3.fpLT(b, a)),
            "tg.cmpne": lambda: z3.Not(z3.fpEQ(a, b)),
            "tg.cmpeq": lambda: z3.fpEQ(a, b),
        }
        return rules[op]()


Numbers = Integers | Floats

BOOL_OPS: Mapping[str, Callable[..., Expr]] = {
    "tg.and": z3.And,
    "tg.mul": z3.And,
    "tg.or": z3.Or,
    "tg.add": z3.Or,
    "tg.max": z3.Or,
    "tg.xor": z3.Xor,
    "tg.not": z3.Not,
    "tg.trunc": lambda a: a,
    "tg.cmpne": lambda a, b: a != b,
    "tg.cmpeq": lambda a, b: a == b,
    "tg.cmplt": lambda a, b: z3.And(z3.Not(a), b),
    "tg.cmpgt": lambda a, b: z3.And(a, z3.Not(b)),
    "tg.cmpge": lambda a, b: z3.Or(a, z3.Not(b)),
    "tg.cmple": lambda a, b: z3.Or(z3.Not(a), b),
}


@dataclass
class Translation:
    """Terms of one rule, its variables of sorts ANY and BITS being bools or numbers."""

    numbers: Numbers
    any_is_bool: bool
    values: dict[str, Expr] = field(default_factory=dict)
    valid: dict[str, Expr] = field(default_factory=dict)

    def value(self, term: Term, *, boolean: bool) -> Expr:
        """A term as an expression; `boolean` is what the context wants of a literal."""
        match term:
            case AnyValue(name=name):
                return self._named(name, is_bool(term, any_is_bool=self.any_is_bool))
            case AnyConstant(name=name):
                return self._named(name, boolean=False)
            case Literal(value=value):
                if boolean:
                    return z3.BoolVal(value != 0)
                return self.numbers.literal(value)
            case Apply(op="tg.where", operands=(condition, a, b)):
                return z3.If(
                    self.value(condition, boolean=True),
                    self.value(a, boolean=boolean),
                    self.value(b, boolean=boolean),
                )
            case Apply(op=op, operands=operands):
                inner = boolean
                if issubclass(OPS[op], CompareOp):
                    inner = any(is_bool(o, any_is_bool=self.any_is_bool) for o in operands)
                values = [self.value(o, boolean=inner) for o in operands]
                return BOOL_OPS[op](*values) if inner else self.numbers.apply(op, *values)
            case _:
                raise TypeError(term)

    def _named(self, name: str, boolean: bool) -> Expr:
        if name not in self.values:
            self.values[name] = z3.Bool(name) if boolean else self.numbers.variable(name)
        return self.values[name]

    def guard(self, guard: Guard) -> Expr:
        """A guard as an assumption about the values: weaker than that intervals prove it."""
        if isinstance(guard, Fits):
            return self._fits(guard.term)
        return self.value(guard, boolean=True)

    def _fits(self, term: Term) -> Expr:
        """No op in a term wraps: doing it in twice the bits gives the same."""
        if not isinstance(term, Apply):
            return z3.BoolVal(True)
        assert isinstance(self.numbers, Integers)
        width = self.numbers.width
        wide = Integers(2 * width, self.numbers.signed)
        values = [self.value(o, boolean=False) for o in term.operands]
        widened = [self.numbers.widened(v, width) for v in values]
        narrow = self.numbers.widened(self.numbers.apply(term.op, *values), width)
        same = narrow == wide.apply(term.op, *widened)
        if term.op == "tg.shl":
            same = z3.And(same, z3.ULT(values[1], width))
        return z3.And(same, *(self._fits(o) for o in term.operands))

    def is_valid(self, term: Term) -> Expr:
        """Whether a cell is valid: elementwise ops need all operands, WHERE the branch it takes."""
        match term:
            case AnyValue(name=name):
                return self.valid.setdefault(name, z3.Bool(f"{name} is valid"))
            case Apply(op="tg.where", operands=(condition, a, b)):
                branch = z3.If(
                    self.value(condition, boolean=True), self.is_valid(a), self.is_valid(b)
                )
                return z3.And(self.is_valid(condition), branch)
            case Apply(operands=operands):
                return z3.And(*(self.is_valid(o) for o in operands))
            case _:
                return z3.BoolVal(True)


def is_bool(term: Term, *, any_is_bool: bool) -> bool:
    """Whether a term is a bool; a literal may be, but says nothing."""
    match term:
        case AnyValue(sort=sort):
            return sort is Domain.BOOL or (sort in (Domain.ANY, Domain.BITS) and any_is_bool)
        case Apply(op="tg.where", operands=(_, a, b)):
            return any(is_bool(t, any_is_bool=any_is_bool) for t in (a, b))
        case Apply(op=op, operands=operands):
            if op == "tg.not" or issubclass(OPS[op], CompareOp):
                return True
            return any(is_bool(t, any_is_bool=any_is_bool) for t in operands)
        case _:
            return False


def counterexample(claim: Expr, assumptions: list[Expr]) -> str | None:
    """A model in which the assumptions hold and the claim does not; None if there is none."""
    solver = z3.Solver()
    solver.set("timeout", 600_000)
    solver.add(*assumptions, z3.Not(claim))
    match solver.check():
        case z3.unsat:
            return None
        case z3.sat:
            return str(solver.model())
        case _:
            return "z3 does not know"
