"""Operators on tensors of symbolic sizes: one program for all sizes, and ONNX Runtime's results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import TensorProto
from single_node import compare, model_of

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64

CASES: dict[str, tuple[str, int, int, dict[str, Any]]] = {
    "softmax of all later axes": ("Softmax", 11, 3, {"axis": 1}),
    "log softmax of the first axis": ("LogSoftmax", 13, 3, {"axis": 0}),
    "hardmax": ("Hardmax", 13, 3, {"axis": 1}),
    "hardmax of all later axes": ("Hardmax", 11, 3, {"axis": 1}),
    "lp norm": ("LpNormalization", 1, 3, {"axis": 1, "p": 2}),
    "mean of all": ("ReduceMean", 13, 3, {"keepdims": 0}),
    "mean of an axis": ("ReduceMean", 13, 3, {"axes": [1]}),
    "log sum exp": ("ReduceLogSumExp", 13, 3, {"axes": [0, 2]}),
    "norm": ("ReduceL2", 13, 3, {"axes": [-1], "keepdims": 0}),
    "last maximum": ("ArgMax", 13, 3, {"axis": 1, "select_last_index": 1}),
    "first minimum": ("ArgMin", 13, 3, {"axis": 2, "keepdims": 0}),
    "mean and variance": ("MeanVarianceNormalization", 13, 3, {"axes": [0, 2]}),
    "dropout": ("Dropout", 13, 3, {}),
    "eye": ("EyeLike", 9, 2, {"k": 1}),
    "flat": ("Flatten", 13, 3, {"axis": 2}),
}
"""An operator, the opset, the axes of its operand, and attributes."""


def _values(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32).round(2)


def _feeds(rank: int, fixed: dict[int, int] | None = None) -> list[np.ndarray]:
    rng = np.random.default_rng(rank)
    shapes = [(3, 5, 4, 2), (1, 7, 2, 6), (6, 2, 9, 3)]
    return [
        _values(rng, tuple((fixed or {}).get(i, e) for i, e in enumerate(shape[:rank])))
        for shape in shapes
    ]


@pytest.mark.parametrize("case", CASES)
def test_one_operand(case: str):
    op, opset, rank, attributes = CASES[case]
    kind = INT64 if op.startswith("Arg") else FLOAT
    reduced = [attributes["axis"]] if "axis" in attributes else attributes.get("axes", range(rank))
    left = rank - len(reduced) if attributes.get("keepdims") == 0 else rank
    left = 2 if op == "Flatten" else left
    xs = _feeds(rank)
    model = model_of(op, [xs[0]], [(kind, left)], opset=opset, **attributes)
    compare(model, [{"x0": x} for x in xs], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("reverse", [0, 1])
@pytest.mark.parametrize("exclusive", [0, 1])
def test_running_sums(exclusive: int, reverse: int):
    xs = _feeds(3)
    flags = {"exclusive": exclusive, "reverse": reverse}
    given = [xs[0], np.array(1)]
    model = model_of("CumSum", given, [(FLOAT, 3)], opset=14, constant=(1,), **flags)
    compare(model, [{"x0": x} for x in xs])


def test_mean_of_integers():
    rng = np.random.default_rng(0)
    xs = [rng.integers(-50, 50, shape).astype(np.int32) for shape in ((3, 5), (7, 2), (1, 1))]
    model = model_of("ReduceMean", [xs[0]], [(TensorProto.INT32, 2)], opset=13, axes=[0])
    compare(model, [{"x0": x} for x in xs])


CHANNELS = 6


@pytest.mark.parametrize(
    ("op", "operands", "opset", "attributes"),
    [
        ("BatchNormalization", 4, 15, {"epsilon": 1e-3}),
        ("InstanceNormalization", 2, 6, {"epsilon": 1e-3}),
        ("LRN", 0, 13, {"size": 3, "alpha": 0.5, "beta": 0.7, "bias": 1.1}),
        ("GroupNormalization", 2, 21, {"num_groups": 3}),
    ],
)
def test_normalizations_of_channels(op: str, operands: int, opset: int, attributes: Any):
    rng = np.random.default_rng(1)
    xs = _feeds(4, {1: CHANNELS})
    rest = [np.abs(_values(rng, (CHANNELS,))) + 0.5 for _ in range(operands)]
    model = model_of(
        op,
        [xs[0], *rest],
        [(FLOAT, 4)],
        opset=opset,
        symbolic={0: (0, 2, 3)},
        constant=range(1, 5),
        **attributes,
    )
    compare(model, [{"x0": x} for x in xs], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("op", "opset"), [("LayerNormalization", 17), ("RMSNormalization", 23)])
def test_normalizations_of_the_last_axis(op: str, opset: int):
    rng = np.random.default_rng(2)
    xs = _feeds(3, {2: 8})
    weight, shift = _values(rng, (8,)), _values(rng, (8,))
    given = [xs[0], weight, shift][: 3 if op == "LayerNormalization" else 2]
    results = [(FLOAT, 3)] * (3 if op == "LayerNormalization" else 1)
    model = model_of(
        op, given, results, opset=opset, symbolic={0: (0, 1)}, constant=(1, 2), epsilon=1e-4
    )
    compare(model, [{"x0": x} for x in xs], rtol=1e-4, atol=1e-5)


def test_sums_that_broadcast():
    xs = _feeds(3)
    given = [(x, x[:1, :1] * 2, x[0, :, :1] + 1) for x in xs]
    axes = {0: (0, 1, 2), 1: (2,), 2: (0,)}
    for op in ("Sum", "Mean", "Max", "Min"):
        model = model_of(op, given[0], [(FLOAT, 3)], opset=13, symbolic=axes)
        # Symbolic extents of operands that broadcast have the names of those that they meet.
        for i, axis, name in ((1, 2, "x0_2"), (2, 0, "x0_1")):
            dim = model.graph.input[i].type.tensor_type.shape.dim[axis]
            dim.dim_param = name
        compare(model, [{f"x{i}": a for i, a in enumerate(g)} for g in given])


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("op", ["SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"])
def test_losses(op: str, reduction: str):
    rng = np.random.default_rng(3)
    feeds = [
        {"x0": _values(rng, (n, 5, m)), "x1": rng.integers(0, 5, (n, m))}
        for n, m in ((3, 4), (1, 7), (6, 2))
    ]
    model = model_of(
        op,
        list(feeds[0].values()),
        [(FLOAT, 2 if reduction == "none" else 0)],
        opset=13,
        symbolic={0: (0, 2), 1: (0, 1)},
        reduction=reduction,
        ignore_index=2,
    )
    for axis, name in ((0, "x0_0"), (1, "x0_2")):
        model.graph.input[1].type.tensor_type.shape.dim[axis].dim_param = name
    compare(model, feeds, rtol=1e-4, atol=1e-5)
