"""Reductions, running sums, argmax."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from tgdialect.frontend import dtypes
from tgdialect.frontend.precision import rounded_once
from tgdialect.frontend.symbolic import greatest
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.importing import constant
from tgdialect.interop.onnx.ops.movement import axis_of
from tgdialect.interop.onnx.rules import OperatorRule, Rules, known
from tgdialect.interop.onnx.values import Refused, dims
from tgdialect.ops.numpy_dtypes import Array

_Reduction = Callable[[Tensor, Any, bool], Tensor]
"""A reduction of a tensor along axes, None for all; and whether they are kept."""


def _axes(axes: Any, is_noop: int) -> tuple[int, ...] | None:
    """The axes to reduce; no axes are all of them, unless `is_noop`."""
    if axes is None or not len(axes):
        return () if is_noop else None
    return tuple(int(a) for a in np.ravel(axes))


def _versions(reduction: _Reduction, since: int) -> Mapping[int, Callable[..., Any] | OperatorRule]:
    """A reduction whose axes are an attribute, and from an opset on an operand."""

    def old(x: Tensor, *, axes: Any = None, keepdims: int = 1) -> Tensor:
        return reduction(x, _axes(axes, 0), bool(keepdims)).cast(x.dtype)

    def new(
        x: Tensor, axes: Array | None = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0
    ) -> Tensor:
        found = _axes(None if axes is None else dims(axes), noop_with_empty_axes)
        return reduction(x, found, bool(keepdims)).cast(x.dtype)

    return {1: old, since: known(new, 1)}


@rounded_once
def _sum(x: Tensor, axes: Any, keep: bool) -> Tensor:
    return x.sum(axes, keep)


def _mean(x: Tensor, axes: Any, keep: bool) -> Tensor:
    """Integers round to zero."""
    if x.dtype.is_float:
        return x.mean(axes, keep)
    over = range(x.ndim) if axes is None else axes
    return x.sum(axes, keep).div(math.prod(x.shape[a] for a in over), rounding_mode="trunc")


@rounded_once
def _sum_of_squares(x: Tensor, axes: Any, keep: bool) -> Tensor:
    return (x * x).sum(axes, keep)


@rounded_once
def _norm(x: Tensor, axes: Any, keep: bool) -> Tensor:
    x = x if x.dtype.is_float else x.cast(dtypes.float64)
    return (x * x).sum(axes, keep).sqrt()


@rounded_once
def _log_of_sum(x: Tensor, axes: Any, keep: bool) -> Tensor:
    return (x if x.dtype.is_float else x.cast(dtypes.float64)).sum(axes, keep).log()


def _log_of_sum_of_exponentials(x: Tensor, axes: Any, keep: bool) -> Tensor:
    return (x if x.dtype.is_float else x.cast(dtypes.float64)).logsumexp(axes, keep)


def _position(find: Callable[[Tensor, int, bool], Tensor]) -> Callable[..., Tensor]:
    def rule(x: Tensor, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0) -> Tensor:
        if not select_last_index:
            return find(x, axis, bool(keepdims)).cast(dtypes.int64)
        return (
            x.shape[axis_of(x, axis)]
            - 1
            - find(x.flip(axis), axis, bool(keepdims)).cast(dtypes.int64)
        )

    return rule


def _running(function: Callable[[Tensor, int], Tensor], identity: int) -> OperatorRule:
    """A running sum or product; `exclusive` of each element, `reverse` from the end."""

    def rule(x: Tensor, axis: Array, *, exclusive: int = 0, reverse: int = 0) -> Tensor:
        (at,) = (axis_of(x, a) for a in dims(axis))
        given = x.flip(at) if reverse else x
        if exclusive:
            first = [1 if i == at else d for i, d in enumerate(x.shape)]
            rest = tuple(slice(0, d - 1 if i == at else d) for i, d in enumerate(x.shape))
            given = Tensor.full(first, identity, x.dtype).cat(given[rest], dim=at)
        found = function(given, at).cast(x.dtype)
        return found.flip(at) if reverse else found

    return known(rule, 1)


def _ngram_counts(
    x: Tensor,
    *,
    min_gram_length: int,
    max_gram_length: int,
    max_skip_count: int,
    mode: str,
    ngram_counts: Sequence[int],
    ngram_indexes: Sequence[int],
    pool_int64s: Sequence[int] = (),
    pool_strings: Sequence[str] = (),
    weights: Sequence[float] | None = None,
) -> Tensor:
    """How often each sequence of a pool is in a row, also with some elements between its own. The
    pool has all sequences of one element first, then those of two, and so on."""
    if pool_strings:
        raise Refused("strings are not supported: give pool_int64s")
    found: list[Tensor] = []
    ends = [*ngram_counts[1:], len(pool_int64s)]
    for length, (first, end) in enumerate(zip(ngram_counts, ends, strict=True), 1):
        pool = np.array(pool_int64s[first:end], np.int64).reshape(-1, length)
        total = Tensor.zeros(*x.shape[:-1], len(pool), dtype=dtypes.int64)
        is_wanted = min_gram_length <= length <= max_gram_length
        # Elements between do not count for a sequence of one.
        for skip in range(1 + (max_skip_count if length > 1 else 0)) if is_wanted else ():
            step = skip + 1
            starts = x.shape[-1] - (length - 1) * step
            if greatest(starts) <= 0 or not len(pool):
                continue
            parts = [x[..., k * step : k * step + starts].unsqueeze(-1) for k in range(length)]
            alike = [p.eq(constant(pool[:, k]).cast(x.dtype)) for k, p in enumerate(parts)]
            total = total + reduce(Tensor.bitwise_and, alike).sum(-2)
        found.append(total)
    columns = np.zeros((len(ngram_indexes), max(ngram_indexes) + 1), np.float32)
    scale = np.ones(len(ngram_indexes)) if weights is None or mode == "TF" else np.array(weights)
    columns[np.arange(len(ngram_indexes)), list(ngram_indexes)] = scale
    counts = Tensor.cat(*found, dim=-1) if len(found) > 1 else found[0]
    counts = counts.cast(dtypes.float32)
    if mode == "IDF":
        counts = (counts > 0).cast(counts.dtype)
    return counts @ constant(columns)


RULES: Rules = {
    "ArgMax": {1: _position(Tensor.argmax)},
    "ArgMin": {1: _position(Tensor.argmin)},
    "CumProd": {26: _running(Tensor.cumprod, 1)},
    "CumSum": {11: _running(Tensor.cumsum, 0)},
    "ReduceL1": _versions(lambda x, axes, keep: _sum(x.abs(), axes, keep), 18),
    "ReduceL2": _versions(_norm, 18),
    "ReduceLogSum": _versions(_log_of_sum, 18),
    "ReduceLogSumExp": _versions(_log_of_sum_of_exponentials, 18),
    "ReduceMax": _versions(Tensor.max, 18),
    "ReduceMean": _versions(_mean, 18),
    "ReduceMin": _versions(Tensor.min, 18),
    "ReduceProd": _versions(Tensor.prod, 18),
    "ReduceSum": _versions(_sum, 13),
    "ReduceSumSquare": _versions(_sum_of_squares, 18),
    "TfIdfVectorizer": {9: _ngram_counts},
}
