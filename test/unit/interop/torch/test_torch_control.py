"""`torch.cond` and `torch.while_loop` in compiled functions, against eager mode."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compiled_models import assert_same, compiled  # noqa: E402
from torch._higher_order_ops import while_loop  # noqa: E402

from tgdialect.interop.torch import report  # noqa: E402

pytestmark = pytest.mark.parity


def conditional(x: torch.Tensor, y: torch.Tensor) -> Any:
    """Two results, an operand that is captured, and numbers."""
    w = x * 2
    return torch.cond(
        x.sum() > 0,
        lambda a, b: (a.sin() + w, b + 1),
        lambda a, b: (a.cos() - b[0], b * 2),
        (x, y),
    )


def loop(x: torch.Tensor, y: torch.Tensor) -> Any:
    """As many steps as its elements decide."""
    return while_loop(
        lambda i, v: (i < 7) & (v.sum() < 20),
        lambda i, v: (i + 1, v * 2 + y.abs()),
        (torch.tensor(0), x * 1),
    )


def nested(x: torch.Tensor, y: torch.Tensor) -> Any:
    """A conditional in a loop, and one in another."""

    def step(i: Any, v: Any) -> Any:
        return i + 1, torch.cond(v.sum() > 0, lambda v: v - y.abs(), lambda v: v + y.abs(), (v,))

    i, v = while_loop(lambda i, v: i < 5, step, (torch.tensor(0), x.sin()))
    inner = lambda v: torch.cond(v[0] > 0, lambda v: v + 1, lambda v: v - 1, (v,))  # noqa: E731
    return torch.cond(i > 4, inner, lambda v: v * 0, (v,))


@pytest.mark.parametrize("options", [{}, {"dynamic": True}, {"options": {"check": True}}], ids=str)
@pytest.mark.parametrize("function", [conditional, loop, nested])
def test_control_flow(function: Any, options: dict[str, Any]) -> None:
    call = compiled(function, **options)
    with torch.no_grad():
        for size in (3, 5):
            for sign in (1, -1):
                x, y = sign * torch.randn(size).abs(), torch.randn(size)
                assert_same(call(x, y), function(x, y))
    assert not report().fallbacks
    assert all(len(graph.parts) == 1 for graph in report().graphs)


def test_a_loop_of_no_steps() -> None:
    x, y = torch.full((3,), 100.0), torch.ones(3)
    with torch.no_grad():
        assert_same(compiled(loop)(x, y), loop(x, y))


def test_gradients_of_a_conditional() -> None:
    call = compiled(conditional)
    for sign in (1, -1):
        x = (sign * torch.randn(3).abs()).requires_grad_()
        y = torch.randn(3).requires_grad_()
        ours, theirs = (
            torch.autograd.grad(a.sum() + b.prod(), (x, y))
            for a, b in (call(x, y), conditional(x, y))
        )
        assert_same(ours, theirs)
    assert [graph.kind for graph in report().graphs] == ["forward", "backward"]
    assert not report().fallbacks


def test_an_op_in_a_branch_that_is_not_translated() -> None:
    """PyTorch runs the conditional then, and the rest is compiled."""

    def function(x: torch.Tensor) -> Any:
        return torch.cond(
            x.sum() > 0,
            lambda a: torch.linalg.eigh(a.reshape(2, 2))[1].abs().flatten() * 1,
            lambda a: a.cos(),
            (x.sin(),),
        ).exp()

    with torch.no_grad():
        call = compiled(function)
        for x in (torch.ones(4), -torch.ones(4)):
            assert_same(call(x), function(x))
    (fallback,) = report().fallbacks
    assert fallback.op == "cond"
    assert "eigenvectors are any up to their signs" in fallback.reason
    assert sum(report().graphs[0].parts) == 4


def test_a_loop_whose_state_is_a_number() -> None:
    def function(x: torch.Tensor) -> Any:
        return while_loop(lambda i, v: i < 5, lambda i, v: (i + 1, v * 2), (0, x.sin()))[1]

    with torch.no_grad():
        assert_same(compiled(function)(torch.ones(3)), function(torch.ones(3)))
    (fallback,) = report().fallbacks
    assert fallback.op == "while_loop"
    assert "depends on the elements of a tensor" in fallback.reason
