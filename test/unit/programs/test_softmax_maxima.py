"""Softmaxes whose maxima are relaxed (`lowering/rangeify/relax_maxima.py`), against NumPy in
float64: rows with NaN, infinities and zeros of both signs."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

import tgdialect as tg

Array = np.ndarray
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 88.0, -104.0])


def _exponentials(x: Array, axis: int) -> tuple[Array, Array]:
    with np.errstate(invalid="ignore"):
        e = np.exp(x - x.max(axis, keepdims=True))
    return e, e.sum(axis, keepdims=True)


def softmax(x: Array, axis: int) -> Array:
    e, total = _exponentials(x, axis)
    return e / total


def exponentials_of(x: tg.Tensor, axis: int) -> tg.Tensor:
    """Without the sum nothing carries the NaN of a row: a relaxed maximum would change this."""
    return (x - x.max(axis, keepdim=True)).exp()


PROGRAMS: dict[str, tuple[Callable[[tg.Tensor, int], tg.Tensor], Callable[[Array, int], Array]]] = {
    "softmax": (lambda x, axis: x.softmax(axis), softmax),
    "exponentials": (exponentials_of, lambda x, axis: _exponentials(x, axis)[0]),
    "log_softmax": (
        lambda x, axis: x.log_softmax(axis),
        lambda x, axis: x - x.max(axis, keepdims=True) - np.log(_exponentials(x, axis)[1]),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("target", ["cpu", "c"])
def test_rows_with_special_values(name, target):
    random, numbers = Random(name), np.random.default_rng(5)
    program, reference = PROGRAMS[name]
    for shape in ((7, 5), (6, 33), (3, 64, 2), (1, 1), (2, 4097)):
        axis = random.randrange(len(shape))
        x = numbers.normal(size=shape).astype(np.float32)
        where = numbers.random(shape) < random.choice([0.02, 0.2, 0.9])
        x[where] = numbers.choice(SPECIAL, size=where.sum())
        compiled = tg.compile(
            tg.function(lambda t, axis=axis: program(t, axis)).lower(tg.Tensor(x)).as_text(),
            target=target,
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            expected = reference(x.astype(np.float64), axis)
        np.testing.assert_allclose(compiled(x), expected, rtol=2e-6, atol=1e-38, err_msg=str(shape))
