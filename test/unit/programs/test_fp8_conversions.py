"""Conversions between fp8 and every other dtype, on every executor here, against exact rounding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from opencl_device import needs_opencl

import tgdialect as tg
from tgdialect import Tensor, dtypes

FP8 = ("f8E4M3FN", "f8E5M2")
EVERY = list(dict.fromkeys(d.name for d in dtypes.NAMES.values() if d.name != "index"))
Array = np.ndarray[Any, np.dtype[Any]]


def every_value(dtype: str) -> Array:
    kind = dtypes.numpy_of(dtypes.to_dtype(dtype))
    return np.arange(256**kind.itemsize, dtype=f"u{kind.itemsize}").view(kind)


def near_every_boundary(kind: type[Any]) -> Array:
    """The values of both fp8 dtypes, the middles between two, beyond them, and the neighbours of
    each; and numbers of all exponents."""
    values = np.unique(np.concatenate([every_value(name).astype(kind) for name in FP8]))
    values = np.concatenate([values[np.isfinite(values)], [480.0, 512.0, 65536.0, 1e30]])
    points = np.concatenate([values, (values[1:] + values[:-1]) / 2]).astype(kind)
    near = [np.nextafter(points, kind(0)), points, np.nextafter(points, kind(np.inf))]
    bits = np.random.default_rng(0).integers(
        0, 2 ** (8 * points.itemsize), 4000, f"u{points.itemsize}"
    )
    special = np.array([np.inf, np.nan, 0.0, np.finfo(kind).max, np.finfo(kind).tiny], kind)
    found = np.concatenate([*near, special, bits.view(kind)])
    return np.concatenate([found, -found])


def integers(name: str) -> Array:
    info = np.iinfo(name)
    near = [448, 449, 456, 463, 464, 465, 480, 57344, 61439, 61440, 61441, 2**20, 2**62 + 2**54 + 1]
    found = [info.min, info.max, *range(-300, 300), *near, *(-n for n in near)]
    return np.array([n for n in found if info.min <= n <= info.max], name)


SOURCES = [
    *(every_value(name) for name in ("f16", "bf16", *FP8)),
    *(near_every_boundary(kind) for kind in (np.float32, np.float64)),
    *(integers(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)),
    np.array([False, True]),
]


def rounded(x: Array, dtype: str) -> Array:
    """The exact conversion, as the bits of fp8, where NaN is 0x7F."""
    with np.errstate(invalid="ignore"):
        exact = x.astype("f4").astype("g") if x.dtype.itemsize < 4 else x.astype("g")
    every = every_value(dtype)[:128].astype("g")
    values = every[np.isfinite(every)]
    steps = np.append(values, 2 * values[-1] - values[-2])
    middles = (steps[1:] + steps[:-1]) / 2
    low = np.searchsorted(middles, np.abs(exact), "left")
    is_tie = middles[np.minimum(low, len(middles) - 1)] == np.abs(exact)
    bits = np.where(is_tie & (low % 2 == 1), low + 1, low)  # The even one of two neighbours.
    has_infinity = bool(np.isinf(every).any())
    bits = np.minimum(bits, len(values) - (not has_infinity))
    return np.where(np.isnan(exact), 0x7F, bits | np.where(np.signbit(exact), 0x80, 0))


def to_fp8(*sources: Tensor) -> list[Tensor]:
    return [x.cast(name) for x in sources for name in FP8]


def from_fp8(*sources: Tensor) -> list[Tensor]:
    return [x.cast(name) for x in sources for name in EVERY]


def check(sources: Sequence[Array], results: Sequence[Array]) -> None:
    wanted = [(x, name) for x in sources for name in FP8]
    for (x, name), result in zip(wanted, results, strict=True):
        array = np.asarray(result)
        bits = np.where(np.isnan(array), 0x7F, array.view(np.uint8))
        np.testing.assert_array_equal(bits, rounded(x, name), err_msg=f"{x.dtype} to {name}")


TARGETS = ["interpreter", "cpu", "c", pytest.param("opencl", marks=needs_opencl)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("target", TARGETS)
def test_to_fp8(target: str):
    # An OpenCL device has a kernel for each dtype, which takes seconds to compile.
    sources = [SOURCES[i] for i in (0, 4, 12)] if target == "opencl" else SOURCES
    check(sources, tg.compile(to_fp8, *sources, target=target)(*sources))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", TARGETS)
def test_from_fp8(target: str):
    sources = [every_value(name) for name in (FP8[:1] if target == "opencl" else FP8)]
    results = tg.compile(from_fp8, *sources, target=target)(*sources)
    numbers = iter(results)
    for source in sources:
        exact = source.astype("f8")
        for name in EVERY:
            result = next(numbers)
            with np.errstate(invalid="ignore"):
                if name == "i1":
                    expected = exact != 0
                elif name in FP8:
                    expected = rounded(source, name)
                    result = np.where(np.isnan(result), 0x7F, result.view(np.uint8))
                elif result.dtype.kind in "iu":
                    info = np.iinfo(result.dtype)
                    whole = [0 if v != v else max(min(v, info.max), info.min) for v in exact]
                    expected = np.array([int(v) for v in whole], result.dtype)
                else:
                    result, expected = result.astype("f8"), exact.astype(result.dtype).astype("f8")
            np.testing.assert_array_equal(result, expected, err_msg=f"{source.dtype} to {name}")


def test_lists_and_constants():
    numbers = [448.0, 464.0, 465.0, -1e9, np.inf, -np.inf, np.nan]
    expected = [448.0, 448.0, 448.0, -448.0, 448.0, -448.0, np.nan]
    one = Tensor([1.0]).cast("f8E4M3FN")
    made = Tensor(numbers, dtype="f8E4M3FN")
    np.testing.assert_array_equal(made.numpy().astype("f4"), expected)
    assert not made.isinf().numpy().any()
    products = [(one * number).cast("f32").item() for number in numbers]
    np.testing.assert_array_equal(products, expected)
    assert (one * 400 + one * 400).cast("f32").item() == 448
    assert Tensor([1e9]).cast("f8E5M2").isinf().item()
