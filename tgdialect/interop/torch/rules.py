"""The kinds of lines in the table of ATen ops, and refusals.

A line is the overload of an op, and how it is computed by `Tensor`'s methods: a function of the
op's arguments as its schema names them, without those in `IGNORED`. The result is converted to the
dtype that PyTorch has for it, so that a line need not do that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal

from tgdialect.frontend import dtypes
from tgdialect.frontend.tensor import Tensor

Translate = Callable[..., Any]
Functions = Mapping[Any, Translate]
"""Functions by their overloads, such as `torch.ops.aten.add.Tensor`."""


class Refusal(Exception):
    """A node that is left to PyTorch. The message says why, and what can be done about it."""


@dataclass(frozen=True)
class OpLine:
    """A line of the table.

    Attributes:
        translate: from the op's arguments, with `Tensor`s in place of PyTorch's, to its results.
        operands: the dtype that tensors among the arguments are converted to: that of the (first)
            result, that but f32 for floats of 16 bits beside numbers that they cannot have, the
            common one of all arguments by PyTorch's rules, or their own.
        takes_dtype: whether `translate` gets the dtype of the result, as `dtype`.
        in_rows: whether the first argument has to have memory of its own, in row-major order, since
            the op sees how it lies in it.
    """

    translate: Translate
    operands: Literal["result", "wide", "common", "own"]
    takes_dtype: bool = False
    in_rows: bool = False


Table = Mapping[Any, OpLine]

IGNORED = frozenset({"layout", "device", "pin_memory", "memory_format", "non_blocking", "dtype"})
"""Arguments of ATen ops that no line gets. The results of a graph have the dtypes and the layouts
that PyTorch has traced for them."""


def in_result_dtype(functions: Functions) -> Table:
    """Ops that compute in the dtype of their result: arithmetic, functions of floats, sums."""
    return {overload: OpLine(translate, "result") for overload, translate in functions.items()}


def in_f64(functions: Functions) -> Table:
    """Functions of floats that compute in f64, whatever float their result is."""

    def wide(translate: Translate) -> Translate:
        @wraps(translate)
        def compute(*args: Any, **named: Any) -> Any:
            return translate(*map(_widened, args), **named)

        return compute

    return in_result_dtype({overload: wide(each) for overload, each in functions.items()})


def _widened(value: Any) -> Any:
    return value.cast(dtypes.float64) if isinstance(value, Tensor) else value


def in_wide_dtype(functions: Functions) -> Table:
    """Ops that compute in the dtype of their result, but with numbers of Python as f32 at least:
    sums, products and quotients, for which PyTorch does so."""
    return {overload: OpLine(translate, "wide") for overload, translate in functions.items()}


def in_common_dtype(functions: Functions) -> Table:
    """Ops that compute in the dtype that their arguments have in common: comparisons."""
    return {overload: OpLine(translate, "common") for overload, translate in functions.items()}


def in_own_dtype(functions: Functions) -> Table:
    """Ops whose arguments keep their dtypes: movement, indexing, masks."""
    return {overload: OpLine(translate, "own") for overload, translate in functions.items()}


def of_dtype(functions: Functions) -> Table:
    """Ops that make tensors of a `dtype`, which the function gets as a keyword."""
    return {overload: OpLine(translate, "own", True) for overload, translate in functions.items()}


def in_rows(functions: Functions) -> Table:
    """Ops on the memory of tensors."""
    return {overload: OpLine(f, "own", in_rows=True) for overload, f in functions.items()}
