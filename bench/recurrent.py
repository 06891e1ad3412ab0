"""Rows of recurrent layers: as a scan, and with their steps unrolled by a loop of Python's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bench.words import InTensor, InTorch, told, unrolled
from bench.workload import Array, Program, Workload


class Sizes(NamedTuple):
    """Of a layer and what it goes through."""

    steps: int
    batch: int
    inputs: int
    hidden: int

    def shapes(self, gates: int) -> Sequence[tuple[int, ...]]:
        """Of the sequence, and of the weights of inputs and of states."""
        rows = gates * self.hidden
        return (self.steps, self.batch, self.inputs), (rows, self.inputs), (rows, self.hidden)

    def flops(self, gates: int) -> int:
        return 2 * self.steps * self.batch * gates * self.hidden * (self.inputs + self.hidden)

    @property
    def states(self) -> tuple[int, int, int]:
        """The shape of the states after all steps."""
        return self.steps, self.batch, self.hidden


def lstm_states(o: Any, x: Any, weight: Any, recurrent: Any, is_unrolled: bool = False) -> Any:
    """The states after all steps; gates are in PyTorch's order."""
    hidden = recurrent.shape[1]

    def step(state: Any, given: Any) -> tuple[Any, Any]:
        last, cell = state
        gates = given + last @ recurrent.T
        i, f, g, out = (gates[:, k * hidden : (k + 1) * hidden] for k in range(4))
        cell = o.sigmoid(f) * cell + o.sigmoid(i) * o.tanh(g)
        last = o.sigmoid(out) * o.tanh(cell)
        return (last, cell), last

    zeros = o.zeros(x, x.shape[1], hidden)
    inputs = x @ weight.T
    if is_unrolled:
        return unrolled(o, step, (zeros, zeros), inputs)
    return o.scan(step, (zeros, zeros), inputs)


def torch_lstm(o: InTorch, x: Any, weight: Any, recurrent: Any) -> Any:
    zeros = o.torch.zeros(1, x.shape[1], recurrent.shape[1])
    flags = False, 1, 0.0, False, False, False
    return o.torch.lstm(x, (zeros, zeros), [weight, recurrent], *flags)[0]


def _gru_states(o: Any, x: Any, weight: Any, recurrent: Any) -> Any:
    """The states after all steps; gates are in PyTorch's order."""
    hidden = recurrent.shape[1]

    def step(state: Any, given: Any) -> tuple[Any, Any]:
        other = state @ recurrent.T
        (r, z, n), (r2, z2, n2) = (
            [gates[:, k * hidden : (k + 1) * hidden] for k in range(3)] for gates in (given, other)
        )
        new = o.tanh(n + o.sigmoid(r + r2) * n2)
        state = new + o.sigmoid(z + z2) * (state - new)
        return state, state

    return o.scan(step, o.zeros(x, x.shape[1], hidden), x @ weight.T)


def _torch_gru(o: InTorch, x: Any, weight: Any, recurrent: Any) -> Any:
    zeros = o.torch.zeros(1, x.shape[1], recurrent.shape[1])
    return o.torch.gru(x, zeros, [weight, recurrent], False, 1, 0.0, False, False, False)[0]


def fan_in(arrays: list[Array]) -> list[Array]:
    """Weights whose products keep the variance of what they multiply; columns are inputs."""
    return [
        arrays[0],
        *((w / math.sqrt(w.shape[-1])).astype(np.float32) for w in arrays[1:]),
    ]


def lstm(name: str, sizes: Sizes, is_unrolled: bool = False) -> Workload:
    """An LSTM; if unrolled, JAX has its loop all the same, which is faster, and so has PyTorch."""

    def text(o: Any, *x: Any) -> Any:
        return lstm_states(o, *x, is_unrolled=is_unrolled and isinstance(o, InTensor))

    return _layer(name, sizes, 4, text, torch_lstm)


def gru(name: str, sizes: Sizes) -> Workload:
    return _layer(name, sizes, 3, _gru_states, _torch_gru)


def _layer(name: str, sizes: Sizes, gates: int, text: Program, in_torch: Program) -> Workload:
    flops = sizes.flops(gates)
    more = {"in_torch": in_torch, "prepared": fan_in}
    return told(name, sizes.shapes(gates), text, flops, [sizes.states], **more)


RECURRENT: Sequence[Workload] = (
    lstm("lstm of 100 steps 16x256", Sizes(100, 16, 128, 256)),
    lstm("lstm unrolled 100 8x256", Sizes(100, 8, 128, 256), is_unrolled=True),
)
