"""Convolutions and pools."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tgdialect.frontend import dtypes
from tgdialect.frontend.symbolic import larger
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx.rules import Call, Rules, known, raw
from tgdialect.interop.onnx.values import Refused, Value, as_tensor, dims
from tgdialect.ops.numpy_dtypes import Array

Ints = Sequence[int] | None


class Window(NamedTuple):
    """A window over the last axes: extents, strides, distances of cells, and pairs of padding."""

    sizes: Sequence[int]
    strides: Sequence[int]
    dilations: Sequence[int]
    pads: Sequence[tuple[int, int]]

    @staticmethod
    def of(
        x: Tensor,
        sizes: Sequence[int],
        strides: Ints,
        dilations: Ints,
        pads: Ints,
        auto_pad: str,
    ) -> Window:
        """The window that the attributes of an operator on x describe."""
        n = x.ndim - 2
        strides, dilations = strides or (1,) * n, dilations or (1,) * n
        _check(n, kernel_shape=sizes, strides=strides, dilations=dilations)
        spans = [d * (k - 1) + 1 for k, d in zip(sizes, dilations, strict=True)]
        if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
            each = zip(x.shape[2:], strides, spans, strict=True)
            found = [_same(e, s, span, auto_pad) for e, s, span in each]
        else:
            found = _pairs(pads, n, auto_pad)
        return Window(sizes, strides, dilations, found)

    @property
    def padding(self) -> tuple[int, ...]:
        """The padding as `conv2d` and the pools take it: from the last axis on."""
        return tuple(number for pair in reversed(self.pads) for number in pair)


def _check(n: int, **attributes: Sequence[int]) -> None:
    for name, values in attributes.items():
        if len(values) != n or min(values, default=1) < 1:
            raise Refused(f"{name} {tuple(values)}: it has a positive number for each of {n} axes")


def _pairs(pads: Ints, n: int, auto_pad: str) -> list[tuple[int, int]]:
    if auto_pad not in ("NOTSET", "VALID", ""):
        raise Refused(f"auto_pad {auto_pad!r}: it is NOTSET, VALID, SAME_UPPER or SAME_LOWER")
    if not pads or auto_pad == "VALID":
        return [(0, 0)] * n
    if len(pads) != 2 * n:
        raise Refused(f"pads {tuple(pads)}: it has two numbers for each of {n} axes")
    return list(zip(pads[:n], pads[n:], strict=True))


def _same(extent: int, stride: int, span: int, auto_pad: str) -> tuple[int, int]:
    """The padding that makes as many windows as there are strides in an extent, begun ones counted.
    The odd cell is at the end, or, by SAME_LOWER, at the beginning. Strides that are longer than
    windows need none; ONNX Runtime has negative padding there, by operators of its own choice."""
    count = -(-extent // stride)
    return _halves(larger((count - 1) * stride + span - extent, 0), auto_pad == "SAME_UPPER")


def _halves(total: int, is_upper: bool) -> tuple[int, int]:
    less = total // 2
    return (less, total - less) if is_upper else (total - less, less)


# -- layouts


def to_channels_first(x: Tensor) -> Tensor:
    """(batch, *extents, channels) as (batch, channels, *extents)."""
    return x.permute(0, x.ndim - 1, *range(1, x.ndim - 1))


def to_channels_last(x: Tensor) -> Tensor:
    """(batch, channels, *extents) as (batch, *extents, channels)."""
    return x.permute(0, *range(2, x.ndim), 1)


# -- convolutions


def convolution(
    x: Tensor,
    w: Tensor,
    b: Tensor | None = None,
    *,
    group: int = 1,
    kernel_shape: Ints = None,
    strides: Ints = None,
    dilations: Ints = None,
    pads: Ints = None,
    auto_pad: str = "NOTSET",
) -> Tensor:
    """Conv; sums of integers are as wide as the operands."""
    window = Window.of(x, kernel_shape or w.shape[2:], strides, dilations, pads, auto_pad)
    return x.conv2d(w, b, group, window.strides, window.dilations, window.padding)


def _transposed(
    x: Tensor,
    w: Tensor,
    b: Tensor | None = None,
    *,
    group: int = 1,
    kernel_shape: Ints = None,
    strides: Ints = None,
    dilations: Ints = None,
    pads: Ints = None,
    output_padding: Ints = None,
    output_shape: Ints = None,
    auto_pad: str = "NOTSET",
) -> Tensor:
    n = x.ndim - 2
    sizes = kernel_shape or w.shape[2:]
    strides, dilations = strides or (1,) * n, dilations or (1,) * n
    more = output_padding or (0,) * n
    _check(n, kernel_shape=sizes, strides=strides, dilations=dilations)
    is_same = auto_pad in ("SAME_UPPER", "SAME_LOWER")
    if output_shape or is_same:
        # The padding follows from the extents of the result.
        each = zip(x.shape[2:], strides, strict=True)
        wanted = output_shape[-n:] if output_shape else [e * s for e, s in each]
        found: list[tuple[int, int]] = []
        rows = zip(x.shape[2:], wanted, sizes, strides, dilations, more, strict=True)
        for extent, size, k, s, d, o in rows:
            total = (extent - 1) * s + d * (k - 1) + 1 + o - size
            before, _ = _halves(larger(total, 0), auto_pad == "SAME_UPPER")
            found.append((before, total - before))
    else:
        found = _pairs(pads, n, auto_pad)
    padding = tuple(number for pair in reversed(found) for number in pair)
    return x.contiguous().conv_transpose2d(w, b, group, strides, dilations, padding, more)


def _deformed(
    x: Tensor,
    w: Tensor,
    offset: Tensor,
    b: Tensor | None = None,
    mask: Tensor | None = None,
    *,
    group: int = 1,
    offset_group: int = 1,
    kernel_shape: Ints = None,
    strides: Ints = None,
    dilations: Ints = None,
    pads: Ints = None,
) -> Tensor:
    """Each cell of a window is read at a place of its own, between cells of the input."""
    window = Window.of(x, kernel_shape or w.shape[2:], strides, dilations, pads, "NOTSET")
    n, (batch, channels) = x.ndim - 2, x.shape[:2]
    cells, counts = math.prod(window.sizes), offset.shape[2:]
    out, inside = w.shape[:2]
    offsets = offset.reshape(batch, offset_group, cells, n, *counts)
    # The places along each axis: (batch, groups of offsets, cells, *counts).
    places: list[Tensor] = []
    for axis in range(n):
        of_cell = np.arange(window.sizes[axis]) * window.dilations[axis] - window.pads[axis][0]
        of_cell = of_cell.reshape([-1 if i == axis else 1 for i in range(n)])
        of_cell = np.broadcast_to(of_cell, tuple(window.sizes)).reshape(-1)
        line = Tensor.arange(counts[axis]) * window.strides[axis]
        line = line.reshape([-1 if i == axis else 1 for i in range(n)])
        regular = Tensor(of_cell).reshape(cells, *[1] * n) + line
        places.append(offsets[:, :, :, axis] + regular.cast(offset.dtype))
    # The mean of the cells around each place, weighted by how near they are.
    flat = x.reshape(batch, offset_group, channels // offset_group, math.prod(x.shape[2:]))
    sampled: Tensor | None = None
    for corner in np.ndindex(*[2] * n):
        weight, index, inner = None, None, None
        for axis, bit in enumerate(corner):
            extent = x.shape[2 + axis]
            low = places[axis].floor()
            near = (places[axis] - low) if bit else (1 - (places[axis] - low))
            at = (low + bit).cast(dtypes.int64)
            is_in = (at >= 0) & (at < extent)
            weight = near if weight is None else weight * near
            index = at if index is None else index * extent + at
            inner = is_in if inner is None else inner & is_in
        assert weight is not None
        assert index is not None
        assert inner is not None
        shape = (batch, offset_group, 1, cells * math.prod(counts))
        where = inner.where(index, 0).reshape(shape)
        values = flat.gather(-1, where.expand(*flat.shape[:3], shape[-1]))
        term = values * inner.where(weight, 0).reshape(shape)
        sampled = term if sampled is None else sampled + term
    assert sampled is not None
    if mask is not None:
        sampled = sampled * mask.reshape(batch, offset_group, 1, cells * math.prod(counts))
    columns = sampled.reshape(batch, group, inside * cells, math.prod(counts))
    result = w.reshape(1, group, out // group, inside * cells).matmul(columns)
    result = result.reshape(batch, out, *counts)
    return result if b is None else result + b.reshape(1, out, *[1] * n)


def causal_convolution(
    x: Tensor,
    w: Tensor,
    b: Tensor | None = None,
    past: Tensor | None = None,
    *,
    activation: str = "none",
    dilation: int = 1,
    ndim: int = 1,
    **others: int,
) -> tuple[Tensor, Tensor]:
    """CausalConvWithState: each channel of (batch, channels, places) with its own window, which
    ends at a place; before the first one are those of `past`, or zeros. The second result is the
    past of what follows."""
    if activation not in ("none", "silu", "swish"):
        raise Refused(f"activation {activation!r}: it is none, silu or swish")
    if ndim != 1 or x.ndim != 3 or any(value > 0 for value in others.values()):
        raise Refused(f"ndim {ndim} and {', '.join(others) or 'no others'}: it has one axis")
    length = (w.shape[-1] - 1) * dilation
    longer = x.pad([length, 0]) if past is None else past.cat(x, dim=-1)
    result = longer.conv2d(w, b, groups=x.shape[1], dilation=(dilation,))
    result = result if activation == "none" else result.silu()
    places = longer.shape[-1]
    return result, longer.shrink([None, None, (places - length, places)])


# -- pools


def max_pool(
    x: Tensor,
    *,
    kernel_shape: Sequence[int],
    strides: Ints = None,
    dilations: Ints = None,
    pads: Ints = None,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    return_indices: bool = False,
) -> Any:
    """MaxPool, with places in each image if `return_indices`."""
    window = Window.of(x, kernel_shape, strides, dilations, pads, auto_pad)
    return x.max_pool2d(*window[:3], window.padding, bool(ceil_mode), return_indices)


def _max_pool(call: Call, operand: Value, *, storage_order: int = 0, **given: Any) -> Any:
    x = as_tensor(operand)
    if len(call.node.output) == 1:
        return max_pool(x, **given)
    values, places = max_pool(x, return_indices=True, **given)
    # Indices count the cells of the whole tensor; those of an image by columns, if asked for.
    extents = x.shape[2:]
    places = places.cast(dtypes.int64)
    if storage_order:
        ordered, rest, scale = places.zeros_like(), places, 1
        strides_of = [math.prod(extents[i + 1 :]) for i in range(len(extents))]
        for extent, step in zip(extents, strides_of, strict=True):
            ordered = ordered + (rest // step) * scale
            rest, scale = rest % step, scale * extent
        places = ordered
    images = Tensor.arange(x.shape[0] * x.shape[1], dtype=dtypes.int64) * math.prod(extents)
    return values, places + images.reshape(*x.shape[:2], *[1] * len(extents))


def average_pool(
    x: Tensor,
    *,
    kernel_shape: Sequence[int],
    strides: Ints = None,
    dilations: Ints = None,
    pads: Ints = None,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
) -> Tensor:
    """AveragePool."""
    window = Window.of(x, kernel_shape, strides, dilations, pads, auto_pad)
    is_inside = window.padding == (0,) * len(window.padding) and not ceil_mode
    counts_pads = bool(count_include_pad) or is_inside
    return x.avg_pool2d(*window[:3], window.padding, bool(ceil_mode), counts_pads)


def _lp_pool(
    x: Tensor,
    *,
    kernel_shape: Sequence[int],
    p: int = 2,
    strides: Ints = None,
    dilations: Ints = None,
    pads: Ints = None,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
) -> Tensor:
    window = Window.of(x, kernel_shape, strides, dilations, pads, auto_pad)
    powers = x.abs().pow(p)
    total = powers.avg_pool2d(*window[:3], window.padding, bool(ceil_mode), divisor_override=1)
    return total.pow(1 / p)


def _global(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A reduction of all axes behind batch and channels."""
    return lambda x, **given: function(x, tuple(range(2, x.ndim)), **given)


def _max_unpool(
    x: Tensor,
    places: Tensor,
    output_shape: Array | None = None,
    *,
    kernel_shape: Sequence[int],
    strides: Ints = None,
    pads: Ints = None,
) -> Tensor:
    window = Window.of(x, kernel_shape, strides, None, pads, "NOTSET")
    each = zip(x.shape[2:], window.sizes, window.strides, window.pads, strict=True)
    shape = [*x.shape[:2], *((e - 1) * s + k - a - b for e, k, s, (a, b) in each)]
    flat = Tensor.zeros(math.prod(shape), dtype=x.dtype)
    flat[places.flatten()] = x.flatten()
    found = flat.reshape(shape)
    # Indices count the cells of the natural shape; a larger one has zeros at the ends.
    return found if output_shape is None else found.pad_to(dims(output_shape))


def _roi_pool(
    x: Tensor, rois: Tensor, *, pooled_shape: Sequence[int], spatial_scale: float = 1.0
) -> Tensor:
    """The maxima of parts of regions of images. A region is (image, x1, y1, x2, y2), both ends
    included, in cells after scaling and rounding away from zero."""
    images = x[rois[:, 0].cast(dtypes.int64)]
    scaled = rois[:, 1:] * spatial_scale
    ends = (scaled.abs() + 0.5).floor() * scaled.sign()
    for axis, parts in enumerate(pooled_shape):
        extent = x.shape[2 + axis]
        start, stop = ends[:, 1 - axis], ends[:, 3 - axis]
        step = (stop - start + 1).maximum(1) / parts
        part = Tensor.arange(parts).cast(x.dtype)
        first = (part * step.unsqueeze(-1)).floor() + start.unsqueeze(-1)
        last = ((part + 1) * step.unsqueeze(-1)).ceil() + start.unsqueeze(-1)
        cells = Tensor.arange(extent).cast(x.dtype)
        is_in = (cells >= first.unsqueeze(-1)) & (cells < last.unsqueeze(-1))
        # (regions, 1, parts, cells, 1) for rows; columns are last.
        moved = images if axis else images.transpose(2, 3)
        shape = (rois.shape[0], 1, 1, parts, extent)
        largest = is_in.reshape(shape).where(moved.unsqueeze(-2), -math.inf).max(-1)
        images = largest if axis else largest.transpose(2, 3)
    return images.eq(-math.inf).where(0, images)


RULES: Rules = {
    "AveragePool": {7: average_pool},
    "CausalConvWithState": {27: causal_convolution},
    "Conv": {1: convolution},
    "ConvTranspose": {1: _transposed},
    "DeformConv": {19: _deformed},
    "GlobalAveragePool": {1: _global(lambda x, axes: x.mean(axes, keepdim=True))},
    "GlobalLpPool": {
        2: _global(lambda x, axes, p=2: x.abs().pow(p).sum(axes, keepdim=True).pow(1 / p))
    },
    "GlobalMaxPool": {1: _global(lambda x, axes: x.max(axes, keepdim=True))},
    "LpPool": {2: _lp_pool},
    "MaxPool": {1: raw(_max_pool)},
    "MaxRoiPool": {1: _roi_pool},
    "MaxUnpool": {9: known(_max_unpool, 2)},
}
