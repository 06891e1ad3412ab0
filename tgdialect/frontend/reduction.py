"""Methods that reduce axes, and methods made of reductions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Self

from tgdialect.analysis.parts import parts_of, scan_blocks_of
from tgdialect.frontend import dtypes
from tgdialect.frontend.base import ArgumentError, Number, TensorBase, check_tensors, is_cpu
from tgdialect.frontend.creation import Creation
from tgdialect.frontend.dtypes import DTypeLike
from tgdialect.frontend.functions import Functions
from tgdialect.frontend.precision import rounded_once
from tgdialect.frontend.symbolic import SymInt, greatest, larger
from tgdialect.ops import tg
from tgdialect.ops.reduce import ALU
from tgdialect.targets.cpu import CPU

AxisArgument = int | Sequence[int] | None


_BLOCK = 32
"""The cells of a block of a running reduction along a symbolic axis. Larger: more additions, as
many for each cell; smaller: more results of blocks, which are reduced in turn. The prefix sums of
2^20 f32 take 17, 20, 40 and 119 ms with blocks of 16, 32, 64 and 256, and of 70,000 f32 5.9, 0.8,
0.6 and 11."""


class Reduction(Functions, Creation):
    """Sums, extrema and statistics. `axis` is one axis or several; None is all."""

    __slots__ = ()

    def _reduce(self, kind: tg.ReduceKind, axis: AxisArgument, keepdim: bool) -> Self:
        axes = self._axes(axis)
        if not axes:
            return self._apart_from(self)
        result = self._apply(tg.ReduceOp, kind, self.node, axes)
        return result if keepdim else result._without(axes)

    def _without(self, axes: Sequence[int]) -> Self:
        """Without axes that have an extent of 1."""
        return self.reshape(tuple(d for i, d in enumerate(self.shape) if i not in axes))

    def sum(
        self, axis: AxisArgument = None, keepdim: bool = False, dtype: DTypeLike = None
    ) -> Self:
        """The sum. Bools and integers of fewer than 32 bits are summed in 32 bits."""
        return self._widened(dtype)._reduce(tg.ReduceKind.ADD, axis, keepdim)

    def _widened(self, dtype: DTypeLike) -> Self:
        """Cast to a dtype, by default that of sums: integers have 32 bits at least, so that sums
        rarely wrap."""
        wide = self.dtype
        if not wide.is_float:
            is_signed = wide.low < 0 or wide.is_bool
            wide = dtypes.promote(wide, dtypes.int32 if is_signed else dtypes.uint32)
        return self.cast(dtypes.to_dtype(dtype, wide))

    def prod(
        self, axis: AxisArgument = None, keepdim: bool = False, dtype: DTypeLike = None
    ) -> Self:
        """The product."""
        return (self if dtype is None else self.cast(dtype))._prod(axis, keepdim)

    @rounded_once
    def _prod(self, axis: AxisArgument, keepdim: bool) -> Self:
        return self._reduce(tg.ReduceKind.MUL, axis, keepdim)

    def max(self, axis: AxisArgument | Self = None, keepdim: bool = False) -> Self:
        """The maximum; NaN if there is one. Over no elements it is the least value of the dtype, as
        -inf. With a tensor as argument it is `maximum`."""
        if isinstance(axis, TensorBase):
            return self.maximum(axis)
        return self._reduce(tg.ReduceKind.MAX, axis, keepdim)

    def min(self, axis: AxisArgument | Self = None, keepdim: bool = False) -> Self:
        """The minimum; NaN if there is one. Over no elements it is the greatest value of the dtype,
        as inf. With a tensor as argument it is `minimum`."""
        if isinstance(axis, TensorBase):
            return self.minimum(axis)
        return self._inverse()._reduce(tg.ReduceKind.MAX, axis, keepdim)._inverse()

    def _inverse(self) -> Self:
        """An order-reversing map: the negative, or the complement of integers."""
        return -self if self.dtype.is_float else ~self

    def _check_nonempty(self, name: str, axis: AxisArgument) -> None:
        if 0 in (self.shape[a] for a in self._axes(axis)):
            raise ValueError(f"{name} over no elements: {self.shape}")

    def any(self, axis: AxisArgument = None, keepdim: bool = False) -> Self:
        """Whether any element is not 0."""
        return self.cast(dtypes.bool_)._reduce(tg.ReduceKind.MAX, axis, keepdim)

    def all(self, axis: AxisArgument = None, keepdim: bool = False) -> Self:
        """Whether no element is 0."""
        return self.logical_not().any(axis, keepdim).logical_not()

    def count_nonzero(self, dim: AxisArgument = None) -> Self:
        """The number of elements that are not 0."""
        return self.cast(dtypes.bool_).sum(dim)

    def allclose(
        self,
        other: Self | Number,
        rtol: float = 1e-05,
        atol: float = 1e-08,
        equal_nan: bool = False,
    ) -> Self:
        """Whether all elements are close (`isclose`)."""
        return self.isclose(other, rtol, atol, equal_nan).all()

    def mean(
        self, axis: AxisArgument = None, keepdim: bool = False, dtype: DTypeLike = None
    ) -> Self:
        """The mean; a float for integers."""
        return (self if dtype is None else self.cast(dtype))._mean(axis, keepdim)

    @rounded_once
    def _mean(self, axis: AxisArgument, keepdim: bool) -> Self:
        count = math.prod(self.shape[a] for a in self._axes(axis))
        total = self._float().sum(axis, keepdim)
        return total * math.nan if count == 0 else total / count

    @rounded_once
    def var(self, axis: AxisArgument = None, keepdim: bool = False, correction: float = 1) -> Self:
        """The variance: the sum of squares over n - correction."""
        x = self._float()
        difference = x - x.mean(axis, keepdim=True)
        count = math.prod(self.shape[a] for a in self._axes(axis))
        total = (difference * difference).sum(axis, keepdim)
        if correction == int(correction):
            return total / larger(count - int(correction), 0)
        return total / (self._number(count, x.dtype) - correction).maximum(0)

    def var_mean(
        self, axis: AxisArgument = None, keepdim: bool = False, correction: float = 1
    ) -> tuple[Self, Self]:
        """`var` and `mean`."""
        return self.var(axis, keepdim, correction), self.mean(axis, keepdim)

    @rounded_once
    def std(self, axis: AxisArgument = None, keepdim: bool = False, correction: float = 1) -> Self:
        """The square root of the variance, with gradient 0 where it is 0."""
        variance = self.var(axis, keepdim, correction)
        is_zero = variance.eq(0)
        return is_zero.where(0, is_zero.where(1, variance).sqrt())

    def std_mean(
        self, axis: AxisArgument = None, keepdim: bool = False, correction: float = 1
    ) -> tuple[Self, Self]:
        """`std` and `mean`."""
        return self.std(axis, keepdim, correction), self.mean(axis, keepdim)

    @rounded_once
    def normalize(self, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Self:
        """self / max(norm, eps), with the p-norm along an axis."""
        x = self._float()
        return x / x._norm(p, dim, True).maximum(eps)

    @rounded_once
    def _norm(self, p: float, axis: AxisArgument, keepdim: bool) -> Self:
        """The p-norm of a float tensor along axes, with gradient 0 where it is 0."""
        if p == 0:
            return self._with_zero_gradient((self != 0).cast(self.dtype)).sum(axis, keepdim)
        if abs(p) == math.inf:
            self._check_nonempty("the norm", axis)
            return (self.abs().max if p > 0 else self.abs().min)(axis, keepdim)
        if p == 1:
            return self.abs().sum(axis, keepdim)
        total = (self * self if p == 2 else self._power_of_magnitude(p)).sum(axis, keepdim)
        is_zero = total.eq(0) if p > 0 else total.eq(math.inf)
        return is_zero.where(0, is_zero.where(1, total).pow(1 / p))

    def _power_of_magnitude(self, p: float) -> Self:
        """|self|^p, with gradient 0 at 0."""
        if p > 1:
            return self.abs().pow(p)
        is_zero = self.eq(0)
        return is_zero.where(0 if p > 0 else math.inf, is_zero.where(1, self).abs().pow(p))

    # -- softmax and its like ----------------------------------------------------------------------

    def _greatest(self, axis: AxisArgument) -> Self:
        """The maximum along axes, which are kept; 0 if there are no elements."""
        is_empty = 0 in (self.shape[a] for a in self._axes(axis))
        return (self.sum if is_empty else self.max)(axis, keepdim=True).detach()

    def softmax(self, axis: int = -1, dtype: DTypeLike = None) -> Self:
        """exp(self) divided by its sum along an axis."""
        return (self if dtype is None else self.cast(dtype))._softmax(axis)

    @rounded_once
    def _softmax(self, axis: int) -> Self:
        x = self._float()
        e = (x - x._greatest(axis)).exp()
        return e * e.sum(axis, keepdim=True).reciprocal()

    def softmin(self, axis: int = -1, dtype: DTypeLike = None) -> Self:
        """softmax(-self)."""
        return (-self).softmax(axis, dtype)

    def log_softmax(self, axis: int = -1, dtype: DTypeLike = None) -> Self:
        """log(softmax(self))."""
        return (self if dtype is None else self.cast(dtype))._log_softmax(axis)

    @rounded_once
    def _log_softmax(self, axis: int) -> Self:
        x = self._float()
        x = x - x._greatest(axis)
        return x - x.exp().sum(axis, keepdim=True).log()

    @rounded_once
    def logsumexp(self, axis: AxisArgument = None, keepdim: bool = False) -> Self:
        """log(sum(exp(self)))."""
        x = self._float()
        greatest = x._greatest(axis)
        shift = greatest.clamp(-x.dtype.max_finite, x.dtype.max_finite)
        result = (x - shift).exp().sum(axis, keepdim=True).log() + shift
        return result if keepdim else result._without(self._axes(axis))

    # -- positions ---------------------------------------------------------------------------------

    def argmax(self, axis: int | None = None, keepdim: bool = False) -> Self:
        """The position of the first maximum, or of the first NaN; in the flattened tensor if axis
        is None."""
        if axis is None:
            result = self.flatten().argmax(0)
            return result.reshape((1,) * self.ndim) if keepdim else result
        at = self._axis(axis)
        if not self.ndim:
            return self._constant(0, dtypes.int32)
        self._check_nonempty("argmax", at)
        greatest = self.max(at, keepdim=True)
        is_there = self.eq(greatest)
        if self.dtype.is_float:
            is_there = is_there | self.isnan()
        extent = self.shape[at]
        # The first of several positions has the most cells from there to the end.
        left = self._line(extent, at, descending=True)
        return extent - is_there.where(left, 0).max(at, keepdim)

    def argmin(self, axis: int | None = None, keepdim: bool = False) -> Self:
        """The position of the first minimum, or of the first NaN."""
        return self._inverse().argmax(axis, keepdim)

    def _line(self, extent: int, axis: int, *, descending: bool = False) -> Self:
        """0, 1, ..., extent - 1 along an axis; or extent, ..., 1."""
        kind = dtypes.int32 if greatest(extent) < 1 << 31 else dtypes.int64
        ends = (extent, 0, -1) if descending else (0, extent, 1)
        return self.arange(*ends, dtype=kind).reshape((extent, *(1,) * (self.ndim - axis - 1)))

    # -- running reductions ------------------------------------------------------------------------

    def _running(self, axis: int, kind: tg.ReduceKind) -> Self:
        """The inclusive prefix reduction, as the specification's prefix_sum."""
        at = self._axis(axis)
        if not self.ndim or self.numel() == 0:
            return self._apart_from(self)
        extent = greatest(self.shape[at])
        last = self.transpose(at, -1)
        is_static = not any(isinstance(d, SymInt) for d in last.shape)
        if is_static and isinstance(self.device, str) and not is_cpu(self.device):
            parts = scan_blocks_of(extent)
        else:
            rows, itemsize = self.numel() // extent, self.dtype.itemsize
            found = parts_of(extent, self.numel(), itemsize, rows, CPU) if is_static else None
            parts = found[0] if found and math.prod(found) == extent else 0
        if not is_static and extent > _BLOCK:
            # Windows have the greatest extent, so that blocks of a symbolic axis are small.
            present = last.shape[-1]
            count = -(-present // _BLOCK)
            padded = last._padded([(0, count * _BLOCK - present)], tg.identity(kind, self.dtype))
            blocks = padded.reshape((*last.shape[:-1], count, _BLOCK))._running_in_blocks(kind)
            return blocks.reshape(padded.shape).shrink_to(last.shape).transpose(at, -1)
        if parts:
            size = -(-extent // parts)
            padded = last._padded([(0, parts * size - extent)], tg.identity(kind, self.dtype))
            blocks = padded.reshape((*last.shape[:-1], parts, size))._running_in_blocks(kind)
            return blocks.reshape(padded.shape).shrink_to(last.shape).transpose(at, -1)
        wide = last._padded([(extent - 1, extent - last.shape[-1])], tg.identity(kind, self.dtype))
        windows = wide._windows((extent,), (1,), (1,))
        return windows._reduce(kind, -1, keepdim=False).transpose(at, -1).shrink_to(self.shape)

    def _running_in_blocks(self, kind: tg.ReduceKind) -> Self:
        """The prefix reduction of rows that are given in blocks, (..., blocks, n): reduce each
        block, scan the results, and scan each block from there. Threads share the blocks."""
        totals = self._reduce(kind, -1, keepdim=False)._running(-1, kind)
        shifted = totals._padded([(1, 0)], tg.identity(kind, self.dtype))
        before = shifted.shrink_to(totals.shape).contiguous().unsqueeze(-1)
        return self._running(-1, kind)._binary(ALU[kind], before)

    @rounded_once
    def _running_in_f32(self, axis: int, kind: tg.ReduceKind) -> Self:
        """`_running` whose parts are not rounded to a narrow float."""
        return self._running(axis, kind)

    def cumsum(self, axis: int = 0, dtype: DTypeLike = None) -> Self:
        """Inclusive prefix sums."""
        return self._widened(dtype)._running_in_f32(axis, tg.ReduceKind.ADD)

    def diff(
        self, n: int = 1, dim: int = -1, prepend: Self | None = None, append: Self | None = None
    ) -> Self:
        """The differences of neighbours along an axis, n times; of bools, whether they differ.

        Args:
            prepend, append: cells before and after the axis. Their other extents are those of this.
        """
        axis = self._existing_axis(dim)
        if n < 0:
            raise ArgumentError(f"differences of order {n}")
        if n == 0:
            return self._apart_from(self)
        given = [t for t in (prepend, self, append) if t is not None]
        check_tensors(*given)
        x = given[0].cat(*given[1:], dim=axis) if len(given) > 1 else self
        for _ in range(min(n, greatest(x.shape[axis]))):
            before = x._part(axis, 0, x.shape[axis] - 1)
            after = x._part(axis, 1, x.shape[axis])
            x = after.ne(before) if x.dtype.is_bool else after - before
        return x

    def cumprod(self, axis: int, dtype: DTypeLike = None) -> Self:
        """Inclusive prefix products."""
        return self._widened(dtype)._running_in_f32(axis, tg.ReduceKind.MUL)

    def cummax(self, axis: int = 0) -> tuple[Self, Self]:
        """Inclusive prefix maxima and their positions, the last ones of equals."""
        at = self._axis(axis)
        if not self.ndim:
            return self._apart_from(self), self._constant(0, dtypes.int32)
        values = self._running(at, tg.ReduceKind.MAX)
        is_there = self.eq(values)
        if self.dtype.is_float:
            is_there = is_there | self.isnan()
        line = self._line(self.shape[at], at)
        return values, is_there.where(line, -1)._running(at, tg.ReduceKind.MAX)

    def cummin(self, axis: int = 0) -> tuple[Self, Self]:
        """Inclusive prefix minima and their positions, the last ones of equals."""
        values, indices = self._inverse().cummax(axis)
        return values._inverse(), indices

    @rounded_once
    def logcumsumexp(self, axis: int = 0) -> Self:
        """log of the inclusive prefix sums of exp."""
        at = self._axis(axis)
        if not self.ndim or self.numel() == 0:
            return self._float()
        x = self._float()
        running = x.detach().cummax(at)[0]
        last = x.transpose(at, -1)
        extent = self.shape[at]
        shift = running.transpose(at, -1).unsqueeze(-1)
        shift = shift.clamp(-x.dtype.max_finite, x.dtype.max_finite)
        wide = last.unsqueeze(-2)
        causal = self.arange(extent).reshape((extent, 1)) >= self.arange(extent)
        # Mask before the exponential, which may overflow for later cells.
        total = causal.where(wide - shift, -math.inf).exp().sum(-1)
        return (total.log() + shift.squeeze(-1)).transpose(at, -1)
