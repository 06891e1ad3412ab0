"""Train a network on scikit-learn's images of digits: 8x8 pixels, ten classes, 1,797 images.

    pip install 'tgdialect[examples]'
    python examples/train_digits.py mlp            # or conv
    python examples/train_digits.py conv --seed 3 --plot loss.png

Prints the accuracy on the last fifth of the images, which the network has not seen, and plots the
loss of every step.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.datasets import load_digits
from tqdm import tqdm

import tgdialect as tg
from tgdialect import nn

BATCH = 64
EPOCHS = {"mlp": 20, "conv": 6}


class MLP:
    """Three layers."""

    def __init__(self) -> None:
        self.layers = [nn.Linear(64, 128), nn.Linear(128, 64), nn.Linear(64, 10)]

    def __call__(self, x: tg.Tensor) -> tg.Tensor:
        first, second, last = self.layers
        return last(second(first(x).relu()).relu())


class ConvNet:
    """Two convolutions, each with batch norm, ReLU and 2x2 max pooling, then a linear layer."""

    def __init__(self) -> None:
        self.conv = [nn.Conv2d(1, 16, 3, padding=1), nn.Conv2d(16, 32, 3, padding=1)]
        self.norm = [nn.BatchNorm(16), nn.BatchNorm(32)]
        self.last = nn.Linear(32 * 2 * 2, 10)

    def __call__(self, x: tg.Tensor) -> tg.Tensor:
        x = x.reshape(-1, 1, 8, 8)
        for conv, norm in zip(self.conv, self.norm, strict=True):
            x = norm(conv(x)).relu().max_pool2d(2)
        return self.last(x.flatten(1))


def train(model: MLP | ConvNet, images: np.ndarray, digits: np.ndarray, epochs: int) -> list[float]:
    """The loss of every step."""
    optimizer = nn.optim.AdamW(nn.state.get_parameters(model), lr=3e-3)
    order = np.random.default_rng(0)

    @tg.function
    def step(x: tg.Tensor, y: tg.Tensor) -> tg.Tensor:
        optimizer.zero_grad()
        loss = model(x).sparse_categorical_crossentropy(y)
        loss.backward()
        optimizer.schedule_step()
        return loss

    losses: list[float] = []
    batches = len(images) // BATCH
    with tg.Tensor.train(), tqdm(total=epochs * batches, unit="step") as progress:
        for _ in range(epochs):
            shuffled = order.permutation(len(images))[: batches * BATCH].reshape(batches, BATCH)
            for batch in shuffled:
                loss = step(tg.Tensor(images[batch]), tg.Tensor(digits[batch])).item()
                losses.append(float(loss))
                progress.set_postfix(loss=f"{loss:.3f}")
                progress.update()
    return losses


def plot(losses: list[float], path: Path) -> None:
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    axes.semilogy(losses, linewidth=1)
    axes.set(xlabel="step", ylabel="cross entropy", title="training loss")
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", choices=EPOCHS)
    parser.add_argument("--epochs", type=int, help="how often every image is seen")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plot", type=Path, default=Path("loss.png"), help="where the plot goes")
    arguments = parser.parse_args()
    epochs = EPOCHS[arguments.model] if arguments.epochs is None else arguments.epochs
    if epochs < 1:
        parser.error("epochs are greater than 0")

    data = load_digits()
    order = np.random.default_rng(0).permutation(len(data.data))
    images = (data.data[order] / 16).astype(np.float32)
    digits = data.target[order].astype(np.int32)
    known = len(images) * 4 // 5

    tg.Tensor.manual_seed(arguments.seed)
    model = MLP() if arguments.model == "mlp" else ConvNet()
    start = time.perf_counter()
    losses = train(model, images[:known], digits[:known], epochs)
    seconds = time.perf_counter() - start
    found = model(tg.Tensor(images[known:])).argmax(1).numpy()
    accuracy = (found == digits[known:]).mean()
    plot(losses, arguments.plot)
    print(f"test accuracy {accuracy:.1%} after {seconds:.1f} s; losses are in {arguments.plot}")


if __name__ == "__main__":
    main()
