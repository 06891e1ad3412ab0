"""The values of a graph while it is imported, and questions about those that are not known then.

A value is a `Tensor`, which the program computes, or an array of NumPy, which is known: a constant,
or the result of arithmetic on shapes. Elements of the latter may be symbolic sizes; the dtype is
`object` then. A sequence is a list of values.

Some decisions need more: how many results a NonZero has, or whether a symbolic size is 1, where an
If asks for it. Such a `Question` is answered with the arguments of a call, and the import begins
again with its answer. A program is so compiled for each sequence of answers. A number of results
becomes a symbolic size, so that one program serves all numbers but 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from onnx import TensorProto

from tgdialect.frontend.symbolic import Dim, SymInt
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.importing import constant, sizes_tensor
from tgdialect.ops.numpy_dtypes import Array


@dataclass(frozen=True)
class Narrow:
    """Elements of a type that tensors do not have, as INT4: a tensor of a wider dtype that holds
    them exactly. See `dtypes.py`."""

    tensor: Tensor
    element_type: int

    @property
    def shape(self) -> tuple[Dim, ...]:
        return self.tensor.shape


Value = Tensor | Array | Narrow | list[Any] | None
"""A value of a graph. None is an operand or a result that is left out, and an empty optional."""


class Refused(Exception):
    """A node that cannot be imported. The message names the attribute or the operand, and says what
    to do; the importer adds the node, its operator and the opset."""


class Asked(Enum):
    """The kinds of questions."""

    INPUT = "the elements of an input"
    ELEMENTS = "the elements of a value that the program computes"
    COUNT = "a number that the program computes, which is the extent of results"
    SIGN = "the sign of a size"


@dataclass(frozen=True)
class Question:
    """A fact that the arguments of a call decide. Imports with the same answers ask the same
    questions in the same order."""

    kind: Asked
    name: str
    """The name of a value, or the size."""
    ordinal: int = 0
    """The number of questions before it."""
    size: SymInt | None = field(default=None, compare=False)
    """The size whose sign is asked for."""
    most: int = field(default=0, compare=False)
    """The greatest possible COUNT."""
    value: Tensor | None = field(default=None, compare=False)
    """The tensor that is asked for, in the import that asks."""

    def __str__(self) -> str:
        return f"{self.kind.value}, {self.name}"

    @property
    def count_name(self) -> str:
        """The name of a COUNT as a size."""
        return f"count_{self.ordinal}"


Answers = Mapping[Question, Any]
"""The answers to questions: an array of the elements, a sign, or a number: of a COUNT it is a size,
or 0."""


class Undecided(Exception):
    """A question without an answer."""

    def __init__(self, question: Question) -> None:
        super().__init__(f"the program depends on {question}")
        self.question = question


class DependsOnStep(Refused):
    """A question within a loop, about a value that differs between its steps."""


def as_tensor(value: Value) -> Tensor:
    """A value as a tensor that the program computes."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype != object:
            return constant(value)
        flat = sizes_tensor(list(value.flat))
        return flat.reshape(value.shape)
    if isinstance(value, Narrow):
        name = TensorProto.DataType.Name(value.element_type)
        raise Refused(f"elements of type {name} are not supported here: Cast them before")
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
