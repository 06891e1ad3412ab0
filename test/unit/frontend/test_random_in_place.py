"""State in place in random programs, while others hold views and copies of the tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

import numpy as np
import pytest
from random_seeds import batches

import tgdialect as tg


class Names:
    """Tensors, or arrays of NumPy in their place, under numbers: the same statements are for both.
    Several numbers may be one tensor."""

    def __init__(self, values: list[Any], order: Sequence[int]) -> None:
        self._values = values
        self._order = order

    def __getitem__(self, i: int) -> Any:
        return self._values[self._order[i]]

    def assign(self, i: int, value: Any) -> None:
        if isinstance(self[i], np.ndarray):
            self._values[self._order[i]] = np.array(value)
        else:
            self[i].assign(value)

    def write(self, i: int, where: Any, value: Any) -> None:
        if isinstance(self[i], np.ndarray):
            self.assign(i, self[i])
        self[i][where] = value


N = 6


def expression(rng: np.random.Generator, count: int) -> Callable[[Names], Any]:
    i, j = (int(k) for k in rng.integers(count, size=2))
    return (
        lambda e: e[i] + 0,
        lambda e: e[i] * 3 + e[j],
        lambda e: e[i][::-1] - 1,
        lambda e: e[i].T + e[j],
        lambda e: e[i].sum(0).reshape((1, N)) + e[j],
        lambda e: e[i] - e[j][::-1, ::-1],
        lambda e: e[i],
        lambda e: e[j].T,
    )[rng.integers(8)]


def statement(rng: np.random.Generator, count: int) -> Callable[[Names], None]:
    i, value = int(rng.integers(count)), expression(rng, count)
    low, high = sorted(int(n) for n in rng.choice(N + 1, 2, replace=False))
    rows, columns = slice(low, high), (slice(None), slice(low, high))
    return (
        lambda e: e.assign(i, value(e)),
        lambda e: e.assign(i, value(e)),
        lambda e: e.write(i, rows, value(e)[rows]),
        lambda e: e.write(i, columns, value(e)[:, N - high : N - low]),
        lambda e: e.write(i, slice(None, None, -1), value(e)),
    )[rng.integers(5)]


def program(rng: np.random.Generator, count: int) -> Callable[[Names], list[Any]]:
    early = [expression(rng, count) for _ in range(rng.integers(2))]
    statements = [statement(rng, count) for _ in range(rng.integers(1, 5))]
    late = [expression(rng, count) for _ in range(rng.integers(3))]

    def run(names: Names) -> list[Any]:
        found = [each(names) * 1 for each in early]
        for each in statements:
            each(names)
        return [*found, *(each(names) * 1 for each in late)]

    return run


class Holders:
    """Others who see the memory of tensors, and what they are to see."""

    def __init__(self) -> None:
        self.values: list[tuple[Callable[[], Any], np.ndarray]] = []
        self.views: list[tuple[tg.Tensor, int]] = []

    def change(self, rng: np.random.Generator, tensor: tg.Tensor, number: int) -> None:
        """Let somebody else see a tensor, or let go of something."""
        kind, array = rng.integers(10), tensor.numpy().copy()
        if kind < 4:
            make: Callable[[tg.Tensor], Any] = (
                lambda t: t.numpy(),
                tg.Tensor,
                lambda t: t + 0,
                lambda t: np.from_dlpack(t)[:],
            )[kind]
            other = make(tensor)
            self.values.append((lambda: np.asarray(other), array))
        elif kind == 4:
            self.views.append((tensor[2], number))
        elif kind == 5 and self.values:
            self.values.pop(int(rng.integers(len(self.values))))
        elif kind == 6 and self.views:
            self.views.pop()

    def check(self, now: Sequence[np.ndarray], donated: Set[int]) -> None:
        for value, array in self.values:
            np.testing.assert_array_equal(value(), array)
        self.views = [(view, number) for view, number in self.views if number not in donated]
        for view, number in self.views:
            np.testing.assert_array_equal(view.numpy(), now[number][2])


@pytest.mark.parametrize("cases", batches("TG_RANDOM_STATE", 30))
def test_random_programs_and_holders(cases: range):
    for seed in cases:
        rng = np.random.default_rng(seed)
        count = int(rng.integers(2, 5))
        captured, is_donating = int(rng.integers(1, count + 1)), bool(rng.integers(2))
        now: list[Any] = [rng.integers(-9, 9, (N, N)).astype(np.int32) for _ in range(count)]
        tensors = [tg.Tensor(array.copy()) for array in now]
        run, holders = program(rng, count), Holders()

        def call(
            *given: tg.Tensor, run: Any = run, captured: Any = tensors[:captured]
        ) -> tuple[list[tg.Tensor], list[tg.Tensor]]:
            found = run(Names([*captured, *given], range(len(captured) + len(given))))
            return found, list(given)

        step = tg.function(call, donate="given" if is_donating else ())
        for _ in range(5):
            for number, tensor in enumerate(tensors):
                holders.change(rng, tensor, number)
            del tensor
            arguments = list(range(captured, count))
            if arguments and not is_donating and rng.integers(3) == 0:
                arguments[0] = int(rng.integers(count))
            passed = [tensors[i] for i in arguments]
            found, after = step(*passed)
            wanted = run(Names(now, [*range(captured), *arguments]))
            for i, old, new in zip(arguments, passed, after, strict=True):
                assert is_donating or old is new
                tensors[i] = new
            for old in passed if is_donating else ():
                with pytest.raises(RuntimeError, match="donated to call as given"):
                    old.numpy()
            for a, b in zip((*found, *tensors), (*wanted, *now), strict=True):
                np.testing.assert_array_equal(a.numpy(), b, str(seed))
            holders.check(now, set(arguments) if is_donating else set())
            del found, a
