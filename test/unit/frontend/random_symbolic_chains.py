"""Random chains of movements, reductions and products on axes of one or two symbolic sizes, for
tensors and for PyTorch's.

A chain is drawn on shapes of symbolic sizes, and runs on any sizes: numbers for PyTorch, bound
variables for ours.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from parity import torch

import tgdialect as tg
from tgdialect.frontend.symbolic import Dim, SymInt, greatest, least

MOST = 5
"""The greatest value of each variable."""
N, M = (tg.Variable(name, 1, MOST) for name in "nm")
SYMBOLS: Mapping[str, SymInt] = {"n": N.bind(2), "m": M.bind(3)}
START: Sequence[tuple[Dim, ...]] = (
    (SYMBOLS["n"], 4, 6),
    (SYMBOLS["n"], SYMBOLS["m"], 4),
    (4, SYMBOLS["n"], 3),
    (SYMBOLS["n"], 2, 4, 4),
)
LARGEST = 6000
"""The most elements that a step makes."""

Sizes = Mapping[str, Any]
Step = Callable[[Any, Sequence[Any], Sizes], Any]


def at(dim: Dim, sizes: Sizes) -> Any:
    """A size for some values of its variables."""
    if isinstance(dim, int):
        return dim
    return dim.evaluated(lambda f: sizes[str(f)], int, operator.mul, operator.add)


def reshaped(x: Any, shape: Sequence[Dim], sizes: Sizes) -> Any:
    return x.reshape(tuple(at(d, sizes) for d in shape))


@dataclass
class Chain:
    """Steps from a tensor of the first shape to one of the last."""

    random: Random
    first: tuple[Dim, ...]
    names: list[str] = field(default_factory=list[str])
    steps: list[Step] = field(default_factory=list[Step])
    weights: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """The shapes of the weights."""

    def __post_init__(self) -> None:
        self.shape = self.first

    def add(self, name: str, shape: Sequence[Dim], step: Step) -> None:
        if math.prod(map(greatest, shape)) <= LARGEST:
            self.names.append(name)
            self.steps.append(step)
            self.shape = tuple(shape)

    def reshape(self, name: str, shape: Sequence[Dim]) -> None:
        self.add(name, shape, lambda x, _, sizes: reshaped(x, shape, sizes))

    def replaced(self, axis: int, *dims: Dim) -> tuple[Dim, ...]:
        """The shape with other axes in place of one."""
        return *self.shape[:axis], *dims, *self.shape[axis + 1 :]

    def run(self, x: Any, weights: Sequence[Any], sizes: Sizes) -> Any:
        for step in self.steps:
            x = step(x * 0.5, weights, sizes)
        return x


def _merge(chain: Chain, axis: int) -> None:
    if axis + 1 < len(chain.shape):
        first, second, *rest = chain.shape[axis:]
        chain.reshape("merge", (*chain.shape[:axis], first * second, *rest))


def _flatten(chain: Chain, axis: int) -> None:
    chain.reshape("flatten", (*chain.shape[:axis], math.prod(chain.shape[axis:])))


def _split(chain: Chain, axis: int) -> None:
    extent = chain.shape[axis]
    divisors = [d for d in (2, 3, 4, *SYMBOLS.values()) if extent % d == 0 and extent != d]
    if divisors:
        d = chain.random.choice(divisors)
        parts = chain.random.choice(((d, extent // d), (extent // d, d)))
        chain.reshape("split", chain.replaced(axis, *parts))


def _permute(chain: Chain, axis: int) -> None:
    order = chain.random.sample(range(len(chain.shape)), len(chain.shape))
    chain.add("permute", [chain.shape[a] for a in order], lambda x, *_: x.permute(*order))


def _expand(chain: Chain, axis: int) -> None:
    extent = chain.random.choice((2, *SYMBOLS.values()))
    one = (*chain.shape[:axis], 1, *chain.shape[axis:])
    shape = (*chain.shape[:axis], extent, *chain.shape[axis:])

    def expand(x: Any, _: Any, sizes: Sizes) -> Any:
        return reshaped(x, one, sizes).expand(*(at(d, sizes) for d in shape))

    chain.add("expand", shape, expand)


def _pad(chain: Chain, axis: int) -> None:
    before, after = chain.random.choice(((1, 0), (0, 2), (1, 1)))
    shape = chain.replaced(axis, chain.shape[axis] + (before + after))
    inner = len(shape) - axis - 1

    def pad(x: Any, *_: Any) -> Any:
        if isinstance(x, torch.Tensor):
            return torch.nn.functional.pad(x, (*[0, 0] * inner, before, after))
        return x.pad(tuple((before, after) if a == axis else None for a in range(x.ndim)))

    chain.add("pad", shape, pad)


def _shrink(chain: Chain, axis: int) -> None:
    extent = chain.shape[axis]
    stops = [s for s in (extent - 1, 1, 2, *SYMBOLS.values()) if least(extent - s) >= 0]
    stops = [stop for stop in stops if least(stop) >= 1]
    if stops:
        stop = chain.random.choice(stops)
        start = chain.random.choice((0, extent - stop))
        before = (slice(None),) * axis

        def shrink(x: Any, _: Any, sizes: Sizes) -> Any:
            return x[*before, at(start, sizes) : at(start + stop, sizes)]

        chain.add("shrink", chain.replaced(axis, stop), shrink)


def _reduce(chain: Chain, axis: int) -> None:
    kind, keep = chain.random.choice(("sum", "mean", "logsumexp")), chain.random.random() < 0.5
    shape = chain.replaced(axis, *[1] * keep)
    chain.add(kind, shape, lambda x, *_: getattr(x, kind)(axis, keep))


def _normalize(chain: Chain, axis: int) -> None:
    kind = chain.random.choice(("softmax", "cumsum", "layernorm"))

    def normalize(x: Any, *_: Any) -> Any:
        if kind != "layernorm":
            return getattr(x, kind)(axis)
        difference = x - x.mean(axis, True)
        return difference / ((difference * difference).mean(axis, True) + 0.1).sqrt()

    chain.add(kind, chain.shape, normalize)


def _product(chain: Chain, axis: int) -> None:
    if isinstance(steps := chain.shape[-1], int) and len(chain.shape) > 1:
        number, columns = len(chain.weights), chain.random.choice((2, 3))
        chain.add("product", (*chain.shape[:-1], columns), lambda x, w, _: x @ w[number])
        chain.weights.append((steps, columns))


def _square(chain: Chain, axis: int) -> None:
    if len(chain.shape) > 1:
        *outer, rows, _ = chain.shape
        chain.add("gram", (*outer, rows, rows), lambda x, *_: x @ x.transpose(-1, -2))


def _elementwise(chain: Chain, axis: int) -> None:
    kind = chain.random.choice(("relu", "tanh", "square", "contiguous"))
    chain.add(kind, chain.shape, lambda x, *_: getattr(x, kind)())


def _joined(chain: Chain, axis: int) -> None:
    shape = chain.replaced(axis, chain.shape[axis] * 2)

    def join(x: Any, *_: Any) -> Any:
        return (torch if isinstance(x, torch.Tensor) else tg.Tensor).cat((x, x * 2), dim=axis)

    chain.add("cat", shape, join)


def _flip(chain: Chain, axis: int) -> None:
    chain.add("flip", chain.shape, lambda x, *_: x.flip((axis,)))


DRAWS: Sequence[Callable[[Chain, int], None]] = (
    *(_merge, _flatten, _split, _permute, _expand, _pad, _shrink, _reduce, _normalize),
    *(_product, _product, _square, _elementwise, _joined, _flip, _merge, _reduce),
)


def chain(seed: int) -> Chain:
    """The chain of a seed."""
    random = Random(seed)
    made = Chain(random, random.choice(START))
    for _ in range(random.randint(3, 9)):
        if not made.shape:
            break
        random.choice(DRAWS)(made, random.randrange(len(made.shape)))
    return made


NAMES = {
    *("merge", "flatten", "split", "permute", "expand", "pad", "shrink", "sum", "mean"),
    *("logsumexp", "softmax", "cumsum", "layernorm", "product", "gram", "square", "relu", "tanh"),
    *("contiguous", "cat", "flip"),
}
