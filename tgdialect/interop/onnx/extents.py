"""Sizes of a model's inputs: their names and bounds, and what extents have to have in common.

Networks of several scales add what is halved and doubled again to what is not. This fits only if
the size is a multiple of a power of two, which no file says. Where extents do not agree, the
importer looks for a divisor with which they do, and asks whether the size is a multiple of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, zip_longest
from operator import add, mul
from typing import Any, cast

import numpy as np

from tgdialect.frontend.lowered import Spec, spec
from tgdialect.frontend.symbolic import (
    Atom,
    Dim,
    Factor,
    SymInt,
    Variable,
    atoms_of,
    larger,
    value_of,
)
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx.values import (
    Answers,
    Asked,
    Question,
    Undecided,
    Value,
)
from tgdialect.ops.affine import monomials

_DIVISORS = (2, 4, 8, 16, 32, 64, 128)
"""The divisors that are tried, the least first. Networks halve an axis at most so often."""


def sized(inputs: Mapping[str, Spec], answers: Answers) -> dict[str, Spec]:
    """The inputs of a model with what is known of their sizes."""
    fixed = {q.name: a for q, a in answers.items() if q.kind is Asked.SIZE}
    divisors: dict[str, int] = {}
    for question, answer in answers.items():
        if question.kind is Asked.MULTIPLE and answer:
            divisors[question.name] = max(divisors.get(question.name, 1), question.ordinal)

    def extent(dim: Dim | str, of: Spec) -> Dim | str:
        if not isinstance(dim, str):
            return dim
        if dim in fixed:
            return fixed[dim]
        by = divisors.get(dim, 1)
        low, high = of.bounds[dim]
        name = dim if by == 1 else f"{dim}{_OVER}{by}"
        return by * SymInt.of(Atom(Variable(name, -(-low // by), high // by), None))

    return {
        name: spec([extent(d, each) for d in each.shape], each.dtype)
        for name, each in inputs.items()
    }


def answer(
    question: Question, inputs: Mapping[str, Spec], shapes: Mapping[str, Sequence[int]]
) -> int:
    """The answer to a question on sizes, for inputs of some shapes."""
    sizes = {
        dim: extent
        for name, of in inputs.items()
        for dim, extent in zip(of.shape, shapes[name], strict=True)
        if isinstance(dim, str)
    }
    if question.kind is Asked.MULTIPLE:
        return sizes[question.name] % question.ordinal == 0
    if question.kind is Asked.SIZE:
        return sizes[question.name]
    assert question.size is not None

    def value(atom: Atom) -> int:
        name, by = _origin(atom)
        return sizes[name] // by

    atoms = {a: Atom(a.variable, value(a)) for a in question.size.atoms}
    found = value_of(question.size.substituted(atoms))
    return (found > 0) - (found < 0)


_OVER = "_over_"
"""Stands between the name of a size and its divisor in the name of the quotient."""


def _origin(atom: Atom) -> tuple[str, int]:
    """The size of the inputs that a variable is a part of, and the divisor."""
    name, _, by = atom.variable.name.partition(_OVER)
    return name, int(by or 1)


def check_extents(op_type: str, operands: Sequence[Value], answers: Answers) -> None:
    """Raise Undecided if the operands of a node, which does not take them, may have extents that
    agree."""
    pairs = list(_different(operands))
    asked: dict[str, Question] = {}
    for pair in pairs:
        question = next((q for q in _multiples(*pair) if q not in answers), None)
        if question is not None:
            asked.setdefault(question.name, question)
    if asked:
        raise Undecided(*asked.values())
    left = [d for pair in pairs for d in pair]
    if op_type == "Reshape" and isinstance(operands[1], np.ndarray):
        assert isinstance(operands[0], Tensor | np.ndarray)
        old = operands[0].shape  # An extent of 0 stands for the old one.
        new = [old[i] if isinstance(d, int) and d == 0 else d for i, d in enumerate(operands[1])]
        left = _remaining(old, new)
    for atom in atoms_of(left):
        raise Undecided(Question(Asked.SIZE, _origin(atom)[0]))


def _multiples(a: Dim, b: Dim) -> Iterator[Question]:
    """The questions whether a size is a multiple of a number, where two extents are equal if it
    is."""
    for atom in sorted({*atoms_of((a, b))}, key=str):
        name, before = _origin(atom)
        for divisor in _DIVISORS:
            if _multiplied(a, atom, divisor) == _multiplied(b, atom, divisor):
                yield Question(Asked.MULTIPLE, name, divisor * before)


def _remaining(old: Sequence[Dim], new: Sequence[Any]) -> list[Dim]:
    """The factors of the sizes of two shapes that they do not have in common; none if a size is no
    product."""
    counts: Counter[Factor] = Counter()
    for shape, sign in ((old, 1), (new, -1)):
        for dim in shape:
            if not isinstance(dim, SymInt):
                continue
            if len(terms := list(monomials(dim.polynomial))) != 1:
                return []
            for factor in terms[0][0]:
                counts[factor] += sign
    return [SymInt.of(factor) for factor, count in counts.items() if count]


def _different(operands: Sequence[Value]) -> Iterator[tuple[Dim, Dim]]:
    """The extents of the same axes of operands that are not equal, of which one is symbolic."""
    shapes = [o.shape for o in operands if isinstance(o, Tensor | np.ndarray)]
    for one, other in combinations(shapes, 2):
        for a, b in zip_longest(reversed(one), reversed(other), fillvalue=1):
            if a != b and 1 not in (a, b) and (isinstance(a, SymInt) or isinstance(b, SymInt)):
                yield a, b


def _multiplied(size: Dim, atom: Atom, divisor: int) -> Dim:
    """A size with a variable replaced by a multiple of a number."""
    if isinstance(size, int):
        return size

    def factor(of: Factor) -> Dim:
        if isinstance(of, Atom):
            return divisor * SymInt.of(of) if of == atom else SymInt.of(of)
        a, b = _multiplied(of.a, atom, divisor), _multiplied(of.b, atom, divisor)
        return larger(cast(int, a), cast(int, b)) if of.rule == "max" else a // b

    times = cast("Callable[[Dim, Dim], Dim]", mul)
    plus = cast("Callable[[Dim, Dim], Dim]", add)
    return size.evaluated(factor, int, times, plus)
