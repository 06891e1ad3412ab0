"""Products, attention and rotary embeddings on random operands, of symbolic sizes, against ONNX
Runtime, or the package onnx's own reference where that has no kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import ModelProto, TensorProto
from onnx.reference import ReferenceEvaluator
from single_node import compare, model_of

F32 = TensorProto.FLOAT
SIZES = 3
"""The sizes that each program is run on."""


def _floats(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def _n(rng: np.random.Generator) -> int:
    return int(rng.integers(2, 8))


def _reference(model: ModelProto) -> Callable[[Mapping[str, Any]], Any]:
    evaluator = ReferenceEvaluator(model)
    return lambda feed: evaluator.run(None, dict(feed))


@pytest.mark.parametrize(
    ("a", "b", "symbolic"),
    [
        ("m k", "k n", {0: "m k", 1: "k n"}),
        ("b m k", "k n", {0: "b m k", 1: "k n"}),
        ("b 1 m k", "h k n", {0: "b _ m k", 1: "h k n"}),
        ("k", "b k n", {0: "k", 1: "b k n"}),
        ("b m k", "k", {0: "b m k", 1: "k"}),
        ("k", "k", {0: "k", 1: "k"}),
    ],
)
def test_matmul(a: str, b: str, symbolic: dict[int, str]):
    rng = np.random.default_rng(1)
    feeds = []
    for _ in range(SIZES):
        sizes = {name: _n(rng) for name in "bhmnk"} | {"1": 1}
        shapes = [[sizes[name] for name in text.split()] for text in (a, b)]
        feeds.append({f"x{i}": _floats(rng, *shape) for i, shape in enumerate(shapes)})
    axes = max(len(set(a.split())) + len(b.split()) - 2, 0)
    rank = np.matmul(*feeds[0].values()).ndim
    assert axes >= rank
    model = model_of("MatMul", list(feeds[0].values()), [(F32, rank)], symbolic=symbolic)
    compare(model, feeds, atol=1e-5)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(16))
def test_gemm(seed: int):
    rng = np.random.default_rng([seed, 2])
    trans_a, trans_b = (int(t) for t in rng.integers(0, 2, 2))
    bias = rng.integers(0, 4)
    feeds = []
    for _ in range(SIZES):
        m, k, n = _n(rng), 5, 6
        c = [_floats(rng, n), _floats(rng, m, n), _floats(rng, m, 1), None][bias]
        a = _floats(rng, *((k, m) if trans_a else (m, k)))
        b = _floats(rng, *((n, k) if trans_b else (k, n)))
        feeds.append({f"x{i}": x for i, x in enumerate((a, b, c)) if x is not None})
    attributes = {"transA": trans_a, "transB": trans_b, "alpha": 0.5, "beta": 2.0}
    symbolic = {0: "_ m" if trans_a else "m _", 2: ["_", "m _", "m _", ""][bias]}
    model = model_of("Gemm", list(feeds[0].values()), [(F32, 2)], symbolic=symbolic, **attributes)
    compare(model, feeds, atol=1e-5)


@pytest.mark.parametrize(
    "equation", ["ij,jk->ik", "bij,bkj->bik", "i,j->ij", "...ij,...jk->...ik", "bhid,bhjd->bhij"]
)
def test_einsum(equation: str):
    rng = np.random.default_rng(3)
    terms = equation.split("->")[0].split(",")
    feeds = []
    for _ in range(SIZES):
        sizes = {name: _n(rng) for name in "bdhijk"}
        extents = [[2] * term.count("...") + [sizes[c] for c in term if c != "."] for term in terms]
        feeds.append({f"x{i}": _floats(rng, *shape) for i, shape in enumerate(extents)})
    symbolic = {
        i: " ".join(["_"] * term.count("...") + [c for c in term if c != "."])
        for i, term in enumerate(terms)
    }
    rank = np.einsum(equation, *feeds[0].values()).ndim
    model = model_of(
        "Einsum", list(feeds[0].values()), [(F32, rank)], symbolic=symbolic, equation=equation
    )
    compare(model, feeds, atol=1e-4, rtol=1e-4)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(36))
def test_attention(seed: int):
    """All options: flat operands, fewer heads of keys, a cache, masks, caps and windows."""
    rng = np.random.default_rng([seed, 4])
    heads, of_keys, size = 4, int(rng.choice([1, 2, 4])), 8
    is_flat, has_past = bool(rng.integers(2)), bool(rng.integers(2))
    mask, mode = int(rng.integers(4)), int(rng.integers(4))
    attributes: dict[str, Any] = {"is_causal": int(rng.integers(2)), "qk_matmul_output_mode": mode}
    if is_flat:
        attributes |= {"q_num_heads": heads, "kv_num_heads": of_keys}
    if mode and rng.integers(2):
        # The reference has the capped products in mode 0, against the specification.
        attributes["softcap"] = 1.5
    if rng.integers(2):
        attributes["scale"] = 0.3
    if rng.integers(3) == 0:
        attributes["left_window_size"] = int(rng.integers(0, 4))
    if rng.integers(3) == 0 and not attributes["is_causal"]:
        attributes["right_window_size"] = int(rng.integers(0, 4))
    feeds, operands = [], []
    for _ in range(SIZES):
        batch, q, k, p = _n(rng), _n(rng), _n(rng), _n(rng) if has_past else 0

        def made(count: int, places: int, batch: int = batch) -> np.ndarray:
            shape = (batch, places, count * size) if is_flat else (batch, count, places, size)
            return _floats(rng, *shape)

        total = k + p
        masks = [
            None,
            rng.integers(0, 2, (q, total)).astype(bool),
            _floats(rng, 1, heads, q, total),
            rng.integers(0, 2, (batch, 1, q, total)).astype(bool),
        ]
        past = [_floats(rng, batch, of_keys, p, size) if has_past else None for _ in range(2)]
        lengths = None if has_past else rng.integers(1, k + 1, batch)
        operands = [made(heads, q), made(of_keys, k), made(of_keys, k), masks[mask], *past, lengths]
        feeds.append({f"x{i}": x for i, x in enumerate(operands) if x is not None})
    rows = ["b s _", "b k _"] if is_flat else ["b _ s _", "b _ k _"]
    symbolic = {0: rows[0], 1: rows[1], 2: rows[1], 4: "b _ p _", 5: "b _ p _", 6: "b"}
    symbolic[3] = ["", "s t", "_ _ s t", "b _ s t"][mask]
    presents = [(F32, 4), (F32, 4)] if has_past else [None, None]
    results = [(F32, 3 if is_flat else 4), *presents, (F32, 4)]
    model = model_of("Attention", operands, results, symbolic=symbolic, opset=25, **attributes)
    compare(model, feeds, rtol=1e-4, atol=1e-5, wanted=_reference(model))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("has_ids", [False, True])
@pytest.mark.parametrize("size", [0, 4])
def test_rotary_embeddings(interleaved: int, has_ids: bool, size: int):
    rng = np.random.default_rng(5)
    feeds = []
    for _ in range(SIZES):
        batch, places = _n(rng), _n(rng)
        rows = (9,) if has_ids else (batch, places)
        angles = rng.uniform(0, 3, (*rows, (size or 8) // 2))
        operands = [_floats(rng, batch, places, 16), np.cos(angles), np.sin(angles)]
        ids = rng.integers(0, 9, (batch, places)) if has_ids else None
        operands = [*(x.astype(np.float32) for x in operands), ids]
        feeds.append({f"x{i}": x for i, x in enumerate(operands) if x is not None})
    cache = "_ _" if has_ids else "b s _"
    model = model_of(
        "RotaryEmbedding",
        operands,
        [(F32, 3)],
        opset=23,
        symbolic={0: "b s _", 1: cache, 2: cache, 3: "b s"},
        num_heads=2,
        interleaved=interleaved,
        rotary_embedding_dim=size,
    )
    compare(model, feeds, wanted=_reference(model))
