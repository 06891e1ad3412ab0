"""Methods that the table of parity has not, by an example with what it gives, as NumPy says.

Their other tests are beside these files; the examples are what `test_every_method.py` runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np

import tgdialect as tg

T = tg.Tensor
PLACES = ("CPU:0", "CPU:1")
X = np.arange(6, dtype=np.float32).reshape(2, 3)
Example = tuple[Callable[[], Any], Any]


def drawn(draw: Callable[[], tg.Tensor], low: float, high: float) -> Callable[[], Any]:
    """Whether random numbers are the same after the same seed, and all between two bounds."""

    def check() -> bool:
        T.manual_seed(3)
        first = draw().numpy()
        T.manual_seed(3)
        is_inside = bool(((low <= first) & (first <= high)).all())
        return is_inside and np.array_equal(first, draw().numpy())

    return check


def trained() -> Any:
    """The gradients of sum(x * x) by `backward`, of a tensor that requires them."""
    x = T(X).requires_grad_()
    (x * x).sum().backward()
    assert x.requires_grad
    return x.grad


def differentiated() -> Any:
    x = T(X)
    return (x * x).sum().gradient(x)[0]


def in_training() -> bool:
    with T.train():
        return bool((T.ones(64).dropout(1.0).numpy() == 0).all())


def in_file() -> tg.Tensor:
    with NamedTemporaryFile() as file:
        file.write(X.tobytes())
        file.flush()
        return T.from_file(file.name, X.shape).realize()


EXAMPLES: Mapping[str, Example] = {
    "T": (lambda: T(X).T, X.T),
    "axis": (lambda: T(X).shard(PLACES, 0).axis, 0),
    "copy": (lambda: T(X).copy(PLACES), X),
    "replicated": (lambda: T(np.stack([X, X])).copy(PLACES).replicated(), X),
    "shard": (lambda: T(X).shard(PLACES, 0), X),
    "shard_": (lambda: T(X).shard_(PLACES), X),
    "shard_like": (lambda: T(X).shard_like(T(X).shard(PLACES, -2)), X),
    "arange": (lambda: T.arange(1, 7, 2), np.arange(1, 7, 2)),
    "assign": (lambda: T(X).assign(X + 1), X + 1),
    "backward": (trained, 2 * X),
    "batchnorm": (
        lambda: T(X).batchnorm(None, None, T(X.mean(0)), T(np.ones(3, np.float32))),
        X - X.mean(0),
    ),
    "rfft": (lambda: T([1.0, 2.0, 4.0]).rfft(), [[7, 0], [-2, 3**0.5]]),
    "stft": (
        lambda: T([1.0, 2.0, 4.0]).stft(2, 1, center=False),
        [[[3, 0], [6, 0]], [[-1, 0], [-2, 0]]],
    ),
    "bincount": (lambda: T([1, 3, 1]).bincount(), [0, 2, 0, 1]),
    "bitcast": (lambda: T(X).bitcast("int32"), X.view(np.int32)),
    "cast": (lambda: T(X).cast("int32"), X.astype(np.int32)),
    "const_like": (lambda: T(X).const_like(2), np.full((2, 3), 2, np.float32)),
    "contiguous_backward": (lambda: T(X).contiguous_backward(), X),
    "conv_transpose2d": (
        lambda: T(X[None, None]).conv_transpose2d(T(np.ones((1, 1, 1, 1), np.float32))),
        X[None, None],
    ),
    "data": (lambda: np.asarray(T(X).data()), X),
    "dropout": (in_training, True),
    "device": (lambda: T(X).device == "CPU", True),
    "dtype": (lambda: T(X).dtype.name == "f32", True),
    "empty": (lambda: T.empty(2, 3).numpy().shape, (2, 3)),
    "empty_like": (lambda: T(X).empty_like().numpy().shape, (2, 3)),
    "eye": (lambda: T.eye(3), np.eye(3)),
    "from_blob": (lambda: T.from_blob(X.ctypes.data, X.shape), X),
    "from_file": (in_file, X),
    "full": (lambda: T.full((2, 3), 4), np.full((2, 3), 4)),
    "glorot_uniform": (drawn(lambda: T.glorot_uniform(3, 3), -1, 1), True),
    "grad": (trained, 2 * X),
    "gradient": (differentiated, 2 * X),
    "im2col": (lambda: T(X[None]).im2col((1, 3)), X.T),
    "item": (lambda: T([7]).item(), 7),
    "kaiming_normal": (drawn(lambda: T.kaiming_normal(3, 3), -10, 10), True),
    "kaiming_uniform": (drawn(lambda: T.kaiming_uniform(3, 3), -2, 2), True),
    "linspace": (lambda: T.linspace(0, 1, 5), np.linspace(0, 1, 5)),
    "manual_seed": (drawn(lambda: T.rand(4), 0, 1), True),
    "matmul": (lambda: T(X).matmul(T(X.T)), X @ X.T),
    "max_numel": (lambda: T(X).max_numel(), 6),
    "max_shape": (lambda: T(X).max_shape, (2, 3)),
    "multinomial": (drawn(lambda: T([[1.0, 2.0]]).multinomial(1), 0, 1), True),
    "ndim": (lambda: T(X).ndim, 2),
    "newton_schulz": (lambda: T(2 * np.eye(2)).newton_schulz(9, (1.5, -0.5)), np.eye(2)),
    "normal": (drawn(lambda: T.normal(4, mean=5.0, std=0.1), 3, 7), True),
    "numpy": (lambda: T(X).numpy(), X),
    "ones": (lambda: T.ones(2, 3), np.ones((2, 3))),
    "pad_to": (lambda: T(X).pad_to(3, 4), np.pad(X, ((0, 1), (0, 1)))),
    "qr": (lambda: T(np.eye(2)[::-1].copy()).qr()[1], -np.eye(2)),
    "rand": (drawn(lambda: T.rand(9), 0, 1), True),
    "rand_like": (drawn(lambda: T(X).rand_like(), 0, 1), True),
    "randint": (drawn(lambda: T.randint(9, low=2, high=5), 2, 4), True),
    "randn": (drawn(lambda: T.randn(9), -6, 6), True),
    "randn_like": (drawn(lambda: T(X).randn_like(), -6, 6), True),
    "randperm": (drawn(lambda: T.randperm(9), 0, 8), True),
    "rearrange": (lambda: T(X).rearrange("a (b c) -> (c a) b", b=3), X),
    "realize": (lambda: T(X).realize(), X),
    "replace": (lambda: T(X).replace(T(X + 1)), X + 1),
    "requires_grad": (trained, 2 * X),
    "requires_grad_": (trained, 2 * X),
    "scaled_uniform": (drawn(lambda: T.scaled_uniform(3, 3), -1, 1), True),
    "sequential": (lambda: T(X).sequential([lambda x: x + 1]), X + 1),
    "shape": (lambda: T(X).shape, (2, 3)),
    "shrink": (lambda: T(X).shrink(((0, 1), (1, 3))), X[:1, 1:]),
    "shrink_to": (lambda: T(X).shrink_to(1, 2), X[:1, :2]),
    "size": (lambda: T(X).size(), (2, 3)),
    "sparse_categorical_crossentropy": (
        lambda: T(np.zeros((2, 4), np.float32)).sparse_categorical_crossentropy(T([1, 2])),
        np.log(4),
    ),
    "svd": (lambda: T(X).svd()[1], np.linalg.svd(X)[1]),
    "tolist": (lambda: T(X).tolist(), X.tolist()),
    "to": (lambda: T(X).to("CPU"), X),
    "to_": (lambda: T(X).to_("CPU"), X),
    "train": (in_training, True),
    "uniform": (drawn(lambda: T.uniform(9, low=2.0, high=3.0), 2, 3), True),
    "zeros": (lambda: T.zeros(2, 3), np.zeros((2, 3))),
}
