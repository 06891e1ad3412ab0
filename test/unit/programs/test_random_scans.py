"""Random scans: the interpreter at every level, both modes of the compiler and C against a loop in
PyTorch's float64; and their gradients against PyTorch's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from random_scans import RandomScan
from random_seeds import batches

import tgdialect as tg
from tgdialect.diagnostics import verify_module
from tgdialect.interpreter import run
from tgdialect.lowering.pipeline import stages

torch = pytest.importorskip("torch")

TARGETS: dict[str, dict[str, Any]] = {
    "interpreter": {"target": "interpreter"},
    "none": {"opt": "none"},
    "heuristic": {},
    "c": {"target": "c"},
}
CLOSE = {"rtol": 1e-3, "atol": 1e-4}


def loop(f: Callable[..., Any], state: Any, xs: Any, length: int, reverse: bool) -> Any:
    """A scan in Python, on tensors of PyTorch."""
    rows: dict[int, Any] = {}
    if length == 0:
        _, outputs = f(state, tuple(torch.zeros(x.shape[1:], dtype=x.dtype) for x in xs))
        return state, [torch.zeros(0, *torch.as_tensor(value).shape) for value in outputs]
    for i in reversed(range(length)) if reverse else range(length):
        state, rows[i] = f(state, tuple(x[i] for x in xs))
    columns = zip(*(rows[i] for i in range(length)), strict=True)
    as_tensors = ([torch.as_tensor(value) for value in column] for column in columns)
    return state, [torch.stack(column) for column in as_tensors]


def total(values: Sequence[Any]) -> Any:
    """A number that depends on all floats, on each in its own way."""
    terms = [(v.float() if str(v.dtype).startswith("int") else v) for v in values]
    return sum((term * (0.3 * i + 1)).sin().sum() for i, term in enumerate(terms))


def reference(case: RandomScan) -> tuple[list[Any], list[Any]]:
    """The results and the gradients by PyTorch."""
    given = [torch.tensor(a, dtype=torch.float64, requires_grad=True) for a in case.arrays]
    results = [torch.as_tensor(value) for value in case.run(loop, given)]
    gradients = torch.autograd.grad(total(results), given, allow_unused=True)
    zeros = (torch.zeros_like(g) if d is None else d for g, d in zip(given, gradients, strict=True))
    return [r.detach().numpy() for r in results], [d.numpy() for d in zeros]


def symbolic(array: np.ndarray[Any, Any], shape: Sequence[Any]) -> tg.Tensor:
    """An array as a tensor whose extents are the given sizes."""
    whole = np.zeros([e if isinstance(e, int) else e.max for e in shape], array.dtype)
    whole[tuple(map(slice, array.shape))] = array
    return (
        tg.Tensor(whole)[tuple(slice(0, extent) for extent in shape)] if shape else tg.Tensor(array)
    )


def check(found: Sequence[Any], expected: Sequence[Any], seed: int, where: str) -> None:
    assert len(found) == len(expected), (seed, where)
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        message = f"result {i}, seed {seed}, {where}"
        np.testing.assert_allclose(a, b, **CLOSE, err_msg=message)


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_SCANS", 3))
@pytest.mark.parametrize("sizes", [{}, {3: 0}], ids=["", "empty"])
def test_results(seeds: range, sizes: Mapping[int, int]):
    for seed in seeds:
        case = RandomScan(seed, sizes=sizes)
        if sizes and any(name == "row" for name, _ in case.ops):
            continue  # There is no first row.
        expected, _ = reference(case)

        def program(*arrays: tg.Tensor, case: RandomScan = case) -> tuple[tg.Tensor, ...]:
            return tuple(case.run(tg.scan, arrays))

        for name, options in TARGETS.items():
            executable = tg.compile(program, *case.arrays, **options)
            found = executable(*case.arrays)
            check(found if isinstance(found, tuple) else (found,), expected, seed, name)
        lowered = tg.function(program).lower(*case.arrays)
        for stage in stages():
            if stage.name != "tg-render":
                module = lowered.module(stage.name.removeprefix("tg-"))
                verify_module(module)
                check(run(module, "main", case.arrays), expected, seed, stage.name)


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_SCANS", 3))
def test_gradients(seeds: range):
    for seed in seeds:
        case = RandomScan(seed)
        _, expected = reference(case)

        def program(*arrays: tg.Tensor, case: RandomScan = case) -> tuple[tg.Tensor, ...]:
            unused: Any = sum((array * 0).sum() for array in arrays)
            return tuple((total(case.run(tg.scan, arrays)) + unused).gradient(*arrays))

        for name in ("interpreter", "heuristic"):
            executable = tg.compile(program, *case.arrays, **TARGETS[name])
            found = executable(*case.arrays)
            check(found if isinstance(found, tuple) else (found,), expected, seed, name)


SIZES = tuple(tg.Variable(name, low, 6) for name, low in (("n", 0), ("a", 2), ("b", 2)))


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_SCANS", 3))
@pytest.mark.parametrize("is_gradient", [False, True], ids=["values", "gradients"])
def test_symbolic_sizes(seeds: range, is_gradient: bool):
    """One program for all numbers of steps and all sizes."""
    for seed in seeds:

        @tg.function
        def program(n: Any, a: Any, b: Any, *arrays: tg.Tensor, seed: int = seed) -> Any:
            results = RandomScan(seed, n, {3: a, 4: b}).run(tg.scan, arrays)
            if not is_gradient:
                return tuple(results)
            unused: Any = sum((array * 0).sum() for array in arrays)
            return tuple((total(results) + unused).gradient(*arrays))

        for values in ((0, 3, 4), (1, 2, 5), (4, 6, 2)):
            case = RandomScan(seed, values[0], {3: values[1], 4: values[2]})
            bound = [size.bind(value) for size, value in zip(SIZES, values, strict=True)]
            shapes = RandomScan(seed, bound[0], {3: bound[1], 4: bound[2]}).shapes
            tensors = [symbolic(a, s) for a, s in zip(case.arrays, shapes, strict=True)]
            found = [tensor.numpy() for tensor in program(*bound, *tensors)]
            check(found, reference(case)[is_gradient], seed, str(values))


Scan = Callable[..., Any]


def while_of_choices(limit: Any) -> Scan:
    """A scan as a `while_loop` that ends before its limit, of steps that are a `cond`."""

    def scan(f: Callable[..., Any], init: Any, xs: Any, length: Any, reverse: bool) -> Any:
        def body(state: Any) -> Any:
            i, inner = state
            element = tuple(x[length - 1 - i if reverse else i] for x in xs)
            halved = lambda s, x: f(s, tuple(e * 0.5 for e in x))  # noqa: E731
            inner, outputs = tg.cond(i % 2 == 0, f, halved, inner, element)
            return (i + 1, inner), outputs

        first = tg.Tensor(0), init
        (_, last), outputs, _ = tg.while_loop(
            lambda s: s[0] < limit, body, first, length, has_outputs=True
        )
        return last, outputs

    return scan


def loop_of_choices(limit: int) -> Scan:
    """The same in Python, on tensors of PyTorch."""

    def scan(f: Callable[..., Any], state: Any, xs: Any, length: int, reverse: bool) -> Any:
        rows: list[Any] = []
        for i in range(min(limit, length)):
            element = tuple(x[length - 1 - i if reverse else i] for x in xs)
            state, row = f(state, element if i % 2 == 0 else tuple(e * 0.5 for e in element))
            rows.append([torch.as_tensor(value) for value in row])
        _, shapes = loop(f, state, xs, 0, reverse)
        empty = [[torch.zeros(shape.shape[1:])] * (length - len(rows)) for shape in shapes]
        return state, [
            torch.stack([*(row[k] for row in rows), *rest]) if length else shapes[k]
            for k, rest in enumerate(empty)
        ]

    return scan


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_SCANS", 3))
@pytest.mark.parametrize("target", ["interpreter", "heuristic", "c"])
def test_while_loops_and_choices(seeds: range, target: str):
    """Loops of symbolic sizes that end before the limit, after it and before the first step."""
    for seed in seeds:
        executable: Any = None

        def program(*arrays: tg.Tensor, seed: int = seed) -> Any:
            *arrays, limit, n, a, b = arrays
            sizes = {3: a.shape[0], 4: b.shape[0]}
            return tuple(RandomScan(seed, n.shape[0], sizes).run(while_of_choices(limit), arrays))

        for limit, *values in ((2, 4, 3, 5), (9, 1, 2, 4), (0, 3, 6, 2), (1, 0, 3, 4)):
            case = RandomScan(seed, values[0], {3: values[1], 4: values[2]})
            bound = [size.bind(value) for size, value in zip(SIZES, values, strict=True)]
            shapes = RandomScan(seed, bound[0], {3: bound[1], 4: bound[2]}).shapes
            counts = [np.zeros(value, np.float32) for value in values]
            arrays = [*case.arrays, np.array(limit, np.int32), *counts]
            shapes = [*shapes, (), *((size,) for size in bound)]
            tensors = [symbolic(a, s) for a, s in zip(arrays, shapes, strict=True)]
            executable = executable or tg.compile(program, *tensors, **TARGETS[target])
            given = [torch.tensor(a, dtype=torch.float64) for a in case.arrays]
            expected = [np.asarray(v) for v in case.run(loop_of_choices(limit), given)]
            found = executable(*arrays)
            found = found if isinstance(found, tuple) else (found,)
            check(found, expected, seed, f"{limit} of {values}")
