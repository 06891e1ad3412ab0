"""Networks whose buffers do not have their axes in order (`axis_orders.py`), against
NumPy in float64."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from random_seeds import batches
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

import tgdialect as tg
from tgdialect.analysis.affine.positions import Index
from tgdialect.diagnostics import SourceFile, parse_module
from tgdialect.lowering.callify import CallifyPass
from tgdialect.lowering.optimize import OptimizePass
from tgdialect.lowering.rangeify import RangeifyPass
from tgdialect.lowering.rangeify.planning import fusion
from tgdialect.ops.call import KernelOp
from tgdialect.ops.elementwise import SqrtOp
from tgdialect.ops.memory import StoreOp
from tgdialect.ops.movement import StackOp
from tgdialect.ops.properties import tensor
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import BufferOp
from tgdialect.registry import make_context
from tgdialect.targets import Target, target_named
from tgdialect.targets.attribute import state_target
from tgdialect.targets.cpu import cpu

Array = np.ndarray[Any, Any]
Layer = tuple[Callable[[Any], Any], Callable[[Array], Array]]
"""What a layer is in tgdialect, and in NumPy."""

VECTORS = cpu(("avx2", "fma"))


def windows(x: Array, size: int, stride: int, padding: int, fill: float = 0) -> Array:
    """(N, C, H, W, size, size) of an image (N, C, H, W)."""
    border = (0, 0), (0, 0), (padding, padding), (padding, padding)
    padded = np.pad(x, border, constant_values=fill)
    found = np.lib.stride_tricks.sliding_window_view(padded, (size, size), (2, 3))
    return found[:, :, ::stride, ::stride]


def convolution(x: Array, w: Array, stride: int, padding: int, groups: int) -> Array:
    parts = zip(np.split(x, groups, 1), np.split(w, groups), strict=True)
    size = w.shape[-1]
    return np.concatenate(
        [
            np.einsum("nchwyx,ocyx->nohw", windows(part, size, stride, padding), of)
            for part, of in parts
        ],
        1,
    )


KINDS = ("convolution", "convolution", "depthwise", "affine", "normalization", "pool", "mixed")


def random_layer(random: Random, shape: Sequence[int]) -> Layer | None:
    """A layer on images of a shape; None if it does not fit."""
    rng, (_, channels, height, width) = np.random.default_rng(random.getrandbits(32)), shape
    size = random.choice((1, 1, 3, 3, 5))
    stride, padding = random.choice((1, 1, 2)), random.choice((0, size // 2))
    if min(height, width) + 2 * padding < size:
        return None
    match random.choice(KINDS):
        case "convolution" | "depthwise" as kind:
            groups = channels if kind == "depthwise" else random.choice((1, 1, 2))
            out = channels if kind == "depthwise" else random.choice((8, 16, 24, 6))
            if channels % groups or out % groups:
                return None
            w = rng.standard_normal((out, channels // groups, size, size)) / (size * 3)
            weights = tg.Tensor(w.astype(np.float32))
            return (
                lambda x: x.conv2d(weights, stride=stride, padding=padding, groups=groups),
                lambda x: convolution(x, w, stride, padding, groups),
            )
        case "affine":
            a, b = rng.standard_normal((2, 1, channels, 1, 1))
            scale, shift = tg.Tensor(a.astype(np.float32)), tg.Tensor(b.astype(np.float32))
            return (lambda x: (x * scale + shift).relu(), lambda x: np.maximum(x * a + b, 0))
        case "normalization":
            a, b, mean = rng.standard_normal((3, channels))
            variance, at = rng.random(channels) + 0.5, (1, channels, 1, 1)
            given = [tg.Tensor(v.astype(np.float32)) for v in (a, b, mean, variance)]

            def normalized(x: Any) -> Any:
                a, b, mean, variance = (v.reshape(at) for v in given)
                return (x - mean) * ((variance + 1e-5).rsqrt() * a) + b

            return (
                normalized,
                lambda x: (
                    (x - mean.reshape(at)) * (a / np.sqrt(variance + 1e-5)).reshape(at)
                    + b.reshape(at)
                ),
            )
        case "pool" if size > 1 and padding <= size // 2:
            if random.random() < 0.5:
                return (
                    lambda x: x.max_pool2d(size, stride, padding=padding),
                    lambda x: windows(x, size, stride, padding, -np.inf).max((-2, -1)),
                )
            return (
                lambda x: x.avg_pool2d(size, stride, padding=padding),
                lambda x: windows(x, size, stride, padding).mean((-2, -1)),
            )
        case "mixed":
            return random.choice(
                (
                    (
                        lambda x: x.flip(1).cat(x, dim=1),
                        lambda x: np.concatenate((x[:, ::-1], x), 1),
                    ),
                    (lambda x: x.transpose(2, 3), lambda x: x.swapaxes(2, 3)),
                    (
                        lambda x: x - x.mean((2, 3), True),
                        lambda x: x - x.mean((2, 3), keepdims=True),
                    ),
                    (lambda x: x + x.max(1, True), lambda x: x + x.max(1, keepdims=True)),
                    (lambda x: x[:, 1:], lambda x: x[:, 1:]),
                )
            )
        case _:
            return None


def check_network(seed: int) -> None:
    random = Random(seed)
    shape = random.choice((1, 1, 2)), random.choice((3, 8, 16)), *random.choices((5, 8, 14), k=2)
    image = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    wanted, layers, sums = image.astype(np.float64), list[Callable[[Any], Any]](), set[int]()
    while len(layers) < random.randint(3, 7):
        layer = random_layer(random, wanted.shape)
        if layer is None or (result := layer[1](wanted)).size == 0:
            continue
        if result.shape == wanted.shape and random.random() < 0.5:
            sums.add(len(layers))
            result = result + wanted
        layers.append(layer[0])
        wanted = result

    def network(x: Any) -> Any:
        for number, layer in enumerate(layers):
            x = layer(x) + x if number in sums else layer(x)
        return x

    found = tg.function(network, freeze=random.random() < 0.7)(tg.Tensor(image)).numpy()
    assert found.shape == wanted.shape
    scale = max(np.abs(wanted).max(), 1e-30)
    np.testing.assert_allclose(found / scale, wanted / scale, atol=2e-5, err_msg=f"seed {seed}")


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_NETWORKS", 24), ids=str)
def test_random_networks(seeds: range):
    for seed in seeds:
        check_network(seed)


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_NETWORKS", 24), ids=str)
def test_random_orders(seeds: range, monkeypatch: pytest.MonkeyPatch):
    """Any order of axes gives the same results."""
    random = Random(seeds.start)

    def any_orders(
        _: object, roots: Mapping[Operation, Index], *__: object
    ) -> Mapping[Operation, tuple[int, ...]]:
        own = (op for op in roots if not isinstance(op, StoreOp | StackOp))
        ranks = {op: len(tensor(op.results[0]).get_shape()) for op in own if is_own(op)}
        return {op: tuple(random.sample(range(rank), rank)) for op, rank in ranks.items()}

    def is_own(op: Operation) -> bool:
        return not any(isinstance(use.operation, StoreOp) for use in op.results[0].uses)

    monkeypatch.setattr(fusion, "axis_orders", any_orders)
    for seed in seeds:
        check_network(seed)


# -- which orders are chosen -----------------------------------------------------------------------


def kernels_of(
    function: Callable[..., Any], *specs: Any, target: Target = VECTORS, constants: bool = True
) -> ModuleOp:
    """The kernels of a function. All of its arguments but the first are constants, or none is."""
    text = tg.function(function).lower(*specs).as_text()
    module = parse_module(make_context(), SourceFile("test", text, 1))
    state_target(module, target)
    CallifyPass().lower(module)
    (main,) = (op for op in module.ops if isinstance(op, FuncOp))
    assert main.arg_attrs is not None
    constant = DictionaryAttr({"tg.constant": UnitAttr()})
    first, *others = main.arg_attrs
    given = [constant if constants and not other.data else other for other in others]
    main.arg_attrs = ArrayAttr([first, *given])
    RangeifyPass().lower(module)
    return module


def buffers(function: Callable[..., Any], *specs: Any, **how: Any) -> list[tuple[int, ...]]:
    """The shapes of the buffers between the kernels of a function."""
    module = kernels_of(function, *specs, **how)
    return [tensor(op.result).get_shape() for op in module.walk() if isinstance(op, BufferOp)]


IMAGE = tg.spec((1, 16, 14, 14), "float32")
WEIGHTS = [tg.spec(s, "float32") for s in ((96, 16, 1, 1), (96, 1, 3, 3), (24, 96, 1, 1))]


def inverted(x: Any, up: Any, w: Any, down: Any) -> Any:
    """Of a MobileNet: expanded, depthwise, reduced."""
    return x.conv2d(up).relu().conv2d(w, padding=1, groups=96).relu().conv2d(down)


def test_channels_are_last():
    # Nor is the border of the image copied: masks are those of whole vectors.
    assert buffers(inverted, IMAGE, *WEIGHTS) == [(1, 14, 14, 96)] * 2


def test_images_are_streamed():
    """Channels are the innermost loop of a depthwise convolution, and its weights are packed."""
    module = kernels_of(inverted, IMAGE, *WEIGHTS)
    OptimizePass(mode="heuristic", threads=1).lower(module)
    kernels = {op.sym_name.data: op for op in module.ops if isinstance(op, KernelOp)}
    sink = str(kernels["main_1"].sink)
    assert "stage 2, 2, global" in sink
    assert "order 2" not in sink


def schedule_of(
    function: Callable[..., Any], *specs: Any, threads: int = 1, constants: bool = True
) -> str:
    """The OptOps of a function that is one kernel; without the slots that are packed."""
    module = kernels_of(function, *specs, constants=constants)
    OptimizePass(mode="heuristic", threads=threads).lower(module)
    kernels = {op.sym_name.data: op for op in module.ops if isinstance(op, KernelOp)}
    kernel = kernels["main_0"]
    return re.sub(r"stage \d+", "stage", str(kernel.sink.opts))


@pytest.mark.parametrize("constants", [True, False])
def test_results_are_stored_in_order_if_l2_keeps_the_weights(constants: bool):
    """L2 has 512 KiB, and the weights 64. Weights that vary are copied, once for each tile of
    columns if these are outermost (`kept_weights.mlir` has weights that L2 does not keep)."""
    specs = [tg.spec(s, "float32") for s in ((784, 64), (256, 64))]
    found = schedule_of(lambda x, w: (x @ w.T).relu(), *specs, constants=constants)
    assert ("order 1, 0" not in found) == constants


@pytest.mark.parametrize("seed", range(8))
def test_epilogues_leave_the_tile_of_a_product_alone(seed: int):
    """What is loaded once for each result of a product counts for nothing beside its factors."""
    random = Random(seed)
    rows, columns, steps = (random.choice((64, 96, 128, 256)) for _ in range(3))
    specs = [tg.spec(s, "float32") for s in ((rows, steps), (columns, steps))]
    threads = random.choice((1, 2))

    def product(x: Any, w: Any) -> Any:
        return x @ w.T

    def biased(x: Any, w: Any, bias: Any) -> Any:
        return (x @ w.T + bias).relu()

    def residual(x: Any, w: Any, other: Any) -> Any:
        return other + x @ w.T

    tiles = [
        re.findall(r"split [^>]*upcast[^>]*", schedule_of(function, *specs, *more, threads=threads))
        for function, more in (
            (product, ()),
            (biased, (tg.spec((columns,), "float32"),)),
            (residual, (tg.spec((rows, columns), "float32"),)),
        )
    ]
    assert len(tiles[0]) >= 2
    assert all(tile == tiles[0] for tile in tiles), tiles


@pytest.mark.parametrize("constants", [True, False])
def test_scales_of_constants_are_computed_once(constants: bool):
    """The kernels that read the image load the scale of a normalization if it is constant."""

    def network(x: Any, w: Any, gain: Any, variance: Any) -> Any:
        scale = (variance + 1e-5).rsqrt() * gain
        return x.conv2d(w) * scale.reshape(1, 96, 1, 1)

    specs = IMAGE, WEIGHTS[0], *(tg.spec((96,), "float32") for _ in range(2))
    kernels = [op for op in kernels_of(network, *specs, constants=constants).ops if is_kernel(op)]
    convolving = [op for op in kernels if any(isinstance(o, ReduceOp) for o in op.walk())]
    assert len(convolving) == 1
    assert any(isinstance(o, SqrtOp) for o in convolving[0].walk()) == (not constants)


def test_weights_of_few_bits_stay_so():
    """What has more bytes than what it is computed from is computed in each call."""

    def network(x: Any, w: Any, scale: Any) -> Any:
        return x + (w.cast("float32") * scale * 0.5 + 1.0).exp2()

    specs = [tg.spec(s, t) for s, t in (((512,), "float32"), ((512,), "int8"), ((1,), "float32"))]
    assert len([op for op in kernels_of(network, *specs).ops if is_kernel(op)]) == 1
    wide = specs[0], specs[0], specs[2]
    assert len([op for op in kernels_of(network, *wide).ops if is_kernel(op)]) == 2


def is_kernel(op: Operation) -> bool:
    return isinstance(op, KernelOp)


def test_windows_that_neighbouring_rows_share():
    """The tile of a depthwise convolution has rows of one vector: a step of its windows uses again
    what another one has loaded for a row, and two vectors would not stay in registers."""
    module = kernels_of(inverted, IMAGE, *WEIGHTS)
    OptimizePass(mode="heuristic", threads=1).lower(module)
    kernels = {op.sym_name.data: op for op in module.ops if isinstance(op, KernelOp)}
    opts = str(kernels["main_1"].sink.opts)
    assert opts.count("unroll") == 2
    rows, vectors = (int(n) for n in re.findall(r"split \d+, (\d+), upcast", opts))
    assert rows > 1
    assert vectors == VECTORS.lanes(4)


def test_grids_keep_the_order():
    found = buffers(inverted, IMAGE, *WEIGHTS, target=target_named("opencl"))
    assert (1, 14, 14, 96) not in found


def test_weights_that_vary_are_packed_in_each_call():
    # There are fewer elements in the images than in the weights.
    shapes = (256, 16, 1, 1), (256, 256, 3, 3), (24, 256, 1, 1)
    specs = tg.spec((1, 16, 8, 8), "float32"), *(tg.spec(s, "float32") for s in shapes)

    def network(x: Any, up: Any, w: Any, down: Any) -> Any:
        return x.conv2d(up).relu().conv2d(w, padding=1).relu().conv2d(down)

    assert (1, 8, 8, 256) in buffers(network, *specs)
    assert (1, 8, 8, 256) not in buffers(network, *specs, constants=False)


def test_depthwise_convolutions_keep_the_order():
    """Vectors lie along an image, if nothing but arguments and results is packed."""

    def step(x: Any, w: Any) -> Any:
        return x.conv2d(w, padding=1, groups=128).relu().conv2d(w, padding=1, groups=128)

    shapes = (1, 128, 56, 56), (128, 1, 3, 3)
    found = buffers(step, *(tg.spec(s, "float32") for s in shapes), constants=False)
    assert all(shape[:2] in ((1, 128), (56, 56), (58, 58)) for shape in found)


def test_channels_are_last_where_sizes_are_not_known():
    def network(x: Any, up: Any, down: Any) -> Any:
        return x.conv2d(up).relu().conv2d(down)

    n = tg.Variable("n", 8, 64)
    shapes = (1, 16, n, 14), WEIGHTS[0].shape, WEIGHTS[2].shape
    found = buffers(network, *(tg.spec(s, "float32") for s in shapes))
    assert found
    assert all(shape[-1] == 96 for shape in found)
