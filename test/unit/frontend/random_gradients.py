"""Random expressions of tensors, of which a seed decides everything, on tgdialect's tensors and on
PyTorch's alike: values are used many times, in different views."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]

SHAPES: Sequence[Shape] = ((), (4,), (3, 4), (4, 3), (3, 3), (1, 4), (2, 3, 4))
MAX_CELLS = 150


def _amax(x: Any, axis: int) -> Any:
    return x.amax(axis, keepdim=True) if not _is_ours(x) else x.max(axis, keepdim=True)


def _flip(x: Any, axis: int) -> Any:
    return x.flip(axis) if _is_ours(x) else x.flip([axis])


def _take(x: Any, axis: int) -> Any:
    """Rows by number, one of them twice."""
    n = x.shape[axis]
    return x[(*(slice(None),) * axis, [n - 1, 0, n - 1])]


def _step(x: Any, axis: int) -> Any:
    return x[(*(slice(None),) * axis, slice(None, None, 2))]


def _moved(x: Any, axis: int) -> Any:
    """One cell on along an axis: the last one is gone, the first is zero."""
    before = x[(*(slice(None),) * axis, slice(0, x.shape[axis] - 1))]
    zero = x[(*(slice(None),) * axis, slice(0, 1))] * 0
    if _is_ours(x):
        return zero.cat(before, dim=axis)
    return importlib.import_module("torch").cat((zero, before), dim=axis)


def _is_ours(x: Any) -> bool:
    return type(x).__module__.startswith("tgdialect")


UNARY: Sequence[Callable[[Any], Any]] = (
    lambda x: x.sin(),
    lambda x: x.tanh(),
    lambda x: -x,
    lambda x: x * x,
    lambda x: x.abs(),
    lambda x: x.relu(),
    lambda x: x.sigmoid(),
    lambda x: (x * 0.3).exp(),
    lambda x: (x * x + 1).log(),
    lambda x: (x * x + 0.5).sqrt(),
    lambda x: 1 / (x * x + 1),
    lambda x: x.erf(),
    lambda x: x.clip(-1, 1),
    lambda x: x.trunc() + x,
    lambda x: x.detach() * x,
)
ALONG: Sequence[Callable[[Any, int], Any]] = (
    lambda x, a: x.sum(a),
    lambda x, a: x.sum(a, keepdim=True),
    lambda x, a: x.mean(a),
    _amax,
    lambda x, a: x.softmax(a),
    lambda x, a: x.log_softmax(a),
    lambda x, a: x.logsumexp(a),
    lambda x, a: x.cumsum(a),
    lambda x, a: x.prod(a),
    lambda x, a: x.unsqueeze(a),
    lambda x, a: x.transpose(a, 0),
    lambda x, a: x.std(a, correction=0) if x.shape[a] > 1 else x.sum(a),
    lambda x, a: x.sort(a)[0],
    _flip,
    _take,
    _step,
    _moved,
)
BINARY: Sequence[Callable[[Any, Any], Any]] = (
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x * y,
    lambda x, y: x / (y * y + 1),
    lambda x, y: x.maximum(y),
    lambda x, y: x.minimum(y),
    lambda x, y: (x < y).where(x, y * 2) if _is_ours(x) else x.where(x < y, y * 2),
    lambda x, y: x @ y,
)
Step = tuple[str, int, tuple[int, ...], int]
"""A table, a row of it, the numbers of operands, and an axis."""


class RandomGradient:
    """An expression by its seed. Its steps are found with PyTorch, which says what fits."""

    def __init__(self, seed: int) -> None:
        torch: Any = importlib.import_module("torch")
        choose = random.Random(seed)
        rng = np.random.default_rng(seed)
        is_whole = choose.random() < 0.3
        self.arrays: list[Array] = []
        for _ in range(choose.randint(1, 3)):
            shape = choose.choice(SHAPES)
            numbers = rng.integers(-2, 3, shape) if is_whole else rng.normal(size=shape)
            self.arrays.append(np.asarray(numbers, np.float64))
        self.steps: list[Step] = []
        values: list[Any] = [torch.tensor(a) for a in self.arrays]
        for _ in range(choose.randint(2, 9)):
            table = choose.choice(("unary", "along", "along", "binary", "binary"))
            count = 2 if table == "binary" else 1
            operands = tuple(choose.randrange(len(values)) for _ in range(count))
            axis = choose.randrange(max(values[operands[0]].ndim, 1))
            step = table, choose.randrange(len(TABLES[table])), operands, axis
            try:
                value = _value(step, values)
            except (RuntimeError, IndexError, ValueError, TypeError):  # It does not fit.
                continue
            if 0 < value.numel() <= MAX_CELLS:
                self.steps.append(step)
                values.append(value)

    def __call__(self, *tensors: Any) -> Any:
        """The sum of all values, weighed so that each has a part in the gradient."""
        values = [*tensors]
        for step in self.steps:
            values.append(_value(step, values))
        total = values[-1].sum()
        for number, value in enumerate(values[:-1]):
            total = total + value.sum() * (0.1 * (number + 1))
        return total


def _value(step: Step, values: Sequence[Any]) -> Any:
    table, row, operands, axis = step
    function: Any = TABLES[table][row]
    arguments = [values[i] for i in operands]
    return function(*arguments, axis) if table == "along" else function(*arguments)


TABLES: dict[str, Sequence[Any]] = {"unary": UNARY, "along": ALONG, "binary": BINARY}
