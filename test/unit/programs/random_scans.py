"""Random scans: a step of elementwise ops, sums and products, of which a seed decides everything.

A step is a function on tensors of tgdialect and of PyTorch alike, so that a loop in Python over
PyTorch's float64 is the reference.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Shape = tuple[int, ...]
Op = tuple[str, tuple[int, ...]]
"""An op on values by their numbers: those that a step is given come first."""

SHAPES: Sequence[Shape] = ((), (1,), (3,), (4,), (3, 4), (4, 3), (3, 3), (2, 3, 4))
_UNARY: dict[str, Callable[[Any], Any]] = {
    "sin": lambda x: x.sin(),
    "tanh": lambda x: x.tanh(),
    "neg": lambda x: -x,
    "square": lambda x: x * x,
    "transpose": lambda x: x.transpose(-1, -2),
    "sum": lambda x: x.sum(-1),
    "mean": lambda x: x.mean(0, True),
    "softmax": lambda x: x.softmax(-1),
    "flip": lambda x: x.flip(0),
    "row": lambda x: x[0],
}
_RANK = {"transpose": 2, "sum": 1, "mean": 1, "softmax": 1, "flip": 1, "row": 1}
"""The axes that these ops need at least."""
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: (x * y).sin(),
    "maximum": lambda x, y: x.maximum(y),
    "where": lambda x, y: (x < y).where(x, y) if _is_ours(x) else x.where(x < y, y),
    "matmul": lambda x, y: (x @ y).tanh(),
}


class RandomScan:
    """A scan by its seed. A step counts in its first state, which is an integer.

    `steps` is the number of steps in place of the seed's, and `sizes` are extents for 3 and 4.
    """

    def __init__(self, seed: int, steps: Any = None, sizes: Mapping[int, Any] = {}) -> None:
        choose = self._choose = random.Random(seed)
        self.steps = choose.randint(1, 6)
        self.sizes = sizes
        self.reverse = choose.random() < 0.4
        self.states = [choose.choice(SHAPES) for _ in range(choose.randint(1, 3))]
        self.sequences = [choose.choice(SHAPES) for _ in range(choose.randint(0, 2))]
        self.constants = [choose.choice(SHAPES) for _ in range(choose.randint(0, 2))]
        given = [*self.states, *self.sequences, *self.constants]
        values = [np.zeros(shape) for shape in given]
        self.ops: list[Op] = []
        for _ in range(choose.randint(2, 8)):
            self._add_op(values)
        count = len(values)
        self.following = [choose.randrange(count) for _ in self.states]
        """The values that the next states are made of."""
        self.outputs = [choose.randrange(count) for _ in range(choose.randint(0, 3))]
        self.kept = [i for i in range(len(self.states)) if choose.random() < 0.3]
        """The states that are an output before the step; the first also after it."""
        self.steps = self.steps if steps is None else steps
        self.states, self.sequences, self.constants = (
            [self._sized(shape) for shape in shapes]
            for shapes in (self.states, self.sequences, self.constants)
        )
        sequences = [(self.steps, *shape) for shape in self.sequences]
        self.shapes: Sequence[tuple[Any, ...]] = [*self.states, *sequences, *self.constants]
        self._rng = np.random.default_rng(seed)

    def _sized(self, shape: Shape) -> Shape:
        return tuple(self.sizes.get(extent, extent) for extent in shape)

    @cached_property
    def arrays(self) -> list[Array]:
        """The first states, the sequences and the constants."""
        return [self._rng.standard_normal(shape).astype(np.float32) for shape in self.shapes]

    def _add_op(self, values: list[Array]) -> None:
        if self._choose.random() < 0.4:
            name, position = self._choose.choice([*_UNARY]), self._choose.randrange(len(values))
            if values[position].ndim >= _RANK.get(name, 0):
                shape = _shape_of(name, values[position].shape)
                self.ops.append((name, (position,)))
                values.append(np.zeros(shape))
            return
        name = self._choose.choice([*_BINARY])
        a, b = (self._choose.randrange(len(values)) for _ in range(2))
        try:
            shape = (values[a] @ values[b] if name == "matmul" else values[a] + values[b]).shape
        except ValueError:  # Shapes that do not go together.
            return
        self.ops.append((name, (a, b)))
        values.append(np.zeros(shape))

    def step(self, state: Any, elements: Sequence[Any], constants: Sequence[Any]) -> Any:
        """The next state, and the outputs."""
        number, *floats = state
        values = [*floats, *elements, *constants]
        for name, operands in self.ops:
            function: Any = _UNARY.get(name) or _BINARY[name]
            values.append(function(*(values[i] for i in operands)))
        new: list[Any] = []
        for i, (position, shape) in enumerate(zip(self.following, self.states, strict=True)):
            value = values[position]
            if tuple(value.shape) != shape:
                value = value.sum() * 0.1 + floats[i]
            new.append((value * 0.7).sin() if i else value.tanh())
        outputs = [values[i] for i in self.outputs] + [floats[i] for i in self.kept]
        if self.kept:
            outputs += [new[self.kept[0]], number]
        return (number + 1, *new), tuple(outputs)

    def run(self, scan: Callable[..., Any], arrays: Sequence[Any]) -> Sequence[Any]:
        """The last states and the stacked outputs, by a function like `tg.scan`."""
        first, second = len(self.states), len(self.states) + len(self.sequences)
        constants = arrays[second:]
        (_, *last), outputs = scan(
            lambda state, x: self.step(state, x, constants),
            (0, *arrays[:first]),
            tuple(arrays[first:second]),
            length=self.steps,
            reverse=self.reverse,
        )
        return [*last, *outputs]


def _is_ours(x: Any) -> bool:
    return type(x).__module__.startswith("tgdialect")


def _shape_of(name: str, shape: Shape) -> Shape:
    match name:
        case "transpose":
            return (*shape[:-2], shape[-1], shape[-2])
        case "sum":
            return shape[:-1]
        case "mean":
            return (1, *shape[1:])
        case "row":
            return shape[1:]
        case _:
            return shape
