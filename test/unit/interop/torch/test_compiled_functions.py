"""Mutation, aliases, layouts, dynamic sizes and fallbacks of compiled functions."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compiled_models import assert_same, compiled  # noqa: E402
from torch import nn  # noqa: E402

from tgdialect.interop.torch import report  # noqa: E402
from tgdialect.interop.torch.rules import Refusal  # noqa: E402
from tgdialect.interop.torch.translation import check_tensor  # noqa: E402

pytestmark = pytest.mark.parity


def assert_equivalent(function: Callable[..., Any], *inputs: torch.Tensor, **options: Any) -> None:
    """A compiled function returns, and leaves in its arguments, what it does in eager mode; twice,
    since the second call may take another way."""
    call = compiled(function, **options)
    ours, theirs = [x.clone() for x in inputs], [x.clone() for x in inputs]
    for a, b in zip(ours, inputs, strict=True):
        assert a.stride() == b.stride()
    for _ in range(3):
        assert_same(call(*ours), function(*theirs))
        assert_same(ours, theirs)


# -- mutation ------------------------------------------------------------------------------------


def test_operators_in_place() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.mul_(2).add_(y)
        y[1:] += x[:-1]
        return x.sum() + y.max()

    assert_equivalent(function, torch.randn(5, 3), torch.randn(5, 3))


def test_a_view_with_gaps_is_written_in_place() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        x.mul_(2)
        return x + 1

    ours, theirs = torch.ones(3, 8), torch.ones(3, 8)
    call = compiled(function)
    with torch.no_grad():
        for _ in range(2):
            assert_same(call(ours[:, ::2]), function(theirs[:, ::2]))
            assert_same(ours, theirs)


def test_a_cache_is_written_in_place() -> None:
    def function(cache: torch.Tensor, row: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
        cache.index_copy_(1, place, row)
        return cache.sum(1)

    with torch.no_grad():
        assert_equivalent(function, torch.zeros(2, 9, 4), torch.randn(2, 1, 4), torch.tensor([3]))


def test_running_statistics() -> None:
    ours, theirs = nn.BatchNorm2d(3), nn.BatchNorm2d(3)
    call = compiled(ours)
    for _ in range(3):
        x = torch.randn(4, 3, 5, 5)
        assert_same(call(x), theirs(x))
        assert_same(list(ours.buffers()), list(theirs.buffers()))
    ours.eval(), theirs.eval()
    assert_same(call(x), theirs(x))


def test_arguments_that_share_memory() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return y * 2

    call = compiled(function)
    base, other = torch.randn(6), torch.zeros(6)
    other.copy_(base)
    for _ in range(2):
        assert_same(call(base[:4], base[2:]), function(other[:4], other[2:]))
        assert_same(base, other)


# -- aliases and layouts ---------------------------------------------------------------------------


def test_results_that_are_views_of_arguments() -> None:
    def function(x: torch.Tensor) -> Any:
        return x.t(), x[1:], x, x.t() + 1

    x = torch.randn(4, 3)
    call = compiled(function)
    turned, rest, same, _ = call(x)
    assert_same(call(x), function(x))
    x.zero_()
    assert not turned.any()
    assert not rest.any()
    assert same is x


def test_results_that_are_views_of_a_value() -> None:
    """They share memory with each other, though the value is no result."""
    row, turned = compiled(lambda x: ((x + 1)[1], (x + 1).t()))(torch.randn(4, 3))
    row.zero_()
    assert turned.any()

    def function(x: torch.Tensor) -> Any:
        y = x + 1
        return y[1], y.t()

    row, turned = compiled(function)(torch.randn(4, 3))
    turned.zero_()
    assert not row.any()


def test_results_that_share_memory() -> None:
    def function(x: torch.Tensor) -> Any:
        y = x + 1
        return y, y[1], y.t()

    y, row, turned = compiled(function)(torch.randn(4, 3))
    y.zero_()
    assert not row.any()
    assert not turned.any()


@pytest.mark.parametrize(
    "x",
    [
        torch.randn(4, 6).t(),
        torch.randn(4, 6)[:, ::2],
        torch.randn(1, 6).expand(4, 6),
        torch.randn(2, 3, 4, 5).contiguous(memory_format=torch.channels_last),
        torch.randn(2, 3, 4).permute(1, 2, 0),
        torch.tensor(3.0),
        torch.zeros(0, 3),
        torch.randn(3, 1, 1).expand(3, 4, 1),
        torch.randn(8)[3:],
        torch.view_as_complex(torch.randn(3, 2)).conj().imag,
    ],
    ids=lambda x: f"{tuple(x.shape)}-{x.stride()}",
)
def test_layouts(x: torch.Tensor) -> None:
    call = compiled(lambda x: (x * 2, x + x.sum(), x.relu().exp()))
    for _ in range(2):
        assert_same(call(x), (x * 2, x + x.sum(), x.relu().exp()))


@pytest.mark.parametrize("name", ["bool", "uint8", "int8", "int16", "int32", "int64"])
def test_integers(name: str) -> None:
    dtype = getattr(torch, name)
    x = torch.tensor([[0, 1, 1], [1, 0, 1]]).to(dtype)
    assert_equivalent(lambda x: (x + x, x.sum(), x > 0, x / 2, x.amax(1), x * 3), x)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float64"])
def test_floats(name: str) -> None:
    dtype = getattr(torch, name)
    x = torch.randn(8, 8).to(dtype)
    assert_equivalent(lambda x: (x + 1, x * x, x.to(torch.float32), (x > 0).to(x.dtype)), x)


@pytest.mark.parametrize("is_bool", [False, True])
def test_attention_of_rows_that_are_masked_as_a_whole(is_bool: bool) -> None:
    """They are 0, and have no gradient."""
    mask = torch.ones(5, 7, dtype=torch.bool).tril(-1)
    mask = mask if is_bool else torch.zeros(5, 7).masked_fill(~mask, -torch.inf)
    torch._dynamo.reset()
    call = torch.nn.functional.scaled_dot_product_attention
    found: list[list[torch.Tensor]] = []
    for function in (call, compiled(call)):
        torch.manual_seed(0)
        given = [torch.randn(2, 3, n, 8, requires_grad=True) for n in (5, 7, 7)]
        result = function(*given, attn_mask=mask)
        result.square().sum().backward()
        found.append([result.detach(), *(x.grad for x in given if x.grad is not None)])
    torch.testing.assert_close(found[1], found[0], rtol=1e-4, atol=1e-4)


def test_results_that_are_large() -> None:
    """They are in the pool, and live as long as they are used."""
    call = compiled(lambda x: x + 1)
    kept = [call(torch.full((512, 512), float(i))) for i in range(5)]
    for i, value in enumerate(kept):
        assert bool((value == i + 1).all())


# -- dynamic sizes -----------------------------------------------------------------------------


def test_a_dynamic_batch_is_compiled_once() -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 2))
    call = compiled(model)
    for rows in (3, 7, 16, 5):
        x = torch.randn(rows, 4)
        torch._dynamo.mark_dynamic(x, 0, min=2, max=64)
        got, wanted = call(x), model(x)
        assert_same(got, wanted)
        ours, theirs = (
            torch.autograd.grad((y * y).sum(), model.parameters()) for y in (got, wanted)
        )
        assert_same(ours, theirs, 1e-3, 1e-4)
    assert [graph.kind for graph in report().graphs] == ["forward", "backward"]
    assert not report().fallbacks


def test_several_dynamic_sizes_without_bounds(caplog: Any) -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        scores = x @ y.transpose(1, 2)
        return (scores.softmax(-1) @ y).relu().sum(1)

    call = compiled(function, dynamic=True)
    for batch, rows, columns in ((2, 3, 5), (3, 8, 4), (5, 2, 9)):
        x, y = torch.randn(batch, rows, 4), torch.randn(batch, columns, 4)
        assert_same(call(x, y), function(x, y))
    assert len(report().graphs) == 1
    # More than the bounds of the program, that PyTorch runs.
    x, y = torch.randn(70000, 2, 4), torch.randn(70000, 3, 4)
    with caplog.at_level(logging.WARNING, "tgdialect.interop.torch"):
        assert_same(call(x, y), function(x, y))
    assert "PyTorch runs a call" in caplog.text
    assert len(report().graphs) == 1


def test_sizes_as_values() -> None:
    def function(x: torch.Tensor) -> Any:
        n = x.shape[0]
        return x.sum(0) / n, x.reshape(n * 2, -1), torch.arange(n) * n, n + 1, x.new_zeros(n, 2)

    call = compiled(function)
    for rows in (3, 8):
        x = torch.randn(rows, 4)
        torch._dynamo.mark_dynamic(x, 0, min=2, max=64)
        ours, theirs = call(x), function(x)
        assert ours[3] == theirs[3]
        assert_same(ours[:3], theirs[:3])
    assert len(report().graphs) == 1


# -- what PyTorch runs -------------------------------------------------------------------------


def test_a_fallback_is_reported(caplog: Any) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        y = (x + 1).exp()
        z = torch.linalg.eigh(y @ y.T)[1].abs()
        return (z * 2).sum() + y.mean()

    x = torch.randn(4, 4)
    call = compiled(function)
    with caplog.at_level(logging.WARNING, "tgdialect.interop.torch"):
        assert_same(call(x), function(x))
    (fallback,) = report().fallbacks
    assert fallback.op == "aten._linalg_eigh.default"
    assert fallback.reason == "eigenvectors are any up to their signs: they are PyTorch's"
    assert "torch.linalg.eigh(y @ y.T)" in fallback.location
    assert "PyTorch runs aten._linalg_eigh.default" in caplog.text
    (graph,) = report().graphs
    assert len(graph.parts) == 2
    assert "1 x aten._linalg_eigh.default" in str(report())


REFUSED: list[tuple[Callable[[torch.Tensor], Any], str]] = [
    (lambda x: torch.rand_like(x) + x, "it draws random numbers"),
    (lambda x: (x + 1j).sin().abs(), "no translation of complex numbers"),
    (lambda x: x[x > 0] + 1, "depends on the elements"),
    (lambda x: nn.functional.dropout(x, 0.5) * 2, "it draws random numbers"),
]


@pytest.mark.parametrize(("function", "reason"), REFUSED)
def test_reasons_of_fallbacks(function: Any, reason: str) -> None:
    x = torch.randn(4, 4)
    call = compiled(function)
    torch.manual_seed(1)
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        got = call(x)
    torch.manual_seed(1)
    assert_same(got, function(x))
    assert any(reason in fallback.reason for fallback in report().fallbacks), str(report())


def test_tensors_that_programs_do_not_take() -> None:
    for value, reason in (
        (torch.eye(3).to_sparse(), "tensors are dense, not sparse_coo"),
        (torch.empty(3, dtype=torch.float8_e5m2), "no program has the dtype float8_e5m2"),
        (torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8), "quantised"),
    ):
        with pytest.raises(Refusal, match=reason):
            check_tensor(value)


def test_a_part_that_computes_nothing_is_left_to_pytorch() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        _, vectors = torch.linalg.eigh(x @ x.T)
        return torch.linalg.eigh(vectors.flip(0).reshape(4, 4))[1]

    x = torch.randn(4, 4)
    assert_same(compiled(function)(x), function(x))
    assert [len(graph.parts) for graph in report().graphs] == [1]


# -- constants -----------------------------------------------------------------------------------


def test_an_index_of_numbers_is_a_constant() -> None:
    """The list becomes a tensor of the graph, which is read while fake tensors are on."""
    assert_equivalent(lambda x: x[[1, 2]] * torch.tensor([2.0, 3.0]), torch.randn(4))
