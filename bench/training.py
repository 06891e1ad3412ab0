"""Time of a training step next to tinygrad and PyTorch, and where ours goes.

    pip install -e '.[test,bench]'
    python bench/training.py [mlp] [conv]

Each tool runs in a process of its own, one after the other, with the same data, batch of 64 and
optimizer (AdamW). Prints the median milliseconds of a step, the time of the first one, which traces
and compiles, and the share of our step that is not kernels: `calls` is what the step costs beyond
its compiled program, `program` the program, kernels and what it takes to call it.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

BATCH, STEPS = 64, 60
TOOLS = ("tgdialect", "pytorch", "tinygrad")
MODELS = ("mlp", "conv")

Run = Callable[[np.ndarray, np.ndarray], float]
"""A step on a batch, and its loss."""


def data() -> tuple[np.ndarray, np.ndarray]:
    """Batches of images like those of digits."""
    random = np.random.default_rng(0)
    images = random.random((STEPS, BATCH, 64), np.float32)
    return images, random.integers(0, 10, (STEPS, BATCH)).astype(np.int32)


# -- the models, in each tool --------------------------------------------------------------------


def network(nn: Any, model: str) -> tuple[list[Any], Callable[[Any], Any]]:
    """The layers and what they compute, in our `nn` or in tinygrad's, which has the same names."""
    if model == "mlp":
        layers: list[Any] = [nn.Linear(64, 128), nn.Linear(128, 64), nn.Linear(64, 10)]

        def forward(x: Any) -> Any:
            return layers[2](layers[1](layers[0](x).relu()).relu())
    else:
        layers = [
            *(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm(16)),
            *(nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm(32), nn.Linear(128, 10)),
        ]

        def forward(x: Any) -> Any:
            x = layers[1](layers[0](x.reshape(-1, 1, 8, 8))).relu().max_pool2d(2)
            x = layers[3](layers[2](x)).relu().max_pool2d(2)
            return layers[4](x.flatten(1))

    return layers, forward


def ours(model: str) -> tuple[Run, Any]:
    """A step, and the traced function that it is."""
    import tgdialect as tg
    from tgdialect import nn

    layers, forward = network(nn, model)
    optimizer = nn.optim.AdamW(nn.state.get_parameters(layers), lr=3e-3)

    @tg.function
    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = forward(x).sparse_categorical_crossentropy(y)
        loss.backward()
        optimizer.schedule_step()
        return loss

    def run(x: np.ndarray, y: np.ndarray) -> float:
        with tg.Tensor.train():
            return float(step(tg.Tensor(x), tg.Tensor(y)).item())

    return run, step


def pytorch(model: str) -> tuple[Run, None]:
    import torch
    from torch import nn

    if model == "mlp":
        net = nn.Sequential(
            *(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
        )
    else:
        net = nn.Sequential(
            nn.Unflatten(1, (1, 8, 8)),
            *(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2)),
            *(nn.Flatten(), nn.Linear(128, 10)),
        )
    optimizer = torch.optim.AdamW(net.parameters(), lr=3e-3)

    def run(x: np.ndarray, y: np.ndarray) -> float:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(torch.from_numpy(x)), torch.from_numpy(y).long())
        loss.backward()
        optimizer.step()
        return float(loss.item())

    return run, None


def tinygrad(model: str) -> tuple[Run, None]:
    from tinygrad import Context, Tensor, TinyJit, nn

    layers, forward = network(nn, model)
    optimizer = nn.optim.AdamW(nn.state.get_parameters(layers), lr=3e-3)

    @TinyJit
    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = forward(x).sparse_categorical_crossentropy(y).backward()
        return loss.realize(*optimizer.schedule_step())

    def run(x: np.ndarray, y: np.ndarray) -> float:
        with Context(TRAINING=1):
            return float(step(Tensor(x).realize(), Tensor(y).realize()).item())

    return run, None


# -- measuring -----------------------------------------------------------------------------------


def child(tool: str, model: str) -> None:
    images, digits = data()
    run, traced = {"tgdialect": ours, "pytorch": pytorch, "tinygrad": tinygrad}[tool](model)
    times: list[float] = []
    for x, y in zip(images, digits, strict=True):
        start = time.perf_counter()
        run(x, y)
        times.append((time.perf_counter() - start) * 1e3)
    # tinygrad's TinyJit captures in the second and third step.
    result = {"first": sum(times[:3]), "step": statistics.median(times[5:])}
    if traced is not None:
        result["program"] = program_time(traced, images[0], digits[0])
    print(json.dumps(result))


def program_time(function: Any, x: np.ndarray, y: np.ndarray) -> float:
    """The milliseconds of the compiled program alone, on the arrays that a step gives it."""
    (traced,) = function._traced.values()
    arrays = [x, y, *(t.numpy() for t in traced.implicit)]
    times: list[float] = []
    for _ in range(30):
        start = time.perf_counter()
        traced.executable(*arrays)
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def measure(tool: str, model: str) -> dict[str, float]:
    run = subprocess.run(
        [sys.executable, __file__, "--child", tool, model],
        env=os.environ | {"TG_CACHE_DIR": "", "CACHELEVEL": "0", "DEV": "CPU", "BEAM": "0"},
        capture_output=True,
        text=True,
    )
    if run.returncode:
        sys.exit(f"{tool} fails on {model}:\n{run.stderr}")
    return json.loads(run.stdout.splitlines()[-1])


def main() -> None:
    models = sys.argv[1:] or MODELS
    print(f"{'ms':<8}" + "".join(f"{tool:>22}" for tool in TOOLS) + f"{'our calls':>20}")
    print(f"{'':<8}" + f"{'step':>11}{'first three':>11}" * len(TOOLS))
    for model in models:
        found = {tool: measure(tool, model) for tool in TOOLS}
        line = "".join(f"{found[t]['step']:>11.2f}{found[t]['first']:>11.0f}" for t in TOOLS)
        mine = found["tgdialect"]
        calls = mine["step"] - mine["program"]
        print(f"{model:<8}{line}{calls:>11.2f} ({calls / mine['step']:.0%})")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3])
    else:
        main()
