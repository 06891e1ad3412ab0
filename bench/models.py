"""Whole models at batch 1 with random weights: the rows of `python -m bench --models`.

    python -m bench.models FOLDER NAME

writes what every tool starts from: weights, inputs, PyTorch's results in float64, how much work a
call is, and the model as ONNX. It has a process of its own, so that no tool which reads these files
has PyTorch beside it.

The text of a model is there once. It is written for `nn`, which has PyTorch's names: `torch_words`
are PyTorch's layers and functions, `tensor_words` those of tgdialect, as a user would call them.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from bench.workload import Array, aligned

# -- what models are made of ---------------------------------------------------------------------


def torch_words(torch: Any) -> Any:
    """`torch.nn`, and functions under the names that the models below use."""
    nn, f = torch.nn, torch.nn.functional
    return SimpleNamespace(
        **{name: getattr(nn, name) for name in ("Module", "ModuleList", *_LAYERS)},
        parameter=lambda *shape: nn.Parameter(torch.zeros(shape)),
        relu=f.relu,
        relu6=f.relu6,
        gelu=lambda x, approximate="none": f.gelu(x, approximate=approximate),
        silu=f.silu,
        max_pool=lambda x: f.max_pool2d(x, 3, 2, 1),
        mean_of_image=lambda x: f.adaptive_avg_pool2d(x, 1).flatten(1),
        linear=f.linear,
        attention=f.scaled_dot_product_attention,
        cat=torch.cat,
    )


class _Module:
    """Calls `forward`, as `torch.nn.Module` does."""

    forward: Callable[..., Any]

    def __call__(self, *inputs: Any) -> Any:
        return self.forward(*inputs)


def tensor_words(tg: Any) -> Any:
    """The same in tgdialect: its layers, and methods of its tensors."""
    return SimpleNamespace(
        **{name: getattr(tg.nn, name) for name in _LAYERS},
        Module=_Module,
        ModuleList=list,
        parameter=lambda *shape: tg.Tensor.zeros(*shape),
        relu=lambda x: x.relu(),
        relu6=lambda x: x.relu6(),
        gelu=lambda x, approximate="none": x.gelu(approximate=approximate),
        silu=lambda x: x.silu(),
        max_pool=lambda x: x.max_pool2d(3, 2, padding=1),
        mean_of_image=lambda x: x.mean((2, 3)),
        linear=lambda x, w: x.linear(w.T),
        attention=lambda q, k, v, is_causal=False: q.scaled_dot_product_attention(
            k, v, is_causal=is_causal
        ),
        cat=lambda tensors, dim: tensors[0].cat(*tensors[1:], dim=dim),
    )


_LAYERS = (
    *("Conv2d", "ConvTranspose2d", "BatchNorm2d", "GroupNorm", "LayerNorm"),
    *("Linear", "Embedding"),
)

# -- convolutional networks ----------------------------------------------------------------------


def resnet50(nn: Any) -> Any:
    """ResNet-50 (He et al., 2016), with the stride in the 3x3 convolution as in torchvision."""

    class Unit(nn.Module):
        """A convolution and its batch normalization."""

        def __init__(self, channels: int, out: int, size: int, stride: int = 1) -> None:
            super().__init__()
            self.conv = nn.Conv2d(channels, out, size, stride=stride, padding=size // 2, bias=False)
            self.bn = nn.BatchNorm2d(out)

        def forward(self, x: Any) -> Any:
            return self.bn(self.conv(x))

    class Bottleneck(nn.Module):
        def __init__(self, channels: int, width: int, stride: int) -> None:
            super().__init__()
            self.reduce = Unit(channels, width, 1)
            self.middle = Unit(width, width, 3, stride)
            self.expand = Unit(width, 4 * width, 1)
            self.shortcut = None if channels == 4 * width else Unit(channels, 4 * width, 1, stride)

        def forward(self, x: Any) -> Any:
            y = self.expand(nn.relu(self.middle(nn.relu(self.reduce(x)))))
            return nn.relu(y + (x if self.shortcut is None else self.shortcut(x)))

    class ResNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.stem = Unit(3, 64, 7, 2)
            blocks: list[Any] = []
            channels = 64
            for stage, count in enumerate((3, 4, 6, 3)):
                width = 64 << stage
                for i in range(count):
                    blocks.append(Bottleneck(channels, width, 2 if stage and i == 0 else 1))
                    channels = 4 * width
            self.blocks = nn.ModuleList(blocks)
            self.head = nn.Linear(channels, 1000)

        def forward(self, x: Any) -> Any:
            x = nn.max_pool(nn.relu(self.stem(x)))
            for block in self.blocks:
                x = block(x)
            return (self.head(nn.mean_of_image(x)),)

    return ResNet()


def mobilenet_v2(nn: Any) -> Any:
    """MobileNetV2 (Sandler et al., 2018) of width 1."""

    class Unit(nn.Module):
        """A convolution, its batch normalization, and mostly relu6."""

        def __init__(
            self, channels: int, out: int, size: int, stride: int = 1, **more: Any
        ) -> None:
            super().__init__()
            self.is_linear = more.pop("is_linear", False)
            self.conv = nn.Conv2d(
                channels, out, size, stride=stride, padding=size // 2, bias=False, **more
            )
            self.bn = nn.BatchNorm2d(out)

        def forward(self, x: Any) -> Any:
            x = self.bn(self.conv(x))
            return x if self.is_linear else nn.relu6(x)

    class Inverted(nn.Module):
        """An inverted residual: expanded, depthwise, reduced."""

        def __init__(self, channels: int, out: int, stride: int, factor: int) -> None:
            super().__init__()
            hidden = factor * channels
            self.is_residual = stride == 1 and channels == out
            self.units = nn.ModuleList(
                [
                    *([Unit(channels, hidden, 1)] if factor > 1 else []),
                    Unit(hidden, hidden, 3, stride, groups=hidden),
                    Unit(hidden, out, 1, is_linear=True),
                ]
            )

        def forward(self, x: Any) -> Any:
            y = x
            for unit in self.units:
                y = unit(y)
            return x + y if self.is_residual else y

    class MobileNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            blocks: list[Any] = [Unit(3, 32, 3, 2)]
            channels = 32
            for factor, out, count, first in _INVERTED:
                for i in range(count):
                    blocks.append(Inverted(channels, out, 1 if i else first, factor))
                    channels = out
            self.blocks = nn.ModuleList([*blocks, Unit(channels, 1280, 1)])
            self.head = nn.Linear(1280, 1000)

        def forward(self, x: Any) -> Any:
            for block in self.blocks:
                x = block(x)
            return (self.head(nn.mean_of_image(x)),)

    return MobileNet()


_INVERTED = (
    *((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2)),
    *((6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)),
)
"""Of each stage: the factor of expansion, channels, blocks, and the stride of the first."""


def dcgan(nn: Any) -> Any:
    """The generator of DCGAN (Radford et al., 2016): images of 64x64 of 100 numbers."""
    widths = (100, 512, 256, 128, 64, 3)

    class Generator(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.ups = nn.ModuleList(
                [
                    nn.ConvTranspose2d(
                        *(n, out, 4), stride=1 + (i > 0), padding=int(i > 0), bias=False
                    )
                    for i, (n, out) in enumerate(itertools.pairwise(widths))
                ]
            )
            self.norms = nn.ModuleList([nn.BatchNorm2d(n) for n in widths[1:-1]])

        def forward(self, x: Any) -> Any:
            for up, norm in zip(self.ups, self.norms, strict=False):
                x = nn.relu(norm(up(x)))
            return (self.ups[4](x).tanh(),)

    return Generator()


def convnext(nn: Any, counts: Sequence[int] = (3, 3, 9, 3)) -> Any:
    """ConvNeXt-T (Liu et al., 2022). Linear layers are on pixels whose channels come last."""
    widths = (96, 192, 384, 768)

    def of_channels(norm: Any, x: Any) -> Any:
        return norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)

    class Block(nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.depthwise = nn.Conv2d(width, width, 7, padding=3, groups=width)
            self.norm = nn.LayerNorm(width, eps=1e-6)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.scale = nn.parameter(width)

        def forward(self, x: Any) -> Any:
            y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
            y = self.scale * self.down(nn.gelu(self.up(y)))
            return x + y.permute(0, 3, 1, 2)

    class ConvNeXt(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.stem = nn.Conv2d(3, widths[0], 4, stride=4)
            self.norms = nn.ModuleList(
                [nn.LayerNorm(n, eps=1e-6) for n in (widths[0], *widths[:-1])]
            )
            self.halves = nn.ModuleList(
                [nn.Conv2d(n, out, 2, stride=2) for n, out in itertools.pairwise(widths)]
            )
            self.stages = nn.ModuleList(
                [
                    nn.ModuleList([Block(n) for _ in range(count)])
                    for n, count in zip(widths, counts, strict=True)
                ]
            )
            self.norm, self.head = nn.LayerNorm(widths[-1], eps=1e-6), nn.Linear(widths[-1], 1000)

        def forward(self, x: Any) -> Any:
            for i, (norm, stage) in enumerate(zip(self.norms, self.stages, strict=True)):
                x = (
                    self.halves[i - 1](of_channels(norm, x))
                    if i
                    else of_channels(norm, self.stem(x))
                )
                for block in stage:
                    x = block(x)
            return (self.head(self.norm(nn.mean_of_image(x))),)

    return ConvNeXt()


def unet_block(nn: Any, width: int = 128, heads: int = 4) -> Any:
    """A level of a diffusion model's U-Net (Ho et al., 2020): two convolutions with a shortcut, and
    attention of the pixels among each other."""
    groups = 32

    class Level(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2, self.norm3 = (nn.GroupNorm(groups, width) for _ in range(3))
            self.conv1, self.conv2 = (nn.Conv2d(width, width, 3, padding=1) for _ in range(2))
            self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

        def forward(self, x: Any) -> Any:
            x = x + self.conv2(nn.silu(self.norm2(self.conv1(nn.silu(self.norm1(x))))))
            pixels = self.norm3(x).flatten(2).transpose(1, 2)
            q, k, v = (_heads(part, heads) for part in self.qkv(pixels).split(width, 2))
            y = self.proj(_merged(nn.attention(q, k, v)))
            return (x + y.transpose(1, 2).reshape(x.shape),)

    return Level()


# -- transformers --------------------------------------------------------------------------------


def _heads(x: Any, heads: int) -> Any:
    """(1, tokens, width) as (1, heads, tokens, width / heads)."""
    return x.reshape(1, x.shape[1], heads, x.shape[2] // heads).transpose(1, 2)


def _merged(x: Any) -> Any:
    """The reverse of `_heads`."""
    return x.transpose(1, 2).reshape(1, x.shape[2], x.shape[1] * x.shape[3])


def vit_small(nn: Any) -> Any:
    """ViT-S/16 (Dosovitskiy et al., 2021; Touvron et al., 2021) on images of 224x224."""
    width, heads, tokens = 384, 6, 197

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = (nn.LayerNorm(width, eps=1e-6) for _ in range(2))
            self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            q, k, v = (_heads(part, heads) for part in self.qkv(self.norm1(x)).split(width, 2))
            x = x + self.proj(_merged(nn.attention(q, k, v)))
            return x + self.down(nn.gelu(self.up(self.norm2(x))))

    class ViT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.patches = nn.Conv2d(3, width, 16, stride=16)
            self.first, self.positions = (nn.parameter(1, n, width) for n in (1, tokens))
            self.blocks = nn.ModuleList([Block() for _ in range(12)])
            self.norm, self.head = nn.LayerNorm(width, eps=1e-6), nn.Linear(width, 1000)

        def forward(self, x: Any) -> Any:
            x = self.patches(x).flatten(2).transpose(1, 2)
            x = nn.cat((self.first, x), dim=1) + self.positions
            for block in self.blocks:
                x = block(x)
            return (self.head(self.norm(x)[:, 0]),)

    return ViT()


def bert_base(nn: Any) -> Any:
    """BERT-base (Devlin et al., 2019): the last hidden states and the pooled one, of tokens and
    their segments. No token is masked."""
    width, heads = 768, 12

    def norm() -> Any:
        return nn.LayerNorm(width, eps=1e-12)

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.query, self.key, self.value, self.output = (
                nn.Linear(width, width) for _ in range(4)
            )
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
            self.norm1, self.norm2 = norm(), norm()

        def forward(self, x: Any) -> Any:
            q, k, v = (_heads(part(x), heads) for part in (self.query, self.key, self.value))
            x = self.norm1(x + self.output(_merged(nn.attention(q, k, v))))
            return self.norm2(x + self.down(nn.gelu(self.up(x))))

    class Bert(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words, self.positions, self.segments = (
                nn.Embedding(n, width) for n in (30522, 512, 2)
            )
            self.norm = norm()
            self.blocks = nn.ModuleList([Block() for _ in range(12)])
            self.pooler = nn.Linear(width, width)

        def forward(self, tokens: Any, segments: Any) -> Any:
            positions = self.positions.weight[: tokens.shape[1]]
            x = self.norm(self.words(tokens) + self.segments(segments) + positions)
            for block in self.blocks:
                x = block(x)
            return x, self.pooler(x[:, 0]).tanh()

    return Bert()


class Sizes(NamedTuple):
    """Of a GPT-2."""

    vocabulary: int
    width: int
    heads: int
    blocks: int


GPT_2 = Sizes(50257, 768, 12, 12)
"""The smallest one, of 124M weights."""


def gpt2(nn: Any, sizes: Sizes = GPT_2) -> Any:
    """GPT-2 (Radford et al., 2019): the logits of the next token, and the keys and values of each
    block. Those of earlier tokens are inputs, if there are any; results have them as well. The head
    has the weights of the tokens."""
    width, heads = sizes.width, sizes.heads

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any, keys: Any, values: Any) -> Any:
            q, k, v = (_heads(part, heads) for part in self.qkv(self.norm1(x)).split(width, 2))
            if keys is not None:
                k, v = nn.cat((keys, k), dim=2), nn.cat((values, v), dim=2)
            x = x + self.proj(_merged(nn.attention(q, k, v, is_causal=keys is None)))
            return x + self.down(nn.gelu(self.up(self.norm2(x)), approximate="tanh")), k, v

    class Gpt2(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.tokens = nn.Embedding(sizes.vocabulary, width)
            self.positions = nn.Embedding(1024, width)
            self.blocks = nn.ModuleList([Block() for _ in range(sizes.blocks)])
            self.norm = nn.LayerNorm(width)

        def forward(self, tokens: Any, *cache: Any) -> Any:
            past = cache[0].shape[2] if cache else 0
            x = self.tokens(tokens) + self.positions.weight[past : past + tokens.shape[1]]
            present: list[Any] = []
            for i, block in enumerate(self.blocks):
                x, k, v = block(x, *(cache[2 * i : 2 * i + 2] or (None, None)))
                present += k, v
            return nn.linear(self.norm(x[:, -1]), self.tokens.weight), *present

    return Gpt2()


# -- rows ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Model:
    """A row: a model in the words of a tool, and what it is called with."""

    name: str
    build: Callable[[Any], Any]
    shapes: Sequence[tuple[int, ...]]
    """Of its inputs."""
    vocabulary: int = 0
    """If there is one, the first input is tokens of it, of i32; all others are f32."""
    segments: bool = False
    """Whether the second input is segments, 0 or 1."""

    @property
    def is_of_images(self) -> bool:
        return len(self.shapes[0]) == 4

    def inputs(self) -> list[Array]:
        random = np.random.default_rng(0)
        found: list[Array] = []
        for i, shape in enumerate(self.shapes):
            if most := (self.vocabulary, 2 * self.segments)[i] if i < 2 else 0:
                found.append(random.integers(0, most, shape).astype(np.int32))
            else:
                found.append(random.standard_normal(shape).astype(np.float32))
        return [aligned(x) for x in found]


def gpt2_model(name: str, tokens: int, past: int, sizes: Sizes = GPT_2) -> Model:
    """GPT-2 on some tokens, after others whose keys and values are there."""
    cache = (1, sizes.heads, past, sizes.width // sizes.heads)
    shapes = [(1, tokens), *[cache] * (2 * sizes.blocks if past else 0)]
    return Model(name, partial(gpt2, sizes=sizes), shapes, sizes.vocabulary)


_IMAGE = ((1, 3, 224, 224),)

MODELS: Sequence[Model] = (
    Model("resnet-50 224x224", resnet50, _IMAGE),
    Model("mobilenet-v2 224x224", mobilenet_v2, _IMAGE),
    Model("vit-s/16 224x224", vit_small, _IMAGE),
    Model("bert-base 128 tokens", bert_base, ((1, 128), (1, 128)), 30522, segments=True),
    gpt2_model("gpt-2 prefill 256 tokens", 256, 0),
    gpt2_model("gpt-2 decode after 512", 1, 512),
    Model("u-net block 128x32x32", unet_block, ((1, 128, 32, 32),)),
    Model("dcgan generator 64x64", dcgan, ((1, 100, 1, 1),)),
    Model("convnext-t 224x224", convnext, _IMAGE),
)


# -- files ---------------------------------------------------------------------------------------


class Files:
    """What a folder has of a model."""

    def __init__(self, folder: str | Path) -> None:
        folder = Path(folder)
        self.weights, self.onnx = folder / "weights.safetensors", folder / "model.onnx"
        self._inputs, self._results = folder / "inputs.npz", folder / "results.npz"
        self._work = folder / "work.json"

    def inputs(self) -> list[Array]:
        return _loaded(self._inputs)

    def results(self) -> list[Array]:
        """PyTorch's, in float64."""
        return _loaded(self._results)

    def work(self) -> dict[str, int]:
        """`flops` of a call, and `bytes` of weights, inputs and results."""
        return json.loads(self._work.read_text())

    def write(self, model: Model) -> None:
        import torch
        from safetensors.torch import save_file
        from torch.utils.flop_counter import FlopCounterMode

        torch.manual_seed(0)
        module = model.build(torch_words(torch)).eval()
        _randomize(torch, module)
        save_file(module.state_dict(), self.weights)
        inputs = model.inputs()
        np.savez(self._inputs, *inputs)
        arguments = tuple(map(torch.from_numpy, inputs))
        with torch.no_grad():
            if find_spec("onnx") is not None:
                _export(torch, module, arguments, self.onnx)
            module.double()
            wide = [x.double() if x.is_floating_point() else x for x in arguments]
            with FlopCounterMode(display=False) as counter:
                results = [x.numpy() for x in module(*wide)]
        np.savez(self._results, *results)
        moved = sum(x.nbytes for x in inputs) + sum(x.nbytes // 2 for x in results)
        moved += sum(p.numel() * 4 for p in module.parameters())
        self._work.write_text(json.dumps({"flops": counter.get_total_flops(), "bytes": moved}))


def _loaded(path: Path) -> list[Array]:
    with np.load(path) as file:
        return [file[name] for name in file.files]


def _randomize(torch: Any, module: Any) -> None:
    """Weights that keep numbers at the size that they have in a trained model, none of them 0 or 1,
    so that nothing can be left out."""
    nn, init = torch.nn, torch.nn.init
    with torch.no_grad():
        for layer in module.modules():
            if isinstance(layer, nn.BatchNorm2d | nn.GroupNorm | nn.LayerNorm):
                layer.weight.uniform_(0.8, 1.2)
            elif isinstance(layer, nn.Conv2d | nn.ConvTranspose2d):
                init.kaiming_normal_(layer.weight, nonlinearity="relu")
            elif isinstance(layer, nn.Linear | nn.Embedding):
                layer.weight.normal_(std=0.02)
            if getattr(layer, "bias", None) is not None:
                layer.bias.normal_(std=0.1)
            if isinstance(layer, nn.BatchNorm2d):
                layer.running_mean.normal_(std=0.1)
                layer.running_var.uniform_(0.8, 1.2)
            for parameter in layer.parameters(recurse=False):
                if parameter.count_nonzero() == 0:
                    parameter.normal_(std=0.02)


def _export(torch: Any, module: Any, arguments: Any, path: Path) -> None:
    """By TorchScript, which folds batch normalizations. Files of `dynamo=True`, and those that
    `onnxruntime.transformers.optimizer` makes, were mostly not faster (docs/bench.md).
    """
    torch.onnx.export(module, arguments, str(path), dynamo=False, opset_version=20)


def main() -> None:
    folder, name = sys.argv[1:]
    (model,) = (model for model in MODELS if model.name == name)
    Files(folder).write(model)


if __name__ == "__main__":
    main()
