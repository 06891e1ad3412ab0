"""ATen ops that make tensors: constants, ranges, triangles."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import torch

from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.torch.rules import Table, in_own_dtype, of_dtype

aten = torch.ops.aten

CREATION: Table = {
    **of_dtype(
        {
            aten.full.default: lambda size, value, dtype: Tensor.full(size, value, dtype),
            aten.full_like.default: lambda x, value, dtype: Tensor.full(x.shape, value, dtype),
            aten.scalar_tensor.default: lambda value, dtype: Tensor.full((), value, dtype),
            aten.empty.memory_format: lambda size, dtype: Tensor.zeros(size, dtype=dtype),
            aten.empty_permuted.default: lambda size, _, dtype: Tensor.zeros(size, dtype=dtype),
            aten.empty_strided.default: lambda size, _, dtype: Tensor.zeros(size, dtype=dtype),
            aten.new_empty_strided.default: lambda _, size, __, dtype: Tensor.zeros(
                size, dtype=dtype
            ),
            aten.arange.start_step: lambda start, end, step=1, *, dtype: Tensor.arange(
                start, end, step, dtype=dtype
            ),
        }
    ),
    **in_own_dtype(
        {
            aten.tril.default: lambda x, diagonal=0: x.tril(diagonal),
            aten.triu.default: lambda x, diagonal=0: x.triu(diagonal),
        }
    ),
}
