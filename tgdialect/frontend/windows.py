"""Windows and diagonals: cells of an axis that overlap, or are apart by a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from tgdialect.frontend.base import ArgumentError
from tgdialect.frontend.movement import Movement, interleaved
from tgdialect.frontend.symbolic import (
    SymInt,
    greatest,
    is_surely_less,
    larger,
    least,
    smaller,
    to_dim,
)
from tgdialect.frontend.views import mark_view


class Windows(Movement):
    """Methods whose result shows the cells of an axis by windows."""

    __slots__ = ()

    def unfold(self, dim: int, size: int, step: int) -> Self:
        """Windows of a size along an axis, one every `step`, in a new last axis."""
        axis = self._axis(dim)
        extent = self.shape[axis] if self.ndim else 1
        if is_surely_less(size, 0) or is_surely_less(extent, size) or least(to_dim(step)) < 1:
            raise RuntimeError(f"windows of {size}, step {step}, of an axis of {extent}")
        if not self.ndim:
            return self.reshape((1,)).shrink([(0, size)])
        moved = self.movedim(axis, -1)
        if size == 0:
            windows = moved.shrink_to(*moved.shape[:-1], 0)
            windows = windows.reshape((*moved.shape[:-1], extent // step + 1, 0))
        else:
            windows = moved._windows((size,), (step,), (1,))
        return windows.movedim(-2, axis)

    def _windows(
        self, sizes: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
    ) -> Self:
        """The windows over the last axes: (..., *counts, *sizes)."""
        # Check the arguments, and count the windows along each axis.
        n = len(sizes)
        if any(least(to_dim(number)) < 1 for number in (*strides, *dilations)):
            raise ValueError(f"windows with strides {strides} and dilations {dilations}")
        lead = self.shape[: self.ndim - n]
        extents = self.shape[self.ndim - n :]
        each = zip(extents, sizes, strides, dilations, strict=True)
        counts = [(i - d * (k - 1) - 1) // s + 1 for i, k, s, d in each]
        if any(is_surely_less(count, 1) for count in counts) or 0 in sizes:
            raise ArgumentError(f"a window of {tuple(sizes)} does not fit in {extents}")
        is_apart = all(greatest(k - s) <= 0 for k, s in zip(sizes, strides, strict=True))
        if is_apart and {*dilations} == {1}:
            return self._windows_apart(sizes, strides, counts)
        # Overlapping windows: repeat each axis, and split it into `size` rows of `width` cells,
        # which is the extent, once or twice, plus the dilation. Row k begins at cell k * dilation
        # of the axis.
        each = zip(extents, sizes, counts, strides, dilations, strict=True)
        times = [1 if greatest(c * s - i + d * (k - 1)) <= 0 else 2 for i, k, c, s, d in each]
        widths = [i * t + d for i, t, d in zip(extents, times, dilations, strict=True)]
        # Where a window fits, d * (k - 1) < i, so that k * d <= 2 * i for k > 1, and d for k = 1.
        copies = [
            k * t + larger(d, 2) if SymInt in map(type, (i, k)) else -(-k * w // i)
            for i, k, w, t, d in zip(extents, sizes, widths, times, dilations, strict=True)
        ]
        x = self.repeat([1] * len(lead) + copies)

        def cut_and_split(x: Self, *groups: Sequence[int], into: Sequence[Sequence[int]]) -> Self:
            x = x.shrink_to((*lead, *interleaved(*groups)))
            return x.reshape((*lead, *interleaved(*into)))

        # Cell (k, w * stride) of the rows is cell k of window w.
        spans = [c * s for c, s in zip(counts, strides, strict=True)]
        ones = [1] * n
        rows = [k * w for k, w in zip(sizes, widths, strict=True)]
        x = cut_and_split(x, rows, into=(sizes, widths))
        x = cut_and_split(x, sizes, spans, into=(sizes, counts, strides))
        x = cut_and_split(x, sizes, counts, ones, into=(sizes, counts))
        axes = range(len(lead), len(lead) + 2 * n)
        return x.permute([*range(len(lead)), *axes[1::2], *axes[::2]])

    def _windows_apart(
        self, sizes: Sequence[int], strides: Sequence[int], counts: Sequence[int]
    ) -> Self:
        """Windows that do not overlap: an axis is split into parts of the length of a stride, and a
        window is the first cells of a part. The last part may be padded; no window has the padding.
        """
        n = len(sizes)
        lead, extents = self.shape[: self.ndim - n], self.shape[self.ndim - n :]
        spans = [c * s for c, s in zip(counts, strides, strict=True)]
        stops = [smaller(i, e) for i, e in zip(extents, spans, strict=True)]
        more = ((0, e - stop) for e, stop in zip(spans, stops, strict=True))
        x = self.shrink_to((*lead, *stops)).pad([*((0, 0) for _ in lead), *more])
        x = x.reshape((*lead, *interleaved(counts, strides)))
        axes = range(len(lead), len(lead) + 2 * n)
        x = x.shrink_to((*lead, *interleaved(counts, sizes)))
        return x.permute([*range(len(lead)), *axes[::2], *axes[1::2]])

    def diagonal(self, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Self:
        """The cells (i, i + offset) of two axes, as a new last axis."""
        a, b = self._axis(dim1), self._axis(dim2)
        if a == b:
            raise RuntimeError(f"a diagonal of axis {a} with itself")
        x = self.movedim((a, b), (-2, -1))
        *lead, rows, columns = x.shape
        start = (0, smaller(offset, columns)) if offset >= 0 else (smaller(-offset, rows), 0)
        size = smaller(rows - start[0], columns - start[1])
        if size == 0:
            return x.shrink_to((*lead, 0, min(columns, 1))).reshape((*lead, 0))
        x = x.shrink([*((0, d) for d in lead), *((s, s + size) for s in start)])
        # With rows longer by one cell, the diagonal is the first column.
        flat = x.reshape((*lead, size * size))
        wide = flat._padded([(0, 0)] * len(lead) + [(0, size)], 0)
        mark_view(wide.node)
        rows = wide.reshape((*lead, size, size + 1))
        return rows.shrink_to((*lead, size, 1)).reshape((*lead, size))
