"""Time of a training step next to tinygrad and PyTorch, and where ours goes.

    pip install -e '.[bench]'
    python bench/training.py [mlp] [conv] [gpt]

Each tool runs in a process of its own, one after the other, with the same data and optimizer
(AdamW): batches of 64 images for the MLP and the ConvNet, 16 texts of 64 characters for the GPT of
`examples/gpt.py`. Prints the median milliseconds of a step and those of the first three, in which
ours and tinygrad trace and compile. Then where ours goes: tracing and compiling once, kernels and
Python (all that is not compiled code) in every step.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "examples"))
from gpt import GPT, Sizes

TOOLS = ("tgdialect", "pytorch", "tinygrad")
STEPS = {"mlp": 60, "conv": 60, "gpt": 25}
BATCH, TEXTS = 64, 16
SIZES = Sizes(vocabulary=96)

Run = Callable[[np.ndarray, np.ndarray], float]
"""A step on a batch, and its loss."""


def data(model: str) -> tuple[np.ndarray, np.ndarray]:
    """Batches of inputs and of the classes to be found, as large as those of digits or a text."""
    random, steps = np.random.default_rng(0), STEPS[model]
    if model == "gpt":
        text = random.integers(0, SIZES.vocabulary, (steps, TEXTS, SIZES.context + 1))
        return text[..., :-1].astype(np.int32), text[..., 1:].astype(np.int32)
    images = random.random((steps, BATCH, 64), np.float32)
    return images, random.integers(0, 10, (steps, BATCH)).astype(np.int32)


# -- the models, in each tool --------------------------------------------------------------------


def network(nn: Any, model: str) -> tuple[list[Any], Callable[[Any], Any]]:
    """The layers and what they compute, in our `nn` or in tinygrad's, which has the same names."""
    if model == "gpt":
        gpt = GPT(nn, SIZES)
        return [gpt], lambda x: gpt(x).reshape(-1, SIZES.vocabulary)
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


def ours(model: str) -> tuple[Run, dict[str, float]]:
    """A step, and the seconds of all so far in tracing, compiling and kernels."""
    import tgdialect as tg
    from tgdialect import nn
    from tgdialect.frontend import function as function_module

    layers, forward = network(nn, model)
    optimizer = nn.optim.AdamW(nn.state.get_parameters(layers), lr=3e-3)
    seconds = dict.fromkeys(("trace", "compile", "kernels"), 0.0)

    def timed(part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            start = time.perf_counter()
            result = function(*arguments)
            seconds[part] += time.perf_counter() - start
            return result

        return call

    def compile_and_time(module: Any) -> Any:
        executable = tg.compile(module)
        executable._one = None  # So that all calls go through these two.
        executable._launched = timed("kernels", executable._launched)
        executable._run = timed("kernels", executable._run)
        return executable

    function_module.compile = timed("compile", compile_and_time)
    function_module.Function._trace = timed("trace", function_module.Function._trace)

    @tg.function
    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = forward(x).sparse_categorical_crossentropy(y.flatten())
        loss.backward()
        optimizer.schedule_step()
        return loss

    def run(x: np.ndarray, y: np.ndarray) -> float:
        with tg.Tensor.train():
            return float(step(tg.Tensor(x), tg.Tensor(y)).item())

    return run, seconds


def pytorch(model: str) -> tuple[Run, None]:
    import torch
    from torch import nn

    if model == "gpt":
        net = pytorch_gpt(torch)
    elif model == "mlp":
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
        classes = torch.from_numpy(y).long().flatten()
        loss = nn.functional.cross_entropy(net(torch.from_numpy(x)), classes)
        loss.backward()
        optimizer.step()
        return float(loss.item())

    return run, None


def pytorch_gpt(torch: Any) -> Any:
    """The network of `examples/gpt.py`."""
    from torch import nn

    width, heads = SIZES.width, SIZES.heads

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            mixed = self.qkv(self.ln1(x)).reshape(*x.shape[:2], heads, 3 * width // heads)
            q, k, v = (part.transpose(1, 2) for part in mixed.split(width // heads, 3))
            mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.proj(mixed.transpose(1, 2).reshape(x.shape))
            hidden = nn.functional.gelu(self.up(self.ln2(x)), approximate="tanh")
            return x + self.down(hidden)

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.token = nn.Embedding(SIZES.vocabulary, width)
            self.position = nn.Embedding(SIZES.context, width)
            self.blocks = nn.Sequential(*(Block() for _ in range(SIZES.layers)))
            self.ln, self.head = (
                nn.LayerNorm(width),
                nn.Linear(width, SIZES.vocabulary, bias=False),
            )

        def forward(self, tokens: Any) -> Any:
            x = self.token(tokens) + self.position(torch.arange(tokens.shape[1]))
            return self.head(self.ln(self.blocks(x))).flatten(0, 1)

    return Network()


def tinygrad(model: str) -> tuple[Run, None]:
    from tinygrad import Context, Tensor, TinyJit, nn

    layers, forward = network(nn, model)
    optimizer = nn.optim.AdamW(nn.state.get_parameters(layers), lr=3e-3)

    @TinyJit
    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = forward(x).sparse_categorical_crossentropy(y.flatten()).backward()
        return loss.realize(*optimizer.schedule_step())

    def run(x: np.ndarray, y: np.ndarray) -> float:
        with Context(TRAINING=1):
            return float(step(Tensor(x).realize(), Tensor(y).realize()).item())

    return run, None


# -- measuring -----------------------------------------------------------------------------------


def child(tool: str, model: str) -> None:
    inputs, classes = data(model)
    run, seconds = {"tgdialect": ours, "pytorch": pytorch, "tinygrad": tinygrad}[tool](model)
    times: list[float] = []
    kernels: list[float] = []
    before = 0.0
    for x, y in zip(inputs, classes, strict=True):
        start = time.perf_counter()
        run(x, y)
        times.append((time.perf_counter() - start) * 1e3)
        if seconds is not None:
            kernels.append((seconds["kernels"] - before) * 1e3)
            before = seconds["kernels"]
    # tinygrad's TinyJit captures in the second and third step.
    result = {"first": sum(times[:3]), "step": statistics.median(times[5:])}
    if seconds is not None:
        rest = [t - k for t, k in zip(times[5:], kernels[5:], strict=True)]
        result |= {
            "trace": (seconds["trace"] - seconds["compile"]) * 1e3,
            "compile": seconds["compile"] * 1e3,
            "kernels": statistics.median(kernels[5:]),
            "python": statistics.median(rest),
        }
    print(json.dumps(result))


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
    models = sys.argv[1:] or list(STEPS)
    if unknown := set(models) - set(STEPS):
        sys.exit(f"there is no model {', '.join(sorted(unknown))}: {', '.join(STEPS)}")
    print(f"{'ms':<6}" + "".join(f"{tool:>21}" for tool in TOOLS) + f"{'where ours goes':>37}")
    titles = ("tracing", "compiling", "kernels", "Python")
    print(f"{'':<6}" + f"{'step':>10}{'first 3':>11}" * len(TOOLS), end="")
    print("".join(f"{title:>11}" for title in titles))
    for model in models:
        found = {tool: measure(tool, model) for tool in TOOLS}
        line = "".join(f"{found[t]['step']:>10.2f}{found[t]['first']:>11.0f}" for t in TOOLS)
        mine = found["tgdialect"]
        parts = f"{mine['trace']:>11.0f}{mine['compile']:>11.0f}{mine['kernels']:>11.2f}"
        share = mine["python"] / mine["step"]
        print(f"{model:<6}{line}{parts}{mine['python']:>7.2f} {share:.0%}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3])
    else:
        main()
