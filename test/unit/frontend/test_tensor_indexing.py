"""Indexing against PyTorch, or NumPy where PyTorch has no negative steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parity import check, torch, values

import tgdialect as tg

S = slice
VIEWS: list[Any] = [
    0,
    -1,
    (1, 2),
    S(1, 3),
    S(None, None, 2),
    S(1, None, 3),
    (S(None), 2),
    (Ellipsis, 0),
    (0, Ellipsis, S(1, 3)),
    None,
    (None, 1, None),
    (S(None), None, S(0, 2)),
    Ellipsis,
    S(2, 2),
    S(-2, None),
    S(10, 20),
    (),
]
NEGATIVE: list[Any] = [S(None, None, -1), S(3, 0, -2), (S(None), S(None, None, -3)), S(0, 3, -1)]
PICKS: list[Any] = [
    [0, 2],
    [2, 0, 2, -1],
    ([0, 1], [1, 2]),
    (S(None), [1, 0, 1]),
    ([0, 3], S(None), [1, 2]),
    (0, [1, 2]),
    ([[0, 1], [2, 3]],),
    ([[0], [2]], [1, 2]),
    (S(None), [0, 1], [1, 2]),
    (S(1, 3), [0, 1], None),
    (None, [0, 1], S(None), 2),
    [],
]
SHAPE = 4, 5, 6


def numbers(index: Any) -> Any:
    """Lists as arrays."""
    if isinstance(index, tuple):
        return tuple(numbers(i) for i in index)
    return np.array(index, np.int64) if isinstance(index, list) else index


@pytest.mark.parity
@pytest.mark.parametrize("index", VIEWS, ids=str)
def test_view(index: Any):
    check(lambda t: t[index], lambda t: t[index], values(*SHAPE))


@pytest.mark.parametrize("index", NEGATIVE, ids=str)
def test_negative_steps(index: Any):
    np.testing.assert_array_equal(tg.Tensor(values(*SHAPE))[index].numpy(), values(*SHAPE)[index])


@pytest.mark.sampled(2)
@pytest.mark.parity
@pytest.mark.parametrize("index", PICKS, ids=str)
def test_pick(index: Any):
    check(lambda t: t[index], lambda t: t[numbers(index)], values(*SHAPE))


@pytest.mark.parity
def test_tensors_as_indices():
    x, i = values(5, 3), np.array([4, 0, 4, 1], np.int32)
    check(lambda t, k: t[k], lambda t, k: t[k.long()], x, i)
    check(lambda t, k: t[:, k % 3], lambda t, k: t[:, k.long() % 3], x, i)


@pytest.mark.parity
def test_masks():
    x = values(4, 5)
    check(lambda t: t[t > 0], lambda t: t[t > 0], x)
    rows = np.array([True, False, True, True])
    check(lambda t, m: t[m], lambda t, m: t[m], x, rows)
    check(lambda t: t.masked_select(t > 0.5), lambda t: t.masked_select(t > 0.5), x)
    check(lambda t: (t > 0).nonzero(), lambda t: (t > 0).nonzero(), x, gradient=False)
    check(lambda t: t[t > 9], lambda t: t[t > 9], x)


SETS: list[tuple[Any, tuple[int, ...]]] = [
    (0, (5, 6)),
    (S(1, 3), (2, 5, 6)),
    ((S(None), 2), (4, 6)),
    ((S(None, None, 2), S(1, None, 2)), (2, 2, 6)),
    ((Ellipsis, -1), ()),
    (S(None), (6,)),
    ([0, 2], (2, 5, 6)),
    (([0, 1], [1, 2]), (2, 6)),
    (None, (4, 5, 6)),
]


@pytest.mark.parity
@pytest.mark.sampled(2)
@pytest.mark.parametrize(("index", "shape"), SETS, ids=str)
def test_setitem(index: Any, shape: tuple[int, ...]):
    def ours(t: Any, v: Any) -> Any:
        new = t * 1
        new[index] = v
        return new

    def theirs(t: Any, v: Any) -> Any:
        new = t * 1
        new[numbers(index)] = v
        return new

    check(ours, theirs, values(*SHAPE), values(*shape, seed=1))


@pytest.mark.parity
def test_setitem_of_numbers_and_masks():
    x = values(4, 5)
    ours, theirs = tg.Tensor(x) * 1, torch.tensor(x)
    for t in (ours, theirs):
        t[1] = 3
        t[:, 2:4] = -1.5
    np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
    ours[ours > 0], theirs[theirs > 0] = 7, 7
    np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
    ours[::-2, 0] = tg.Tensor([1.0, 2.0])
    expected = theirs.numpy()
    expected[::-2, 0] = [1, 2]
    np.testing.assert_array_equal(ours.numpy(), expected)


@pytest.mark.parity
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_gather_and_scatter(dim: int):
    x, src = values(4, 5, 3), values(4, 5, 3, seed=1)
    extent = x.shape[dim]
    index = np.random.default_rng(0).integers(0, extent, (3, 4, 2))
    order = np.argsort(values(4, 5, 3, seed=3), dim)
    check(lambda t, i: t.gather(dim, i), lambda t, i: t.gather(dim, i), x, index)
    check(lambda t, i, s: t.scatter(dim, i, s), lambda t, i, s: t.scatter(dim, i, s), x, order, src)
    check(
        lambda t, i, s: t.scatter(dim, i, s, reduce="add"),
        lambda t, i, s: t.scatter_add(dim, i, s),
        x,
        index,
        values(*index.shape, seed=1),
        rtol=1e-5,
    )


@pytest.mark.parity
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
def test_scatter_reduce(reduce: Any, include_self: bool):
    x, src = values(4, 5), values(3, 5, seed=1)
    index = np.random.default_rng(0).integers(0, 4, (3, 5))
    check(
        lambda t, i, s: t.scatter_reduce(0, i, s, reduce, include_self),
        lambda t, i, s: t.scatter_reduce(0, i, s, reduce, include_self=include_self),
        x,
        index,
        src,
        rtol=1e-5,
        gradient=False,
    )


@pytest.mark.parity
def test_one_hot():
    x = np.array([0, 2, 1, 4])
    check(lambda t: t.one_hot(5), lambda t: torch.nn.functional.one_hot(t, 5), x, gradient=False)


def test_errors():
    t = tg.Tensor(values(2, 3))
    for index, message in (
        (2, "index 2 is outside of axis 0"),
        ((0, 0, 0), "3 indices for a tensor with 2 axes"),
        (1.5, "an index of type float"),
        ((Ellipsis, Ellipsis), "a single ellipsis"),
    ):
        with pytest.raises(IndexError, match=message):
            t[index]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("shape", [(5,), (3, 4), (0,), (1,), (7, 3, 2), (1000,)])
def test_masks_of_a_size(shape: tuple[int, ...]):
    x = values(*shape)
    mask = x > 0.3
    cells, positions = x[mask], np.argwhere(mask)
    for size in (0, 2, 9):
        rest = max(size - len(cells), 0)
        found = tg.Tensor(x).masked_select(tg.Tensor(mask), size=size, fill_value=-7)
        wanted = np.pad(cells[:size], (0, rest), constant_values=-7)
        np.testing.assert_array_equal(found.numpy(), wanted)
        found = tg.Tensor(mask).nonzero(size=size, fill_value=-1)
        wanted = np.pad(positions[:size], ((0, rest), (0, 0)), constant_values=-1)
        np.testing.assert_array_equal(found.numpy(), wanted)


@pytest.mark.parametrize("size", [-1, 2.0, "x", np.float32(2)])
def test_a_size_of_a_mask_is_a_number_of_cells(size: Any):
    x = tg.Tensor([1, 0, 2])
    for found in (x.nonzero, lambda size: x.masked_select(x > 0, size=size)):
        with pytest.raises((ValueError, TypeError), match=r"is negative|an extent is an integer"):
            found(size=size)


def test_a_mask_of_a_size_in_a_function():
    @tg.function
    def f(x: tg.Tensor) -> tg.Tensor:
        return x.masked_select(x > 0, size=4)

    assert f(tg.Tensor([1.0, -1.0, 2.0])).tolist() == [1, 2, 0, 0]


# -- x[...] = y with tensors of positions ----------------------------------------------------------


def test_rows_of_values_are_written_by_few_positions():
    x, n = tg.Tensor.zeros(4, 7, 3, 6, dtype="int32"), np.zeros((4, 7, 3, 6), np.int32)
    first, second = np.array([5, 3, 5]), np.array([[[0], [1]]])
    v = np.arange(4 * 1 * 2 * 3 * 3).reshape(1, 2, 3, 4, 3).astype(np.int32)
    x[:, tg.Tensor(first), :, tg.Tensor(second)] = tg.Tensor(v)
    n[:, first, :, second] = v
    np.testing.assert_array_equal(x.numpy(), n)


def test_adjacent_positions_beside_slices():
    x, n = tg.Tensor.zeros(3, 5, 6, 4), np.zeros((3, 5, 6, 4), np.float32)
    rows, columns = np.array([4, 0, -1]), np.array([1, 2, 5])
    v = np.random.default_rng(0).normal(size=(2, 3, 2)).astype(np.float32)
    x[1:, tg.Tensor(rows), tg.Tensor(columns), ::2] = tg.Tensor(v)
    n[1:, rows, columns, ::2] = v
    np.testing.assert_array_equal(x.numpy(), n)


@pytest.mark.parametrize(
    "index",
    [
        (slice(None), [1, 0, 1]),
        ([[0, 1], [1, 0]],),
        ([0, 1, 1], [2, 0, 1]),
        ([-1], [0]),
        (0, slice(None), None),
        (Ellipsis, [2]),
    ],
)
def test_a_list_of_more_than_numbers_is_a_tuple(index: tuple[Any, ...]):
    n = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = tg.Tensor(n.copy())
    np.testing.assert_array_equal(x[list(index)].numpy(), n[index])
    x[list(index)] = 9
    n[index] = 9
    np.testing.assert_array_equal(x.numpy(), n)


def test_the_last_of_many_values_for_a_cell_wins():
    rng = np.random.default_rng(0)
    places, v = rng.integers(-50, 50, 2000), np.arange(2000, dtype=np.float32)
    x, n = tg.Tensor.zeros(50), np.zeros(50, np.float32)
    x[tg.Tensor(places)] = tg.Tensor(v)
    n[places] = v
    np.testing.assert_array_equal(x.numpy(), n)


def test_positions_outside_are_not_written():
    x = tg.Tensor.zeros(2, 3)
    x[tg.Tensor([0, 2, 0]), tg.Tensor([-4, 0, 1])] = 1
    assert x.tolist() == [[0, 1, 0], [0, 0, 0]]


def test_a_mask_with_one_value_is_written_while_tracing():
    @tg.function
    def clipped(x: tg.Tensor) -> tg.Tensor:
        y = x.clone()
        y[y > 1] = 1
        y[tg.Tensor([True, False])] = -1.0
        return y

    assert clipped(tg.Tensor([[0.5, 2.0], [3.0, 1.0]])).tolist() == [[-1, -1], [1, 1]]
    with pytest.raises(IndexError, match="a mask of shape"):
        tg.Tensor.zeros(3)[tg.Tensor([True, False])] = 1


def test_errors_of_indices_are_index_errors():
    x = tg.Tensor.zeros(5, 5).contiguous()
    for use in (lambda i: x[i], lambda i: x.__setitem__(i, 0)):
        with pytest.raises(IndexError, match=r"indices of shapes \(2,\), \(3,\) do not broadcast"):
            use(([0, 1], [0, 1, 2]))
        with pytest.raises(TypeError, match="the numbers of a slice are integers, not float"):
            use((S(0.0, None), 0.0))
