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


def _sorted(x: Tensor, dim: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    return x.sort(dim, descending)


def _kth(x: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, ...]:
    """The k-th smallest value along an axis, from 1 on, and its position."""
    if not x.ndim:
        return x, Tensor.zeros((), dtype="int64")
    axis = dim % x.ndim
    at = (*[slice(None)] * axis, slice(k - 1, k))
    found = [each[at] for each in x.sort(axis)]
    return tuple(each if keepdim else each.squeeze(axis) for each in found)


def _nan_median(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median of the elements that are no NaN, which a sort has at the end."""
    if not x.dtype.is_float:
        return x.median() if dim is None else x.median(dim, keepdim)
    line = x.flatten() if dim is None else x if x.ndim else x.reshape((1,))
    axis = 0 if dim is None or not x.ndim else dim
    count = line.isnan().logical_not().sum(axis, keepdim=True)
    middle = ((count - 1).maximum(0)).div(2, rounding_mode="floor").cast("int32")
    found = [each.gather(axis, middle) for each in line.sort(axis)]
    if dim is None or not x.ndim:
        found = [each.reshape(()) for each in found]
    elif not keepdim:
        found = [each.squeeze(axis) for each in found]
    return found[0] if dim is None else tuple(found)


def _mode(x: Tensor, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The value that an axis has most often, the least of several, and its last position."""
    line = x.reshape((-1,)) if not x.ndim else x
    axis = dim % line.ndim
    values, places = line.movedim(axis, -1).sort(-1)
    cell = Tensor.arange(values.shape[-1])
    is_first = (cell == 0) | (values != values.roll(1, -1))
    start = is_first.where(cell, 0).cummax(-1)[0]
    longest = (cell - start).argmax(-1, True)
    found = [t.gather(-1, longest).movedim(-1, axis) for t in (values, places)]
    if not x.ndim:
        return found[0].reshape(()), found[1].reshape(())
    return tuple(found if keepdim else [t.squeeze(axis) for t in found])  # type: ignore[return-value]


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
            aten.logcumsumexp.default: lambda x, dim: x.logcumsumexp(dim),
            aten.var.correction: _variance,
            aten.var_mean.correction: lambda x, dim=None, *, correction=None, keepdim=False: (
                _variance(x, dim, correction=correction, keepdim=keepdim),
                x.mean(_axes(x, dim), keepdim),
            ),
        }
    ),
    **in_own_dtype(
        {
            aten.max.default: lambda x: x.max(),
            aten.min.default: lambda x: x.min(),
            aten.max.dim: _extreme("max"),
            aten.min.dim: _extreme("min"),
            aten.cummax.default: lambda x, dim: x.cummax(dim),
            aten.cummin.default: lambda x, dim: x.cummin(dim),
            aten.sort.default: _sorted,
            aten.sort.stable: lambda x, *, stable, dim=-1, descending=False: _sorted(
                x, dim, descending
            ),
            aten.topk.default: lambda x, k, dim=-1, largest=True, sorted=True: x.topk(
                k, dim, largest
            ),
            aten.kthvalue.default: _kth,
            aten.mode.default: _mode,
            aten.median.default: lambda x: x.median(),
            aten.median.dim: lambda x, dim, keepdim=False: x.median(dim, keepdim),
            aten.nanmedian.default: _nan_median,
            aten.nanmedian.dim: _nan_median,
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
