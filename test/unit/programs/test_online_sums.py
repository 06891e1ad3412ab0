"""Attentions and their like in one kernel that goes over blocks of keys (`online_recognition.py`),
against NumPy in float64.

On a CPU they are compiled.
The interpreter runs the workgroups of small grids and reports races; PoCL runs larger ones. The
target has little LOCAL memory, so that no row of scores fits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np
import pytest
from executors import Executor, lowered_for_grid, on_opencl, run_grid, target_for
from opencl_device import DEVICE, needs_opencl
from random_seeds import batches
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

import tgdialect as tg
from tgdialect.diagnostics import SourceFile, parse_module
from tgdialect.lowering.pipeline import stages
from tgdialect.ops.attributes import AxisType
from tgdialect.ops.call import KernelOp
from tgdialect.ops.codegen import ProgramOp
from tgdialect.ops.ordering import RangeOp, SinkOp, dependent_ranges
from tgdialect.ops.properties import tensor
from tgdialect.ops.source import BufferOp
from tgdialect.registry import make_context
from tgdialect.targets import Target, target_named
from tgdialect.targets.attribute import state_target
from tgdialect.targets.cpu import cpu

Array = np.ndarray
SMALL = replace(target_named("opencl"), units=2, local=9000)
"""A grid for which 16 rows and 80 keys are many."""
DEVICES = (run_grid, pytest.param(on_opencl, marks=needs_opencl))


def traced(
    function: Callable[..., tg.Tensor], arrays: Sequence[Array], target: Target = SMALL
) -> ModuleOp:
    """The module of a function, for a grid."""
    specs = [tg.spec(a.shape, str(a.dtype)) for a in arrays]
    text = tg.function(function).lower(*specs).as_text()
    module = parse_module(make_context(), SourceFile("test", text, 1))
    state_target(module, target)
    return module


def kernels(lowered: ModuleOp) -> int:
    return sum(isinstance(op, ProgramOp) for op in lowered.walk())


def softmax_of(scores: Array) -> Array:
    with np.errstate(all="ignore"):
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        return powers / powers.sum(-1, keepdims=True)


@dataclass
class Case:
    """A random attention: what it is computed of, and what it gives."""

    function: Callable[..., tg.Tensor]
    inputs: list[Array]
    wanted: Array


def random_case(seed: int) -> Case:
    random, rng = Random(seed), np.random.default_rng(seed)
    batch = tuple(random.choices((1, 2, 3), k=random.randrange(3)))
    rows, keys = random.randrange(32, 70), random.randrange(73, 130)
    depth, width = random.randrange(9, 21), random.randrange(1, 35)
    groups = random.choice((1, 1, 2)) if batch else 1
    shared = (*batch[:-1], batch[-1] * groups) if batch else ()
    q = rng.standard_normal((*shared, rows, depth)) * random.choice((1, 1, 10))
    k = rng.standard_normal((*batch, keys, depth))
    v = rng.standard_normal((*batch, keys, width))
    is_causal, has_mask = (random.random() < 0.4 for _ in range(2))
    mask = np.where(rng.random((rows, keys)) < random.random(), -np.inf, rng.random((rows, keys)))
    mask[random.randrange(rows)] = -np.inf
    mask[random.randrange(rows), : keys // 2] = -np.inf
    if random.random() < 0.3:
        mask[random.randrange(rows), random.randrange(keys)] = random.choice((np.inf, np.nan))
    if random.random() < 0.2:
        q[..., random.randrange(rows), 0] = random.choice((np.inf, np.nan, 1e30))
    inputs = [array.astype(np.float32) for array in (q, k, v)]
    if has_mask:
        inputs.append(mask.astype(np.float32))
    kind = random.choice((_attention, _attention, _sums, _logarithms, _some))

    def function(q: tg.Tensor, k: tg.Tensor, v: tg.Tensor, *masks: tg.Tensor) -> tg.Tensor:
        if groups > 1:
            k, v = (x.repeat_interleave(groups, dim=-3) for x in (k, v))
        scores = q @ k.transpose(-2, -1) * 0.25
        if is_causal:
            visible = tg.Tensor.arange(keys) <= tg.Tensor.arange(rows).reshape((rows, 1))
            scores = visible.where(scores, -np.inf)
        for each in masks:
            scores = scores + each
        return kind[0](scores, v)

    q, k, v, *masks = (array.astype(np.float64) for array in inputs)
    if groups > 1:
        k, v = (np.repeat(x, groups, axis=-3) for x in (k, v))
    with np.errstate(all="ignore"):
        scores = q @ k.swapaxes(-1, -2) * 0.25
        if is_causal:
            scores = np.where(np.tri(rows, keys, dtype=bool), scores, -np.inf)
        for each in masks:
            scores = scores + each
        return Case(function, inputs, kind[1](scores, v))


_attention = (
    lambda scores, v: scores.softmax(-1) @ v,
    lambda scores, v: softmax_of(scores) @ v,
)
_sums = (
    lambda scores, v: (scores - scores.max(-1, keepdim=True)).exp2() @ v,
    lambda scores, v: np.exp2(scores - scores.max(-1, keepdims=True)) @ v,
)


def _logarithm(scores: tg.Tensor, v: tg.Tensor) -> tg.Tensor:
    greatest = scores.max(-1, keepdim=True)
    return (scores - greatest).exp().sum(-1, keepdim=True).log() + greatest


def _logarithm_of(scores: Array, v: Array) -> Array:
    greatest = scores.max(-1, keepdims=True)
    return np.log(np.exp(scores - greatest).sum(-1, keepdims=True)) + greatest


_logarithms = (_logarithm, _logarithm_of)


def _sum_of_some(scores: tg.Tensor, v: tg.Tensor) -> tg.Tensor:
    powers = (scores - scores.max(-1, keepdim=True)).exp2()
    return (tg.Tensor.arange(scores.shape[-1]) % 3).ne(0).where(powers, 0) @ v


def _sum_of_some_of(scores: Array, v: Array) -> Array:
    powers = np.exp2(scores - scores.max(-1, keepdims=True))
    return np.where(np.arange(scores.shape[-1]) % 3 != 0, powers, 0) @ v


_some = (_sum_of_some, _sum_of_some_of)
"""A NaN among the scores that are left out is in the maximum, and in no exponential that counts."""


@pytest.mark.parametrize("seed", range(12))
def test_factors_that_are_products(seed: int):
    """Queries, keys and values that are products themselves are stored, and what is summed of them
    is not."""
    random = Random(seed)
    heads, depth = random.choice((2, 4, 8)), random.choice((16, 32))
    rows, width = random.randrange(32, 100), heads * depth
    is_one = random.random() < 0.3

    def layer(x: tg.Tensor, q: tg.Tensor, k: tg.Tensor, v: tg.Tensor) -> tg.Tensor:
        both = [(x @ weights).relu() for weights in (q, k, v)]
        if is_one:
            both = (x @ q.cat(k, v, dim=1)).split(width, dim=1)
        q, k, v = (y.reshape(rows, heads, depth).transpose(0, 1) for y in both)
        y = (q @ k.transpose(-2, -1)).softmax(-1) @ v
        return y.transpose(0, 1).reshape(rows, width) if random.random() < 0.7 else y

    arrays = [np.zeros((rows, width), np.float32), *[np.zeros((width, width), np.float32)] * 3]
    module = traced(layer, arrays, cpu(random.choice((("avx2", "fma"), ("avx512f", "fma")))))
    for stage in stages().module:
        stage.lower(module)
    (main,) = (op for op in module.ops if isinstance(op, FuncOp))
    found = [tensor(op.result).get_shape() for op in main.walk() if isinstance(op, BufferOp)]
    assert 1 <= len(found) <= 4
    assert max(map(math.prod, found)) <= 3 * max(rows, width) * width, found


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_ATTENTIONS", 4), ids=str)
@pytest.mark.parametrize("device", DEVICES)
def test_random_attentions(device: Executor, seeds: range):
    for seed in seeds:
        case = random_case(seed)
        small = replace(target_named(target_for(device)), units=2, local=9000)
        lowered = lowered_for_grid(traced(case.function, case.inputs, small), small.name)
        assert kernels(lowered) == 1, seed
        (found,) = device(lowered, case.inputs)
        np.testing.assert_allclose(found, case.wanted, rtol=2e-4, atol=2e-5, err_msg=f"seed {seed}")


def host_case(seed: int) -> Case:
    """A random attention of more or less rows, keys and columns than blocks of a core have."""
    random, rng = Random(seed), np.random.default_rng(seed)
    batch = tuple(random.choices((1, 2, 3), k=random.randrange(3)))
    rows, keys = (random.choice((random.randrange(1, 80), random.randrange(80, 300))) for _ in "qk")
    depth, width = random.randrange(9, 40), random.randrange(1, 70)
    q, k, v = (
        rng.standard_normal((*batch, *shape)).astype(np.float32)
        for shape in ((rows, depth), (keys, depth), (keys, width))
    )
    first = random.choice((0, 0, -70, 50))
    masks = random.choice(
        ((), ("causal",), ("causal",), ("later",), ("added",), ("bool", "causal"))
    )
    added = rng.standard_normal((rows, keys)).astype(np.float32)
    q[..., random.randrange(rows), :] = random.choice((0.0, -0.0))
    for special in (np.nan, np.inf, -np.inf, 0.0, -0.0, 3e38, -3e38):
        # A row of it, a part of one, and a single one.
        width_of_it = random.choice((keys, keys // 2, 1))
        left = random.randrange(keys - width_of_it + 1)
        added[random.randrange(rows), left : left + width_of_it] = special
    is_shown = rng.random((rows, keys)) < random.choice((0.02, 0.5))
    kind = random.choice((_attention, _attention, _sums, _logarithms, _some))
    if not masks:
        v[..., random.randrange(keys), 0] = random.choice((0.0, np.inf, np.nan))

    def function(
        q: tg.Tensor, k: tg.Tensor, v: tg.Tensor, added: tg.Tensor, is_shown: tg.Tensor
    ) -> tg.Tensor:
        scores = q @ k.transpose(-2, -1) * 0.25
        row, column = tg.Tensor.arange(rows).reshape((rows, 1)) + first, tg.Tensor.arange(keys)
        for mask in masks:
            if mask == "added":
                scores = scores + added
                continue
            shown = {"causal": column <= row, "later": row <= column, "bool": is_shown}[mask]
            scores = shown.where(scores, -np.inf)
        return kind[0](scores, v)

    scores = q.astype(np.float64) @ k.astype(np.float64).swapaxes(-1, -2) * 0.25
    row, column = np.arange(rows)[:, None] + first, np.arange(keys)
    for mask in masks:
        if mask == "added":
            scores = scores + added
            continue
        shown = {"causal": column <= row, "later": row <= column, "bool": is_shown}[mask]
        scores = np.where(shown, scores, -np.inf)
    with np.errstate(all="ignore"):
        wanted = kind[1](scores, v.astype(np.float64))
    return Case(function, [q, k, v, added, is_shown], wanted)


@pytest.mark.parametrize("seeds", batches("TG_RANDOM_ATTENTIONS", 6), ids=str)
def test_random_attentions_on_a_core(seeds: range):
    for seed in seeds:
        for case in (random_case(seed), host_case(seed)):
            found = tg.compile(case.function, *case.inputs)(*case.inputs)
            np.testing.assert_allclose(
                found, case.wanted, rtol=2e-4, atol=2e-5, err_msg=f"seed {seed}"
            )


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("rows", "keys"), [(64, 64), (100, 1000), (777, 300), (256, 77)])
def test_one_kernel_on_a_core(rows: int, keys: int, threads: int):
    """Rows, or keys, are copied for vectors to lie along them; threads share blocks of rows, also
    if the loop over keys depends on them."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((n, 32)).astype(np.float32) for n in (rows, keys, keys))
    target = replace(cpu(("avx2", "fma")), threads=threads)
    module = traced(
        lambda *x: x[0].scaled_dot_product_attention(*x[1:], is_causal=True), [q, k, v], target
    )
    for stage in replace(stages(mode="heuristic"), kernels=(), render=None):
        stage.lower(module)
    (kernel,) = (op for op in module.walk() if isinstance(op, KernelOp))
    (sink,) = (op for op in kernel.walk() if isinstance(op, SinkOp))
    words = [str(each) for each in sink.opts or ()]
    assert any("stage" in each for each in words)
    assert any("thread" in each for each in words) == (threads > 1)


@pytest.mark.parametrize("keys", [256, 777, 300, 73, 100])
@pytest.mark.parametrize("rows", [64, 777])
def test_masked_scores_are_left_out(rows: int, keys: int):
    """The loops over blocks of keys, over the tiles of a block and over the keys that count end
    where a causal mask hides the rest, also if blocks do not divide the keys."""
    arrays = [np.zeros((n, 32), np.float32) for n in (rows, keys, keys)]
    module = traced(
        lambda *x: x[0].scaled_dot_product_attention(*x[1:], is_causal=True),
        arrays,
        cpu(("avx512f", "fma")),
    )
    for stage in stages().module:
        stage.lower(module)
    (kernel,) = (op for op in module.walk() if isinstance(op, KernelOp))
    ranges = [op for op in kernel.walk() if isinstance(op, RangeOp)]
    reduced = [r for r in ranges if r.axis_type.data is AxisType.REDUCE]
    (blocks,) = (r for r in reduced if any(_depends(each.bound, r) for each in ranges))
    inside = [r for r in ranges if r is not blocks and _depends(r.bound, blocks)]
    if rows > 64:
        around = ranges[: ranges.index(blocks)]
        assert any(_depends(blocks.bound, r) for r in around)
    # The tiles of scores, and the loops of maxima, exponentials, and both sums.
    assert len(inside) == 5


def _depends(value: SSAValue, loop: RangeOp) -> bool:
    return loop in dependent_ranges(value)


def _stored_scores(q: tg.Tensor, k: tg.Tensor, v: tg.Tensor) -> tg.Tensor:
    scores = q @ k.transpose(-2, -1)
    return scores.softmax(-1) @ v + scores.sum(-1, keepdim=True)


def _squares(q: tg.Tensor, k: tg.Tensor, v: tg.Tensor) -> tg.Tensor:
    scores = q @ k.transpose(-2, -1)
    powers = (scores - scores.max(-1, keepdim=True)).exp2()
    return (powers * powers) @ v


def _negative(q: tg.Tensor, k: tg.Tensor, v: tg.Tensor) -> tg.Tensor:
    scores = q @ k.transpose(-2, -1)
    return ((scores - scores.max(-1, keepdim=True)) * -0.01).exp2() @ v


def _shifted_steps(q: tg.Tensor, k: tg.Tensor, v: tg.Tensor) -> tg.Tensor:
    weights = (q @ k.transpose(-2, -1)).softmax(-1)
    return weights[:, 1:] @ v[1:]


def _first_steps(q: tg.Tensor, k: tg.Tensor, v: tg.Tensor) -> tg.Tensor:
    weights = (q @ k.transpose(-2, -1)).softmax(-1)
    return weights[:, :50] @ v[:50]


NO_RECURRENCES = (_stored_scores, _squares, _negative, _shifted_steps, _first_steps)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("function", NO_RECURRENCES)
def test_what_is_no_recurrence(function: Callable[..., tg.Tensor]):
    """The scores are used otherwise, or the sums are not linear, or go over other steps."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((n, 12)).astype(np.float32) for n in (40, 90, 90))
    module = traced(function, [q, k, v])
    lowered = lowered_for_grid(module)
    assert kernels(lowered) > 1
    (found,) = run_grid(lowered, [q, k, v])
    wanted = function(*(tg.Tensor(x.astype(np.float64)) for x in (q, k, v))).numpy()
    np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-4)


def test_all_that_follows_the_sums():
    """What is computed of results is stored by the same kernel, in the order of the output."""
    rng = np.random.default_rng(0)
    shapes = ((2, 3, 40, 12), (2, 3, 90, 12), (2, 3, 90, 24), (40, 24))
    q, k, v, r = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)

    def function(q: tg.Tensor, k: tg.Tensor, v: tg.Tensor, r: tg.Tensor) -> tg.Tensor:
        out = (q @ k.transpose(-2, -1)).softmax(-1) @ v
        return ((out + r) * 0.5).transpose(1, 2).reshape((2, 40, 72))

    lowered = lowered_for_grid(traced(function, [q, k, v, r]))
    assert kernels(lowered) == 1
    (found,) = run_grid(lowered, [q, k, v, r])
    scores = q.astype(np.float64) @ k.swapaxes(-1, -2)
    wanted = (softmax_of(scores) @ v + r) * 0.5
    wanted = wanted.transpose(0, 2, 1, 3).reshape((2, 40, 72))
    np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-5)


def test_steps_that_are_a_part_of_an_axis():
    """Past the last key, V has other cells, one of which is NaN: they are masked."""
    rng = np.random.default_rng(0)
    shapes = ((2, 40, 12), (2, 90, 12), (180, 24))
    q, k, v = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)
    v[90] = np.nan
    lowered = lowered_for_grid(
        traced(
            lambda q, k, v: (q @ k.transpose(1, 2)).softmax(-1) @ v.reshape((2, 90, 24)), [q, k, v]
        )
    )
    assert kernels(lowered) == 1
    (found,) = run_grid(lowered, [q, k, v])
    wanted = softmax_of(q.astype(np.float64) @ k.swapaxes(1, 2)) @ v.reshape((2, 90, 24))
    np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-5)


def test_results_that_take_the_place_of_queries():
    """Rows that two blocks compute are read for both before they are written."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((n, 24)).astype(np.float32) for n in (150, 90, 90))
    state = tg.Tensor(q)

    @tg.function
    def step(k: tg.Tensor, v: tg.Tensor) -> tg.Tensor:
        state.assign(state.scaled_dot_product_attention(k, v))
        return state.sum()

    @tg.function(donate=("q",))
    def donated(q: tg.Tensor, k: tg.Tensor, v: tg.Tensor) -> tg.Tensor:
        return q.scaled_dot_product_attention(k, v)

    step(tg.Tensor(k), tg.Tensor(v)).numpy()
    wanted = softmax_of(q.astype(np.float64) @ k.T / np.sqrt(24)) @ v
    np.testing.assert_allclose(state.numpy(), wanted, rtol=2e-4, atol=2e-5)
    found = donated(tg.Tensor(q.copy()), tg.Tensor(k), tg.Tensor(v)).numpy()
    np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", ["float16", "float64"])
def test_other_floats_on_a_core(name: str):
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((n, 12)).astype(name) for n in (40, 90, 90))
    found = tg.compile(lambda *x: x[0].scaled_dot_product_attention(*x[1:]), q, k, v)(q, k, v)
    scores = q.astype(np.float64) @ k.T.astype(np.float64) / np.sqrt(12)
    tolerance = 3e-3 if name == "float16" else 1e-12
    np.testing.assert_allclose(found, softmax_of(scores) @ v, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", ["float16", "float64"])
def test_other_floats(name: str):
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((n, 12)).astype(name) for n in (40, 90, 90))

    def function(q: tg.Tensor, k: tg.Tensor, v: tg.Tensor) -> tg.Tensor:
        return q.scaled_dot_product_attention(k, v)

    lowered = lowered_for_grid(traced(function, [q, k, v], replace(SMALL, local=18000)))
    assert kernels(lowered) == 1
    (found,) = run_grid(lowered, [q, k, v])
    scores = q.astype(np.float64) @ k.T.astype(np.float64) / np.sqrt(12)
    tolerance = 3e-3 if name == "float16" else 1e-12
    np.testing.assert_allclose(found, softmax_of(scores) @ v, rtol=tolerance, atol=tolerance)


@needs_opencl
def test_gradients():
    """The backward pass needs all weights, and stores them: more keys than a device keeps."""
    rng = np.random.default_rng(0)
    shapes = ((40, 12), (6000, 12), (6000, 12))
    arrays = [rng.standard_normal(shape).astype(np.float32) for shape in shapes]

    def gradients(device: str) -> list[Array]:
        inputs = [tg.Tensor(a, device=device, requires_grad=True) for a in arrays]
        (inputs[0].scaled_dot_product_attention(*inputs[1:]) ** 2).sum().backward()
        return [each.grad.numpy() for each in inputs if each.grad is not None]

    for mine, theirs in zip(gradients(DEVICE), gradients("CPU"), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(
    "moved",
    [
        lambda maxima: maxima,
        lambda maxima: maxima[::-1],
        lambda maxima: maxima.reshape(8, 8).T.reshape(64, 1),
        lambda maxima: maxima.reshape(1, 64),
    ],
    ids=("same", "flipped", "permuted", "transposed"),
)
def test_shifts_by_the_maxima_of_other_rows(moved: Callable[..., tg.Tensor]):
    """A sum of exponentials does depend on the shift, which may be the maximum of another row."""
    random = np.random.default_rng(0)
    queries = random.standard_normal((64, 32)).astype(np.float32)
    keys = random.standard_normal((64, 32)).astype(np.float32)

    def sums(queries: tg.Tensor, keys: tg.Tensor) -> tg.Tensor:
        scores = queries @ keys.transpose(1, 0)
        maxima = scores.max(axis=-1, keepdim=True)
        return (scores - moved(maxima)).exp2().sum(axis=-1)

    scores = queries @ keys.T
    expected = np.exp2(scores - moved(scores.max(-1, keepdims=True))).sum(-1)
    given = tg.function(sums)(tg.Tensor(queries), tg.Tensor(keys)).numpy()
    np.testing.assert_allclose(given, expected, rtol=1e-5)
