"""Sizes of a model's inputs: their names and bounds, and what extents have to have in common.

Networks of several scales add what is halved and doubled again to what is not. This fits only if
the size is a multiple of a power of two, which no file says. Where extents do not agree, the
importer looks for a divisor with which they do, and asks whether the size is a multiple of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, zip_longest
from operator import add, mul

import numpy as np

from tgdialect.frontend.lowered import Spec, spec
from tgdialect.frontend.symbolic import Atom, Derived, Dim, Factor, SymInt, Variable, larger
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx.values import (
    Answers,
    IsMultiple,
    Question,
    SizeValue,
    Undecided,
    Value,
)

_DIVISORS = (2, 4, 8, 16, 32, 64, 128)
"""The divisors that are tried, the least first. Networks halve an axis at most so often."""

_BITS = 48
"""The bits of the greatest product of all sizes of a model, which leaves 15 for its channels: index
arithmetic has 63. Larger: sizes may be greater; smaller: more axes may be symbolic."""


def greatest_extent(count: int) -> int:
    """The bound of each of so many sizes."""
    return min(2**31 - 1, 2 ** (_BITS // max(count, 1)))


def sized(inputs: Mapping[str, Spec], answers: Answers) -> dict[str, Spec]:
    """The inputs of a model with what is known of their sizes."""
    fixed = {q.text: a for q, a in answers.items() if isinstance(q, SizeValue)}
    divisors: dict[str, int] = {}
    for question, answer in answers.items():
        if isinstance(question, IsMultiple) and answer:
            name = question.name
            divisors[name] = max(divisors.get(name, 1), question.divisor)
    names = {d for s in inputs.values() for d in s.shape if isinstance(d, str)}
    bound = greatest_extent(len(names))

    def extent(dim: Dim | str) -> Dim | str:
        if not isinstance(dim, str):
            return dim
        if dim in fixed:
            return fixed[dim]
        by = divisors.get(dim, 1)
        name = dim if by == 1 else f"{dim}_over_{by}"
        return by * SymInt.of(Atom(Variable(name, 1, bound // by), None))

    return {name: spec([extent(d) for d in s.shape], s.dtype) for name, s in inputs.items()}


def answer(question: Question, inputs: Mapping[str, Spec], shapes: Mapping[str, Sequence[int]]) -> int:
    """The answer to a question on sizes, for inputs of some shapes."""
    sizes = {
        dim: extent
        for name, of in inputs.items()
        for dim, extent in zip(of.shape, shapes[name], strict=True)
        if isinstance(dim, str)
    }
    if isinstance(question, IsMultiple):
        return sizes[question.name] % question.divisor == 0
    assert isinstance(question, SizeValue)

    def value(atom: Atom) -> int:
        name, _, by = atom.variable.name.partition("_over_")
        return sizes[name] // int(by or 1)

    size = question.size
    return size.substituted({a: Atom(a.variable, value(a)) for a in size.atoms}).value


def check_extents(operands: Sequence[Value], answers: Answers) -> None:
    """Raise Undecided if the operands of a node, which does not take them, may have extents that
    agree."""
    for a, b in _different(operands):
        for name in sorted({atom.variable.name for d in (a, b) if isinstance(d, SymInt) for atom in d.atoms}):
            base, _, before = name.partition("_over_")
            for divisor in _DIVISORS:
                question = IsMultiple(base, divisor * int(before or 1))
                if question in answers:
                    continue
                if _multiplied(a, name, divisor) == _multiplied(b, name, divisor):
                    raise Undecided(question)
    for a, b in _different(operands):
        for size in (a, b):
            for atom in size.atoms if isinstance(size, SymInt) else ():
                base, _, before = atom.variable.name.partition("_over_")
                raise Undecided(SizeValue(base, SymInt.of(atom) * int(before or 1)))


def _different(operands: Sequence[Value]) -> Iterator[tuple[Dim, Dim]]:
    """The extents of the same axes of operands that are not equal, of which one is symbolic."""
    shapes = [o.shape for o in operands if isinstance(o, Tensor | np.ndarray)]
    for one, other in combinations(shapes, 2):
        for a, b in zip_longest(reversed(one), reversed(other), fillvalue=1):
            if a != b and 1 not in (a, b) and (isinstance(a, SymInt) or isinstance(b, SymInt)):
                yield a, b


def _multiplied(size: Dim, name: str, divisor: int) -> Dim:
    """A size with the size `name` replaced by a multiple of a number."""
    if isinstance(size, int):
        return size

    def factor(of: Factor) -> Dim:
        if isinstance(of, Atom):
            return divisor * SymInt.of(of) if of.variable.name == name else SymInt.of(of)
        a, b = _multiplied(of.a, name, divisor), _multiplied(of.b, name, divisor)
        return larger(a, b) if of.rule == "max" else a // b

    return size.evaluated(factor, int, mul, add)
