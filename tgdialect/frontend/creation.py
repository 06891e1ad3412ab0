"""Creation of tensors: constants, ranges, grids."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, Self, TypeVar, cast

from tgdialect.frontend import dtypes
from tgdialect.frontend.base import (
    Devices,
    DTypeError,
    Number,
    check_tensors,
    extents_of,
    flattened,
    number_in,
    number_of,
)
from tgdialect.frontend.dtypes import DTypeLike
from tgdialect.frontend.elementwise import Elementwise
from tgdialect.frontend.graph import constant, size_node
from tgdialect.frontend.movement import Movement
from tgdialect.frontend.symbolic import SymInt, greatest, is_surely_less, larger, to_dim
from tgdialect.ops import tg
from tgdialect.runtime.devices.device import DEVICES

T = TypeVar("T", bound="Creation")

_LONGEST_LINE = 2**28
"""The elements of a range that are counted one by one. Their windows have twice the square of that
in cells, whose numbers have to be indices; a longer range has rows of this length."""


class Creation(Elementwise, Movement):
    """Class methods that make tensors."""

    __slots__ = ()

    @classmethod
    def _number(cls, value: Number, dtype: DTypeLike, device: Devices | None = None) -> Self:
        """A scalar; on the devices that are named, and wherever it is used otherwise. A size is an
        i32, or an i64 if it may be out of its range."""
        value = number_of(value)
        wanted = None if dtype is None else dtypes.to_dtype(dtype)
        if isinstance(value, SymInt):
            found = wanted or value.dtype or _dtype_of_range(value.min, value.max)
            number = cls.of_node(size_node(value)).cast(found)
        else:
            number = cls.of_node(constant(0, wanted or dtypes.of_number(value)))._constant(value)
        if device is None:
            return number
        if isinstance(device, list | tuple):
            return number.to(device)
        return number._apply(tg.CopyOp, number.node, DEVICES[device].name)

    @classmethod
    def full(
        cls, shape: Any, fill_value: Number, dtype: DTypeLike = None, device: Devices | None = None
    ) -> Self:
        """One value in every cell."""
        return cls._number(fill_value, dtype, device)._broadcast_to(extents_of((shape,)))

    @classmethod
    def zeros(cls, *shape: Any, dtype: DTypeLike = None, device: Devices | None = None) -> Self:
        """Zeros, of the default float dtype."""
        return cls.full(extents_of(shape), 0, dtypes.to_dtype(dtype, dtypes.default_float), device)

    @classmethod
    def ones(cls, *shape: Any, dtype: DTypeLike = None, device: Devices | None = None) -> Self:
        """Ones, of the default float dtype."""
        return cls.full(extents_of(shape), 1, dtypes.to_dtype(dtype, dtypes.default_float), device)

    @classmethod
    def empty(cls, *shape: Any, dtype: DTypeLike = None, device: Devices | None = None) -> Self:
        """Unspecified contents; currently zeros."""
        return cls.zeros(*shape, dtype=dtype, device=device)

    def full_like(
        self, fill_value: Number, dtype: DTypeLike = None, device: str | None = None
    ) -> Self:
        """One value in every cell, of this shape and dtype, on this device."""
        dtype = self.dtype if dtype is None else dtype
        return self._like(lambda where: self.full(self.shape, fill_value, dtype, where), device)

    def const_like(self, b: Number, dtype: DTypeLike = None, device: str | None = None) -> Self:
        """`full_like`."""
        return self.full_like(b, dtype, device)

    def zeros_like(self, dtype: DTypeLike = None, device: str | None = None) -> Self:
        """Zeros, of this shape and dtype, on this device."""
        return self.full_like(0, dtype, device)

    def ones_like(self, dtype: DTypeLike = None, device: str | None = None) -> Self:
        """Ones, of this shape and dtype, on this device."""
        return self.full_like(1, dtype, device)

    def empty_like(self, dtype: DTypeLike = None, device: str | None = None) -> Self:
        """Unspecified contents of this shape and dtype, on this device; currently zeros."""
        return self.full_like(0, dtype, device)

    def _like(self, make: Callable[[str | None], Self], device: str | None) -> Self:
        """A tensor that is made on a device, by default where this one is, in the same parts."""
        where = self.node.device if device is None else device
        if isinstance(where, tuple):
            return make(None)._on_devices(where, self.node.axis)
        return make(where)

    @classmethod
    def arange(
        cls,
        start: float,
        stop: float | None = None,
        step: float = 1,
        dtype: DTypeLike = None,
        device: str | None = None,
    ) -> Self:
        """start, start + step, ..., up to but without `stop`. Integers are i32, or i64 if one is
        out of its range. Raises RangeError for integers that are out of the range of the dtype."""
        if stop is None:
            start, stop = 0, start
        start, stop, step = (number_of(number) for number in (start, stop, step))
        if step == 0:
            raise ValueError("arange with step 0")
        if any(isinstance(number, SymInt) for number in (start, stop, step)):
            return cls._symbolic_arange(start, stop, step, dtype, device)
        if not math.isfinite((stop - start) / step):
            raise ValueError(f"arange from {start} to {stop} in steps of {step}")
        is_float = any(isinstance(number, float) for number in (start, stop, step))
        count = (stop - start) / step if is_float else -((start - stop) // step)
        count = max(math.ceil(count), 0)
        last = start + max(count - 1, 0) * step
        wide = dtypes.default_float if is_float else _dtype_of_range(int(start), int(last))
        wanted = dtypes.to_dtype(dtype, wide)
        if count == 0:
            return cls.full((0,), 0, wanted, device)
        _check_ends(wanted, start, last)
        positions = cls._positions(count, device)
        if is_float:
            return (positions.cast(dtypes.float64) * float(step) + float(start)).cast(wanted)
        positions = positions.cast(wide)
        values = positions if step == 1 else positions * tg.wrap_to(wide, int(step))
        return (values if start == 0 else values + int(start)).cast(wanted)

    @classmethod
    def _symbolic_arange(
        cls, start: Any, stop: Any, step: Any, dtype: DTypeLike, device: str | None
    ) -> Self:
        """A range of symbolic length: one of the greatest length, shrunk."""
        if any(isinstance(number, float) for number in (start, stop, step)):
            raise TypeError(f"arange to a symbolic number is of integers, not {start, stop, step}")
        is_down = isinstance(step, int) and step < 0
        span, stride = (start - stop, -step) if is_down else (stop - start, step)
        if is_surely_less(stride, 1) or is_surely_less(span, 0):
            raise ValueError(
                f"arange from {start} to {stop} in steps of {step}: {stride} is not positive, or "
                f"{span} is negative"
            )
        count = -(-span // stride)
        line = cls.arange(greatest(count), dtype=dtype, device=device)
        line = line.shrink([(0, cast(int, count))]) * step
        return line if start == 0 else line + start

    @classmethod
    def _positions(cls, count: int, device: str | None) -> Self:
        """0, 1, and so on, `count` of them."""
        if count <= _LONGEST_LINE:
            return cls.full((count,), 1, dtypes.int32, device)._count() - 1
        rows = cls._positions(-(-count // _LONGEST_LINE), device).cast(dtypes.int64)
        line = cls._positions(_LONGEST_LINE, device)
        return (rows.reshape((-1, 1)) * _LONGEST_LINE + line).flatten().shrink([(0, count)])

    def _count(self) -> Self:
        """The prefix sums of a tensor with one axis."""
        n = self.shape[0]
        windows = self._padded([(n - 1, 0)], 0)._windows((n,), (1,), (1,))
        return self._apply(tg.ReduceOp, tg.ReduceKind.ADD, windows.node, (1,)).reshape((n,))

    @classmethod
    def linspace(
        cls,
        start: float,
        stop: float,
        steps: int,
        dtype: DTypeLike = None,
        device: str | None = None,
    ) -> Self:
        """`steps` evenly spaced numbers from `start` to `stop`, both included."""
        steps = to_dim(steps)
        if is_surely_less(steps, 0):
            raise ValueError("number of steps must be non-negative")
        wanted = dtypes.to_dtype(dtype, dtypes.default_float)
        if wanted.is_bool:
            raise DTypeError("linspace of dtype i1: numbers are needed")
        _check_ends(wanted, start, stop)
        if steps == 1:
            return cls.full((1,), start, wanted, device)
        line = cls.arange(steps, device=device).cast(dtypes.float64)
        parts = larger(steps - 1, 1)
        if isinstance(parts, SymInt):
            parts = cls._number(parts, dtypes.float64)
        step = (stop - start) / parts
        return (line * step + float(start)).cast(wanted)

    @classmethod
    def eye(
        cls, n: int, m: int | None = None, dtype: DTypeLike = None, device: str | None = None
    ) -> Self:
        """The identity matrix: ones on the diagonal, zeros elsewhere."""
        columns = n if m is None else m
        if is_surely_less(to_dim(n), 0) or is_surely_less(to_dim(columns), 0):
            raise ValueError(f"eye of {n} rows and {columns} columns")
        rows = cls.arange(n, device=device).reshape((n, 1))
        cells = rows.eq(cls.arange(columns, device=device))
        return cells.cast(dtypes.to_dtype(dtype, dtypes.default_float))

    def meshgrid(
        self: T | Sequence[T], *args: T, indexing: Literal["ij", "xy"] = "ij"
    ) -> tuple[T, ...]:
        """Coordinate matrices from coordinate vectors. `Tensor.meshgrid` also takes one sequence of
        vectors."""
        every: tuple[T, ...] = flattened(self, args)
        if indexing not in ("ij", "xy"):
            raise RuntimeError(f"indexing is ij or xy, got {indexing!r}")
        check_tensors(*every)
        if any(t.ndim > 1 for t in every):
            raise ValueError(f"meshgrid takes vectors, got shapes {[t.shape for t in every]}")
        lines = tuple(t if t.ndim else t.reshape((1,)) for t in every)
        if len(lines) == 1:
            return lines
        order = list(range(len(lines)))
        if indexing == "xy":
            order[:2] = 1, 0
        lined = [t.reshape([-1 if i == k else 1 for i in order]) for k, t in enumerate(lines)]
        return lined[0]._broadcasted(*lined[1:])

    def tril(self, diagonal: int = 0) -> Self:
        """The cells on and below a diagonal, zeros above."""
        return self._triangle(diagonal + 1).where(self, self._constant(0))

    def triu(self, diagonal: int = 0) -> Self:
        """The cells on and above a diagonal, zeros below."""
        return self._triangle(diagonal).where(self._constant(0), self)

    def _triangle(self, diagonal: int) -> Self:
        """A mask that is true below a diagonal."""
        if self.ndim < 2:
            raise RuntimeError(f"a triangle of a tensor with {self.ndim} axes")
        rows, columns = self.shape[-2:]
        lined = self.arange(rows).reshape((rows, 1))
        return self.arange(columns) < lined + to_dim(diagonal)

    def diag(self, diagonal: int = 0) -> Self:
        """A square matrix with these cells on a diagonal, which is above the main one if `diagonal`
        is positive; of a matrix, its diagonal."""
        if self.ndim == 2:
            return self.diagonal(diagonal)
        if self.ndim != 1:
            raise ValueError(f"diag of a tensor with {self.ndim} axes")
        more = larger(diagonal, -diagonal)
        n = self.shape[0] + more
        wide = self._padded([(0, more)], 0)
        # Above the main diagonal, cell i is in row i, and below it in column i.
        cells = wide.unsqueeze(1) if diagonal >= 0 else wide
        rows = self.arange(n).reshape((n, 1))
        return (rows + diagonal).eq(self.arange(n)).where(cells, self._constant(0))


def _dtype_of_range(start: int, last: int) -> tg.DType:
    """The dtype of a range of integers: i32 if both ends fit, else i64 or ui64."""
    for kind in (dtypes.default_int, dtypes.int64, dtypes.uint64):
        if kind.low <= min(start, last) and max(start, last) <= kind.high:
            return kind
    raise ValueError(f"integers from {start} to {last} are not representable in 64 bits")


def _check_ends(dtype: tg.DType, *ends: float) -> None:
    """Raise RangeError if an end of a range is out of the range of an integer dtype."""
    if dtype.is_integer:
        for number in ends:
            number_in(dtype, number)
