"""ATen ops that are sums of products: matrices, convolutions; and pools, which have windows too."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch

from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.torch.ops.gradients import gradients
from tgdialect.interop.torch.rules import Refusal, Table, in_own_dtype, in_result_dtype

aten = torch.ops.aten


def _addmm(bias: Tensor, a: Tensor, b: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
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


def _pair(size: Sequence[int]) -> tuple[int, ...]:
    return tuple(size) * (2 if len(size) == 1 else 1)


def _max_pool(
    x: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
    *,
    with_indices: bool = True,
) -> Any:
    size = _pair(kernel_size)
    steps, cells, around = _pair(stride) or size, _pair(dilation), _pair(padding)
    return x.max_pool2d(size, steps, cells, around, ceil_mode, with_indices)


def _max_pool_gradient(gradient: Tensor, x: Tensor, *options: Any) -> Tensor:
    *given, _ = options
    function = lambda x: _max_pool(x, *given, with_indices=False)  # noqa: E731
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
) -> Tensor:
    size = _pair(kernel_size)
    steps, around = _pair(stride) or size, _pair(padding)
    return x.avg_pool2d(size, steps, 1, around, ceil_mode, count_include_pad, divisor_override)


def _avg_pool_gradient(gradient: Tensor, x: Tensor, *options: Any) -> Tensor:
    (found,) = gradients(lambda x: _avg_pool(x, *options), gradient, x)
    assert found is not None
    return found


def _adaptive_avg_pool(x: Tensor, sizes: Sequence[int]) -> Tensor:
    """Raises Refusal unless the windows are all alike."""
    extents = x.shape[-len(sizes) :]
    if any(extent % size for extent, size in zip(extents, sizes, strict=True)):
        raise Refusal("adaptive pools whose windows have different sizes are not translated")
    return x.avg_pool2d(tuple(e // s for e, s in zip(extents, sizes, strict=True)))


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
        }
    ),
    **in_own_dtype(
        {
            aten.convolution_backward.default: _convolution_gradients,
            aten.max_pool2d_with_indices.default: _max_pool,
            aten.max_pool2d_with_indices_backward.default: _max_pool_gradient,
            aten.avg_pool2d.default: _avg_pool,
            aten.avg_pool2d_backward.default: _avg_pool_gradient,
            aten._adaptive_avg_pool2d.default: _adaptive_avg_pool,
            aten._adaptive_avg_pool2d_backward.default: lambda gradient, x: gradients(
                partial(_adaptive_avg_pool, sizes=gradient.shape[-2:]), gradient, x
            )[0],
        }
    ),
}
