"""The meaning of a program and of its gradient function: slopes along random directions.

`tg-gradient` adds a function and changes no results: by these, nothing it does is wrong. What the
function has to compute is known without it, from the results at inputs that are moved a little.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, f64
from xdsl.dialects.func import FuncOp
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import InterpretationError

from tgdialect.actions.compare import first_difference
from tgdialect.actions.execution import Evaluate, evaluate
from tgdialect.actions.reduce.program import Reducible
from tgdialect.actions.reduce.steps import as_arguments
from tgdialect.actions.reduce.tg_steps import compute_in
from tgdialect.lowering.levels import level_of
from tgdialect.ops import tg
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.transforms.gradient import SUFFIX

_DIRECTIONS = 3
"""Along how many directions each input is moved. More: fewer wrong gradients have the right slopes
by chance, or slopes near 0, which roundings change; fewer: fewer runs of the program."""
_STEP = 1e-6
"""By how much inputs are moved, relative to them. Larger: curvature counts as a wrong slope;
smaller: roundings of f64 do, which are 1e-10 of a result then."""
_SMOOTH = 1e-3
"""By how much slopes before and behind the inputs may differ, relative to them. More than curvature
does in a step: there is a kink or a jump, where a program has no gradient."""


@dataclass(frozen=True)
class Sloped:
    """An `Evaluate`: the results and inputs that `run` gives, and for each float input the slopes
    of a weighted sum of the results along some directions, in its dtype and of shape (directions,).

    The slopes are those of the gradient function if there is one, and else differences, computed in
    f64. `arguments` is how many arguments the function has that is differentiated: in its gradient
    function, PARAMs come after the gradients of results. Raises InterpretationError where a program
    has no gradient, or other results in f64.
    """

    run: Evaluate
    arguments: int

    def __call__(self, module: ModuleOp, entry: str, inputs: Sequence[Any]) -> list[Any]:
        found = self.run(module, entry, inputs)
        results = found[: len(found) - len(inputs)]
        name = f"{entry}{SUFFIX}"
        if SymbolTable.lookup_symbol(module, name) is None:
            return [*found, *_differences(module, entry, inputs, results)]
        weights = [_noise(value, 0).astype(value.dtype) for value in _floats(results)]
        function = SymbolTable.lookup_symbol(module, entry)
        count = self.arguments
        if isinstance(function, FuncOp) and level_of(module) == "tensor":
            count = len(function.args)
        given = [*inputs[:count], *weights, *inputs[count:]]
        gradients = self.run(module, name, given)[: len(_floats(inputs))]
        return [*found, *map(_along_directions, gradients)]


def _along_directions(gradient: Any) -> Array:
    """The slopes that a gradient is."""
    array = np.asarray(gradient)
    wide = array.astype(np.float64)
    slopes = [np.sum(wide * _noise(array, 1 + i)) for i in range(_DIRECTIONS)]
    return np.array(slopes).astype(array.dtype)


def _differences(
    module: ModuleOp, entry: str, inputs: Sequence[Any], results: Sequence[Any]
) -> list[Array]:
    """The slopes of a program, by its results in f64 at inputs that are moved."""
    arrays = [v.astype(np.float64) if _is_float(v) else v for v in map(np.asarray, inputs)]
    program = Reducible(module.clone(), entry, arrays, None, evaluate)
    try:
        for dtype, row in tg.DTYPES.items():
            if row.is_float and dtype != f64:
                compute_in(program, dtype, f64)
        # Inputs have been converted. What is detached stays as it is.
        program.inputs = [*arrays]
        detached = [op.result for op in program.module.walk() if isinstance(op, tg.DetachOp)]
        as_arguments(program, detached)
        program.finish()
        program.verify()
    except Exception as error:  # An op or an attribute that is about another dtype.
        raise InterpretationError("the program cannot be computed in f64") from error
    wide = program.inputs

    def total(moved: Sequence[Any]) -> float:
        found = evaluate(program.module, entry, moved)[: len(results)]
        return math.fsum(float(np.sum(v * _noise(v, 0))) for v in _floats(found))

    found = evaluate(program.module, entry, wide)[: len(results)]
    types = [np.asarray(value).dtype for value in results]
    narrow = [np.asarray(v).astype(type) for v, type in zip(found, types, strict=True)]
    if first_difference(narrow, results) is not None:
        raise InterpretationError("the program has other results in f64")
    here, slopes = total(wide), list[Array]()
    for number, value in enumerate(wide):
        if not _is_float(value) or not any(value is array for array in arrays):
            continue
        step = _STEP * max(1.0, float(np.max(np.abs(value), initial=0.0)))
        along: list[float] = []
        for direction in range(_DIRECTIONS):
            move = step * _noise(value, 1 + direction)
            after, before = (
                total([*wide[:number], value + sign * move, *wide[number + 1 :]])
                for sign in (1, -1)
            )
            slope, least = (after - before) / (2 * step), 1e-9 * abs(here) / step
            if not abs(after - 2 * here + before) <= step * (_SMOOTH * abs(slope) + least):
                raise InterpretationError("the program has no gradient at its inputs")
            along.append(slope)
        slopes.append(np.array(along))
    types = [array.dtype for array in _floats(inputs)]
    return [array.astype(type) for array, type in zip(slopes, types, strict=True)]


def _noise(value: Any, seed: int) -> Array:
    """Numbers of 0.5 to 1.5, with signs, that only the shape and the seed decide; f64."""
    random = np.random.default_rng(seed)
    shape = np.shape(value)
    return random.uniform(0.5, 1.5, shape) * random.choice([-1.0, 1.0], shape)


def _floats(values: Sequence[Any]) -> list[Array]:
    return [array for array in map(np.asarray, values) if _is_float(array)]


def _is_float(value: Any) -> bool:
    return np.asarray(value).dtype.kind in "fV"
