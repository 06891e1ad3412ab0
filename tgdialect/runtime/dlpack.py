"""DLPack: capsules that describe arrays to other libraries, which then share their memory.

The layout is that of `DLManagedTensor`, https://dmlc.github.io/dlpack. NumPy makes and reads the
capsules of arrays on the host; of bf16 and fp8, which it refuses, as of unsigned integers, whose
dtype is then corrected.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from tgdialect.ops.numpy_dtypes import Array, dtype_named

DLPACK_HOST = (1, 0)
"""DLPack's type and number of the host."""
_NAME, _USED, _VERSIONED = b"dltensor", b"used_dltensor", b"dltensor_versioned"
_VERSIONED_HEAD = 32
"""The bytes before the tensor in `DLManagedTensorVersioned`."""


class _Tensor(ctypes.Structure):
    """`DLTensor`."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    """`DLManagedTensor`."""


_Deleter = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter))


def _function_of_capsules(name: str, result: Any) -> Any:
    kind = ctypes.PYFUNCTYPE(result, ctypes.py_object, ctypes.c_char_p)
    return kind((f"PyCapsule_{name}", ctypes.pythonapi))


_pointer_of = _function_of_capsules("GetPointer", ctypes.c_void_p)
_has_name = _function_of_capsules("IsValid", ctypes.c_int)
_rename = _function_of_capsules("SetName", ctypes.c_int)

_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
"""DLPack's codes of NumPy's kinds of dtypes."""
_NAMED = {"bfloat16": 4, "float8_e4m3fn": 10, "float8_e5m2": 12}
"""DLPack's codes of dtypes that NumPy lacks."""


def host_array(value: Any) -> Array:
    """An array of the host as one of NumPy or ml_dtypes, without a copy if it is one of these or
    has DLPack. Raises TypeError for a dtype that the dialect lacks."""
    if isinstance(value, np.ndarray):
        return cast(Array, value)
    if not is_on_host(value):
        return np.asarray(value)
    readable = _Readable(value)
    return np.from_dlpack(readable).view(readable.dtype)


def is_on_host(value: Any) -> bool:
    """Whether an array of any library has DLPack, and is in the memory of the host."""
    return hasattr(value, "__dlpack__") and value.__dlpack_device__()[0] == DLPACK_HOST[0]


class _Readable:
    """An array of another library with a dtype that NumPy has; `dtype` is its own."""

    dtype: np.dtype[Any]

    def __init__(self, value: Any) -> None:
        self._value = value

    def __dlpack__(self, **kwargs: Any) -> Any:
        capsule = self._value.__dlpack__(**kwargs)
        tensor = _tensor_of(capsule)
        self.dtype = _dtype(tensor.code, tensor.bits, tensor.lanes)
        if tensor.code in _NAMED.values():
            tensor.code = _CODES["u"]
        return capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._value.__dlpack_device__()


def host_capsule(array: Array, **kwargs: Any) -> Any:
    """`array.__dlpack__(**kwargs)`, also of dtypes that NumPy lacks."""
    code = _NAMED.get(array.dtype.name)
    if code is None:
        return array.__dlpack__(**kwargs)
    capsule = array.view(f"u{array.itemsize}").__dlpack__(**kwargs)
    _tensor_of(capsule).code = code
    return capsule


def _tensor_of(capsule: Any) -> _Tensor:
    """The description in a capsule that was not consumed yet."""
    if _has_name(capsule, _VERSIONED):
        return _Tensor.from_address(_pointer_of(capsule, _VERSIONED) + _VERSIONED_HEAD)
    return _Tensor.from_address(_pointer_of(capsule, _NAME))


class _StandIn(np.ndarray[Any, np.dtype[np.uint8]]):
    """One byte of the host, in place of memory that NumPy cannot address. It keeps `owner` alive,
    and the capsules that NumPy makes of it keep it alive."""

    owner: object


class SharedArray(NamedTuple):
    """An array in DLPack's terms. `pointer` is an address, or the handle of an OpenCL buffer, and
    `offset` is in bytes."""

    device_type: int
    device_id: int
    pointer: int
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def capsule_of(array: SharedArray, owner: object) -> Any:
    """A capsule for an array in row-major order, which keeps `owner` alive.

    NumPy makes it, of another array of that shape: its destructor is C, as it has to be, because
    consumers that refuse a capsule destroy it while an exception is set.
    """
    rank, dtype = len(array.shape), array.dtype
    code = _NAMED.get(dtype.name, _CODES.get(dtype.kind))
    if code is None:
        raise TypeError(f"DLPack has no {dtype.name}")
    stand_in = _StandIn(array.shape, np.uint8, buffer=bytearray(1), strides=(0,) * rank)
    stand_in.owner = owner
    capsule: Any = stand_in.__dlpack__()
    tensor = _tensor_of(capsule)
    tensor.data, tensor.byte_offset = array.pointer, array.offset
    tensor.device_type, tensor.device_id = array.device_type, array.device_id
    tensor.code, tensor.bits, tensor.lanes = code, 8 * dtype.itemsize, 1
    for axis, stride in enumerate(row_major(array.shape) if tensor.strides else ()):
        tensor.strides[axis] = stride
    return capsule


class Owner:
    """The producer's side of a consumed capsule."""

    def __init__(self, address: int) -> None:
        self._managed: _Managed | None = _Managed.from_address(address)

    def release(self) -> None:
        """Tell the producer, once, that the memory is not used any more."""
        managed, self._managed = self._managed, None
        if managed is not None and managed.deleter:
            managed.deleter(ctypes.byref(managed))

    __del__ = release


def consumed(capsule: Any) -> tuple[SharedArray, Owner]:
    """The array of a capsule, and the object that keeps its memory alive.

    Raises ValueError for a capsule that was consumed before, and for an array that is not in
    row-major order; TypeError for a dtype that the dialect lacks.
    """
    try:
        address = _pointer_of(capsule, _NAME)
    except ValueError:
        raise ValueError("the DLPack capsule is not valid, or was consumed before") from None
    _rename(capsule, _USED)
    owner = Owner(address)
    tensor = _Managed.from_address(address).tensor
    shape = tuple(tensor.shape[: tensor.ndim])
    if tensor.strides:
        strides = tensor.strides[: tensor.ndim]
        axes = zip(shape, strides, row_major(shape), strict=True)
        if 0 not in shape and any(extent > 1 and a != b for extent, a, b in axes):
            raise ValueError(
                f"the array of shape {shape} has strides {tuple(strides)}: it is not contiguous"
            )
    dtype = _dtype(tensor.code, tensor.bits, tensor.lanes)
    where = tensor.device_type, tensor.device_id, tensor.data or 0, tensor.byte_offset
    return SharedArray(*where, shape, dtype), owner


def _dtype(code: int, bits: int, lanes: int) -> np.dtype[Any]:
    named = {each: name for name, each in _NAMED.items()}
    kinds = {each: kind for kind, each in _CODES.items()}
    if lanes == 1 and code in named:
        return dtype_named(named[code])
    if lanes == 1 and code in kinds and bits % 8 == 0:
        return np.dtype(f"{kinds[code]}{bits // 8}" if kinds[code] != "b" else "bool")
    raise TypeError(f"DLPack's dtype {code} of {bits} bits in {lanes} lanes is none of ours")


def row_major(shape: Sequence[int]) -> Sequence[int]:
    """The strides, in elements, of an array in row-major order."""
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
