"""PyTorch's dtypes as ours."""

from __future__ import annotations

from collections.abc import Mapping

import torch

from tgdialect.frontend import dtypes
from tgdialect.interop.torch.rules import Refusal
from tgdialect.ops import tg

OURS: Mapping[torch.dtype, tg.DType] = {
    torch.bool: dtypes.bool_,
    torch.int8: dtypes.int8,
    torch.int16: dtypes.int16,
    torch.int32: dtypes.int32,
    torch.int64: dtypes.int64,
    torch.uint8: dtypes.uint8,
    torch.uint16: dtypes.uint16,
    torch.uint32: dtypes.uint32,
    torch.uint64: dtypes.uint64,
    torch.float16: dtypes.float16,
    torch.bfloat16: dtypes.bfloat16,
    torch.float32: dtypes.float32,
    torch.float64: dtypes.float64,
}
"""Each dtype of PyTorch that programs have. Complex and quantised ones, and floats of 8 bits, whose
eager kernels are few, stay with PyTorch."""

THEIRS: Mapping[tg.DType, torch.dtype] = {ours: theirs for theirs, ours in OURS.items()}


def ours(dtype: torch.dtype) -> tg.DType:
    """A dtype of PyTorch as ours. Raises Refusal for one that programs do not have."""
    if (found := OURS.get(dtype)) is None:
        raise Refusal(f"no program has the dtype {str(dtype).removeprefix('torch.')}")
    return found
