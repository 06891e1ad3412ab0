"""`tinygrad.dtypes` and `tinygrad.dtype`: our dtypes by tinygrad's names."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from tgdialect import Tensor
from tgdialect.frontend import dtypes as ours
from tgdialect.ops.dtypes import DType as DType
from tgdialect.ops.dtypes import Kind
from tinygrad_shim.internals import InternalValue, Refused, UsesInternals

DTYPES_DICT = {name: ours.NAMES[name] for name in (
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("fp8e4m3", "fp8e5m2", "float16", "bfloat16", "float32", "float64"),
    *("half", "float", "double", "uchar", "ushort", "uint", "ulong"),
    *("char", "short", "int", "long"),
)}  # fmt: skip
_FORMATS = {
    **{"i1": "?", "i8": "b", "ui8": "B", "i16": "h", "ui16": "H", "i32": "i", "ui32": "I"},
    **{"i64": "q", "ui64": "Q", "f16": "e", "f32": "f", "f64": "d"},
}


class DTypes:
    """The namespace of dtypes. Weak ones and fnuz floats have no counterpart."""

    fp8s = fp8_ocp = (ours.fp8e4m3, ours.fp8e5m2)
    fp8_fnuz = ()
    floats = (*fp8s, ours.float16, ours.bfloat16, ours.float32, ours.float64)
    uints = (ours.uint8, ours.uint16, ours.uint32, ours.uint64)
    sints = (ours.int8, ours.int16, ours.int32, ours.int64)
    ints = (*uints, *sints)
    weaks = ()
    all = (*floats, *ints, ours.bool_)

    def __getattr__(self, name: str) -> Any:
        return DTYPES_DICT.get(name) or InternalValue(f"dtypes.{name}")

    @property
    def default_float(self) -> DType:
        return ours.default_float

    @property
    def default_int(self) -> DType:
        return ours.default_int

    @staticmethod
    def is_float(dtype: DType) -> bool:
        return dtype.is_float

    @staticmethod
    def is_int(dtype: DType) -> bool:
        return dtype.is_integer

    @staticmethod
    def is_bool(dtype: DType) -> bool:
        return dtype.is_bool

    @staticmethod
    def is_unsigned(dtype: DType) -> bool:
        return dtype.kind is Kind.UNSIGNED

    @staticmethod
    def from_py(value: Any) -> DType:
        return ours.of_number(value)

    @staticmethod
    def finfo(dtype: DType) -> tuple[int, int]:
        """Bits of exponent and fraction."""
        return dtype.bits - dtype.precision, dtype.precision - 1


dtypes = DTypes()


NARROW = {
    ours.bfloat16: (ml_dtypes.bfloat16, np.uint16),
    ours.fp8e4m3: (ml_dtypes.float8_e4m3fn, np.uint8),
    ours.fp8e5m2: (ml_dtypes.float8_e5m2, np.uint8),
}
"""The types of ml_dtypes for narrow floats, and those of their bits."""


class _Truncate(dict[DType, Any]):
    """A function that rounds a Python number, for each dtype, by NumPy and ml_dtypes: results are
    compared with it, so that nothing of ours is in it."""

    def __missing__(self, dtype: DType) -> Any:
        if dtype.is_bool:
            return bool
        if dtype.is_float:
            return lambda value: _rounded(dtype, float(value))
        type = ours.numpy_of(dtype).type
        return lambda value: int(np.array(int(value) % 2**dtype.bits, np.uint64).astype(type))


def _rounded(dtype: DType, value: float) -> float:
    type = NARROW[dtype][0] if dtype in NARROW else ours.numpy_of(dtype).type
    with np.errstate(over="ignore"):
        if dtype in DTypes.fp8s and math.isfinite(value):  # They saturate.
            most = float(ml_dtypes.finfo(type).max)
            value = min(max(value, -most), most)
        return float(np.float64(value).astype(type))


truncate = _Truncate()


def from_storage_scalar(bits: Any, dtype: DType) -> Any:
    """The number of a dtype with these bits; of dtypes that NumPy has, the number itself."""
    if not isinstance(dtype, DType):
        raise UsesInternals(repr(dtype).removeprefix("<tinygrad's ").removesuffix(">"))
    if dtype not in NARROW:
        return bits
    type, of_bits = NARROW[dtype]
    return float(np.array(bits, of_bits).view(type))


def to_storage_scalar(value: Any, dtype: DType) -> Any:
    """The bits of a number in a narrow dtype; of another dtype, the number itself."""
    if dtype not in NARROW:
        return value
    type, of_bits = NARROW[dtype]
    return int(np.array(_rounded(dtype, value), type).view(of_bits))


def least_upper_dtype(*given: DType) -> DType:
    return ours.promote(*given)


def strong_dtype(dtype: DType) -> DType:
    return dtype  # None is weak here.


def least_upper_float(dtype: DType) -> DType:
    return ours.as_float(dtype)


def to_numpy(dtype: DType) -> Any:
    """The scalar type that `Tensor.numpy` gives."""
    return ours.numpy_of(dtype).type


def to_torch(dtype: DType) -> Any:
    import torch

    if dtype in DTypes.fp8s:
        return torch.uint8  # Tests compare their bits.
    return getattr(torch, "bool" if dtype.is_bool else np.dtype(ours.numpy_of(dtype)).name)


def fp8_to_float(bits: int, dtype: DType) -> float:
    return Tensor([bits], dtype="uint8").bitcast(dtype).item()


def float_to_fp8(value: float, dtype: DType) -> int:
    return Tensor([value]).cast(dtype).bitcast("uint8").item()


def extend_dtype() -> None:
    """Give our dtypes the attributes that tinygrad's have."""
    for name, read in {
        "bitsize": lambda self: 1 if self.is_bool else self.bits,
        "fmt": lambda self: _FORMATS.get(self.name),
        "min": lambda self: self.low,
        "max": lambda self: self.high,
    }.items():
        setattr(DType, name, property(read))
    for name in ("const", "scalar", "vec", "ptr"):
        setattr(DType, name, Refused(f"DType.{name}"))
