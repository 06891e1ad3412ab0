"""Convolutions, transposed convolutions and their gradients against PyTorch in float64."""

import numpy as np
import pytest

import tgdialect as tg

torch = pytest.importorskip("torch")

Numbers = tuple[int, ...]


def check(
    x: Numbers,
    w: Numbers,
    *,
    transposed: bool = False,
    output_padding: Numbers | int = 0,
    **arguments: Numbers | int,
) -> None:
    """The result, and the gradients with respect to input, weight and bias, as PyTorch's."""
    random = np.random.default_rng(0)
    channels = w[1] * int(arguments.get("groups", 1)) if transposed else w[0]
    arrays = [random.standard_normal(shape) for shape in (x, w, (channels,))]
    axes = len(x) - 2
    name = f"conv_transpose{axes}d" if transposed else f"conv{axes}d"
    more = {"output_padding": output_padding} if transposed else {}
    inputs = [torch.tensor(a, requires_grad=True) for a in arrays]
    result = getattr(torch.nn.functional, name)(*inputs, **arguments, **more)
    seed = random.standard_normal(tuple(result.shape))
    wanted = [result, *torch.autograd.grad(result, inputs, torch.tensor(seed))]

    def program(x: tg.Tensor, w: tg.Tensor, b: tg.Tensor, s: tg.Tensor) -> list[tg.Tensor]:
        method = x.conv_transpose2d if transposed else x.conv2d
        y = method(w, b, **arguments, **more)
        return [y, *(y * s).sum().gradient(x, w, b)]

    found = tg.function(program)(*(tg.Tensor(a) for a in (*arrays, seed)))
    for mine, torchs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(mine.numpy(), torchs.detach().numpy(), rtol=1e-10, atol=1e-10)


CONVOLUTIONS = {
    "plain": ((2, 3, 7, 6), (4, 3, 3, 3), {"padding": 1}),
    "strided": ((1, 2, 9, 8), (3, 2, 3, 3), {"stride": 2, "padding": 1}),
    "stride that skips cells": ((1, 2, 8, 7), (3, 2, 1, 2), {"stride": (2, 3)}),
    "strided and dilated": ((1, 2, 13), (2, 2, 3), {"stride": 2, "dilation": 2, "padding": 2}),
    "stride and dilation without a divisor": ((1, 2, 16), (2, 2, 4), {"stride": 3, "dilation": 2}),
    "groups": ((2, 4, 6, 5), (6, 2, 3, 2), {"groups": 2, "stride": (1, 2)}),
    "depthwise": ((1, 3, 7, 7), (3, 1, 3, 3), {"groups": 3, "padding": 1, "stride": 2}),
    "volume": ((1, 2, 5, 4, 6), (2, 2, 2, 3, 2), {"padding": 1, "stride": (1, 2, 1)}),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolution(name: str) -> None:
    x, w, arguments = CONVOLUTIONS[name]
    check(x, w, **arguments)


TRANSPOSED = {
    "plain": ((1, 3, 5, 4), (3, 2, 3, 3), {"padding": 1}),
    "windows apart": ((2, 3, 4, 5), (3, 2, 2, 2), {"stride": 2}),
    "two windows to a cell": ((1, 2, 5, 4), (2, 3, 4, 4), {"stride": 2, "padding": 1}),
    "windows of unequal residues": (
        *((1, 2, 4, 5), (2, 2, 3, 5)),
        {"stride": (2, 3), "padding": (1, 2), "output_padding": 1},
    ),
    "windows shorter than the stride": ((1, 2, 4), (2, 2, 2), {"stride": 3, "output_padding": 1}),
    "dilated": ((1, 2, 6), (2, 2, 3), {"stride": 3, "dilation": 2}),
    "dilated by the stride": ((1, 2, 6), (2, 2, 3), {"stride": 2, "dilation": 2}),
    "groups": ((1, 4, 4, 3), (4, 2, 3, 3), {"groups": 2, "stride": 2}),
    "volume": ((1, 2, 3, 2, 3), (2, 2, 2, 3, 2), {"stride": (2, 2, 1)}),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", TRANSPOSED)
def test_transposed_convolution(name: str) -> None:
    x, w, arguments = TRANSPOSED[name]
    check(x, w, transposed=True, **arguments)


@pytest.mark.parametrize("seed", range(3))
def test_random_convolution(seed: int) -> None:
    random = np.random.default_rng(seed)

    def sizes(low: int, high: int) -> Numbers:
        return tuple(int(n) for n in random.integers(low, high, axes))

    axes, groups = int(random.integers(1, 3)), int(random.integers(1, 3))
    kernel, stride, dilation = sizes(1, 6), sizes(1, 4), sizes(1, 3)
    padding = tuple(int(random.integers(0, min(k, 3))) for k in kernel)
    least = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    shape = tuple(n + extra for n, extra in zip(least, sizes(0, 7), strict=True))
    inside, out = (groups * int(n) for n in random.integers(1, 3, 2))
    settings = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    if transposed := bool(seed % 2):
        weight = (inside, out // groups, *kernel)
        more = tuple(max(s, d) - 1 for s, d in zip(stride, dilation, strict=True))
        settings["output_padding"] = more
    else:
        weight = (out, inside // groups, *kernel)
    check((2, inside, *shape), weight, transposed=transposed, **settings)


@pytest.mark.parametrize("seed", range(3))
def test_random_depthwise_convolution(seed: int) -> None:
    """Windows of a copy of the padded input, of sizes that vectors do not divide."""
    random = np.random.default_rng(seed)
    batch, channels, stride = (int(n) for n in random.integers(1, 4, 3))
    kernel = tuple(int(n) for n in random.integers(3, 6, 2))
    padding = tuple(int(random.integers(0, k)) for k in kernel)
    size = tuple(int(n) for n in random.integers(9, 20, 2))
    settings = {"stride": stride, "padding": padding, "groups": channels}
    check((batch, channels, *size), (channels, 1, *kernel), **settings)


def test_windows_with_two_uses_have_the_gradient_of_both() -> None:
    """Their gradient depends on the windows themselves, which no factor of a product may."""
    x = np.arange(10.0)
    a, b = np.arange(3.0), np.array([1.0, -1.0, 2.0])

    def program(x: tg.Tensor, a: tg.Tensor, b: tg.Tensor) -> list[tg.Tensor]:
        windows = x._windows((3,), (1,), (1,))
        return (windows * a + (windows * windows) * b).sum().gradient(x)

    (found,) = tg.function(program)(tg.Tensor(x), tg.Tensor(a), tg.Tensor(b))
    wanted = np.zeros(10)
    for p in range(8):
        wanted[p : p + 3] += a + 2 * x[p : p + 3] * b
    np.testing.assert_allclose(found.numpy(), wanted)


def test_gradient_with_respect_to_the_padded_input() -> None:
    """A value between the input and the windows that a gradient is wanted of as well."""
    x, w = np.arange(6.0).reshape(1, 1, 6), np.array([[[1.0, 2.0, 3.0]]])

    def program(x: tg.Tensor, w: tg.Tensor) -> list[tg.Tensor]:
        padded = x.pad(((0, 0), (0, 0), (1, 1)))
        return padded.conv2d(w).square().sum().gradient(x, padded)

    inner, outer = (t.numpy() for t in tg.function(program)(tg.Tensor(x), tg.Tensor(w)))
    np.testing.assert_allclose(outer[..., 1:-1], inner)
    y = 2 * x[0, 0, 0] + 3 * x[0, 0, 1]  # The first window: 0, x0, x1.
    np.testing.assert_allclose(outer[0, 0, 0], 2 * y * 1.0)


def test_mean_of_windows_has_a_gradient_without_a_second_factor() -> None:
    x = np.random.default_rng(0).standard_normal((1, 2, 7, 7))
    t = torch.tensor(x, requires_grad=True)
    torch.nn.functional.avg_pool2d(t, 3, 2).square().sum().backward()

    def program(x: tg.Tensor) -> list[tg.Tensor]:
        return x.avg_pool2d(3, 2).square().sum().gradient(x)

    (found,) = tg.function(program)(tg.Tensor(x))
    np.testing.assert_allclose(found.numpy(), t.grad.numpy(), rtol=1e-12)


POOLS = {
    "overlapping": ((2, 3, 11, 8), (3, 3), {"stride": 2, "padding": 1}),
    "apart": ((1, 2, 7, 9), (2, 3), {"stride": (2, 3)}),
    "with cells between": ((1, 2, 9, 8), (2, 2), {"stride": 3}),
    "dilated": ((1, 1, 13, 12), (3, 2), {"stride": (2, 3), "dilation": (2, 3)}),
    "every cell": ((1, 2, 6, 7), (3, 3), {"stride": 1, "padding": 1}),
    "long steps": ((1, 1, 23, 9), (7, 2), {"stride": (4, 1), "padding": (3, 0)}),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", POOLS)
def test_the_gradient_of_the_greatest_cells_of_windows(name: str) -> None:
    shape, size, arguments = POOLS[name]
    x = np.random.default_rng(0).standard_normal(shape)
    t = torch.tensor(x, requires_grad=True)
    torch.nn.functional.max_pool2d(t, size, **arguments).square().sum().backward()

    def program(x: tg.Tensor) -> list[tg.Tensor]:
        pooled = x.max_pool2d(size, **arguments)
        assert isinstance(pooled, tg.Tensor)
        return pooled.square().sum().gradient(x)

    (found,) = tg.function(program)(tg.Tensor(x))
    np.testing.assert_allclose(found.numpy(), t.grad.numpy(), rtol=1e-12)


@pytest.mark.parametrize("stride", [1, 2, 3])
def test_the_gradient_of_a_function_of_windows(stride: int) -> None:
    """Terms that are not 0 where there is no window: a sum that counts such windows is wrong."""
    x, w = np.random.default_rng(0).standard_normal((2, 11)), np.array([1.0, -2.0, 0.5])
    t = torch.tensor(x, requires_grad=True)
    rows = t.unfold(1, 3, stride)
    ((rows * torch.tensor(w)).exp() / rows.exp().sum(-1, keepdim=True)).sum().backward()

    def program(x: tg.Tensor, w: tg.Tensor) -> list[tg.Tensor]:
        rows = x.unfold(1, 3, stride)
        return ((rows * w).exp() / rows.exp().sum(-1, keepdim=True)).sum().gradient(x)

    (found,) = tg.function(program)(tg.Tensor(x), tg.Tensor(w))
    np.testing.assert_allclose(found.numpy(), t.grad.numpy(), rtol=1e-10)


def test_no_kernel_of_a_pool_divides_indices() -> None:
    """Each cell adds the windows that have it: no step finds out by a division whether there is
    one."""

    def program(x: tg.Tensor) -> tg.Tensor:
        return x.max_pool2d(3, 2, padding=1).square().sum().gradient(x)[0]

    exe = tg.compile(program, np.zeros((1, 4, 16, 16), np.float32))
    assert "tg.mod" not in str(exe.module("linearize"))
