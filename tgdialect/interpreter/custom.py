"""CUSTOM, CUSTOMFUNCTION and INS: code that is not the dialect's own arithmetic.

It is refused unless the caller allows it, and then runs as the function that the caller registers
(`tgdialect.custom`): by the name or the format of a CUSTOM, the mnemonic of an INS, or the symbol
of a CUSTOMFUNCTION. An INS that a table lists is no such code: `instructions.py` knows what it
does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.exceptions import InterpretationError

from tgdialect.custom import CustomCode, signature_of_call, signature_of_custom
from tgdialect.interpreter.instructions import execute
from tgdialect.ops import tg
from tgdialect.ops.arrays import compute_dtype, numpy_dtype_of
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.ops.properties import dtype_of, tensor
from tgdialect.ops.sorts import SORTS


def run_sort(name: str, source: Array, target: Array) -> None:
    """Sort the last axis of an array into one of as many cells, or fewer."""
    sort = SORTS[name]
    # NumPy's order of narrow floats has no place for NaN.
    keys = source if source.dtype.kind in "biu" else source.astype(np.float64)
    last = source.shape[-1] - 1
    if sort.descending:
        order = last - np.argsort(keys[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    else:
        order = np.argsort(keys, axis=-1, kind="stable")
    order = order[..., : target.shape[-1]]
    target[...] = np.take_along_axis(source, order, -1) if sort.gives_values else order


def allow(custom: CustomCode, what: str) -> None:
    """Refuse what is not the dialect's own arithmetic, unless it is allowed."""
    if not custom.allowed:
        raise InterpretationError(
            f"{what} is executed with allow_custom only (tg-run --allow-custom)"
        )


def run_custom(
    custom: CustomCode, op: tg.CustomOp | tg.InsOp, arrays: Sequence[Array]
) -> Array | None:
    """The result of a CUSTOM or INS, as an array of its dtype; None if it is `!tg.void`. The last
    axes must be the op's shape."""
    if isinstance(op, tg.InsOp) and not op.is_foreign:
        return execute(op, arrays)
    key = op.fmt.data if isinstance(op, tg.CustomOp) else op.mnemonic.data
    call = op.call_of(custom.functions) if isinstance(op, tg.CustomOp) else None
    if call is not None and isinstance(op, tg.CustomOp):
        function = custom.on_arrays(signature_of_custom(op, call))
        dtypes = [compute_dtype(dtype_of(op.arguments[number])) for number in call.order]
        arrays = [np.asarray(arrays[n], to) for n, to in zip(call.order, dtypes, strict=True)]
    else:
        function = _registered(custom, op.name, key)
    value = function(*arrays)
    if isinstance(op.result.type, tg.VoidType):
        return None
    array = np.asarray(value, numpy_dtype_of(op.result))
    shape = tensor(op.result).get_shape()
    last = array.shape[array.ndim - len(shape) :] if array.ndim >= len(shape) else None
    if last is None or any(d not in (s, DYNAMIC_INDEX) for d, s in zip(shape, last, strict=True)):
        raise InterpretationError(f"the function for {op.name} returned {array.shape}, not {shape}")
    return array


def run_custom_function(
    custom: CustomCode, op: tg.CallOp, callee: tg.CustomFunctionOp, arrays: Sequence[Array]
) -> None:
    """CALL a CUSTOMFUNCTION on arrays, some of which it changes."""
    name = callee.sym_name.data
    if name in SORTS and name not in custom.functions:
        run_sort(name, *arrays)
        return
    _registered(custom, callee.name, name)
    signature = signature_of_call(op, callee)
    for array, argument in zip(arrays, signature.arguments, strict=True):
        array.flags.writeable = argument.writes
    custom.on_arrays(signature)(*arrays)


def _registered(custom: CustomCode, op_name: str, key: str) -> Any:
    allow(custom, f'{op_name} "{key}"')
    if (function := custom.functions.get(key)) is None:
        raise InterpretationError(
            f'{op_name} "{key}" has no implementation here; pass one in `custom`'
        )
    return function
