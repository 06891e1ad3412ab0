"""Eight networks by `torch.compile`, and exported to ONNX: eager mode's numbers at three sizes."""

from __future__ import annotations

import io
import warnings
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compiled_models import compiled, flat  # noqa: E402

from bench.networks import NETWORKS, Network  # noqa: E402
from tgdialect.interop.torch import report  # noqa: E402

pytestmark = pytest.mark.parity


def assert_close(got: Any, wanted: Any) -> None:
    """The results are the same but for 1e-4 of the largest magnitude."""
    for a, b in zip(flat(got), flat(wanted), strict=True):
        most = float(b.abs().max())
        torch.testing.assert_close(a, b, rtol=0, atol=1e-4 * most)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("freeze", [False, True])
@pytest.mark.parametrize("name", NETWORKS)
@torch._dynamo.config.patch(allow_rnn=True)
def test_compiled(name: str, freeze: bool) -> None:
    torch.manual_seed(0)
    network = NETWORKS[name]
    model = network.small().eval()
    # The positions of a ViT are for images of one size, which is no symbol.
    is_dynamic = None if name == "vit" else True
    call = compiled(model, options={"freeze": freeze}, dynamic=is_dynamic)
    with torch.no_grad():
        for sizes in network.small_sizes:
            inputs = network.inputs(*sizes)
            assert_close(call(*inputs), model(*inputs))
    assert not report().fallbacks


def exported(network: Network, model: Any, is_new: bool) -> Any:
    """A model of ONNX, with sizes left open."""
    onnx = pytest.importorskip("onnx")
    inputs = network.inputs(*network.small_sizes[0])
    if is_new:
        pytest.importorskip("onnxscript")
        shapes = tuple(dict.fromkeys(axes, torch.export.Dim.DYNAMIC) for axes in network.axes)
        program = torch.onnx.export(model, inputs, dynamic_shapes=shapes, verbose=False)
        assert program is not None
        return program.model_proto
    file = io.BytesIO()
    names = [f"x{i}" for i in range(len(inputs))]
    axes = dict(zip(names, map(dict, network.axes), strict=True))
    arguments: Any = (model, inputs, file)
    torch.onnx.export(*arguments, dynamo=False, input_names=names, dynamic_axes=axes)
    return onnx.load_from_string(file.getvalue())


@pytest.mark.sampled(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("is_new", [False, True])
@pytest.mark.parametrize("name", [n for n, network in NETWORKS.items() if network.is_exported])
def test_exported(name: str, is_new: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One program for all sizes."""
    torch.manual_seed(0)
    network = NETWORKS[name]
    model = network.small().eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source = exported(network, model, is_new)
    from tgdialect.frontend.lowered import Lowered
    from tgdialect.interop.onnx import prepare

    compilations: list[Any] = []
    compile = Lowered.compile

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        compilations.append(self)
        return compile(self, *args, **kwargs)

    monkeypatch.setattr(Lowered, "compile", counted)
    prepared = prepare(source)
    for sizes in network.small_sizes:
        inputs = network.inputs(*sizes)
        found = prepared.run([x.numpy() for x in inputs])
        with torch.no_grad():
            wanted = model(*inputs)
        assert_close([torch.from_numpy(x) for x in found], wanted)
    assert len(compilations) == 1
