"""ATen ops of each element: arithmetic, functions of floats, comparisons, logic, casts."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import math
from typing import Any

import torch

from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.torch.rules import (
    Table,
    in_common_dtype,
    in_own_dtype,
    in_result_dtype,
    in_wide_dtype,
)

aten = torch.ops.aten


def _elu(x: Tensor, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Tensor:
    negative = alpha * ((x >= 0).where(0, x) * input_scale).expm1()
    return (x >= 0).where(x, negative) * scale


def _divided(x: Tensor, y: Any, rounding_mode: str | None) -> Tensor:
    """Quotients, of which PyTorch rounds those of floats before it truncates them."""
    if rounding_mode == "trunc" and x.dtype.is_float:
        return (x / y).trunc()
    return x.div(y, rounding_mode=rounding_mode)  # type: ignore[arg-type]


def _shifted(x: Tensor, y: Any, *, left: bool) -> Tensor:
    """x shifted by y bits, as PyTorch has it for those that are no number of bits of x: all bits
    are shifted out."""
    most = x.dtype.bits
    y = y if isinstance(y, Tensor) else Tensor(y).cast(x.dtype)
    is_inside = (y >= 0) & (y < most)
    within = is_inside.where(y, 0)
    if left:
        return is_inside.where(x << within, 0)
    return x >> is_inside.where(y, most - 1)


def _is_negative(x: Tensor) -> Tensor:
    """Whether the sign bit is set."""
    if not x.dtype.is_float:
        return x < 0
    return x.bitcast({16: "int16", 32: "int32", 64: "int64"}[x.dtype.bits]) < 0


def _but_for_nan(x: Tensor, y: Tensor, larger: bool) -> Tensor:
    """The larger or the smaller one of two, of which one is no NaN if one is not."""
    if not x.dtype.is_float:
        return x.maximum(y) if larger else x.minimum(y)
    is_x = y.isnan() | ((x >= y) if larger else (x <= y))
    return is_x.where(x, y)


def _next_after(x: Tensor, y: Tensor) -> Tensor:
    """The next float from x to y: its bits as an integer are those of x, or one less or more."""
    bits = x.bitcast("int32" if x.dtype.bits == 32 else "int64")
    step = ((x > 0) == (y > x)).where(1, -1).cast(bits.dtype)
    moved = (bits + step).bitcast(x.dtype)
    smallest = Tensor(1).cast(bits.dtype).bitcast(x.dtype)
    moved = (x == 0).where((y > 0).where(smallest, -smallest), moved)
    moved = (x == y).where(y, moved)
    return (x.isnan() | y.isnan()).where(math.nan, moved)


ELEMENTWISE: Table = {
    **in_wide_dtype(
        {
            # Arithmetic.
            aten.add.Tensor: lambda x, y, alpha=1: x + (y if alpha == 1 else y * alpha),
            aten.add.Scalar: lambda x, y, alpha=1: x + y * alpha,
            aten.sub.Tensor: lambda x, y, alpha=1: x - (y if alpha == 1 else y * alpha),
            aten.sub.Scalar: lambda x, y, alpha=1: x - y * alpha,
            aten.rsub.Scalar: lambda x, y, alpha=1: y - x * alpha,
            aten.mul.Tensor: lambda x, y: x * y,
            aten.mul.Scalar: lambda x, y: x * y,
            aten.div.Tensor: lambda x, y: x / y,
            aten.true_divide.Tensor: lambda x, y: x / y,
            aten.div.Scalar: lambda x, y: x / y,
            aten.div.Tensor_mode: _divided,
            aten.div.Scalar_mode: _divided,
            aten.elu.default: _elu,
            aten.leaky_relu.default: lambda x, negative_slope=0.01: x.leaky_relu(negative_slope),
        }
    ),
    **in_result_dtype(
        {
            # Arithmetic, with numbers in the dtype.
            aten.pow.Tensor_Tensor: lambda x, y: x.pow(y),
            aten.pow.Tensor_Scalar: lambda x, y: x.pow(y),
            aten.pow.Scalar: lambda x, y: y.pow(x, reverse=True),
            aten.remainder.Tensor: lambda x, y: x.mod(y),
            aten.remainder.Scalar: lambda x, y: x.mod(y),
            aten.fmod.Tensor: lambda x, y: x.fmod(y),
            aten.fmod.Scalar: lambda x, y: x.fmod(y),
            aten.maximum.default: lambda x, y: x.maximum(y),
            aten.minimum.default: lambda x, y: x.minimum(y),
            aten.neg.default: lambda x: -x,
            aten.abs.default: lambda x: x.abs(),
            aten.sign.default: lambda x: x.sign(),
            aten.reciprocal.default: lambda x: x.reciprocal(),
            aten.sqrt.default: lambda x: x.sqrt(),
            aten.rsqrt.default: lambda x: x.rsqrt(),
            aten.clamp.default: lambda x, min=None, max=None: x.clamp(min, max),
            aten.clamp.Tensor: lambda x, min=None, max=None: x.clamp(min, max),
            # Functions of floats.
            aten.exp.default: lambda x: x.exp(),
            aten.exp2.default: lambda x: x.exp2(),
            aten.expm1.default: lambda x: x.expm1(),
            aten.log.default: lambda x: x.log(),
            aten.log2.default: lambda x: x.log2(),
            aten.log10.default: lambda x: x.log10(),
            aten.log1p.default: lambda x: x.log1p(),
            aten.sin.default: lambda x: x.sin(),
            aten.cos.default: lambda x: x.cos(),
            aten.tan.default: lambda x: x.tan(),
            aten.asin.default: lambda x: x.asin(),
            aten.acos.default: lambda x: x.acos(),
            aten.atan.default: lambda x: x.atan(),
            aten.atan2.default: lambda x, y: x.atan2(y),
            aten.sinh.default: lambda x: x.sinh(),
            aten.cosh.default: lambda x: x.cosh(),
            aten.tanh.default: lambda x: x.tanh(),
            aten.asinh.default: lambda x: x.asinh(),
            aten.acosh.default: lambda x: x.acosh(),
            aten.atanh.default: lambda x: x.atanh(),
            aten.erf.default: lambda x: x.erf(),
            aten.erfc.default: lambda x: x.erfc(),
            aten.erfinv.default: lambda x: x.erfinv(),
            aten.lgamma.default: lambda x: x.lgamma(),
            aten.angle.default: lambda x: x.isnan().where(x, (x < 0).where(math.pi, 0)),
            # Activations.
            aten.relu.default: lambda x: x.relu(),
            aten.sigmoid.default: lambda x: x.sigmoid(),
            aten.silu.default: lambda x: x.silu(),
            aten.gelu.default: lambda x, approximate="none": x.gelu(approximate),
            aten.hardtanh.default: lambda x, min_val=-1, max_val=1: x.clamp(min_val, max_val),
            # Roundings.
            aten.floor.default: lambda x: x.floor(),
            aten.ceil.default: lambda x: x.ceil(),
            aten.trunc.default: lambda x: x.trunc(),
            aten.round.default: lambda x: x.round(),
            aten.round.decimals: lambda x, decimals=0: x.round(decimals),
            # Bits.
            aten.bitwise_and.Tensor: lambda x, y: x & y,
            aten.bitwise_and.Scalar: lambda x, y: x & y,
            aten.bitwise_or.Tensor: lambda x, y: x | y,
            aten.bitwise_or.Scalar: lambda x, y: x | y,
            aten.bitwise_xor.Tensor: lambda x, y: x ^ y,
            aten.bitwise_xor.Scalar: lambda x, y: x ^ y,
            aten.bitwise_not.default: lambda x: x.bitwise_not(),
            aten.bitwise_left_shift.Tensor: lambda x, y: _shifted(x, y, left=True),
            aten.bitwise_right_shift.Tensor: lambda x, y: _shifted(x, y, left=False),
            # Signs and neighbours.
            aten.copysign.Tensor: lambda x, y: x.copysign(y),
            aten.copysign.Scalar: lambda x, y: x.copysign(y),
            aten.fmax.default: lambda x, y: _but_for_nan(x, y, larger=True),
            aten.fmin.default: lambda x, y: _but_for_nan(x, y, larger=False),
            aten.nextafter.default: _next_after,
            # Copies.
            aten.alias.default: lambda x: x,
            aten.clone.default: lambda x: x,
            aten.detach.default: lambda x: x,
            aten._neg_view.default: lambda x: -x,
            aten.lift.default: lambda x: x,
            aten.lift_fresh.default: lambda x: x,
            aten.lift_fresh_copy.default: lambda x: x,
            aten._to_copy.default: lambda x: x,
            aten.copy.default: lambda x, source, non_blocking=False: source.expand(x.shape),
            torch.ops.prims.convert_element_type.default: lambda x, dtype: x,
        }
    ),
    **in_common_dtype(
        {
            aten.eq.Tensor: lambda x, y: x == y,
            aten.eq.Scalar: lambda x, y: x == y,
            aten.ne.Tensor: lambda x, y: x != y,
            aten.ne.Scalar: lambda x, y: x != y,
            aten.lt.Tensor: lambda x, y: x < y,
            aten.lt.Scalar: lambda x, y: x < y,
            aten.le.Tensor: lambda x, y: x <= y,
            aten.le.Scalar: lambda x, y: x <= y,
            aten.gt.Tensor: lambda x, y: x > y,
            aten.gt.Scalar: lambda x, y: x > y,
            aten.ge.Tensor: lambda x, y: x >= y,
            aten.ge.Scalar: lambda x, y: x >= y,
        }
    ),
    **in_own_dtype(
        {
            aten.isnan.default: lambda x: x.isnan(),
            aten.isinf.default: lambda x: x.isinf(),
            aten.signbit.default: _is_negative,
            aten.logical_not.default: lambda x: x.logical_not(),
            aten.logical_and.default: lambda x, y: x.cast("bool") & y.cast("bool"),
            aten.logical_or.default: lambda x, y: x.cast("bool") | y.cast("bool"),
            aten.logical_xor.default: lambda x, y: x.cast("bool") ^ y.cast("bool"),
            aten.where.self: lambda mask, x, y: Tensor.where(mask, x, y),
            aten.where.ScalarOther: lambda mask, x, y: Tensor.where(mask, x, y),
            aten.where.ScalarSelf: lambda mask, x, y: Tensor.where(mask, x, y),
        }
    ),
}
