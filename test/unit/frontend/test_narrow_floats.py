"""Functions of floats of fewer than 32 bits are computed in f32, and rounded once."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np
import pytest

import tgdialect as tg
from tgdialect import Tensor, dtypes, nn

NARROW = ["f16", "bf16", "f8E4M3FN", "f8E5M2"]
FUNCTIONS = [
    *("exp", "exp2", "expm1", "log", "log2", "log1p", "sqrt", "rsqrt", "reciprocal"),
    *("sin", "tanh", "erf", "sigmoid", "logsigmoid", "softplus", "silu", "swish"),
    *("gelu", "quick_gelu", "elu", "celu", "leaky_relu", "hardsigmoid", "hardswish"),
    *("softsign", "softmax", "log_softmax", "logsumexp", "mean", "var", "std", "layernorm"),
    *("norm", "cumsum", "logcumsumexp"),
]
COMPOSITES: dict[str, Callable[[Tensor], Tensor]] = {
    **{name: getattr(Tensor, name) for name in FUNCTIONS},
    "gelu of erfc": lambda x: x.gelu("none"),
    "normalize": lambda x: x.normalize(dim=0),
    "pow 3": lambda x: x.pow(3),
    "pow -5": lambda x: x.pow(-5),
    "pow 1.5": lambda x: x.pow(1.5),
    "2 pow": lambda x: 2**x,
    "pow": lambda x: x.pow(x.detach().flip(0)),
    "logaddexp": lambda x: x.logaddexp(x.detach().flip(0)),
    "lerp": lambda x: x.lerp(x.detach().flip(0), 0.3),
    "round": lambda x: x.round(1),
    "avg_pool2d": lambda x: x.reshape(16, -1).avg_pool2d(3),
    "binary_crossentropy": lambda x: x.binary_crossentropy(x.detach().flip(0)),
    "cross_entropy": lambda x: x.reshape(16, -1).cross_entropy(Tensor.arange(16)),
}


def every_value(dtype: str) -> Tensor:
    """A tensor of all values of a dtype, NaN and infinities included; of f16 and bf16 it is (256,
    256)."""
    kind = dtypes.numpy_of(dtypes.to_dtype(dtype))
    bits = np.arange(256**kind.itemsize, dtype=f"u{kind.itemsize}")
    return Tensor(bits.view(kind).reshape((256, -1)))


@pytest.mark.sampled(15)
@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("name", COMPOSITES)
def test_rounded_once(name: str, dtype: str) -> None:
    x, function = every_value(dtype), COMPOSITES[name]
    result = function(x)
    assert result.dtype.name == dtype
    expected = function(x.cast("f32")).cast(dtype)
    np.testing.assert_array_equal(result.cast("f32").numpy(), expected.cast("f32").numpy())


@pytest.mark.sampled(18)
@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("name", COMPOSITES)
def test_gradients_are_rounded_once(name: str, dtype: str) -> None:
    x = Tensor(np.linspace(0.05, 0.95, 64)).cast(dtype)
    wide, function = x.cast("f32"), COMPOSITES[name]
    seed = Tensor(np.linspace(-2, 2, function(x).numel())).reshape(function(x).shape).cast(dtype)
    (gradient,) = function(x).gradient(x, gradient=seed)
    (expected,) = function(wide).gradient(wide, gradient=seed.cast("f32"))
    expected = expected.cast(dtype).cast("f32").numpy()
    assert gradient.dtype.name == dtype
    np.testing.assert_array_equal(gradient.cast("f32").numpy(), expected)


@pytest.mark.parametrize("other", ["bf16", "f32"])
def test_layers_round_once(other: str) -> None:
    x = Tensor(np.random.default_rng(0).standard_normal((4, 8, 6))).bfloat16()
    ramp = np.linspace(0.5, 2, 48)
    layers = [nn.LayerNorm(6), nn.RMSNorm(6), nn.GroupNorm(2, 8), nn.BatchNorm(8)]
    for layer in layers:
        for name, value in vars(layer).items():
            if isinstance(value, Tensor) and value.dtype.is_float:
                setattr(layer, name, Tensor(ramp[: value.numel()]).cast(other))
        result = layer(x)
        assert result.dtype.name == other
        for name, value in vars(layer).items():
            if isinstance(value, Tensor) and value.dtype.is_float:
                setattr(layer, name, value.float())
        expected = layer(x.float()).cast(other)
        np.testing.assert_array_equal(result.float().numpy(), expected.float().numpy())


def test_result_has_the_promoted_dtype() -> None:
    x = Tensor([1.0, 2.0]).half()
    assert x.atan2(x.bfloat16()).dtype.name == "f32"
    assert x.atan2(Tensor([1, 2])).dtype.name == "f16"
    assert [t.dtype.name for t in x.var_mean()] == ["f16", "f16"]
    assert x.softmax(dtype="f64").dtype.name == "f64"
    assert tg.compile(lambda x: x.exp(), x.numpy())(x.numpy()).dtype == np.float16


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_a_selection_with_zero_keeps_the_sign_of_a_widened_zero(dtype, zero):
    numbers = np.resize(np.array([-0.0, 0.0, 1.5, -1.5, np.nan], np.float32), 4096)
    x = Tensor(numbers).cast(dtype).realize()
    for compare in (operator.lt, operator.gt, operator.le, operator.ge):

        @tg.function
        def selected(x, compare=compare):
            x = x.cast("float32")
            rest = compare(x, 0).where(zero, x)
            double = rest * 2
            return compare(x, 0).where(x, double + (double != 0).where(rest, -0.0))

        is_chosen = compare(numbers, 0)
        expected = np.where(is_chosen, numbers, numbers * 3)
        computed = selected(x).numpy()
        np.testing.assert_array_equal(computed, expected)
        zeros = expected == 0
        np.testing.assert_array_equal(np.signbit(computed[zeros]), np.signbit(expected[zeros]))
