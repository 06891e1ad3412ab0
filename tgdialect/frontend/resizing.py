"""Resizing images: nearest, linear, cubic and area interpolation, one axis after the other; and
sampling them at given places."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Generic, Self, TypeVar, cast

from tgdialect.frontend import dtypes
from tgdialect.frontend.indexing import Indexing
from tgdialect.frontend.symbolic import SymInt, greatest, is_surely_less, larger, to_dim
from tgdialect.ops import tg

_MODES = {"bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}
"""PyTorch's names of modes."""
_CUBIC = -0.75
"""The slope of the cubic kernel one cell beside its middle (Keys, 1981)."""
_CUBIC_OF_FILTERS = -0.5
"""The same where it is a filter against aliasing, as in PyTorch and Pillow."""

_MOST_PARTS = 1 << 20
"""The greatest denominator of a factor of a symbolic extent: the product fits into an i64."""

T = TypeVar("T", bound="Resizing")
Sizes = int | Sequence[int]
Factors = float | Sequence[float]


class Resizing(Indexing):
    """Interpolation along axes, and at places."""

    __slots__ = ()

    def interpolate(
        self,
        size: Sizes | None = None,
        mode: str = "linear",
        align_corners: bool = False,
        scale_factor: Factors | None = None,
        recompute_scale_factor: bool = False,
        antialias: bool = False,
    ) -> Self:
        """Resize the last axes as PyTorch does: to the nearest cell, linearly, by cubic functions,
        or by areas.

        Args:
            size: the new extents of as many last axes, or one for all axes but the first two.
            mode: linear (along each axis; also bilinear and trilinear), nearest, nearest-exact,
                cubic (also bicubic), or area: the mean of the cells that a new cell covers.
            align_corners: whether the first and the last cells keep their values, in linear and
                cubic mode.
            scale_factor: what the extents are multiplied with, in place of `size`. Positions are
                computed from it, or from the new extents if `recompute_scale_factor`.
            antialias: whether the kernel of the linear or cubic mode, where there are fewer new
                cells, is as much wider as these are.

        Integers are rounded after each axis, from the last one on, halves up.
        """
        sizes, scales = self._resized_to(size, scale_factor)
        if 0 in self.shape[-len(sizes) :]:
            raise ValueError(f"interpolate of shape {self.shape}: an axis without elements")
        first = self.ndim - len(sizes)
        x = self
        extents = self.shape[first:]
        # Cells along the last axis are gathered one by one, whole rows along others. So what makes
        # rows fewer comes before it, and what makes them more after it. Integers are rounded
        # between two axes, the last of which is PyTorch's first.
        last = len(sizes) - 1
        is_fewer = [is_surely_less(s, e) for s, e in zip(sizes, extents, strict=True)]
        fewer = [i for i in range(last) if self.dtype.is_float and is_fewer[i]]
        order = [*fewer, last, *(i for i in reversed(range(last)) if i not in fewer)]
        for i in order:
            scale = None if recompute_scale_factor else scales[i]
            step = self._ratio(extents[i], sizes[i]) if scale is None else 1 / scale
            kind = _MODES.get(mode, mode)
            if antialias and kind in ("linear", "cubic"):
                if align_corners:
                    step = self._ratio(extents[i] - 1, sizes[i] - 1) if sizes[i] > 1 else 0.0
                x = x._filtered(first + i, sizes[i], kind, step)
            else:
                x = x._resized(first + i, sizes[i], kind, align_corners, step)
            # Cells are computed once, but may be picked where they are needed.
            x = x if i == order[-1] or mode.startswith("nearest") else x.contiguous()
        return x._apart_from(self)

    def grid_sample(
        self,
        grid: Self,
        mode: str = "bilinear",
        padding_mode: str = "zeros",
        align_corners: bool = False,
    ) -> Self:
        """The cells of images at places, as PyTorch's `grid_sample`, for any number of axes.

        Args:
            grid: places, of shape (N, *extents, axes) for a tensor of shape (N, C, *axes): on its
                last axis the coordinates, from -1 to 1, the one along the last axis first.
            mode: bilinear (along each axis), nearest (ties to even), or bicubic.
            padding_mode: what is beyond the borders: zeros, the cells at the border, or the
                reflection of the image.
            align_corners: whether -1 and 1 are the middles of the cells at the borders, or their
                outer edges.

        Returns a tensor of shape (N, C, *extents).
        """
        kind = _MODES.get(mode, mode)
        if kind not in ("nearest", "linear", "cubic"):
            raise ValueError(f"mode is nearest, bilinear or bicubic, got {mode!r}")
        if padding_mode not in ("zeros", "border", "reflection"):
            raise ValueError(f"padding_mode is zeros, border or reflection, got {padding_mode!r}")
        n, c, *extents = self.shape
        if grid.ndim != self.ndim or grid.shape[0] != n or grid.shape[-1] != len(extents):
            raise ValueError(f"grid_sample of {self.shape} at places of shape {grid.shape}")
        wide = dtypes.float64 if self.dtype.bits > 32 else dtypes.float32
        out = grid.shape[1:-1]
        count = math.prod(out)
        lines = grid.cast(wide).reshape((n, count, len(extents)))
        taps: list[list[tuple[Self, Self | None]]] = []
        for axis, extent in enumerate(extents):
            place = lines[:, :, len(extents) - 1 - axis] + 1
            length = self._number(extent, wide) if isinstance(extent, SymInt) else float(extent)
            low, high = (0.0, length - 1) if align_corners else (-0.5, length - 0.5)
            at = place / 2 * (length - 1) if align_corners else (place * length - 1) / 2
            at = at.round() if kind == "nearest" else at
            border = _Border(padding_mode, low, high, length)
            # Cubic samples beyond a border have cells of their own, as in PyTorch.
            at = at if kind == "cubic" else border.moved(at)
            base = at.floor()
            part = at - base
            weights: dict[int, Self | None] = {0: None}
            if kind == "linear":
                weights = {0: 1 - part, 1: part}
            elif kind == "cubic":
                weights = {k: _cubic_weight((k - part).abs()) for k in range(-1, 3)}
            taps.append([border.cell(base + k, weight) for k, weight in weights.items()])
        flat = self.cast(wide).reshape((n, c, math.prod(extents)))
        total: Self | None = None
        for tap in product(*taps):
            linear: Self | None = None
            weight: Self | None = None
            for (index, factor), extent in zip(tap, extents, strict=True):
                linear = index if linear is None else linear * extent + index
                if factor is not None:
                    weight = factor if weight is None else weight * factor
            assert linear is not None
            index = linear.contiguous().unsqueeze(1).expand((n, c, count))
            cells = flat.gather(2, index)
            cells = cells if weight is None else cells * weight.contiguous().unsqueeze(1)
            total = cells if total is None else total + cells
        assert total is not None
        return total.cast(self.dtype).reshape((n, c, *out))

    def _ratio(self, a: int, b: int) -> float | Self:
        """a / b in f64: a number, or a scalar of symbolic sizes."""
        if isinstance(a, SymInt) or isinstance(b, SymInt):
            return self._number(a, dtypes.float64) / self._number(b, dtypes.float64)
        return a / b

    def _resized_to(
        self, size: Sizes | None, scale_factor: Factors | None
    ) -> tuple[tuple[int, ...], tuple[float | None, ...]]:
        """New extents, and the factors that they are computed from, if these are given."""
        if (size is None) == (scale_factor is None):
            raise ValueError("interpolate takes either size or scale_factor")
        given = scale_factor if size is None else size
        count = max(self.ndim - 2, 1)
        each = tuple(given) if isinstance(given, list | tuple) else (cast(float, given),) * count
        # A number is positive. A symbolic size is, if it is now.
        numbers = [greatest(cast(int, e)) for e in each]
        if not 0 < len(each) <= self.ndim or min(numbers) <= 0:
            name = "scale_factor" if size is None else "size"
            raise ValueError(f"{name} {given} for a tensor with {self.ndim} axes")
        if size is not None:
            return tuple(to_dim(cast(int, s)) for s in each), (None,) * len(each)
        sizes = tuple(_scaled(d, f) for d, f in zip(self.shape[-len(each) :], each, strict=True))
        if 0 in sizes:
            raise ValueError(f"scale_factor {given} of {self.shape}: an axis without elements")
        return sizes, each

    def _resized(
        self, axis: int, size: int, mode: str, align_corners: bool, step: float | Self
    ) -> Self:
        """One axis resized. New cells are `step` old ones apart."""
        extent = self.shape[axis]
        line = self.arange(size).cast(dtypes.float64)
        if mode in ("nearest", "nearest-exact"):
            shift = 0.5 if mode == "nearest-exact" else 0.0
            return self._cells(axis, ((line + shift) * step).floor())
        if mode == "area":
            return self._averaged(axis, size)
        if mode not in ("linear", "cubic"):
            raise ValueError(f"mode is linear, nearest, nearest-exact, cubic or area, got {mode!r}")
        if align_corners:
            place = line * self._ratio(extent - 1, larger(size - 1, 1))
        else:
            place = (line + 0.5) * step - 0.5
        if mode == "linear":
            place = place.clamp(0, extent - 1)
        low = place.floor()
        part = place - low
        if mode == "linear":
            return self._blended(axis, low, [1 - part, part])
        weights = [_cubic_weight(distance) for distance in (part + 1, part, 1 - part, 2 - part)]
        return self._blended(axis, low - 1, weights)

    def _filtered(self, axis: int, size: int, mode: str, step: float | Self) -> Self:
        """One axis resized by a kernel that is as wide as a new cell, if that is wider than an old
        one. Cells outside of the axis do not count."""
        if not isinstance(step, float | int):
            raise ValueError("interpolate with antialias of a symbolic size is not supported")
        extent, wide = self.shape[axis], max(float(step), 1.0)
        reach = (1 if mode == "linear" else 2) * wide
        middle = (self.arange(size).cast(dtypes.float64) + 0.5) * step
        first = (middle - reach + 0.5).floor()
        weights: list[Self] = []
        for tap in range(math.ceil(2 * reach) + 1):
            cell = first + tap
            distance = (cell + 0.5 - middle).abs() / wide
            kernel = (1 - distance).maximum(0)
            if mode == "cubic":
                kernel = (distance < 2).where(_cubic_weight(distance, _CUBIC_OF_FILTERS), 0)
            weights.append(((cell >= 0) & (cell < extent)).where(kernel, 0))
        total = reduce(operator.add, weights)
        return self._blended(axis, first, [weight / total for weight in weights])

    def _cells(self, axis: int, position: Self) -> Self:
        """The cells at positions along an axis; beyond the ends, those at the ends."""
        # Clamped after they are stored, so that it is known that they are inside.
        place = position.cast(dtypes.int32).contiguous().clamp(0, self.shape[axis] - 1)
        return self.transpose(0, axis)._indexed(place).transpose(0, axis)

    def _blended(self, axis: int, first: Self, weights: Sequence[Self]) -> Self:
        """Sums of neighbours along an axis, from positions on, with these weights."""
        wide = self._accurate().dtype
        if self.dtype.is_integer and self.dtype.bits <= 8 and len(weights) == 2:
            # As PyTorch: weights in fixed point with 15 bits, so that ties round alike. f32 is
            # exact.
            high = (weights[1] * 2**15).round() * 2**-15
            weights, wide = [1 - high, high], dtypes.float32
        elif not self.dtype.is_float:
            wide = dtypes.float64
        shape = tuple(-1 if i == axis else 1 for i in range(self.ndim))
        cells = (self._cells(axis, first + k).cast(wide) for k in range(len(weights)))
        parts = (
            cell * weight.cast(wide).contiguous().reshape(shape)
            for cell, weight in zip(cells, weights, strict=True)
        )
        return reduce(operator.add, parts)._rounded(self.dtype)

    def _averaged(self, axis: int, size: int) -> Self:
        """The means of windows that cover an axis: cell i has the old cells that overlap its
        part."""
        extent = self.shape[axis]
        line = self.arange(size)
        start, stop = line * extent // size, -(-(line + 1) * extent // size)
        longest = extent // size + 2
        place = (start.unsqueeze(-1) + self.arange(longest)).contiguous()
        is_inside = place < stop.unsqueeze(-1)
        shape = (size, longest, *(1,) * (self.ndim - 1))
        moved = self.transpose(0, axis)
        picked = moved._indexed(place.flatten().clamp(0, extent - 1))
        cells = picked.reshape((*shape[:2], *moved.shape[1:]))._accurate()
        total = is_inside.contiguous().reshape(shape).where(cells, 0).sum(1)
        counts = (stop - start).cast(total.dtype).contiguous().reshape((-1, *shape[2:]))
        return (total / counts).transpose(0, axis)._rounded(self.dtype)

    def _rounded(self, dtype: tg.DType) -> Self:
        """Converted to a dtype; to the nearest integer, halves up."""
        return self.cast(dtype) if dtype.is_float else (self + 0.5).floor().cast(dtype)


def _scaled(extent: int, factor: float) -> int:
    """floor(extent * factor). Raises ValueError for a symbolic extent, and a factor that is no
    fraction of a small denominator."""
    if not isinstance(extent, SymInt):
        return math.floor(extent * factor)
    numerator, denominator = factor.as_integer_ratio()
    if denominator > _MOST_PARTS:
        raise ValueError(
            f"scale_factor {factor} of an axis of {extent}: a symbolic size is multiplied with "
            f"fractions as 0.5 or 1.25; `size` takes another one"
        )
    return extent * numerator // denominator


def _cubic_weight(distance: T, slope: float = _CUBIC) -> T:
    """The weight of a cell by its distance, from 0 to 2, in cubic convolution (Keys, 1981)."""
    near = ((slope + 2) * distance - (slope + 3)) * distance * distance + 1
    far = ((distance - 5) * distance + 8) * distance * slope - 4 * slope
    return (distance <= 1).where(near, far)


@dataclass
class _Border(Generic[T]):
    """The cells beyond the borders of an axis, in a padding mode of `grid_sample`."""

    mode: str
    low: float | T
    high: float | T
    length: float | T

    def moved(self, at: T) -> T:
        """A place inside of the borders, if cells beyond are not zeros."""
        if self.mode == "border":
            return self._clamped(at)
        if self.mode == "reflection":
            return ((at >= self.low) & (at <= self.high)).where(at, self._reflected(at))
        return at

    def cell(self, at: T, weight: T | None) -> tuple[T, T | None]:
        """The position of a cell, and its weight."""
        if self.mode == "zeros":
            is_inside = (at >= 0) & (at < self.length)
            weight = is_inside.cast(at.dtype) if weight is None else is_inside.where(weight, 0)
        elif self.mode == "reflection":
            at = self.moved(at).trunc()
        return self._clamped(at).cast(dtypes.int64), weight

    def _reflected(self, at: T) -> T:
        """Reflected at both borders until it is inside."""
        span = self.high - self.low
        if isinstance(span, float) and span <= 0:
            return at * 0
        distance = (at - self.low).abs()
        turns = (distance / span).floor()
        rest = distance - turns * span
        is_even = turns.eq((turns / 2).floor() * 2)
        return is_even.where(rest + self.low, self.high - rest)

    def _clamped(self, at: T) -> T:
        return at.maximum(0).minimum(self.length - 1)
