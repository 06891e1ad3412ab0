"""LSTM, GRU and RNN with random attributes, against ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import TensorProto
from single_node import compare, model_of

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
ACTIVATIONS = {"LSTM": 3, "GRU": 2, "RNN": 1}
CHOICES = ["Tanh", "Sigmoid", "Relu", "HardSigmoid", "LeakyRelu", "Affine", "ScaledTanh", "Elu"]
CHOICES += ["Softsign", "Softplus", "ThresholdedRelu"]
WITH_ALPHA = {"HardSigmoid", "LeakyRelu", "Affine", "ScaledTanh", "Elu", "ThresholdedRelu"}
WITH_BETA = {"HardSigmoid", "Affine", "ScaledTanh"}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", range(48))
@pytest.mark.parametrize("op", ["LSTM", "GRU", "RNN"])
def test_recurrent_layers(op: str, seed: int):
    rng = np.random.default_rng([seed, len(op), GATES[op]])
    direction = str(rng.choice(["forward", "reverse", "bidirectional"]))
    count = 2 if direction == "bidirectional" else 1
    inputs, hidden, gates = int(rng.integers(1, 5)), int(rng.integers(1, 6)), GATES[op]

    def array(*shape: int) -> np.ndarray:
        return (rng.standard_normal(shape) * 0.4).astype(np.float32)

    attributes: dict[str, Any] = {"direction": direction, "hidden_size": hidden}
    if rng.random() < 0.4:
        names = [str(rng.choice(CHOICES)) for _ in range(ACTIVATIONS[op] * count)]
        attributes["activations"] = names
        alphas = sum(name in WITH_ALPHA for name in names)
        betas = sum(name in WITH_BETA for name in names)
        if alphas:
            attributes["activation_alpha"] = rng.uniform(0.2, 1, alphas).tolist()
        if betas:
            attributes["activation_beta"] = rng.uniform(0.2, 1, betas).tolist()
    if rng.random() < 0.3:
        attributes["clip"] = 0.5
    if op == "GRU":
        attributes["linear_before_reset"] = int(rng.integers(0, 2))
    weights = [array(count, gates * hidden, inputs), array(count, gates * hidden, hidden)]
    bias = array(count, 2 * gates * hidden) if rng.random() < 0.7 else None
    has_lengths, has_state = rng.random() < 0.5, rng.random() < 0.5
    has_peepholes = op == "LSTM" and rng.random() < 0.4
    peepholes = array(count, 3 * hidden) if has_peepholes else None
    feeds: list[dict[str, Any]] = []
    for _ in range(2):
        steps, batch = (int(n) for n in rng.integers(2, 6, 2))
        feed: dict[str, Any] = {"x0": array(steps, batch, inputs)}
        if has_lengths:
            feed["x4"] = rng.integers(1, steps + 1, batch).astype(np.int32)
        if has_state:
            feed["x5"] = array(count, batch, hidden)
            if op == "LSTM":
                feed["x6"] = array(count, batch, hidden)
        feeds.append(feed)
    first = feeds[0]
    arrays = [first["x0"], *weights, bias, first.get("x4"), first.get("x5")]
    if op == "LSTM":
        arrays += [first.get("x6"), peepholes]
    results = [(TensorProto.FLOAT, 4), (TensorProto.FLOAT, 3)]
    model = model_of(
        op,
        arrays,
        results + results[1:] * (op == "LSTM"),
        opset=14,
        constant=(1, 2, 3, 7),
        symbolic={0: [0, 1], 4: [0], 5: [1], 6: [1]},
        **attributes,
    )
    for each in model.graph.input[1:]:
        dims = each.type.tensor_type.shape.dim
        dims[1 if len(dims) == 3 else 0].dim_param = "x0_1"
    compare(model, feeds, rtol=1e-4, atol=1e-5, programs=None)
