"""Sorting against PyTorch."""

from __future__ import annotations

import itertools
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from opencl_device import DEVICE, needs_opencl, takes_opencl_c
from parity import check, torch, values

import tgdialect as tg
from tgdialect.kernels import radix_sort
from tgdialect.ops.sorts import SORTS
from tgdialect.runtime.compiler import load_module
from tgdialect.targets.attribute import MODULE_ATTRIBUTE
from tgdialect.transforms import sorts
from tgdialect.transforms.choose_sorts import choose_sorts


@pytest.mark.sampled(4)
@pytest.mark.parity
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_sort(dim: int, descending: bool):
    x = values(3, 7, 4)
    check(
        lambda t: t.sort(dim, descending),
        lambda t: tuple(torch.sort(t, dim=dim, descending=descending, stable=True)),
        x,
    )
    same = np.round(x)
    check(
        lambda t: t.sort(dim, descending),
        lambda t: tuple(torch.sort(t, dim=dim, descending=descending, stable=True)),
        same,
        gradient=False,
    )
    check(
        lambda t: t.argsort(dim, descending),
        lambda t: t.argsort(dim=dim, descending=descending, stable=True),
        same,
        gradient=False,
    )


@pytest.mark.parity
def test_nan_and_infinities():
    x = np.array([1, np.nan, -np.inf, np.inf, 0.0, np.nan, -1], np.float32)
    for descending in (False, True):
        check(
            lambda t, d=descending: t.sort(0, d),
            lambda t, d=descending: tuple(torch.sort(t, dim=0, descending=d, stable=True)),
            x,
            gradient=False,
        )


@pytest.mark.parity
@pytest.mark.sampled(2)
@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool", "float64"])
def test_dtypes(dtype: str):
    x = np.array([3, 1, 2, 0, 1, 3]).astype(dtype)
    check(
        lambda t: t.sort(),
        lambda t: tuple(torch.sort(t, stable=True)),
        x,
        gradient=False,
    )


@pytest.mark.parity
@pytest.mark.sampled(2)
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dim", [0, 1])
def test_topk(dim: int, largest: bool):
    check(
        lambda t: t.topk(2, dim, largest),
        lambda t: tuple(t.topk(2, dim, largest)),
        values(4, 6),
    )
    with pytest.raises(ValueError, match="topk of 9"):
        tg.Tensor(values(4, 6)).topk(9)


@pytest.mark.parity
def test_few():
    for shape in ((0,), (1,), (2, 0)):
        check(lambda t: t.sort(), lambda t: tuple(torch.sort(t)), values(*shape), gradient=False)
    assert tg.Tensor(3.0).sort()[0].item() == 3


DTYPES = ["float32", "float64", "bool", "uint8", "int32", "int64"]
ALL_DTYPES = [*DTYPES, "float16", "bfloat16", "int8", "int16", "uint16", "uint32", "uint64"]


def tied(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Numbers of which many are equal, and of floats some NaNs, infinities and both zeros."""
    rng = np.random.default_rng(sum(shape))
    kind = np.dtype(getattr(ml_dtypes, dtype, dtype))
    x = (rng.standard_normal(shape) * 40).round().astype(np.int64).astype(kind)
    if kind.kind not in "biu":
        flat = x.reshape(-1)
        specials = np.array([-0.0, 0.0, np.nan, -np.inf, np.inf]).astype(kind)
        flat[rng.integers(0, flat.size, flat.size // 4)] = rng.choice(specials, flat.size // 4)
    return x


def in_order(x: np.ndarray, descending: bool) -> np.ndarray:
    """The positions of the sorted cells along the last axis, by NumPy: stable, NaN the greatest."""
    keys = x.astype(np.float64) if x.dtype.kind not in "biu" else x
    if descending:
        reversed_order = np.argsort(keys[..., ::-1], axis=-1, kind="stable")[..., ::-1]
        return x.shape[-1] - 1 - reversed_order
    return np.argsort(keys, axis=-1, kind="stable")


def same(found: np.ndarray, wanted: np.ndarray) -> None:
    """Assert that arrays are equal; NumPy compares no NaN of bf16."""
    assert found.dtype == wanted.dtype
    if found.dtype.kind not in "biu":
        found, wanted = found.astype(np.float64), wanted.astype(np.float64)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.sampled(15)
@pytest.mark.parametrize("dtype", ALL_DTYPES)
@pytest.mark.parametrize("descending", [False, True])
def test_long_axes(dtype: str, descending: bool):
    x = tied((3, 2, 700), dtype)
    wanted = in_order(x, descending)
    values, order = tg.Tensor(x).sort(-1, descending)
    np.testing.assert_array_equal(order.numpy(), wanted)
    same(values.numpy(), np.take_along_axis(x, wanted, -1))
    for k in (5, 40, 300):
        values, order = tg.Tensor(x).topk(k, -1, descending)
        np.testing.assert_array_equal(order.numpy(), wanted[..., :k], f"k = {k}")
        same(values.numpy(), np.take_along_axis(x, wanted, -1)[..., :k])


def test_long_rows_of_one_value():
    for value in (0.0, np.nan, np.inf):
        x = tg.Tensor(np.full((2, 500), value, np.float32))
        for found in (x.argsort(), x.argsort(descending=True), x.topk(100)[1], x.topk(3)[1]):
            wanted = np.tile(np.arange(found.shape[-1]), (2, 1))
            np.testing.assert_array_equal(found.numpy(), wanted)


@pytest.mark.parity
def test_gradients_of_long_axes():
    x = values(2, 300)
    check(lambda t: t.sort(1)[0], lambda t: torch.sort(t, dim=1)[0], x)
    check(lambda t: t.topk(7, 1)[0], lambda t: t.topk(7, 1)[0], x)
    check(lambda t: t.transpose(0, 1).topk(60, 0)[0], lambda t: t.T.topk(60, 0)[0], x)


LENGTHS = [2, 3, 7, 8, 9, 16, 17, 100, 129, 255, 1000, 1023, 1024, 1025, 5000]


def values_in_order(x: np.ndarray, descending: bool) -> np.ndarray:
    """The sorted values along the last axis, by NumPy."""
    return np.take_along_axis(x, in_order(x, descending), -1)


@pytest.mark.sampled(48)
@pytest.mark.parametrize("rows", [1, 3, 17, 1000])
@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("descending", [False, True])
def test_values_alone(rows: int, n: int, descending: bool):
    """By pairs, by digits and by the network, whose last lanes and keys are padding."""
    dtype = ALL_DTYPES[(rows + n) % len(ALL_DTYPES)]
    x = tied((rows, n), dtype) if n * rows > 8 else np.arange(n * rows).reshape(rows, n)
    found = tg.Tensor(x).sort(-1, descending)[0].numpy()
    same(found, values_in_order(x, descending))
    columns = tg.Tensor(np.ascontiguousarray(x.T)).sort(0, descending)[0].numpy()
    same(columns.T, found)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", ["float32", "int16", "float64"])
@pytest.mark.parametrize("descending", [False, True])
def test_rows_of_several_chunks(dtype: str, descending: bool, monkeypatch: pytest.MonkeyPatch):
    """Each of which has places of its own; the last one is padded."""
    monkeypatch.setattr(radix_sort, "_CHUNK", 1000)
    x = tied((2, 2501), dtype)
    values, order = tg.Tensor(x).sort(-1, descending)
    same(values.numpy(), values_in_order(x, descending))
    np.testing.assert_array_equal(order.numpy(), in_order(x, descending))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("seed", range(6))
def test_what_topk_finds_is_sorted_in_chunks(seed: int, monkeypatch: pytest.MonkeyPatch):
    """By selection, by blocks and by a sort of all, with any k."""
    monkeypatch.setattr(radix_sort, "_CHUNK", 100)
    rng = np.random.default_rng(seed)
    for most, part in ((9000, 4), (9000, 40), (9000, 2), (30000, 1200)):
        n = int(rng.integers(most - 2000, most))
        k = n // part - int(rng.integers(1, 6))
        x = tied((2, n), "float32")
        values, order = tg.Tensor(x).topk(k)
        same(values.numpy(), values_in_order(x, True)[:, :k])
        np.testing.assert_array_equal(order.numpy(), in_order(x, True)[:, :k])


@pytest.mark.parametrize("shape", [(20, 130), (300,)])
def test_zeros_keep_their_signs(shape: tuple[int, ...]):
    x = np.random.default_rng(0).choice(np.array([-0.0, 0.0, 1, -1], np.float32), shape)
    found = tg.Tensor(x).sort()[0].numpy()
    np.testing.assert_array_equal(found, np.sort(x))
    assert np.signbit(found).sum() == np.signbit(x).sum()


def test_nan_of_any_sign_and_payload_comes_last():
    bits = np.array([0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF], np.uint32)
    x = np.random.default_rng(0).standard_normal((20, 200)).astype(np.float32)
    x[:, ::50] = bits.view(np.float32)
    np.testing.assert_array_equal(tg.Tensor(x).sort()[0].numpy(), np.sort(x))
    np.testing.assert_array_equal(tg.Tensor(x[0]).sort()[0].numpy(), np.sort(x[0]))


def test_gradients_of_values_and_of_both_results():
    """A gradient goes to the cells that values came from, which values alone do not tell."""
    rng = np.random.default_rng(0)
    x, weights = (rng.standard_normal((20, 150)).astype(np.float32) for _ in range(2))
    wanted = np.empty_like(x)
    np.put_along_axis(wanted, np.argsort(x), weights, -1)
    for both in (False, True):
        t = tg.Tensor(x, requires_grad=True)
        values, order = t.sort()
        (values * tg.Tensor(weights) + (order * 0 if both else 0)).sum().backward()
        assert t.grad is not None
        np.testing.assert_array_equal(t.grad.numpy(), wanted)


@pytest.mark.sampled(16)
@pytest.mark.parametrize("dtype", ["float32", "int8", "int64"])
@pytest.mark.parametrize(("rows", "n", "k"), [(1, 20000, 3), (3, 3001, 2), (2, 40007, 33)])
@pytest.mark.parametrize("kind", ["tied", "one value", "ascending", "descending"])
def test_topk_by_blocks(rows: int, n: int, k: int, kind: str, dtype: str):
    """Of equal cells the first ones are found, wherever blocks begin."""
    x = tied((rows, n), dtype)
    if kind == "one value":
        x[:] = 1
    elif kind != "tied":
        x = values_in_order(x, kind == "descending")
    for largest in (False, True):
        values, order = tg.Tensor(x).topk(k, -1, largest)
        wanted = in_order(x, largest)[:, :k]
        np.testing.assert_array_equal(order.numpy(), wanted)
        same(values.numpy(), np.take_along_axis(x, wanted, -1))


def chosen(text: str, kind: str, target: str) -> Any:
    """A program whose sorts have the algorithms for one kind of target, compiled for another."""
    module = load_module(text)
    choose_sorts(module, kind)
    del module.attributes[MODULE_ATTRIBUTE]
    assert "sort(" not in str(module)
    return tg.compile(module, target=target)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", ["sort", "network", "insert", "insert in blocks", "select"])
def test_long_axes_by_the_interpreter(kind: str, monkeypatch: pytest.MonkeyPatch):
    """The kernels mean what they compute: the interpreter executes the same module."""
    monkeypatch.setattr(sorts, "_FEW", 1 if "blocks" in kind else 16)
    monkeypatch.setattr(sorts, "_FEW_PAIRS", 0)
    shape = (9, 19) if kind == "network" else (2, 140)
    x = tied(shape, "uint8" if kind == "select" else "float16")

    @tg.function
    def found(t: tg.Tensor) -> tg.Tensor:
        if kind == "network":
            return t.sort()[0]
        if kind == "sort":
            return t.argsort()
        return t.topk({"insert": 4, "select": 36}.get(kind, 2))[1]

    text = str(found.lower(tg.Tensor(x)))
    wanted = tg.compile(text, target="interpreter")(x)
    for target in ("interpreter", "cpu"):
        np.testing.assert_array_equal(chosen(text, "cpu", target)(x), wanted)


@pytest.mark.sampled(8)
@pytest.mark.parity
@pytest.mark.parametrize(
    ("shape", "dtype"),
    [*itertools.product([(140,)], DTYPES), ((2, 9), "float32"), ((3, 1, 1100), "int64")],
)
@pytest.mark.parametrize("descending", [False, True])
def test_merging(
    shape: tuple[int, ...], dtype: str, descending: bool, monkeypatch: pytest.MonkeyPatch
):
    """What GPUs sort long axes by."""
    monkeypatch.setattr(sorts, "SHORT", 8)
    x = np.random.default_rng(0).integers(-4, 5, shape).astype(dtype)
    if dtype.startswith("float"):
        x[..., ::5], x[..., 3], x[..., 5], x[..., 7] = -0.0, np.nan, -np.inf, np.nan

    @tg.function
    def found(t: tg.Tensor) -> tuple[tg.Tensor, tg.Tensor]:
        return t.sort(-1, descending)

    values, order = chosen(str(found.lower(tg.Tensor(x))), "opencl", "cpu")(x)
    expected, wanted = torch.tensor(x).sort(dim=-1, descending=descending, stable=True)
    np.testing.assert_array_equal(order, wanted.numpy())
    np.testing.assert_array_equal(values, expected.numpy())


@pytest.mark.sampled(2)
@needs_opencl
@pytest.mark.parametrize("shape", [(1000,), (3, 1, 130)])
def test_long_axes_on_a_device(shape: tuple[int, ...]):
    x = tied(shape, "int32")
    values, order = tg.Tensor(x, device=DEVICE).sort()
    np.testing.assert_array_equal(order.numpy(), in_order(x, False))
    np.testing.assert_array_equal(values.numpy(), np.sort(x, -1))
    wanted = in_order(x, True)[..., :20]
    np.testing.assert_array_equal(tg.Tensor(x, device=DEVICE).topk(20)[1].numpy(), wanted)


@needs_opencl
def test_kernels_are_those_for_the_target(monkeypatch: pytest.MonkeyPatch):
    """Also where a function is traced for specs, or for tensors of a device."""
    x = tied((300,), "int32")
    for traced in (
        tg.compile(tg.Tensor.argsort, tg.spec((300,), "int32"), target=DEVICE),
        tg.function(tg.Tensor.argsort).lower(tg.Tensor(x, device=DEVICE)).compile(target=DEVICE),
    ):
        assert any("merge" in kernel.name for kernel in traced.kernels)
        np.testing.assert_array_equal(traced(x), in_order(x, False))
    on_cpu = tg.compile(tg.Tensor.argsort, tg.spec((300,), "int32"), target="cpu")
    assert any("radix" in kernel.name for kernel in on_cpu.kernels)
    monkeypatch.setenv("TG_DEVICE", DEVICE)
    by_default = tg.function(tg.Tensor.argsort).lower(tg.Tensor(x)).compile()
    assert any("merge" in kernel.name for kernel in by_default.kernels)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("axis", [0, 1, None])
def test_long_axes_on_several_devices(axis: int | None):
    x = tied((4, 150), "float32")
    parts = tg.Tensor(x).shard(("CPU:0", "CPU:1"), axis=axis)
    np.testing.assert_array_equal(parts.argsort().numpy(), in_order(x, False))


@pytest.mark.parametrize("descending", [False, True])
def test_long_axes_of_symbolic_size(descending: bool):
    """Cells that the axis does not have come last, after keys that are as great."""
    n = tg.Variable("n", 1, 200)
    x = tied((3, 200), "uint8")
    x[:, ::7] = 0 if descending else 255

    @tg.function
    def found(t: tg.Tensor) -> tg.Tensor:
        return t.argsort(1, descending)

    for size in (1, 150, 200):
        order = found(tg.Tensor(x)[:, : n.bind(size)]).pad_to(3, 200).numpy()[:, :size]
        np.testing.assert_array_equal(order, in_order(x[:, :size], descending))


@pytest.mark.parametrize("most", [5, 40, 400])
def test_topk_of_symbolic_size(most: int):
    """Whether few of many cells are wanted depends on the size."""
    n, x = tg.Variable("n", 2, most), tied((2, most), "int32")

    @tg.function
    def found(t: tg.Tensor) -> tg.Tensor:
        return t.topk(2)[1]

    for size in (2, most // 2, most):
        order = found(tg.Tensor(x)[:, : n.bind(size)]).numpy()
        np.testing.assert_array_equal(order, in_order(x[:, :size], True)[:, :2])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("target", ["c", pytest.param("opencl", marks=takes_opencl_c)])
def test_long_axes_on_other_targets(target: str):
    """A CPU's kernels mean the same elsewhere, where a work item goes through a row."""
    x = tied((2, 150), "float16")

    @tg.function
    def found(t: tg.Tensor) -> tuple[tg.Tensor, ...]:
        return t.argsort(), t.topk(3)[1], t.topk(30)[1]

    wanted = in_order(x, False), in_order(x, True)[:, :3], in_order(x, True)[:, :30]
    for a, b in zip(found.lower(tg.Tensor(x)).compile(target=target)(x), wanted, strict=True):
        np.testing.assert_array_equal(a, b)


def test_equal_sorts_are_one_function():
    """Two large FUNCTIONs that are equal are outlined, with the memory of each call."""
    x, y = tied((2, 150), "int64"), tied((2, 151), "int64")[:, 1:]

    @tg.function
    def both(x: tg.Tensor, y: tg.Tensor) -> tuple[tg.Tensor, tg.Tensor]:
        return x.argsort(), y.argsort()

    for found, array in zip(both(tg.Tensor(x), tg.Tensor(y)), (x, y), strict=True):
        np.testing.assert_array_equal(found.numpy(), in_order(array, False))


def test_sorts_in_programs_on_several_devices():
    x = tied((2, 150), "float32")
    devices = "CPU:0", "CPU:1"
    wanted = in_order(x, False)
    split = tg.Tensor(x).shard(devices, 0)
    on_one = tg.Tensor(x, device="CPU:0").argsort().shard(devices, 0)
    for found in (on_one, split.argsort(), split.to("CPU:0").argsort()):
        np.testing.assert_array_equal((found + 1).numpy(), wanted + 1)


def test_no_rows():
    x = tg.Tensor(np.zeros((0, 500), np.float32))
    assert x.argsort().numpy().shape == (0, 500)
    assert x.topk(10)[0].numpy().shape == (0, 10)


def called(value: str, source: str, result: str, sort: str) -> str:
    """A FUNCTION that calls a built-in sort, as text."""
    memory = ", #tg.place<global>>"
    given, wanted = (f"tensor<{type}{memory}" for type in (source, result))
    return f"""tg.function({value}) {{
      %p = tg.param 0 : tensor<{source}>
      %b = tg.buffer 0 : {given}
      %s = tg.store %b, %p : {given}, tensor<{source}>
      %a = tg.after %b, %s : ({given}, !tg.void) -> {given}
      %o = tg.buffer 1 : {wanted}
      %c = tg.call @{sort}(%a, %o) : ({given}, {wanted}) -> !tg.void
      %r = tg.after %o, %c : ({wanted}, !tg.void) -> {wanted}
      %l = tg.load %r : {wanted} -> tensor<{result}>
      %t = tg.tuple %l : tensor<{result}> -> !tg.tuple<tensor<{result}>>
    }} : tensor<{source}> -> !tg.tuple<tensor<{result}>>"""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", ["interpreter", "cpu", "c"])
@pytest.mark.parametrize("n", [5, 200])
@pytest.mark.parametrize("sort", sorted(SORTS))
def test_invalid_cells_are_zeros(n: int, sort: str, target: str):
    """A FUNCTION stores what it sorts, and in memory an invalid cell is 0."""
    result = f"{n - 1}x{'i32' if 'arg' in sort else 'f32'}"
    text = f"""
    tg.customfunction @{sort}() reads [0] writes [1]
    func.func @main(%x: tensor<3xf32>) -> tensor<{result}> {{
      %y = tg.pad %x at [1] to [{n}] : tensor<3xf32> -> tensor<{n}xf32>
      %f = {called("%y", f"{n}xf32", result, sort)}
      %z = tg.gettuple %f 0 : !tg.tuple<tensor<{result}>> -> tensor<{result}>
      func.return %z : tensor<{result}>
    }}
    """
    x = np.array([-1, 2, -3], np.float32)
    cells = np.pad(x, (1, n - 4))
    order = in_order(cells, "descending" in sort)[:-1]
    found = tg.compile(text, target=target)(x)
    np.testing.assert_array_equal(found, order if "arg" in sort else cells[order])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("target", ["interpreter", "cpu", "c"])
@pytest.mark.parametrize(
    ("shape", "count"), [((0, 500), 500), ((3, 0), 0), ((0, 500), 10), ((3, 500), 0), ((4,), 2)]
)
@pytest.mark.parametrize("sort", sorted(SORTS))
def test_calls_on_memory(shape: tuple[int, ...], count: int, sort: str, target: str):
    """Of any number of cells, and outside of a FUNCTION."""
    kind = "i32" if "arg" in sort else "f32"
    source, result = ("x".join(map(str, each)) for each in (shape, (*shape[:-1], count)))
    given, wanted = f"tensor<{source}xf32, #m>", f"tensor<{result}x{kind}, #m>"
    text = f"""
    #m = #tg.place<"CPU", global>
    tg.customfunction @{sort}() reads [0] writes [1]
    func.func @main(%x: {given}, %y: {wanted}) {{
      %0 = tg.call @{sort}(%x, %y) : ({given}, {wanted}) -> !tg.void
      %1 = tg.sink %0 : !tg.void
      func.return
    }}
    """
    x = tied(shape, "float32")
    y = np.full((*shape[:-1], count), 7, np.int32 if kind == "i32" else np.float32)
    tg.compile(text, target=target)(x, y)
    order = in_order(x, "descending" in sort)[..., :count]
    same(y, order.astype(np.int32) if kind == "i32" else np.take_along_axis(x, order, -1))
