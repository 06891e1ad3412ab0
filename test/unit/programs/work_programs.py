"""Programs whose work is in the table: one or two for each thing that people write."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tgdialect import Tensor
from tgdialect.runtime.compiler import load_module

Program = Callable[[], Tensor | Sequence[Tensor] | ModuleOp]


def array(*shape: int, dtype: str = "float32", below: int = 0) -> Tensor:
    """A tensor that is an argument of the program: what is in it does not matter."""
    if below:
        return Tensor(np.arange(np.prod(shape), dtype=dtype).reshape(shape) % below)
    return Tensor(np.ones(shape, dtype))


def weight(*shape: int) -> Tensor:
    return Tensor(np.ones(shape, np.float32), requires_grad=True)


def attention(causal: bool) -> Tensor:
    q, k, v = (array(2, 4, 64, 32) for _ in range(3))
    return q.scaled_dot_product_attention(k, v, is_causal=causal)


def normalized(x: Tensor, axes: tuple[int, ...]) -> Tensor:
    centred = x - x.mean(axes, keepdim=True)
    return centred * (centred * centred).mean(axes, keepdim=True).add(1e-5).rsqrt()


def batch_norm_training() -> Sequence[Tensor]:
    x, scale = weight(8, 16, 12, 12), weight(1, 16, 1, 1)
    return (normalized(x, (0, 2, 3)) * scale).square().sum().gradient(x, scale)


def mlp_training() -> Sequence[Tensor]:
    x, w, v = array(32, 64), weight(64, 128), weight(128, 10)
    loss = ((x @ w).relu() @ v).sparse_categorical_crossentropy(array(32, dtype="int32", below=10))
    return loss.gradient(w, v)


def convolution_training() -> Sequence[Tensor]:
    x, w = weight(4, 8, 14, 14), weight(16, 8, 3, 3)
    return x.conv2d(w, padding=1).relu().max_pool2d((2, 2)).sum().gradient(x, w)


def transposed_training() -> Sequence[Tensor]:
    x, w = weight(1, 4, 6, 6), weight(4, 2, 4, 4)
    return (x.conv_transpose2d(w, stride=2, padding=1) ** 2).sum().gradient(x, w)


def layers(count: int) -> Tensor:
    x = array(16, 64)
    for _ in range(count):
        x = normalized(x + (x @ array(64, 64)).gelu(), (1,))
    return x


def nested_pads() -> Tensor:
    x = array(6, 9)
    for i in range(4):
        x = x.pad(((1, i), (2, 1))).roll(i, 0).flip(1)
    return x


def clamps(count: int) -> Tensor:
    """Each step picks rows by indices that are computed from the ones before."""
    at = Tensor.arange(40)
    for i in range(count):
        at = (at < 30 - i).where(at + i, at - i).maximum(0) % (39 - i)
    return array(40, 8)[at]


def doubled(count: int) -> Tensor:
    x = array(64)
    for _ in range(count):
        x = x + x
    return x


def computed_rows(rows: int) -> Tensor:
    return array(4)[(Tensor.arange(rows) / 3.0).floor().int()]


def nearest_by_hand() -> Tensor:
    row = (Tensor.arange(12) * (8 / 12)).floor().int()
    column = (Tensor.arange(20) * (8 / 20)).floor().int()
    return array(1, 3, 8, 8)[:, :, row][:, :, :, column]


def polynomial() -> Tensor:
    x = weight(1000)
    return (x * x * x - 2 * x).sin().sum().gradient(x)[0]


def loops(count: int) -> ModuleOp:
    """A kernel of so many loops, each of which adds to an array of its own."""
    kernel, host = "tensor<640xf32, #tg.place<global>>", 'tensor<640xf32, #tg.place<"CPU", global>>'
    cell, numbers = "tensor<f32, #tg.place<global>>", range(count)
    parameters = "\n".join(f"%x{i} = tg.param {i} : {kernel}" for i in numbers)
    body = "\n".join(
        f"""
        %i{i} = tg.range {i} loop to %size : tensor<index>
        %p{i} = tg.index %x{i}[%i{i}] : ({kernel}, tensor<index>) -> {cell}
        %v{i} = tg.load %p{i} : {cell} -> tensor<f32>
        %a{i} = tg.add %v{i}, %one : tensor<f32>
        %s{i} = tg.store %p{i}, %a{i} : {cell}, tensor<f32>
        %e{i} = tg.end %s{i} over %i{i} : !tg.void"""
        for i in numbers
    )
    arrays = [f"%x{i}" for i in numbers]
    return load_module(f"""
        tg.kernel @k {{
          {parameters}
          %size = tg.const 640 : tensor<index>
          %one = tg.const 1.0 : tensor<f32>
          {body}
          tg.sink {", ".join(f"%e{i}" for i in numbers)} : {", ".join(["!tg.void"] * count)}
        }}
        func.func @main({", ".join(f"{name}: {host}" for name in arrays)}) -> {host} {{
          %0 = tg.call @k({", ".join(arrays)}) : ({", ".join([host] * count)}) -> !tg.void
          %1 = tg.after %x0, %0 : ({host}, !tg.void) -> {host}
          func.return %1 : {host}
        }}""")


PROGRAMS: dict[str, Program] = {
    # Elementwise, and movements
    "add": lambda: array(1024) + array(1024),
    "broadcast": lambda: array(64, 1) * array(1, 96) + array(96),
    "gelu": lambda: array(4096).gelu(),
    "half to float": lambda: array(300, dtype="float16").float().exp(),
    "integers": lambda: (array(100, dtype="int32") * 7 // 3) % 5,
    "where": lambda: (array(33, 5) > 0.5).where(array(33, 5), -1.0),
    "polynomial gradient": polynomial,
    "doubled 40 times": lambda: doubled(40),
    "transpose": lambda: -array(70, 50).T,
    "heads": lambda: array(2, 16, 4, 8).permute(0, 2, 1, 3).contiguous(),
    "roll and flip": lambda: array(37, 12).roll(5, 0).flip(1) + 1,
    "repeat": lambda: array(8, 12).repeat(3, 2) + 1,
    "cat": lambda: Tensor.cat(array(4, 8), array(6, 8), array(1, 8), dim=0).exp(),
    "stack": lambda: Tensor.stack(array(40), array(40), array(40), dim=1),
    "nested pads": nested_pads,
    "circular pad": lambda: array(1, 2, 6, 6).pad((1, 2, 2, 1), mode="circular"),
    "reflect pad": lambda: array(1, 2, 6, 6).pad((1, 2, 2, 1), mode="reflect"),
    "unfold": lambda: array(32).unfold(0, 5, 3).sum(1),
    "triangle": lambda: array(24, 24).tril() + array(24, 24).triu(1),
    # Reductions
    "sum": lambda: array(1000003).sum(),
    "rows": lambda: array(257, 100).sum(1),
    "columns": lambda: array(257, 100).max(0),
    "mean of squares": lambda: array(16, 16, 16).square().mean((0, 2)),
    "variance": lambda: array(40, 7, 6).var((0, 1)),
    "softmax": lambda: array(64, 100).softmax(-1),
    "log softmax": lambda: array(64, 100).log_softmax(0),
    "argmax": lambda: array(32, 50).argmax(1),
    "centred twice": lambda: normalized(normalized(array(4, 5, 6), (1, 2)), (1, 2)),
    "layer norm": lambda: array(32, 96).layernorm(),
    "group norm": lambda: normalized(array(4, 8, 2, 7, 7), (2, 3, 4)),
    "batch norm training": batch_norm_training,
    # Products
    "gemm": lambda: array(128, 96) @ array(96, 64),
    "odd gemm": lambda: array(33, 77) @ array(77, 55),
    "gemv": lambda: array(200, 300) @ array(300),
    "batched": lambda: array(4, 20, 30) @ array(4, 30, 10),
    "half gemm": lambda: array(32, 32, dtype="float16") @ array(32, 32, dtype="float16"),
    "einsum": lambda: Tensor.einsum("bij,bjk,k->bi", array(3, 8, 9), array(3, 9, 10), array(10)),
    "spectrum": lambda: array(4, 160).stft(64, 16, center=False).square().sum(-1).sqrt(),
    "linear and relu": lambda: (array(8, 64) @ array(32, 64).T + array(32)).relu(),
    "attention": lambda: attention(False),
    "causal attention": lambda: attention(True),
    "four layers": lambda: layers(4),
    "mlp training": mlp_training,
    # Convolutions and pools
    "conv": lambda: array(2, 8, 16, 16).conv2d(array(16, 8, 3, 3), padding=1),
    "strided conv": lambda: array(1, 3, 32, 32).conv2d(array(8, 3, 7, 7), stride=2, padding=3),
    "depthwise conv": lambda: array(1, 16, 14, 14).conv2d(array(16, 1, 3, 3), groups=16),
    "transposed conv": lambda: array(1, 4, 6, 6).conv_transpose2d(array(4, 2, 3, 3), stride=2),
    "transposed conv training": transposed_training,
    "conv of three axes": lambda: array(1, 2, 5, 5, 5).conv2d(array(3, 2, 2, 2, 2)),
    "convolution training": convolution_training,
    "max pool": lambda: array(1, 8, 14, 14).max_pool2d((3, 3), stride=2, padding=1),
    "dilated pool": lambda: array(1, 4, 16, 16).max_pool2d((3, 3), dilation=2),
    "average pool": lambda: array(1, 8, 14, 14).avg_pool2d((3, 3), stride=2, padding=1),
    "nearest": lambda: array(1, 3, 8, 8).interpolate((12, 20), mode="nearest"),
    "bilinear": lambda: array(1, 3, 8, 8).interpolate((12, 20), mode="linear"),
    "max pool gradient": lambda: (
        (x := weight(2, 2, 11, 14)).max_pool2d((3, 3), stride=2).sum().gradient(x)
    ),
    "linear in three axes": lambda: array(1, 2, 4, 5, 6).interpolate((6, 3, 9), mode="linear"),
    # Indices
    "arange": lambda: Tensor.arange(1000) * 2,
    "embedding": lambda: array(50, 16)[array(4, 6, dtype="int32", below=50)],
    "one hot": lambda: array(30, dtype="int32", below=12).one_hot(12) @ array(12, 8),
    "computed rows": lambda: computed_rows(6),
    "resize by computed indices": nearest_by_hand,
    "clamped indices": lambda: clamps(4),
    "gather": lambda: array(9, 7).gather(1, array(9, 3, dtype="int64", below=7)),
    "scatter": lambda: array(9, 7).scatter(1, array(9, 3, dtype="int64", below=7), array(9, 3)),
    "scatter add": lambda: array(9, 7).scatter_reduce(
        1, array(9, 3, dtype="int64", below=7), array(9, 3), "sum"
    ),
    "embedding gradient": lambda: (
        (w := weight(20, 8))[array(5, dtype="int32", below=20)].square().sum().gradient(w)
    ),
    # Scans and sorts
    "cumulative sum": lambda: array(6, 200).cumsum(1),
    "cumulative sum of one": lambda: array(3000).cumsum(0),
    "running maximum": lambda: array(6, 40).cummax(1)[0],
    "two scans": lambda: (array(5, 30).cumsum(1) / 2).cumsum(1),
    "scans of ones": lambda: ((Tensor.ones(4).cumsum() / 2).cumsum() / 2).cumsum(),
    "sort": lambda: array(40).sort()[0],
    "top": lambda: array(4, 20).topk(3)[0],
    # Kernels by hand
    "60 loops": lambda: loops(60),
    # Random numbers
    "random": lambda: Tensor.rand(100) * 2 - 1,
    "dropout mask": lambda: (Tensor.rand(8, 16) < 0.5).where(array(8, 16), 0.0),
}

GRID_PROGRAMS: dict[str, tuple[str, Program]] = {
    "sm_90: add": ("nvidia:sm_90", lambda: array(1024, 1024) + array(1024, 1024)),
    "sm_90: transpose": ("nvidia:sm_90", lambda: array(512, 512).T.contiguous()),
    "sm_90: sum": ("nvidia:sm_90", lambda: array(1 << 20).sum()),
    "sm_90: softmax": ("nvidia:sm_90", lambda: array(512, 4096).softmax(-1)),
    "sm_90: layer norm": ("nvidia:sm_90", lambda: array(512, 1024).layernorm()),
    "sm_90: short attention": ("nvidia:sm_90", lambda: attention(causal=False)),
    "sm_90: causal attention": ("nvidia:sm_90", lambda: attention(causal=True)),
    "sm_90: gemm": ("nvidia:sm_90", lambda: array(256, 256) @ array(256, 256)),
    "sm_90: odd gemm": ("nvidia:sm_90", lambda: array(125, 200) @ array(200, 77)),
    "sm_90: half gemm": (
        "nvidia:sm_90",
        lambda: array(256, 256, dtype="float16") @ array(256, 256, dtype="float16"),
    ),
    "sm_90: gemv": ("nvidia:sm_90", lambda: array(1024, 1024) @ array(1024)),
    "sm_90: cumulative sum": ("nvidia:sm_90", lambda: array(512, 1024).cumsum(1)),
    "opencl: softmax": ("opencl", lambda: array(512, 4096).softmax(-1)),
    "opencl: gemm": ("opencl", lambda: array(256, 256) @ array(256, 256)),
}
"""The same for grids, each with its target."""
