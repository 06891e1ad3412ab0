"""ATen ops with complex arguments or results, which are `Complex` values: Fourier transforms,
arithmetic, movement, sums. PyTorch runs the others where a value is complex."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportPrivateUsage=false

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from tgdialect.frontend.symbolic import SymInt
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.torch.complex_values import Complex, bilinear, by_parts, polar
from tgdialect.interop.torch.ops.elementwise import ELEMENTWISE
from tgdialect.interop.torch.ops.indexing import INDEXING
from tgdialect.interop.torch.ops.movement import MOVEMENT
from tgdialect.interop.torch.ops.products import PRODUCTS
from tgdialect.interop.torch.ops.reduction import REDUCTION
from tgdialect.interop.torch.ops.special import hypot
from tgdialect.interop.torch.rules import (
    Refusal,
    Table,
    in_own_dtype,
    in_result_dtype,
    of_dtype,
)

aten = torch.ops.aten

# -- Fourier transforms ----------------------------------------------------------------------------
# A signal is (2, elements, signals): its parts, the elements of an axis, and all other axes.


def _factor(normalization: int, sizes: Sequence[Any]) -> float:
    """The factor of a transform: PyTorch's numbers are those of 1, 1 / sqrt(n), 1 / n.
    Raises Refusal for symbolic sizes."""
    for size in sizes:
        if isinstance(size, SymInt):
            raise Refusal(f"a transform of {size} elements is not translated: sizes are static")
    n = math.prod(sizes)
    return (1.0, n**-0.5, 1 / n)[normalization]


def _signals(x: Tensor, axis: int) -> Tensor:
    """Real values as (elements, signals)."""
    return x.movedim(axis, 0).reshape((x.shape[axis], -1)) if x.ndim > 1 else x.unsqueeze(1)


def _unfolded(x: Tensor, shape: Sequence[Any], axis: int) -> Tensor:
    """The inverse of `_signals`, with another number of elements."""
    others = [extent for a, extent in enumerate(shape) if a != axis]
    return x.reshape((x.shape[0], *others)).movedim(0, axis)


def _complex(x: Tensor, shape: Sequence[Any], axis: int) -> Complex:
    return Complex(_unfolded(x[0], shape, axis), _unfolded(x[1], shape, axis))


def _c2c(x: Complex, dims: Sequence[int], normalization: int, forward: bool) -> Complex:
    """The transform along axes, or the inverse one, which has the parts in each other's place."""
    factor = _factor(normalization, [x.shape[axis] for axis in dims])
    for axis in dims:
        axis = axis % x.ndim
        parts = [_signals(part, axis) for part in (x.real, x.imag)]
        found = Tensor.stack(parts if forward else parts[::-1], 0)._fourier(x.shape[axis], factor)
        x = _complex(found if forward else found.flip(0), x.shape, axis)
        factor = 1.0
    return x


def _r2c(x: Tensor, dims: Sequence[int], normalization: int, onesided: bool) -> Complex:
    """The transform of real values, along the last of the axes first: `onesided` is half of it."""
    factor = _factor(normalization, [x.shape[axis] for axis in dims])
    *others, axis = (each % x.ndim for each in dims)
    signals = _signals(x, axis)
    if onesided:
        found = signals._half_spectrum(factor)
    else:
        found = signals.unsqueeze(0)._fourier(x.shape[axis], factor)
    return _c2c(_complex(found, x.shape, axis), others, 0, forward=True)


def _c2r(x: Complex, dims: Sequence[int], normalization: int, last: int) -> Tensor:
    """The inverse of `_r2c`, of `last` elements along the last of the axes."""
    *others, axis = (each % x.ndim for each in dims)
    factor = _factor(normalization, [last, *(x.shape[each] for each in others)])
    x = _c2c(x, others, 0, forward=False)
    parts = Tensor.stack([_signals(part, axis) for part in (x.real, x.imag)], 0)
    return _unfolded(parts._of_half_spectrum(last, factor), x.shape, axis)


# -- values ----------------------------------------------------------------------------------------


def _padded(x: Complex, pad: Sequence[int], value: Any = 0) -> Complex:
    number = complex(value)
    return Complex(
        x.real.pad(tuple(pad), value=number.real), x.imag.pad(tuple(pad), value=number.imag)
    )


def _of_parts(real: Tensor, imag: Tensor) -> Complex:
    return Complex(*real._broadcasted(imag))


def _where(mask: Tensor, x: Any, y: Any) -> Complex:
    x, y = Complex.of(x), Complex.of(y)
    return Complex(mask.where(x.real, y.real), mask.where(x.imag, y.imag))


def _full(size: Sequence[Any], value: Any, dtype: Any) -> Complex:
    number = complex(value)
    return Complex(Tensor.full(size, number.real, dtype), Tensor.full(size, number.imag, dtype))


def _by_parts(table: Table, *overloads: Any) -> Table:
    """Lines of another table for each part."""
    return {
        each: replace(table[each], translate=by_parts(table[each].translate)) for each in overloads
    }


def _same(*overloads: Any) -> Table:
    """Lines of elementwise ops that are made of operators."""
    return {each: ELEMENTWISE[each] for each in overloads}


_MOVED = [overload for overload in MOVEMENT if overload is not aten.constant_pad_nd.default]

COMPLEX: Table = {
    **_by_parts(MOVEMENT, *_MOVED),
    **_by_parts(ELEMENTWISE, aten.copy.default),
    **_by_parts(INDEXING, aten.index.Tensor, aten.index_select.default, aten.gather.default),
    **_by_parts(
        REDUCTION,
        *(aten.sum.default, aten.sum.dim_IntList, aten.mean.default, aten.mean.dim),
        aten.cumsum.default,
    ),
    **_same(
        *(aten.add.Tensor, aten.add.Scalar, aten.sub.Tensor, aten.sub.Scalar, aten.rsub.Scalar),
        *(aten.mul.Tensor, aten.mul.Scalar, aten.div.Tensor, aten.div.Scalar),
        *(
            aten._neg_view.default,
            aten.true_divide.Tensor,
            aten.neg.default,
            aten.reciprocal.default,
            aten.exp.default,
        ),
        *(aten.alias.default, aten.clone.default, aten.detach.default, aten.lift.default),
        *(aten.lift_fresh.default, aten.lift_fresh_copy.default, aten._to_copy.default),
        torch.ops.prims.convert_element_type.default,
        *(aten.eq.Tensor, aten.eq.Scalar, aten.ne.Tensor, aten.ne.Scalar),
    ),
    **in_result_dtype(
        {
            each: bilinear(PRODUCTS[each].translate)
            for each in (aten.mm.default, aten.bmm.default, aten.mv.default, aten.dot.default)
        }
    ),
    **of_dtype(
        {
            aten.full.default: _full,
            aten.full_like.default: lambda x, value, dtype: _full(x.shape, value, dtype),
            aten.scalar_tensor.default: lambda value, dtype: _full((), value, dtype),
            aten.empty.memory_format: lambda size, dtype: _full(size, 0, dtype),
            aten.empty_strided.default: lambda size, _, dtype: _full(size, 0, dtype),
        }
    ),
    **in_own_dtype(
        {
            aten._fft_r2c.default: _r2c,
            aten._fft_c2c.default: _c2c,
            aten._fft_c2r.default: _c2r,
            aten.complex.default: _of_parts,
            aten.polar.default: polar,
            aten.view_as_complex.default: Complex.of_pairs,
            aten.view_as_real.default: lambda x: x.pairs(),
            aten.view_as_real_copy.default: lambda x: x.pairs(),
            aten.real.default: lambda x: x.real,
            aten.imag.default: lambda x: x.imag,
            aten._conj.default: lambda x: x.conjugate(),
            aten._conj_physical.default: lambda x: x.conjugate(),
            aten.conj_physical.default: lambda x: x.conjugate(),
            aten.resolve_conj.default: lambda x: x,
            aten.resolve_neg.default: lambda x: x,
            aten.abs.default: lambda x: hypot(x.real, x.imag),
            aten.angle.default: lambda x: x.imag.atan2(x.real),
            aten.constant_pad_nd.default: _padded,
            aten.where.self: _where,
        }
    ),
}
"""The lines of ops where an argument or a result is complex."""
