"""Train a small GPT on the characters of a text, and have it write some.

    pip install 'tgdialect[examples]'
    python examples/train_gpt.py                                     # on this project's docs
    python examples/train_gpt.py --text poem.txt --steps 500 --prompt "The "

Plots the loss of every step, with that of text which is not trained on. What is generated goes
through a cache of keys and values whose length is symbolic: one program for all lengths.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import numpy as np
from gpt import GPT, Sizes
from tqdm import tqdm

import tgdialect as tg
from tgdialect import nn

DOCS = Path(__file__).parents[1] / "docs"
BATCH = 16


def batches(data: np.ndarray, context: int, seed: int) -> Iterator[tuple[tg.Tensor, tg.Tensor]]:
    """Pieces of the text, and what comes next at each place."""
    random = np.random.default_rng(seed)
    while True:
        starts = random.integers(0, len(data) - context, BATCH)
        pieces = np.stack([data[s : s + context + 1] for s in starts])
        yield tg.Tensor(pieces[:, :-1]), tg.Tensor(pieces[:, 1:])


def train(
    model: GPT, data: np.ndarray, steps: int, seed: int
) -> tuple[list[float], list[tuple[int, float]]]:
    """The loss of every step, and every now and then that of the text's last tenth."""
    optimizer = nn.optim.AdamW(nn.state.get_parameters(model), lr=3e-3)
    schedule = nn.optim.CosineAnnealingLR(optimizer, steps, eta_min=3e-4)

    def loss_of(x: tg.Tensor, y: tg.Tensor) -> tg.Tensor:
        logits = model(x).reshape(-1, model.sizes.vocabulary)
        return logits.sparse_categorical_crossentropy(y.flatten())

    @tg.function
    def step(x: tg.Tensor, y: tg.Tensor) -> tg.Tensor:
        optimizer.zero_grad()
        loss = loss_of(x, y)
        loss.backward()
        optimizer.schedule_step()
        return loss.detach()

    evaluate = tg.function(loss_of)
    known = len(data) * 9 // 10
    known_batches = batches(data[:known], model.sizes.context, seed)
    new_batches = batches(data[known:], model.sizes.context, seed)
    losses: list[float] = []
    held_out: list[tuple[int, float]] = []
    with tqdm(total=steps, unit="step") as progress:
        for i in range(steps):
            with tg.Tensor.train():
                losses.append(float(step(*next(known_batches)).item()))
                schedule.step()
            if i % 25 == 24 or i == steps - 1:
                held_out.append((i, float(evaluate(*next(new_batches)).item())))
                progress.set_postfix(loss=f"{losses[-1]:.2f}", held_out=f"{held_out[-1][1]:.2f}")
            progress.update()
    return losses, held_out


def generate(model: GPT, prompt: list[int], count: int, temperature: float) -> Iterator[int]:
    """Tokens that go on from a prompt, one at a time."""
    context = model.sizes.context
    position = tg.Variable("position", 0, context - 1)
    caches = [tg.Tensor.zeros(*model.cache_shape(1)).contiguous().realize() for _ in model.blocks]

    @tg.function
    def step(token: tg.Tensor, at: int) -> tg.Tensor:
        logits = model(token, caches, at)[:, -1]
        return (logits / temperature).softmax(-1).multinomial()

    written, at = list(prompt), context
    for _ in range(count):
        if at == context:  # The caches are full, or not begun: begin with what came last.
            fresh, at = written[-context // 2 :], 0
        else:
            fresh = written[-1:]
        for token in fresh:
            following = step(tg.Tensor([[token]]), position.bind(at))
            at += 1
        written.append(int(following.item()))
        yield written[-1]


def plot(losses: list[float], held_out: list[tuple[int, float]], path: Path) -> None:
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 4))
    axes.plot(losses, linewidth=1, label="trained on")
    axes.plot(*zip(*held_out, strict=True), marker=".", label="held out")
    axes.set(xlabel="step", ylabel="cross entropy of a character (nats)", title="training loss")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--text", type=Path, help="a text in UTF-8; by default this project's docs")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--prompt", default="The ", help="what the generated text begins with")
    parser.add_argument("--length", type=int, default=300, help="how many characters it goes on")
    parser.add_argument("--temperature", type=float, default=0.7)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plot", type=Path, default=Path("loss.png"), help="where the plot goes")
    arguments = parser.parse_args()

    paths = [arguments.text] if arguments.text else sorted(DOCS.glob("*.md"))
    try:
        text = "".join(path.read_text(encoding="utf-8") for path in paths)
    except OSError as error:
        parser.error(f"{arguments.text}: {error.strerror}")
    except UnicodeDecodeError as error:
        parser.error(f"{arguments.text} is no text in UTF-8: {error}")
    letters = sorted(set(text))
    sizes = Sizes(vocabulary=len(letters))
    number = {letter: i for i, letter in enumerate(letters)}
    if len(text) < 20 * sizes.context:
        parser.error(f"a text of {len(text)} characters is too short: {20 * sizes.context}")
    if not arguments.prompt:
        parser.error("a prompt of one character at least")
    if unknown := set(arguments.prompt) - set(letters):
        parser.error(f"a prompt of the text's characters, not of {''.join(sorted(unknown))!r}")
    if arguments.steps < 1 or arguments.temperature <= 0:
        parser.error("steps and temperature are greater than 0")

    tg.Tensor.manual_seed(arguments.seed)
    model = GPT(nn, sizes)
    data = np.array([number[letter] for letter in text], np.int32)
    start = time.perf_counter()
    losses, held_out = train(model, data, arguments.steps, arguments.seed)
    print(f"trained in {time.perf_counter() - start:.1f} s")
    plot(losses, held_out, arguments.plot)
    print(f"loss {held_out[-1][1]:.2f} on held-out text; losses are in {arguments.plot}\n")

    prompt = [number[letter] for letter in arguments.prompt]
    sys.stdout.write(arguments.prompt)
    start = time.perf_counter()
    for token in generate(model, prompt, arguments.length, arguments.temperature):
        sys.stdout.write(letters[token])
        sys.stdout.flush()
    print(f"\n\n{arguments.length / (time.perf_counter() - start):.0f} characters a second")


if __name__ == "__main__":
    main()
