"""Arithmetic on known values: shapes, of which some extents may be symbolic.

Exporters write it between a Shape and a Reshape. It is done while importing, so that sizes stay
sizes, and no program computes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from onnx import NodeProto

from tgdialect.frontend.symbolic import Dim, SymInt, larger
from tgdialect.interop.onnx.dtypes import dtype_of
from tgdialect.interop.onnx.values import Answers, SizeValue, Undecided, Value, dims, plain
from tgdialect.ops.arrays import numpy_dtype
from tgdialect.ops.numpy_dtypes import Array

MOST_ELEMENTS = 4096
"""The most elements of a result that is computed while importing. Larger: longer imports; smaller:
long shapes are computed by programs, where they cannot be extents."""


def folded(
    node: NodeProto,
    operands: Sequence[Value],
    attributes: Mapping[str, Any],
    answers: Answers,
) -> list[Value] | None:
    """The results of a node whose operands are all known; None if the program computes it.

    Raises Undecided for a comparison that depends on a size.
    """
    given = [operand for operand in operands if operand is not None]
    if not given or not all(isinstance(o, np.ndarray) and o.size <= MOST_ELEMENTS for o in given):
        return None
    if (sign := _COMPARISONS.get(node.op_type)) is not None:
        a, b = np.broadcast_arrays(*given)
        if not all(o.dtype.kind in "biuO" for o in given):
            return [np.asarray(sign(np.sign(a - b)))] if a.dtype.kind == "f" else None
        signs = [_sign(x, y, answers) for x, y in zip(a.flat, b.flat, strict=True)]
        return [sign(np.array(signs, np.int64).reshape(a.shape))]
    if (rule := _RULES.get(node.op_type)) is None:
        return None
    found = rule(*operands, **attributes)
    if found is None:
        return None
    return [plain(np.asarray(a)) for a in (found if isinstance(found, tuple) else (found,))]


def _sign(a: Any, b: Any, answers: Answers) -> int:
    """The sign of a - b."""
    if not (isinstance(a, SymInt) or isinstance(b, SymInt)):
        return (a > b) - (a < b)
    difference: Dim = a - b if isinstance(a, SymInt) else -(b - a)
    if isinstance(difference, int):
        return (difference > 0) - (difference < 0)
    if difference.min > 0 or difference.max < 0:
        return 1 if difference.min > 0 else -1
    question = SizeValue(str(difference), difference)
    if question not in answers:
        raise Undecided(question)
    value = answers[question]
    return (value > 0) - (value < 0)


_COMPARISONS: Mapping[str, Callable[[Any], Any]] = {
    "Equal": lambda sign: sign == 0,
    "Less": lambda sign: sign < 0,
    "LessOrEqual": lambda sign: sign <= 0,
    "Greater": lambda sign: sign > 0,
    "GreaterOrEqual": lambda sign: sign >= 0,
}
"""The result of a comparison, by the sign of the difference."""


def _are_integers(*arrays: Array) -> bool:
    return all(a.dtype.kind in "biuO" for a in arrays)


def _quotient(a: Array, b: Array) -> Array | None:
    """Integers round to zero. Sizes are not negative."""
    if not _are_integers(a, b):
        return a / b if a.dtype != object and b.dtype != object else None
    if a.dtype == object or b.dtype == object:
        return np.floor_divide(a, b)
    if not b.all():
        return None
    return (np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))).astype(a.dtype)


def _cast(x: Array, *, to: int, **_: Any) -> Array | None:
    if x.dtype == object:
        return x if dtype_of(to).is_integer and dtype_of(to).itemsize >= 4 else None
    if x.dtype.kind == "f" and not np.isfinite(x).all():
        return None
    dtype = dtype_of(to)
    return None if dtype.itemsize == 1 and dtype.is_float else x.astype(numpy_dtype(dtype))


def _slice(
    x: Array,
    starts: Array,
    ends: Array,
    axes: Array | None = None,
    steps: Array | None = None,
    **_: Any,
) -> Array | None:
    if any(a is not None and a.dtype == object for a in (starts, ends, axes, steps)):
        return None
    cut = [slice(None)] * x.ndim
    count = len(starts)
    for axis, start, end, step in zip(
        range(count) if axes is None else dims(axes),
        dims(starts),
        dims(ends),
        [1] * count if steps is None else dims(steps),
        strict=True,
    ):
        extent = x.shape[axis]
        first, last = int(start), int(end)
        if step < 0:
            last = None if last < -extent else last
        cut[axis] = slice(first, last, int(step))
    return x[tuple(cut)]


def _squeeze(x: Array, axes: Any = None) -> Array:
    return np.squeeze(x, None if axes is None else tuple(int(a) for a in np.ravel(axes)))


def _unsqueeze(x: Array, axes: Any) -> Array:
    return np.expand_dims(x, tuple(int(a) for a in np.ravel(axes)))


def _reshape(x: Array, shape: Array, *, allowzero: int = 0) -> Array | None:
    if shape.dtype == object:
        return None
    kept = [x.shape[i] if d == 0 and not allowzero else int(d) for i, d in enumerate(shape)]
    return x.reshape(kept)


def _reduced(function: Callable[..., Any]) -> Callable[..., Any]:
    def rule(
        x: Array, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0
    ) -> Any:
        if axes is not None and not len(axes):
            axes = None
            if noop_with_empty_axes:
                return x
        axis = None if axes is None else tuple(int(a) for a in np.ravel(axes))
        return function(x, axis=axis, keepdims=bool(keepdims)) if x.size else None

    return rule


def _larger(a: Array, b: Array) -> Array:
    if a.dtype != object and b.dtype != object:
        return np.maximum(a, b)
    return np.frompyfunc(larger, 2, 1)(a, b)


def _split(x: Array, split: Any = None, *, axis: int = 0, num_outputs: int | None = None) -> Any:
    if split is None:
        if num_outputs is None:
            return None
        size = -(-x.shape[axis] // num_outputs)
        return tuple(np.split(x, range(size, x.shape[axis], size), axis))
    return tuple(np.split(x, np.cumsum(np.array(dims(np.asarray(split)), np.int64))[:-1], axis))


_RULES: Mapping[str, Callable[..., Any]] = {
    "Abs": lambda x: None if x.dtype == object else np.abs(x),
    "Add": lambda a, b: a + b,
    "And": lambda a, b: a & b,
    "Cast": _cast,
    "Ceil": lambda x: np.ceil(x) if x.dtype.kind == "f" else None,
    "Concat": lambda *xs, axis: np.concatenate(xs, axis),
    "Div": _quotient,
    "Expand": lambda x, s: x * np.ones(dims(s), x.dtype) if s.dtype != object else None,
    "Floor": lambda x: np.floor(x) if x.dtype.kind == "f" else None,
    "Gather": lambda x, i, *, axis: np.take(x, i, axis) if i.dtype != object else None,
    "Identity": lambda x: x,
    "Max": lambda *xs: _larger(*xs) if len(xs) == 2 and _are_integers(*xs) else None,
    "Min": lambda *xs: -_larger(-xs[0], -xs[1]) if len(xs) == 2 and _are_integers(*xs) else None,
    "Mul": lambda a, b: a * b if _are_integers(a, b) or object not in (a.dtype, b.dtype) else None,
    "Neg": lambda x: -x,
    "Not": lambda x: ~x,
    "Or": lambda a, b: a | b,
    "ReduceMax": _reduced(np.max),
    "ReduceMin": _reduced(np.min),
    "ReduceProd": _reduced(np.prod),
    "ReduceSum": _reduced(np.sum),
    "Reshape": _reshape,
    "Size": lambda x: np.array(x.size),
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "Sub": lambda a, b: a - b,
    "Transpose": lambda x, *, perm=None: np.transpose(x, perm),
    "Unsqueeze": _unsqueeze,
    "Where": lambda c, a, b: np.where(c, a, b),
}
"""The operators, of any opset, on arrays; None leaves a node to the program."""
