"""Products: dot, matmul, einsum, convolutions; and pooling, which uses the same windows."""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from functools import reduce
from typing import Any, NoReturn, Self, cast

from tgdialect.frontend import dtypes
from tgdialect.frontend.base import (
    ArgumentError,
    DTypeError,
    check_integers,
    check_tensors,
    operand_of,
)
from tgdialect.frontend.graph import Array
from tgdialect.frontend.precision import rounded_once
from tgdialect.frontend.reduction import Axes
from tgdialect.frontend.scattering import Scattering
from tgdialect.frontend.symbolic import larger, smaller, to_dim

Size = int | Sequence[int]


class LinearAlgebra(Scattering):
    """Sums of products."""

    __slots__ = ()

    def _total(self, axis: Axes, dtype: dtypes.DType) -> Self:
        """The sum of products, which is rounded once to a narrower float."""
        if self.dtype.is_float and dtype.is_float and dtype.bits < self.dtype.bits:
            return self.sum(axis).cast(dtype)
        return self.sum(axis, dtype=dtype)

    def dot(self, w: Self, dtype: dtypes.DTypeLike | None = None) -> Self:
        """The product of vectors, of matrices, or of stacks of matrices that broadcast."""
        check_tensors(w)
        if not self.ndim or not w.ndim:
            raise RuntimeError(f"dot of {self.shape} and {w.shape}: both have an axis at least")
        k = w.shape[-min(w.ndim, 2)]
        if self.shape[-1] != k:
            raise RuntimeError(f"dot of {self.shape} and {w.shape}: {self.shape[-1]} is not {k}")
        x = self.reshape((*self.shape[:-1], *[1] * min(self.ndim - 1, w.ndim - 1, 1), k))
        shape = (
            *w.shape[:-2],
            *[1] * min(self.ndim - 1, w.ndim - 1, 1),
            *w.shape[-min(w.ndim, 2) :],
        )
        y = w.reshape(shape).transpose(-1, -min(w.ndim, 2)) if w.ndim > 1 else w
        out = dtypes.promote(self.dtype, w.dtype)
        wanted = out if dtype is None else dtypes.to_dtype(dtype)
        return x._product(y)._total(-1, wanted)

    def matmul(
        self, x: Self | Array, reverse: bool = False, dtype: dtypes.DTypeLike | None = None
    ) -> Self:
        """self @ x; x @ self if `reverse`."""
        y = cast(Self, operand_of(self, x))
        check_tensors(y)
        return y.dot(self, dtype) if reverse else self.dot(y, dtype)

    def __matmul__(self, x: Self | Array) -> Self:
        return self.matmul(x)

    def __rmatmul__(self, x: Array) -> Self:
        return self.matmul(x, True)

    def bmm(self, mat2: Self) -> Self:
        """The products of two stacks of matrices, (b, n, m) and (b, m, p). Raises ArgumentError for
        other shapes."""
        check_tensors(mat2)
        a, b = self.shape, mat2.shape
        if self.ndim != 3 or mat2.ndim != 3 or a[0] != b[0] or a[2] != b[1]:
            raise ArgumentError(f"bmm of {a} and {b}: they are (b, n, m) and (b, m, p)")
        return self.dot(mat2)

    def cdist(self, x2: Self, p: float = 2.0, compute_mode: str | None = None) -> Self:
        """The p-norm of the difference of each row of this tensor and each of another: (..., n, m)
        and (..., k, m) give (..., n, k).

        Args:
            p: not negative, may be infinite.
            compute_mode: without effect; PyTorch may compute Euclidean distances by products, which
                lose digits.
        """
        check_tensors(x2)
        if not (self.dtype.is_float and x2.dtype.is_float):
            raise DTypeError(f"cdist of {self.dtype.name} and {x2.dtype.name}: of floats only")
        if min(self.ndim, x2.ndim) < 2 or self.shape[-1] != x2.shape[-1] or not p >= 0:
            raise ArgumentError(
                f"cdist of {self.shape} and {x2.shape} with p {p}: they are (..., n, m) and "
                f"(..., k, m), and p is not negative"
            )
        return self._distances(x2, p)

    @rounded_once
    def _distances(self, x2: Self, p: float) -> Self:
        difference = self.unsqueeze(-2) - x2.unsqueeze(-3)
        # Of no features, all distances are 0.
        return difference._norm(2 if self.shape[-1] == 0 else p, -1, False)

    def outer(self, vec2: Self) -> Self:
        """The products of each element of a vector with each of another."""
        check_tensors(vec2)
        if self.ndim != 1 or vec2.ndim != 1:
            raise ValueError(f"outer of {self.shape} and {vec2.shape}: both have one axis")
        return self.unsqueeze(-1) * vec2

    def linear(
        self, weight: Self, bias: Self | None = None, dtype: dtypes.DTypeLike | None = None
    ) -> Self:
        """self @ weight + bias; of a weight with one axis, self * weight + bias. With a dtype, all
        are of it, and so is the result."""
        check_tensors(weight)
        if dtype is not None:
            cast_bias = None if bias is None else bias.cast(dtype)
            return self.cast(dtype).linear(weight.cast(dtype), cast_bias)
        result = self * weight if weight.ndim == 1 else self.dot(weight)
        return result if bias is None else result + bias

    @classmethod
    def einsum(cls, formula: str, *operands: Any, dtype: dtypes.DTypeLike | None = None) -> Self:
        """Sums of products in Einstein's notation: `ij,jk->ik`."""
        # Check the formula against the operands.
        tensors: list[Self] = []
        for operand in operands:
            tensors += operand if isinstance(operand, list | tuple) else [operand]
        check_tensors(*tensors)
        if not isinstance(cast(object, formula), str):
            raise TypeError(f"a formula is a str, not {type(formula).__name__}")
        inputs, arrow, output = formula.replace(" ", "").partition("->")
        terms = inputs.split(",")
        if any(part.count("...") > 1 for part in (*terms, output)):
            raise ArgumentError(f"{formula}: a term has one ellipsis at most")
        if strange := set(inputs.replace("...", "")) - {*string.ascii_letters, ","}:
            raise ArgumentError(f"{formula}: {min(strange)!r} is no letter")
        if len(terms) != len(tensors):
            raise ArgumentError(f"{formula}: {len(terms)} terms for {len(tensors)} tensors")
        # Replace each ellipsis by letters that the formula does not use.
        free = [c for c in string.ascii_letters if c not in formula]
        most = max(
            (
                t.ndim - len(term.replace("...", ""))
                for term, t in zip(terms, tensors, strict=True)
                if "..." in term
            ),
            default=0,
        )
        dots = "".join(free[:most])
        for i, (term, t) in enumerate(zip(terms, tensors, strict=True)):
            if "..." in term:
                n = t.ndim - len(term.replace("...", ""))
                terms[i] = term.replace("...", dots[most - n :])
            if len(terms[i]) != t.ndim:
                raise ArgumentError(f"{formula}: {term} for a tensor with {t.ndim} axes")
        # The letters of the result: without `->`, those that occur once, in order.
        letters = "".join(terms)
        if arrow:
            output = output.replace("...", dots)
        else:
            output = dots + "".join(
                sorted(c for c in set(letters) if letters.count(c) == 1 and c not in dots)
            )
        if len(set(output)) < len(output) or not set(output) <= set(letters):
            raise ArgumentError(f"{formula}: the result names {output}")
        # Multiply the operands, each with its axes in the order of all letters.
        order = output + "".join(sorted(set(letters) - set(output)))
        product: Self | None = None
        extents: dict[str, int] = {}
        for term, t in zip(terms, tensors, strict=True):
            for letter in sorted(set(term)):
                while term.count(letter) > 1:
                    a = term.index(letter)
                    b = term.index(letter, a + 1)
                    if t.shape[a] != t.shape[b]:
                        raise ArgumentError(f"{formula}: {letter} is {t.shape[a]} and {t.shape[b]}")
                    t = t.diagonal(0, a, b)
                    term = "".join(c for i, c in enumerate(term) if i not in (a, b)) + letter
            for letter, extent in zip(term, t.shape, strict=True):
                if 1 not in (extent, known := extents.get(letter, extent)) and known != extent:
                    raise ArgumentError(f"{formula}: {letter} is {known} and {extent}")
                extents[letter] = max(extents.get(letter, extent), extent)
            arranged = t.permute([term.index(c) for c in order if c in term])
            lined = arranged.reshape(
                tuple(t.shape[term.index(c)] if c in term else 1 for c in order)
            )
            product = lined if product is None else product._product(lined)
        # Sum over the letters that the result does not have.
        assert product is not None
        summed = list(range(len(output), len(order)))
        promoted = reduce(dtypes.promote, (t.dtype for t in tensors))
        wanted = promoted if dtype is None else dtypes.to_dtype(dtype)
        return product._total(summed, wanted) if summed else product.cast(wanted)

    # -- convolutions ------------------------------------------------------------------------------

    def conv2d(
        self,
        weight: Self,
        bias: Self | None = None,
        groups: int = 1,
        stride: Size = 1,
        dilation: Size = 1,
        padding: Size | str = 0,
        dtype: dtypes.DTypeLike | None = None,
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
        _check_groups("conv2d", groups)
        if n <= 0 or self.ndim != n + 2 or groups * weight.shape[1] != self.shape[1]:
            _refuse_convolution("conv2d", self, weight, groups)
        batch, out, inside = self.shape[0], *weight.shape[:2]
        if out % groups:
            _refuse_convolution("conv2d", self, weight, groups)
        if isinstance(padding, str):
            padding = same_padding(padding, stride, dilation, sizes)
        # (batch, groups, channels out / groups, *counts, channels in / groups, *window): products
        # of windows and weights, summed over the last axes.
        x = self._padded([(0, 0), (0, 0), *_padding_pairs(padding, n)], 0)
        x = x._windows(sizes, _each(stride, n), _each(dilation, n))
        counts = x.shape[2 : 2 + n]
        per = out // groups
        x = x.reshape((batch, groups, inside, 1, *counts, *sizes))
        x = x.permute([0, 1, 3, *range(4, 4 + n), 2, *range(4 + n, 4 + 2 * n)])
        w = weight.reshape((1, groups, per, *[1] * n, inside, *sizes))
        wanted = (
            dtypes.promote(self.dtype, weight.dtype) if dtype is None else dtypes.to_dtype(dtype)
        )
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
            return (
                self.unsqueeze(0)
                .conv_transpose2d(weight, bias, groups, stride, dilation, padding, output_padding)
                .squeeze(0)
            )
        _check_groups("conv_transpose2d", groups)
        is_refused = n <= 0 or self.ndim != n + 2 or weight.shape[0] != self.shape[1]
        if is_refused or weight.shape[0] % groups:
            _refuse_convolution("conv_transpose2d", self, weight, groups)
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
        around = [
            ((k - 1) * d - a, (k - 1) * d - b + o)
            for k, d, (a, b), o in zip(
                sizes, dilations, _padding_pairs(padding, n), more, strict=True
            )
        ]
        x = x._padded([(0, 0), (0, 0), *around], 0)
        return x.conv2d(w, bias, groups=groups, dilation=dilations)

    # -- pooling -----------------------------------------------------------------------------------

    def _pooled(
        self,
        kernel_size: Size,
        stride: Size | None,
        dilation: Size,
        padding: Size,
        ceil_mode: bool,
        fill: float,
    ) -> Self:
        """The windows, flattened into a last axis."""
        n = _count(kernel_size)
        if self.ndim < n:
            raise ValueError(f"windows of {n} axes of a tensor with {self.ndim}")
        sizes, dilations = _each(kernel_size, n), _each(dilation, n)
        strides = sizes if stride is None else _each(stride, n)
        pairs = _padding_pairs(padding, n)
        if ceil_mode:
            pairs = _up_to_whole_windows(pairs, self.shape[-n:], sizes, strides, dilations)
        x = self._padded([(0, 0)] * (self.ndim - n) + pairs, fill)
        return x._windows(sizes, strides, dilations).flatten(self.ndim)

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
        low = self.dtype.low
        windows = self._pooled(kernel_size, stride, dilation, padding, ceil_mode, low)
        values = windows.max(-1)
        if not return_indices:
            return values
        n = _count(kernel_size)
        extents = self.shape[-n:]
        places = self.arange(math.prod(extents)).reshape(extents)._broadcast_to(self.shape)
        positions = places._pooled(kernel_size, stride, dilation, padding, ceil_mode, -1)
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
        n = _count(kernel_size)
        if self.ndim not in (n + 1, n + 2):
            raise ValueError(f"im2col of {self.shape}: (batch, channels) and {n} axes for windows")
        windows = self._padded([(0, 0)] * (self.ndim - n) + _padding_pairs(padding, n), 0)._windows(
            _each(kernel_size, n), _each(stride, n), _each(dilation, n)
        )
        *lead, channels = self.shape[: self.ndim - n]
        counts = windows.shape[-2 * n : -n]
        cells = windows.flatten(-n).movedim(-1, len(lead) + 1)
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
        n = _count(kernel_size)
        if self.ndim < n or indices.shape != self.shape:
            raise ValueError(f"max_unpool2d of {self.shape} in {n} axes by {indices.shape}")
        sizes, dilations = _each(kernel_size, n), _each(dilation, n)
        strides = sizes if stride is None else _each(stride, n)
        lead, counts = self.shape[: self.ndim - n], self.shape[self.ndim - n :]
        spans = tuple(
            (c - 1) * s + d * (k - 1) + 1 - a - b
            for c, k, s, d, (a, b) in zip(
                counts, sizes, strides, dilations, _padding_pairs(padding, n), strict=True
            )
        )
        extents = spans if output_size is None else tuple(to_dim(e) for e in output_size)[-n:]
        if len(extents) != n or any(
            abs(e - span) >= s for e, span, s in zip(extents, spans, strides, strict=True)
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
        windows = self._pooled(kernel_size, stride, dilation, padding, ceil_mode, 0)
        if divisor_override is not None:
            if divisor_override == 0:
                raise ValueError("divisor_override is 0")
            return windows._float().sum(-1) / divisor_override
        if count_include_pad and not ceil_mode:
            return windows.mean(-1)
        n = _count(kernel_size)
        ones = self.full(self.shape[-n:], 1, dtypes.as_float(self.dtype))
        if not count_include_pad:
            counts = ones._pooled(kernel_size, stride, dilation, padding, ceil_mode, 0)
        else:
            sizes, dilations = _each(kernel_size, n), _each(dilation, n)
            strides = sizes if stride is None else _each(stride, n)
            pairs = _padding_pairs(padding, n)
            whole = _up_to_whole_windows(pairs, ones.shape, sizes, strides, dilations)
            more = [(0, w - p) for (_, w), (_, p) in zip(whole, pairs, strict=True)]
            ones = ones._padded(pairs, 1)._padded(more, 0)
            counts = ones._windows(sizes, strides, dilations).flatten(n)
        return windows._float().sum(-1) / counts.sum(-1)


def _each(size: Size, n: int) -> tuple[int, ...]:
    """One number for each of n axes."""
    result = tuple(size) if isinstance(size, list | tuple) else (cast(int, size),) * n
    if len(result) != n:
        raise ValueError(f"{size} for {n} axes")
    return tuple(to_dim(s) for s in result)


def _count(kernel_size: Size) -> int:
    """The number of axes of a window: two if its size is a single number."""
    return len(kernel_size) if isinstance(kernel_size, list | tuple) else 2


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


def _up_to_whole_windows(
    pairs: Sequence[tuple[int, int]],
    extents: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> list[tuple[int, int]]:
    """Padding that completes the last window, if it begins inside but is cut off at the end."""
    result: list[tuple[int, int]] = []
    for (a, b), d, k, s, f in zip(pairs, extents, sizes, strides, dilations, strict=True):
        whole = d + a + b - f * (k - 1) - 1
        count = -(-whole // s) + 1
        # A window begins at less than d + a, the last one or the one before it.
        count = smaller(count, larger(-(-(d + a) // s), count - 1))
        result.append((a, (count - 1) * s + f * (k - 1) + 1 - (d + a)))
    return result


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


def _check_groups(name: str, groups: int) -> None:
    if groups <= 0:
        raise ValueError(f"{name} in {groups} groups")


def _refuse_convolution(
    name: str, x: LinearAlgebra, weight: LinearAlgebra, groups: int
) -> NoReturn:
    raise RuntimeError(f"{name} of {x.shape} with weight {weight.shape} in {groups} groups")
