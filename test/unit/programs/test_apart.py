"""Elements that are not side by side in memory: every nth, windows, merged axes, transposed edges.
Arguments end where memory cannot be accessed."""

import numpy as np
import pytest
from executors import fenced

import tgdialect as tg


def values(shape, dtype=np.float32):
    return (np.random.default_rng(0).standard_normal(shape) * 50).astype(dtype)


def call(function, *arrays):
    return tg.function(function)(*(tg.Tensor(fenced(a)) for a in arrays)).numpy()


@pytest.mark.sampled(5)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int32, np.int8, np.bool_])
@pytest.mark.parametrize("step", [2, 3, 4, 7, 8, 9])
def test_every_nth_element(dtype, step):
    x = values((3, 211), dtype)
    for start in (0, step - 1):
        wanted = x[:, start::step] != 0
        assert np.array_equal(call(lambda t, at=start: t[:, at::step] != 0, x), wanted)
        backwards = call(lambda t, at=start: t.flip(1)[:, at::step].maximum(t[:, :1]), x)
        assert np.array_equal(backwards, np.maximum(x[:, ::-1][:, start::step], x[:, :1]))


@pytest.mark.parametrize("step", [2, 3, 5])
def test_every_nth_element_of_what_is_padded(step):
    x = values((3, 97))
    for before, after in ((1, 0), (4, 3), (0, 20)):
        pads = (0, 0), (before, after)
        result = call(lambda t, pads=pads: t.pad(pads, value=7)[:, ::step] * 2, x)
        assert np.array_equal(result, np.pad(x, pads, constant_values=7)[:, ::step] * 2)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("window", [1, 2, 3])
@pytest.mark.parametrize("stride", [1, 2, 3, 5])
@pytest.mark.parametrize("shape", [(2, 3, 17, 33), (1, 20, 14, 14), (1, 2, 5, 64)])
def test_windows(shape, stride, window):
    x = values(shape)
    padding = window // 2
    pads = (0, 0), (0, 0), (padding, padding), (padding, padding)
    padded = np.pad(x, pads, constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (window, window), (2, 3))
    wanted = windows[:, :, ::stride, ::stride].max((4, 5))
    result = call(lambda t: t.max_pool2d((window, window), stride, padding=padding), x)
    assert np.array_equal(result, wanted)


@pytest.mark.parametrize("columns", range(1, 13))
def test_short_rows(columns):
    x = values((133, columns))
    assert np.array_equal(call(lambda t: t.max(1), x), x.max(1))
    assert np.allclose(
        call(lambda t: t.sum(1), x), x.sum(1, dtype=np.float64), rtol=1e-5, atol=1e-3
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize("order", [(0, 2, 1), (1, 0, 2), (2, 1, 0), (1, 2, 0)])
@pytest.mark.parametrize("shape", [(6, 10, 16), (3, 35, 4), (32, 2, 48)])
def test_merged_axes(shape, order):
    x = values(shape)
    wanted = x.transpose(order).reshape(-1)
    assert np.array_equal(call(lambda t: -t.permute(*order).reshape(-1), x), -wanted)
    for rows in (2, 6):
        if wanted.size % rows == 0:
            result = call(lambda t, n=rows: t.permute(*order).reshape(n, -1).max(1), x)
            assert np.array_equal(result, wanted.reshape(rows, -1).max(1))
    assert np.array_equal(call(lambda t: t.repeat(1, 2, 3) + 0, x), np.tile(x, (1, 2, 3)))


@pytest.mark.parametrize("shape", [(53, 37), (16, 17), (200, 3), (2, 333), (31, 31), (18, 4)])
def test_transposed(shape):
    x = values(shape)
    assert np.array_equal(call(lambda t: -t.T, x), -x.T)
    pairs = call(lambda t: (t + 1).stack(t - 1, dim=2), x)
    assert np.array_equal(pairs, np.stack([x + 1, x - 1], 2))


@pytest.mark.sampled(7)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int16, np.int8])
@pytest.mark.parametrize("shape", [(2, 64), (4, 96), (8, 64), (2, 77), (3, 2, 128), (5, 4, 33)])
def test_interleaved_rows(dtype, shape):
    """Rows that are stored as columns of a few neighbours, which are whole vectors together."""
    x = values(shape, dtype)
    assert np.array_equal(call(lambda t: -t.transpose(-1, -2), x), -x.swapaxes(-1, -2))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(30))
def test_few_rows_of_dot_products(seed):
    """Both factors of a product lie along its steps: tiles of rows and columns."""
    random = np.random.default_rng(seed)
    rows, columns = random.choice([1, 2, 3, 4, 6, 7, 8, 9, 12], 2)
    columns = int(columns * random.choice([1, 4, 16, 25]))
    steps = int(random.choice([16, 32, 64, 100, 512, 1000, 1023]))
    x, w = (random.standard_normal((n, steps)).astype(np.float32) for n in (rows, columns))
    bias = random.standard_normal(columns).astype(np.float32)
    found = call(lambda x, w, b: (x @ w.T + b).relu(), x, w, bias)
    exact, size = x.astype(np.float64) @ w.T, np.abs(x).astype(np.float64) @ np.abs(w).T
    assert (np.abs(found - np.maximum(exact + bias, 0)) <= 2**-20 * (size + np.abs(bias))).all()
