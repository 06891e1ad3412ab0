"""Every method against PyTorch, over dtypes, shapes and edge values, with gradients."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parity import EDGES, listed, torch
from parity_table import ELEMENTWISE, METHODS

import tgdialect as tg

pytestmark = pytest.mark.parity

SHAPES = [(), (0,), (1,), (7,), (3, 0), (0, 3), (3, 5), (2, 3, 4), (3, 1, 5), (2, 1, 3, 4)]
FLOATS = {"float32": 3e-6, "float64": 1e-6, "float16": 5e-3, "bfloat16": 4e-2}
"""Float dtypes, and what is tolerated."""
INTEGERS = ("int8", "uint8", "int16", "int32", "int64")

DIFFERENT = {
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


def array_of(tensor: Any) -> np.ndarray:
    """Of a result of either library; numbers and bools are results as well."""
    if isinstance(tensor, bool | int):
        return np.array(tensor)
    if isinstance(tensor, tg.Tensor):
        return (tensor.double() if tensor.dtype.is_float else tensor).numpy()
    return (tensor.detach().double() if tensor.is_floating_point() else tensor).numpy()


def compare(name: str, arrays: list[np.ndarray], dtype: str, *, gradients: bool) -> None:
    ours, theirs = METHODS[name]
    wants_gradient = gradients and dtype in FLOATS
    theirs_of = [torch.tensor(a).to(getattr(torch, dtype)) for a in arrays]
    theirs_of = [t.requires_grad_(wants_gradient) for t in theirs_of]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = [(e, array_of(e)) for e in listed(theirs(*theirs_of))]
    except (RuntimeError, IndexError, ValueError, TypeError):
        return  # PyTorch has it not for this dtype or shape.
    mine = [tg.Tensor(a).cast(dtype).realize() for a in arrays]
    mine = [t.requires_grad_() if wants_gradient else t for t in mine]
    found = listed(ours(*mine))
    assert len(found) == len(expected)
    tolerance = FLOATS.get(dtype, 3e-6)
    for result, (_, wanted) in zip(found, expected, strict=True):
        got = array_of(result)
        assert got.shape == wanted.shape
        is_exact = got.dtype.kind != "f" and wanted.dtype.kind != "f"
        if is_exact:
            np.testing.assert_array_equal(got, wanted)
        else:
            np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)
    pairs = [
        (result, e)
        for result, (e, _) in zip(found, expected, strict=True)
        if isinstance(e, torch.Tensor) and e.requires_grad
    ]
    if not pairs:
        return
    total: Any = 0
    reference: Any = 0
    for result, e in pairs:
        weight = np.linspace(0.5, 1.5, e.numel()).reshape(tuple(e.shape))
        total = total + (result.double() * tg.Tensor(weight, "float64")).sum()
        reference = reference + (e.double() * torch.tensor(weight)).sum()
    try:
        reference.backward()
    except RuntimeError:
        return  # PyTorch has no gradient of it.
    total.backward()
    for t, other in zip(mine, theirs_of, strict=True):
        if other.grad is not None and t.numel():
            assert t.grad is not None
            np.testing.assert_allclose(
                array_of(t.grad),
                array_of(other.grad),
                rtol=50 * tolerance,
                atol=50 * tolerance,
                err_msg="gradient",
            )


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", METHODS)
def test_shapes(name: str, shape: tuple[int, ...]):
    if (name, shape) == ("cross_entropy", (3, 0)):
        return  # The mean of losses without classes, which PyTorch calls NaN.
    compare(name, [numbers(shape, "float32", s) for s in (1, 2)], "float32", gradients=True)


@pytest.mark.parametrize("dtype", [*list(FLOATS)[1:], *INTEGERS, "bool"])
@pytest.mark.parametrize("name", METHODS)
def test_dtypes(name: str, dtype: str):
    if (name, dtype) not in DIFFERENT and not (
        (name, "integers") in DIFFERENT and dtype in INTEGERS
    ):
        compare(name, [numbers((3, 5), dtype, s) for s in (1, 2)], dtype, gradients=True)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_edges(name: str, dtype: str):
    if (name, "edges") not in DIFFERENT:
        pairs = np.array([(a, b) for a in EDGES[:: 1 + 2 * (name == "pow")] for b in EDGES])
        compare(name, [pairs[:, 0], pairs[:, 1]], dtype, gradients=False)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_extremes(name: str, dtype: str):
    if (name, "integers") in DIFFERENT or (name, dtype) in DIFFERENT:
        return
    limits = np.iinfo(dtype)
    some = np.array([limits.min, limits.min + 1, 0, 1, 3, 7, limits.max - 1, limits.max], dtype)
    x, y = np.meshgrid(some, some)
    compare(name, [x, y], dtype, gradients=False)


ELSEWHERE = {
    "test_nn.py": ["batchnorm"],
    "test_symbolic_sizes.py": ["T", "max_numel", "max_shape"],
    "test_tensor.py": [
        *("assign", "backward", "data", "grad", "gradient", "item", "numpy", "realize", "replace"),
        *("requires_grad", "tolist", "empty", "empty_like", "sequential"),
    ],
    "test_tensor_linear_algebra.py": ["conv_transpose2d"],
    "test_tensor_movement.py": [
        *("arange", "eye", "full", "linspace", "ones", "pad_to", "shrink", "shrink_to", "zeros"),
    ],
    "test_tensor_neural.py": ["sparse_categorical_crossentropy"],
    "test_tensor_operators.py": [
        "bitcast",
        "cast",
        "contiguous_backward",
        "dtype",
        "ndim",
        "shape",
    ],
    "test_tensor_random.py": [
        *(
            "dropout",
            "glorot_uniform",
            "kaiming_normal",
            "kaiming_uniform",
            "manual_seed",
            "multinomial",
        ),
        *("normal", "rand", "rand_like", "randint", "randn", "randn_like", "randperm"),
        *("scaled_uniform", "threefry", "uniform"),
    ],
    "test_tensor_parity.py": ["requires_grad_"],
    "test_training.py": ["train"],
}
"""Methods that are compared in another way."""
INTERNAL = {"adopt", "node", "of_node", "training"}


def test_every_method_is_compared():
    table = (Path(__file__).parent / "parity_table.py").read_text()
    for name in dir(tg.Tensor):
        if name.startswith("_") or name in INTERNAL:
            continue
        home = next((file for file, names in ELSEWHERE.items() if name in names), None)
        text = table if home is None else (Path(__file__).parent / home).read_text()
        assert re.search(rf"\b{name}\b", text), f"{name} is not compared in {home or 'the table'}"
