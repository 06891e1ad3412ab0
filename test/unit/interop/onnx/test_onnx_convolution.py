"""Convolutions and pools on random windows, of symbolic sizes, against ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import TensorProto
from single_node import compare, model_of

SIZES = 3
"""The sizes that each program is run on."""


def _window(rng: np.random.Generator, n: int, *, dilated: bool = True) -> dict[str, Any]:
    """Attributes of a random window over n axes."""
    kernel = [int(k) for k in rng.integers(1, 4, n)]
    found: dict[str, Any] = {"kernel_shape": kernel}
    if rng.random() < 0.8:
        found["strides"] = [int(s) for s in rng.integers(1, 4, n)]
    dilations = [int(d) for d in rng.integers(1, 3, n)]
    if dilated and rng.random() < 0.5:
        found["dilations"] = dilations
    match rng.integers(4):
        case 0:
            # ONNX Runtime refuses dilations, or ignores them, and strides longer than windows have
            # negative padding in some operators.
            found["auto_pad"] = str(rng.choice(["SAME_UPPER", "SAME_LOWER"]))
            found.pop("dilations", None)
            found["strides"] = [int(rng.integers(1, k + 1)) for k in kernel]
        case 1:
            found["auto_pad"] = "VALID"
        case 2:
            # Less padding than cells of a window.
            found["pads"] = [int(rng.integers(0, k)) for k in (*kernel, *kernel)]
        case _:
            pass
    return found


def _shape(rng: np.random.Generator, lead: tuple[int, ...], n: int) -> tuple[int, ...]:
    return (*lead, *(int(e) for e in rng.integers(7, 15, n)))


def _sizes(n: int) -> dict[int, str]:
    """Two of n axes behind batch and channels are symbolic."""
    return {0: " ".join(["_", "_", "h", "w", "_"][: 2 + n])}


def _floats(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(40))
def test_convolutions(seed: int):
    rng = np.random.default_rng([seed, 1])
    n, group = int(rng.integers(1, 4)), int(rng.integers(1, 3))
    attributes = _window(rng, n)
    inside, out = int(rng.integers(1, 4)), int(rng.integers(1, 3)) * group
    w = _floats(rng, (out, inside, *attributes["kernel_shape"]))
    b = _floats(rng, (out,)) if rng.random() < 0.5 else None
    feeds = []
    for _ in range(SIZES):
        x = _floats(rng, _shape(rng, (2, group * inside), n)[:4] + (9,) * (n - 2))
        feeds.append({"x0": x})
    model = model_of(
        "Conv",
        [feeds[0]["x0"], w, b],
        [(TensorProto.FLOAT, n + 2)],
        constant=(1, 2),
        symbolic=_sizes(n),
        group=group,
        **attributes,
    )
    compare(model, feeds, atol=1e-5)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(40))
def test_transposed_convolutions(seed: int):
    rng = np.random.default_rng([seed, 2])
    n, group = int(rng.integers(1, 3)), int(rng.integers(1, 3))
    attributes = _window(rng, n)
    strides = attributes.get("strides", [1] * n)
    inside, out = int(rng.integers(1, 4)) * group, int(rng.integers(1, 3))
    w = _floats(rng, (inside, out, *attributes["kernel_shape"]))
    b = _floats(rng, (out * group,)) if rng.random() < 0.5 else None
    shape = _shape(rng, (2, inside), n)
    is_fixed = False
    match rng.integers(4):
        case 0:
            attributes["output_padding"] = [int(rng.integers(0, s)) for s in strides]
        case 1:
            # Sizes up to those that have no padding.
            is_fixed = True
            dilations = attributes.get("dilations", [1] * n)
            rows = zip(shape[2:], attributes["kernel_shape"], strides, dilations, strict=True)
            attributes["output_shape"] = [
                (e - 1) * s + d * (k - 1) + 1 - int(rng.integers(0, k)) for e, k, s, d in rows
            ]
            attributes.pop("pads", None)
        case _:
            pass
    feeds = [{"x0": _floats(rng, shape)}]
    if not is_fixed:
        feeds += [{"x0": _floats(rng, _shape(rng, (2, inside), n))} for _ in range(SIZES - 1)]
    model = model_of(
        "ConvTranspose",
        [feeds[0]["x0"], w, b],
        [(TensorProto.FLOAT, n + 2)],
        constant=(1, 2),
        symbolic={} if is_fixed else _sizes(n),
        group=group,
        **attributes,
    )
    compare(model, feeds, atol=1e-5)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
def test_pools(op: str, seed: int):
    rng = np.random.default_rng([seed, 3])
    n = int(rng.integers(1, 4))
    attributes = _window(rng, n)
    if rng.random() < 0.4:
        attributes["ceil_mode"] = 1
    if op == "AveragePool":
        attributes["count_include_pad"] = int(rng.integers(0, 2))
    results: list[Any] = [(TensorProto.FLOAT, n + 2)]
    if op == "MaxPool" and rng.random() < 0.5:
        attributes["storage_order"] = int(rng.integers(0, 2))
        results.append((TensorProto.INT64, n + 2))
    if op == "LpPool":
        attributes["p"] = int(rng.integers(1, 4))
    feeds = [
        {"x0": _floats(rng, _shape(rng, (2, 3), n)[:4] + (9,) * (n - 2))} for _ in range(SIZES)
    ]
    symbolic = _sizes(n)
    model = model_of(op, [feeds[0]["x0"]], results, symbolic=symbolic, **attributes)
    compare(model, feeds, atol=1e-5)


@pytest.mark.parametrize("op", ["GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"])
def test_global_pools(op: str):
    rng = np.random.default_rng(4)
    feeds = [{"x0": _floats(rng, _shape(rng, (2, 3), 2))} for _ in range(SIZES)]
    attributes = {"p": 3} if op == "GlobalLpPool" else {}
    compare(model_of(op, [feeds[0]["x0"]], [(TensorProto.FLOAT, 4)], **attributes), feeds)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(8))
def test_pools_of_regions(seed: int):
    rng = np.random.default_rng([seed, 5])
    x = _floats(rng, (2, 3, 12, 9))
    count = int(rng.integers(1, 5))
    corners = np.sort(rng.uniform(-3, 30, (count, 2, 2)), axis=1).reshape(count, 4)
    rois = np.concatenate([rng.integers(0, 2, (count, 1)), corners], 1).astype(np.float32)
    attributes = {"pooled_shape": [int(p) for p in rng.integers(1, 5, 2)], "spatial_scale": 0.5}
    symbolic = {0: "_ _ h w", 1: "n _"}
    results = [(TensorProto.FLOAT, 4)]
    model = model_of("MaxRoiPool", [x, rois], results, symbolic=symbolic, **attributes)
    compare(model, [{"x0": x, "x1": rois}])
