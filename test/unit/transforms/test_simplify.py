"""`tg-simplify` on random programs, and on the expressions that index arithmetic is made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from integer_programs import Program, outputs, programs
from random_seeds import searched
from xdsl.dialects import test
from xdsl.ir import Block, Operation, SSAValue

from tgdialect.ops.dtypes import BOOL, INDEX
from tgdialect.ops.elementwise import CastOp
from tgdialect.ops.properties import number, tensor_type
from tgdialect.ops.source import ConstOp, ParamOp
from tgdialect.transforms.simplify import HANDLERS, engine, simplify
from tgdialect.transforms.simplify.matching import OPS
from tgdialect.transforms.simplify.reductions import repeat_reduction


@searched(800, programs())
def test_values_stay(program: Program):
    before = [outputs(program.block, a) for a in program.arguments]
    text = str(program.module)
    simplify(program.module)
    program.module.verify()
    after = [outputs(program.block, a) for a in program.arguments]
    assert before == after, f"{text}\n{program.module}\n{program.arguments}"


@searched(150, programs())
def test_the_second_time_changes_nothing(program: Program):
    simplify(program.module)
    once = str(program.module)
    assert not simplify(program.module)
    assert str(program.module) == once


@searched(150, programs())
def test_rewriting_ends_by_itself(program: Program):
    """No rewrite depends on the limit of the depth to end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "MAX_DEPTH", 10**9)
        simplify(program.module)


# -- expressions ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Expression:
    """An index or bool value in a block, with Python's operators."""

    value: SSAValue
    block: Block

    def apply(self, op: str, *others: Expression | int) -> Expression:
        values = [self.value]
        for other in others:
            if isinstance(other, Expression):
                values.append(other.value)
            else:
                dtype = BOOL if isinstance(other, bool) else INDEX
                values.append(self._insert(ConstOp(int(other), dtype)))
        return Expression(self._insert(OPS[f"tg.{op}"](*values)), self.block)

    def _insert(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def as_index(self) -> Expression:
        return Expression(self._insert(CastOp(self.value, INDEX)), self.block)

    def __add__(self, other: Expression | int) -> Expression:
        return self.apply("add", other)

    def __sub__(self, other: Expression | int) -> Expression:
        return self.apply("sub", other)

    def __mul__(self, other: Expression | int) -> Expression:
        return self.apply("mul", other)

    def __floordiv__(self, other: Expression | int) -> Expression:
        return self.apply("idiv", other)

    def __mod__(self, other: Expression | int) -> Expression:
        return self.apply("mod", other)

    def __and__(self, other: Expression | int) -> Expression:
        return self.apply("and", other)

    def __or__(self, other: Expression | int) -> Expression:
        return self.apply("or", other)

    def __lt__(self, other: Expression | int) -> Expression:
        return self.apply("cmplt", other)

    def __ge__(self, other: Expression | int) -> Expression:
        return self.apply("cmpge", other)

    def __neg__(self) -> Expression:
        return self.apply("neg")

    def __invert__(self) -> Expression:
        return self.apply("not")


SYMBOLS = {
    **{"add": "+", "mul": "*", "idiv": "//", "mod": "%", "and": "&", "or": "|"},
    **{"cmplt": "<", "cmpne": "!=", "cmpeq": "=="},
}


def show(value: SSAValue) -> str:
    """A value as the expression it is."""
    owner = value.owner
    assert isinstance(owner, Operation)
    if isinstance(owner, ConstOp):
        return str(number(owner.value))
    if isinstance(owner, ParamOp):
        return str(value.name_hint)
    name = owner.name.removeprefix("tg.")
    operands = [show(o) for o in owner.operands]
    if (symbol := SYMBOLS.get(name)) is not None:
        return f"({symbol.join(operands)})"
    return f"{name}({', '.join(operands)})"


BOUNDS = {
    "a": (0, 80),
    "b": (0, 3),
    "c": (0, 2),
    "n": (4, 9),
    "m": (1, 7),
    "k": (10, 11),
    "h": (6, 9),
    "s": (-50, 50),
    "t": (0, 1),
}
"""The parameters of the expressions below; p is a bool."""


def simplified(function: Callable[..., Expression]) -> str:
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    block = Block()
    arguments: list[Expression] = []
    for slot, name in enumerate(names):
        if name == "p":
            param = ParamOp(slot, tensor_type(BOOL))
        else:
            low, high = BOUNDS[name]
            param = ParamOp(slot, tensor_type(INDEX), min=low, max=high)
        param.result.name_hint = name
        block.add_op(param)
        arguments.append(Expression(param.result, block))
    use = test.TestOp(operands=[function(*arguments).value])
    block.add_op(use)
    engine.Engine(HANDLERS, repeat_reduction).run(block)
    return show(use.operands[0])


def where(condition: Expression, a: Expression | int, b: Expression | int) -> Expression:
    return condition.apply("where", a, b)


Case = tuple[Callable[..., Any], str]

SUMS: list[Case] = [
    (lambda a: a * 2 + a * 3, "(a*5)"),
    (lambda a: a + a, "(a*2)"),
    (lambda a: (a + 1) + 1, "(a+2)"),
    (lambda a: a * 3 * 4, "(a*12)"),
    (lambda a, b: a + b - a, "b"),
    (lambda a, b: a * (b * 0), "0"),
    (lambda a, b: a * 3 + b * 3, "((a+b)*3)"),
    (lambda a, b: (a + 3) + b, "((a+b)+3)"),
    (lambda s: s // 4 * 4 + s % 4, "s"),
    (lambda s: s % 4 + s // 4 * 4, "s"),
    (lambda a: a // 4 % 8 * 4 + a % 4, "(a%32)"),
    (lambda s: s + s // 4 * -4, "(s%4)"),
    (lambda a: a // 4 + (a + 1) // 4 + (a + 2) // 4 + (a + 3) // 4, "a"),
    (lambda a: a.apply("shl", 2).apply("shr", 1), "(a*2)"),
    (lambda a: a // 3 % 7 * 3 + a // 21 * 21, "((a//3)*3)"),
    (lambda a: a // 2 % 4 + a // 8 * 4, "(a//2)"),
    (lambda a: (a // 3 + 1) % 4 + (a + 3) // 12 * 4, "((a//3)+1)"),
    (lambda a: a % 3 + (a // 3 + 2) % 5 * 3, "((a+6)%15)"),
]
DIVISIONS: list[Case] = [
    (lambda s: s * 3 // 3, "s"),
    (lambda s: s * 6 // 3, "(s*2)"),
    (lambda s: s * 6 % 3, "0"),
    (lambda a, b: (a * 4 + b) // 4, "a"),
    (lambda a, b: (a * 4 + b) % 4, "b"),
    (lambda a, b: (a * 4 + b * 8) // 4, "(a+(b*2))"),
    (lambda a: (a * 4 + 8) // 4, "(a+2)"),
    (lambda a: (a * 2 + 1) // 2, "a"),
    (lambda a: (a * 10 + 5) // 5 % 2, "1"),
    (lambda a: (a + 5) // 4, "(((a+1)//4)+1)"),
    (lambda a: a // 4 // 5, "(a//20)"),
    (lambda a: a % 12 % 4, "(a%4)"),
    (lambda a: a % 8 // 4, "((a//4)%2)"),
    (lambda a, b: (a % 8 + b) % 4, "((a+b)%4)"),
    (lambda a, b: (a * 8 + b * 3) // 4, "((a*2)+((b*3)//4))"),
    (lambda a, b: (a * 8 + b * 3) % 4, "((b*3)%4)"),
    (lambda a, b: (a * 4 + b) // 8, "(a//2)"),
    (lambda a, b: (a * 4 + b) % 8, "(((a%2)*4)+b)"),
    (lambda a, b, c: (a * 12 + c * 4 + b) // 4 % 3, "c"),
    (lambda a, b, c: (a * 12 + c * 4 + b) // 12, "a"),
    (lambda a, b, c: (a * 12 + c * 4 + b) % 12, "(b+(c*4))"),
    (lambda a, n: a * n // n, "a"),
    (lambda a, b, n: (a * n + b) // n, "a"),
    (lambda a, b, n: (a * n + b) % n, "b"),
    (lambda b, n: b % n, "b"),
    (lambda a: a.apply("and", 7), "(a%8)"),
    (lambda b: (b * 3 + 3) % 4, "((b*-1)+3)"),
    (lambda c: (c * 13 + 17) % 18, "((c*-5)+17)"),
    (lambda t: (t + 3) // 4, "t"),
    (lambda t: (t * 17 + 17) // 18, "t"),
    (lambda t: (t * 5 + 2) % 6, "((t*-1)+2)"),
    (lambda a, n: (a * 6 + 9) // (n * 3), "(((a*2)+3)//n)"),
    (lambda a, n: (a * 6) % (n * 3), "(((a*2)%n)*3)"),
    (lambda a, s, n: (s * n + a) // n, "(s+(a//n))"),
    (lambda a, s, n: (s * n + a) % n, "(a%n)"),
    (lambda s: s // -2 // 3, "(s//-6)"),
    (lambda s: (s // -2 + 1) // 3, "((s+-2)//-6)"),
    (lambda a: -a // -4, "(a//4)"),
    (lambda a: -a % -4, "((a%4)*-1)"),
    (lambda a, c: (a * -8 - c) // -2, "((a*4)+(c//2))"),
    (lambda s: s % -3 + s // -3 % 5 * -3, "(s%-15)"),
    (lambda a, n: (a + (a * 5 + n) // 10) * 2 + (a + n // 5) % 2, "((a*3)+(n//5))"),
    (lambda a, c, n: (a * n * 3 + c * n * 9) // (n * 3), "(a+(c*3))"),
    (lambda a, n, m: (a * m * n) // (n * m), "a"),
    (lambda a, s, n: (s * n * 8 + a) // (n * 4), "((s*2)+(a//(n*4)))"),
    (lambda k, h: k % h, "(k+(h*-1))"),
    (lambda a, b, n: (a * 4 + b) // (n * 4), "(a//n)"),
    (lambda a, b, n: (a * 4 + b) % (n * 4), "(b+((a%n)*4))"),
]
CHOICES: list[Case] = [
    (lambda p, a, b, c: where(p, where(p, a, b) * 2, c), "where(p, (a*2), c)"),
    (lambda p, a, b, c: where(p, c, where(p, a, b) * 2), "where(p, c, (b*2))"),
    (lambda a, b, c: where(a < 5, where(a >= 5, b, c) * 2, a), "where((a<5), (c*2), a)"),
    (lambda a, b, c: where(a < 5, a, where(a >= 4, b, c) * 2), "where((a<5), a, (b*2))"),
    (lambda p, a, b: where(p & (a < 5), where(a < 9, b, 7) + 1, 0), "where((p&(a<5)), (b+1), 0)"),
    (lambda p, a, b: where(p, a, 0) + where(p, b, 1), "where(p, (a+b), 1)"),
    (lambda p, a, b: where(p, a, 0) + where(p, 0, b), "where(p, a, b)"),
    (lambda p, a: where(p, a, 0) + where(p, 0, a), "a"),
    (lambda p, a, b: where(p, a, 0).apply("max", where(p, b, 1)), "where(p, max(a, b), 1)"),
    (lambda p: p.as_index().apply("cmpne", 0), "p"),
    (lambda p: p.as_index() < 1, "not(p)"),
]
ASSUMPTIONS: list[Case] = [
    (lambda a, b: where(a < 8, a % 8 + b, 7), "where((a<8), (a+b), 7)"),
    (lambda a, b: where(a < 8, b, a // 8 * 8 + a % 8), "where((a<8), b, a)"),
    (lambda a, b: where(a >= 72, (a + 8) // 16, b), "where((71<a), 5, b)"),
    (lambda b, c: where(b + c >= 1, (b + c + 29) // 30, 7), "where((0<(b+c)), 1, 7)"),
    (
        lambda b, c: where(b * 8 + c >= 1, (b + (c + 7) // 8 + 31) // 32, 7),
        "where((0<(b+c)), 1, 7)",
    ),
    (lambda a, b: where(b >= 1, (a * 4 + b - 1) // 4, 7), "where((0<b), a, 7)"),
    (lambda a, b: where(b >= 1, (a * 4 + b - 1) % 4, 7), "where((0<b), (b+-1), 7)"),
    (lambda a, b: where(a * 4 + b < 8, 3, (a * 4 + b) // 8 + 1), "where((a<2), 3, ((a//2)+1))"),
    (lambda a, b: where(a + b < 9, (a + b).apply("max", 9), b), "where(((a+b)<9), 9, b)"),
    (lambda a, b: where((a >= 40) & (a < 48), a // 8 * b, 1), "where(((39<a)&(a<48)), (b*5), 1)"),
    (lambda a: (a < 3) & ((a + 11) % 14 < 11), "0"),
    (lambda a: ((a + 11) % 14 < 11) & (a < 3), "0"),
    (lambda a: (a >= 3) | ((a + 11) % 14 < 11), "(2<a)"),
    (
        lambda a, b, c: (a * 3 + b < 8) & (((a * 3 + b) // 8 + c) % 4 < 2),
        "((((a*3)+b)<8)&(c<2))",
    ),
]
COMPARISONS: list[Case] = [
    (lambda a: a < 81, "1"),
    (lambda a: a < 0, "0"),
    (lambda a: a * 4 < 10, "(a<3)"),
    (lambda a: a + 3 < 10, "(a<7)"),
    (lambda a: -a < -3, "(3<a)"),
    (lambda a, b: a * 4 + b < 12, "(a<3)"),
    (lambda a, b: a * 4 + b < 13, "(((a*4)+b)<13)"),
    (lambda a, b: a + 5 < b + 5, "(a<b)"),
    (lambda a, b: a + b < a, "0"),
    (lambda s: s // 4 < 3, "(s<12)"),
    (lambda s: (s + -2) // 4 < 2, "(s<10)"),
    (lambda s: s // -4 < -3, "(12<s)"),
    (lambda s: (s // 5).apply("cmplt", 0), "(s<0)"),
    (lambda s: s // 4 >= 3, "(11<s)"),
    (lambda s: (s < 10) | (s >= 9), "1"),
    (lambda s: (s < 0).apply("where", 0, s), "max(s, 0)"),
    (lambda s: s.apply("max", 10).apply("max", 11), "max(s, 11)"),
    (lambda a: (a + 4).apply("cmpne", 6), "(a!=2)"),
    (lambda a: (a * 4).apply("cmpne", 6), "1"),
    (lambda a: (a * 4).apply("cmpeq", 8), "(a==2)"),
    (lambda a: a >= 5, "(4<a)"),
    (lambda a: ~(a < 5), "(4<a)"),
    (lambda a: (a < 5) & (a < 7), "(a<5)"),
    (lambda a: (a < 5) | (a < 7), "(a<7)"),
    (lambda a: (a < 5) & (a >= 5), "0"),
    (lambda a, n: a.apply("max", n * 100), "(n*100)"),
    (lambda a: (a < 5).apply("where", 1, 0).apply("cmpne", 0), "(a<5)"),
    (lambda a: (a < 5).apply("where", 3, 7) + 4, "where((a<5), 7, 11)"),
    (lambda a, b: (a < 5).apply("where", 1, 0) * b, "where((a<5), b, 0)"),
    (lambda a, b, c: (a * 3 + b * 4).apply("cmpgt", 0), "(0<(a+b))"),
    (lambda a, b: a * 3 + b * 4 < 3, "((a+b)<1)"),
    (lambda b, c: b * 3 + c * 2 >= 12, "(4<(b+c))"),
]


@pytest.mark.parametrize(
    ("function", "expected"), SUMS + DIVISIONS + CHOICES + ASSUMPTIONS + COMPARISONS
)
def test_expression(function: Callable[..., Expression], expected: str):
    assert simplified(function) == expected
