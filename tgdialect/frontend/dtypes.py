"""Names of dtypes, and type promotion: `tg.dtypes`.

`promote` uses the lattice of JAX's "Type promotion semantics", as tinygrad does. A Python number is
weakly typed: it takes the dtype of the tensor that it is used with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, cast

import numpy as np
from xdsl.ir import Attribute

from tgdialect.ops.arrays import numpy_dtype
from tgdialect.ops.dtypes import DTYPES, DType, dtype_row

_ATTRIBUTES: Mapping[DType, Attribute] = {dtype: a for a, dtype in DTYPES.items()}
_BY_MLIR_NAME = {dtype.name: dtype for dtype in DTYPES.values()}

bool_ = _BY_MLIR_NAME["i1"]
int8, int16, int32, int64 = (_BY_MLIR_NAME[f"i{bits}"] for bits in (8, 16, 32, 64))
uint8, uint16, uint32, uint64 = (_BY_MLIR_NAME[f"ui{bits}"] for bits in (8, 16, 32, 64))
float16, bfloat16 = _BY_MLIR_NAME["f16"], _BY_MLIR_NAME["bf16"]
float32, float64 = _BY_MLIR_NAME["f32"], _BY_MLIR_NAME["f64"]
fp8e4m3, fp8e5m2 = _BY_MLIR_NAME["f8E4M3FN"], _BY_MLIR_NAME["f8E5M2"]

default_int = int32
default_float = float32

NAMES: Mapping[str, DType] = {
    **_BY_MLIR_NAME,
    **{"bool": bool_, "int8": int8, "int16": int16, "int32": int32, "int64": int64},
    **{"uint8": uint8, "uint16": uint16, "uint32": uint32, "uint64": uint64},
    **{"float16": float16, "bfloat16": bfloat16, "float32": float32, "float64": float64},
    **{"fp8e4m3": fp8e4m3, "fp8e5m2": fp8e5m2},
    **{"char": int8, "short": int16, "int": int32, "long": int64},
    **{"uchar": uint8, "ushort": uint16, "uint": uint32, "ulong": uint64},
    **{"half": float16, "float": float32, "double": float64},
}
"""MLIR's names, NumPy's, and C's. Each is also an attribute of this module, as `dtypes.half`."""


_OF_NUMPY = {
    numpy_dtype(dtype): dtype for dtype in dict.fromkeys(NAMES.values()) if dtype.name != "index"
}


_CODE = re.compile("([iuf])([1248])")
"""NumPy's codes of dtypes, with their bytes."""


class UnknownDTypeError(TypeError, AttributeError):
    """An unknown name of a dtype: a TypeError as in NumPy, and an AttributeError as in `torch`."""

    def __init__(self, given: object) -> None:
        message = f"{given!r} is not a dtype; there are: {', '.join(NAMES)}"
        if isinstance(given, str) and (code := _CODE.fullmatch(given)):
            kind, bits = {"i": "int", "u": "uint", "f": "float"}[code[1]], 8 * int(code[2])
            message = (
                f"{given!r} is NumPy's {kind}{bits}: write that, or a name with the number of bits"
            )
        super().__init__(message)


def __getattr__(name: str) -> DType:
    if (dtype := NAMES.get(name)) is None:
        raise UnknownDTypeError(name)
    return dtype


DTypeLike = DType | str | Any | None
"""A dtype, its name, or anything that NumPy converts to a dtype; None is a method's default, as in
NumPy's type of this name."""

_ABOVE: Mapping[DType, tuple[DType, ...]] = {
    bool_: (int8, uint8),
    int8: (int16,),
    int16: (int32,),
    int32: (int64,),
    int64: (fp8e4m3, fp8e5m2),
    uint8: (int16, uint16),
    uint16: (int32, uint32),
    uint32: (int64, uint64),
    uint64: (fp8e4m3, fp8e5m2),
    fp8e4m3: (float16, bfloat16),
    fp8e5m2: (float16, bfloat16),
    float16: (float32,),
    bfloat16: (float32,),
    float32: (float64,),
    float64: (),
}
"""The promotion lattice: the dtypes directly above each dtype."""
_RANK = {dtype: rank for rank, dtype in enumerate(_ABOVE)}


@cache
def _upper(dtype: DType) -> frozenset[DType]:
    return frozenset({dtype}).union(*(_upper(above) for above in _ABOVE[dtype]))


@cache
def promote(*dtypes: DType) -> DType:
    """The least upper bound of dtypes in the lattice. Integers without a common integer dtype are
    promoted to the default float."""
    common = _upper(dtypes[0])
    for dtype in dtypes[1:]:
        common &= _upper(dtype)
    least = min(common, key=_order)
    return default_float if least.is_float and not any(d.is_float for d in dtypes) else least


def _order(dtype: DType) -> tuple[int, int]:
    return -len(_upper(dtype)), _RANK[dtype]


def promote_number(dtype: DType, number: float) -> DType:
    """The dtype of an operation on a tensor of `dtype` and a Python number, which is weak."""
    if isinstance(number, bool) or dtype.is_float:
        return dtype
    if isinstance(number, float):
        return default_float
    return default_int if dtype.is_bool else dtype


def of_number(number: float) -> DType:
    """The dtype of a Python number by itself: an int is i32 if it fits."""
    if isinstance(number, bool):
        return bool_
    if isinstance(number, float):
        return default_float
    kinds = (default_int, int64, uint64)
    return next((kind for kind in kinds if kind.low <= number <= kind.high), default_int)


def as_float(dtype: DType) -> DType:
    """The result dtype of functions that are defined on floats only."""
    return dtype if dtype.is_float else default_float


def to_dtype(dtype: DTypeLike, default: DType | None = None) -> DType:
    """Convert to a dtype; None is the default, if there is one. A text is one of `NAMES`: NumPy's
    codes count bytes, where MLIR's names count bits, so that `i8` would be one and `u8` the other.
    Raises UnknownDTypeError for values that name none."""
    dtype = default if dtype is None else dtype
    if isinstance(dtype, DType):
        return dtype
    try:
        # NumPy has a default for None.
        is_name = dtype is None or isinstance(dtype, str)
        return NAMES[cast(str, dtype)] if is_name else _OF_NUMPY[np.dtype(dtype)]
    except (TypeError, KeyError, ValueError):
        raise UnknownDTypeError(dtype) from None


attribute_of = _ATTRIBUTES.__getitem__
"""The dtype as an attribute of the IR."""
of_attribute = dtype_row
"""The inverse of `attribute_of`."""
numpy_of = numpy_dtype
"""The dtype of NumPy or `ml_dtypes`."""
