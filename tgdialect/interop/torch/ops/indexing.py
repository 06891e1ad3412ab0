"""ATen ops at positions that are computed: gather, scatter, embeddings."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Sequence

import torch

from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.torch.rules import Refusal, Table, in_own_dtype

aten = torch.ops.aten


def _index(x: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """Raises Refusal for a mask, whose number of cells is not known."""
    for index in indices:
        if index is not None and index.dtype.is_bool:
            raise Refusal("the size of the result depends on the elements of a mask")
    # PyTorch's ops name an axis that is not indexed by None, which is a new axis in an index.
    return x[tuple(slice(None) if index is None else index for index in indices)]


def _embedding_gradient(
    gradient: Tensor, indices: Tensor, count: int, padding_idx: int, by_frequency: bool
) -> Tensor:
    if by_frequency:
        raise Refusal("embedding gradients scaled by frequency are not translated")
    size = gradient.shape[-1]
    rows = indices.reshape((-1,))
    kept = gradient.reshape((rows.shape[0], size))
    if padding_idx >= 0:
        kept = (rows == padding_idx).unsqueeze(1).where(0, kept)
    return Tensor.zeros((count, size), dtype=gradient.dtype).index_add(0, rows, kept)


INDEXING: Table = in_own_dtype(
    {
        aten.index.Tensor: _index,
        aten.gather.default: lambda x, dim, index, sparse_grad=False: x.gather(dim, index),
        aten.index_select.default: lambda x, dim, index: x.index_select(dim, index),
        aten.embedding.default: lambda weight, indices, *_: weight[indices],
        aten.embedding_dense_backward.default: _embedding_gradient,
        aten.scatter.src: lambda x, dim, index, src: x.scatter(dim, index, src),
        aten.scatter.value: lambda x, dim, index, value: x.scatter(dim, index, value),
        aten.scatter_add.default: lambda x, dim, index, src: x.scatter_add(dim, index, src),
    }
)
