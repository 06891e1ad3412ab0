"""The exact functions that `ulp_table.py` compares the methods of `Tensor` with, in mpmath.

`UNARY` and `BINARY` have a row for each method that rounds: the method, the function of numbers of
arbitrary precision, and the values at infinite arguments. `EXACT` names the methods of the same
classes that are not in the table, with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from mpmath import mp

from tgdialect import Tensor

INF, NAN = math.inf, math.nan


@dataclass(frozen=True)
class Row:
    """A function of one or two floats.

    Attributes:
        method: the function of tensors.
        exact: the function of mpmath's numbers; it returns a complex number, or raises ValueError
            or ZeroDivisionError, where the function has no value.
        at_infinity: the values at -inf and inf; None where they are not compared.
        is_odd: whether the result for -0 is -0.
        poles: values where `exact` has none, by their argument's text, which tells -0 from 0.
    """

    method: Callable[..., Tensor]
    exact: Callable[..., Any]
    at_infinity: tuple[float | None, float | None] = (None, None)
    is_odd: bool = False
    poles: Mapping[str, float] | None = None


def _tensor(name: str) -> Callable[..., Tensor]:
    return getattr(Tensor, name)


def _acos(x: Any) -> Any:
    if abs(x) > 1:
        return mp.nan
    return 2 * mp.atan2(mp.sqrt(mp.fsub(1, x, exact=True)), mp.sqrt(mp.fadd(1, x, exact=True)))


def _logarithm(base: Any = None) -> Callable[[Any], Any]:
    return lambda x: mp.ln(x) if base is None else mp.ln(x) / mp.ln(base)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def _erfc(x: Any) -> Any:
    if abs(x) > 1000:
        return mp.exp(-x * x) if x > 0 else mp.mpf(2)
    return mp.erfc(x)


def _erfinv(x: Any) -> Any:
    return mp.erfinv(x) if abs(x) <= 1 else mp.nan


def _lgamma(x: Any) -> Any:
    """The real part, but for the poles."""
    if x <= 0 and x == mp.floor(x):
        return mp.inf
    return mp.re(mp.loggamma(x))


def _softplus(x: Any) -> Any:
    if abs(x) < 1000:
        return mp.log1p(mp.exp(x))
    return x if x > 0 else mp.exp(x)


def _gelu_tanh(x: Any) -> Any:
    return x * _sigmoid(2 * mp.sqrt(2 / mp.pi) * (x + mp.mpf(0.044715) * x**3))


def _gelu(x: Any) -> Any:
    if abs(x) > 1000:
        return x if x > 0 else -mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)
    return x * mp.erfc(-x / mp.sqrt(2)) / 2


def _elu(alpha: float, scale: float = 1.0) -> Callable[[Any], Any]:
    a, s = mp.mpf(alpha), mp.mpf(scale)
    return lambda x: s * (x if x > 0 else a * mp.expm1(x))


def _mish(x: Any) -> Any:
    """x tanh(log(1 + e)) = x e (e + 2) / (e (e + 2) + 2), with e = exp(x)."""
    if x > 1000:
        return x
    e = mp.exp(x)
    return x * (e * (e + 2)) / (e * (e + 2) + 2)


def _clamped(x: Any, low: float, high: float) -> Any:
    return min(max(x, low), high)


def _row(
    name: str,
    exact: Callable[..., Any],
    low: float | None = None,
    high: float | None = None,
    odd: bool = False,
    **poles: float,
) -> Row:
    named = {"zero": "0.0", "minus_zero": "-0.0", "one": "1.0", "minus_one": "-1.0"}
    return Row(_tensor(name), exact, (low, high), odd, {named[k]: v for k, v in poles.items()})


UNARY: Mapping[str, Row] = {
    "exp": _row("exp", mp.exp, 0, INF),
    "exp2": _row("exp2", lambda x: mp.power(2, x), 0, INF),
    "expm1": _row("expm1", mp.expm1, -1, INF, odd=True),
    "log": _row("log", _logarithm(), NAN, INF, zero=-INF, minus_zero=-INF),
    "log2": _row("log2", _logarithm(2), NAN, INF, zero=-INF, minus_zero=-INF),
    "log10": _row("log10", _logarithm(10), NAN, INF, zero=-INF, minus_zero=-INF),
    "log1p": _row("log1p", mp.log1p, NAN, INF, odd=True, minus_one=-INF),
    "sqrt": _row("sqrt", mp.sqrt, NAN, INF, odd=True),
    "rsqrt": _row("rsqrt", lambda x: 1 / mp.sqrt(x), NAN, 0, zero=INF, minus_zero=-INF),
    "reciprocal": _row("reciprocal", lambda x: 1 / x, -0.0, 0, zero=INF, minus_zero=-INF),
    "square": _row("square", lambda x: x * x, INF, INF),
    "sin": _row("sin", mp.sin, NAN, NAN, odd=True),
    "cos": _row("cos", mp.cos, NAN, NAN),
    "tan": _row("tan", mp.tan, NAN, NAN, odd=True),
    "asin": _row("asin", mp.asin, NAN, NAN, odd=True),
    "acos": _row("acos", _acos, NAN, NAN),
    "atan": _row("atan", mp.atan, -math.pi / 2, math.pi / 2, odd=True),
    "sinh": _row("sinh", mp.sinh, -INF, INF, odd=True),
    "cosh": _row("cosh", mp.cosh, INF, INF),
    "tanh": _row("tanh", mp.tanh, -1, 1, odd=True),
    "asinh": _row("asinh", mp.asinh, -INF, INF, odd=True),
    "acosh": _row("acosh", mp.acosh, NAN, INF),
    "atanh": _row("atanh", mp.atanh, NAN, NAN, odd=True, one=INF, minus_one=-INF),
    "erf": _row("erf", mp.erf, -1, 1, odd=True),
    "erfc": _row("erfc", _erfc, 2, 0),
    "erfinv": _row("erfinv", _erfinv, NAN, NAN, odd=True, one=INF, minus_one=-INF),
    "lgamma": _row("lgamma", _lgamma, INF, INF),
    "sigmoid": _row("sigmoid", _sigmoid, 0, 1),
    "logsigmoid": _row("logsigmoid", lambda x: -_softplus(-x), -INF, -0.0),
    "softplus": _row("softplus", _softplus, 0, INF),
    "silu": _row("silu", lambda x: x * _sigmoid(x), None, INF, odd=True),
    "swish": _row("swish", lambda x: x * _sigmoid(x), None, INF, odd=True),
    "mish": _row("mish", _mish, None, INF, odd=True),
    "gelu": _row("gelu", _gelu_tanh, None, INF, odd=True),
    "gelu none": Row(
        lambda x: x.gelu("none"),
        _gelu,
        (None, INF),
        is_odd=True,
    ),
    "quick_gelu": _row("quick_gelu", lambda x: x * _sigmoid(mp.mpf(1.702) * x), None, INF, True),
    "elu": _row("elu", _elu(1.0), -1, INF, odd=True),
    "celu": _row("celu", _elu(1.0), -1, INF, odd=True),
    "selu": _row("selu", _elu(1.67326, 1.0507), None, INF, odd=True),
    "leaky_relu": _row("leaky_relu", lambda x: x if x > 0 else mp.mpf(0.01) * x, -INF, INF, True),
    "hardsigmoid": _row("hardsigmoid", lambda x: _clamped((x + 3) / 6, 0, 1), 0, 1),
    "hardswish": _row("hardswish", lambda x: x * _clamped(x + 3, 0, 6) / 6, None, INF, odd=True),
    "softsign": _row("softsign", lambda x: x / (1 + abs(x)), None, None, odd=True),
    "pow 3": Row(lambda x: x.pow(3), lambda x: x**3, (-INF, INF), is_odd=True),
    "pow 10": Row(lambda x: x.pow(10), lambda x: x**10, (INF, INF)),
    "pow -2": Row(
        lambda x: x.pow(-2), lambda x: 1 / (x * x), (0, 0), poles={"0.0": INF, "-0.0": INF}
    ),
    "pow 1.5": Row(lambda x: x.pow(1.5), lambda x: mp.power(x, 1.5), (INF, INF)),
    "pow of 3": Row(lambda x: 3**x, lambda x: mp.power(3, x), (0, INF)),
}
"""The functions of one float."""


def _fmod(x: Any, y: Any) -> Any:
    return mp.mpf(math.fmod(x, y)) if y else mp.nan


def _mod(x: Any, y: Any) -> Any:
    if not y:
        return mp.nan
    rest = mp.mpf(math.fmod(x, y))
    return mp.fadd(rest, y, exact=True) if rest and (rest < 0) != (y < 0) else rest


def _floor_divided(x: Any, y: Any) -> Any:
    if not y:
        raise ZeroDivisionError
    return mp.mpf(math.floor(Fraction(float(x)) / Fraction(float(y))))


def _power(x: Any, y: Any) -> Any:
    if x == 1 or not y:
        return mp.mpf(1)
    if not x:
        raise ZeroDivisionError
    # Keep an exponent of 10^300 from making a number of as many digits.
    size = y * mp.log(abs(x), 2)
    if abs(size) > 5000:
        is_odd = y == mp.floor(y) and mp.fmod(y, 2) != 0
        if x < 0 and y != mp.floor(y):
            return mp.nan
        value = mp.ldexp(1, 5000 if size > 0 else -5000)
        return -value if x < 0 and is_odd else value
    return mp.power(x, y)


def _log_of_sum(x: Any, y: Any) -> Any:
    return max(x, y) + _softplus(-abs(x - y))


BINARY: Mapping[str, Row] = {
    "pow": _row("pow", _power),
    "atan2": _row("atan2", lambda y, x: mp.atan2(y, x)),
    "fmod": _row("fmod", _fmod),
    "mod": _row("mod", _mod),
    "floordiv": Row(lambda x, y: x.div(y, rounding_mode="floor"), _floor_divided),
    "logaddexp": _row("logaddexp", _log_of_sum),
}
"""The functions of two floats, whose arguments are finite and not 0: special values have tests of
their own."""

_ARITHMETIC = "arithmetic, rounded after each op"
_EXACT = "exact"
_OTHER = "no function of floats"
EXACT: Mapping[str, str] = {
    **dict.fromkeys(["add", "sub", "mul", "div", "lerp"], _ARITHMETIC),
    **dict.fromkeys(["neg", "abs", "sign", "maximum", "minimum", "clamp", "clip"], _EXACT),
    **dict.fromkeys(["copysign", "relu", "relu6", "hardtanh", "trunc", "floor", "ceil"], _EXACT),
    **dict.fromkeys(["where", "masked_fill"], _EXACT),
    "round": "exact but for decimals, which are arithmetic",
    **dict.fromkeys(["eq", "ne", "logical_not", "isnan", "isinf", "isfinite", "isclose"], _OTHER),
    **dict.fromkeys(["is_floating_point", "element_size", "nbytes", "bitcast"], _OTHER),
    **dict.fromkeys(["bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"], _OTHER),
    **dict.fromkeys(["lshift", "rshift", "contiguous", "contiguous_backward", "detach"], _OTHER),
}
"""Public methods that are not in the table, and why."""
