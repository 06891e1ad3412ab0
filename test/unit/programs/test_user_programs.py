"""Programs as a user writes them: a classifier with checkpoints, a language model, attention with
masks, images of bytes, k-means and an ODE that is fitted. Each is compiled once for batches of all
sizes, and has the numbers of PyTorch or NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tgdialect as tg
from tgdialect import Tensor, nn

BATCH = tg.Variable("batch", 1, 16)


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


@pytest.fixture
def once(compilations: list[Any]) -> Any:
    """Makes a function fail if a call after the first one, or its arguments, compile anything."""

    def checked(function: Any) -> Any:
        calls = 0

        def call(*arguments: Any) -> Any:
            nonlocal calls
            compilations.clear()
            result = function(*arguments)
            assert calls == 0 or not compilations
            calls += 1
            return result

        return call

    return checked


def loader(*arrays: np.ndarray, seed: int = 0, size: int = 16) -> Iterator[Sequence[np.ndarray]]:
    """Batches in random order, the last of which may be shorter."""
    order = np.random.default_rng(seed).permutation(len(arrays[0]))
    for start in range(0, len(order), size):
        yield [array[order[start : start + size]] for array in arrays]


def tensors(*arrays: np.ndarray) -> list[Tensor]:
    """A batch whose first axis has a symbolic size."""
    size = BATCH.bind(len(arrays[0]))
    return [Tensor(array)[:size] for array in arrays]


def weights(torch: Any, model: Any) -> dict[str, Any]:
    """The parameters of a model for PyTorch."""
    state = nn.state.get_state_dict(model).items()
    return {name: torch.tensor(t.numpy(), requires_grad=t.requires_grad) for name, t in state}


# -- a classifier, with a loader and checkpoints ---------------------------------------------------


class Classifier:
    def __init__(self) -> None:
        # No bias before the norm: its gradient is 0, and Adam makes steps of that rounding error.
        first = nn.Linear(8, 16, bias=False)
        self.layers = [first, nn.BatchNorm(16), Tensor.relu, nn.Linear(16, 3)]

    def __call__(self, x: Tensor) -> Tensor:
        return x.sequential(self.layers)


class Training:
    def __init__(self, once: Any) -> None:
        self.model = Classifier()
        self.optimizer = nn.optim.AdamW(nn.state.get_parameters(self.model), lr=0.01)

        @once
        @tg.function
        def step(x: Tensor, y: Tensor) -> Tensor:
            self.optimizer.zero_grad()
            loss = self.model(x).cross_entropy(y, label_smoothing=0.1)
            loss.backward()
            self.optimizer.schedule_step()
            return loss

        self.step = step

    def epoch(self, *arrays: np.ndarray, seed: int) -> list[float]:
        with Tensor.train():
            return [self.step(*tensors(*batch)).item() for batch in loader(*arrays, seed=seed)]


@pytest.mark.parity
def test_a_classifier(torch: Any, tmp_path: Path, once: Any):
    random = np.random.default_rng(1)
    x = random.normal(size=(53, 8)).astype(np.float32)
    y = (x[:, :3] + random.normal(size=(53, 3)) / 4).argmax(1)
    Tensor.manual_seed(0)
    training = Training(once)
    first, norm, _, last = training.model.layers
    L = torch.nn
    reference = L.Sequential(
        L.Linear(8, 16, bias=False), L.BatchNorm1d(16), L.ReLU(), L.Linear(16, 3)
    )
    start = {
        f"{i}.{name}": torch.tensor(getattr(layer, name).numpy())
        for i, layer in ((0, first), (1, norm), (3, last))
        for name in ("weight", "bias")
        if getattr(layer, name) is not None
    }
    reference.load_state_dict(start, strict=False)
    optimizer = torch.optim.AdamW(reference.parameters(), lr=0.01)
    for epoch in range(3):
        if epoch == 1:  # Go on from a file, with other objects.
            state = nn.state.get_state_dict([training.model, training.optimizer])
            nn.state.safe_save(state, tmp_path / "model.safetensors")
            training = Training(once)
            state = nn.state.safe_load(tmp_path / "model.safetensors")
            nn.state.load_state_dict([training.model, training.optimizer], state)
        losses: list[float] = []
        for batch in loader(x, y, seed=epoch):
            optimizer.zero_grad()
            inputs, classes = map(torch.tensor, batch)
            loss = L.functional.cross_entropy(reference(inputs), classes, label_smoothing=0.1)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        np.testing.assert_allclose(training.epoch(x, y, seed=epoch), losses, rtol=1e-4)
    parts = np.split(x, [16, 32, 48])
    predict = once(tg.function(lambda x: training.model(x)))
    found = np.concatenate([predict(*tensors(part)).numpy() for part in parts])
    expected = reference.eval()(torch.tensor(x)).detach().numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
    predict = once(tg.function(lambda x: training.model(x).argmax(1)))
    classes = np.concatenate([predict(*tensors(part)).numpy() for part in parts])
    np.testing.assert_array_equal(classes, found.argmax(1))


# -- a language model, and generation with a cache -------------------------------------------------

LENGTH = tg.Variable("length", 1, 12)
POSITION = tg.Variable("position", 0, 11)


class LanguageModel:
    def __init__(self, vocabulary: int = 7, width: int = 8) -> None:
        self.token, self.position = nn.Embedding(vocabulary, width), nn.Embedding(12, width)
        self.norm, self.qkv = nn.LayerNorm(width), nn.Linear(width, 3 * width)
        self.head = nn.Linear(width, vocabulary)

    def __call__(self, tokens: Tensor, cache: Tensor | None = None, at: int = 0) -> Tensor:
        """Logits of (batch, length, vocabulary). A cache has the keys and values before `at`."""
        stop = at + tokens.shape[1]
        x = self.token(tokens) + self.position(Tensor.arange(at, stop))
        q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
        if cache is not None:
            cache[:, :, at:stop] = Tensor.stack(k, v)
            k, v = cache[0, :, :stop], cache[1, :, :stop]
        is_causal = cache is None
        return self.head(x + q.scaled_dot_product_attention(k, v, is_causal=is_causal))


def logits_of(state: dict[str, Any], tokens: Any, F: Any) -> Any:
    """The same in PyTorch."""
    x = state["token.weight"][tokens] + state["position.weight"][: tokens.shape[1]]
    normal = F.layer_norm(x, (8,), state["norm.weight"], state["norm.bias"])
    parts = F.linear(normal, state["qkv.weight"], state["qkv.bias"]).chunk(3, -1)
    mixed = F.scaled_dot_product_attention(*parts, is_causal=True)
    return F.linear(x + mixed, state["head.weight"], state["head.bias"])


@pytest.mark.parity
def test_a_language_model(torch: Any, once: Any):
    F = torch.nn.functional
    random = np.random.default_rng(2)
    texts = [
        (random.integers(0, 7, (rows, 1)) + np.arange(columns)) % 7
        for rows, columns in ((16, 12), (3, 5), (1, 2), (9, 12), (16, 7))
    ]
    Tensor.manual_seed(1)
    model = LanguageModel()
    optimizer = nn.optim.SGD(nn.state.get_parameters(model), lr=0.5)
    state = weights(torch, model)
    reference = torch.optim.SGD(state.values(), lr=0.5)

    @once
    @tg.function
    def step(text: Tensor) -> Tensor:
        optimizer.zero_grad()
        logits = model(text[:, :-1])
        loss = logits.flatten(0, 1).cross_entropy(text[:, 1:].flatten())
        loss.backward()
        optimizer.schedule_step()
        return loss

    for text in texts * 4:
        rows, columns = BATCH.bind(len(text)), LENGTH.bind(text.shape[1] - 1)
        with Tensor.train():
            loss = step(Tensor(text)[:rows, : columns + 1])
        reference.zero_grad()
        given = torch.tensor(text)
        logits = logits_of(state, given[:, :-1], F)
        wanted = F.cross_entropy(logits.flatten(0, 1), given[:, 1:].flatten())
        wanted.backward()
        reference.step()
        np.testing.assert_allclose(loss.item(), wanted.item(), rtol=1e-3)

    # Generate, one token at a time.
    cache = Tensor.zeros(2, 1, 12, 8).contiguous().realize()

    @once
    @tg.function
    def following(token: Tensor, at: int) -> Tensor:
        return model(token, cache, at)[:, -1].argmax(-1, keepdim=True)

    token, written = Tensor([[3]]), [3]
    for at in range(11):
        token = following(token, POSITION.bind(at))
        written.append(token.item())
    expected = [3]
    for _ in range(11):
        expected.append(logits_of(state, torch.tensor([expected]), F)[0, -1].argmax().item())
    assert written == expected


# -- attention with masks --------------------------------------------------------------------------


@pytest.mark.parity
def test_attention_with_masks(torch: Any, once: Any):
    """Sequences of several lengths, padded to the longest of their batch."""
    F = torch.nn.functional
    random = np.random.default_rng(3)
    Tensor.manual_seed(2)
    model = {"qkv": nn.Linear(6, 3 * 8), "out": nn.Linear(8, 2)}
    optimizer = nn.optim.Adam(nn.state.get_parameters(model), lr=0.01)
    state = weights(torch, model)
    reference = torch.optim.Adam(state.values(), lr=0.01)

    @once
    @tg.function
    def step(x: Tensor, lengths: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        batch, longest, _ = x.shape
        is_there = Tensor.arange(longest) < lengths.unsqueeze(1)
        parts = model["qkv"](x).reshape(batch, longest, 3, 2, 4).permute(2, 0, 3, 1, 4)
        mask = is_there.reshape(batch, 1, 1, longest)
        mixed = parts[0].scaled_dot_product_attention(parts[1], parts[2], mask)
        hidden = mixed.transpose(1, 2).reshape(batch, longest, 8)
        pooled = hidden.masked_fill(~is_there.unsqueeze(-1), 0).sum(1) / lengths.unsqueeze(1)
        loss = model["out"](pooled).cross_entropy(y)
        loss.backward()
        optimizer.schedule_step()
        return loss

    for rows, longest in ((16, 12), (5, 3), (1, 1), (16, 7), (2, 12)):
        x = random.normal(size=(rows, longest, 6)).astype(np.float32)
        lengths, y = random.integers(1, longest + 1, rows), random.integers(0, 2, rows)
        n, m = BATCH.bind(rows), LENGTH.bind(longest)
        with Tensor.train():
            loss = step(Tensor(x)[:n, :m], Tensor(lengths)[:n], Tensor(y)[:n])
        reference.zero_grad()
        is_there = torch.arange(longest) < torch.tensor(lengths)[:, None]
        parts = F.linear(torch.tensor(x), state["qkv.weight"], state["qkv.bias"])
        parts = parts.reshape(rows, longest, 3, 2, 4).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(*parts, is_there[:, None, None])
        hidden = mixed.transpose(1, 2).reshape(rows, longest, 8) * is_there[..., None]
        pooled = hidden.sum(1) / torch.tensor(lengths)[:, None]
        logits = F.linear(pooled, state["out.weight"], state["out.bias"])
        wanted = F.cross_entropy(logits, torch.tensor(y))
        wanted.backward()
        reference.step()
        np.testing.assert_allclose(loss.item(), wanted.item(), rtol=1e-4)


# -- images of bytes -------------------------------------------------------------------------------


@pytest.mark.parity
def test_images_of_bytes(torch: Any, once: Any):
    """A convolutional network on images that stay bytes in memory: a batch is a slice of them."""
    random = np.random.default_rng(4)
    images = random.integers(0, 256, (41, 8, 8, 3)).astype(np.uint8)
    classes = random.integers(0, 4, 41).astype(np.uint8)
    Tensor.manual_seed(3)
    conv, norm, last = nn.Conv2d(3, 4, 3), nn.GroupNorm(2, 4), nn.Linear(36, 4)
    optimizer = nn.optim.SGD(nn.state.get_parameters([conv, norm, last]), lr=0.1, momentum=0.9)
    state = weights(torch, [conv, norm, last])
    reference = torch.optim.SGD(state.values(), lr=0.1, momentum=0.9)
    all_images, all_classes = Tensor(images), Tensor(classes)

    @once
    @tg.function
    def step(x: Tensor, y: Tensor) -> Tensor:
        optimizer.zero_grad()
        pixels = (x.permute(0, 3, 1, 2) / 255 - 0.5) * 2
        hidden = norm(conv(pixels)).relu().max_pool2d(2).flatten(1)
        loss = last(hidden).cross_entropy(y)
        loss.backward()
        optimizer.schedule_step()
        return loss

    F = torch.nn.functional
    for start in (0, 16, 32) * 2:
        size = min(16, 41 - start)
        n = BATCH.bind(size)
        with Tensor.train():
            loss = step(all_images[start : start + n], all_classes[start : start + n])
        reference.zero_grad()
        pixels = torch.tensor(images[start : start + size]).permute(0, 3, 1, 2)
        hidden = F.conv2d((pixels / 255 - 0.5) * 2, state["0.weight"], state["0.bias"])
        hidden = F.group_norm(hidden, 2, state["1.weight"], state["1.bias"])
        hidden = F.max_pool2d(hidden.relu(), 2).flatten(1)
        logits = F.linear(hidden, state["2.weight"], state["2.bias"])
        wanted = F.cross_entropy(logits, torch.tensor(classes[start : start + size]).long())
        wanted.backward()
        reference.step()
        np.testing.assert_allclose(loss.item(), wanted.item(), rtol=1e-3)


# -- k-means ---------------------------------------------------------------------------------------

POINTS = tg.Variable("points", 1, 200)


def test_k_means(once: Any):
    random = np.random.default_rng(5)

    @once
    @tg.function
    def step(points: Tensor, centers: Tensor) -> tuple[Tensor, Tensor]:
        distances = ((points.unsqueeze(1) - centers) ** 2).sum(-1)
        nearest = distances.argmin(1)
        hits = nearest.one_hot(4).float()
        counts = hits.sum(0).unsqueeze(1)
        moved = (counts > 0).where(hits.T @ points / counts.maximum(1), centers)
        return moved, distances.min(1).mean()

    for count in (200, 57, 4):
        points = random.normal(size=(count, 2)) + 4 * random.integers(0, 2, (count, 2))
        points = points.astype(np.float32)
        centers, expected = Tensor(points[:4]), points[:4].astype(np.float64)
        n = POINTS.bind(count)
        for _ in range(5):
            distances = ((points[:, None] - expected) ** 2).sum(-1)
            nearest = distances.argmin(1)
            centers, spread = step(Tensor(points)[:n], centers)
            np.testing.assert_allclose(spread.item(), distances.min(1).mean(), 1e-4, 1e-6)
            groups = [points[nearest == k] for k in range(4)]
            expected = [
                group.mean(0) if len(group) else old
                for group, old in zip(groups, expected, strict=True)
            ]
            np.testing.assert_allclose(centers.numpy(), expected, 1e-4, 1e-5)


# -- an ODE, fitted through its solver -------------------------------------------------------------


def derivative(state: Any, theta: Any, stack: Any) -> Any:
    """Lotka and Volterra's equations of prey and predators."""
    prey, predators = state[:, 0], state[:, 1]
    meetings = prey * predators
    a, b, c, d = (theta[i] for i in range(4))
    return stack([a * prey - b * meetings, c * meetings - d * predators])


def solution(state: Any, theta: Any, stack: Any, steps: int = 3, h: float = 0.2) -> Any:
    """The end state, by the classical Runge-Kutta method."""
    for _ in range(steps):
        k1 = derivative(state, theta, stack)
        k2 = derivative(state + k1 * (h / 2), theta, stack)
        k3 = derivative(state + k2 * (h / 2), theta, stack)
        k4 = derivative(state + k3 * h, theta, stack)
        state = state + (k1 + 2 * k2 + 2 * k3 + k4) * (h / 6)
    return state


def test_an_ode_is_fitted(once: Any):
    random = np.random.default_rng(6)
    true = np.array([1.1, 0.4, 0.3, 0.7])
    theta = Tensor([1.0, 0.5, 0.5, 1.0], requires_grad=True)
    optimizer = nn.optim.Adam([theta], lr=0.05)

    def columns(parts: Any) -> np.ndarray:
        return np.stack(parts, 1)

    def loss_of(start: Tensor, end: Tensor) -> Tensor:
        found = solution(start, theta, lambda parts: Tensor.stack(*parts, dim=1))
        return ((found - end) ** 2).mean()

    @once
    @tg.function
    def step(start: Tensor, end: Tensor) -> tuple[Tensor, Tensor]:
        optimizer.zero_grad()
        loss = loss_of(start, end)
        loss.backward()
        gradient = theta.grad
        assert gradient is not None
        optimizer.schedule_step()
        return loss, gradient

    starts = random.uniform(0.5, 3, (23, 2))
    ends = solution(starts, true, columns)
    with Tensor.train():
        for epoch in range(30):
            for start, end in loader(starts, ends, seed=epoch):
                before = theta.numpy().astype(np.float64)
                single = (array.astype(np.float32) for array in (start, end))
                loss, gradient = step(*tensors(*single))
                if epoch:
                    continue

                def exact(theta: np.ndarray, start=start, end=end) -> Any:
                    return ((solution(start, theta, columns) - end) ** 2).mean()

                moves = 1e-5 * np.eye(4)
                slopes = [(exact(before + m) - exact(before - m)) / 2e-5 for m in moves]
                np.testing.assert_allclose(loss.item(), exact(before), rtol=1e-4)
                np.testing.assert_allclose(gradient.numpy(), slopes, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(theta.numpy(), true, atol=0.05)
