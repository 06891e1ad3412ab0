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

from tgdialect.frontend.dtypes import to_dtype
from tgdialect.frontend.symbolic import Dim, SymInt, least
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.importing import constant, constant_in_file, sizes_tensor
from tgdialect.ops import tg
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
    SIZE = "a size"
    MULTIPLE = "whether a size is a multiple"


@dataclass(frozen=True)
class Question:
    """A fact that the arguments of a call decide. Imports with the same answers ask the same
    questions in the same order."""

    kind: Asked
    name: str
    """The name of a value, or the size."""
    ordinal: int = 0
    """The number of questions before it; the divisor of a MULTIPLE."""
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
    """Questions without an answer: the first one, and those that the import would ask next."""

    def __init__(self, *questions: Question) -> None:
        super().__init__(f"the program depends on {questions[0]}")
        self.questions = questions

    @property
    def question(self) -> Question:
        return self.questions[0]


class DependsOnStep(Refused):
    """A question within a loop, about a value that differs between its steps."""


class Inexact(Exception):
    """Arithmetic on fractions of sizes that is left to the program."""


@dataclass(frozen=True)
class Ratio:
    """A float that is a fraction of sizes, whose divisor is positive: an element of a known value
    of a float dtype, as `n` cast to f32, or half of it."""

    top: Dim
    bottom: Dim = 1
    dtype: Any = np.float32

    @staticmethod
    def of(value: Any, dtype: Any = np.float32) -> Ratio:
        """A size, a number or a fraction as one of this dtype."""
        if isinstance(value, Ratio):
            return Ratio(value.top, value.bottom, dtype)
        if isinstance(value, SymInt | int):
            return Ratio(value, 1, dtype)
        if isinstance(value, np.integer):
            return Ratio(value.item(), 1, dtype)
        return Ratio(*float(value).as_integer_ratio(), dtype)

    def __add__(self, other: Any) -> Ratio:
        o = Ratio.of(other, self.dtype)
        return _ratio(self.top * o.bottom + o.top * self.bottom, self.bottom * o.bottom, self.dtype)

    def __neg__(self) -> Ratio:
        return Ratio(-self.top, self.bottom, self.dtype)

    def __sub__(self, other: Any) -> Ratio:
        return self + -Ratio.of(other, self.dtype)

    def __mul__(self, other: Any) -> Ratio:
        o = Ratio.of(other, self.dtype)
        return _ratio(self.top * o.top, self.bottom * o.bottom, self.dtype)

    def __truediv__(self, other: Any) -> Ratio:
        o = Ratio.of(other, self.dtype)
        if least(o.top) <= 0:
            raise Inexact
        return _ratio(self.top * o.bottom, self.bottom * o.top, self.dtype)

    @property
    def down(self) -> Ratio:
        """Rounded down."""
        return Ratio(self.top // self.bottom, 1, self.dtype)

    @property
    def up(self) -> Ratio:
        """Rounded up."""
        return Ratio(-(-self.top // self.bottom), 1, self.dtype)

    @property
    def truncated(self) -> Dim:
        """Rounded to zero, as an integer."""
        if least(self.top) < 0:
            raise Inexact
        return self.top // self.bottom

    @property
    def tensor(self) -> Tensor:
        """The float, computed by the program."""
        dtype = to_dtype(np.dtype(self.dtype))
        top, bottom = (sizes_tensor([d]).reshape(()).cast(dtype) for d in (self.top, self.bottom))
        return top if self.bottom == 1 else top / bottom


def _ratio(top: Dim, bottom: Dim, dtype: Any) -> Ratio:
    """A fraction; a size if the divisor divides the dividend."""
    if bottom == 1:
        return Ratio(top, 1, dtype)
    whole = top // bottom
    return Ratio(whole, 1, dtype) if whole * bottom == top else Ratio(top, bottom, dtype)


def as_tensor(value: Value) -> Tensor:
    """A value as a tensor that the program computes."""
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype != object:
            contents: tg.DataAttr | None = getattr(value, "contents", None)
            return constant(value) if contents is None else constant_in_file(value, contents)
        if any(isinstance(e, Ratio) for e in value.flat):
            dtype = next(e.dtype for e in value.flat if isinstance(e, Ratio))
            return Tensor.stack(*(Ratio.of(e, dtype).tensor for e in value.flat)).reshape(
                value.shape
            )
        return sizes_tensor(list(value.flat)).reshape(value.shape)
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
    """An array of `object` with the dtype of numbers, if no element is symbolic."""
    if array.dtype != object:
        return array
    ratios = [e for e in array.flat if isinstance(e, Ratio)]
    if any(isinstance(e, SymInt) for e in array.flat) or any(
        isinstance(d, SymInt) for e in ratios for d in (e.top, e.bottom)
    ):
        return array
    if ratios:
        found = [e.top / e.bottom if isinstance(e, Ratio) else e for e in array.flat]
        return np.array(found, ratios[0].dtype).reshape(array.shape)
    return array.astype(np.int64)


def dims(array: Array) -> list[Any]:
    """The elements of a known vector (or scalar) as sizes. Raises Refused for fractions."""
    if any(isinstance(e, Ratio) for e in array.flat):
        raise Refused("a float is no size")
    return [e if isinstance(e, SymInt) else int(e) for e in np.ravel(array)]
