"""The values of a graph while it is imported, and questions about those that are not known then.

A value is a `Tensor`, which the program computes, or an array of NumPy, which is known: a constant,
or the result of arithmetic on shapes. Elements of the latter may be symbolic sizes; the dtype is
`object` then. A sequence is a list of values.

Some decisions need more: how many results a NonZero has, or whether a symbolic size is 1, where an
If asks for it. Such a `Question` is answered with the arguments of a call, and the import begins
again with its answer. A program is so compiled for each sequence of answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tgdialect.frontend.symbolic import Dim, SymInt
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.importing import constant, sizes_tensor
from tgdialect.ops.numpy_dtypes import Array

Value = Tensor | Array | list[Any] | None
"""A value of a graph. None is an operand or a result that is left out, and an empty optional."""


class Refused(Exception):
    """A node that cannot be imported. The message names the attribute or the operand, and says what
    to do; the importer adds the node, its operator and the opset."""


class Question:
    """A fact that the arguments of a call decide."""


@dataclass(frozen=True)
class Elements(Question):
    """The elements of a value of the graph: an array."""

    name: str

    def __str__(self) -> str:
        return f"the elements of {self.name!r}"


@dataclass(frozen=True)
class SizeValue(Question):
    """The value of a size: a number."""

    text: str
    size: SymInt = field(compare=False)

    def __str__(self) -> str:
        return f"the size {self.text}"


@dataclass(frozen=True)
class IsMultiple(Question):
    """Whether the size of this name is a multiple of a number: a bool. If so it is written as that
    number times another size, so that quotients of it are exact."""

    name: str
    divisor: int

    def __str__(self) -> str:
        return f"whether the size {self.name} is a multiple of {self.divisor}"


Answers = Mapping[Question, Any]
"""The answers to questions."""


class Undecided(Exception):
    """A question without an answer."""

    def __init__(self, question: Question) -> None:
        super().__init__(f"depends on {question}")
        self.question = question


def as_tensor(value: Value) -> Tensor:
    """A value as a tensor that the program computes."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype != object:
            return constant(value)
        flat = sizes_tensor(list(value.flat))
        return flat.reshape(value.shape)
    raise Refused(f"a tensor is needed, not {type(value).__name__}")


def sizes(*dims: Dim) -> Array:
    """A vector of sizes as a known value."""
    if any(isinstance(d, SymInt) for d in dims):
        found = np.empty(len(dims), object)
        found[:] = dims
        return found
    return np.array(dims, np.int64)


def plain(array: Array) -> Array:
    """An array of `object` with the dtype of integers, if no element is symbolic."""
    if array.dtype != object or any(isinstance(e, SymInt) for e in array.flat):
        return array
    return array.astype(np.int64)


def dims(array: Array) -> list[Dim]:
    """The elements of a known vector (or scalar) as sizes."""
    return [e if isinstance(e, SymInt) else int(e) for e in np.ravel(array)]
