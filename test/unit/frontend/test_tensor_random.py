"""Random tensors: reproducible, of the right distribution, and with a seed tinygrad's bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from llvmlite.binding import get_host_cpu_features

import tgdialect as tg
from tgdialect.frontend import dtypes

# What tinygrad 0.14 gives after Tensor.manual_seed(42), on its CPU device.
RAND_42 = [
    1052973056,
    1008740608,
    1038550032,
    1039207536,
    1057054564,
    1063186922,
    1058603830,
    1059221020,
    1050305516,
]
RANDINT_42 = [15, 81, 10, 15, 77, 2, 58, 32]
# The same with fused multiply-adds: randn(6), normal(4, mean=3, std=1.3), kaiming_normal(2, 2) and
# uniform(3, low=-1.3, high=.4).
RANDN_42 = [1073386497, 3191760636, 1070725424, 3208888471, 3210647224, 3202363820]
NORMAL_42 = [1076209802, 1080480495, 1083266340, 1076286720]
KAIMING_42 = [1069211871, 3188197499, 3210504886, 1032545501]
UNIFORM_42 = [3200549224, 3209016615, 3198513079]


def test_the_bits_of_a_seed():
    tg.Tensor.manual_seed(42)
    np.testing.assert_array_equal(
        tg.Tensor.rand(5).numpy().view(np.uint32), np.array(RAND_42[:5], np.uint32)
    )
    np.testing.assert_array_equal(
        tg.Tensor.rand(2, 2).numpy().view(np.uint32).ravel(), np.array(RAND_42[5:], np.uint32)
    )
    tg.Tensor.manual_seed(42)
    assert tg.Tensor.randint(8, low=-5, high=100).tolist() == RANDINT_42


@pytest.mark.skipif(
    not get_host_cpu_features().get("fma"), reason="tinygrad's bits are of a CPU with fma"
)
def test_the_bits_of_normal_numbers():
    tg.Tensor.manual_seed(42)
    for found, expected in (
        (tg.Tensor.randn(6), RANDN_42),
        (tg.Tensor.normal(4, mean=3, std=1.3), NORMAL_42),
        (tg.Tensor.kaiming_normal(2, 2), KAIMING_42),
        (tg.Tensor.uniform(3, low=-1.3, high=0.4), UNIFORM_42),
    ):
        assert found.numpy().view(np.uint32).ravel().tolist() == expected


def test_threefry():
    """The known answers of Threefry-2x32 with 20 rounds (Random123's kat_vectors)."""
    for counter, key, expected in (
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((2**32 - 1,) * 2, (2**32 - 1,) * 2, (0x1CB996FC, 0xBB002BE7)),
        ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
    ):
        words = [tg.Tensor([low | high << 32], "uint64") for low, high in (counter, key)]
        (found,) = words[0].threefry(words[1]).tolist()
        assert (found % 2**32, found >> 32) == expected


def test_seeds_repeat_and_draws_differ():
    tg.Tensor.manual_seed(1)
    first, second = tg.Tensor.rand(100).numpy(), tg.Tensor.rand(100).numpy()
    tg.Tensor.manual_seed(1)
    np.testing.assert_array_equal(tg.Tensor.rand(100).numpy(), first)
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_uniform(dtype: str):
    tg.Tensor.manual_seed(0)
    x = tg.Tensor.rand(100, 101, dtype=dtype).double().numpy()
    assert 0 <= x.min() < 0.01
    assert 0.98 < x.max() < 1
    np.testing.assert_allclose(x.mean(), 0.5, atol=0.01)
    np.testing.assert_allclose(x.var(), 1 / 12, atol=0.005)


def test_normal():
    tg.Tensor.manual_seed(0)
    x = tg.Tensor.normal(200, 200, mean=3, std=2).numpy()
    np.testing.assert_allclose([x.mean(), x.std()], [3, 2], atol=0.03)
    np.testing.assert_allclose(((x - 3) ** 4).mean() / 16, 3, atol=0.15)


def test_shapes_and_bounds():
    assert tg.Tensor.rand().shape == ()
    assert tg.Tensor.rand(0, 3).shape == (0, 3)
    x = tg.Tensor.randint(1000, low=-3, high=4).numpy()
    assert set(x.tolist()) == set(range(-3, 4))
    assert tg.Tensor.zeros(2, 3).rand_like().shape == (2, 3)
    assert tg.Tensor.zeros(2, 3).randn_like().dtype.name == "f32"
    for name in ("scaled_uniform", "glorot_uniform", "kaiming_uniform", "kaiming_normal"):
        assert getattr(tg.Tensor, name)(4, 5).numpy().std() > 0
    with pytest.raises(ValueError, match="low < high"):
        tg.Tensor.uniform(3, low=2, high=1)
    with pytest.raises(ValueError, match="only floats"):
        tg.Tensor.rand(3, dtype="int32")


@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_another_default_dtype(monkeypatch: pytest.MonkeyPatch, dtype: str):
    def draws() -> list[np.ndarray]:
        tg.Tensor.manual_seed(5)
        made = [tg.Tensor.randn(9, dtype="float32"), tg.Tensor.uniform(9, dtype="float32")]
        made += [tg.Tensor.randperm(9), tg.Tensor([1.0, 2.0, 3.0]).multinomial(9, True)]
        return [t.numpy() for t in made]

    wanted = draws()
    monkeypatch.setattr(dtypes, "default_float", dtypes.to_dtype(dtype))
    for found, expected in zip(draws(), wanted, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert np.isfinite(tg.Tensor.randn(64, 64).numpy().astype(np.float64)).all()


def test_permutations_and_draws():
    tg.Tensor.manual_seed(3)
    assert sorted(tg.Tensor.randperm(50).tolist()) == list(range(50))
    weights = tg.Tensor([[0.0, 1.0, 3.0], [1.0, 0.0, 0.0]])
    drawn = weights.multinomial(2000, replacement=True).numpy()
    assert drawn.shape == (2, 2000)
    np.testing.assert_allclose((drawn[0] == 2).mean(), 0.75, atol=0.04)
    assert set(drawn[1].tolist()) == {0}
    assert sorted(tg.Tensor([1.0, 2.0, 3.0]).multinomial(3).tolist()) == [0, 1, 2]


def test_dropout():
    tg.Tensor.manual_seed(0)
    x = tg.Tensor.ones(100, 100)
    with tg.Tensor.train():
        y = x.dropout(0.3).numpy()
    np.testing.assert_allclose((y == 0).mean(), 0.3, atol=0.02)
    np.testing.assert_allclose(y[y != 0], 1 / 0.7, rtol=1e-6)


def test_in_a_function():
    """Each call draws other numbers, the same after the same seed."""

    @tg.function
    def f(x: tg.Tensor) -> tg.Tensor:
        return x + tg.Tensor.rand(4) + tg.Tensor.rand(4)

    x = tg.Tensor([0.0] * 4)
    tg.Tensor.manual_seed(5)
    first, second = f(x).numpy(), f(x).numpy()
    assert not np.array_equal(first, second)
    tg.Tensor.manual_seed(5)
    plain = (tg.Tensor.rand(4) + tg.Tensor.rand(4)).numpy()
    np.testing.assert_allclose(first, plain, rtol=1e-6)
    tg.Tensor.manual_seed(5)
    np.testing.assert_array_equal(f(x).numpy(), first)


# What tinygrad 0.14 gives after Tensor.manual_seed(3).
RAND_8_BITS = {
    "fp8e4m3": [0.875, 0.25, 0.75, 0.875, 0.25, 0.0, 0.125, 0.75],
    "fp8e5m2": [0.75, 0.25, 0.75, 0.75, 0.25, 0.0, 0.0, 0.75],
}


def test_random_numbers_of_8_bits():
    for dtype, expected in RAND_8_BITS.items():
        tg.Tensor.manual_seed(3)
        assert tg.Tensor.rand(len(expected), dtype=dtype).tolist() == expected


@pytest.mark.parametrize(
    ("weights", "count"), [(2.0, 1), ([[[1.0]]], 1), ([1.0, 9.0], 0), ([1.0, 9.0], 3)]
)
def test_samples_that_cannot_be_drawn(weights: Any, count: int):
    with pytest.raises(RuntimeError, match=f"{count} samples of") as error:
        tg.Tensor(weights).multinomial(count)
    assert isinstance(error.value, ValueError)
