"""Convolutions, and pooling, which uses the same windows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Self, cast

from tgdialect.frontend import dtypes
from tgdialect.frontend.base import check_integers, check_tensors
from tgdialect.frontend.dtypes import DTypeLike
from tgdialect.frontend.linear_algebra import LinearAlgebra
from tgdialect.frontend.precision import rounded_once
from tgdialect.frontend.scattering import Scattering
from tgdialect.frontend.symbolic import larger, smaller, to_dim

Size = int | Sequence[int]


class Convolutions(LinearAlgebra, Scattering):
    """Sums and extrema over windows."""

    __slots__ = ()

    def conv2d(
        self,
        weight: Self,
        bias: Self | None = None,
        groups: int = 1,
        stride: Size = 1,
        dilation: Size = 1,
        padding: Size | str = 0,
        dtype: DTypeLike = None,
    ) -> Self:
        """A convolution over as many axes as the weight has beyond two, of a batch or of one.

        Args:
            weight: (channels out, channels in / groups, *window).
            bias: (channels out,).
            groups: the number of groups of channels, which do not mix.
            stride: the distance of windows, for all axes or for each.
            dilation: the distance of the cells of a window.
            padding: the number of zeros at both ends, for all axes or for each; or pairs, from the
                last axis on; or "same", so that the result has this shape, or "valid" for none.
            dtype: the dtype of the sums.
        """
        # Check shapes; an input without a batch gets one.
        check_tensors(weight)
        sizes = weight.shape[2:]
        n = len(sizes)
        if n > 0 and self.ndim == n + 1:
            single = self.unsqueeze(0)
            return single.conv2d(weight, bias, groups, stride, dilation, padding, dtype).squeeze(0)
        _check_convolution("conv2d", self, weight, groups, 1)
        batch, out, inside = self.shape[0], *weight.shape[:2]
        if isinstance(padding, str):
            padding = same_padding(padding, stride, dilation, sizes)
        # (batch, groups, channels out / groups, *counts, channels in / groups, *window): products
        # of windows and weights, summed over the last axes.
        x = self._padded(_padding_pairs(padding, n), 0)
        x = x._windows(sizes, _each(stride, n), _each(dilation, n))
        counts = x.shape[2 : 2 + n]
        per = out // groups
        x = x.reshape((batch, groups, inside, 1, *counts, *sizes))
        x = x.permute([0, 1, 3, *range(4, 4 + n), 2, *range(4 + n, 4 + 2 * n)])
        w = weight.reshape((1, groups, per, *[1] * n, inside, *sizes))
        wanted = dtypes.to_dtype(dtype, dtypes.promote(self.dtype, weight.dtype))
        result = x._product(w)._total([-1 - i for i in range(1 + n)], wanted)
        result = result.reshape((batch, out, *counts))
        return result if bias is None else result + bias.reshape((1, out, *[1] * n))

    def conv_transpose2d(
        self,
        weight: Self,
        bias: Self | None = None,
        groups: int = 1,
        stride: Size = 1,
        dilation: Size = 1,
        padding: Size = 0,
        output_padding: Size = 0,
    ) -> Self:
        """The transpose of a convolution; the weight is (channels in, channels out / groups,
        *window)."""
        # Check shapes; an input without a batch gets one.
        check_tensors(weight)
        sizes = weight.shape[2:]
        n = len(sizes)
        if n > 0 and self.ndim == n + 1:
            options = groups, stride, dilation, padding, output_padding
            return self.unsqueeze(0).conv_transpose2d(weight, bias, *options).squeeze(0)
        _check_convolution("conv_transpose2d", self, weight, groups, 0)
        strides, dilations = _each(stride, n), _each(dilation, n)
        if min(*strides, *dilations) <= 0:
            raise ValueError(f"conv_transpose2d with stride {stride} and dilation {dilation}")
        # The weight, with channels exchanged and windows reversed.
        more = _each(output_padding, n)
        inside, per = weight.shape[:2]
        w = weight.reshape((groups, inside // groups, per, *sizes)).transpose(1, 2)
        w = w.reshape((groups * per, inside // groups, *sizes)).flip(list(range(2, 2 + n)))
        # The input, with stride - 1 zeros between cells.
        x = self._dilated(strides)
        # A convolution with stride 1, padded so that each cell reaches all windows that had it.
        each = zip(sizes, dilations, _padding_pairs(padding, n), more, strict=True)
        around = [((k - 1) * d - a, (k - 1) * d - b + o) for k, d, (a, b), o in each]
        x = x._padded(around, 0)
        return x.conv2d(w, bias, groups=groups, dilation=dilations)

    # -- pooling -----------------------------------------------------------------------------------

    def _pooled(self, window: MovingWindow, fill: float) -> Self:
        """The cells of windows, in a last axis."""
        n = len(window.sizes)
        if self.ndim < n:
            raise ValueError(f"windows of {n} axes of a tensor with {self.ndim}")
        x = self._padded(window.padding, fill)
        return x._windows(window.sizes, window.strides, window.dilations).flatten(self.ndim)

    def max_pool2d(
        self,
        kernel_size: Size = (2, 2),
        stride: Size | None = None,
        dilation: Size = 1,
        padding: Size = 0,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Self | tuple[Self, Self]:
        """The maximum of each window, and its position if `return_indices`."""
        window = MovingWindow.of(kernel_size, stride, dilation, padding)
        extents = self.shape[-len(window.sizes) :]
        window = window.up_to_whole(extents) if ceil_mode else window
        windows = self._pooled(window, self.dtype.low)
        values = windows.max(-1)
        if not return_indices:
            return values
        places = self.arange(math.prod(extents)).reshape(extents)._broadcast_to(self.shape)
        positions = places._pooled(window, -1)
        first = windows.argmax(-1, keepdim=True)
        return values, positions.gather(-1, first).squeeze(-1)

    def im2col(
        self, kernel_size: Size, dilation: Size = 1, padding: Size = 0, stride: Size = 1
    ) -> Self:
        """The windows of images as columns: PyTorch's `nn.functional.unfold`, of which `unfold` is
        another function.

        Args:
            kernel_size, dilation, padding, stride: the windows over the last two axes, or over as
                many as `kernel_size` has.

        (batch, channels, *extents) becomes (batch, channels * cells of a window, windows); the
        batch may be absent. Raises ValueError for other shapes, and if no window fits.
        """
        window = MovingWindow.of(kernel_size, stride, dilation, padding)
        n = len(window.sizes)
        if self.ndim not in (n + 1, n + 2):
            raise ValueError(f"im2col of {self.shape}: (batch, channels) and {n} axes for windows")
        windows = self._pooled(window, 0)
        *lead, channels = self.shape[: self.ndim - n]
        counts = windows.shape[-1 - n : -1]
        cells = windows.movedim(-1, len(lead) + 1)
        return cells.reshape((*lead, channels * cells.shape[len(lead) + 1], math.prod(counts)))

    def max_unpool2d(
        self,
        indices: Self,
        kernel_size: Size = (2, 2),
        stride: Size | None = None,
        dilation: Size = 1,
        padding: Size = 0,
        output_size: Sequence[int] | None = None,
    ) -> Self:
        """The inverse of `max_pool2d`: the values at the positions in `indices`, zeros elsewhere.

        Args:
            indices: the positions that `max_pool2d` returned for the same window.
            kernel_size, stride, dilation, padding: the window.
            output_size: the shape, or its last axes; by default the extents that the windows span.
                It may differ from these by less than a stride.
        """
        check_integers("indices", indices)
        window = MovingWindow.of(kernel_size, stride, dilation, padding)
        n = len(window.sizes)
        if self.ndim < n or indices.shape != self.shape:
            raise ValueError(f"max_unpool2d of {self.shape} in {n} axes by {indices.shape}")
        lead, counts = self.shape[: self.ndim - n], self.shape[self.ndim - n :]
        each = zip(counts, *window, strict=True)
        spans = tuple((c - 1) * s + d * (k - 1) + 1 - a - b for c, k, s, d, (a, b) in each)
        extents = spans if output_size is None else tuple(to_dim(e) for e in output_size)[-n:]
        if len(extents) != n or any(
            abs(e - span) >= s for e, span, s in zip(extents, spans, window.strides, strict=True)
        ):
            raise ValueError(f"max_unpool2d to {output_size}: windows span {spans}")
        flat = self.zeros(*lead, math.prod(extents), dtype=self.dtype)
        values, places = (t.reshape((*lead, math.prod(counts))) for t in (self, indices))
        return flat.scatter(-1, places, values).reshape((*lead, *extents))

    @rounded_once
    def avg_pool2d(
        self,
        kernel_size: Size = (2, 2),
        stride: Size | None = None,
        dilation: Size = 1,
        padding: Size = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Self:
        """The mean of each window; its sum over `divisor_override` if that is given."""
        given = MovingWindow.of(kernel_size, stride, dilation, padding)
        extents = self.shape[-len(given.sizes) :]
        window = given.up_to_whole(extents) if ceil_mode else given
        windows = self._pooled(window, 0)
        if divisor_override is not None:
            if divisor_override == 0:
                raise ValueError("divisor_override is 0")
            return windows._float().sum(-1) / divisor_override
        if count_include_pad and not ceil_mode:
            return windows.mean(-1)
        ones = self.full(extents, 1, dtypes.as_float(self.dtype))
        if count_include_pad:
            both = zip(window.padding, given.padding, strict=True)
            ones = ones._padded(given.padding, 1)
            window = window._replace(padding=[(0, w - p) for (_, w), (_, p) in both])
        return windows._float().sum(-1) / ones._pooled(window, 0).sum(-1)


class MovingWindow(NamedTuple):
    """A window that moves over axes: for each axis its size, the distance of windows and of their
    cells, and the padding before and after the axis."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding: list[tuple[int, int]]

    @staticmethod
    def of(size: Size, stride: Size | None, dilation: Size, padding: Size) -> MovingWindow:
        """The window of these numbers, each for all axes or one for each. It has two axes if its
        size is a single number, and no windows overlap without a stride."""
        n = len(size) if isinstance(size, list | tuple) else 2
        sizes = _each(size, n)
        strides = sizes if stride is None else _each(stride, n)
        return MovingWindow(sizes, strides, _each(dilation, n), _padding_pairs(padding, n))

    def up_to_whole(self, extents: Sequence[int]) -> MovingWindow:
        """This window with padding that completes the last one, if it begins inside but is cut off
        at the end."""
        result: list[tuple[int, int]] = []
        for e, k, s, d, (a, b) in zip(extents, *self, strict=True):
            count = -(-(e + a + b - d * (k - 1) - 1) // s) + 1
            # A window begins at less than e + a, the last one or the one before it.
            count = smaller(count, larger(-(-(e + a) // s), count - 1))
            result.append((a, (count - 1) * s + d * (k - 1) + 1 - (e + a)))
        return self._replace(padding=result)


def _each(size: Size, n: int) -> tuple[int, ...]:
    """One number for each of n axes."""
    result = tuple(size) if isinstance(size, list | tuple) else (cast(int, size),) * n
    if len(result) != n:
        raise ValueError(f"{size} for {n} axes")
    return tuple(to_dim(s) for s in result)


def _padding_pairs(padding: Size, n: int) -> list[tuple[int, int]]:
    """Zeros before and after each of n axes."""
    if not isinstance(padding, list | tuple):
        return [(to_dim(padding), to_dim(padding))] * n
    given = tuple(to_dim(p) for p in padding)
    if len(given) == n:
        return [(p, p) for p in given]
    if len(given) != 2 * n:
        raise ValueError(f"padding {given} for {n} axes")
    return list(zip(given[::2], given[1::2], strict=True))[::-1]


def same_padding(padding: str, stride: Size, dilation: Size, sizes: Sequence[int]) -> Size:
    """The padding `"same"` or `"valid"` as numbers, from the last axis on."""
    if padding == "valid":
        return 0
    if padding != "same":
        raise ValueError(f"padding is a size, same or valid, got {padding!r}")
    n = len(sizes)
    if _each(stride, n) != (1,) * n:
        raise ValueError("padding='same' is not supported for strided convolutions")
    totals = [d * (k - 1) for d, k in zip(_each(dilation, n), sizes, strict=True)]
    return [part for t in reversed(totals) for part in (t // 2, t - t // 2)]


def _check_convolution(
    name: str, x: Convolutions, weight: Convolutions, groups: int, inner_axis: int
) -> None:
    """Raise an error unless a convolution has its shapes. `inner_axis` is that of the weight whose
    channels are those of the input, in each group if it is not the first."""
    if groups <= 0:
        raise ValueError(f"{name} in {groups} groups")
    is_refused = weight.ndim < 3 or x.ndim != weight.ndim or weight.shape[0] % groups != 0
    if is_refused or x.shape[1] != weight.shape[inner_axis] * groups**inner_axis:
        raise RuntimeError(f"{name} of {x.shape} with weight {weight.shape} in {groups} groups")
