"""Methods that move elements and compute nothing."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from functools import reduce
from itertools import accumulate
from typing import Any, Self, TypeVar, cast

from tgdialect.frontend.base import (
    ArgumentError,
    Number,
    TensorBase,
    UnknownModeError,
    check_tensors,
    flattened,
    number_in,
)
from tgdialect.frontend.dtypes import attribute_of, promote
from tgdialect.frontend.einops import rearrangement
from tgdialect.frontend.graph import argument_errors
from tgdialect.frontend.symbolic import (
    Dim,
    SymInt,
    greatest,
    is_surely_less,
    is_undecided,
    larger,
    least,
    smaller,
    to_dim,
)
from tgdialect.frontend.views import mark_view
from tgdialect.ops import tg
from tgdialect.ops.properties import broadcast_shapes

Padding = Sequence[int] | Sequence[tuple[int, int] | None]


T = TypeVar("T", bound="Movement")


class Movement(TensorBase):
    """Shapes, orders of axes, windows and joins."""

    __slots__ = ()

    # -- shape -------------------------------------------------------------------------------------

    def reshape(self, shape: Any, *args: Any) -> Self:
        """The same elements, in row-major order, in another shape. One extent may be -1, which is
        inferred; None keeps the old extent."""
        wanted = [
            self.shape[i] if d is None else to_dim(d) for i, d in enumerate(flattened(shape, args))
        ]
        if wanted.count(-1) > 1:
            raise RuntimeError(f"only one extent can be inferred, got {tuple(wanted)}")
        if -1 in wanted:
            # Extents that stay cancel as they are: products are divided by no sum of sizes.
            rest, left = list[Any](self.shape), list[Any]()
            for extent in wanted:
                if isinstance(extent, SymInt) and extent in rest:
                    rest.remove(extent)
                elif extent != -1:
                    left.append(extent)
            known, total = math.prod(left), math.prod(rest)
            if known == 0 or total % known != 0:
                raise ValueError(f"{self.shape} cannot be reshaped to {tuple(wanted)}")
            wanted[wanted.index(-1)] = total // known
        if self.shape == tuple(wanted):
            return self
        if math.prod(wanted) != self.numel():
            raise ValueError(f"{self.shape} cannot be reshaped to {tuple(wanted)}")
        return self._apply(tg.ReshapeOp, self.node, tuple(wanted))

    def view(self, shape: Any, *args: Any) -> Self:
        """`reshape`."""
        return self.reshape(shape, *args)

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Self:
        """The axes from `start_dim` to `end_dim` merged into one."""
        start, end = self._axis(start_dim), self._axis(end_dim)
        if start > end:
            raise ValueError(f"flatten from axis {start} to axis {end}, which is before it")
        shape = self.shape
        return self.reshape((*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]))

    def unflatten(self, dim: int, sizes: Sequence[int]) -> Self:
        """An axis split into several."""
        axis = self._axis(dim)
        wanted = list(sizes)
        if -1 in wanted:
            known = math.prod(d for d in wanted if d != -1)
            wanted[wanted.index(-1)] = self.shape[axis] // max(known, 1)
        return self.reshape((*self.shape[:axis], *wanted, *self.shape[axis + 1 :]))

    def squeeze(self, dim: int | Sequence[int] | None = None) -> Self:
        """Without the axes of extent 1, or without those of them that are in `dim`."""
        axes = self._axes(dim)
        return self.reshape([d for i, d in enumerate(self.shape) if i not in axes or d != 1])

    def unsqueeze(self, dim: int) -> Self:
        """With a new axis of extent 1."""
        axis = self._new_axis(dim)
        return self.reshape((*self.shape[:axis], 1, *self.shape[axis:]))

    def _new_axis(self, dim: int) -> int:
        """A new axis counted from the front. Raises IndexError if it cannot be there."""
        if not -self.ndim - 1 <= dim <= self.ndim:
            raise IndexError(f"axis {dim} of a tensor that will have {self.ndim + 1}")
        return dim % (self.ndim + 1)

    def expand(self, shape: Any, *args: Any) -> Self:
        """Axes of extent 1 repeated; -1 or None keeps an extent. New axes come first."""
        wanted = flattened(shape, args)
        missing = len(wanted) - self.ndim
        if missing < 0:
            raise ValueError(f"{self.shape} cannot be expanded to {wanted}")
        old = (1,) * missing + self.shape
        new = tuple(o if w in (-1, None) else to_dim(w) for o, w in zip(old, wanted, strict=True))
        return self._broadcast_to(new)

    def _broadcast_to(self, shape: tuple[int, ...]) -> Self:
        if self.shape == shape:
            return self
        lined = (1,) * (len(shape) - self.ndim) + self.shape
        fits = (e in (1, s) for e, s in zip(lined, shape, strict=False))
        if len(lined) != len(shape) or not all(fits):
            raise ValueError(f"{self.shape} cannot be expanded to {shape}")
        value = self.reshape(lined)
        return value if lined == shape else value._apply(tg.ExpandOp, value.node, shape)

    def _broadcasted(self, *others: Self) -> tuple[Self, ...]:
        """All tensors broadcast to a common shape."""
        tensors = (self, *others)
        with argument_errors():
            shape = broadcast_shapes([t.shape for t in tensors], operator.eq)
        return tuple(t._broadcast_to(cast("tuple[int, ...]", shape)) for t in tensors)

    def expand_as(self, other: Self) -> Self:
        """Expanded to the shape of another tensor."""
        check_tensors(other)
        return self.expand(other.shape)

    def size(self, dim: int | None = None) -> int | tuple[int, ...]:
        """The extent of an axis, or of all axes."""
        return self.shape if dim is None else self.shape[self._existing_axis(dim)]

    # -- order -------------------------------------------------------------------------------------

    def permute(self, order: Any, *args: Any) -> Self:
        """Axis i of the result is axis order[i]."""
        axes = tuple(self._axis(a) for a in flattened(order, args))
        if sorted(axes) != list(range(self.ndim)):
            raise RuntimeError(f"{axes} is no order of {self.ndim} axes")
        if axes == tuple(range(self.ndim)):
            return self
        return self._apply(tg.PermuteOp, self.node, axes)

    def transpose(self, dim0: int = 1, dim1: int = 0) -> Self:
        """Two axes exchanged."""
        a, b = self._axis(dim0), self._axis(dim1)
        if not self.ndim:
            return self
        order = list(range(self.ndim))
        order[a], order[b] = order[b], order[a]
        return self.permute(order)

    def movedim(self, source: int | Sequence[int], destination: int | Sequence[int]) -> Self:
        """Axes moved to other places; the other axes keep their order."""
        places = [flattened(axes, ()) for axes in (source, destination)]
        if len(places[0]) != len(places[1]):
            raise ValueError(f"movedim of axes {places[0]} to {places[1]}: as many of both")
        old, new = (self._axes(axes) for axes in places)
        rest = iter(a for a in range(self.ndim) if a not in old)
        moved = dict(zip(new, old, strict=True))
        return self.permute([moved[i] if i in moved else next(rest) for i in range(self.ndim)])

    def rearrange(self, formula: str, **sizes: int) -> Self:
        """Axes split, reordered and merged as in einops: `"b (h w) c -> b c h w"` with `h=4`.

        Args:
            formula: the names of the axes before and after the arrow. Names in parentheses are
                parts of one axis, `...` stands for the axes that are not named, `1` or `()` for an
                axis of extent 1.
            sizes: extents of named axes. In each pair of parentheses on the left one may be
                missing.

        Raises ValueError for a formula that is none, or that does not fit the shape.
        """
        split, order, merged = rearrangement(formula, self.shape, sizes)
        return self.reshape(split).permute(order).reshape(merged)

    @property
    def T(self) -> Self:
        """`transpose()`."""
        return self.transpose()

    @property
    def mT(self) -> Self:
        """The last two axes exchanged: matrices transposed."""
        if self.ndim < 2:
            raise ArgumentError(f"mT of a tensor with {self.ndim} axes: a matrix has two")
        return self.transpose(-2, -1)

    def flip(self, axis: Any, *args: Any) -> Self:
        """Reversed along axes."""
        axes = self._axes(flattened(axis, args))
        if not axes:
            return self
        return self._apply(tg.FlipOp, self.node, tuple(i in axes for i in range(self.ndim)))

    # -- windows -----------------------------------------------------------------------------------

    def shrink(self, arg: Sequence[tuple[int, int] | None]) -> Self:
        """The cells from start to end of each axis; None keeps the axis."""
        if len(arg) != self.ndim:
            raise ValueError(f"shrink of {self.ndim} axes got {len(arg)} bounds")
        given = zip(arg, self.shape, strict=True)
        bounds = [(0, d) if a is None else (to_dim(a[0]), to_dim(a[1])) for a, d in given]
        if any(
            is_surely_less(a, 0) or is_surely_less(b, a) or is_surely_less(d, b)
            for (a, b), d in zip(bounds, self.shape, strict=True)
        ):
            raise ValueError(f"{arg} is outside of {self.shape}")
        if all(bound == (0, d) for bound, d in zip(bounds, self.shape, strict=True)):
            return self
        starts, extents = tuple(a for a, _ in bounds), tuple(b - a for a, b in bounds)
        return self._apply(tg.ShrinkOp, self.node, starts, extents)

    def _part(self, axis: int, start: int, end: int) -> Self:
        """The cells from start to end of an axis."""
        bounds: list[tuple[int, int] | None] = [None] * self.ndim
        bounds[axis] = (start, end)
        return self.shrink(bounds)

    def _indexed(self, places: Self) -> Self:
        """INDEX: the cells of the first axis at a tensor of positions that are not negative."""
        return self._apply(tg.IndexOp, self.node, (places.node,))

    def shrink_to(self, shape: Any, *args: Any) -> Self:
        """The first cells of each axis, up to this shape; None keeps the axis."""
        wanted = flattened(shape, args)
        return self.shrink([None if d is None else (0, d) for d in wanted])

    def pad(self, padding: Padding, mode: str = "constant", value: Number = 0.0) -> Self:
        """Pad at both ends of axes.

        Args:
            padding: for each axis a pair, the number of cells before and after, or None; or numbers
                in pairs from the last axis on, as in PyTorch. Negative numbers cut cells off.
            mode: constant, reflect, replicate or circular.
            value: the value of the new cells in mode constant.
        """
        pairs = self._pairs(padding)
        if mode == "constant":
            return self._padded(pairs, value)._apart_from(self)
        if mode not in ("reflect", "replicate", "circular"):
            raise UnknownModeError(f"mode is constant, reflect, replicate or circular: {mode!r}")
        result = self
        for axis, (before, after) in enumerate(pairs):
            result = result._pad_axis(axis, before, after, mode)
        return result._apart_from(self)

    def _pairs(self, padding: Padding) -> list[tuple[int, int]]:
        if not isinstance(padding, list | tuple):
            raise TypeError(f"padding is a sequence, not {type(padding).__name__}")
        if all(hasattr(p, "__index__") for p in padding):
            flat = [to_dim(p) for p in padding]
            if len(flat) % 2 or len(flat) > 2 * self.ndim:
                raise ValueError(f"{padding} is no padding for {self.ndim} axes")
            groups = list(zip(flat[::2], flat[1::2], strict=True))[::-1]
            return [(0, 0)] * (self.ndim - len(groups)) + groups
        if any(p is not None and not isinstance(p, list | tuple) for p in padding):
            raise TypeError(f"padding is numbers, or pairs and None: {padding}")
        pairs = [(0, 0) if p is None else cast("tuple[int, int]", p) for p in padding]
        if len(pairs) != self.ndim:
            raise ValueError(f"padding of {len(pairs)} axes for {self.ndim}")
        return pairs

    def _padded(self, pairs: Sequence[tuple[int, int]], value: Number) -> Self:
        """The last axes padded by pairs of numbers; negative ones cut cells off. A number whose
        sign depends on variables is taken to be positive."""
        pairs = [(0, 0)] * (self.ndim - len(pairs)) + [*pairs]
        if any(is_undecided(n, 0) and is_surely_less(n, 0) for pair in pairs for n in pair):
            raise ValueError(f"padding {pairs} is negative for the present sizes")
        added = [[n if is_undecided(n, 0) else larger(n, 0) for n in pair] for pair in pairs]
        ends = zip(pairs, added, self.shape, strict=True)
        cut = self.shrink([(n - a, d - (m - b)) for (a, b), (n, m), d in ends])
        shape = [d + n + m for (n, m), d in zip(added, cut.shape, strict=True)]
        return cut._placed([n for n, _ in added], shape, value)

    def _dilated(self, steps: Sequence[int]) -> Self:
        """With step - 1 zeros between the cells of the last axes."""
        if all(step == 1 for step in steps):
            return self
        lead, extents = self.shape[: -len(steps)], self.shape[-len(steps) :]
        x = self.reshape((*lead, *interleaved(extents, [1] * len(steps))))
        pairs = [pair for step in steps for pair in ((0, 0), (0, step - 1))]
        x = x._padded(pairs, 0)
        x = x.reshape((*lead, *(e * s for e, s in zip(extents, steps, strict=True))))
        ends = (larger((e - 1) * s + 1, 0) for e, s in zip(extents, steps, strict=True))
        return x.shrink_to((*lead, *ends))

    def _placed(self, starts: Sequence[int], shape: Sequence[int], value: Number) -> Self:
        """The cells at an offset in a larger shape; the other cells have `value`."""
        if self.shape == tuple(shape):
            return self
        number = number_in(self.dtype, value)
        number = tg.round_to(self.dtype, number) if self.dtype.is_float else int(number)
        fill = tg.number_attribute(number, attribute_of(self.dtype))
        return self._apply(tg.PadOp, self.node, tuple(starts), tuple(shape), fill)

    def _pad_axis(self, axis: int, before: int, after: int, mode: str) -> Self:
        extent = self.shape[axis]
        if is_surely_less(extent, larger(-before, 0) + larger(-after, 0)):
            raise ValueError(f"padding {before}, {after} for axis {axis} of extent {extent}")
        if is_undecided(before, 0) or is_undecided(after, 0):
            raise ValueError(
                f"padding {before}, {after} in mode {mode}: whether it is negative depends on the "
                f"size"
            )
        middle = self._part(axis, larger(-before, 0), extent - larger(-after, 0))
        if mode == "circular" and smaller(before, after) < 0:
            return middle._pad_axis(axis, larger(before, 0), larger(after, 0), mode)
        before, after = larger(before, 0), larger(after, 0)
        if before == 0 and after == 0:
            return middle
        limit = extent - (mode == "reflect")
        if mode != "replicate" and is_surely_less(limit, larger(before, after)):
            raise ValueError(
                f"padding {before}, {after} for axis {axis} of extent {extent}: {mode}"
            )
        match mode:
            case "reflect":
                low = self._part(axis, 1, 1 + before).flip(axis)
                high = self._part(axis, extent - 1 - after, extent - 1).flip(axis)
            case "circular":
                low = self._part(axis, extent - before, extent)
                high = self._part(axis, 0, after)
            case _:
                shape = list(self.shape)
                shape[axis] = before
                low = self._part(axis, 0, 1).expand(shape)
                shape[axis] = after
                high = self._part(axis, extent - 1, extent).expand(shape)
        return low.cat(middle, high, dim=axis)

    def pad_to(self, shape: Any, *args: Any, value: Number = 0) -> Self:
        """Pad at the ends of axes to a shape; None keeps an extent."""
        wanted = [None if d is None else to_dim(d) for d in flattened(shape, args)]
        if len(wanted) != self.ndim:
            raise ValueError(f"pad_to {wanted} of {self.shape}")
        pairs = [(0, 0 if w is None else w - d) for w, d in zip(wanted, self.shape, strict=True)]
        if any(is_surely_less(after, 0) for _, after in pairs):
            raise ValueError(f"pad_to {wanted} of {self.shape}: it has more cells")
        return self._padded(pairs, value)._apart_from(self)

    # -- joins and parts ---------------------------------------------------------------------------

    def cat(self: T | Sequence[T], *args: T | int, dim: int = 0) -> T:
        """Concatenate tensors along an axis; their other extents are equal. Tensors of shape (0,)
        are skipped. `Tensor.cat` also takes one sequence of tensors, and then the axis."""
        # Check dtypes and shapes.
        given, dim = _joined(self, args, dim)
        every = _of_one_dtype("cat", given)
        tensors = tuple(t for t in every if t.shape != (0,)) or every
        first = tensors[0]
        if not first.ndim:
            raise IndexError("cat of tensors without axes: stack makes one")
        axis = first._axis(dim)
        others = first.shape[:axis] + first.shape[axis + 1 :]
        for t in tensors:
            if t.ndim != first.ndim or t.shape[:axis] + t.shape[axis + 1 :] != others:
                raise ValueError(f"cat along axis {axis} of {first.shape} and {t.shape}")
        # Equal shapes: stack, and merge the new axis with the other one.
        if len({t.shape for t in tensors}) == 1:
            shape = list(first.shape)
            shape[axis] *= len(tensors)
            return _stacked(tensors, axis).reshape(shape)
        # Different shapes: the sum of the tensors, each padded with zeros.
        ends = list(accumulate(t.shape[axis] for t in tensors))
        rest = [(0, 0)] * (first.ndim - axis - 1)
        parts = (
            t._padded([(end - t.shape[axis], ends[-1] - end), *rest], 0)
            for t, end in zip(tensors, ends, strict=True)
        )
        plus = tg.OrOp if first.dtype.is_bool else tg.AddOp
        return reduce(lambda a, b: a._apply(plus, a.node, b.node), parts)

    def stack(self: T | Sequence[T], *args: T | int, dim: int = 0) -> T:
        """Stack tensors of the same shape along a new axis. `Tensor.stack` also takes one sequence
        of tensors, and then the axis."""
        given, dim = _joined(self, args, dim)
        tensors = _of_one_dtype("stack", given)
        first = tensors[0]
        for t in tensors:
            if t.shape != first.shape:
                raise ValueError(f"stack of {first.shape} and {t.shape}")
        return _stacked(tensors, first._new_axis(dim))

    def split(self, sizes: int | Sequence[int], dim: int = 0) -> tuple[Self, ...]:
        """Parts of one size, of which the last may be smaller; or parts of the given sizes."""
        axis = self._existing_axis(dim)
        extent = self.shape[axis]
        if not isinstance(sizes, Sequence):
            if is_surely_less(to_dim(sizes), 1):
                raise ValueError(f"parts of {sizes}")
            if isinstance(count := cast(Dim, -(-extent // sizes)), SymInt):
                raise ValueError(
                    f"split of {extent} cells into parts of {sizes}: their number, {count}, "
                    f"depends on the size; a list of sizes says how many there are"
                )
            parts = [min(sizes, extent - i) for i in range(0, max(extent, 1), sizes)]
        else:
            parts = list(sizes)
        if sum(parts) != extent:
            raise ValueError(f"parts {parts} of an axis of {extent}")
        ends = zip(parts, accumulate(parts), strict=True)
        return tuple(self._part(axis, end - size, end) for size, end in ends)

    def chunk(self, chunks: int, dim: int = 0) -> list[Self]:
        """At most `chunks` parts of one size, of which the last may be smaller."""
        if to_dim(chunks) <= 0:
            raise ValueError(f"{chunks} parts")
        extent = self.shape[self._existing_axis(dim)]
        if isinstance(extent, SymInt):
            if extent % chunks != 0:
                raise ValueError(
                    f"chunk of {extent} cells into {chunks} parts: their sizes and their number "
                    f"depend on the size; split takes a list of sizes"
                )
            return list(self.split([extent // chunks] * chunks, dim))
        if extent == 0:
            return [self] * chunks
        return list(self.split(-(-extent // chunks), dim))

    def repeat(self, repeats: Any, *args: Any) -> Self:
        """The tensor repeated along each axis; new axes come first."""
        counts = tuple(to_dim(count) for count in flattened(repeats, args))
        if len(counts) < self.ndim or any(is_surely_less(count, 0) for count in counts):
            raise ValueError(f"repeat of {self.shape} by {counts}: a count for each axis")
        base = (1,) * (len(counts) - self.ndim) + self.shape
        wide = self.reshape(interleaved([1] * len(base), base)).expand(interleaved(counts, base))
        return wide.reshape(list(map(operator.mul, counts, base)))._apart_from(self)

    def tile(self, dims: Any, *args: Any) -> Self:
        """The tensor repeated along its last axes; new axes come first."""
        counts = flattened(dims, args)
        return self.repeat((*(1,) * (self.ndim - len(counts)), *counts))

    def roll(self, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None) -> Self:
        """Rotated along axes: cells that leave at one end enter at the other."""
        amounts = tuple(to_dim(amount) for amount in flattened(shifts, ()))
        if dims is None:
            if len(amounts) != 1:
                raise RuntimeError(f"roll without dims takes one shift, got {amounts}")
            return self.flatten().roll(amounts, 0).reshape(self.shape)
        axes: tuple[int, ...] = flattened(dims, ())
        if len(amounts) != len(axes):
            raise RuntimeError(f"shifts {amounts} for axes {axes}")
        result = self
        for amount, dim in zip(amounts, axes, strict=True):
            axis = self._existing_axis(dim)
            extent = self.shape[axis]
            if (at := -amount % larger(extent, 1)) != 0:
                first, second = result.split((at, extent - at), axis)
                result = second.cat(first, dim=axis)
        return result._apart_from(self)

    # -- windows and diagonals ---------------------------------------------------------------------

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
        wide = flat._padded([(0, size)], 0)
        mark_view(wide.node)
        rows = wide.reshape((*lead, size, size + 1))
        return rows.shrink_to((*lead, size, 1)).reshape((*lead, size))


def interleaved(*sequences: Sequence[int]) -> list[int]:
    """The first members of sequences of one length, then their second ones, and so on."""
    return [member for members in zip(*sequences, strict=True) for member in members]


def _joined(first: Any, rest: Sequence[Any], dim: int) -> tuple[Sequence[Any], int]:
    """The tensors of a join and its axis, which may follow a sequence of tensors."""
    if isinstance(first, list | tuple) and len(rest) == 1 and not isinstance(rest[0], TensorBase):
        return flattened(first, ()), operator.index(rest[0])
    return flattened(first, rest), dim


def _stacked(tensors: Sequence[T], axis: int) -> T:
    """Tensors of one shape and dtype along a new axis."""
    stacked = tensors[0]._apply(tg.StackOp, tuple(t.node for t in tensors))  # pyright: ignore[reportPrivateUsage]
    return stacked.movedim(0, axis)


def _of_one_dtype(name: str, tensors: Sequence[T]) -> tuple[T, ...]:
    """Tensors cast to their promoted dtype."""
    if not tensors:
        raise ValueError(f"{name} of no tensors")
    for t in tensors:
        if not isinstance(cast(object, t), TensorBase):
            raise TypeError(f"expected tensors, got {type(t).__name__}")
    dtype = promote(*(t.dtype for t in tensors))
    return tuple(t.cast(dtype) for t in tensors)
