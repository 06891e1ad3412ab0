"""Eight networks in plain PyTorch, with random weights, for `bench/torch_models.py` and the tests
of the importers. Each comes in the size that is measured and in one for tests.

Sources: He et al. 2015 (ResNet), Dosovitskiy et al. 2020 (ViT), Devlin et al. 2018 (BERT), Radford
et al. 2019 (GPT-2), Hochreiter and Schmidhuber 1997 (LSTM), Ronneberger et al. 2015 (U-Net), Kipf
and Welling 2016 (graph networks), Howard et al. 2019 (MobileNetV3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

Tensor = torch.Tensor

# -- images ----------------------------------------------------------------------------------------


class Residual(nn.Module):
    """Two convolutions and what they were given."""

    def __init__(self, inputs: int, outputs: int, stride: int = 1) -> None:
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(outputs)
        self.shortcut = nn.Sequential()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: Tensor) -> Tensor:
        hidden = F.relu(self.first_norm(self.first(x)))
        return F.relu(self.second_norm(self.second(hidden)) + self.shortcut(x))


def resnet(width: int = 64, depth: int = 4, classes: int = 1000) -> nn.Module:
    """ResNet-18, with the default sizes."""
    layers: list[nn.Module] = []
    inputs = width
    for level in range(depth):
        outputs = width << level
        layers += Residual(inputs, outputs, 2 if level else 1), Residual(outputs, outputs)
        inputs = outputs
    return nn.Sequential(
        *(nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU()),
        *(nn.MaxPool2d(3, 2, 1), *layers, nn.AdaptiveAvgPool2d(1), nn.Flatten()),
        nn.Linear(inputs, classes),
    )


class UNet(nn.Module):
    """Two levels down and up, with nearest and bilinear resizing."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()

        def block(inputs: int, outputs: int) -> nn.Module:
            return nn.Sequential(
                *(nn.Conv2d(inputs, outputs, 3, padding=1), nn.GroupNorm(4, outputs), nn.SiLU()),
                *(nn.Conv2d(outputs, outputs, 3, padding=1), nn.SiLU()),
            )

        self.down = nn.ModuleList([block(3, width), block(width, 2 * width)])
        self.middle = block(2 * width, 4 * width)
        self.up = nn.ModuleList([block(6 * width, 2 * width), block(3 * width, width)])
        self.head = nn.Conv2d(width, 1, 1)

    def forward(self, x: Tensor) -> Tensor:
        first = self.down[0](x)
        second = self.down[1](F.max_pool2d(first, 2))
        x = self.middle(F.max_pool2d(second, 2))
        x = self.up[0](torch.cat([F.interpolate(x, scale_factor=2.0), second], 1))
        x = F.interpolate(x, scale_factor=2.0, mode="bilinear")
        return self.head(self.up[1](torch.cat([x, first], 1)))


class Mobile(nn.Module):
    """A block of MobileNetV3: a depthwise convolution, with squeeze and excitation."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        hidden = 4 * inputs
        self.expand = nn.Sequential(nn.Conv2d(inputs, hidden, 1), nn.BatchNorm2d(hidden))
        self.depthwise = nn.Sequential(
            nn.Conv2d(hidden, hidden, 5, stride, 2, groups=hidden), nn.BatchNorm2d(hidden)
        )
        self.squeeze = nn.Sequential(
            *(nn.AdaptiveAvgPool2d(1), nn.Conv2d(hidden, inputs, 1), nn.ReLU()),
            *(nn.Conv2d(inputs, hidden, 1), nn.Hardsigmoid()),
        )
        self.project = nn.Sequential(nn.Conv2d(hidden, outputs, 1), nn.BatchNorm2d(outputs))

    def forward(self, x: Tensor) -> Tensor:
        hidden = F.hardswish(self.depthwise(F.hardswish(self.expand(x))))
        result = self.project(hidden * self.squeeze(hidden))
        return x + result if x.shape == result.shape else result


def mobilenet(width: int = 16, depth: int = 4, classes: int = 1000) -> nn.Module:
    """Blocks of MobileNetV3, two at each resolution."""
    layers: list[nn.Module] = []
    inputs = width
    for _ in range(depth):
        layers += Mobile(inputs, inputs, 1), Mobile(inputs, 2 * inputs, 2)
        inputs *= 2
    return nn.Sequential(
        *(nn.Conv2d(3, width, 3, 2, 1), nn.BatchNorm2d(width), nn.Hardswish(), *layers),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes)),
    )


# -- transformers ----------------------------------------------------------------------------------


class Attention(nn.Module):
    """Attention of several heads, to what is given and what a cache has."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def projected(self, x: Tensor) -> Sequence[Tensor]:
        """Queries, keys and values, each (batch, heads, length, width / heads)."""
        batch, length, width = x.shape
        split = self.project(x).view(batch, length, 3, self.heads, width // self.heads)
        return split.permute(2, 0, 3, 1, 4).unbind(0)

    def attended(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        """The output of the layer."""
        found = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return self.out(found.transpose(1, 2).flatten(2))

    def forward(self, x: Tensor) -> Tensor:
        return self.attended(*self.projected(x))


class Block(nn.Module):
    """Attention and an MLP, with the normalisation first."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.first_norm, self.second_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def rest(self, x: Tensor, attended: Tensor) -> Tensor:
        """The block's output, for the attention's."""
        x = x + attended
        return x + self.mlp(self.second_norm(x))

    def forward(self, x: Tensor) -> Tensor:
        return self.rest(x, self.attention(self.first_norm(x)))


def _blocks(width: int, heads: int, layers: int) -> nn.Sequential:
    return nn.Sequential(*(Block(width, heads) for _ in range(layers)))


class ViT(nn.Module):
    """A vision transformer; the position embedding is for images of one size."""

    def __init__(self, width: int = 192, heads: int = 3, layers: int = 6, size: int = 224) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 16, 16)
        self.token = nn.Parameter(torch.randn(1, 1, width))
        self.positions = nn.Parameter(torch.randn(1, 1 + (size // 16) ** 2, width))
        self.blocks = _blocks(width, heads, layers)
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 1000)

    def forward(self, x: Tensor) -> Tensor:
        patches = self.patches(x).flatten(2).transpose(1, 2)
        token = self.token.expand(patches.shape[0], -1, -1)
        x = self.blocks(torch.cat([token, patches], 1) + self.positions)
        return self.head(self.norm(x)[:, 0])


class Bert(nn.Module):
    """An encoder of texts, which are padded: False in the mask."""

    def __init__(
        self, width: int = 256, heads: int = 4, layers: int = 4, words: int = 5000
    ) -> None:
        super().__init__()
        self.words, self.positions = nn.Embedding(words, width), nn.Embedding(512, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens: Tensor, mask: Tensor) -> Tensor:
        x = self.words(tokens) + self.positions(torch.arange(tokens.shape[1]))
        for block in self.blocks:
            query, key, value = block.attention.projected(block.first_norm(x))
            attended = block.attention.attended(query, key, value, mask[:, None, None])
            x = block.rest(x, attended)
        return self.norm(x)


class GPT(nn.Module):
    """A decoder of texts: logits for tokens at some positions, which follow those in the cache."""

    def __init__(
        self, width: int = 256, heads: int = 4, layers: int = 4, words: int = 2000, most: int = 256
    ) -> None:
        super().__init__()
        self.words, self.positions = nn.Embedding(words, width), nn.Embedding(most, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words)
        for name in ("keys", "values"):
            cache = torch.zeros(layers, 1, heads, most, width // heads)
            self.register_buffer(name, cache, persistent=False)

    def forward(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """Writes the cache, a buffer of fixed size."""
        x = self.words(tokens) + self.positions(positions)
        mask = torch.arange(self.keys.shape[3]) <= positions[:, None]
        for i, block in enumerate(self.blocks):
            query, key, value = block.attention.projected(block.first_norm(x))
            keys, values = self.keys[i], self.values[i]
            keys.index_copy_(2, positions, key)
            values.index_copy_(2, positions, value)
            x = block.rest(x, block.attention.attended(query, keys, values, mask))
        return self.head(self.norm(x))


class GrowingGPT(GPT):
    """The same, with a cache that is an argument and a result: (layers, 2, batch, heads, length,
    width / heads), as exporters write it."""

    def forward(self, tokens: Tensor, past: Tensor) -> tuple[Tensor, Tensor]:  # pyright: ignore
        known = past.shape[4]
        positions = torch.arange(known, known + tokens.shape[1])
        x = self.words(tokens) + self.positions(positions)
        mask = torch.arange(known + tokens.shape[1]) <= positions[:, None]
        present: list[Tensor] = []
        for i, block in enumerate(self.blocks):
            query, key, value = block.attention.projected(block.first_norm(x))
            keys, values = torch.cat([past[i, 0], key], 2), torch.cat([past[i, 1], value], 2)
            present.append(torch.stack([keys, values]))
            x = block.rest(x, block.attention.attended(query, keys, values, mask))
        return self.head(self.norm(x)), torch.stack(present)


# -- others ----------------------------------------------------------------------------------------


class LSTM(nn.Module):
    """A recurrent network that classifies sequences."""

    def __init__(self, inputs: int = 64, width: int = 128) -> None:
        super().__init__()
        self.lstm = nn.LSTM(inputs, width, batch_first=True)
        self.head = nn.Linear(width, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.lstm(x)[0][:, -1])


class GNN(nn.Module):
    """Two convolutions on a graph: nodes take the mean of their neighbours, by scattering."""

    def __init__(self, inputs: int = 64, width: int = 128, outputs: int = 32) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(inputs, width), nn.Linear(width, outputs)])

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        source, target = edges.unbind(0)
        ones = torch.ones_like(target, dtype=x.dtype)
        degrees = torch.zeros_like(x[:, 0]).scatter_add(0, target, ones).clamp(min=1)[:, None]
        for i, layer in enumerate(self.layers):
            messages = layer(F.relu(x) if i else x)
            places = target[:, None].expand(-1, messages.shape[1])
            received = torch.zeros_like(messages).scatter_add(0, places, messages[source])
            x = received / degrees
        return x


@dataclass(frozen=True)
class Network:
    """A network, and arguments for it.

    Attributes:
        make: the module of the size that is measured; `small` that for tests.
        inputs: arguments of some sizes: those that `axes` names, and then others, which are by
            default those of `small`.
        sizes: sizes that are measured, and `small_sizes` three of tests.
        axes: the names of sizes by axes, for each argument.
        is_exported: whether it has no state that it writes, which files of ONNX have no words for.
    """

    make: Callable[[], nn.Module]
    small: Callable[[], nn.Module]
    inputs: Callable[..., tuple[Tensor, ...]]
    sizes: tuple[int, ...]
    small_sizes: Sequence[tuple[int, ...]]
    axes: Sequence[Mapping[int, str]]
    is_exported: bool = True


def _image(batch: int, height: int, width: int) -> tuple[Tensor, ...]:
    return (torch.randn(batch, 3, height, width),)


def _texts(words: int) -> Callable[[int, int], tuple[Tensor, ...]]:
    def make(batch: int, length: int) -> tuple[Tensor, ...]:
        lengths = torch.randint(1, length + 1, (batch, 1))
        return torch.randint(0, words, (batch, length)), torch.arange(length) < lengths

    return make


def _growing(
    words: int, layers: int, heads: int, width: int
) -> Callable[[int, int, int], tuple[Tensor, ...]]:
    def make(batch: int, length: int, known: int) -> tuple[Tensor, ...]:
        past = torch.randn(layers, 2, batch, heads, known, width)
        return torch.randint(0, words, (batch, length)), past

    return make


def _graph(features: int) -> Callable[[int, int], tuple[Tensor, ...]]:
    def make(nodes: int, edges: int) -> tuple[Tensor, ...]:
        return torch.randn(nodes, features), torch.randint(0, nodes, (2, edges))

    return make


_IMAGE_AXES: Sequence[Mapping[int, str]] = ({0: "batch", 2: "height", 3: "width"},)
_SMALL_IMAGES = (2, 32, 48), (1, 40, 32), (3, 64, 64)

NETWORKS: Mapping[str, Network] = {
    "resnet": Network(
        resnet,
        lambda: resnet(8, 3, 10),
        _image,
        (1, 224, 224),
        _SMALL_IMAGES,
        _IMAGE_AXES,
    ),
    "vit": Network(
        ViT,
        lambda: ViT(32, 2, 2, 32),
        lambda batch, size: _image(batch, size, size),
        (1, 224),
        ((2, 32), (1, 32), (3, 32)),
        ({0: "batch"},),
    ),
    "bert": Network(
        Bert,
        lambda: Bert(32, 2, 2, 50),
        _texts(50),
        (2, 128),
        ((2, 12), (3, 7), (4, 20)),
        ({0: "batch", 1: "length"}, {0: "batch", 1: "length"}),
    ),
    "gpt": Network(
        GPT,
        lambda: GPT(32, 2, 2, 50, 32),
        lambda length, first: (
            torch.randint(0, 50, (1, length)),
            torch.arange(first, first + length),
        ),
        (1, 5),
        ((1, 5), (7, 0), (3, 9)),
        ({1: "length"}, {0: "length"}),
        is_exported=False,
    ),
    "growing": Network(
        GrowingGPT,
        lambda: GrowingGPT(32, 2, 2, 50, 32),
        lambda batch, length, known, *layout: _growing(50, *(layout or (2, 2, 16)))(
            batch, length, known
        ),
        (1, 1, 128, 4, 4, 64),
        ((2, 3, 5), (1, 4, 7), (3, 2, 9)),
        ({0: "batch", 1: "length"}, {2: "batch", 4: "known"}),
    ),
    "lstm": Network(
        LSTM,
        lambda: LSTM(6, 8),
        lambda batch, length, features=6: (torch.randn(batch, length, features),),
        (8, 20, 64),
        ((2, 7), (3, 5), (4, 9)),
        ({0: "batch", 1: "length"},),
    ),
    "unet": Network(
        UNet,
        lambda: UNet(8),
        _image,
        (1, 64, 64),
        _SMALL_IMAGES,
        _IMAGE_AXES,
    ),
    "gnn": Network(
        GNN,
        lambda: GNN(6, 8, 4),
        lambda nodes, edges, features=6: _graph(features)(nodes, edges),
        (500, 3000, 64),
        ((10, 30), (7, 20), (12, 50)),
        ({0: "nodes"}, {1: "edges"}),
    ),
    "mobilenet": Network(
        mobilenet,
        lambda: mobilenet(8, 2, 10),
        _image,
        (1, 224, 224),
        _SMALL_IMAGES,
        _IMAGE_AXES,
    ),
}
"""The networks by name. `growing` is `gpt` with the cache that exporters write."""
