"""Every method against PyTorch, over dtypes, shapes and edge values, with gradients.

With TG_DEVICE=CL:0 in the environment, the whole table runs on OpenCL.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from opencl_device import DEVICE, needs_opencl
from parity import EDGES, listed, torch
from parity_table import ELEMENTWISE, METHODS

import tgdialect as tg
from tgdialect.frontend.dtypes import numpy_of, to_dtype

pytestmark = pytest.mark.parity

SHAPES = [(), (0,), (1,), (7,), (3, 0), (0, 3), (3, 5), (2, 3, 4), (3, 1, 5), (2, 1, 3, 4)]
FLOATS = {"float32": 3e-6, "float64": 1e-6, "float16": 5e-3, "bfloat16": 4e-2}
"""Float dtypes, and what is tolerated."""
INTEGERS = ("int8", "uint8", "int16", "int32", "int64")

DIFFERENT = {
    ("cross_entropy", "(3, 0)"): "PyTorch calls the mean of losses without classes NaN",
    ("mT", "()"): "PyTorch deprecates it",
    ("selu", "float64"): "tinygrad's constants have six digits",
    ("selu", "edges"): "tinygrad's constants have six digits",
    ("avg_pool2d", "int64"): "a mean of integers is a float here",
    ("prod", "int8"): "tinygrad's products keep their dtype",
    ("prod", "uint8"): "tinygrad's products keep their dtype",
    ("prod along", "int8"): "tinygrad's products keep their dtype",
    ("prod along", "uint8"): "tinygrad's products keep their dtype",
    ("clamp", "uint8"): "PyTorch takes its bounds modulo 256",
    ("int", "edges"): "casts of infinities saturate here",
    ("short", "edges"): "casts of infinities saturate here",
    ("long", "edges"): "casts of infinities saturate here",
    ("fmod", "edges"): "PyTorch overflows on quotients that f32 has not",
    ("mod", "edges"): "PyTorch overflows on quotients that f32 has not",
    ("%", "edges"): "PyTorch overflows on quotients that f32 has not",
    ("gelu exact", "edges"): "what PyTorch makes of -inf depends on the dtype",
    ("hardswish", "edges"): "PyTorch multiplies by 6 first, which overflows",
    ("copysign", "edges"): "the sign of a NaN is not seen here",
    ("lshift", "integers"): "PyTorch leaves counts below 0 open",
    ("rshift", "integers"): "PyTorch leaves counts below 0 open",
}
"""What is meant not to be the same, by method and dtype or test."""


def numbers(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    if dtype in FLOATS:
        return random.uniform(-2, 2, shape)
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    return random.integers(0 if dtype[0] == "u" else -6, 9, shape).astype(dtype)


def inputs(arrays: Sequence[np.ndarray], dtype: str) -> list[np.ndarray]:
    """Arrays converted to a dtype that NumPy may not have itself."""
    with np.errstate(over="ignore"):
        return [np.asarray(a).astype(numpy_of(to_dtype(dtype))) for a in arrays]


def theirs_of(tensor: Any) -> np.ndarray:
    """A result of PyTorch's; numbers and bools are results as well."""
    if isinstance(tensor, bool | int):
        return np.array(tensor)
    return (tensor.detach().double() if tensor.is_floating_point() else tensor).numpy()


def widened(result: Any) -> tg.Tensor:
    """A result of ours, in f64 if it is a float."""
    tensor = result if isinstance(result, tg.Tensor) else tg.Tensor(result)
    return tensor.double() if tensor.dtype.is_float else tensor


@dataclass
class Case:
    """A method on some inputs in both libraries: pairs of values, and then of gradients."""

    label: str
    tolerance: float
    values: list[tuple[tg.Tensor, np.ndarray]]
    gradients: list[tuple[tg.Tensor, np.ndarray]]

    def compare(self) -> None:
        for factor, pairs in ((1, self.values), (50, self.gradients)):
            tolerance = factor * self.tolerance
            for mine, wanted in pairs:
                got = mine.numpy()
                assert got.shape == wanted.shape
                if got.dtype.kind != "f" and wanted.dtype.kind != "f":
                    np.testing.assert_array_equal(got, wanted, err_msg=self.label)
                else:
                    np.testing.assert_allclose(
                        got, wanted, rtol=tolerance, atol=tolerance, err_msg=self.label
                    )


def case(
    name: str, label: str, arrays: Sequence[np.ndarray], dtype: str, *, gradients: bool = False
) -> Case:
    """A method on some inputs, ours not computed yet. Skips what PyTorch refuses."""
    ours, theirs = METHODS[name]
    wants_gradient = gradients and dtype in FLOATS
    others = [torch.tensor(a).to(getattr(torch, dtype)) for a in arrays]
    others = [t.requires_grad_(wants_gradient) for t in others]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = [(e, theirs_of(e)) for e in listed(theirs(*others))]
    except (RuntimeError, IndexError, ValueError, TypeError) as error:
        pytest.skip(f"PyTorch refuses: {str(error).splitlines()[0]}")
    mine = [tg.Tensor(a, requires_grad=wants_gradient) for a in inputs(arrays, dtype)]
    found = listed(ours(*mine))
    assert len(found) == len(expected)
    values = [(widened(f), wanted) for f, (_, wanted) in zip(found, expected, strict=True)]
    made = Case(label, FLOATS.get(dtype, 3e-6), values, [])
    tracked = [
        (value, e)
        for (value, _), (e, _) in zip(values, expected, strict=True)
        if isinstance(e, torch.Tensor) and e.requires_grad
    ]
    if not tracked:
        return made
    total: Any = 0
    reference: Any = 0
    for value, e in tracked:
        weight = np.linspace(0.5, 1.5, e.numel()).reshape(tuple(e.shape))
        total = total + (value * tg.Tensor(weight)).sum()
        reference = reference + (e.double() * torch.tensor(weight)).sum()
    try:
        reference.backward()
    except RuntimeError:
        return made  # PyTorch has no gradient of it.
    total.backward()
    for t, other in zip(mine, others, strict=True):
        if other.grad is not None and t.numel():
            assert t.grad is not None
            made.gradients.append((widened(t.grad), theirs_of(other.grad)))
    return made


class Sweep:
    """Cases of a method, which are computed in one program and compared one by one."""

    def __init__(self, name: str, subtests: pytest.Subtests) -> None:
        self.name = name
        self._subtests = subtests
        self._cases: list[Case] = []

    def add(self, arrays: Sequence[np.ndarray], dtype: str, label: str, **options: bool) -> None:
        """A case; it is skipped, with the reason, where it is meant to be different."""
        with self._subtests.test(label):
            for key in (label, dtype, "integers" if dtype in INTEGERS else ""):
                if (reason := DIFFERENT.get((self.name, key))) is not None:
                    pytest.skip(reason)
            self._cases.append(case(self.name, label, arrays, dtype, **options))

    def run(self) -> None:
        tensors = [t for each in self._cases for t, _ in (*each.values, *each.gradients)]
        if tensors:
            tensors[0].realize(*tensors[1:])
        for each in self._cases:
            with self._subtests.test(each.label):
                each.compare()


@pytest.mark.sampled(16)
@pytest.mark.parametrize("name", METHODS)
def test_shapes(name: str, subtests: pytest.Subtests):
    sweep = Sweep(name, subtests)
    for shape in SHAPES:
        arrays = [numbers(shape, "float32", seed) for seed in (1, 2)]
        sweep.add(arrays, "float32", str(shape), gradients=True)
    sweep.run()


@pytest.mark.sampled(24)
@needs_opencl
@pytest.mark.parametrize("name", list(METHODS)[::6])
def test_on_opencl(name: str, subtests: pytest.Subtests, monkeypatch: pytest.MonkeyPatch):
    """A sample of the whole table, which takes an hour (docs/tensor.md)."""
    monkeypatch.setenv("TG_DEVICE", DEVICE)
    sweep = Sweep(name, subtests)
    arrays = [numbers((3, 5), "float32", seed) for seed in (1, 2)]
    sweep.add(arrays, "float32", "(3, 5)", gradients=True)
    sweep.run()


@pytest.mark.sampled(32)
@pytest.mark.parametrize("name", METHODS)
def test_dtypes(name: str, subtests: pytest.Subtests):
    sweep = Sweep(name, subtests)
    for dtype in (*list(FLOATS)[1:], *INTEGERS, "bool"):
        arrays = [numbers((3, 5), dtype, seed) for seed in (1, 2)]
        sweep.add(arrays, dtype, dtype, gradients=True)
    sweep.run()


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_edges(name: str, subtests: pytest.Subtests):
    if (reason := DIFFERENT.get((name, "edges"))) is not None:
        pytest.skip(reason)
    pairs = np.array([(a, b) for a in EDGES[:: 1 + 2 * (name == "pow")] for b in EDGES])
    sweep = Sweep(name, subtests)
    for dtype in FLOATS:
        sweep.add([pairs[:, 0], pairs[:, 1]], dtype, f"edges of {dtype}")
    sweep.run()


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_extremes(name: str, subtests: pytest.Subtests):
    sweep = Sweep(name, subtests)
    for dtype in INTEGERS:
        limits = np.iinfo(dtype)
        some = np.array([limits.min, limits.min + 1, 0, 1, 3, 7, limits.max - 1, limits.max], dtype)
        sweep.add(np.meshgrid(some, some), dtype, dtype)
    sweep.run()
