"""Products of matrices, Einsum, attention."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.onnx.rules import Rules


def scaled(x: Tensor, factor: float) -> Tensor:
    """x times a factor, in the dtype of x."""
    return x if factor == 1 else (x * factor).cast(x.dtype)


def _gemm(
    a: Tensor,
    b: Tensor,
    c: Tensor | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
) -> Tensor:
    a, b = a.transpose(0, 1) if transA else a, b.transpose(0, 1) if transB else b
    product = scaled(a.dot(b), alpha)
    return product if c is None or beta == 0 else product + scaled(c, beta)


RULES: Rules = {
    "Einsum": {12: lambda *xs, equation: Tensor.einsum(equation, *xs)},
    "Gemm": {7: _gemm},
    "MatMul": {1: Tensor.dot},
}
