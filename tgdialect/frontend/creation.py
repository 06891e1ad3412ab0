"""Creation of tensors: constants, ranges, grids."""

from __future__ import annotations

import math
from typing import Any, Self, cast

import numpy as np

from tgdialect.frontend import dtypes
from tgdialect.frontend.base import Number, check_tensors, flattened, number_in, number_of
from tgdialect.frontend.graph import Array, Data, constant, leaf
from tgdialect.frontend.movement import Movement
from tgdialect.frontend.symbolic import SymInt, greatest, is_surely_less, to_dim
from tgdialect.ops.arrays import convert
from tgdialect.ops.attributes import ReduceKind
from tgdialect.ops.dtypes import DType, wrap_to
from tgdialect.ops.reduce import ReduceOp
from tgdialect.runtime.devices.device import DEVICES


class Creation(Movement):
    """Class methods that make tensors."""

    __slots__ = ()

    @classmethod
    def _number(cls, value: Number, dtype: dtypes.DTypeLike | None) -> Self:
        value = number_of(value)
        found = dtypes.of_number(value) if dtype is None else dtypes.to_dtype(dtype)
        return cls.of_node(constant(0, found))._constant(value)

    @classmethod
    def _of_array(cls, array: Array) -> Self:
        """A tensor of an array, which is copied if it is not in C order, or to the default device
        if that is not the host."""
        data = np.require(array, requirements=("C", "A")).reshape(array.shape)
        return cls._of_data(DEVICES[DEVICES.DEFAULT].array(data))

    @classmethod
    def _of_data(cls, data: Data) -> Self:
        """A tensor of an array in C order, where it is."""
        return cls.of_node(leaf(data, dtypes.to_dtype(data.dtype)))

    @classmethod
    def full(cls, shape: Any, fill_value: Number, dtype: dtypes.DTypeLike | None = None) -> Self:
        """One value in every cell."""
        extents = flattened(shape, ())
        return cls._number(fill_value, dtype)._broadcast_to(tuple(to_dim(d) for d in extents))

    @classmethod
    def zeros(cls, *shape: Any, dtype: dtypes.DTypeLike | None = None) -> Self:
        """Zeros, of the default float dtype."""
        wanted = dtypes.default_float if dtype is None else dtype
        return cls.full(
            flattened(shape, ()) if not shape else flattened(shape[0], shape[1:]), 0, wanted
        )

    @classmethod
    def ones(cls, *shape: Any, dtype: dtypes.DTypeLike | None = None) -> Self:
        """Ones, of the default float dtype."""
        wanted = dtypes.default_float if dtype is None else dtype
        return cls.full(
            flattened(shape, ()) if not shape else flattened(shape[0], shape[1:]), 1, wanted
        )

    @classmethod
    def empty(cls, *shape: Any, dtype: dtypes.DTypeLike | None = None) -> Self:
        """Unspecified contents; currently zeros."""
        return cls.zeros(*shape, dtype=dtype)

    def full_like(self, fill_value: Number, dtype: dtypes.DTypeLike | None = None) -> Self:
        """One value in every cell, of this shape and dtype."""
        return self.full(self.shape, fill_value, self.dtype if dtype is None else dtype)

    def zeros_like(self, dtype: dtypes.DTypeLike | None = None) -> Self:
        """Zeros, of this shape and dtype."""
        return self.full_like(0, dtype)

    def ones_like(self, dtype: dtypes.DTypeLike | None = None) -> Self:
        """Ones, of this shape and dtype."""
        return self.full_like(1, dtype)

    def empty_like(self, dtype: dtypes.DTypeLike | None = None) -> Self:
        """Unspecified contents of this shape and dtype; currently zeros."""
        return self.full_like(0, dtype)

    @classmethod
    def arange(
        cls,
        start: float,
        stop: float | None = None,
        step: float = 1,
        dtype: dtypes.DTypeLike | None = None,
    ) -> Self:
        """start, start + step, ..., up to but without `stop`. Integers are i32, or i64 if one is
        out of its range. Raises ValueError for integers that are out of the range of the dtype."""
        if stop is None:
            start, stop = 0, start
        start, stop, step = (number_of(number) for number in (start, stop, step))
        if step == 0:
            raise ValueError("arange with step 0")
        if isinstance(start, SymInt) or isinstance(stop, SymInt):
            return cls._symbolic_arange(start, stop, step, dtype)
        if not math.isfinite((stop - start) / step):
            raise ValueError(f"arange from {start} to {stop} in steps of {step}")
        is_float = any(isinstance(number, float) for number in (start, stop, step))
        count = (stop - start) / step if is_float else -((start - stop) // step)
        count = max(math.ceil(count), 0)
        last = start + max(count - 1, 0) * step
        wide = dtypes.default_float if is_float else _dtype_of_range(int(start), int(last))
        wanted = wide if dtype is None else dtypes.to_dtype(dtype)
        if count == 0:
            return cls.full((0,), 0, wanted)
        _check_ends(wanted, start, last)
        ones = cls.full((count,), 1, dtypes.default_int)
        positions = ones._count() - 1
        if is_float:
            return (positions.cast(dtypes.float64) * float(step) + float(start)).cast(wanted)
        positions = positions.cast(wide)
        values = positions if step == 1 else positions * wrap_to(wide, int(step))
        return (values if start == 0 else values + int(start)).cast(wanted)

    @classmethod
    def _symbolic_arange(
        cls, start: Any, stop: Any, step: float, dtype: dtypes.DTypeLike | None
    ) -> Self:
        """A range of symbolic length: one of the greatest length, shrunk."""
        if step not in (1, -1):
            raise ValueError(f"arange to a symbolic number goes in steps of 1, not {step}")
        count = (stop - start) * step
        line = cls.arange(greatest(count), dtype=dtype).shrink([(0, count)]) * step
        return line if start == 0 else line + start

    def _count(self) -> Self:
        """The prefix sums of a tensor with one axis."""
        n = self.shape[0]
        windows = self._padded([(n - 1, 0)], 0)._windows((n,), (1,), (1,))
        return self._apply(ReduceOp, ReduceKind.ADD, windows.node, (1,)).reshape((n,))

    @classmethod
    def linspace(
        cls, start: float, stop: float, steps: int, dtype: dtypes.DTypeLike | None = None
    ) -> Self:
        """`steps` evenly spaced numbers from `start` to `stop`, both included."""
        steps = to_dim(steps)
        if is_surely_less(steps, 0):
            raise ValueError("number of steps must be non-negative")
        wanted = dtypes.default_float if dtype is None else dtypes.to_dtype(dtype)
        if wanted.is_bool:
            raise TypeError("linspace of dtype i1: numbers are needed")
        _check_ends(wanted, start, stop)
        if steps == 1:
            return cls.full((1,), start, wanted)
        line = cls.arange(steps).cast(dtypes.float64)
        return (line * ((stop - start) / max(steps - 1, 1)) + float(start)).cast(wanted)

    @classmethod
    def eye(cls, n: int, m: int | None = None, dtype: dtypes.DTypeLike | None = None) -> Self:
        """The identity matrix: ones on the diagonal, zeros elsewhere."""
        columns = n if m is None else m
        if n < 0 or columns < 0:
            raise ValueError(f"eye of {n} rows and {columns} columns")
        wanted = dtypes.default_float if dtype is None else dtypes.to_dtype(dtype)
        rows = cls.arange(n).reshape((n, 1))
        return rows.eq(cls.arange(columns)).cast(wanted)

    def meshgrid(self, *args: Self, indexing: str = "ij") -> tuple[Self, ...]:
        """Coordinate matrices from coordinate vectors."""
        if indexing not in ("ij", "xy"):
            raise RuntimeError(f"indexing is ij or xy, got {indexing!r}")
        check_tensors(*args)
        if any(t.ndim > 1 for t in (self, *args)):
            raise ValueError(
                f"meshgrid takes vectors, got shapes {[t.shape for t in (self, *args)]}"
            )
        lines = tuple(t if t.ndim else t.reshape((1,)) for t in (self, *args))
        if len(lines) == 1:
            return lines
        order = list(range(len(lines)))
        if indexing == "xy":
            order[:2] = 1, 0
        rank = len(lines)
        lined = [
            t.reshape(tuple(-1 if i == order[k] else 1 for i in range(rank)))
            for k, t in enumerate(lines)
        ]
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

    def diag(self) -> Self:
        """A square matrix with this diagonal; of a matrix, its diagonal."""
        if self.ndim == 2:
            return self.diagonal()
        if self.ndim != 1:
            raise ValueError(f"diag of a tensor with {self.ndim} axes")
        n = self.shape[0]
        return self.eye(n, dtype=dtypes.bool_).where(self, self._constant(0))


def _dtype_of_range(start: int, last: int) -> DType:
    """The dtype of a range of integers: i32 if both ends fit, else i64 or ui64."""
    kinds = (dtypes.default_int, dtypes.int64, dtypes.uint64)
    for kind in kinds:
        if kind.low <= min(start, last) and max(start, last) <= kind.high:
            return kind
    raise ValueError(f"integers from {start} to {last} are not representable in 64 bits")


def _check_ends(dtype: DType, *ends: float) -> None:
    """Raise ValueError if an end of a range is out of the range of an integer dtype."""
    if dtype.is_integer:
        for number in ends:
            number_in(dtype, number)


def array_of(data: Any, dtype: DType | None = None) -> Array:
    """Data as an array of a dtype; without one a list of Python numbers gets a default dtype.

    Raises ValueError for an integer in a list that is out of the dtype's range, and TypeError for
    values that are not numbers.
    """
    is_array = True
    if isinstance(data, np.ndarray | np.generic):
        array = np.asarray(cast(Array, data))
    elif hasattr(data, "__dlpack__"):
        array = cast(Array, np.from_dlpack(data))
    elif isinstance(data, bytes | bytearray | memoryview):
        array = np.frombuffer(cast(bytes, data), np.uint8)
    else:
        is_array = False
        try:
            array: Array = np.asarray(data)
        except ValueError:
            raise ValueError(
                "lists of different shapes, or of values that are not numbers"
            ) from None
        if array.dtype == object and all(isinstance(number, int) for number in array.flat):
            if dtype is None or not dtype.is_float:
                raise ValueError(f"an integer beyond 64 bits in {_shortened(array)}")
            array = array.astype(np.float64)
    if array.dtype.kind in "OSU":
        raise TypeError(f"a tensor of {type(cast(object, data)).__name__}")
    if dtype is None:
        return array if is_array else _in_default_dtype(array)
    if not is_array and dtype.is_integer and array.dtype.kind in "iu" and array.size:
        for number in (int(array.min()), int(array.max())):
            if not dtype.low <= number <= dtype.high:
                raise ValueError(f"{number} is not representable in {dtype.name}")
    return convert(array, dtypes.to_dtype(array.dtype), dtype)


def _in_default_dtype(array: Array) -> Array:
    """Python numbers as f32, or as i32 if all of them are in its range."""
    if array.size == 0 or array.dtype == np.float64:
        return array.astype(np.float32)
    narrow = array.astype(np.int32) if array.dtype == np.int64 else array
    return narrow if (narrow == array).all() else array


def _shortened(array: Array) -> str:
    return np.array2string(array, threshold=8, separator=", ")
