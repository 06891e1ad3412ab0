"""Random programs along an axis of symbolic size, for tensors and for PyTorch's.

A program is a list of steps, each a function of a tensor of (channels, n) that works for all n. The
first extent is 3 or a multiple of it, and the second one goes through slices with steps, windows,
joins and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from parity import torch

import tgdialect as tg

F = torch.nn.functional
Step = Callable[[Any], Any]


def _is_torch(x: Any) -> bool:
    return isinstance(x, torch.Tensor)


def _apart(x: Any) -> Any:
    """The cells without ties, so that maxima and orders are unique."""
    arange = torch.arange if _is_torch(x) else tg.Tensor.arange
    line = arange(x.shape[0] * x.shape[1]).reshape(x.shape)
    return x + (line * 37 % 101) * 0.07


def _joined(*parts: Any) -> Any:
    return torch.cat(parts, 1) if _is_torch(parts[0]) else tg.Tensor.cat(*parts, dim=1)


def _weight(x: Any, out: int, inside: int, size: int) -> Any:
    """A weight of (out, inside, size), the same for both."""
    arange = torch.arange if _is_torch(x) else tg.Tensor.arange
    return ((arange(out * inside * size) * 29 % 17 - 8) * 0.1).reshape((out, inside, size))


def _stepped(random: Random) -> Step:
    step, start = random.choice((2, 3, 4)), random.choice((None, None, 1))
    return lambda x: x[:, start::step]


def _reversed(random: Random) -> Step:
    step = random.choice((1, 2, 3))

    def take(x: Any) -> Any:
        return x.flip(1)[:, ::step] if _is_torch(x) else x[:, ::-step]

    return take


def _rolled(random: Random) -> Step:
    shift = random.choice((1, -1, 5, -7, 23))
    return lambda x: x.roll(shift, 1)


def _padded(random: Random) -> Step:
    mode = random.choice(("constant", "replicate", "circular"))
    before, after = random.choice(((1, 0), (0, 1), (1, 1), (2, 3)))
    if mode == "circular":
        before, after = min(before, 1), min(after, 1)

    def pad(x: Any) -> Any:
        pairs = (before, after)
        return F.pad(x[None], pairs, mode)[0] if _is_torch(x) else x.pad(pairs, mode)

    return pad


def _reflected(random: Random) -> Step:
    """`x` twice has at least two cells."""

    def pad(x: Any) -> Any:
        x = _joined(x, x)
        return F.pad(x[None], (1, 1), "reflect")[0] if _is_torch(x) else x.pad((1, 1), "reflect")

    return pad


def _convolved(random: Random) -> Step:
    size, stride, dilation = (
        random.choice((1, 2, 3)),
        random.choice((1, 2, 3)),
        random.choice((1, 2)),
    )
    padding, groups = dilation * (size - 1), random.choice((1, 3))

    def convolve(x: Any) -> Any:
        w = _weight(x, 3, x.shape[0] // groups, size)
        if _is_torch(x):
            return F.conv1d(x[None], w, None, stride, padding, dilation, groups)[0]
        return x[None].conv2d(w, None, groups, stride, dilation, padding)[0]

    return convolve


def _convolved_back(random: Random) -> Step:
    size, stride = random.choice((1, 2, 3)), random.choice((1, 2))
    more = random.choice((0, stride - 1))

    def convolve(x: Any) -> Any:
        w = _weight(x, x.shape[0], 3, size)
        if _is_torch(x):
            return F.conv_transpose1d(x[None], w, None, stride, 0, more)[0]
        return x[None].conv_transpose2d(w, None, stride=stride, output_padding=more)[0]

    return convolve


def _pooled(random: Random) -> Step:
    size, is_ceil = random.choice((2, 3)), random.choice((True, False))
    stride, kind = random.choice((1, 2, size)), random.choice(("max", "avg"))

    def pool(x: Any) -> Any:
        x = _apart(_joined(x, x, x))
        if _is_torch(x):
            return getattr(F, f"{kind}_pool1d")(x[None], size, stride, 1, ceil_mode=is_ceil)[0]
        return getattr(x, f"{kind}_pool2d")((size,), stride, padding=1, ceil_mode=is_ceil)

    return pool


def _windows(random: Random) -> Step:
    size, step = random.choice((1, 2, 3)), random.choice((1, 2, 3))
    return lambda x: _joined(x, x, x).unfold(1, size, step).sum(-1)


def _ordered(random: Random) -> Step:
    kind = random.choice(("sort", "cummax", "median", "argsort", "topk"))

    def order(x: Any) -> Any:
        x = _apart(x)
        match kind:
            case "sort":
                return x.sort(1)[0]
            case "cummax":
                return x.cummax(1)[0]
            case "median":
                return x - x.median(1)[0].reshape((-1, 1))
            case "topk":
                return x - x.topk(1, 1)[0]
            case _:
                return x.gather(1, x.argsort(1))

    return order


def _accumulated(random: Random) -> Step:
    kind = random.choice(("cumsum", "softmax", "logsumexp", "logcumsumexp", "mean"))

    def accumulate(x: Any) -> Any:
        found = getattr(x, kind)(1)
        return found if found.ndim == 2 else x - found.reshape((-1, 1))

    return accumulate


def _resized(random: Random) -> Step:
    kind = random.choice(("to 5", "to 4, nearest", "times 2", "halves"))

    def resize(x: Any) -> Any:
        size, scale = {"to 5": (5, None), "to 4, nearest": (4, None)}.get(kind, (None, 2.0))
        mode = "nearest" if "nearest" in kind else "linear"
        if kind == "halves":
            x, scale = _joined(x, x), 0.5
        if _is_torch(x):
            return F.interpolate(x[None], size, scale, mode)[0]
        sizes = None if size is None else (size,)
        return x[None].interpolate(sizes, mode, scale_factor=None if scale is None else (scale,))[0]

    return resize


def _squared(random: Random) -> Step:
    """Products, triangles and diagonals of n x n."""
    kind = random.choice(("triangle", "diagonal", "diag", "product"))
    offset = random.choice((-1, 0, 1))

    def square(x: Any) -> Any:
        match kind:
            case "triangle":
                return x @ (x.T @ x).tril(offset)
            case "diagonal":
                return x.sum(0).diag().diagonal().reshape((1, -1)) * x
            case "diag":
                return x @ x[0].diag()
            case _:
                return x @ x.T @ x

    return square


def _split(random: Random) -> Step:
    def split(x: Any) -> Any:
        first, last = x.split([1, x.shape[1] - 1], 1)
        return _joined(last, first * 2)

    return split


def _repeated(random: Random) -> Step:
    kind = random.choice(("repeat", "interleave", "stack", "flat"))

    def repeat(x: Any) -> Any:
        match kind:
            case "repeat":
                return x.repeat(1, 2)
            case "interleave":
                return x.repeat_interleave(2, 1)
            case "stack":
                pair = (x, x * 3)
                pair = torch.stack(pair, 1) if _is_torch(x) else tg.Tensor.stack(*pair, dim=1)
                return pair.reshape((x.shape[0], -1))
            case _:
                return x.flatten().roll(2).reshape(x.shape)

    return repeat


def _written(random: Random) -> Step:
    step, value = random.choice((1, 2, 3)), random.choice((0.5, -1.0))

    def write(x: Any) -> Any:
        new = x.clone()
        new[:, ::step] = x[:, ::step] * value
        return new

    return write


STEPS: Mapping[str, Callable[[Random], Step]] = {
    "step": _stepped,
    "backwards": _reversed,
    "roll": _rolled,
    "pad": _padded,
    "reflect": _reflected,
    "conv": _convolved,
    "conv transpose": _convolved_back,
    "pool": _pooled,
    "unfold": _windows,
    "order": _ordered,
    "running": _accumulated,
    "resize": _resized,
    "square": _squared,
    "split": _split,
    "repeat": _repeated,
    "write": _written,
}


def program(seed: int) -> tuple[list[str], Step]:
    """The names of a program's steps, and the program."""
    random = Random(seed)
    names = [random.choice(tuple(STEPS)) for _ in range(random.randint(1, 3))]
    steps = [STEPS[name](random) for name in names]

    def run(x: Any) -> Any:
        for step in steps:
            x = step(x * 0.5)
        return x

    return names, run
