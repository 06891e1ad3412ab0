"""The methods by which tinygrad's `Tensor` differs from ours."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any
from weakref import WeakValueDictionary

import tgdialect as tg
from tgdialect.frontend import base
from tgdialect.frontend.graph import Node, sorted_nodes
from tgdialect.frontend.tensor import accumulate
from tgdialect.nn import layers, optim
from tgdialect.ops.marker import ContiguousOp
from tgdialect.ops.source import ConstOp
from tinygrad_shim.internals import Refused, UsesInternals

_INTERNAL = (
    *("uop", "_buffer", "callify", "linear_with_vars", "schedule_linear"),
    *("custom_kernel", "invalids", "call", "as_param"),
    *("_device_rng_counters", "_threefry_random_bits", "_uop", "alu"),
    *("image_conv2d", "image_dot", "keccak", "hash", "from_url"),
)
_no_params: WeakValueDictionary[int, tg.Tensor] = WeakValueDictionary()
"""The tensors that are no parameters, by id."""
_init, _gradient, _numpy = tg.Tensor.__init__, tg.Tensor.gradient, tg.Tensor.numpy
_contiguous = tg.Tensor.contiguous


@functools.wraps(_init)
def init(self: tg.Tensor, *args: Any, **options: Any) -> None:
    """Make a tensor that keeps its history."""
    _init(self, *args, **options)
    if self.dtype.is_float:
        self.requires_grad_()


def backward(self: tg.Tensor, gradient: tg.Tensor | None = None) -> tg.Tensor:
    """Add to the `grad` of every tensor of floats in the graph, other than those of numbers."""
    order = sorted_nodes([self.node], through_data=True)
    owners = [node.owner() for node in order if node.owner and node.owner_node is node]
    targets = [t for t in owners if isinstance(t, tg.Tensor) and t.dtype.is_float]
    targets = [t for t in targets if not _is_number(t.node)]
    for target, found in zip(targets, _gradient(self, *targets, gradient=gradient), strict=True):
        accumulate(target, found)
    return self


def _is_number(node: Node) -> bool:
    """Whether a node is a number, or computed from numbers alone: in tinygrad it has no memory.
    What `contiguous` gives has memory, and so has `Tensor.ones(3)` (`without_buffer`)."""
    order = sorted_nodes([node], through_data=True)
    if not all(each.operands or isinstance(each.prototype, ConstOp) for each in order):
        return False
    return not any(isinstance(each.prototype, ContiguousOp) for each in order)


def numpy(self: tg.Tensor) -> Any:
    """The elements. What is computed from constants stays so: it gets no memory, and no `grad`."""
    return _numpy(self.contiguous() if _is_number(self.node) else self)


def contiguous(self: tg.Tensor, *args: Any, arg: Any = None, **options: Any) -> tg.Tensor:
    """`arg` are OptOps of tinygrad's."""
    if arg is not None:
        raise UsesInternals("Tensor.contiguous(arg)")
    return _contiguous(self, *args, **options)


def is_param(self: tg.Tensor) -> bool:
    """Whether optimizers update a tensor: unless it says no."""
    return _no_params.get(id(self)) is not self


def is_param_(self: tg.Tensor, is_param: bool = True) -> tg.Tensor:
    """Mark a tensor as one that optimizers update, or do not."""
    if is_param:
        _no_params.pop(id(self), None)
    else:
        _no_params[id(self)] = self
    return self


def like_its_source(name: str) -> Callable[..., tg.Tensor]:
    """A method whose result is a parameter like its tensor."""
    method = getattr(tg.Tensor, name)

    @functools.wraps(method)
    def call(self: tg.Tensor, *args: Any, **options: Any) -> tg.Tensor:
        made = method(self, *args, **options)
        if made is not self:
            is_param_(made, is_param(self))
        return made

    return call


def without_buffer(name: str) -> classmethod[Any, Any, Any]:
    """A method that makes a tensor, which in tinygrad has memory of its own or not. Our own methods
    make values by it."""
    method = getattr(tg.Tensor, name).__func__

    @functools.wraps(method)
    def call(*args: Any, buffer: bool = True, **options: Any) -> tg.Tensor:
        made = method(*args, **options)
        is_ours = sys._getframe(1).f_globals["__name__"].startswith("tgdialect.frontend.")
        return made.contiguous() if buffer and not is_ours else made

    return classmethod(call)


def const(b: Any, dtype: Any = None) -> tg.Tensor:
    """A number, which is wherever it is used."""
    return tg.Tensor(b, dtype=dtype)


def extend_tensor() -> None:
    """Give our `Tensor` the methods of tinygrad's that it lacks."""
    methods: dict[str, Any] = {
        **{"__init__": init, "backward": backward, "numpy": numpy, "contiguous": contiguous},
        **{"is_param_": is_param_, "is_param": property(is_param)},
        **{name: like_its_source(name) for name in ("clone", "to")},
        **{name: without_buffer(name) for name in ("zeros", "ones", "full")},
        "const": staticmethod(const),
        **{name: Refused(f"Tensor.{name}") for name in _INTERNAL},
    }
    for name, method in methods.items():
        setattr(tg.Tensor, name, method)
    optim.Optimizer.device = property(lambda self: self.params[0].device)
    # tinygrad checks arguments by `assert`.
    base.ArgumentError.__bases__ = (*base.ArgumentError.__bases__, AssertionError)


class BatchNorm(layers.BatchNorm):
    """Ours, whose statistics are no parameters."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name in ("running_mean", "running_var", "num_batches_tracked"):
            if hasattr(self, name):
                is_param_(getattr(self, name), False)


def optimizers() -> dict[str, Any]:
    """The optimizers, which take all floats that are parameters."""

    def taking(optimizer: type[optim.Optimizer]) -> Callable[..., Any]:
        def make(params: list[tg.Tensor], *args: Any, **options: Any) -> optim.Optimizer:
            taken = [param for param in params if is_param(param) and param.dtype.is_float]
            for param in taken:
                param.requires_grad_()
            options.pop("fused", None)
            return optimizer(taken, *args, **options)

        return make

    classes = inspect.getmembers(optim, inspect.isclass)
    return {n: taking(c) if issubclass(c, optim.Optimizer) else c for n, c in classes}
