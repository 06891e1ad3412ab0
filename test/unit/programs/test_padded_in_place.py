"""Values that are stored inside of a padded buffer (`_Planner.padded_in_place`), against NumPy in
float64. Memory between kernels has NaN in it before each call."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import numpy as np
import pytest
from random_seeds import batches
from test_axis_orders import convolution, kernels_of, windows
from xdsl.dialects.func import FuncOp

import tgdialect as tg
from tgdialect.lowering.rangeify import plan_fusion as planning_pass
from tgdialect.lowering.rangeify.planning.fusion import plan_fusion
from tgdialect.lowering.rangeify.planning.plan import Fusion
from tgdialect.ops.call import CallOp
from tgdialect.ops.movement import StackOp
from tgdialect.ops.properties import tensor
from tgdialect.ops.reduce import ReduceOp
from tgdialect.ops.source import BufferOp
from tgdialect.runtime.memory import POOL, Block
from tgdialect.targets import target_named

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def poison(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fill memory with bytes that are NaN as floats and negative as integers."""
    take = POOL.take

    def poisoned(nbytes: int) -> Block:
        block = take(nbytes)
        block.memory.view(np.uint8)[:] = 0xFF
        return block

    monkeypatch.setattr(POOL, "take", poisoned)


@contextmanager
def watched() -> Generator[list[Fusion]]:
    """The plans of the functions that are compiled meanwhile."""
    found: list[Fusion] = []

    def planned(*given: Any) -> Fusion:
        found.append(plan_fusion(*given))
        return found[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning_pass, "plan_fusion", planned)
        yield found


@pytest.fixture
def plans() -> Iterator[list[Fusion]]:
    with watched() as found:
        yield found


Producer = tuple[Callable[[Any, Any], Any], Callable[[Array, Array], Array]]
"""What computes the value that is padded, of an image and weights: here, and in NumPy."""


def merged(x: Any) -> Any:
    """Axes in another order, two of which are merged."""
    n, c, h, w = x.shape
    return (x * 2).permute(0, 3, 1, 2).reshape(n, w * c, h, 1)


PRODUCERS: dict[str, Producer] = {
    "product": (
        lambda x, w: x.conv2d(w).relu(),
        lambda x, w: np.maximum(convolution(x, w, 1, 0, 1), 0),
    ),
    "elementwise": (lambda x, _: (x - 1).exp(), lambda x, _: np.exp(x - 1)),
    "pool": (
        lambda x, _: x.max_pool2d(2, 1),
        lambda x, _: windows(x, 2, 1, 0).max((-2, -1)),
    ),
    "equal parts": (
        lambda x, _: (x + 1).cat((x * 2), dim=1),
        lambda x, _: np.concatenate((x + 1, x * 2), 1),
    ),
    "parts": (
        lambda x, _: (x + 1).cat(x[:, 1:] * 2, dim=1),
        lambda x, _: np.concatenate((x + 1, x[:, 1:] * 2), 1),
    ),
    "merged": (
        lambda x, _: merged(x),
        lambda x, _: (x * 2).transpose(0, 3, 1, 2).reshape(x.shape[0], -1, x.shape[2], 1),
    ),
    "sum": (lambda x, _: x.sum(3, keepdim=True), lambda x, _: x.sum(3, keepdims=True)),
    "cast": (
        lambda x, _: (x * 4).cast("int32").cast("float32"),
        lambda x, _: np.trunc(x.astype(np.float32) * 4).astype(np.float64),
    ),
}


def check_padding(seed: int) -> None:
    random = Random(seed)
    rng = np.random.default_rng(seed)
    n, c, h, w = random.choice((1, 1, 2)), random.choice((2, 8, 16)), *random.choices((4, 7), k=2)
    image = rng.standard_normal((n, c, h, w)).astype(np.float32)
    first = rng.standard_normal((random.choice((5, 16)), c, 1, 1)).astype(np.float32)
    kind = random.choice([*PRODUCERS])
    produce, expect = PRODUCERS[kind]
    value = expect(image.astype(np.float64), first.astype(np.float64))
    # Windows of the padded value.
    size, stride = random.choice((1, 3, 3, 3)), random.choice((1, 1, 2))
    pads = [(random.randint(0, 3), random.randint(0, 3)) for _ in range(2)]
    fill = random.choice((0.0, 0.0, 1.5))
    least = [
        max(size - sum(pair) - extent, 0)
        for pair, extent in zip(pads, value.shape[2:], strict=True)
    ]
    border = [(0, 0), (0, 0), *((a, b + more) for (a, b), more in zip(pads, least, strict=True))]
    of = rng.standard_normal((16, value.shape[1], size, size)).astype(np.float32) / size
    other = random.choice(("none", "none", "residual", "result", "padding", "step"))

    def program(x: Any, first: Any, of: Any) -> Any:
        made = produce(x, first)
        result = [made.pad(tuple(border), value=fill).conv2d(of, stride=stride)]
        match other:
            case "residual":
                result.append((made * 2 + 1).sum((2, 3)))
            case "result":
                result.append(made)
            case "padding":
                result.append(made.pad(((0, 0), (0, 0), (1, 1), (2, 0))).conv2d(of[:, :, :1, :1]))
            case "step":
                result.append(made.pad(tuple(border), value=fill).abs().conv2d(of, stride=stride))
            case _:
                pass
        return result

    padded = np.pad(value, border, constant_values=fill)
    weights = of.astype(np.float64)
    wanted = [convolution(padded, weights, stride, 0, 1)]
    match other:
        case "residual":
            wanted.append((value * 2 + 1).sum((2, 3)))
        case "result":
            wanted.append(value)
        case "padding":
            again = np.pad(value, ((0, 0), (0, 0), (1, 1), (2, 0)))
            wanted.append(convolution(again, weights[:, :, :1, :1], 1, 0, 1))
        case "step":
            wanted.append(convolution(np.abs(padded), weights, stride, 0, 1))
        case _:
            pass
    run = tg.function(program, freeze=random.random() < 0.5)
    for _ in range(2):
        found = [x.numpy() for x in run(*map(tg.Tensor, (image, first, of)))]
        for one, expected in zip(found, wanted, strict=True):
            scale = max(np.abs(expected).max(), 1e-30)
            np.testing.assert_allclose(
                one / scale, expected / scale, atol=2e-5, err_msg=f"{seed} {kind} {border} {other}"
            )


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_PADDED", 60), ids=str)
def test_random_paddings_of_values(seeds: range, plans: list[Fusion]):
    for seed in seeds:
        check_padding(seed)
    assert sum(bool(plan.paddings) for plan in plans) >= len(seeds) // 4


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(8))
def test_dtypes_of_borders(seed: int, plans: list[Fusion]):
    """Numbers of any width, whose border may be other than 0. Sums of float16 are no products."""
    random = Random(seed)
    dtype = random.choice(("int16", "int32", "int64", "float16", "float64"))
    x = np.random.default_rng(seed).integers(-3, 4, (1, 4, 6, 5)).astype(dtype)
    w = np.random.default_rng(seed).integers(-2, 3, (24, 4, 3, 3)).astype(dtype)
    fill = random.choice((-2, 0, 3))
    border = ((0, 0), (0, 0), (random.randint(0, 2), 1), (2, random.randint(0, 2)))

    def program(x: Any, w: Any) -> Any:
        return (x * 2 - 1).pad(border, value=fill).conv2d(w)

    found = tg.function(program)(tg.Tensor(x), tg.Tensor(w)).numpy()
    padded = np.pad(x.astype(np.float64) * 2 - 1, border, constant_values=fill)
    wanted = convolution(padded, w.astype(np.float64), 1, 0, 1)
    np.testing.assert_array_equal(found, wanted.astype(dtype))
    assert any(plan.paddings for plan in plans) or dtype == "float16"


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(6))
def test_equal_values_at_other_places(seed: int, plans: list[Fusion]):
    """Tasks that compute the same, and store or read it elsewhere in buffers of one type, are not
    alike."""
    random, rng = Random(seed), np.random.default_rng(seed)
    images = rng.standard_normal((4, 1, 3, 5, 6)).astype(np.float32)
    of = rng.standard_normal((16, 3, 3, 3)).astype(np.float32)
    firsts = [(random.randint(0, 2), random.randint(0, 2)) for _ in images]
    borders = [((0, 0), (0, 0), (a, 2 - a), (b, 2 - b)) for a, b in firsts]

    def program(of: Any, *images: Any) -> Any:
        results: list[Any] = []
        for image, border in zip(images, borders, strict=True):
            made = (image * 2 + 1).exp() * 3
            results += [made.pad(border).conv2d(of), made.sum((1, 2))]
        return results

    found = [x.numpy() for x in tg.function(program)(tg.Tensor(of), *map(tg.Tensor, images))]
    wanted: list[Array] = []
    for image, border in zip(images.astype(np.float64), borders, strict=True):
        made = np.exp(image * 2 + 1) * 3
        wanted += [convolution(np.pad(made, border), of, 1, 0, 1), made.sum((1, 2))]
    for one, expected in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
    assert sum(len(plan.paddings) for plan in plans) == len(images)


def test_steps_of_a_loop_share_no_border():
    """The memory of a step is that of the step before."""
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((3, 1, 4, 6, 5)), rng.standard_normal((4, 4, 3, 3)) / 8

    def step(state: Any, image: Any) -> Any:
        made = (state + image).relu().conv2d(weights, padding=1).relu()
        return made.conv2d(weights, padding=1), made.sum()

    weights = tg.Tensor(w.astype(np.float32))
    images = tg.Tensor(x.astype(np.float32))
    last, sums = tg.scan(step, tg.Tensor(np.zeros((1, 4, 6, 5), np.float32)), images)
    state, wanted = np.zeros((1, 4, 6, 5)), list[float]()
    for image in x:
        made = np.maximum(convolution(padded_by_1(np.maximum(state + image, 0)), w, 1, 0, 1), 0)
        wanted.append(made.sum())
        state = convolution(padded_by_1(made), w, 1, 0, 1)
    np.testing.assert_allclose(last.numpy(), state, atol=1e-5)
    np.testing.assert_allclose(sums.numpy(), wanted, rtol=1e-5)


def padded_by_1(x: Array) -> Array:
    return np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))


# -- which values are stored so --------------------------------------------------------------------

IMAGE = tg.spec((1, 16, 14, 14), "float32")
WEIGHTS = tg.spec((32, 16, 1, 1), "float32"), tg.spec((32, 32, 3, 3), "float32")


def block(x: Any, first: Any, second: Any) -> Any:
    return x.conv2d(first).relu().conv2d(second, padding=1)


def calls_and_buffers(function: Callable[..., Any], **how: Any) -> tuple[int, int]:
    module = kernels_of(function, IMAGE, *WEIGHTS, **how)
    (main,) = (op for op in module.ops if isinstance(op, FuncOp))
    ops = list(main.body.block.ops)
    return sum(isinstance(o, CallOp) for o in ops), sum(isinstance(o, BufferOp) for o in ops)


def test_value_that_one_convolution_pads():
    # Rows and columns of the border are a kernel each; before, one kernel copied the image.
    module = kernels_of(block, IMAGE, *WEIGHTS)
    (buffer,) = (op for op in module.walk() if isinstance(op, BufferOp))
    assert tensor(buffer.result).get_shape() == (1, 16, 16, 32)
    assert calls_and_buffers(block) == (4, 1)


def test_other_readers_read_it_there():
    def residual(x: Any, first: Any, second: Any) -> Any:
        made = x.conv2d(first).relu()
        return made.conv2d(second, padding=1) + made

    assert calls_and_buffers(residual) == (4, 1)


def test_value_that_two_paddings_read():
    """The second PAD copies it from the buffer of the first."""

    def twice(x: Any, first: Any, second: Any) -> Any:
        made = x.conv2d(first).relu()
        return made.conv2d(second, padding=1)[:, :, :8, :8] + made.conv2d(second, padding=2).max()

    assert len(plan_of(twice).paddings) == 1


def test_results_are_not_padded_in_place():
    def both(x: Any, first: Any, second: Any) -> Any:
        made = x.conv2d(first).relu()
        return made, made.conv2d(second, padding=1)

    assert not plan_of(both).paddings


def test_concatenation_and_pool_are_padded_in_place():
    def joined(x: Any, first: Any, second: Any) -> Any:
        return (x + 1).cat(x * 2, dim=1).conv2d(second, padding=1)

    def pooled(x: Any, first: Any, second: Any) -> Any:
        return x.conv2d(first).max_pool2d(2).conv2d(second, padding=1)

    for function, kind in ((joined, StackOp), (pooled, ReduceOp)):
        (inside,) = plan_of(function).paddings.values()
        assert isinstance(inside.op, kind)


def test_masks_of_whole_vectors_are_no_copies():
    """What reads windows along channels copies nothing to LOCAL memory, also if what it computes
    is padded."""

    def inverted(x: Any, up: Any, w: Any) -> Any:
        deep = x.conv2d(up).relu().conv2d(w[:, :1], padding=1, groups=32).relu()
        return deep.conv2d(w, padding=1)

    plan = plan_of(inverted)
    assert len(plan.paddings) == 1
    assert not plan.local_axes


def test_grids_copy_padding():
    assert not plan_of(block, target=target_named("opencl")).paddings


def plan_of(function: Callable[..., Any], **how: Any) -> Fusion:
    """The plan of a function's kernels."""
    with watched() as found:
        kernels_of(function, IMAGE, *WEIGHTS, **how)
    (plan,) = found
    return plan
