"""Models of tinygrad's repository on `tg.Tensor`: llama and gpt2 generate, beautiful_mnist trains.

Run by `tinygrad_suite.py`, among tinygrad's tests: the models are imported unmodified. Weights are
random and small, and tokens are those of a computation of the whole sequence in NumPy.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np

os.environ["BS"] = "32"  # The size of a batch, which beautiful_mnist reads.

from extra.models import llama
from tinygrad import Tensor, Variable, nn

from examples import beautiful_mnist, gpt2

Array = np.ndarray[Any, np.dtype[Any]]
Weights = dict[str, Array]

PROMPT = [5, 1, 7, 3]
COUNT = 8
VOCABULARY = 50


def weights_of(model: Any, seed: int) -> Weights:
    """The weights of a model, after they are set to random numbers, with scales around 1."""
    rng = np.random.default_rng(seed)
    found: Weights = {}
    for name, tensor in nn.state.get_state_dict(model).items():
        if "freqs_cis" in name:
            continue
        value = rng.normal(size=tensor.shape, scale=0.5).astype(np.float32)
        found[name] = value + 1 if "norm" in name or name.startswith("ln") else value
        tensor.assign(Tensor(found[name])).realize()
    return found


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attention(q: Array, k: Array, v: Array) -> Array:
    """Causal attention of (position, head, feature), where several heads may share keys."""
    q, k, v = (x.astype(np.float64).transpose(1, 0, 2) for x in (q, k, v))
    k, v = (x.repeat(len(q) // len(x), 0) for x in (k, v))
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
    scores = np.where(np.tri(scores.shape[-1], dtype=bool), scores, -np.inf)
    return (softmax(scores) @ v).transpose(1, 0, 2).reshape(q.shape[1], -1)


def continued(logits: Callable[[list[int]], Array]) -> list[int]:
    """The prompt with the most likely tokens, which are of several kinds."""
    tokens = list(PROMPT)
    for _ in range(COUNT):
        tokens.append(int(logits(tokens).argmax()))
    assert len({*tokens[len(PROMPT) :]}) > 1, tokens
    return tokens


# -- llama -----------------------------------------------------------------------------------------

LLAMA = {"dim": 32, "hidden_dim": 48, "n_heads": 4, "n_kv_heads": 2, "n_layers": 2}
LLAMA |= {"norm_eps": 1e-5, "vocab_size": VOCABULARY, "max_context": 32}


def llama_logits(w: Weights, tokens: list[int]) -> Array:
    """The logits after some tokens."""

    def norm(x: Array, weight: Array) -> Array:
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * weight

    def turned(x: Array) -> Array:
        """Pairs of features rotated by their position."""
        frequencies = 10000.0 ** -(np.arange(0, x.shape[-1], 2) / x.shape[-1])
        angles = np.outer(np.arange(len(x)), frequencies)[:, None]
        pairs = (x[..., ::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)
        return np.stack([pairs.real, pairs.imag], -1).reshape(x.shape)

    x = w["tok_embeddings.weight"][tokens].astype(np.float64)
    for i in range(2):
        layer = {n.removeprefix(f"layers.{i}."): v for n, v in w.items()}
        h = norm(x, layer["attention_norm.weight"])
        q, k, v = (
            (h @ layer[f"attention.w{n}.weight"].T).reshape(len(x), -1, 8) for n in ("q", "k", "v")
        )
        x = x + attention(turned(q), turned(k), v) @ layer["attention.wo.weight"].T
        h = norm(x, layer["ffn_norm.weight"])
        gate = h @ layer["feed_forward.w1.weight"].T
        wide = gate / (1 + np.exp(-gate)) * (h @ layer["feed_forward.w3.weight"].T)
        x = x + wide @ layer["feed_forward.w2.weight"].T
    return norm(x[-1], w["norm.weight"]) @ w["output.weight"].T


def test_llama_generates():
    cached = llama.Transformer(**LLAMA)
    weights = weights_of(cached, seed=0)
    tokens, start = list(PROMPT), 0
    for _ in range(COUNT):
        token = cached(Tensor([tokens[start:]]), start).item()
        start = len(tokens)
        tokens.append(token)
    wanted = continued(lambda tokens: llama_logits(weights, tokens))
    assert tokens == wanted
    # Without a cache, the logits of all positions at once.
    whole = llama.Transformer(**LLAMA, jit=False, disable_kv_cache=True)
    nn.state.load_state_dict(whole, nn.state.get_state_dict(cached), strict=False, verbose=False)
    logits = whole(Tensor([wanted[:-1]]), 0, math.nan)
    assert logits.argmax(-1)[0, len(PROMPT) - 1 :].tolist() == wanted[len(PROMPT) :]


# -- gpt2 ------------------------------------------------------------------------------------------


def gpt2_logits(w: Weights, tokens: list[int]) -> Array:
    """The logits after some tokens."""

    def norm(x: Array, name: str, layer: Weights = w) -> Array:
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5)
        return x * layer[f"{name}.weight"] + layer[f"{name}.bias"]

    x = (w["wte.weight"][tokens] + w["wpe.weight"][: len(tokens)]).astype(np.float64)
    for i in range(2):
        layer = {n.removeprefix(f"h.{i}."): v for n, v in w.items()}

        def linear(x: Array, name: str, layer: Weights = layer) -> Array:
            return x @ layer[f"{name}.weight"].T + layer[f"{name}.bias"]

        h = linear(norm(x, "ln_1", layer), "attn.c_attn").reshape(len(x), 3, 4, 8)
        x = x + linear(attention(h[:, 0], h[:, 1], h[:, 2]), "attn.c_proj")
        h = linear(norm(x, "ln_2", layer), "mlp.c_fc")
        h = h / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (h + 0.044715 * h**3)))
        x = x + linear(h, "mlp.c_proj")
    return norm(x[-1], "ln_f") @ w["lm_head.weight"].T


def test_gpt2_generates():
    model = gpt2.Transformer(32, 4, 2, 1e-5, VOCABULARY, max_seq_len=gpt2.MAX_CONTEXT)
    weights = weights_of(model, seed=1)

    def following(tokens: Any, start: int) -> int:
        first = Variable("start_pos", 1 if start else 0, gpt2.MAX_CONTEXT - 1).bind(start)
        (token,) = model(tokens, first).tolist()
        return token

    tokens = [*PROMPT, following(Tensor([PROMPT]), 0)]
    while len(tokens) < len(PROMPT) + COUNT:
        last = Variable("tokens", 0, VOCABULARY - 1).bind(tokens[-1])
        tokens.append(following(last, len(tokens) - 1))
    assert tokens == continued(lambda tokens: gpt2_logits(weights, tokens))
    # Without what is in the cache, the last token of all others.
    assert following(Tensor([tokens[:-1]]), 0) == tokens[-1]


# -- beautiful_mnist -------------------------------------------------------------------------------


def digits(count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Noisy images of ten patterns, and which pattern each shows."""
    patterns = np.random.default_rng(7).random((10, 1, 7, 7)).repeat(4, 2).repeat(4, 3)
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, 10, count)
    images = patterns[classes] + rng.normal(scale=0.3, size=(count, 1, 28, 28))
    return Tensor(images.astype(np.float32)), Tensor(classes.astype(np.int32))


def test_beautiful_mnist_trains():
    """After 60 steps the averages of the batch normalisations are those of the last batches. After
    25, when the losses are as small, PyTorch has 52 to 100 % by the weights at the start."""
    Tensor.manual_seed(0)
    model = beautiful_mnist.Model()
    beautiful_mnist.opt = nn.optim.Adam(nn.state.get_parameters(model))
    images, classes = digits(256, seed=0)
    losses = [model.train_step(images, classes).item() for _ in range(60)]
    assert np.mean(losses[-3:]) < 0.3 * losses[0]
    accuracy = [model.get_test_acc(*digits(64, seed)).item() for seed in (1, 2, 3)]
    assert min(accuracy) > 95
