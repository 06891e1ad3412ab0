"""Random programs of steps that are written one by one: their results, and gradients, with NumPy's
in f64, and how many loops they become."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from random_seeds import batches

import tgdialect as tg
from tgdialect.fast_xdsl.walk import nested_ops
from tgdialect.lowering.callify import stage
from tgdialect.ops import tg as ops
from tgdialect.transforms.reroll.periods import repetitions

N = 4
"""The extent of each axis of a state."""


def _tanh(x: Any) -> Any:
    return np.tanh(x) if isinstance(x, np.ndarray) else x.tanh()


@dataclass
class Program:
    """A recurrence, drawn at random. It is a function of Tensors and of arrays of NumPy."""

    seed: int

    def __post_init__(self) -> None:
        draw = np.random.default_rng(self.seed)
        self.steps = int(draw.integers(12, 18))
        self.axis = int(draw.integers(3))
        self.stride, self.start = int(draw.integers(1, 3)), int(draw.integers(3))
        self.is_backwards = bool(draw.integers(2))
        self.terms = [int(kind) for kind in draw.integers(7, size=draw.integers(1, 5))]
        self.peeled = int(draw.integers(3))
        self.outputs = [int(kind) for kind in draw.integers(5, size=2)]
        extent = self.start + self.stride * (self.steps - 1) + 1 + int(draw.integers(3))
        shape = [N, N]
        shape.insert(self.axis, extent)
        shapes = [shape, *([(N, N)] * 3)]
        self.arguments = [draw.standard_normal(each) * 0.4 for each in shapes]

    def __call__(self, x: Any, w: Any, v: Any, h: Any) -> Sequence[Any]:
        states, others = [h, h * 0.5], [v]
        for k in range(self.steps):
            place = self.steps - 1 - k if self.is_backwards else k
            index: list[Any] = [slice(None)] * 3
            index[self.axis] = self.start + self.stride * place
            new = states[-1] @ (v if k < self.peeled and self.peeled == 1 else w)
            for kind in self.terms:
                new = self.term(kind, new, x[tuple(index)], states, others, v)
            new = _tanh(new)
            others.append(new * states[-1] + others[-1] * 0.5)
            states.append(new)
        return [self.output(kind, states, others) for kind in self.outputs]

    def term(
        self, kind: int, new: Any, x: Any, states: Sequence[Any], others: Sequence[Any], v: Any
    ) -> Any:
        """A value with one more thing that a step may do."""
        match kind:
            case 0:
                return new + x
            case 1:
                return new + x @ v
            case 2:
                return new - states[-2] * 0.25
            case 3:
                return new + others[-1]
            case 4:
                return new * x + states[-1]
            case 5:
                return new - new.sum(0) * 0.1
            case _:
                return _tanh(new) + v

    def output(self, kind: int, states: Sequence[Any], others: Sequence[Any]) -> Any:
        """A result of the program."""
        match kind:
            case 0:
                return states[-1]
            case 1:
                stack: Any = np if isinstance(states[0], np.ndarray) else tg.Tensor
                return stack.stack(states[2:])
            case 2:
                return states[5] + others[-1]
            case 3:
                return sum(state * state for state in states[3:])
            case _:
                return others[-1] @ states[-1]


def _loops(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of SCANs of the modules that are compiled from now on."""
    found: list[int] = []
    reroll = stage.reroll

    def counted(module: Any) -> None:
        reroll(module)
        module.verify()
        found.append(sum(isinstance(op, ops.ScanOp) for op in nested_ops(module)))

    monkeypatch.setattr(stage, "reroll", counted)
    return found


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_STEPS", 200))
def test_results(seeds: Sequence[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Results are NumPy's in f64, and there is a loop."""
    loops = _loops(monkeypatch)
    for seed in seeds:
        program = Program(seed)
        given = [value.astype("f4") for value in program.arguments]
        results = tg.compile(program, *given)(*given)
        wanted = program(*(value.astype("f8") for value in given))
        for result, value in zip(results, wanted, strict=True):
            np.testing.assert_allclose(result, value, rtol=2e-4, atol=2e-5, err_msg=f"seed {seed}")
        assert loops[-1], f"seed {seed} has no loop"


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_STEPS_GRADIENTS", 100))
def test_gradients(seeds: Sequence[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Gradients are differences of NumPy's results in f64, and there are loops."""
    loops = _loops(monkeypatch)
    for seed in seeds:
        program = Program(seed)
        draw = np.random.default_rng(seed)

        def loss(*given: Any, program: Program = program) -> Any:
            return sum((result * result).sum() for result in program(*given))

        def gradients(*given: Any, loss: Callable[..., Any] = loss) -> Any:
            return loss(*given).gradient(*given)

        found = tg.compile(gradients, *program.arguments)(*program.arguments)
        ways = [draw.standard_normal(value.shape) for value in program.arguments]
        ends = [
            loss(*(a + sign * 1e-6 * way for a, way in zip(program.arguments, ways, strict=True)))
            for sign in (1, -1)
        ]
        slope = sum(float((g * way).sum()) for g, way in zip(found, ways, strict=True))
        wanted = (ends[0] - ends[1]) / 2e-6
        np.testing.assert_allclose(slope, wanted, rtol=1e-5, atol=1e-6, err_msg=f"seed {seed}")
        assert loops[-1] > 1, f"seed {seed} has no loop"


@pytest.mark.parametrize("seed", range(20))
def test_repetitions(seed: int) -> None:
    """A word that is repeated is found between other letters, where it repeats itself, too."""
    draw = np.random.default_rng(seed)
    word = [int(letter) for letter in draw.integers(4, size=draw.integers(1, 12))]
    word = word * int(draw.integers(1, 4)) + [9]
    times = int(draw.integers(8, 20))
    before, after = ([int(letter) for letter in draw.integers(20, 40, size=9)] for _ in range(2))
    found = repetitions([*before, *word * times, *after], 8)
    wanted = len(before), len(before) + len(word) * times, len(word)
    assert found[0] == wanted
