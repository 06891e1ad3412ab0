"""The methods by which tinygrad's `Tensor` differs from ours."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import tgdialect as tg
from tgdialect.frontend.graph import sorted_nodes
from tgdialect.nn import optim
from tinygrad_shim.internals import Refused

_INTERNAL = (
    *("uop", "_buffer", "callify", "linear_with_vars", "schedule_linear"),
    *("custom_kernel", "invalids", "call", "as_param"),
    *("_device_rng_counters", "_threefry_random_bits"),
)


def backward(self: tg.Tensor, gradient: tg.Tensor | None = None) -> tg.Tensor:
    """Add to the `grad` of every tensor of floats in the graph: tinygrad's need not require one."""
    order = sorted_nodes([self.node], through_data=True)
    owners = [node.owner() for node in order if node.owner and node.owner_node is node]
    targets = [t for t in owners if isinstance(t, tg.Tensor) and t.dtype.is_float]
    for target, found in zip(targets, self.gradient(*targets, gradient=gradient), strict=True):
        target.grad = found if target.grad is None else target.grad + found
    return self


_init = tg.Tensor.__init__


@functools.wraps(_init)
def init(self: tg.Tensor, *args: Any, **options: Any) -> None:
    """Make a tensor that keeps its history: tinygrad's are parameters unless they say no."""
    _init(self, *args, **options)
    if self.dtype.is_float:
        self.requires_grad_()


def is_param_(self: tg.Tensor, is_param: bool = True) -> tg.Tensor:
    """Mark a tensor as one that optimizers update."""
    return self.requires_grad_(is_param and self.dtype.is_float)


def extend_tensor() -> None:
    """Give our `Tensor` the methods of tinygrad's that it lacks."""
    setattr(tg.Tensor, "__init__", init)  # noqa: B010
    setattr(tg.Tensor, "backward", backward)  # noqa: B010
    setattr(tg.Tensor, "is_param_", is_param_)  # noqa: B010
    setattr(tg.Tensor, "is_param", tg.Tensor.requires_grad)  # noqa: B010
    for name in _INTERNAL:
        setattr(tg.Tensor, name, Refused(f"Tensor.{name}"))


def optimizers() -> dict[str, Any]:
    """The optimizers, which take all floats: tinygrad's tensors are parameters by default."""

    def taking(optimizer: type[optim.Optimizer]) -> Callable[..., Any]:
        def make(params: list[tg.Tensor], *args: Any, **options: Any) -> optim.Optimizer:
            for param in params:
                param.requires_grad_()
            options.pop("fused", None)
            return optimizer(params, *args, **options)

        return make

    classes = inspect.getmembers(optim, inspect.isclass)
    return {n: taking(c) if issubclass(c, optim.Optimizer) else c for n, c in classes}
