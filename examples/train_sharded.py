"""Train an MLP or a small GPT on several devices: of this process, or processes by MPI.

    python examples/train_sharded.py --devices 4 --split data
    pip install 'tgdialect[mpi]'
    mpiexec -n 4 python examples/train_sharded.py --model gpt --split zero

The losses are the same however the work is split:

* `none`: one device;
* `data`: each device has all weights, and a part of each batch; gradients are added up;
* `zero`: the same, but each device updates a part of the weights, and has the state of the
  optimizer for that part alone (ZeRO, first stage);
* `tensor`: each device has a part of the hidden units and of the attention heads, and sees the
  whole batch (Shoeybi et al., 2019).
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gpt import GPT, Sizes
from tqdm import tqdm

import tgdialect as tg
from tgdialect import nn
from tgdialect.runtime.distributed.mpi import launched_size, mpi_communicator

Batch = tuple[tg.Tensor, tg.Tensor]


class Regression:
    """A function of 32 numbers, learnt by two dense layers with a rectifier between them."""

    INPUTS, HIDDEN, BATCH, RATE = 32, 128, 64, 1e-2

    def __init__(self) -> None:
        self.first = nn.Linear(self.INPUTS, self.HIDDEN)
        self.second = nn.Linear(self.HIDDEN, 1)

    def batch(self, random: np.random.Generator) -> Batch:
        """Inputs, and what the function gives."""
        values = random.normal(size=(self.BATCH, self.INPUTS)).astype(np.float32)
        wanted = np.sin(values[:, :1]) + np.abs(values[:, 1:2])
        return tg.Tensor(values), tg.Tensor(wanted)

    def loss(self, x: tg.Tensor, y: tg.Tensor) -> tg.Tensor:
        return ((self.second(self.first(x).relu()) - y) ** 2).mean()

    def split_axes(self) -> Mapping[str, int]:
        """The axes of weights that are split among devices which share the hidden units."""
        return {"first.weight": 0, "first.bias": 0, "second.weight": 1}


class Language:
    """Numbers that go up in equal steps, continued by a small GPT."""

    SIZES = Sizes(vocabulary=32, context=16, width=32, heads=4, layers=2)
    BATCH, RATE = 16, 3e-3

    def __init__(self) -> None:
        self.gpt = GPT(nn, self.SIZES)

    def batch(self, random: np.random.Generator) -> Batch:
        """Sequences, and what comes next at each place."""
        first, step = random.integers(0, (self.SIZES.vocabulary, 5), (self.BATCH, 2)).T[..., None]
        tokens = (first + step * np.arange(self.SIZES.context + 1)) % self.SIZES.vocabulary
        return tg.Tensor(tokens[:, :-1].copy()), tg.Tensor(tokens[:, 1:].copy())

    def loss(self, x: tg.Tensor, y: tg.Tensor) -> tg.Tensor:
        return self.gpt(x).flatten(0, 1).sparse_categorical_crossentropy(y.flatten())

    def split_axes(self) -> Mapping[str, int]:
        """The axes of weights that are split among devices which share heads and hidden units."""
        of_block = {
            "qkv.weight": 0,
            "qkv.bias": 0,
            "proj.weight": 1,
            "up.weight": 0,
            "up.bias": 0,
            "down.weight": 1,
        }
        return {
            f"gpt.blocks.{i}.{name}": axis
            for i in range(self.SIZES.layers)
            for name, axis in of_block.items()
        }


MODELS: Mapping[str, Any] = {"mlp": Regression, "gpt": Language}


def place(model: Regression | Language, devices: tuple[str, ...], split: str) -> None:
    """Put the weights where they belong."""
    if split == "none":
        return
    axes = model.split_axes() if split == "tensor" else {}
    for name, parameter in nn.state.get_state_dict(model).items():
        parameter.shard_(devices, axes.get(name))


def train(
    devices: tuple[str, ...], split: str, steps: int, is_shown: bool = False, name: str = "mlp"
) -> list[float]:
    """The loss of every step."""
    tg.Tensor.manual_seed(1)
    random = np.random.default_rng(0)
    model = MODELS[name]()
    parameters = nn.state.get_parameters(model)
    for parameter in parameters:
        parameter.requires_grad_()
    place(model, devices, split)
    optimizer = nn.optim.Adam(parameters, lr=model.RATE, shard_state=split == "zero")
    losses: list[float] = []
    with tg.Tensor.train(), tqdm(total=steps, disable=not is_shown) as bar:
        for _ in range(steps):
            x, y = model.batch(random)
            if split != "none":
                axis = None if split == "tensor" else 0
                x, y = x.shard(devices, axis), y.shard(devices, axis)
            optimizer.zero_grad()
            loss = model.loss(x, y)
            loss.backward()
            optimizer.step()
            losses.append(float(loss.item()))
            bar.set_postfix(loss=f"{losses[-1]:.4f}")
            bar.update()
    return losses


def main(arguments: Sequence[str] | None = None) -> None:
    """Train on the devices that the arguments, by default those of the command line, ask for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])  # pyright: ignore
    parser.add_argument("--devices", type=int, default=2, help="without mpiexec (default: 2)")
    parser.add_argument("--model", choices=MODELS, default="mlp")
    parser.add_argument("--split", choices=("none", "data", "zero", "tensor"), default="data")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--losses", metavar="FILE.npy", help="where to write the losses")
    options = parser.parse_args(arguments)
    by_mpi = launched_size() > 1
    rank = mpi_communicator().rank if by_mpi else 0
    kind, count = ("MPI", launched_size()) if by_mpi else ("CPU", options.devices)
    devices = tuple(f"{kind}:{i}" for i in range(count))
    losses = train(devices, options.split, options.steps, rank == 0, options.model)
    if rank == 0:
        print(f"loss {losses[0]:.4f} at first, {losses[-1]:.4f} after {len(losses)} steps")
        if options.losses:
            np.save(options.losses, losses)


if __name__ == "__main__":
    main()
