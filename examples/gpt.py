"""A small GPT (Radford et al., 2019), in the names that tgdialect's `nn` and tinygrad's share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Sizes:
    """Of the network: `vocabulary` tokens, at most `context` of them at once."""

    vocabulary: int
    context: int = 64
    width: int = 64
    heads: int = 4
    layers: int = 2


class Block:
    """A transformer block, normalised first: causal attention, then an MLP of two layers."""

    def __init__(self, nn: Any, sizes: Sizes) -> None:
        width = sizes.width
        self.sizes = sizes
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def __call__(self, x: Any, cache: Any = None, at: Any = 0) -> Any:
        """The next (batch, time, width). With a cache (2, batch, heads, context, width / heads) of
        keys and values, x stands at a position, and attends to all before it as well."""
        batch, time, width = x.shape
        heads, size = self.sizes.heads, width // self.sizes.heads
        # Each head's weights are contiguous, so that devices may have a part of the heads each.
        mixed = self.qkv(self.ln1(x)).reshape(batch, time, heads, 3 * size)
        q, k, v = (part.transpose(1, 2) for part in mixed.split(size, 3))
        if cache is None:
            mixed = q.scaled_dot_product_attention(k, v, is_causal=True)
        else:
            cache[:, :, :, at : at + time] = k.stack(v)
            k, v = cache[0, :, :, : at + time], cache[1, :, :, : at + time]
            is_before = x.arange(at + time) <= x.arange(at, at + time).unsqueeze(1)
            mixed = q.scaled_dot_product_attention(k, v, is_before if time > 1 else None)
        x = x + self.proj(mixed.transpose(1, 2).reshape(x.shape))
        return x + self.down(self.up(self.ln2(x)).gelu())


class GPT:
    """Logits of the next token, for every token."""

    def __init__(self, nn: Any, sizes: Sizes) -> None:
        self.sizes = sizes
        self.token = nn.Embedding(sizes.vocabulary, sizes.width)
        self.position = nn.Embedding(sizes.context, sizes.width)
        self.blocks = [Block(nn, sizes) for _ in range(sizes.layers)]
        self.ln = nn.LayerNorm(sizes.width)
        self.head = nn.Linear(sizes.width, sizes.vocabulary, bias=False)

    def __call__(self, tokens: Any, caches: Any = None, at: Any = 0) -> Any:
        """(batch, time, vocabulary) of (batch, time); see `Block` for the caches, one for each."""
        x = self.token(tokens) + self.position(tokens.arange(at, at + tokens.shape[1]))
        for i, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[i], at)
        return self.head(self.ln(x))

    def cache_shape(self, batch: int) -> tuple[int, ...]:
        """Of the keys and values of a block."""
        sizes = self.sizes
        return 2, batch, sizes.heads, sizes.context, sizes.width // sizes.heads
