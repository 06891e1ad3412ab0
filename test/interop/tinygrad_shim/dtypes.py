"""`tinygrad.dtypes` and `tinygrad.dtype`: our dtypes by tinygrad's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from tgdialect import Tensor
from tgdialect.frontend import dtypes as ours
from tgdialect.ops.dtypes import DType as DType
from tgdialect.ops.dtypes import Kind, round_to, wrap_to
from tinygrad_shim.internals import InternalValue

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


class _Truncate(dict[DType, Any]):
    """A function that rounds a Python number, for each dtype."""

    def __missing__(self, dtype: DType) -> Any:
        if dtype.is_float:
            return lambda value: round_to(dtype, float(value))
        return bool if dtype.is_bool else lambda value: wrap_to(dtype, int(value))


truncate = _Truncate()


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
