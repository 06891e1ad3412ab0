"""Arithmetic, comparisons, activations and casts."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx.dtypes import dtype_of
from tgdialect.interop.onnx.rules import Rules


def _quotient(a: Tensor, b: Tensor) -> Tensor:
    """Integers round to zero."""
    return a / b if a.dtype.is_float else a.div(b, rounding_mode="trunc")


RULES: Rules = {
    "Abs": {6: Tensor.abs},
    "Add": {7: lambda a, b: a + b},
    "Cast": {6: lambda x, *, to, **_: x.cast(dtype_of(to))},
    "Clip": {
        6: lambda x, *, min, max: x.clamp(min, max),
        11: lambda x, min=None, max=None: x.clamp(min, max),
    },
    "Div": {7: _quotient},
    "Erf": {9: Tensor.erf},
    "Exp": {6: Tensor.exp},
    "HardSigmoid": {6: lambda x, *, alpha, beta: (x * alpha + beta).clamp(0, 1)},
    "Identity": {1: lambda x: x},
    "Log": {6: Tensor.log},
    "Max": {8: lambda x, *rest: x if not rest else _folded(Tensor.maximum, x, rest)},
    "Min": {8: lambda x, *rest: x if not rest else _folded(Tensor.minimum, x, rest)},
    "Mul": {7: lambda a, b: a * b},
    "Neg": {6: Tensor.neg},
    "Pow": {7: lambda a, b: a.pow(b).cast(a.dtype)},
    "Reciprocal": {6: Tensor.reciprocal},
    "Relu": {6: Tensor.relu},
    "Sigmoid": {6: Tensor.sigmoid},
    "Sqrt": {6: Tensor.sqrt},
    "Sub": {7: lambda a, b: a - b},
    "Tanh": {6: Tensor.tanh},
    "Where": {9: Tensor.where},
}


def _folded(function: object, first: Tensor, rest: tuple[Tensor, ...]) -> Tensor:
    for each in rest:
        first = function(first, each)  # type: ignore[operator]
    return first
