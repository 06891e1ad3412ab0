"""Methods of Tensor as PyTorch says them: functions of a tensor, and of a second one of its shape.

An entry is the name of a method that both have with the same arguments, or what each calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from parity import torch

import tgdialect as tg

F = torch.nn.functional
Function = Callable[[Any, Any], Any]


def unary(name: str, theirs: Callable[[Any], Any] | None = None) -> tuple[Function, Function]:
    """A method without arguments."""
    other = theirs or (lambda x: getattr(x, name)())
    return lambda x, _: getattr(x, name)(), lambda x, _: other(x)


def binary(name: str, theirs: Callable[[Any, Any], Any] | None = None) -> tuple[Function, Function]:
    """A method of two tensors."""
    return lambda x, y: getattr(x, name)(y), theirs or (lambda x, y: getattr(x, name)(y))


def both(function: Function) -> tuple[Function, Function]:
    """What is said in the same words."""
    return function, function


def unpooling(x: Any, line: Any) -> tuple[Any, tuple[int], tuple[int]]:
    """Positions for the cells of the last axis, two apart, and a window of two."""
    return (line * 2).expand(*x.shape), (2,), (2,)


ELEMENTWISE: Mapping[str, tuple[Function, Function]] = {
    **{name: unary(name) for name in ("neg", "abs", "sign", "square", "reciprocal", "trunc")},
    **{name: unary(name) for name in ("floor", "ceil", "round", "sqrt", "rsqrt", "exp", "exp2")},
    **{name: unary(name) for name in ("log", "log2", "log10", "sin", "cos", "tan", "asin", "acos")},
    **{name: unary(name) for name in ("atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh")},
    **{name: unary(name) for name in ("erf", "sigmoid", "relu", "isnan", "isinf", "isfinite")},
    **{name: unary(name) for name in ("logical_not", "bitwise_not", "contiguous", "clone")},
    **{name: unary(name) for name in ("detach", "bool", "short", "int", "long", "half", "float")},
    **{name: unary(name) for name in ("double", "bfloat16", "is_floating_point", "element_size")},
    **{name: unary(name) for name in ("expm1", "log1p", "erfc", "erfinv", "lgamma")},
    **{name: binary(name) for name in ("add", "sub", "mul", "div", "maximum", "minimum", "fmod")},
    **{name: binary(name) for name in ("pow", "eq", "ne", "copysign", "isclose", "logaddexp")},
    **{name: binary(name) for name in ("bitwise_and", "bitwise_or", "bitwise_xor")},
    "atan2": binary("atan2"),
    "softsign": unary("softsign", F.softsign),
    "silu": unary("silu", F.silu),
    "swish": unary("swish", F.silu),
    "selu": unary("selu", F.selu),
    "mish": unary("mish", F.mish),
    "hardswish": unary("hardswish", F.hardswish),
    "hardsigmoid": unary("hardsigmoid", F.hardsigmoid),
    "hardtanh": unary("hardtanh", F.hardtanh),
    "relu6": unary("relu6", F.relu6),
    "softplus": unary("softplus", F.softplus),
    "elu": unary("elu", F.elu),
    "celu": unary("celu", F.celu),
    "leaky_relu": unary("leaky_relu", F.leaky_relu),
    "logsigmoid": unary("logsigmoid", F.logsigmoid),
    "quick_gelu": unary("quick_gelu", lambda x: x * torch.sigmoid(1.702 * x)),
    "gelu": unary("gelu", lambda x: F.gelu(x, approximate="tanh")),
    "gelu exact": (lambda x, _: x.gelu("none"), lambda x, _: F.gelu(x)),
    "mod": binary("mod", torch.remainder),
    "nbytes": (lambda x, _: x.nbytes(), lambda x, _: x.nbytes),
    "<": both(lambda x, y: x < y),
    "<=": both(lambda x, y: x <= y),
    ">": both(lambda x, y: x > y),
    ">=": both(lambda x, y: x >= y),
    "//": both(lambda x, y: x // y),
    "%": both(lambda x, y: x % y),
    "<< 3": both(lambda x, _: x << 3),
    ">> 2": both(lambda x, _: x >> 2),
    "lshift": binary("lshift", lambda x, y: x << y),
    "rshift": binary("rshift", lambda x, y: x >> y),
    "2 +": both(lambda x, _: 2 + x),
    "2 -": both(lambda x, _: 2 - x),
    "2 /": both(lambda x, _: 2 / x),
    "2.0 **": both(lambda x, _: 2.0**x),
    "+ 1.5": both(lambda x, _: x + 1.5),
    "** 2": both(lambda x, _: x**2),
    "** 3.5": both(lambda x, _: x**3.5),
    "** -1": both(lambda x, _: x**-1),
    "** 0": both(lambda x, _: x**0),
    "truncated div": both(lambda x, y: x.div(y, rounding_mode="trunc")),
    "clamp": both(lambda x, _: x.clamp(1, 2)),
    "clip": both(lambda x, _: x.clip(0, 3)),
    "clamp below": (lambda x, _: x.clamp(min_=0), lambda x, _: x.clamp(min=0)),
    "clamp by tensor": both(lambda x, y: x.clamp(y)),
    "lerp": both(lambda x, y: x.lerp(y, 0.3)),
    "where": (lambda x, y: (x > y).where(x, y), lambda x, y: torch.where(x > y, x, y)),
    "masked_fill": both(lambda x, y: x.masked_fill(x > y, 1)),
    "masked_fill_": both(lambda x, y: (x * 1).masked_fill_(x > y, 1)),
    "full_like": (lambda x, _: x.full_like(1), lambda x, _: torch.full_like(x, 1)),
    "zeros_like": unary("zeros_like", torch.zeros_like),
    "ones_like": unary("ones_like", torch.ones_like),
    "allclose": (lambda x, _: x.allclose(x), lambda x, _: torch.tensor(torch.allclose(x, x))),
}
"""Functions of each element."""

OTHERS: Mapping[str, tuple[Function, Function]] = {
    # Reductions.
    **{name: unary(name) for name in ("sum", "prod", "mean", "var", "std", "max", "min")},
    "sum along": both(lambda x, _: x.sum(-1)),
    "prod along": both(lambda x, _: x.prod(-1)),
    "mean along": both(lambda x, _: x.mean(-1, keepdim=True)),
    "max along": (lambda x, _: x.max(-1), lambda x, _: x.amax(-1)),
    "min along": (lambda x, _: x.min(-1, keepdim=True), lambda x, _: x.amin(-1, keepdim=True)),
    "any": both(lambda x, _: x.any(-1)),
    "all": both(lambda x, _: x.all(-1)),
    "var along": both(lambda x, _: x.var(-1, correction=0)),
    "var_mean": (lambda x, _: x.var_mean(-1), lambda x, _: torch.var_mean(x, -1)),
    "std_mean": (lambda x, _: x.std_mean(-1), lambda x, _: torch.std_mean(x, -1)),
    "argmax": both(lambda x, _: x.argmax(-1)),
    "argmin": both(lambda x, _: x.argmin()),
    "softmax": both(lambda x, _: x.softmax(-1)),
    "log_softmax": both(lambda x, _: x.log_softmax(-1)),
    "softmin": (lambda x, _: x.softmin(-1), lambda x, _: F.softmin(x, -1)),
    "logsumexp": both(lambda x, _: x.logsumexp(-1)),
    "cumsum": both(lambda x, _: x.cumsum(-1)),
    "cumprod": both(lambda x, _: x.cumprod(-1)),
    "cummax": both(lambda x, _: x.cummax(-1)),
    "cummin": both(lambda x, _: x.cummin(-1)),
    "logcumsumexp": both(lambda x, _: x.logcumsumexp(-1)),
    "normalize": (lambda x, _: x.normalize(dim=-1), lambda x, _: F.normalize(x, dim=-1)),
    "layernorm": (lambda x, _: x.layernorm(), lambda x, _: F.layer_norm(x, x.shape[-1:])),
    "norm": both(lambda x, _: x.norm(dim=-1)),
    "count_nonzero": both(lambda x, _: x.count_nonzero(-1)),
    "diff": both(lambda x, y: x.diff(2, prepend=y)),
    "cdist": (lambda x, y: x.cdist(y), lambda x, y: torch.cdist(x, y)),
    # Orders.
    "quantile": both(lambda x, _: x.quantile(0.3, -1, keepdim=True)),
    "unique": both(lambda x, _: x.detach().unique(return_inverse=True, return_counts=True)),
    "searchsorted": (
        lambda x, y: x.sort(-1)[0].searchsorted(y, right=True),
        lambda x, y: torch.searchsorted(x.sort(-1)[0], y, right=True),
    ),
    "histc": both(lambda x, _: x.histc(4, -1, 3)),
    "median": both(lambda x, _: x.median(-1)[0]),
    "sort": (lambda x, _: x.sort(-1), lambda x, _: x.sort(-1, stable=True)),
    "sort down": (
        lambda x, _: x.sort(-1, descending=True),
        lambda x, _: x.sort(-1, descending=True, stable=True),
    ),
    "argsort": (lambda x, _: x.argsort(-1), lambda x, _: x.argsort(-1, stable=True)),
    "topk": both(lambda x, _: x.topk(1)[0]),
    # Shapes.
    **{name: unary(name) for name in ("flatten", "squeeze", "tril", "diag", "diagonal")},
    "triu": both(lambda x, _: x.triu(1)),
    "reshape": both(lambda x, _: x.reshape(-1)),
    "view": both(lambda x, _: x.view(-1)),
    "numel": both(lambda x, _: x.numel()),
    "unsqueeze": both(lambda x, _: x.unsqueeze(0)),
    "unflatten": both(lambda x, _: x.unflatten(-1, (-1, 1))),
    "flip": (lambda x, _: x.flip(-1), lambda x, _: x.flip(-1)),
    "transpose": both(lambda x, _: x.transpose(0, -1)),
    "permute": both(lambda x, _: x.permute(*reversed(range(x.ndim)))),
    "expand": both(lambda x, _: x.expand(2, *x.shape)),
    "mT": both(lambda x, _: x.mT),
    "tile": both(lambda x, _: x.tile(2)),
    "repeat": both(lambda x, _: x.repeat(*[2] * (x.ndim + 1))),
    "repeat_interleave": both(lambda x, _: x.repeat_interleave(3)),
    "roll": both(lambda x, _: x.roll(1)),
    "movedim": both(lambda x, _: x.movedim(0, -1)),
    "expand_as": both(lambda x, y: x.expand_as(y)),
    "outer": both(lambda x, y: x.outer(y)),
    "unfold": both(lambda x, _: x.unfold(-1, 2, 1)),
    "cat": (lambda x, y: x.cat(y, dim=-1), lambda x, y: torch.cat((x, y), -1)),
    "cat of a list": (lambda x, y: tg.Tensor.cat([x, y]), lambda x, y: torch.cat([x, y])),
    "stack of a tuple": (
        lambda x, y: tg.Tensor.stack((x, y), dim=-1),
        lambda x, y: torch.stack((x, y), -1),
    ),
    "unfold of no cells": both(lambda x, _: x.unfold(-1, 0, 2)),
    "stack": (lambda x, y: x.stack(y), lambda x, y: torch.stack((x, y))),
    "split": both(lambda x, _: x.split(2, -1)),
    "chunk": both(lambda x, _: x.chunk(2, 0)),
    "pad": (lambda x, _: x.pad((1, 2)), lambda x, _: F.pad(x, (1, 2))),
    "meshgrid": (
        lambda x, y: x.flatten().meshgrid(y.flatten()),
        lambda x, y: torch.meshgrid(x.flatten(), y.flatten(), indexing="ij"),
    ),
    # Cells.
    "[-1]": both(lambda x, _: x[-1]),
    "[1:]": both(lambda x, _: x[1:]),
    "[..., ::2]": both(lambda x, _: x[..., ::2]),
    "[None]": both(lambda x, _: x[None, ..., None]),
    "[list]": both(lambda x, _: x[[0, 0]]),
    "[mask]": both(lambda x, y: x[x > y]),
    "masked_select": both(lambda x, y: x.masked_select(x > y)),
    "nonzero": unary("nonzero"),
    "gather": (
        lambda x, _: x.gather(-1, x.argsort(-1)),
        lambda x, _: x.gather(-1, x.argsort(-1, stable=True)),
    ),
    "scatter": (
        lambda x, y: x.scatter(-1, x.argsort(-1), y),
        lambda x, y: x.scatter(-1, x.argsort(-1, stable=True), y),
    ),
    "scatter_add": (
        lambda x, y: x.scatter_add(-1, x.zeros_like("int32"), y),
        lambda x, y: x.scatter_add(-1, torch.zeros_like(x, dtype=torch.int64), y),
    ),
    "index_add": (
        lambda x, y: x.index_add(-1, x.zeros(x.shape[-1], dtype="int32"), y, alpha=2),
        lambda x, y: x.index_add(-1, torch.zeros(x.shape[-1], dtype=torch.int64), y, alpha=2),
    ),
    "index_select": (
        lambda x, _: x.index_select(0, tg.Tensor([0, 0])),
        lambda x, _: x.index_select(0, torch.tensor([0, 0])),
    ),
    "take_along_dim": (
        lambda x, y: x.take_along_dim(y.argsort(-1), -1),
        lambda x, y: x.take_along_dim(y.argsort(-1, stable=True), -1),
    ),
    "scatter add": (
        lambda x, y: x.scatter(-1, x.zeros_like("int32"), y, reduce="add"),
        lambda x, y: x.scatter_add(-1, torch.zeros_like(x, dtype=torch.int64), y),
    ),
    **{
        f"scatter_reduce {kind}": (
            lambda x, y, kind=kind: x.scatter_reduce(-1, x.zeros_like("int32"), y, kind),
            lambda x, y, kind=kind: x.scatter_reduce(
                -1, torch.zeros_like(x, dtype=torch.int64), y, kind
            ),
        )
        for kind in ("sum", "amax", "amin")
    },
    "one_hot": (
        lambda x, y: (x > y).int().one_hot(2),
        lambda x, y: F.one_hot((x > y).long(), 2),
    ),
    # Products.
    "dot": both(lambda x, y: x.flatten().dot(y.flatten())),
    "matmul": both(lambda x, y: x @ y.transpose(-1, -2) if x.ndim > 1 else x.matmul(y)),
    "bmm": both(lambda x, y: x.bmm(y.transpose(1, 2))),
    "inverse": both(lambda x, _: (x @ x.transpose(-1, -2)).inverse()),
    "det": both(lambda x, y: (x @ y.transpose(-1, -2)).det()),
    "linear": (
        lambda x, y: x.linear(y.transpose(0, -1)) if x.ndim else x * y,
        lambda x, y: F.linear(x, y) if x.ndim > 1 else x * y,
    ),
    "einsum": (
        lambda x, y: tg.Tensor.einsum("...i,...i->...", x, y),
        lambda x, y: torch.einsum("...i,...i->...", x, y),
    ),
    "conv2d": (
        lambda x, y: x.conv2d(y[..., :2] if x.ndim == 3 else y[..., :1, :2]),
        lambda x, y: (F.conv1d if x.ndim == 3 else F.conv2d)(
            x, y[..., :2] if x.ndim == 3 else y[..., :1, :2]
        ),
    ),
    "max_pool2d": (lambda x, _: x.max_pool2d((2,), 1), lambda x, _: F.max_pool1d(x, 2, 1)),
    "max_unpool2d": (
        lambda x, _: x.max_unpool2d(*unpooling(x, x.arange(x.shape[-1]))),
        lambda x, _: F.max_unpool1d(x, *unpooling(x, torch.arange(x.shape[-1]))),
    ),
    "avg_pool2d": (lambda x, _: x.avg_pool2d((2,), 1), lambda x, _: F.avg_pool1d(x, 2, 1)),
    "interpolate": (
        lambda x, _: x.interpolate((7,)),
        lambda x, _: F.interpolate(x, (7,), mode="linear"),
    ),
    "grid_sample": (
        lambda x, y: x.unsqueeze(2).grid_sample(y[..., :2].unsqueeze(1)),
        lambda x, y: F.grid_sample(
            x.unsqueeze(2), y[..., :2].unsqueeze(1), "bilinear", "zeros", False
        ),
    ),
    "scaled_dot_product_attention": (
        lambda x, y: x.scaled_dot_product_attention(y, y),
        lambda x, y: F.scaled_dot_product_attention(x, y, y),
    ),
    # Losses.
    "cross_entropy": (
        lambda x, y: x.cross_entropy(y.softmax(1)),
        lambda x, y: F.cross_entropy(x, y.softmax(1)),
    ),
    "nll_loss": (
        lambda x, y: x.nll_loss(y[:, 0].int() * 0),
        lambda x, y: F.nll_loss(x, y[:, 0].long() * 0),
    ),
    "binary_crossentropy": (
        lambda x, y: x.sigmoid().binary_crossentropy(y.sigmoid()),
        lambda x, y: F.binary_cross_entropy(x.sigmoid(), y.sigmoid()),
    ),
    "binary_crossentropy_logits": (
        lambda x, y: x.binary_crossentropy_logits(y.sigmoid()),
        lambda x, y: F.binary_cross_entropy_with_logits(x, y.sigmoid()),
    ),
}
"""What is not a function of each element."""

METHODS = {**ELEMENTWISE, **OTHERS}
