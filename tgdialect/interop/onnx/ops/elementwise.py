"""Arithmetic, comparisons, activations and casts."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from tgdialect.frontend import dtypes
from tgdialect.frontend.precision import rounded_once
from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx.dtypes import bitcast, carried, cast, element_type
from tgdialect.interop.onnx.rules import NodeCall, Rules, raw
from tgdialect.interop.onnx.values import Refused, Value, as_tensor


def _all(function: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
    """A function of two operands for any number of them."""
    return lambda *xs: reduce(function, xs)


@rounded_once
def _mean(x: Tensor, *rest: Tensor) -> Tensor:
    return reduce(Tensor.add, rest, x) / (1 + len(rest))


def _quotient(a: Tensor, b: Tensor) -> Tensor:
    """Integers round to zero."""
    return a / b if a.dtype.is_float else a.div(b, rounding_mode="trunc")


def _remainder(a: Tensor, b: Tensor, *, fmod: int = 0) -> Tensor:
    """With the sign of the divisor, which a zero has as well; with `fmod` that of the dividend."""
    if fmod:
        return a.fmod(b)
    rest = a.mod(b)
    return rest.eq(0).where(rest.copysign(b), rest) if rest.dtype.is_float else rest


def _power(_: NodeCall, a: Value, b: Value) -> Tensor:
    """The dtype is that of the base. A number as exponent is one of Python, whose powers are
    products. NumPy computes powers of different dtypes in the wider one, as this does."""
    base, exponent = as_tensor(a), as_tensor(b)
    if isinstance(b, np.ndarray) and b.dtype != object and b.size == 1 and b.ndim <= base.ndim:
        number = b.item()
        if base.dtype.is_float or (isinstance(number, int) and number >= 0):
            return base.pow(number).cast(base.dtype)
    if exponent.dtype.is_float and not base.dtype.is_float:
        return base.cast(dtypes.float64).pow(exponent.cast(dtypes.float64)).cast(base.dtype)
    if not base.dtype.is_float:
        wide = dtypes.promote(base.dtype, exponent.dtype)
        wide = wide if wide.is_integer else base.dtype
        return base.cast(wide).pow(exponent.cast(wide)).cast(base.dtype)
    return base.pow(exponent).cast(base.dtype)


def _shifted(x: Tensor, y: Tensor, *, direction: str) -> Tensor:
    """A shift by less than 0, or by all bits, leaves what the sign bit is extended to."""
    bits, is_right = x.dtype.bits, direction == "RIGHT"
    if direction not in ("RIGHT", "LEFT"):
        raise Refused(f"direction is {direction!r}, not 'LEFT' or 'RIGHT'")
    is_inside = y < bits if y.dtype.low == 0 else (y >= 0) & (y < bits)
    by = is_inside.where(y, 0)
    sign = x.rshift(bits - 1) if is_right and x.dtype.low < 0 else 0
    return is_inside.where(x.rshift(by) if is_right else x.lshift(by), sign)


def _clamped(x: Tensor, low: Any = None, high: Any = None) -> Tensor:
    """The upper bound wins over the lower one."""
    return x if low is None and high is None else x.clamp(low, high)


def _is_infinite(x: Tensor, *, detect_negative: int = 1, detect_positive: int = 1) -> Tensor:
    return x.isinf(bool(detect_positive), bool(detect_negative))


def _shrunk(x: Tensor, *, bias: float, lambd: float) -> Tensor:
    found = (x < -lambd).where(x + bias, (x > lambd).where(x - bias, 0))
    return found.cast(x.dtype)


def _prelu(x: Tensor, slope: Tensor) -> Tensor:
    return (x < 0).where(x * slope, x)


def _hard_sigmoid(x: Tensor, *, alpha: float, beta: float) -> Tensor:
    return x.hardsigmoid(alpha, beta)


@rounded_once
def swish(x: Tensor, *, alpha: float) -> Tensor:
    """Swish."""
    return x * (x * alpha).sigmoid()


def _sign(x: Tensor) -> Tensor:
    """NaN for NaN, as in the reference."""
    return x.isnan().where(x, x.sign()) if x.dtype.is_float else x.sign()


def _cast_like(_: NodeCall, x: Value, like: Value, **attributes: Any) -> Value:
    return cast(x, element_type(carried(like)), **attributes)


CLASSICAL: Rules = {
    "ArrayFeatureExtractor": {1: lambda x, at: x.index_select(-1, at.flatten())},
    "Binarizer": {1: lambda x, *, threshold: (x > threshold).cast(x.dtype)},
}
"""Some operators of the domain ai.onnx.ml, which has classical models."""

RULES: Rules = {
    "Abs": {6: Tensor.abs},
    "Acos": {7: Tensor.acos},
    "Acosh": {9: Tensor.acosh},
    "Add": {7: lambda a, b: a + b},
    "And": {7: lambda a, b: a & b},
    "Asin": {7: Tensor.asin},
    "Asinh": {9: Tensor.asinh},
    "Atan": {7: Tensor.atan},
    "Atanh": {9: Tensor.atanh},
    "BitCast": {26: raw(lambda _, x, *, to: bitcast(x, to))},
    "BitShift": {11: _shifted},
    "BitwiseAnd": {18: lambda a, b: a & b},
    "BitwiseNot": {18: Tensor.bitwise_not},
    "BitwiseOr": {18: lambda a, b: a | b},
    "BitwiseXor": {18: lambda a, b: a ^ b},
    "Cast": {6: raw(lambda _, x, **attributes: cast(x, **attributes))},
    "CastLike": {15: raw(_cast_like)},
    "Ceil": {6: Tensor.ceil},
    "Celu": {12: lambda x, *, alpha: x.celu(alpha)},
    "Clip": {6: lambda x, *, min, max: x.clamp(min, max), 11: _clamped},
    "Cos": {7: Tensor.cos},
    "Cosh": {9: Tensor.cosh},
    "Div": {7: _quotient},
    "Elu": {6: lambda x, *, alpha: x.elu(alpha)},
    "Equal": {7: lambda a, b: a.eq(b)},
    "Erf": {9: Tensor.erf},
    "Exp": {6: Tensor.exp},
    "Floor": {6: Tensor.floor},
    "Gelu": {20: lambda x, *, approximate: x.gelu(approximate)},
    "Greater": {7: lambda a, b: a > b},
    "GreaterOrEqual": {12: lambda a, b: a >= b},
    "HardSigmoid": {6: _hard_sigmoid},
    "HardSwish": {14: Tensor.hardswish},
    "Identity": {1: raw(lambda _, x: x)},
    "IsInf": {10: _is_infinite},
    "IsNaN": {9: Tensor.isnan},
    "LeakyRelu": {6: lambda x, *, alpha: x.leaky_relu(alpha)},
    "Less": {7: lambda a, b: a < b},
    "LessOrEqual": {12: lambda a, b: a <= b},
    "Log": {6: Tensor.log},
    "Max": {6: _all(Tensor.maximum)},
    "Mean": {6: _mean},
    "Min": {6: _all(Tensor.minimum)},
    "Mish": {18: Tensor.mish},
    "Mod": {10: _remainder},
    "Mul": {7: lambda a, b: a * b},
    "Neg": {6: Tensor.neg},
    "Not": {1: Tensor.logical_not},
    "Or": {7: lambda a, b: a | b},
    "PRelu": {7: _prelu},
    "Pow": {7: raw(_power)},
    "Reciprocal": {6: Tensor.reciprocal},
    "Relu": {6: Tensor.relu},
    "Round": {11: Tensor.round},
    "Selu": {6: lambda x, *, alpha, gamma: x.selu(alpha, gamma)},
    "Shrink": {9: _shrunk},
    "Sigmoid": {6: Tensor.sigmoid},
    "Sign": {9: _sign},
    "Sin": {7: Tensor.sin},
    "Sinh": {9: Tensor.sinh},
    "Softplus": {1: Tensor.softplus},
    "Softsign": {1: Tensor.softsign},
    "Sqrt": {6: Tensor.sqrt},
    "Sub": {7: lambda a, b: a - b},
    "Sum": {6: _all(Tensor.add)},
    "Swish": {24: swish},
    "Tan": {7: Tensor.tan},
    "Tanh": {6: Tensor.tanh},
    "ThresholdedRelu": {10: lambda x, *, alpha: (x > alpha).where(x, 0)},
    "Where": {9: Tensor.where},
    "Xor": {7: lambda a, b: a ^ b},
}
