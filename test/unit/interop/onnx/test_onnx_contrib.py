"""Operators of com.microsoft on random operands, of symbolic sizes, against ONNX Runtime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import TensorProto, helper
from single_node import MICROSOFT, compare, model_of

F32, I32, U8, I8 = TensorProto.FLOAT, TensorProto.INT32, TensorProto.UINT8, TensorProto.INT8

SIZES = 2
"""The sizes that each program is run on."""


@dataclass
class Case:
    """Operands for sizes, of which the first ones are symbolic."""

    op: str
    operands: Callable[[np.random.Generator], Sequence[Any]]
    results: Sequence[Any]
    attributes: dict[str, Any] = field(default_factory=dict)
    symbolic: dict[int, str] = field(default_factory=dict)
    constant: Sequence[int] = ()
    rtol: float = 2e-5
    atol: float = 2e-5
    step: int = 0
    """By how much integers may differ: ONNX Runtime approximates some functions."""
    domain: str = MICROSOFT
    compared: int = 4
    """The number of results that are compared: not those that are anything in some places."""


def f(rng: np.random.Generator, *shape: int, scale: float = 1.0) -> np.ndarray:
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def s(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Scales."""
    return rng.uniform(0.01, 0.1, shape).astype(np.float32)


def u8(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.integers(0, 256, shape).astype(np.uint8)


def i8(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Of seven bits: without VNNI, ONNX Runtime adds two products with u8 in 16 bits, which
    saturate."""
    return rng.integers(-64, 64, shape).astype(np.int8)


def n(rng: np.random.Generator) -> int:
    return int(rng.integers(2, 7))


def _conv(rng: np.random.Generator, rest: Sequence[Any] = ()) -> list[Any]:
    return [f(rng, n(rng), 3, 8, 7), f(rng, 4, 3, 3, 3), f(rng, 4), *rest]


def _fused_sum(rng: np.random.Generator) -> list[Any]:
    batch = n(rng)
    return [f(rng, batch, 3, 8, 7), f(rng, 4, 3, 3, 3), f(rng, 4), f(rng, batch, 4, 6, 5)]


def _quantized(count: int, type_: Any = u8) -> Callable[[np.random.Generator], list[Any]]:
    def make(rng: np.random.Generator) -> list[Any]:
        shape = (n(rng), 5)
        found: list[Any] = []
        for _ in range(count):
            found += [type_(rng, *shape), s(rng), type_(rng)]
        return [*found, s(rng), type_(rng)]

    return make


def _unary(rng: np.random.Generator) -> list[Any]:
    return [u8(rng, n(rng), 5), s(rng), u8(rng), np.float32(1 / 256), np.uint8(3)]


def _image(rng: np.random.Generator) -> list[Any]:
    return [u8(rng, n(rng), 3, 8, 7), s(rng), u8(rng), s(rng), u8(rng)]


def _skip(simple: bool) -> Callable[[np.random.Generator], list[Any]]:
    def make(rng: np.random.Generator) -> list[Any]:
        batch, places = n(rng), n(rng)
        x, skip = f(rng, batch, places, 8), f(rng, batch, places, 8)
        return [x, skip, f(rng, 8), *([] if simple else [f(rng, 8)]), f(rng, 8)]

    return make


def _heads(rng: np.random.Generator, past: bool, mask: str = "") -> list[Any]:
    """query, key, value, bias, mask, attention_bias, past_key, past_value"""
    batch, q, k = n(rng), n(rng), n(rng)
    before = n(rng) if past else 0
    total = before + k
    masks: dict[str, Any] = {
        "": None,
        "lengths": rng.integers(1, total + 1, batch).astype(np.int32),
        "keys": np.maximum(rng.integers(0, 2, (batch, total)), np.arange(total) == 0).astype(
            np.int32
        ),
        "queries": np.maximum(rng.integers(0, 2, (batch, q, total)), np.arange(total) == 0).astype(
            np.int32
        ),
    }
    pasts = [f(rng, batch, 2, before, 4) for _ in range(2)] if past else [None, None]
    return [
        *(f(rng, batch, count, 8) for count in (q, k, k)),
        f(rng, 24),
        masks[mask],
        f(rng, 1, 2, q, total),
        *pasts,
    ]


def _decoder(rng: np.random.Generator) -> list[Any]:
    batch, before = n(rng), n(rng)
    operands = [f(rng, batch, 1, 8) for _ in range(3)]
    mask = np.maximum(rng.integers(0, 2, (batch, before + 1)), np.arange(before + 1) == 0)
    pasts = [f(rng, batch, 2, before + 3, 4) for _ in range(2)]
    count = np.array([before], np.int32)
    return [*operands, mask.astype(np.int32), None, *pasts, count, None, None, f(rng, 24)]


def _self(mask: str, past: bool = False) -> Callable[[np.random.Generator], list[Any]]:
    def make(rng: np.random.Generator) -> list[Any]:
        batch, places, before = n(rng), n(rng), n(rng) if past else 0
        total = places + before
        masks: dict[str, Any] = {
            "": None,
            "lengths": rng.integers(1, total + 1, batch).astype(np.int32),
            "ends": np.concatenate(
                [rng.integers(total // 2 + 1, total + 1, batch), rng.integers(0, 2, batch)]
            ).astype(np.int32),
            "keys": np.maximum(rng.integers(0, 2, (batch, total)), np.arange(total) == 0).astype(
                np.int32
            ),
            "queries": rng.integers(0, 2, (batch, places, total)).astype(np.int32),
        }
        found = [f(rng, batch, places, 6), f(rng, 6, 24), f(rng, 24), masks[mask]]
        return [*found, f(rng, 2, batch, 2, before, 4)] if past else found

    return make


def _quantized_self(rng: np.random.Generator) -> list[Any]:
    batch, places = n(rng), n(rng)
    lengths = rng.integers(1, places + 1, batch).astype(np.int32)
    x, w = u8(rng, batch, places, 6), i8(rng, 6, 24)
    return [x, w, f(rng, 24), s(rng) / 10, s(rng) / 10, lengths, u8(rng), np.int8(0)]


def _grouped(
    past: bool, rotary: bool, packed: bool = False, shared: bool = False, ragged: bool = False
) -> Callable[[np.random.Generator], list[Any]]:
    def make(rng: np.random.Generator) -> list[Any]:
        batch, new = n(rng), 1 if past else n(rng)
        before = (4 if shared else n(rng)) if past else 0
        total = before + new
        size = 16
        q, k, v = f(rng, batch, new, 4 * size), *(f(rng, batch, new, 2 * size) for _ in range(2))
        lengths = np.full(batch, total - 1, np.int32)
        if ragged:
            lengths = rng.integers(new, total, batch).astype(np.int32)
            lengths[0] = total - 1
        space = before + new + 2 if shared else before
        pasts = [f(rng, batch, 2, space, size) for _ in range(2)]
        angles = rng.uniform(0, 3, (20, size // 2))
        found: list[Any] = [np.concatenate([q, k, v], -1), None, None] if packed else [q, k, v]
        found += pasts if past else [None, None]
        found += [lengths, np.array(total, np.int32)]
        if rotary:
            found += [np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)]
        return found

    return make


def _nbits(
    bits: int, zero: str = "", bias: bool = False
) -> Callable[[np.random.Generator], list[Any]]:
    def make(rng: np.random.Generator) -> list[Any]:
        k, columns, block = 40, 6, 16
        blocks = -(-k // block)
        found: list[Any] = [
            f(rng, n(rng), n(rng), k),
            u8(rng, columns, blocks, block * bits // 8),
            s(rng, columns, blocks),
        ]
        packed = u8(rng, columns, -(-blocks * bits // 8))
        floats = rng.uniform(0, 1 << bits, (columns, blocks)).astype(np.float32)
        found.append({"": None, "packed": packed, "floats": floats}[zero])
        return [*found, None, f(rng, columns)] if bias else found

    return make


def _bnb(rng: np.random.Generator) -> list[Any]:
    return [f(rng, n(rng), 32), u8(rng, 32 * 6 // 2), s(rng, 32 * 6 // 16)]


def _embed(rng: np.random.Generator) -> list[Any]:
    batch, places = n(rng), n(rng)
    ids = [rng.integers(0, count, (batch, places)).astype(np.int32) for count in (9, 2)]
    tables = [f(rng, count, 8) for count in (9, 8, 2)]
    mask = (np.arange(places) < rng.integers(1, places + 1, (batch, 1))).astype(np.int32)
    return [*ids, *tables, f(rng, 8), f(rng, 8), mask]


def _rotary(rng: np.random.Generator) -> list[Any]:
    batch, places = n(rng), n(rng)
    angles = rng.uniform(0, 3, (9, 4))
    ids = rng.integers(0, 9, (batch, places)).astype(np.int64)
    caches = [np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)]
    return [f(rng, batch, places, 16), ids, *caches]


def _crops(rng: np.random.Generator) -> list[Any]:
    rois = np.sort(rng.uniform(-0.2, 1.2, (5, 2, 2)), axis=1).reshape(5, 4).astype(np.float32)
    indices = rng.integers(0, 2, 5).astype(np.int32)
    return [f(rng, 2, 3, 9, 8), rois, indices, np.array([4, 5], np.int32)]


def _concat(rng: np.random.Generator) -> list[Any]:
    rows = n(rng)
    parts = [[u8(rng, rows, count), s(rng), u8(rng)] for count in (2, 3)]
    return [s(rng), u8(rng), *parts[0], *parts[1]]


def _where(rng: np.random.Generator) -> list[Any]:
    rows = n(rng)
    parts = [[u8(rng, rows, 5), s(rng), u8(rng)] for _ in range(2)]
    return [rng.integers(0, 2, (rows, 5)).astype(bool), *parts[0], *parts[1], s(rng), u8(rng)]


def _gemm(quantized: bool, trans: bool) -> Callable[[np.random.Generator], list[Any]]:
    def make(rng: np.random.Generator) -> list[Any]:
        b = i8(rng, 6, 8) if trans else i8(rng, 8, 6)
        found = [u8(rng, n(rng), 8), s(rng), u8(rng), b, s(rng, 6), np.zeros(6, np.int8)]
        found.append(rng.integers(-500, 500, 6).astype(np.int32))
        return [*found, np.float32(2.0), u8(rng)] if quantized else found

    return make


def _to_float(rng: np.random.Generator) -> list[Any]:
    operands = [u8(rng, n(rng), n(rng), 8), i8(rng, 8, 6), s(rng), s(rng, 6)]
    return [*operands, u8(rng), np.zeros(6, np.int8), f(rng, 6)]


def _dynamic(rng: np.random.Generator) -> list[Any]:
    return [f(rng, n(rng), n(rng), 8), i8(rng, 8, 6), s(rng), np.int8(2), f(rng, 6)]


def _lstm(rng: np.random.Generator) -> list[Any]:
    states = [f(rng, 1, 3, 4), f(rng, 1, 3, 4), None]
    weights = [i8(rng, 1, 6, 16), i8(rng, 1, 4, 16), f(rng, 1, 32), None, *states]
    each = [np.full(1, 0.005, np.float32), np.zeros(1, np.int8)]
    return [f(rng, 5, 3, 6), *weights, *each, *each]


def _causal(rng: np.random.Generator) -> list[Any]:
    return [f(rng, 2, 3, n(rng) + 3), f(rng, 3, 1, 4), f(rng, 3), f(rng, 2, 3, 3)]


def _q_conv(rng: np.random.Generator) -> list[Any]:
    weights = [i8(rng, 4, 3, 3, 3), s(rng, 4), np.zeros(4, np.int8)]
    rest = [np.float32(2.0), u8(rng), rng.integers(-500, 500, 4).astype(np.int32)]
    return [u8(rng, n(rng), 8, 7, 3), s(rng), u8(rng), *weights, *rest]


def _gather(type_: str) -> Callable[[np.random.Generator], list[Any]]:
    def make(rng: np.random.Generator) -> list[Any]:
        rows, indices = 7, rng.integers(0, 7, (2, n(rng))).astype(np.int64)
        data = u8(rng, rows, 32 // (2 if type_ != "bytes" else 1))
        zero = u8(rng, rows, 1 if type_ != "bytes" else 2)
        return [data, indices, s(rng, rows, 2), *([zero] if "zero" in type_ else [])]

    return make


LAST = {0: "n m _"}
ROWS, IMAGES = {0: "n _"}, {0: "n _ _ _"}
WINDOW = {"kernel_shape": [3, 3]}

CASES: dict[str, Case] = {
    "BiasGelu": Case("BiasGelu", lambda r: [f(r, n(r), 8), f(r, 8)], [(F32, 2)], {}, ROWS, (1,)),
    "CDist": Case(
        "CDist", lambda r: [f(r, n(r), 4), f(r, n(r), 4)], [(F32, 2)], {}, {0: "n _", 1: "m _"}
    ),
    "CDist-euclidean": Case(
        "CDist",
        lambda r: [f(r, n(r), 4), f(r, n(r), 4)],
        [(F32, 2)],
        {"metric": "euclidean"},
        {0: "n _", 1: "m _"},
    ),
    "CausalConvWithState": Case(
        "CausalConvWithState", _causal, [(F32, 3), (F32, 3)], {"activation": "silu"}, {0: "_ _ n"}
    ),
    "DecoderMaskedMultiHeadAttention": Case(
        "DecoderMaskedMultiHeadAttention",
        _decoder,
        [(F32, 3), (F32, 4), (F32, 4)],
        {"num_heads": 2, "past_present_share_buffer": 1},
        {**dict.fromkeys((0, 1, 2), "n _ _"), 3: "n t", 5: "n _ p _", 6: "n _ p _"},
        (10,),
        compared=1,
    ),
    "DynamicQuantizeLSTM": Case(
        "DynamicQuantizeLSTM",
        _lstm,
        [(F32, 4), (F32, 3), (F32, 3)],
        {"hidden_size": 4},
        {3: "_ _"},
        range(1, 12),
        # States may be quantised in several parts.
        atol=2e-2,
    ),
    "ExpandDims": Case(
        "ExpandDims", lambda r: [f(r, n(r), 3), np.array(1, np.int32)], [(F32, 3)], {}, ROWS, (1,)
    ),
    "GatherND": Case(
        "GatherND",
        lambda r: [f(r, 4, 5, 3), r.integers(0, 4, (n(r), 2)).astype(np.int64)],
        [(F32, 2)],
        {},
        {1: "n _"},
    ),
    "GridSample": Case(
        "GridSample",
        lambda r: [f(r, 2, 3, n(r), 5), r.uniform(-1.2, 1.2, (2, 4, 3, 2)).astype(np.float32)],
        [(F32, 4)],
        {},
        {0: "_ _ n _"},
    ),
    "Pad": Case(
        "Pad",
        lambda r: [f(r, n(r), 3), np.array([1, 0, 2, 1]), np.array([2.5], np.float32)],
        [(F32, 2)],
        {},
        ROWS,
        (1, 2),
    ),
    "Range": Case(
        "Range",
        lambda r: [np.array(v, np.float32) for v in (1, 6.5, 0.5)],
        [(F32, 1)],
        {},
        {},
        (0, 1, 2),
    ),
    "Trilu": Case("Trilu", lambda r: [f(r, n(r), 4)], [(F32, 2)], {"upper": 0}, ROWS),
    "CropAndResize": Case(
        "CropAndResize",
        _crops,
        [(F32, 4)],
        {"extrapolation_value": 2.5},
        {0: "_ _ h w", 1: "r _", 2: "r"},
        (3,),
    ),
    "DynamicQuantizeMatMul": Case(
        "DynamicQuantizeMatMul", _dynamic, [(F32, 3)], {}, LAST, (1, 2, 3, 4)
    ),
    "EmbedLayerNormalization": Case(
        "EmbedLayerNormalization",
        _embed,
        [(F32, 3), (I32, 1)],
        {"epsilon": 1e-5},
        {0: "n s", 1: "n s", 7: "n s"},
        (2, 3, 4, 5, 6),
    ),
    "FastGelu": Case("FastGelu", lambda r: [f(r, n(r), 8), f(r, 8)], [(F32, 2)], {}, ROWS, (1,)),
    "FusedConv": Case(
        "FusedConv", _conv, [(F32, 4)], {**WINDOW, "activation": "Relu"}, IMAGES, (1, 2)
    ),
    "FusedConv-leaky": Case(
        "FusedConv",
        _conv,
        [(F32, 4)],
        {**WINDOW, "activation": "LeakyRelu", "activation_params": [0.3]},
        IMAGES,
        (1, 2),
    ),
    "FusedConv-sum": Case(
        "FusedConv",
        _fused_sum,
        [(F32, 4)],
        {**WINDOW, "activation": "Clip", "activation_params": [-0.5, 3.0]},
        {0: "n _ _ _", 3: "n _ _ _"},
        (1, 2),
    ),
    "FusedGemm": Case(
        "FusedGemm",
        lambda r: [f(r, n(r), 8), f(r, 6, 8), f(r, 6)],
        [(F32, 2)],
        {"activation": "Relu", "alpha": 0.5, "transB": 1},
        ROWS,
        (1, 2),
    ),
    "FusedMatMul": Case(
        "FusedMatMul",
        lambda r: [f(r, 2, 8, n(r)), f(r, 2, 6, 8)],
        [(F32, 3)],
        {"transA": 1, "transB": 1, "alpha": 0.3},
        {0: "_ _ n"},
        (1,),
    ),
    "FusedMatMul-batch": Case(
        "FusedMatMul",
        lambda r: [f(r, 5, 2, 3, 8), f(r, 6, 2, 3, 8)],
        [(F32, 4)],
        {"transBatchA": 1, "transBatchB": 1, "transB": 1},
        {2: ""},
    ),
    "GatherBlockQuantized": Case(
        "GatherBlockQuantized",
        _gather("nibbles"),
        [(F32, 3)],
        {"block_size": 16},
        {1: "_ n"},
        (0, 2),
    ),
    "GatherBlockQuantized-zero": Case(
        "GatherBlockQuantized",
        _gather("zero"),
        [(F32, 3)],
        {"block_size": 16},
        {1: "_ n"},
        (0, 2, 3),
    ),
    "GatherBlockQuantized-bytes": Case(
        "GatherBlockQuantized",
        _gather("bytes"),
        [(F32, 3)],
        {"block_size": 16, "bits": 8},
        {1: "_ n"},
        (0, 2),
    ),
    "Gelu": Case("Gelu", lambda r: [f(r, n(r), 8)], [(F32, 2)]),
    "Inverse": Case(
        "Inverse", lambda r: [f(r, n(r), 4, 4)], [(F32, 3)], {}, {0: "n _ _"}, rtol=1e-3
    ),
    "MatMulInteger16": Case(
        "MatMulInteger16",
        lambda r: [r.integers(-999, 999, s).astype(np.int16) for s in ((n(r), 8), (8, 6))],
        [(I32, 2)],
        {},
        ROWS,
        (1,),
    ),
    "MatMulIntegerToFloat": Case(
        "MatMulIntegerToFloat", _to_float, [(F32, 3)], {}, LAST, (1, 2, 3, 4, 5, 6)
    ),
    "NhwcMaxPool": Case(
        "NhwcMaxPool",
        lambda r: [u8(r, n(r), 8, 7, 3)],
        [(U8, 4)],
        {**WINDOW, "strides": [2, 2]},
        IMAGES,
    ),
    "QAttention": Case(
        "QAttention",
        _quantized_self,
        [(F32, 3)],
        {"num_heads": 2},
        {0: "n s _", 5: "n"},
        (1, 2, 3, 4, 6, 7),
    ),
    "QGemm": Case("QGemm", _gemm(True, False), [(U8, 2)], {}, ROWS, range(1, 9)),
    "QGemm-float": Case(
        "QGemm", _gemm(False, True), [(F32, 2)], {"transB": 1, "alpha": 0.5}, ROWS, range(1, 7)
    ),
    "QLinearAdd": Case("QLinearAdd", _quantized(2), [(U8, 2)], {}, {0: "n _", 3: "n _"}, step=1),
    "QLinearAdd-signed": Case(
        "QLinearAdd", _quantized(2, i8), [(I8, 2)], {}, {0: "n _", 3: "n _"}, step=1
    ),
    "QLinearMul": Case("QLinearMul", _quantized(2), [(U8, 2)], {}, {0: "n _", 3: "n _"}, step=1),
    "QLinearSigmoid": Case("QLinearSigmoid", _unary, [(U8, 2)], {}, ROWS, (1, 2, 3, 4), step=1),
    "QLinearLeakyRelu": Case(
        "QLinearLeakyRelu", _unary, [(U8, 2)], {"alpha": 0.2}, ROWS, (1, 2, 3, 4), step=1
    ),
    "QLinearSoftmax": Case(
        "QLinearSoftmax",
        _unary,
        [(U8, 2)],
        {"axis": -1, "opset": 13},
        ROWS,
        (1, 2, 3, 4),
        step=1,
    ),
    "QLinearAveragePool": Case(
        "QLinearAveragePool",
        _image,
        [(U8, 4)],
        {**WINDOW, "pads": [1, 1, 1, 1], "count_include_pad": 0},
        IMAGES,
        (1, 2, 3, 4),
        step=1,
    ),
    "QLinearAveragePool-last": Case(
        "QLinearAveragePool",
        _image,
        [(U8, 4)],
        {"kernel_shape": [2, 2], "channels_last": 1},
        IMAGES,
        (1, 2, 3, 4),
        step=1,
    ),
    "QLinearGlobalAveragePool": Case(
        "QLinearGlobalAveragePool", _image, [(U8, 4)], {}, IMAGES, (1, 2, 3, 4), step=1
    ),
    "QLinearConcat": Case(
        "QLinearConcat",
        _concat,
        [(U8, 2)],
        {"axis": 1},
        {2: "n _", 5: "n _"},
        (0, 1, 3, 4, 6, 7),
    ),
    "QLinearConv-last": Case(
        "QLinearConv", _q_conv, [(U8, 4)], {**WINDOW, "channels_last": 1}, IMAGES, range(1, 9)
    ),
    "QLinearWhere": Case(
        "QLinearWhere",
        _where,
        [(U8, 2)],
        {},
        {0: "n _", 1: "n _", 4: "n _"},
        (2, 3, 5, 6, 7, 8),
        step=1,
    ),
    "QuickGelu": Case("QuickGelu", lambda r: [f(r, n(r), 8)], [(F32, 2)], {"alpha": 1.3}),
    "RotaryEmbedding": Case(
        "RotaryEmbedding", _rotary, [(F32, 3)], {}, {0: "n s _", 1: "n s"}, (2, 3)
    ),
    "RotaryEmbedding-interleaved": Case(
        "RotaryEmbedding", _rotary, [(F32, 3)], {"interleaved": 1}, {0: "n s _", 1: "n s"}, (2, 3)
    ),
    "SimplifiedLayerNormalization": Case(
        "SimplifiedLayerNormalization",
        lambda r: [f(r, n(r), n(r), 8), f(r, 8)],
        [(F32, 3)],
        {"epsilon": 1e-5, "axis": -1},
        LAST,
        (1,),
        domain="",
    ),
    "SkipLayerNormalization": Case(
        "SkipLayerNormalization",
        _skip(False),
        [(F32, 3), None, None, (F32, 3)],
        {"epsilon": 1e-5},
        {0: "n s _", 1: "n s _"},
        (2, 3, 4),
    ),
    "SkipSimplifiedLayerNormalization": Case(
        "SkipSimplifiedLayerNormalization",
        _skip(True),
        [(F32, 3), None, None, (F32, 3)],
        {"epsilon": 1e-5},
        {0: "n s _", 1: "n s _"},
        (2, 3),
    ),
    "TransposeMatMul": Case(
        "TransposeMatMul",
        lambda r: [f(r, n(r), 8), f(r, 6, 8)],
        [(F32, 2)],
        {"transB": 1},
        ROWS,
        (1,),
    ),
    "UnfoldTensor": Case(
        "UnfoldTensor", lambda r: [f(r, n(r), 9)], [(F32, 3)], {"size": 3, "step": 2}, ROWS
    ),
}

for _bits, _zero, _bias in (
    (4, "", True),
    (4, "packed", False),
    (4, "floats", False),
    (8, "packed", False),
    (2, "", False),
):
    CASES[f"MatMulNBits-{_bits}{_zero}"] = Case(
        "MatMulNBits",
        _nbits(_bits, _zero, _bias),
        [(F32, 3)],
        {"K": 40, "N": 6, "bits": _bits, "block_size": 16},
        LAST,
        (1, 2, 3, 5),
        rtol=1e-4,
        atol=1e-4,
    )
for _kind in (0, 1):
    CASES[f"MatMulBnb4-{_kind}"] = Case(
        "MatMulBnb4",
        _bnb,
        [(F32, 2)],
        {"K": 32, "N": 6, "block_size": 16, "quant_type": _kind},
        ROWS,
        (1, 2),
    )

MASKS = {"": "", "lengths": "n", "ends": "m", "keys": "n t", "queries": "n s t"}
"""The shapes of masks: `t` is the total number of keys, which models name apart."""

for _mask in MASKS:
    for _past in (False, True):
        # ONNX Runtime has no attention to a past by lengths.
        for _causal in (0, 1):
            CASES[f"Attention-{_mask}-{_past}-{_causal}"] = Case(
                "Attention",
                _self(_mask, _past),
                [(F32, 3), (F32, 5)] if _past else [(F32, 3)],
                {"num_heads": 2, "unidirectional": _causal},
                {0: "n s _", 3: MASKS[_mask], 4: "_ n _ p _"},
                (1, 2),
            )
for _mask in ("", "lengths", "keys", "queries"):
    for _past in (False, True):
        CASES[f"MultiHeadAttention-{_mask}-{_past}"] = Case(
            "MultiHeadAttention",
            lambda r, m=_mask, p=_past: _heads(r, p, m),
            [(F32, 3), (F32, 4), (F32, 4)] if _past else [(F32, 3)],
            {"num_heads": 2},
            {
                **{0: "n s _", 1: "n k _", 2: "n k _"},
                **{4: MASKS[_mask], 5: "_ _ s t", 6: "n _ p _", 7: "n _ p _"},
            },
            (3,),
        )
for _name, _options, _attributes in (
    ("first", (False, False), {}),
    ("first-rotary", (False, True), {"do_rotary": 1}),
    ("next", (True, False), {}),
    ("next-rotary", (True, True), {"do_rotary": 1, "rotary_interleaved": 1}),
    ("packed", (True, True, True), {"do_rotary": 1}),
    ("ragged", (True, True, False, False, True), {"do_rotary": 1}),
    ("window", (True, False, False, False, True), {"local_window_size": 2}),
    ("window-first", (False, False), {"local_window_size": 2}),
    ("softcap", (True, False), {"softcap": 2.0}),
    ("smooth", (True, False), {"smooth_softmax": 1}),
    ("shared", (True, False, False, True), {}),
):
    CASES[f"GroupQueryAttention-{_name}"] = Case(
        "GroupQueryAttention",
        _grouped(*_options),
        [(F32, 3), (F32, 4), (F32, 4)],
        {"num_heads": 4, "kv_num_heads": 2, **_attributes},
        {**dict.fromkeys((0, 1, 2), "n s _"), 3: "n _ p _", 4: "n _ p _", 5: "n"},
        (6, 7, 8) if _name == "shared" else (7, 8),
        # The cells of a cache that are not valid are anything.
        compared=1 if {"ragged", "window", "shared"} & {_name} else 3,
    )


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", CASES)
def test_operators(name: str):
    case = CASES[name]
    rng = np.random.default_rng(list(name.encode()))
    made = [[None if x is None else np.asarray(x) for x in case.operands(rng)]]
    for _ in range(SIZES - 1):
        others = [None if x is None else np.asarray(x) for x in case.operands(rng)]
        pairs = enumerate(zip(made[0], others, strict=True))
        made.append([a if i in case.constant else b for i, (a, b) in pairs])
    feeds = [
        {f"x{i}": x for i, x in enumerate(xs) if x is not None and i not in case.constant}
        for xs in made
    ]
    model = model_of(
        case.op,
        made[0],
        case.results,
        domain=case.domain,
        symbolic=case.symbolic or None,
        constant=case.constant,
    )
    node = model.graph.node[0]
    node.attribute.extend(helper.make_attribute(*item) for item in case.attributes.items())
    compare(model, feeds, case.rtol, case.atol, step=case.step, compared=case.compared)
