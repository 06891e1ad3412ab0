"""ATen ops that are sums of products: matrices, convolutions; and pools, which have windows too."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import numpy as np
import torch

from tgdialect.frontend.graph import Shape
from tgdialect.frontend.symbolic import SymInt
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.torch.ops.gradients import gradients
from tgdialect.interop.torch.rules import Refusal, Table, in_own_dtype, in_result_dtype

aten = torch.ops.aten


def _addmm(bias: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    if not bias.dtype.is_float:
        alpha, beta = int(alpha), int(beta)  # As PyTorch converts them.
    product = a.dot(b) if alpha == 1 else a.dot(b) * alpha
    if beta == 0:  # PyTorch does not read the bias then, which may have NaNs.
        return product.expand(product.shape)
    return product + (bias if beta == 1 else bias * beta)


def _convolution(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    n = weight.ndim - 2
    stride, padding, dilation, output_padding = (
        tuple(each) * (n if len(each) == 1 else 1)
        for each in (stride, padding, dilation, output_padding)
    )
    if transposed:
        return x.conv_transpose2d(weight, bias, groups, stride, dilation, padding, output_padding)
    return x.conv2d(weight, bias, groups, stride, dilation, padding)


def _convolution_gradients(
    gradient: Tensor,
    x: Tensor,
    weight: Tensor,
    bias_sizes: Sequence[int] | None,
    *options: Any,
) -> tuple[Tensor | None, ...]:
    *given, wanted = options
    function = lambda x, weight: _convolution(x, weight, None, *given)  # noqa: E731
    found = gradients(function, gradient, x, weight, wanted=wanted[:2])
    axes = [axis for axis in range(gradient.ndim) if axis != 1]
    return (*found, gradient.sum(axes) if wanted[2] else None)


def _each(size: Sequence[int], n: int = 2) -> tuple[int, ...]:
    """One number for each of n axes."""
    return tuple(size) * (n if len(size) == 1 else 1)


def _max_pool(
    x: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
    *,
    with_indices: bool = True,
    n: int = 2,
) -> Any:
    size = _each(kernel_size, n)
    steps, cells, around = _each(stride, n) or size, _each(dilation, n), _each(padding, n)
    return x.max_pool2d(size, steps, cells, around, ceil_mode, with_indices)


def _max_pool_gradient(gradient: Tensor, x: Tensor, *options: Any, n: int = 2) -> Tensor:
    *given, _ = options
    function = lambda x: _max_pool(x, *given, with_indices=False, n=n)  # noqa: E731
    (found,) = gradients(function, gradient, x)
    assert found is not None
    return found


def _avg_pool(
    x: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
    *,
    n: int = 2,
) -> Tensor:
    size = _each(kernel_size, n)
    steps, around = _each(stride, n) or size, _each(padding, n)
    return x.avg_pool2d(size, steps, 1, around, ceil_mode, count_include_pad, divisor_override)


def _avg_pool_gradient(gradient: Tensor, x: Tensor, *options: Any, n: int = 2) -> Tensor:
    (found,) = gradients(lambda x: _avg_pool(x, *options, n=n), gradient, x)
    assert found is not None
    return found


def _adaptive_max_pool(x: Tensor, sizes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """The maxima of windows that cover the last axes, and their positions. Raises Refusal for
    symbolic extents."""
    n = len(sizes)
    extents = x.shape[-n:]
    if (
        any(isinstance(extent, SymInt) for extent in cast(Shape, (*extents, *sizes)))
        or 0 in extents
    ):
        raise Refusal("adaptive maxima are of static extents that are not 0")
    # The cells of each window along each axis; those beyond its end are its first cell again.
    cells = np.zeros((1, 1), np.int64)
    for extent, size in zip(extents, sizes, strict=True):
        start = np.arange(size) * extent // size
        stop = -(-(np.arange(size) + 1) * extent // size)
        line = start[:, None] + np.arange((stop - start).max(initial=1))
        line = np.where(line < stop[:, None], line, start[:, None])
        both = cells[:, None, :, None] * extent + line[None, :, None, :]
        cells = both.reshape(len(cells) * size, -1)
    lead = x.shape[:-n]
    windows = x.reshape((*lead, math.prod(extents)))[..., Tensor(cells)]
    first = windows.argmax(-1, keepdim=True)
    places = Tensor(cells).expand(windows.shape).gather(-1, first)
    shape = (*lead, *sizes)
    return windows.max(-1).reshape(shape), places.reshape(shape)


def _adaptive_avg_pool(x: Tensor, sizes: Sequence[int]) -> Tensor:
    extents = x.shape[-len(sizes) :]
    if any(extent % size for extent, size in zip(extents, sizes, strict=True)):
        return x.interpolate(tuple(sizes), "area")
    return x.avg_pool2d(tuple(e // s for e, s in zip(extents, sizes, strict=True)))


def _trilinear(
    a: Tensor,
    b: Tensor,
    c: Tensor,
    expand1: Sequence[int],
    expand2: Sequence[int],
    expand3: Sequence[int],
    sumdim: Sequence[int],
    unroll_dim: int = 1,
) -> Tensor:
    """The sum of the products of three tensors, each with new axes at some places."""
    for axis in sorted(expand1):
        a = a.unsqueeze(axis)
    for axis in sorted(expand2):
        b = b.unsqueeze(axis)
    for axis in sorted(expand3):
        c = c.unsqueeze(axis)
    product = a * b * c
    return product.sum(tuple(sumdim)) if sumdim else product


def _pairwise_distances(x: Tensor, p: float = 2) -> Tensor:
    """The p-norms of the differences of each row and each later one."""
    first, second = np.triu_indices(x.shape[0], 1)
    distances = x.cdist(x, p).flatten()
    return distances[Tensor(first * x.shape[0] + second)]


PRODUCTS: Table = {
    **in_result_dtype(
        {
            aten.mm.default: lambda a, b: a.dot(b),
            aten.bmm.default: lambda a, b: a.dot(b),
            aten.addmm.default: _addmm,
            aten.baddbmm.default: _addmm,
            aten.mv.default: lambda a, b: a.dot(b),
            aten.dot.default: lambda a, b: a.dot(b),
            aten.convolution.default: _convolution,
            aten.addbmm.default: lambda bias, a, b, *, beta=1, alpha=1: _addmm(
                bias,
                a.permute([1, 0, 2]).reshape((a.shape[1], a.shape[0] * a.shape[2])),
                b.reshape((b.shape[0] * b.shape[1], b.shape[2])),
                beta=beta,
                alpha=alpha,
            ),
            aten.addmv.default: _addmm,
            aten._trilinear.default: _trilinear,
        }
    ),
    **in_own_dtype(
        {
            aten.convolution_backward.default: _convolution_gradients,
            aten.max_pool2d_with_indices.default: _max_pool,
            aten.max_pool2d_with_indices_backward.default: _max_pool_gradient,
            aten.avg_pool2d.default: _avg_pool,
            aten.avg_pool2d_backward.default: _avg_pool_gradient,
            aten.max_pool3d_with_indices.default: partial(_max_pool, n=3),
            aten.max_pool3d_with_indices_backward.default: partial(_max_pool_gradient, n=3),
            aten.avg_pool3d.default: partial(_avg_pool, n=3),
            aten.avg_pool3d_backward.default: partial(_avg_pool_gradient, n=3),
            aten.adaptive_max_pool2d.default: _adaptive_max_pool,
            aten.adaptive_max_pool3d.default: _adaptive_max_pool,
            aten._adaptive_avg_pool2d.default: _adaptive_avg_pool,
            aten._adaptive_avg_pool3d.default: _adaptive_avg_pool,
            aten._adaptive_avg_pool3d_backward.default: lambda gradient, x: gradients(
                partial(_adaptive_avg_pool, sizes=gradient.shape[-3:]), gradient, x
            )[0],
            aten._cdist_forward.default: lambda a, b, p, compute_mode: a.cdist(b, p),
            aten._pdist_forward.default: _pairwise_distances,
            aten._adaptive_avg_pool2d_backward.default: lambda gradient, x: gradients(
                partial(_adaptive_avg_pool, sizes=gradient.shape[-2:]), gradient, x
            )[0],
        }
    ),
}
