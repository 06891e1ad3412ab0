"""Arithmetic on known values: shapes, of which some extents may be symbolic.

Exporters write it between a Shape and a Reshape. It is done while importing, so that sizes stay
sizes, and no program computes them.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial, reduce
from typing import Any

import numpy as np
from onnx import NodeProto

from tgdialect.frontend import dtypes
from tgdialect.frontend.symbolic import Dim, SymInt, larger, least
from tgdialect.interop.onnx.dtypes import DTYPES
from tgdialect.interop.onnx.values import (
    Answers,
    Asked,
    Inexact,
    Question,
    Ratio,
    Undecided,
    Value,
    dims,
    plain,
)
from tgdialect.ops.numpy_dtypes import Array

MOST_ELEMENTS = 4096
"""The most elements of a result that is computed while importing. Larger: longer imports; smaller:
long shapes are computed by programs, where they cannot be extents."""

LARGEST_DENOMINATOR = 1024
"""The denominator, a power of two, of the floats that multiply sizes here, as 0.5. Products of
these with sizes of up to 14 bits are exact in f32. Larger: products that floats round; smaller:
programs that compute, and ask for, sizes that are known."""


def folded(
    node: NodeProto,
    opset: int,
    operands: Sequence[Value],
    attributes: Mapping[str, Any],
    answers: Answers,
) -> list[Value] | None:
    """The results of a node whose operands are all known; None if the program computes it.

    Raises Undecided for a comparison that depends on a size.
    """
    given = [operand for operand in operands if operand is not None]
    arrays = [o for o in given if isinstance(o, np.ndarray) and o.size <= MOST_ELEMENTS]
    if not given or len(arrays) < len(given) or not _is_small(*arrays):
        return None
    with np.errstate(all="ignore"):  # Programs do not warn of a division by 0 either.
        return _folded(node, opset, operands, arrays, attributes, answers)


def _folded(
    node: NodeProto,
    opset: int,
    operands: Sequence[Value],
    arrays: Sequence[Array],
    attributes: Mapping[str, Any],
    answers: Answers,
) -> list[Value] | None:
    if (sign := _COMPARISONS.get(node.op_type)) is not None:
        a, b = np.broadcast_arrays(*arrays)
        if object not in (a.dtype, b.dtype):
            return [np.asarray(_NUMPY[node.op_type](a, b))]
        signs = [sign_of(x, y, answers) for x, y in zip(a.flat, b.flat, strict=True)]
        return [sign(np.array(signs, np.int64).reshape(a.shape))]
    if node.op_type in _BY_REFERENCE:
        return _referenced(node, opset, operands)
    if (rule := _RULES.get(node.op_type)) is None:
        return None
    try:
        found = rule(*operands, **attributes)
    except Inexact:
        return None
    if found is None:
        return None
    return [plain(np.asarray(a)) for a in (found if isinstance(found, tuple) else (found,))]


# fmt: off
_BY_REFERENCE = frozenset((
    "Acos", "ArgMax", "ArgMin", "Atan", "Clip", "Compress", "Cos", "EyeLike", "Hardmax", "IsInf",
    "IsNaN", "Mean", "OneHot", "ReduceL1", "ReduceL2", "ReduceMean", "ReduceSumSquare", "Sin",
    "Sum", "Tan", "Tanh", "TopK", "Trilu", "Unique",
))
# fmt: on
"""The operators whose results, of numbers of 32 and 64 bits and of bools, onnx's reference
computes. None of their results is much larger than the operands."""


def _referenced(node: NodeProto, opset: int, operands: Sequence[Value]) -> list[Value] | None:
    arrays = [o for o in operands if isinstance(o, np.ndarray)]
    is_plain = all(a.dtype.kind in "biuf" and a.dtype.itemsize in (1, 4, 8) for a in arrays)
    if not is_plain or any(a.ref_attr_name for a in node.attribute):
        return None
    if node.op_type == "OneHot" and arrays[0].size * int(np.ravel(arrays[1])[0]) > MOST_ELEMENTS:
        return None
    if node.op_type == "Hardmax" and opset < 13:  # Over all axes from one on: not the reference's.
        return None
    from onnx import helper
    from onnx.reference import ReferenceEvaluator

    if node.domain:  # Another name of the default domain, which the reference does not know.
        named, node = node, NodeProto()
        node.CopyFrom(named)
        node.domain = ""

    given = dict(zip([name for name in node.input if name], arrays, strict=True))
    infos = [helper.make_empty_tensor_value_info(name) for name in given]
    results = [helper.make_empty_tensor_value_info(name) for name in node.output if name]
    graph = helper.make_graph([node], "node", infos, results)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    try:
        found = iter(ReferenceEvaluator(model).run(None, given))
    except (ValueError, TypeError, LookupError, RuntimeError):
        return None  # It takes less than operators do. A program takes the node, or says why not.
    return [np.asarray(next(found)) if name else None for name in node.output]


def sign_of(a: Any, b: Any, answers: Answers) -> int:
    """The sign of a - b. Raises Undecided."""
    if isinstance(a, Ratio) or isinstance(b, Ratio):
        first, second = (Ratio.of(float(x) if isinstance(x, np.floating) else x) for x in (a, b))
        a, b = first.top * second.bottom, second.top * first.bottom
    if not (isinstance(a, SymInt) or isinstance(b, SymInt)):
        return int(a > b) - int(a < b)
    difference: Dim = a - b if isinstance(a, SymInt) else -(b - a)
    if isinstance(difference, int):
        return int(difference > 0) - int(difference < 0)
    if difference.min > 0 or difference.max < 0:
        return 1 if difference.min > 0 else -1
    question = Question(Asked.SIGN, str(difference), size=difference)
    if question not in answers:
        raise Undecided(question)
    return answers[question]


def _is_small(*arrays: Array) -> bool:
    """Whether the shape to which operands broadcast, if they do, is small."""
    with suppress(ValueError):
        return math.prod(np.broadcast_shapes(*(a.shape for a in arrays))) <= MOST_ELEMENTS
    return True


_COMPARISONS: Mapping[str, Callable[[Any], Any]] = {
    "Equal": lambda sign: sign == 0,
    "Less": lambda sign: sign < 0,
    "LessOrEqual": lambda sign: sign <= 0,
    "Greater": lambda sign: sign > 0,
    "GreaterOrEqual": lambda sign: sign >= 0,
}
"""The result of a comparison, by the sign of the difference."""

_NUMPY: Mapping[str, Callable[..., Any]] = {
    "Equal": np.equal,
    "Less": np.less,
    "LessOrEqual": np.less_equal,
    "Greater": np.greater,
    "GreaterOrEqual": np.greater_equal,
}


def _is_exact(*arrays: Array) -> bool:
    """Whether arithmetic on arrays is done here: of any numbers, or of sizes and such fractions of
    them as floats are sure to compute."""
    return not any(a.dtype == object for a in arrays) or all(a.dtype.kind in "iuO" for a in arrays)


def _each(function: Callable[..., Any]) -> Callable[..., Array]:
    """A function of elements as one of arrays of sizes."""
    count = function.__code__.co_argcount
    return lambda *arrays: np.asarray(np.frompyfunc(function, count, 1)(*arrays), object)


def _arithmetic(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """A function of two operands. A fraction of a size takes floats that are fractions."""

    def rule(a: Array, b: Array) -> Array | None:
        if object not in (a.dtype, b.dtype):
            return function(a, b).astype(a.dtype)
        return function(_exact(a), _exact(b))

    return rule


def _exact(x: Array) -> Array:
    """Floats as fractions. Raises Inexact for those of larger denominators, of whose products with
    sizes it is not sure that floats compute them."""
    if x.dtype.kind != "f":
        return x
    found = np.empty(x.shape, object)
    for at in np.ndindex(x.shape):
        value = float(x[at])
        if not math.isfinite(value) or not float(value * LARGEST_DENOMINATOR).is_integer():
            raise Inexact
        found[at] = Ratio.of(value, x.dtype)
    return found


def _alike(*arrays: Array) -> Sequence[Array]:
    """Arrays of which all are of numbers, or of sizes, or of fractions of sizes."""
    if _is_exact(*arrays):
        return arrays
    found = [e.dtype for a in arrays for e in a.flat if isinstance(e, Ratio)]
    if not found:
        raise Inexact
    return [_each(lambda e: Ratio.of(e, found[0]))(a) for a in arrays]


def _quotient(a: Array, b: Array) -> Array | None:
    """Integers round to zero. Sizes are not negative."""
    if object in (a.dtype, b.dtype):
        return _each(_divided)(_exact(a), _exact(b))
    if a.dtype.kind not in "iu":
        return (a / b).astype(a.dtype)
    if not b.all():
        return None
    return ((a - np.fmod(a, b)) // b).astype(a.dtype)


def _divided(a: Any, b: Any) -> Any:
    if isinstance(a, Ratio) or isinstance(b, Ratio):
        return a / b
    if least(a) < 0:
        raise ValueError(f"{a} divided by {b}: the sign of the dividend is not known")
    return a // b


def _cast(x: Array, *, to: int, **_: Any) -> Array | None:
    if to not in DTYPES:
        return None
    dtype = dtypes.numpy_of(DTYPES[to])
    if x.dtype == object:
        if dtype.kind == "f":
            return _each(lambda e: Ratio.of(e, dtype))(x)
        if dtype.kind in "iu" and dtype.itemsize >= 4:
            return _each(lambda e: e.truncated if isinstance(e, Ratio) else e)(x)
        return None
    if x.dtype.kind not in "biuf" or dtype.kind not in "biuf":
        return None
    if dtype.kind == "f" and dtype.itemsize == 1:
        return None  # These saturate, where NumPy's overflow.
    if x.dtype.kind == "f" and dtype.kind != "f" and not _are_inside(x, dtype):
        return None  # NumPy's integers for these are not those of programs.
    return x.astype(dtype)


def _are_inside(x: Array, dtype: np.dtype[Any]) -> bool:
    """Whether floats are finite, and in the range of an integer dtype when rounded to zero."""
    whole = np.trunc(x.astype(np.float64))
    if dtype.kind == "b":
        return bool(np.isfinite(whole).all())
    range_ = np.iinfo(dtype)
    return bool(((whole >= range_.min) & (whole < range_.max + 1)).all())


def _rounded(method: str, function: Callable[[Array], Array]) -> Callable[..., Any]:
    def rule(x: Array) -> Array | None:
        if x.dtype == object:
            return _each(lambda e: getattr(Ratio.of(e, x.flat[0].dtype), method))(x)
        return function(x) if x.dtype.kind == "f" else None

    return rule


def _slice(
    x: Array,
    starts: Any = None,
    ends: Any = None,
    axes: Any = None,
    steps: Any = None,
) -> Array | None:
    given = [None if a is None else np.asarray(a) for a in (starts, ends, axes, steps)]
    if any(a is not None and a.dtype == object for a in given):
        return None
    first, last, along, by = given
    if first is None or last is None:
        return None
    cut = [slice(None)] * x.ndim
    for axis, start, end, step in zip(
        range(len(first)) if along is None else along,
        first,
        last,
        [1] * len(first) if by is None else by,
        strict=True,
    ):
        stop = None if step < 0 and end < -x.shape[axis] else int(end)
        cut[int(axis)] = slice(int(start), stop, int(step))
    return x[tuple(cut)]


def _axes_of(axes: Any) -> tuple[int, ...] | None:
    return None if axes is None else tuple(int(a) for a in np.ravel(axes))


def _reshape(x: Array, shape: Array, *, allowzero: int = 0) -> Array | None:
    if shape.dtype == object:
        return None
    kept = [x.shape[i] if d == 0 and not allowzero else int(d) for i, d in enumerate(shape)]
    return x.reshape(kept)


def _expand(x: Array, shape: Array) -> Array | None:
    if shape.dtype == object:
        return None
    found = np.broadcast_shapes(x.shape, tuple(map(int, shape)))
    return np.broadcast_to(x, found).copy() if math.prod(found) <= MOST_ELEMENTS else None


def _tile(x: Array, repeats: Array) -> Array | None:
    if repeats.dtype == object or x.size * math.prod(map(int, repeats)) > MOST_ELEMENTS:
        return None
    return np.tile(x, tuple(map(int, repeats)))


def _gather(x: Array, indices: Array, *, axis: int = 0) -> Array | None:
    extent = x.shape[axis]
    if indices.dtype == object or indices.size * x.size > MOST_ELEMENTS * extent:
        return None
    return np.take(x, indices, axis)


def _gather_elements(x: Array, indices: Array, *, axis: int = 0) -> Array | None:
    if indices.dtype == object:
        return None
    at = np.where(indices < 0, indices + x.shape[axis], indices)
    return np.take_along_axis(_covered(x, indices, axis), at, axis)


def _covered(x: Array, indices: Array, axis: int) -> Array:
    """The view of the elements that indices along an axis may be of: other axes of the indices may
    be shorter. Raises ValueError if they are longer, or are not as many."""
    axis = range(x.ndim)[axis]
    extents = [*indices.shape]
    extents[axis : axis + 1] = [x.shape[axis]]
    if len(extents) != x.ndim or any(map(operator.gt, extents, x.shape)):
        raise ValueError(f"indices of shape {indices.shape} do not fit the shape {x.shape}")
    return x[tuple(map(slice, extents))]


def _scatter_nd(x: Array, indices: Array, updates: Array, *, reduction: str = "none") -> Any:
    if indices.dtype == object or reduction != "none":
        return None
    found = x.astype(np.result_type(x, updates))
    found[tuple(np.moveaxis(indices, -1, 0))] = updates
    return found


def _scatter_elements(
    x: Array, indices: Array, updates: Array, *, axis: int = 0, reduction: str = "none"
) -> Any:
    if indices.dtype == object or reduction != "none":
        return None
    found = x.astype(np.result_type(x, updates))
    at = np.where(indices < 0, indices + x.shape[axis], indices)
    np.put_along_axis(_covered(found, indices, axis), at, updates, axis)
    return found


def _reduced(function: Callable[..., Any]) -> Callable[..., Any]:
    def rule(
        x: Array, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0
    ) -> Any:
        if axes is not None and not len(axes):
            axes = None
        if axes is None and noop_with_empty_axes:
            return x
        if not x.size or x.dtype.kind not in "iufO":
            return None
        # Of all sizes, NumPy's result is no array but a size.
        return np.asarray(function(x, axis=_axes_of(axes), keepdims=bool(keepdims)), x.dtype)

    return rule


_LARGER: Any = np.frompyfunc(larger, 2, 1)


def _extreme(x: Array, *, sign: int, **given: Any) -> Array:
    if x.dtype != object:
        return (np.max if sign > 0 else np.min)(x, **given)
    return np.asarray(_LARGER.reduce(x * sign, **given) * sign)


def _largest(sign: int) -> Callable[..., Any]:
    """The maximum, or the minimum, of any number of operands."""

    def larger_of(a: Array, b: Array) -> Array:
        if object in (a.dtype, b.dtype):
            return _LARGER(a * sign, b * sign) * sign
        return (np.maximum if sign > 0 else np.minimum)(a, b)

    def rule(*xs: Array) -> Array | None:
        return reduce(larger_of, xs) if _is_exact(*xs) else None

    return rule


def _split(x: Array, split: Any = None, *, axis: int = 0, num_outputs: int | None = None) -> Any:
    if split is None:
        if num_outputs is None or num_outputs > MOST_ELEMENTS:
            return None
        size = -(-x.shape[axis] // num_outputs)
        return tuple(np.split(x, [size * i for i in range(1, num_outputs)], axis))
    return tuple(np.split(x, np.cumsum(np.array(dims(np.asarray(split)), np.int64))[:-1], axis))


def _running(function: Callable[..., Any]) -> Callable[..., Any]:
    def rule(x: Array, axis: Array, *, exclusive: int = 0, reverse: int = 0) -> Array | None:
        if exclusive or reverse or x.dtype.kind not in "iufO":
            return None
        return function(x, int(axis.item())).astype(x.dtype)

    return rule


def _remainder(a: Array, b: Array, *, fmod: int = 0) -> Array | None:
    """Of sizes, which are not negative."""
    if object in (a.dtype, b.dtype):
        return (
            a % b if _is_exact(a, b) and not (fmod and any(least(e) < 0 for e in a.flat)) else None
        )
    if a.dtype.kind == "f" or not b.all():
        return None
    return (np.fmod if fmod else np.mod)(a, b)


def _power(a: Array, b: Array) -> Array | None:
    if object in (a.dtype, b.dtype):
        is_small = b.dtype.kind in "iu" and b.size == 1 and 0 <= b.item() <= 4
        return a ** int(b.item()) if is_small and _is_exact(a) else None
    if a.dtype.kind != "f" and (b.dtype.kind == "f" or (b < 0).any()):
        return None
    return np.power(a, b).astype(a.dtype)


def _floats(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of floats of 32 and 64 bits."""

    def rule(x: Array) -> Array | None:
        return function(x).astype(x.dtype) if x.dtype.kind == "f" and x.itemsize > 2 else None

    return rule


_RULES: Mapping[str, Callable[..., Any]] = {
    "Abs": lambda x: None if x.dtype == object else np.abs(x),
    "Add": _arithmetic(operator.add),
    "And": operator.and_,
    "Cast": _cast,
    "Ceil": _rounded("up", np.ceil),
    "Concat": lambda *xs, axis: np.concatenate(_alike(*xs), axis),
    "CumProd": _running(np.cumprod),
    "CumSum": _running(np.cumsum),
    "Div": _quotient,
    "Exp": _floats(np.exp),
    "Expand": _expand,
    "Flatten": lambda x, *, axis=1: x.reshape((math.prod(x.shape[:axis]), -1)) if x.size else None,
    "Floor": _rounded("down", np.floor),
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": lambda x, i, *, batch_dims=0: (
        x[tuple(np.moveaxis(i, -1, 0))] if i.dtype != object and not batch_dims else None
    ),
    "Identity": lambda x: x,
    "Log": _floats(np.log),
    "Max": _largest(1),
    "Min": _largest(-1),
    "Mod": _remainder,
    "Mul": _arithmetic(operator.mul),
    "Neg": operator.neg,
    "NonZero": lambda x: (
        np.array(np.nonzero(x), np.int64) if x.dtype != object and x.ndim else None
    ),
    "Not": operator.invert,
    "Or": operator.or_,
    "Pow": _power,
    "Reciprocal": _floats(np.reciprocal),
    "ReduceMax": _reduced(partial(_extreme, sign=1)),
    "ReduceMin": _reduced(partial(_extreme, sign=-1)),
    "ReduceProd": _reduced(np.prod),
    "ReduceSum": _reduced(np.sum),
    "Reshape": _reshape,
    "Round": lambda x: np.round(x) if x.dtype.kind == "f" else None,
    "ScatterElements": _scatter_elements,
    "ScatterND": _scatter_nd,
    "Sign": lambda x: np.sign(x) if x.dtype != object else None,
    "Size": lambda x: np.array(x.size),
    "Slice": _slice,
    "Split": _split,
    "Sqrt": _floats(np.sqrt),
    "Squeeze": lambda x, axes=None: np.squeeze(x, _axes_of(axes)),
    "Sub": _arithmetic(operator.sub),
    "Tile": _tile,
    "Transpose": lambda x, *, perm=None: np.transpose(x, perm),
    "Unsqueeze": lambda x, axes=None: np.expand_dims(x, _axes_of(axes) or ()),
    "Where": lambda c, a, b: np.where(c, *_alike(a, b)),
    "Xor": operator.xor,
}
"""The operators, of any opset, on arrays; None leaves a node to the program."""
