"""ATen ops along axes: sums, extrema, running sums."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

import torch

from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.torch.rules import Table, in_own_dtype, in_result_dtype

aten = torch.ops.aten


def _axes(x: Tensor, dim: Any) -> Any:
    """The axes that PyTorch names by `dim`: no axes are all."""
    return None if dim is None or (isinstance(dim, list | tuple) and not dim) else dim


def _extreme(name: str) -> Any:
    """The extreme value along an axis, and its position, of which PyTorch has the first."""

    def extreme(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
        return getattr(x, name)(dim, keepdim), getattr(x, f"arg{name}")(dim, keepdim)

    return extreme


def _variance(
    x: Tensor, dim: Any = None, *, correction: float | None = None, keepdim: bool = False
) -> Tensor:
    return x.var(_axes(x, dim), keepdim, 1 if correction is None else correction)


REDUCTION: Table = {
    **in_result_dtype(
        {
            aten.sum.default: lambda x: x.sum(),
            aten.sum.dim_IntList: lambda x, dim, keepdim=False: x.sum(_axes(x, dim), keepdim),
            aten.mean.default: lambda x: x.mean(),
            aten.mean.dim: lambda x, dim, keepdim=False: x.mean(_axes(x, dim), keepdim),
            aten.prod.default: lambda x: x.prod(),
            aten.prod.dim_int: lambda x, dim, keepdim=False: x.prod(dim, keepdim),
            aten.amax.default: lambda x, dim=(), keepdim=False: x.max(_axes(x, dim), keepdim),
            aten.amin.default: lambda x, dim=(), keepdim=False: x.min(_axes(x, dim), keepdim),
            aten.cumsum.default: lambda x, dim: x.cumsum(dim),
            aten.cumprod.default: lambda x, dim: x.cumprod(dim),
            aten.var.correction: _variance,
        }
    ),
    **in_own_dtype(
        {
            aten.max.default: lambda x: x.max(),
            aten.min.default: lambda x: x.min(),
            aten.max.dim: _extreme("max"),
            aten.min.dim: _extreme("min"),
            aten.argmax.default: lambda x, dim=None, keepdim=False: x.argmax(dim, keepdim),
            aten.argmin.default: lambda x, dim=None, keepdim=False: x.argmin(dim, keepdim),
            aten.any.default: lambda x: x.any(),
            aten.any.dim: lambda x, dim, keepdim=False: x.any(dim, keepdim),
            aten.any.dims: lambda x, dim=None, keepdim=False: x.any(_axes(x, dim), keepdim),
            aten.all.default: lambda x: x.all(),
            aten.all.dim: lambda x, dim, keepdim=False: x.all(dim, keepdim),
            aten.all.dims: lambda x, dim=None, keepdim=False: x.all(_axes(x, dim), keepdim),
        }
    ),
}
