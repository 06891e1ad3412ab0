"""One row of the table: what is computed, in each tool's own words, and how much work that is.

Tensors of ours and of tinygrad have the same methods, so that one text serves both. `flops` counts
a multiply-accumulate as two; `bytes` is what has to be read and written once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Program = Callable[..., Any]


@dataclass(frozen=True)
class Workload:
    """One row: shapes of f32 inputs, and the program as tinygrad (and ours), PyTorch, NumPy and JAX
    spell it. `jax` takes the modules `jax` and `jax.numpy` first, `torch` the module `torch`."""

    name: str
    shapes: Sequence[tuple[int, ...]]
    tensor: Program
    torch: Program
    numpy: Program
    jax: Program
    flops: int
    bytes: int
    bound: str = "flops"
    """What limits it: "flops", or the bandwidth of "copy" or, where it hardly writes, of "read"."""
    prepared: Callable[[list[Array]], list[Array]] = list
    """Makes the inputs from normally distributed arrays."""
    has_weights: bool = False
    """Whether all inputs but the first are weights: constants of the program, which each compiler
    may fold and pack once."""
    dtype: str = "f32"
    """What the tools but NumPy convert floats of the inputs to, before they are timed: "f32" or
    "bf16", whose results may be wrong by more."""
    has_many: bool = False
    """Whether it has a tuple of results."""

    def rows(self) -> Iterator[Workload]:
        """This, and where there are weights also the program that takes them as arguments."""
        yield self
        if self.has_weights:
            yield replace(self, name=f"{self.name}, args", has_weights=False)

    def inputs(self) -> list[Array]:
        random = np.random.default_rng(0)
        normal = [random.standard_normal(shape).astype(np.float32) for shape in self.shapes]
        return [aligned(x) for x in self.prepared(normal)]

    def references(self) -> list[Array]:
        """The results in float64."""
        inputs = (x.astype(np.float64) if x.dtype.kind == "f" else x for x in self.inputs())
        results = self.numpy(*inputs)
        return [np.asarray(x) for x in (results if self.has_many else [results])]


CACHE_LINE = 64
"""The bytes of a cache line, and of the vectors of AVX-512."""


def aligned(array: Array) -> Array:
    """A copy that begins at a cache line, as arrays of PyTorch and JAX do. NumPy's mostly begin 16
    bytes later: PyTorch, which reads them in place, would load each vector from two lines."""
    memory = np.empty(array.nbytes + CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def f32_bytes(*shapes: tuple[int, ...]) -> int:
    """The size of arrays of f32."""
    return 4 * sum(math.prod(shape) for shape in shapes)


def unary(
    name: str, shape: tuple[int, ...], ops: int, *programs: Program, out: tuple[int, ...] = ()
) -> Workload:
    """A program of one array, of `ops` operations for each element."""
    flops = ops * math.prod(shape)
    bound = "copy" if math.prod(out or shape) == math.prod(shape) else "read"
    return Workload(name, (shape,), *programs, flops, f32_bytes(shape, out or shape), bound)


def with_weights(normal: list[Array]) -> list[Array]:
    """Weights whose products keep the variance of what they multiply, as those of a network do."""
    x, *weights = normal
    return [x, *((w / math.sqrt(w.shape[0])).astype(np.float32) for w in weights)]
