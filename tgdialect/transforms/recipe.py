"""The language that numerical recipes are written in: values with operators, over any semantics.

A recipe is a Python function on `RecipeValue`s that does nothing but apply primitives: their
methods. A `Semantics` says what a primitive does: that of `tg-decompose` builds tg ops, that of the
tests computes with NumPy arrays. The tests thus measure the accuracy of the code that is compiled.

Every primitive is one tg op of that name, on whole values of any shape; constants have shape ()
and broadcast. Arithmetic is IEEE 754 in the value's dtype, rounded to nearest even after every
step, except that `mulacc` may round once or twice: recipes hold their accuracy either way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar

from tgdialect.ops.operators import Operators

V = TypeVar("V")

IntegerDtype = Literal["i1", "index", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"]
FloatDtype = Literal["f8E4M3FN", "f8E5M2", "f16", "bf16", "f32", "f64"]
Dtype = IntegerDtype | FloatDtype
"""The dtypes of the dialect, by their MLIR names."""


class Semantics(Protocol[V]):
    """The primitives of a recipe on handles of type V: they build ops, or compute."""

    def constant(self, value: int | float, dtype: Dtype) -> V:
        """A scalar; integers are already in the range of `dtype`."""
        ...

    def apply(self, primitive: str, operands: tuple[V, ...], dtype: Dtype) -> V:
        """The primitive on the operands; `dtype` is the result's."""
        ...


@dataclass(frozen=True, eq=False, slots=True)
class RecipeValue(Operators["RecipeValue[V] | int | float", "RecipeValue[V]"], Generic[V]):
    """A handle of a semantics, with operators.

    Python numbers on the other side of an operator are constants of this value's dtype.
    """

    semantics: Semantics[V]
    handle: V
    dtype: Dtype

    def constant(self, value: int | float, dtype: Dtype | None = None) -> RecipeValue[V]:
        """A constant of the same semantics; its dtype is this value's unless given."""
        dtype = dtype or self.dtype
        return RecipeValue(self.semantics, self.semantics.constant(value, dtype), dtype)

    def lifted(self, other: Operand[V]) -> RecipeValue[V]:
        """A value; of a number a constant of this value's dtype."""
        return other if isinstance(other, RecipeValue) else self.constant(other)

    def applied(self, op: str, *others: Operand[V], dtype: Dtype | None = None) -> RecipeValue[V]:
        """A primitive, whose result has this value's dtype unless another one is given."""
        dtype = dtype or ("i1" if op.startswith("cmp") else self.dtype)
        handles = (self.handle, *(self.lifted(other).handle for other in others))
        return RecipeValue(self.semantics, self.semantics.apply(op, handles, dtype), dtype)

    def __rsub__(self, other: int | float) -> RecipeValue[V]:
        return self.constant(other) - self

    def __gt__(self, other: Operand[V]) -> RecipeValue[V]:
        return self.lifted(other) < self

    def mulacc(self, factor: Operand[V], addend: Operand[V]) -> RecipeValue[V]:
        """self * factor + addend, the product rounded or not."""
        return self.applied("mulacc", factor, addend)

    def recip(self) -> RecipeValue[V]:
        return self.applied("recip")

    def trunc(self) -> RecipeValue[V]:
        return self.applied("trunc")

    def cast(self, dtype: Dtype) -> RecipeValue[V]:
        return self.applied("cast", dtype=dtype) if dtype != self.dtype else self

    def bitcast(self, dtype: Dtype) -> RecipeValue[V]:
        return self.applied("bitcast", dtype=dtype)

    def where(self, yes: RecipeValue[V], no: Operand[V]) -> RecipeValue[V]:
        """`yes` where this bool holds, else `no`."""
        return self.applied("where", yes, yes.lifted(no), dtype=yes.dtype)


Operand = RecipeValue[V] | int | float
Pair = tuple[RecipeValue[V], RecipeValue[V]]
"""Two values: of a sum of two floats, a float and what it lacks."""
Triple = tuple[RecipeValue[V], RecipeValue[V], RecipeValue[V]]
"""Three values: of a sum of three floats, the greatest first."""


def horner(x: RecipeValue[V], coefficients: tuple[float, ...]) -> RecipeValue[V]:
    """The polynomial with these coefficients, lowest degree first; at least two of them."""
    *rest, last_but_one, last = coefficients
    result = x.mulacc(last, last_but_one)
    for coefficient in reversed(rest):
        result = result.mulacc(x, coefficient)
    return result


def by_pairs(x: RecipeValue[V], coefficients: tuple[float, ...]) -> RecipeValue[V]:
    """The polynomial of `horner`, as one in x * x whose coefficients are linear in x (Estrin 1960).
    Where that product is needed anyway, it takes as many operations, and fewer of them wait for
    each other."""
    square = x * x
    pairs = zip(coefficients[::2], coefficients[1::2], strict=False)
    terms = [x.mulacc(slope, constant) for constant, slope in pairs]
    if len(coefficients) % 2:
        terms.append(x.constant(coefficients[-1]))
    result = terms.pop()
    for term in reversed(terms):
        result = square.mulacc(result, term)
    return result
