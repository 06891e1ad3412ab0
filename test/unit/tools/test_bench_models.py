"""`python -m bench --models`: what it says, and small models in our words and in PyTorch's."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[3]))

from bench.models import MODELS, Files, Model, Sizes, convnext, dcgan, gpt2_model, unet_block
from bench.peers import missing_packages, tgdialect_model
from bench.table import first_calls, markdown

ROOT = Path(__file__).parents[3]
SMALL = Sizes(vocabulary=50, width=32, heads=2, blocks=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rows", "nothing"), "no row is called that; there are: resnet-50 224x224, "),
        (("--cpu-time", "--threads", "2"), "--cpu-time is for one thread"),
        (("--tools", "jax"), "jax is not measured here, but tgdialect, tgdialect args, torch, "),
    ],
)
def test_errors(arguments: tuple[str, ...], message: str):
    command = [sys.executable, "-m", "bench", "--models", *arguments]
    failed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert failed.returncode == 2
    assert message in failed.stderr


def test_missing_packages(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("bench.peers.find_spec", lambda name: None if name == "onnx" else object())
    assert missing_packages("torch.compile") == []
    assert missing_packages("openvino") == ["onnx"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_inputs(model: Model):
    inputs = model.inputs()
    assert [x.shape for x in inputs] == [*model.shapes]
    assert [x.dtype.kind for x in inputs[:1]] == ["i" if model.vocabulary else "f"]
    assert max(x.max() for x in inputs[:1]) < max(model.vocabulary, 10)


def test_ratio_of_its_own():
    row = {
        "name": "gpt",
        "ours": 1.0,
        "ratio": 2.0,
        "apart": {"openvino": 0.5},
        "tools": {
            "tgdialect": {"seconds": 1.0, "first": 3.0},
            "torch": {"seconds": 2.0, "first": 2.5},
            "openvino": {"seconds": 0.5, "first": 0.75},
        },
    }
    names = ["tgdialect", "torch", "openvino"]
    assert markdown([row], names) == (
        "| program | tgdialect | torch | openvino | best peer / ours |  | openvino / ours |  |\n"
        "| --- | ---: | ---: | ---: | ---: | --- | ---: | --- |\n"
        "| gpt | 1e+03 ms | 2e+03 ms | 500 ms | 2.00 | win | 0.50 | **loss** |\n"
        "\n"
        "Of 1 rows 1 won, 0 tied (within 3%), 0 lost; geometric mean 2.00, least 2.00 (gpt).\n"
        "\n"
        "Against openvino: Of 1 rows 0 won, 0 tied (within 3%), 1 lost; "
        "geometric mean 0.50, least 0.50 (gpt).\n"
    )
    assert first_calls([row], names).endswith("| gpt | 3 s | 2.5 s | 0.75 s |\n")


@pytest.mark.parity
@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed (extra `parity`)")
@pytest.mark.sampled(4)
@pytest.mark.parametrize("past", [0, 3])
@pytest.mark.parametrize("freeze", [False, True])
def test_small_gpt2(tmp_path: Path, past: int, freeze: bool):
    model, files = gpt2_model("small", 1 if past else 5, past, SMALL), Files(tmp_path)
    files.write(model)
    expected = files.results()
    assert len(expected) == 1 + 2 * SMALL.blocks
    assert files.work()["flops"] > 0
    call = tgdialect_model(model, files, freeze)
    for found, wanted in zip(call(), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parity
@pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed (extra `parity`)")
@pytest.mark.parametrize(
    "model",
    [
        Model("u-net", partial(unet_block, width=32, heads=2), ((1, 32, 6, 5),)),
        Model("dcgan", dcgan, ((1, 100, 1, 1),)),
        Model("convnext", partial(convnext, counts=(1, 1, 1, 1)), ((1, 3, 64, 32),)),
    ],
    ids=lambda model: model.name,
)
def test_small_images(tmp_path: Path, model: Model):
    files = Files(tmp_path)
    files.write(model)
    (wanted,) = files.results()
    (found,) = tgdialect_model(model, files)()
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
