"""constants, ranges, random numbers."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from typing import Any

import numpy as np

from tgdialect.interop.onnx.rules import Call, Rules, raw
from tgdialect.interop.onnx.values import Refused
from tgdialect.ops.numpy_dtypes import Array

_DTYPES = {"value_int": np.int64, "value_ints": np.int64} | {
    "value_float": np.float32,
    "value_floats": np.float32,
}


def _constant(_: Call, **attributes: Any) -> Array:
    ((name, value),) = attributes.items()
    if name in ("value", "sparse_value"):
        return value
    if name not in _DTYPES:
        raise Refused("strings are not supported")
    return np.array(value, _DTYPES[name])


RULES: Rules = {"Constant": {1: raw(_constant)}}
