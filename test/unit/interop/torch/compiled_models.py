"""Comparing what `torch.compile(backend="tgdialect")` computes with PyTorch's eager mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from tgdialect.interop.torch import report
from tgdialect.interop.torch.backend import backend


def compiled(model: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """A model or a function compiled anew by this backend."""
    torch._dynamo.reset()
    report().clear()
    return torch.compile(model, backend=backend, **options)


def flat(value: Any) -> list[torch.Tensor]:
    """The tensors of a result."""
    if isinstance(value, torch.Tensor):
        return [value]
    return [tensor for each in value for tensor in flat(each)]


def assert_same(got: Any, wanted: Any, rtol: float = 1e-4, atol: float = 1e-5) -> None:
    """Values, dtypes, shapes and strides are the same."""
    for a, b in zip(flat(got), flat(wanted), strict=True):
        torch.testing.assert_close(a, b, rtol=rtol, atol=atol, equal_nan=True)
        assert a.stride() == b.stride()


def assert_compiled(
    model: Callable[..., Any], *inputs: Any, fallbacks: Sequence[str] = (), **options: Any
) -> Callable[..., Any]:
    """The results of a model, and its gradients, are those of eager mode. PyTorch runs only the ops
    in `fallbacks`. Returns the compiled model."""
    call = compiled(model, **options)
    wanted, got = model(*inputs), call(*inputs)
    assert_same(got, wanted)
    parameters = list(model.parameters()) if isinstance(model, torch.nn.Module) else []
    if parameters:
        losses = [sum((t * t).sum() for t in flat(r) if t.requires_grad) for r in (got, wanted)]
        ours, theirs = (torch.autograd.grad(loss, parameters) for loss in losses)
        assert_same(ours, theirs, 1e-3, 1e-4)
    with torch.no_grad():
        assert_same(call(*inputs), model(*inputs))
    assert {fallback.op for fallback in report().fallbacks} == set(fallbacks)
    return call
