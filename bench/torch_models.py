"""How fast networks of PyTorch are here, next to eager mode, Inductor and ONNX Runtime.

    python -m bench.torch_models [NAMES] [--threads 1] [--seconds 0.3] [--turns 5]
    python -m bench.torch_models --onnx [NAMES]

The networks are those of `networks.py`, with random weights, in inference. The first form compares
`torch.compile(backend="tgdialect")` with eager mode and with `torch.compile` by Inductor, both
compilers also with frozen parameters. `--onnx` exports them by both of `torch.onnx.export`'s
exporters (the newer needs the package onnxscript), with sizes left open, and compares
`interop.onnx.prepare` with ONNX Runtime. Results are compared first.

The tools take turns, and the figures are the medians of the quickest calls of the turns. A ratio
above 1 says that we are quicker. Peers' thread pools spin after a call: there is a pause before
each turn.
"""

from __future__ import annotations

import argparse
import io
import os
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np
import torch
import torch._inductor.config

from bench.networks import NETWORKS, Network
from bench.table import geometric_mean
from tgdialect.environment import NUM_THREADS
from tgdialect.targets.host import host_model

Call = Callable[[], Any]

PAUSE = 0.3
"""Seconds before a turn: threads of ONNX Runtime and OpenMP spin for a quarter of a second."""

TOLERANCE = 1e-4
"""How far a result may be from eager mode's, of the largest magnitude in it."""


def flat(results: Any) -> Sequence[Any]:
    """The arrays of a call's results."""
    many = results if isinstance(results, tuple | list) else (results,)
    return [x.detach().numpy() if isinstance(x, torch.Tensor) else x for x in many]


def difference(results: Any, wanted: Any) -> float:
    """The greatest difference, of the largest magnitude."""
    both = zip(flat(results), flat(wanted), strict=True)
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in both)


def turn(call: Call, seconds: float) -> float:
    """Milliseconds of the quickest of the calls in a turn."""
    time.sleep(PAUSE)
    call()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best * 1e3


def in_turns(calls: Mapping[str, Call], seconds: float, turns: int) -> dict[str, float]:
    """The medians of the turns."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(turns):
        for name, call in calls.items():
            found[name].append(turn(call, seconds))
    return {name: median(times) for name, times in found.items()}


def compiled(model: Any, inputs: Sequence[Any]) -> tuple[dict[str, Call], dict[str, float]]:
    """Calls by the names of tools, and the seconds of the first ones."""
    from tgdialect.interop.torch.backend import backend

    tools: dict[str, Any] = {
        "ours": {"backend": backend},
        "frozen": {"backend": backend, "options": {"freeze": True}},
        "inductor": {},
        "frozen inductor": {"options": {"freezing": True}},
    }
    calls: dict[str, Call] = {"eager": lambda: model(*inputs)}
    first: dict[str, float] = {}
    torch._dynamo.reset()
    for name, options in tools.items():
        start = time.perf_counter()
        call = torch.compile(model, dynamic=False, **options)
        # Dynamo has parameters as attributes for Inductor to freeze, if this is set in the trace.
        with torch._inductor.config.patch(freezing=name == "frozen inductor"):
            call(*inputs)
        first[name] = time.perf_counter() - start
        # Each tool has an entry of its own in Dynamo's cache.
        calls[name] = lambda call=call: call(*inputs)
    return calls, first


def exported(network: Network, model: Any, inputs: Sequence[Any], is_new: bool) -> Any:
    """The network as a model of ONNX, by the newer exporter or by the older one."""
    import onnx

    names = [f"x{i}" for i in range(len(inputs))]
    if is_new:
        shapes = tuple(dict.fromkeys(axes, torch.export.Dim.DYNAMIC) for axes in network.axes)
        program = torch.onnx.export(
            model, tuple(inputs), input_names=names, dynamic_shapes=shapes, verbose=False
        )
        assert program is not None
        return program.model_proto
    file = io.BytesIO()
    axes = dict(zip(names, map(dict, network.axes), strict=True))
    arguments: Any = (model, tuple(inputs), file)
    torch.onnx.export(*arguments, dynamo=False, input_names=names, dynamic_axes=axes)
    return onnx.load_from_string(file.getvalue())


def prepared(model: Any, inputs: Sequence[Any], threads: int) -> dict[str, Call]:
    """Calls of a model of ONNX by the names of tools."""
    import onnxruntime

    from tgdialect.interop.onnx import prepare

    arrays = {f"x{i}": x.numpy() for i, x in enumerate(inputs)}
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    ours = prepare(model)
    return {"ours": lambda: ours.run(arrays), "ORT": lambda: session.run(None, arrays)}


def line(name: str, times: Mapping[str, float], more: str = "") -> None:
    print(
        f"{name:18}", *(f"{tool} {ms:8.3f}" for tool, ms in times.items()), "ms", more, flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=[], metavar="NAMES")
    parser.add_argument("--onnx", action="store_true", help="exported models")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.3, help="of a turn")
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    os.environ[NUM_THREADS.name] = str(options.threads)
    torch.set_num_threads(options.threads)
    torch._dynamo.config.allow_rnn = True
    print(f"{host_model()}, {options.threads} threads, PyTorch {torch.__version__}")
    ratios: dict[str, list[float]] = {}
    for name in options.names or NETWORKS:
        network = NETWORKS[name]
        if options.onnx and not network.is_exported:
            continue
        torch.manual_seed(0)
        model = network.make().eval()
        inputs = network.inputs(*network.sizes)
        with torch.no_grad():
            wanted = model(*inputs)
            rows: dict[str, tuple[dict[str, Call], str]] = {}
            if options.onnx:
                for is_new in (False, True):
                    kind = f"{name} {'dynamo' if is_new else 'script'}"
                    source = exported(network, model, inputs, is_new)
                    rows[kind] = prepared(source, inputs, options.threads), ""
            else:
                calls, first = compiled(model, inputs)
                rows[name] = calls, "first " + " ".join(f"{n} {s:.1f} s" for n, s in first.items())
            for row, (calls, more) in rows.items():
                errors = {tool: difference(call(), wanted) for tool, call in calls.items()}
                for tool, error in errors.items():
                    if error > TOLERANCE:
                        print(f"{row}: {tool} differs by {error:.1e}")
                times = in_turns(calls, options.seconds, options.turns)
                line(row, times, more)
                for tool in times.keys() - {"ours", "frozen"}:
                    for own in times.keys() & {"ours", "frozen"}:
                        key = f"{own} against {tool}"
                        ratios.setdefault(key, []).append(times[tool] / times[own])
    for key, found in sorted(ratios.items()):
        text = " ".join(f"{ratio:.2f}" for ratio in found)
        print(f"{key}: {text}; geometric mean {geometric_mean(found):.2f}")


if __name__ == "__main__":
    main()
