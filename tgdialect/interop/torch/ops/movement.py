"""ATen ops that move elements: reshape, slice, pad, concatenate."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from tgdialect.frontend.symbolic import SymInt
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.torch.rules import Functions, Table, in_own_dtype, in_result_dtype

aten = torch.ops.aten


def _at(x: Tensor, dim: int, entry: Any) -> tuple[Any, ...]:
    """An index with an entry for one axis."""
    return (*[slice(None)] * (dim % max(x.ndim, 1)), entry)


def _slice(x: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Tensor:
    # The end of an open slice is written as the greatest integer.
    end = None if isinstance(end, int) and end >= 2**63 - 1 else end
    return x[_at(x, dim, slice(start, end, step))]


def _replaced(x: Tensor, source: Tensor, dim: int, entry: Any) -> Tensor:
    """x with the cells of a slice or position replaced."""
    result = Tensor(x)
    result[_at(x, dim, entry)] = source
    return result


def _diagonal_replaced(
    x: Tensor, source: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """x with the cells of a diagonal replaced."""
    result = Tensor(x.movedim((dim1, dim2), (-2, -1)))
    line = Tensor.arange(source.shape[-1])
    result[..., line + max(-offset, 0), line + max(offset, 0)] = source
    return result.movedim((-2, -1), (dim1, dim2))


def _padded(x: Tensor, pad: Sequence[int], value: float = 0) -> Tensor:
    return x.pad(tuple(pad), value=value)


def _split(x: Tensor, sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    return x.split(sizes, dim)


_VIEWS: Functions = {
    aten.view.default: lambda x, size: x.reshape(size),
    aten._unsafe_view.default: lambda x, size: x.reshape(size),
    aten.reshape.default: lambda x, size: x.reshape(size),
    aten.permute.default: lambda x, dims: x.permute(dims),
    aten.transpose.int: lambda x, a, b: x.transpose(a, b),
    aten.t.default: lambda x: x.transpose(0, 1) if x.ndim == 2 else x,
    aten.expand.default: lambda x, size, implicit=False: x.expand(size),
    aten.unsqueeze.default: lambda x, dim: x.unsqueeze(dim),
    aten.squeeze.dim: lambda x, dim: x.squeeze(dim),
    aten.squeeze.dims: lambda x, dim: x.squeeze(dim),
    aten.squeeze.default: lambda x: x.squeeze(),
    aten.slice.Tensor: _slice,
    aten.select.int: lambda x, dim, index: x[_at(x, dim, index)],
    aten.diagonal.default: lambda x, offset=0, dim1=0, dim2=1: x.diagonal(offset, dim1, dim2),
    aten.split.Tensor: _split,
    aten.split_with_sizes.default: _split,
    aten.unbind.int: lambda x, dim=0: tuple(x[_at(x, dim, i)] for i in range(x.shape[dim])),
    aten.unfold.default: lambda x, dim, size, step: x.unfold(dim, size, step),
}
"""Views. PyTorch has those of them that are core ops as copies, too."""


def _copies(views: Functions) -> Functions:
    """The lines of `view_copy.default` and its like, for those of the views."""
    found: dict[Any, Any] = {}
    for overload, translate in views.items():
        name, _, kind = str(overload).removeprefix("aten.").partition(".")
        if (packet := getattr(aten, f"{name}_copy", None)) is not None:
            found[getattr(packet, kind)] = translate
    return found


def _joined(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    """Tensors one after the other along an axis.

    Other extents are equal where PyTorch's guards say so, as s // 2 and 2 * (s // 4) of a multiple
    of four, which does not follow from the expressions: they are those of the first tensor.
    """
    first, *others = tensors
    if any(t.ndim != first.ndim for t in others):  # Empty ones of one axis are left out.
        return Tensor.cat(tensors, dim)
    axis = dim % first.ndim
    shape = [None if a == axis else extent for a, extent in enumerate(first.shape)]
    aligned = [t if _agrees(t.shape, shape) else t.shrink_to(*shape) for t in others]
    return Tensor.cat([first, *aligned], dim)


def _agrees(shape: Sequence[Any], wanted: Sequence[Any]) -> bool:
    """Whether a shape has no other extents than wanted ones, or numbers that are wrong."""
    return not any(
        w is not None and s != w and (isinstance(s, SymInt) or isinstance(w, SymInt))
        for s, w in zip(shape, wanted, strict=False)
    )


MOVEMENT: Table = {
    **in_own_dtype(
        {
            **_VIEWS,
            **_copies(_VIEWS),
            aten.flip.default: lambda x, dims: x.flip(dims),
            aten.roll.default: lambda x, shifts, dims=(): x.roll(shifts, dims or None),
            aten.repeat.default: lambda x, repeats: x.repeat(repeats),
            aten.constant_pad_nd.default: _padded,
        }
    ),
    **in_result_dtype(
        {
            aten.cat.default: _joined,
            aten.stack.default: lambda tensors, dim=0: Tensor.stack(tensors, dim),
            aten.select_scatter.default: _replaced,
            aten.diagonal_scatter.default: _diagonal_replaced,
            aten.slice_scatter.default: lambda x, source, dim=0, start=None, end=None, step=1: (
                _replaced(x, source, dim, slice(start, end, step))
            ),
        }
    ),
}
