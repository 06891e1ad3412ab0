"""ATen ops of each element: arithmetic, functions of floats, comparisons, logic, casts."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import torch

from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.torch.rules import Table, in_common_dtype, in_own_dtype, in_result_dtype

aten = torch.ops.aten

ELEMENTWISE: Table = {
    **in_result_dtype(
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
            aten.div.Tensor_mode: lambda x, y, rounding_mode: x.div(y, rounding_mode=rounding_mode),
            aten.div.Scalar_mode: lambda x, y, rounding_mode: x.div(y, rounding_mode=rounding_mode),
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
            # Activations.
            aten.relu.default: lambda x: x.relu(),
            aten.sigmoid.default: lambda x: x.sigmoid(),
            aten.silu.default: lambda x: x.silu(),
            aten.gelu.default: lambda x, approximate="none": x.gelu(approximate),
            aten.hardtanh.default: lambda x, min_val=-1, max_val=1: x.hardtanh(min_val, max_val),
            aten.leaky_relu.default: lambda x, negative_slope=0.01: x.leaky_relu(negative_slope),
            # Roundings.
            aten.floor.default: lambda x: x.floor(),
            aten.ceil.default: lambda x: x.ceil(),
            aten.trunc.default: lambda x: x.trunc(),
            aten.round.default: lambda x: x.round(),
            # Bits.
            aten.bitwise_and.Tensor: lambda x, y: x & y,
            aten.bitwise_and.Scalar: lambda x, y: x & y,
            aten.bitwise_or.Tensor: lambda x, y: x | y,
            aten.bitwise_or.Scalar: lambda x, y: x | y,
            aten.bitwise_xor.Tensor: lambda x, y: x ^ y,
            aten.bitwise_xor.Scalar: lambda x, y: x ^ y,
            aten.bitwise_not.default: lambda x: x.bitwise_not(),
            # Copies.
            aten.alias.default: lambda x: x,
            aten.clone.default: lambda x: x,
            aten.detach.default: lambda x: x,
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
