"""Lines of the table of ATen ops whose arguments have many cases: masks, modes, borders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compiled_models import compiled  # noqa: E402

from tgdialect.interop.torch import report  # noqa: E402

pytestmark = pytest.mark.parity

F = torch.nn.functional
MASK = torch.tensor([True, False, True, True, False])
LINE = torch.tensor([4, 1, 2, 2, 0, 1, 2])


def _image(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(0))


X, ROW = _image(5, 5), torch.arange(5.0)
PUTS: dict[str, tuple[Callable[..., Any], list[torch.Tensor]]] = {
    "one value for rows": (lambda x, m, v: x.index_put((m,), v[0]), [X, MASK, ROW]),
    "a row for rows": (lambda x, m, v: x.index_put((m,), v), [X, MASK, ROW]),
    "a value for cells": (lambda x, m, v: x.index_put((m[:, None] & m,), v[2]), [X, MASK, ROW]),
    "columns": (
        lambda x, m, v: torch.ops.aten.index_put(x, [None, m], v[:, None]),
        [X, MASK, ROW],
    ),
    "a row added to rows": (lambda x, m, v: x.index_put((m,), v, True), [X, MASK, ROW]),
    "cells by position": (lambda x, i, v: x.put(i, v), [X, LINE[:3], ROW[:3]]),
    "cells added": (lambda x, i, v: x.put(i, v[i], True), [X, LINE, ROW]),
    "no cell": (lambda x, i, v: x.put(i[:0], v[:0]), [X, LINE, ROW]),
    "an integer mean, rounded down": (
        lambda x, i: x.index_reduce(0, i, -x[:3] * 2 - 1, "mean"),
        [torch.arange(25).reshape(5, 5), torch.tensor([0, 2, 2])],
    ),
}
OTHERS: dict[str, tuple[Callable[..., Any], list[torch.Tensor]]] = {
    "windows that overlap": (lambda x: torch.as_strided(x, (3, 2), (1, 2), 0), [ROW * 2]),
    "cells of windows replaced": (
        lambda x, v: torch.as_strided_scatter(x, v[:4].reshape(2, 2), (2, 2), (2, 1), 1),
        [ROW * 2, ROW],
    ),
    "the least of the most frequent": (lambda x: x.mode(0), [LINE]),
    "the mode of columns": (
        lambda x: x.mode(0, True).values,
        [torch.tensor([[1, 5], [2, 5], [2, 4], [1, 4], [0, 4]])],
    ),
    "long rows of a table": (
        lambda w, i: F.embedding(i, w.clone(), max_norm=1.5, norm_type=1.0),
        [X, LINE],
    ),
}


def check(function: Callable[..., Any], *arguments: torch.Tensor) -> None:
    """A function gives the same compiled, and PyTorch runs no op of it."""

    found = compiled(function, dynamic=False)(*arguments)
    torch.testing.assert_close(found, function(*arguments), equal_nan=True)
    assert report().graphs
    assert not report().fallbacks


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [*PUTS, *OTHERS])
def test_cells(name: str) -> None:
    function, arguments = {**PUTS, **OTHERS}[name]
    check(function, *arguments)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("initial", [None, 2.0])
@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize(
    ("unit", "numbers"), [("lengths", [2, 0, 3]), ("offsets", [0, 2, 2, 5]), ("offsets", [1, 1, 4])]
)
def test_segments(unit: str, numbers: list[int], reduce: str, initial: float | None) -> None:
    """Also one without cells, and cells that are in none."""
    of = torch.tensor(numbers)
    check(lambda x, n: torch.segment_reduce(x, reduce, **{unit: n}, initial=initial), X, of)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic", "trilinear"])
def test_grid_samples(mode: str, padding: str, align_corners: bool) -> None:
    rank = 3 if mode == "trilinear" else 2
    x = _image(2, 3, *(5, 6, 4)[:rank])
    grid = 1.4 * _image(2, *(3, 4, 2)[:rank], rank)
    name = "bilinear" if mode == "trilinear" else mode
    check(lambda x, g: F.grid_sample(x, g, name, padding, align_corners), x, grid)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize(
    "size",
    [
        {"size": (5, 40)},
        {"scale_factor": (0.37, 1.6)},
        {"size": (7, 3), "align_corners": True},
        {"size": (1, 1), "align_corners": True},
    ],
)
def test_resizing_against_aliasing(mode: str, size: Any) -> None:
    x = _image(2, 3, 23, 31, dtype=torch.float64)
    check(lambda x: F.interpolate(x, mode=mode, antialias=True, **size), x)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("has_end", [False, True])
@pytest.mark.parametrize("padding", [None, 2])
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("starts", [[0, 2, 2, 5], [0]])
def test_bags(starts: list[int], mode: str, padding: int | None, has_end: bool) -> None:
    """Also one without rows."""
    offsets = torch.tensor([*starts, *([7] if has_end else [])])

    def bags(weight: torch.Tensor, indices: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
        return F.embedding_bag(
            indices,
            weight,
            offsets,
            mode=mode,
            padding_idx=padding,
            include_last_offset=has_end,
        )

    check(bags, X, LINE, offsets)
