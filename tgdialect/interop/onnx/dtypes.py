"""Dtypes of ONNX."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from onnx import TensorProto

from tgdialect.frontend import dtypes
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx.values import Refused
from tgdialect.ops import tg
from tgdialect.ops.numpy_dtypes import Array

DTYPES: Mapping[int, tg.DType] = {
    TensorProto.FLOAT: dtypes.float32,
    TensorProto.DOUBLE: dtypes.float64,
    TensorProto.FLOAT16: dtypes.float16,
    TensorProto.BFLOAT16: dtypes.bfloat16,
    TensorProto.FLOAT8E4M3FN: dtypes.fp8e4m3,
    TensorProto.FLOAT8E5M2: dtypes.fp8e5m2,
    TensorProto.BOOL: dtypes.bool_,
    TensorProto.INT8: dtypes.int8,
    TensorProto.INT16: dtypes.int16,
    TensorProto.INT32: dtypes.int32,
    TensorProto.INT64: dtypes.int64,
    TensorProto.UINT8: dtypes.uint8,
    TensorProto.UINT16: dtypes.uint16,
    TensorProto.UINT32: dtypes.uint32,
    TensorProto.UINT64: dtypes.uint64,
}
"""The dtypes of tensors, by the element types of ONNX."""

_ELEMENT_TYPES = {dtype: number for number, dtype in DTYPES.items()}


def dtype_of(element_type: int) -> tg.DType:
    """The dtype of an element type. Raises Refused."""
    if (dtype := DTYPES.get(element_type)) is not None:
        return dtype
    known = element_type in TensorProto.DataType.values()
    name = TensorProto.DataType.Name(element_type) if known else element_type
    raise Refused(f"elements of type {name} are not supported")


def element_type(value: Tensor | Array) -> int:
    """The element type of a value; i64 for sizes."""
    if isinstance(value, Tensor):
        return _ELEMENT_TYPES[value.dtype]
    if value.dtype == object:
        return TensorProto.INT64
    return _ELEMENT_TYPES[dtypes.to_dtype(np.dtype(value.dtype))]
