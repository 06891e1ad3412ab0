"""Quantised operators on random operands, of symbolic sizes, against ONNX Runtime: bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ml_dtypes
import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import ModelProto, TensorProto, helper
from onnx.reference import ReferenceEvaluator
from single_node import compare, model_of

SIZES = 3
"""The sizes that each program is run on."""
TYPES: Mapping[str, Any] = {
    "int8": np.int8,
    "uint8": np.uint8,
    "int16": np.int16,
    "uint16": np.uint16,
    "int4": ml_dtypes.int4,
    "uint4": ml_dtypes.uint4,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
}


def _reference(model: ModelProto) -> Callable[[Mapping[str, Any]], Any]:
    evaluator = ReferenceEvaluator(model)
    return lambda feed: evaluator.run(None, dict(feed))


def _values(rng: np.random.Generator, dtype: Any, *shape: int) -> np.ndarray:
    if "float8" in np.dtype(dtype).name:
        return rng.uniform(-9, 9, shape).astype(np.float32).astype(dtype)
    limits = ml_dtypes.iinfo(dtype)
    return rng.integers(int(limits.min), int(limits.max) + 1, shape).astype(np.int32).astype(dtype)


def _scales(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.uniform(0.01, 0.2, shape).astype(np.float32)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("how", ["tensor", "axis", "blocks"])
@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("op", ["QuantizeLinear", "DequantizeLinear"])
def test_scaling(op: str, name: str, how: str):
    """Ties are rounded to even numbers, which scales of powers of two have many of."""
    rng = np.random.default_rng([*op.encode(), *name.encode(), *how.encode()])
    dtype = TYPES[name]
    is_float = name.startswith("e")
    shape = {"tensor": (), "axis": (6,), "blocks": (6, 3)}[how]
    scale, zero = _scales(rng, *shape), _values(rng, dtype, *shape)
    if how == "tensor":
        scale = np.float32(0.25)
    zero = zero * np.asarray(0, dtype) if is_float else zero
    attributes: dict[str, Any] = {} if how == "tensor" else {"axis": -1 if how == "blocks" else 1}
    if how == "blocks":
        attributes["block_size"] = 4
    feeds = []
    for _ in range(SIZES):
        rows = int(rng.integers(2, 9))
        x_shape = (6, 12) if how == "blocks" else (rows, 6)
        if op == "QuantizeLinear":
            spread = 4 if is_float else int(ml_dtypes.iinfo(dtype).max) * 1.2
            x = (np.round(rng.uniform(-spread, spread, x_shape) * 8) / 8 * 0.25).astype(np.float32)
        else:
            x = _values(rng, dtype, *x_shape)
        feeds.append({"x0": x})
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    model = model_of(
        op,
        [feeds[0]["x0"], np.asarray(scale), np.asarray(zero)],
        [(kind if op == "QuantizeLinear" else TensorProto.FLOAT, 2)],
        opset=21 if how == "blocks" or "16" in name or "4" in name else 19,
        constant=(1, 2),
        symbolic={} if how == "blocks" else {0: "n _"},
        **attributes,
    )
    # Python has no arrays of four bits from ONNX Runtime, nor of eight that are floats.
    has_arrays = not is_float and not name.endswith("4")
    compare(model, feeds, rtol=0, atol=0, wanted=None if has_arrays else _reference(model))


@pytest.mark.parametrize("seed", range(4))
def test_dynamic_scaling(seed: int):
    rng = np.random.default_rng([seed, 1])
    offset = float(rng.uniform(-3, 3))
    feeds = [
        {"x0": (rng.standard_normal((int(n), 7)) + offset).astype(np.float32)}
        for n in rng.integers(2, 9, SIZES)
    ]
    feeds.append({"x0": np.zeros((3, 7), np.float32)})
    results = [(TensorProto.UINT8, 2), (TensorProto.FLOAT, 0), (TensorProto.UINT8, 0)]
    compare(model_of("DynamicQuantizeLinear", [feeds[0]["x0"]], results), feeds, rtol=0, atol=0)


def _weights(rng: np.random.Generator, dtype: Any, *shape: int) -> np.ndarray:
    """Signed ones have seven bits: without VNNI, ONNX Runtime adds two products with u8 in 16 bits,
    which saturate."""
    return _values(rng, dtype, *shape) // (2 if dtype == np.int8 else 1)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("signed", [(False, False), (False, True), (True, True)])
@pytest.mark.parametrize("zero_points", ["none", "scalars", "axes"])
def test_products(signed: tuple[bool, bool], zero_points: str):
    rng = np.random.default_rng(2)
    a_type, b_type = (np.int8 if s else np.uint8 for s in signed)
    b = _weights(rng, b_type, 24, 5)
    zeros: list[Any] = [None, None]
    if zero_points != "none":
        zeros = [
            _values(rng, a_type),
            _values(rng, b_type, *([5] if zero_points == "axes" else [])),
        ]
    feeds = [{"x0": _values(rng, a_type, 2, int(n), 24)} for n in rng.integers(2, 9, SIZES)]
    operands = [feeds[0]["x0"], b, *zeros]
    model = model_of(
        "MatMulInteger",
        operands,
        [(TensorProto.INT32, 3)],
        constant=(1, 2, 3),
        symbolic={0: "_ n _"},
    )
    compare(model, feeds)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(12))
def test_scaled_products(seed: int):
    rng = np.random.default_rng([seed, 3])
    is_signed, is_each = bool(rng.integers(2)), bool(rng.integers(2))
    dtype = np.int8 if is_signed else np.uint8
    columns = (5,) if is_each else ()
    b = [_values(rng, dtype, 24, 5), _scales(rng, *columns), _values(rng, dtype, *columns)]
    y = [np.float32(rng.uniform(0.5, 3)), _values(rng, dtype)]
    feeds = [{"x0": _values(rng, dtype, int(n), 24)} for n in rng.integers(2, 9, SIZES)]
    a = [feeds[0]["x0"], _scales(rng), _values(rng, dtype)]
    operands = [np.asarray(x) for x in (*a, *b, *y)]
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    model = model_of(
        "QLinearMatMul",
        operands,
        [(kind, 2)],
        constant=range(1, 8),
        symbolic={0: "n _"},
    )
    compare(model, feeds)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(16))
def test_convolutions(seed: int):
    rng = np.random.default_rng([seed, 4])
    is_scaled, group = bool(rng.integers(2)), int(rng.integers(1, 3))
    x_type, w_type = np.uint8, np.int8 if rng.integers(2) else np.uint8
    w = _weights(rng, w_type, 2 * group, 3, 3, 2)
    attributes = {
        "group": group,
        "kernel_shape": [3, 2],
        "pads": [int(p) for p in rng.integers(0, 2, 4)],
        "strides": [int(s) for s in rng.integers(1, 3, 2)],
    }
    feeds = []
    for _ in range(SIZES):
        height, width = rng.integers(5, 11, 2)
        feeds.append({"x0": _values(rng, x_type, 2, 3 * group, int(height), int(width))})
    x, x_zero, w_zero = feeds[0]["x0"], _values(rng, x_type), _values(rng, w_type)
    if is_scaled:
        w_zero = np.zeros(2 * group, w_type) if w_type == np.int8 else w_zero
        w_scale = _scales(rng, *w_zero.shape)
        bias = rng.integers(-3000, 3000, 2 * group).astype(np.int32)
        operands = [
            x,
            _scales(rng),
            x_zero,
            w,
            w_scale,
            w_zero,
            np.float32(3),
            _values(rng, x_type),
        ]
        operands.append(bias)
    else:
        operands = [x, w, x_zero, w_zero]
    model = model_of(
        "QLinearConv" if is_scaled else "ConvInteger",
        [np.asarray(o) for o in operands],
        [(TensorProto.UINT8 if is_scaled else TensorProto.INT32, 4)],
        constant=range(1, 9),
        symbolic={0: "_ _ h w"},
        **attributes,
    )
    compare(model, feeds)
