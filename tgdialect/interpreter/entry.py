"""`run`: execute an entry of a module on arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from tgdialect.custom import CustomCode, CustomFunction
from tgdialect.diagnostics import errors_at
from tgdialect.interpreter.calls import CALLEES
from tgdialect.interpreter.run_context import RunContext, symbol_of, write_back
from tgdialect.interpreter.signature import bind, signature
from tgdialect.ops.numpy_dtypes import Array


def run(
    module: ModuleOp,
    entry: str = "main",
    inputs: Sequence[Any] = (),
    *,
    allow_custom: bool = False,
    custom: Mapping[str, CustomFunction] | None = None,
    buffers: dict[int, Array] | None = None,
    scalar: bool = False,
) -> list[Array]:
    """Execute a function, kernel or program of `module`.

    `inputs` are NumPy arrays (or Python numbers, for scalars) for the arguments that are not
    `{tg.output}`, `{tg.workspace}` or `{tg.buffer}`, then for the PARAMs of a `func.func` by slot.
    An array that is memory and that the program stores to is changed in place. `buffers` holds the
    contents of global BUFFERs by slot, changed in place too; the others begin as zeros.
    `scalar` runs kernels one iteration at a time (`scalar.py`), which defines what the faster lanes
    compute.

    Returns the function's results, then its outputs (those in inputs, too), in the dtypes of
    `ops/arrays.py`. Raises InterpretationError, with one line that says what is wrong and located
    at the op, for inputs that do not fit, a race or a cycle between stores and reads, and custom
    code that has no implementation in `custom` (`tgdialect.custom`; by the name or format of a
    CUSTOM, a mnemonic, or a symbol) or is not allowed. Raises ValueError for functions in `custom`
    without `allow_custom`.
    """
    callee = symbol_of(module, entry)
    buffers = {} if buffers is None else buffers
    with errors_at(callee):
        params = signature(callee)
        arrays = bind(params, inputs, buffers)
    context = RunContext(CALLEES, CustomCode(allow_custom, custom or {}), buffers, scalar)
    arguments = len(callee.body.block.args) if isinstance(callee, func.FuncOp) else len(arrays)
    # Overflow, division by zero and NaN have their meaning in the dialect; none is an error.
    with np.errstate(all="ignore"):
        outcome = context.call(callee, arrays[:arguments], arrays[arguments:])
    with errors_at(callee):
        write_back(
            (param.label, array, content.data)
            for param, array, content in zip(params, arrays, outcome.contents, strict=True)
            if content is not None
        )
    outputs = [a for p, a in zip(params, arrays, strict=True) if p.is_output]
    overwritten = {p.result: a for p, a in zip(params, arrays, strict=True) if p.result is not None}
    for number in sorted(overwritten):
        outputs.insert(number, overwritten[number])
    return [*outcome.results, *outputs]
