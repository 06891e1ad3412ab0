"""Gradients of programs, next to finite differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from expression import Array
from reproduced import Failed
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from tgdialect.interpreter import run
from tgdialect.ops.attributes import is_tensor
from tgdialect.ops.dtypes import dtype_row
from tgdialect.registry import make_context
from tgdialect.transforms.gradient import GradientPass

STEP = 2.0**-18
"""Of finite differences, whose error is about its square and 1e-16 divided by it."""
_NARROW = {"bf16", "f16", "f32", "f8E4M3FN", "f8E5M2"}


def gradient_difference(
    primal: ModuleOp, arrays: Sequence[Array], weights: Sequence[Array], found: Sequence[Array]
) -> str:
    """The gradient of a sum of a program's float results, weighed, that has another shape than the
    argument, or is not as finite differences say, where all floats are f64 and the program is
    smooth. Nothing if all are right."""
    function = next(op for op in primal.ops if isinstance(op, FuncOp))
    wrt = [i for i, a in enumerate(arrays) if _is_float(a)]
    gradients = found[: len(wrt)]
    for i, gradient in zip(wrt, gradients, strict=True):
        if gradient.shape != arrays[i].shape or gradient.dtype != arrays[i].dtype:
            return f"the gradient of argument {i} has shape {gradient.shape}"
    ops = [*primal.walk()]
    values = [*function.args, *(r for op in ops for r in op.results)]
    floats = {dtype_row(v.type.element_type).name for v in values if is_tensor(v.type)} & _NARROW
    if floats or any(op.name == "tg.detach" for op in ops) or not wrt:
        return ""
    rng = np.random.default_rng(len(ops))
    along = {i: rng.normal(size=arrays[i].shape) for i in wrt}

    at = partial(_weighed, primal, function.sym_name.data, arrays, weights, along)
    low, middle, high = at(-STEP), at(0), at(STEP)
    slopes = np.array([middle - low, high - middle, at(STEP / 2) - at(-STEP / 2)]) / STEP
    slope = float(sum((g * along[i]).sum() for i, g in zip(wrt, gradients, strict=True)))
    scale = 1e-4 * (1 + abs(slopes[2])) + 1e-9 * abs(middle) / STEP
    is_smooth = np.isfinite(slopes).all() and np.ptp(slopes) < scale
    is_wrong = is_smooth and abs(slopes[2] - slope) > 10 * scale
    return f"the gradient along some direction is {slope}, not {slopes[2]}" if is_wrong else ""


def wrong_gradient(module: ModuleOp, inputs: Sequence[Array]) -> str:
    """How `tg-gradient` is wrong about the function of a module; nothing if it is right."""
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    name = function.sym_name.data
    results = [r for r in run(module, name, inputs) if _is_float(r)]
    weights = [np.random.default_rng(i).normal(size=r.shape) for i, r in enumerate(results)]
    weights = [w.astype(r.dtype) for w, r in zip(weights, results, strict=True)]
    copy = module.clone()
    GradientPass(name).apply(make_context(), copy)
    count = len(function.args)
    gradients = run(copy, f"{name}_gradient", [*inputs[:count], *weights, *inputs[count:]])
    said = gradient_difference(module, inputs, weights, gradients)
    return said and f"differs: {said}"


def failed_gradient(
    made: str, primal: ModuleOp, inputs: Sequence[Array], message: str
) -> Failed | None:
    """A program whose gradient is wrong; None if finite differences do not say so."""
    command = lambda *_: "tg-opt -p tg-gradient"  # noqa: E731
    failed = Failed(made, primal, inputs, message, wrong_gradient, command=command)
    return failed if failed.shows() else None


def _weighed(
    primal: ModuleOp,
    entry: str,
    arrays: Sequence[Array],
    weights: Sequence[Array],
    along: Mapping[int, Array],
    step: float,
) -> float:
    """The weighed sum of a program's float results, a step along a direction away."""
    given = [a + step * along[i] if i in along else a.copy() for i, a in enumerate(arrays)]
    results = [r for r in run(primal, entry, given) if _is_float(r)]
    with np.errstate(all="ignore"):
        return float(sum((r * w).sum() for r, w in zip(results, weights, strict=True)))


def _is_float(array: Array) -> bool:
    return array.dtype.kind not in "biu"
