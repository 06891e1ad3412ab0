"""Methods that compute in wider floats than their tensors have, and round each result once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from tgdialect.frontend import dtypes
from tgdialect.frontend.base import TensorBase, operand_of

T = TypeVar("T", bound=TensorBase)
R = TypeVar("R")
P = ParamSpec("P")

_AT_LEAST_F32 = dict.fromkeys(
    (dtypes.fp8e4m3, dtypes.fp8e5m2, dtypes.float16, dtypes.bfloat16), dtypes.float32
)
"""The dtype in which functions of narrow floats are computed."""
WIDER = {**_AT_LEAST_F32, dtypes.float32: dtypes.float64}
"""The dtype in which a float dtype's products are exact."""


def _computing_in(
    wider: Mapping[dtypes.DType, dtypes.DType],
    function: Callable[Concatenate[T, P], R],
    *,
    of_integers: bool,
) -> Callable[Concatenate[T, P], R]:
    @wraps(function)
    def compute(x: T, /, *given: P.args, **named: P.kwargs) -> R:
        args: Any = [operand_of(x, cast(Any, value)) for value in given]
        kwargs: Any = {name: operand_of(x, cast(Any, value)) for name, value in named.items()}
        others = [t.dtype for t in (*args, *kwargs.values()) if isinstance(t, TensorBase)]
        dtype = dtypes.as_float(dtypes.promote(x.dtype, *others) if others else x.dtype)
        wide = wider.get(dtype, dtype)
        is_wide = all(d == wide or not d.is_float for d in (x.dtype, *others))
        if is_wide and (of_integers or x.dtype.is_float):
            return cast(Any, function)(x, *args, **kwargs)

        def widened(value: Any) -> Any:
            if not isinstance(value, TensorBase):
                return value
            # An integer is a float of the default dtype first, as in PyTorch.
            value = value if value.dtype.is_float or of_integers else value.cast(dtype)
            return value.cast(wide) if value.dtype.is_float else value

        keywords = {name: widened(value) for name, value in kwargs.items()}
        x = (x if x.dtype.is_float else x.cast(dtype)).cast(wide)
        result = cast(Any, function)(x, *map(widened, args), **keywords)
        if isinstance(result, TensorBase):
            return cast(Any, result.cast(dtype))
        return cast(Any, tuple(each.cast(dtype) for each in result))

    return compute


def rounded_once(function: Callable[Concatenate[T, P], R]) -> Callable[Concatenate[T, P], R]:
    """Make a method that is made of several ops compute narrow floats in f32, as PyTorch does, and
    round each result once, to the promoted dtype of its tensors. So are its gradients."""
    return _computing_in(_AT_LEAST_F32, function, of_integers=True)


def widened(function: Callable[Concatenate[T, P], R]) -> Callable[Concatenate[T, P], R]:
    """Make a method compute with twice the bits, at most 64, and round each result once. Its tensor
    is a float, also where the caller's is an integer."""
    return _computing_in(WIDER, function, of_integers=False)
