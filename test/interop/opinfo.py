"""Methods of Tensor on PyTorch's own samples of their arguments: its table of ops, `op_db`.

    python test/interop/opinfo.py               # writes docs/conformance-opinfo.md
    python test/interop/opinfo.py sum nn.functional.pad   # prints what some ops do

Each op of the table that `tg.Tensor` has by the op's name, or by one of its aliases, is called with
the first samples for float32, as PyTorch calls it: the same positions and keywords. An op agrees if
all samples have PyTorch's values, shape and dtype (an i32 for an i64). Samples that PyTorch
refuses, and arguments that no Tensor has, as complex numbers, are passed over.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

import tgdialect as tg

T = tg.Tensor
PAGE = Path(__file__).parents[2] / "docs" / "conformance-opinfo.md"
SAMPLES = 6
"""The number of samples of each op."""
TOLERANCE = 2e-5
"""The relative and absolute difference of numbers that agree, in units of the largest one."""
NAMESPACES = ("linalg.", "fft.", "special.", "masked.", "signal.", "sparse.", "_refs.", "torch.")
"""Ops whose last name means something else, or that have arguments of their own."""

RANDOM = {
    "empty",
    "empty_like",
    "multinomial",
    "nn.functional.dropout",
    "normal",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "uniform",
}
"""Ops whose elements are random, or unspecified: shape and dtype are compared."""

Call = Callable[..., Any]


def _with_positions(name: str) -> Call:
    def call(x: T, *args: Any, **kwargs: Any) -> Any:
        return getattr(x, name)(*args, **kwargs), getattr(x, f"arg{name}")(*args, **kwargs)

    return call


def _unbiased(name: str) -> Call:
    def call(x: T, unbiased: bool) -> Any:
        return getattr(x, name)(unbiased=unbiased)

    return call


def _pooled(
    x: T,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    around = padding[0] if isinstance(padding, tuple) and len(padding) == 1 else padding
    options = {"divisor_override": divisor_override, "stride": stride or None, "padding": around}
    pair = (kernel_size,) * 2 if isinstance(kernel_size, int) else kernel_size
    return x.avg_pool2d(pair, ceil_mode=ceil_mode, count_include_pad=count_include_pad, **options)


def _converted(x: T, device: str, dtype: str | None = None, *_: Any, **__: Any) -> Any:
    return x.to(device) if dtype is None else x.to(device).cast(dtype)


def _with_shape(name: str) -> Call:
    """Random numbers, of which only the shape and dtype are compared."""

    def call(*args: Any, **options: Any) -> Any:
        shapes = [
            a.shape if isinstance(a, T) else a for a in args if isinstance(a, T | tuple | list)
        ]
        shape = np.broadcast_shapes(*map(tuple, shapes))
        return getattr(T, name)(shape, **{k: v for k, v in options.items() if k == "dtype"})

    return call


def _positions_of(x: T, as_tuple: bool = False) -> Any:
    found = (x if x.ndim or not as_tuple else x.reshape(1)).nonzero()
    return tuple(found[:, i] for i in range(found.shape[1])) if as_tuple else found


_POSITIONS = "`max` and `min` along an axis give values alone, as `amax`; positions are `argmax`'s"
_UNBIASED = "`unbiased` is a keyword: the first argument is the axis"
_SHAPE = "a class method that takes the shape, and no method of a tensor that it fills"
_STABLE = "sorts are stable, so that there is no `stable`"
SPELLINGS: Mapping[str, tuple[Call, str]] = {
    "linspace (tensor_overload)": (
        lambda a, b, n, **options: T.linspace(
            *(t.item() if isinstance(t, T) else t for t in (a, b)), n, **options
        ),
        "the ends are numbers",
    ),
    "max (reduction_with_dim)": (_with_positions("max"), _POSITIONS),
    "min (reduction_with_dim)": (_with_positions("min"), _POSITIONS),
    "einsum": (lambda tensors, formula: T.einsum(formula, *tensors), "the formula is first"),
    "nn.functional.avg_pool2d": (
        _pooled,
        "the third argument is tinygrad's, the dilation; a padding is a number for each axis",
    ),
    "nn.functional.linear": (
        lambda x, weight, bias=None: x.linear(weight.T, bias),
        "the weight is (inputs, outputs), as in tinygrad",
    ),
    "nonzero": (_positions_of, "there is no `as_tuple`"),
    "normal": (_with_shape("normal"), _SHAPE),
    "normal (number_mean)": (_with_shape("normal"), _SHAPE),
    "qr": (
        lambda x, some=True: x.qr("reduced" if some else "complete"),
        "the default is tinygrad's, a square Q; `mode` is that of `torch.linalg.qr`",
    ),
    "randint": (
        lambda *args, **options: T.randint(
            args[-1], low=args[0] if len(args) > 2 else 0, high=args[-2]
        ),
        _SHAPE,
    ),
    "sort": (
        lambda x, dim=-1, descending=False, stable=False: x.sort(dim, descending),
        _STABLE,
    ),
    "argsort": (
        lambda x, dim=-1, descending=False, stable=False: x.argsort(dim, descending),
        _STABLE,
    ),
    "repeat_interleave": (
        lambda x, repeats, dim=None, output_size=None: x.repeat_interleave(repeats, dim),
        "there is no `output_size`",
    ),
    "to": (_converted, "`to` takes a device, `cast` a dtype"),
    "where": (lambda x, mask, y: mask.where(x, y), "a method of the condition"),
    "normal (in_place)": (lambda x, mean, std: x.normal(x.shape, mean=mean, std=std), _SHAPE),
    "std (unbiased)": (_unbiased("std"), _UNBIASED),
    "std_mean (unbiased)": (_unbiased("std_mean"), _UNBIASED),
    "uniform": (lambda x, low, high: x.uniform(x.shape, low=low, high=high), _SHAPE),
    "var (unbiased)": (_unbiased("var"), _UNBIASED),
    "var_mean (unbiased)": (_unbiased("var_mean"), _UNBIASED),
}
"""Ops that we have with other arguments or results than PyTorch: how they are called here, and what
is different."""


REASONS = {
    "svd": "singular vectors are unique but for their signs, and PyTorch's `svd` returns V, not Vᵀ",
}
"""Why an op does not agree, where what the runner says does not explain it."""


class Outcome(NamedTuple):
    """What became of an op: its name, the number of samples, and why one of them fails, if any."""

    name: str
    samples: int
    failure: str | None


def method_of(op: Any) -> str | None:
    """The name of our method for an op; None if there is none."""
    if op.name in OTHERS:
        return None
    names = [op.name, *(alias.name for alias in op.aliases)]
    for name in names:
        short = name.removeprefix("nn.functional.")
        if not name.startswith(NAMESPACES) and hasattr(T, METHODS.get(name, short)):
            return METHODS.get(name, short)
    return None


STORAGE = {"layout", "memory_format", "pin_memory", "requires_grad"}
"""Keywords of PyTorch's that change no value, shape or dtype."""

OTHERS = {"gradient": "`Tensor.gradient` gives derivatives, PyTorch's differences of neighbours"}
"""Ops that have the name of a method which is another function."""

METHODS = {"nn.functional.unfold": "im2col"}
"""Names of ours that are other ones than PyTorch's, for the same function."""


def title(op: Any) -> str:
    return f"{op.name} ({op.variant_test_name})" if op.variant_test_name else op.name


def known_ops() -> list[Any]:
    """The ops of the table that we have, on float32."""
    return [op for op in op_db if torch.float32 in op.dtypes and method_of(op)]


def check(op: Any, samples: int = SAMPLES) -> Outcome:
    """Call an op with its first samples, without those that drop out numbers."""
    torch.manual_seed(0)
    count = 0
    for sample in islice(op.sample_inputs("cpu", torch.float32), samples):
        arguments = sample.input, *sample.args
        if sample.kwargs.get("dropout_p"):
            continue
        try:
            expected = op.op(*arguments, **sample.kwargs)
            given, keywords = ours(arguments), ours(sample.kwargs)
        except (RuntimeError, TypeError, ValueError, NotImplementedError):
            continue
        count += 1
        try:
            found = _called(op, given, keywords)
            problem = difference(op, found, expected)
        except Exception as error:
            problem = f"{type(error).__name__}: {error}".split("\n")[0]
        if problem:
            return Outcome(title(op), count, f"{_shown(arguments, sample.kwargs)}: {problem}")
    return Outcome(title(op), count, None)


def _called(op: Any, given: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    name = method_of(op)
    assert name is not None
    if (spelling := SPELLINGS.get(title(op), SPELLINGS.get(op.name))) is not None:
        return spelling[0](*given, **keywords)
    method = getattr(T, name)
    if isinstance(method, property):
        return getattr(given[0], name)
    return method(*given, **keywords)


def ours(value: Any) -> Any:
    """An argument of PyTorch's as one of ours. Raises TypeError if there is none."""
    if isinstance(value, torch.Tensor):
        if value.is_complex() or value.layout is not torch.strided:
            raise TypeError("no such tensor")
        return T(value.detach().contiguous().numpy())
    if isinstance(value, torch.dtype):
        if value.is_complex:
            raise TypeError("no complex numbers")
        return str(value).removeprefix("torch.")
    if isinstance(value, torch.device) or (value == "cpu" and isinstance(value, str)):
        return "CPU"
    if isinstance(value, complex):
        raise TypeError("no complex numbers")
    if isinstance(value, list | tuple):
        return (
            type(value)(map(ours, value))
            if type(value) in (list, tuple)
            else tuple(map(ours, value))
        )
    if isinstance(value, dict):
        return {key: ours(v) for key, v in value.items() if key not in STORAGE}
    return value


def difference(op: Any, found: Any, expected: Any) -> str | None:
    """How a result differs from PyTorch's; None if it does not."""
    if isinstance(expected, tuple | list):
        if not isinstance(found, tuple | list) or len(found) != len(expected):
            return f"{len(expected)} results in PyTorch"
        pairs = zip(found, expected, strict=True)
        return next(filter(None, (difference(op, a, b) for a, b in pairs)), None)
    if not isinstance(expected, torch.Tensor):
        found = found.item() if isinstance(found, T) else found
        are_nan = found != found and expected != expected
        return None if found == expected or are_nan else f"{found}, in PyTorch {expected}"
    if not isinstance(found, T):
        found = T(found)
    a, kind = found.numpy(), str(expected.dtype).removeprefix("torch.")
    b = (expected.detach().double() if expected.is_floating_point() else expected).numpy()
    if a.shape != b.shape:
        return f"shape {a.shape}, in PyTorch {b.shape}"
    if a.dtype.name != kind and {a.dtype.name, kind} != {"int32", "int64"}:
        return f"dtype {a.dtype.name}, in PyTorch {kind}"
    if op.name in RANDOM:
        return None
    a, b = a.astype(np.float64), b.astype(np.float64)
    scale = np.abs(b[np.isfinite(b)]).max(initial=1.0)
    if not np.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE * scale, equal_nan=True):
        return f"other numbers, by {np.nanmax(np.abs(a - b)):.2g}"
    return None


def _shown(arguments: Sequence[Any], keywords: Mapping[str, Any]) -> str:
    """Arguments in short: tensors by their shapes."""

    def short(value: Any) -> str:
        if isinstance(value, torch.Tensor):
            return f"tensor{list(value.shape)}"
        if isinstance(value, list | tuple):
            return f"({', '.join(map(short, value))})"
        return repr(value)

    named = (f"{key}={short(value)}" for key, value in keywords.items())
    return f"({', '.join([*map(short, arguments), *named])})"


def outcomes(names: Sequence[str] = ()) -> Iterator[Outcome]:
    for op in known_ops():
        if not names or op.name in names:
            yield check(op)


def page(found: Sequence[Outcome]) -> str:
    """The table of all outcomes, as Markdown."""
    tested = [outcome for outcome in found if outcome.samples]
    failing = [outcome for outcome in tested if outcome.failure]
    agreeing = len(tested) - len(failing)
    lines = [
        "# PyTorch's samples",
        "",
        "Made by `python test/interop/opinfo.py`: do not edit this page. It calls the methods of",
        "`tg.Tensor` that have the name of an op of PyTorch's table `op_db`, or of an alias of it,",
        f"with its first {SAMPLES} samples of arguments for float32, at the same positions and by",
        "the same keywords. An op agrees if values, shapes and dtypes are PyTorch's.",
        "",
        f"{agreeing} of {len(tested)} ops agree, {100 * agreeing / len(tested):.1f} %, on"
        f" {sum(outcome.samples for outcome in tested)} samples.",
        "",
        "## What does not agree",
        "",
        "| op | sample | reason |",
        "|---|---|---|",
    ]
    for outcome in failing:
        sample, _, problem = (outcome.failure or "").partition(": ")
        lines.append(f"| `{outcome.name}` | `{sample}` | {REASONS.get(outcome.name, problem)} |")
    lines += ["", "## What is called in another way", "", "| op | what is different |", "|---|---|"]
    lines += [f"| `{name}` | {why} |" for name, (_, why) in sorted(SPELLINGS.items())]
    lines += [f"| `{name}` | not called: {why} |" for name, why in OTHERS.items()]
    lines += ["", "## What agrees", ""]
    names = ", ".join(f"`{outcome.name}`" for outcome in tested if not outcome.failure)
    lines += [names, ""]
    return "\n".join(lines)


if __name__ == "__main__":
    every: list[Outcome] = []
    for outcome in outcomes(sys.argv[1:]):
        every.append(outcome)
        print(outcome.name, outcome.samples, outcome.failure or "agrees", flush=True)
    if len(sys.argv) == 1:
        PAGE.write_text(page(every))
