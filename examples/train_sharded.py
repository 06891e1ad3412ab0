"""Train an MLP on several devices: of this process, or processes by MPI.

    python examples/train_sharded.py --devices 4 --split data
    pip install 'tgdialect[mpi]'
    mpiexec -n 4 python examples/train_sharded.py --split zero

The losses are the same however the work is split:

* `none`: one device;
* `data`: each device has all weights, and a part of each batch; gradients are added up;
* `zero`: the same, but each device updates a part of the weights, and has the state of the
  optimizer for that part alone (ZeRO, first stage);
* `tensor`: each device has a part of the hidden units, and sees the whole batch.
"""

from __future__ import annotations

import argparse

import numpy as np
from tqdm import tqdm

import tgdialect as tg
from tgdialect import nn
from tgdialect.runtime.distributed.mpi import launched_size, mpi_communicator

INPUTS, HIDDEN, BATCH = 32, 128, 64


class MLP:
    """Two dense layers with a rectifier between them."""

    def __init__(self) -> None:
        self.first, self.second = nn.Linear(INPUTS, HIDDEN), nn.Linear(HIDDEN, 1)

    def __call__(self, x: tg.Tensor) -> tg.Tensor:
        return self.second(self.first(x).relu())


def place(model: MLP, devices: tuple[str, ...], split: str) -> None:
    """Put the weights where they belong."""
    for parameter in nn.state.get_parameters(model):
        if split in ("data", "zero"):
            parameter.shard_(devices)
    if split == "tensor":
        model.first.weight.shard_(devices, 0)
        model.first.bias.shard_(devices, 0)
        model.second.weight.shard_(devices, 1)
        model.second.bias.shard_(devices)


def train(devices: tuple[str, ...], split: str, steps: int, is_shown: bool = False) -> list[float]:
    """The loss of every step."""
    tg.Tensor.manual_seed(1)
    random = np.random.default_rng(0)
    model = MLP()
    parameters = nn.state.get_parameters(model)
    for parameter in parameters:
        parameter.requires_grad_()
    place(model, devices, split)
    optimizer = nn.optim.Adam(parameters, lr=1e-2, shard_state=split == "zero")
    losses: list[float] = []
    with tg.Tensor.train(), tqdm(total=steps, disable=not is_shown) as bar:
        for _ in range(steps):
            values = random.normal(size=(BATCH, INPUTS)).astype(np.float32)
            wanted = np.sin(values[:, :1]) + np.abs(values[:, 1:2])
            x, y = tg.Tensor(values), tg.Tensor(wanted)
            if split != "none":
                axis = None if split == "tensor" else 0
                x, y = x.shard(devices, axis), y.shard(devices, axis)
            optimizer.zero_grad()
            loss = ((model(x) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(float(loss.item()))
            bar.set_postfix(loss=f"{losses[-1]:.4f}")
            bar.update()
    return losses


def main() -> None:
    """Train on the devices that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])  # pyright: ignore
    parser.add_argument("--devices", type=int, default=2, help="without mpiexec (default: 2)")
    parser.add_argument("--split", choices=("none", "data", "zero", "tensor"), default="data")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--losses", metavar="FILE.npy", help="where to write the losses")
    options = parser.parse_args()
    by_mpi = launched_size() > 1
    rank = mpi_communicator().rank if by_mpi else 0
    kind, count = ("MPI", launched_size()) if by_mpi else ("CPU", options.devices)
    devices = tuple(f"{kind}:{i}" for i in range(count))
    losses = train(devices, options.split, options.steps, is_shown=rank == 0)
    if rank == 0:
        print(f"loss {losses[0]:.4f} at first, {losses[-1]:.4f} after {len(losses)} steps")
        if options.losses:
            np.save(options.losses, losses)


if __name__ == "__main__":
    main()
