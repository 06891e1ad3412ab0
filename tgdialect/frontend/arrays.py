"""Numbers and arrays of Python and of other libraries as NumPy's arrays of a dtype."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from tgdialect.frontend import dtypes
from tgdialect.ops import tg
from tgdialect.ops.arrays import convert
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.dlpack import host_array


def is_array(value: object) -> bool:
    """Whether a value is an array: of NumPy, also a scalar of it, or of a library that offers
    NumPy's protocol or DLPack."""
    # The class np.float32 has the attributes of its scalars.
    has_protocol = hasattr(value, "__array__") or hasattr(value, "__dlpack__")
    return has_protocol and not isinstance(value, type)


def array_of(data: Any, dtype: tg.DType | None = None) -> Array:
    """Data as an array of a dtype; without one a list of Python numbers gets a default dtype.

    Numbers are converted as by `cast`: integers wrap. Bytes are the memory of a tensor of the
    dtype, by default u8, as in tinygrad. Raises ValueError for integers of more than 64 bits and
    for bytes that are no whole number of elements, and TypeError for values that are not numbers.
    """
    if isinstance(data, bytes | bytearray | memoryview):
        return _of_memory(cast(bytes, data), dtype or dtypes.uint8)
    is_array = isinstance(data, np.ndarray | np.generic) or hasattr(data, "__dlpack__")
    if is_array:
        array = host_array(data)
    else:
        try:
            array: Array = np.asarray(cast(Any, data))
        except ValueError:
            raise ValueError(
                "lists of different shapes, or of values that are not numbers"
            ) from None
        if array.dtype == object and all(isinstance(number, int) for number in array.flat):
            if dtype is None or not dtype.is_float:
                shown = np.array2string(array, threshold=8, separator=", ")
                raise ValueError(f"an integer beyond 64 bits in {shown}")
            array = array.astype(np.float64)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype.kind in "OSU":
        kind = array.dtype if is_array else type(cast(object, data)).__name__
        raise TypeError(f"a tensor of {kind}: it has numbers")
    if dtype is None:
        return array if is_array else _in_default_dtype(array)
    return convert(array, dtypes.to_dtype(array.dtype), dtype)


def _of_memory(data: bytes | bytearray | memoryview, dtype: tg.DType) -> Array:
    """Bytes as an array of one axis, which shares their memory if that is aligned."""
    kind, nbytes = dtypes.numpy_of(dtype), memoryview(data).nbytes
    if nbytes % kind.itemsize:
        size = f"{kind.itemsize} byte{'s' * (kind.itemsize > 1)}"
        raise ValueError(f"{nbytes} bytes are no whole number of {dtype.name} of {size}")
    array = np.frombuffer(data, np.uint8) if nbytes else np.empty(0, np.uint8)
    if dtype.is_bool:
        return array != 0
    return np.require(array.view(kind), requirements="A")


def _in_default_dtype(array: Array) -> Array:
    """Python numbers as f32, or as i32 if all of them are in its range."""
    if array.size == 0 or array.dtype == np.float64:
        return array.astype(np.float32)
    narrow = array.astype(np.int32) if array.dtype == np.int64 else array
    return narrow if (narrow == array).all() else array
