"""CUSTOM, CUSTOMFUNCTION and INS: code that is not the dialect's own arithmetic.

It is refused unless the caller allows it, and then runs as the Python function that the caller
gives for it: by a CUSTOM's format, an INS's mnemonic, or the symbol of a CUSTOMFUNCTION. An INS
that a table lists is no such code: `instructions.py` knows what it does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.exceptions import InterpretationError

from tgdialect.interpreter.instructions import execute
from tgdialect.ops.arrays import Data, numpy_dtype_of
from tgdialect.ops.attributes import VOID
from tgdialect.ops.codegen import CustomOp, InsOp
from tgdialect.ops.properties import tensor

CustomFunction = Callable[..., Any]
"""Takes one NumPy array per argument.

Of a CUSTOM or INS it returns the array of the result, or None for `!tg.void`; in a kernel the
arrays have leading axes that stand for loops and broadcast. Of a CUSTOMFUNCTION it changes the
arrays of memory arguments in place.
"""


def _result(op: CustomOp | InsOp, value: Any) -> Data:
    """A function's result as an array of the op's dtype. The last axes must be the op's shape."""
    array = np.asarray(value, numpy_dtype_of(op.result))
    shape = tensor(op.result).get_shape()
    last = array.shape[array.ndim - len(shape) :] if array.ndim >= len(shape) else None
    if last is None or any(d not in (s, DYNAMIC_INDEX) for d, s in zip(shape, last, strict=True)):
        raise InterpretationError(f"the function for {op.name} returned {array.shape}, not {shape}")
    return array


@dataclass(frozen=True)
class CustomCode:
    """Whether custom code is allowed, and the Python functions that implement it."""

    allowed: bool = False
    functions: Mapping[str, CustomFunction] = field(default_factory=dict[str, CustomFunction])

    def allow(self, what: str) -> None:
        """Refuse what is not the dialect's own arithmetic, unless it is allowed."""
        if not self.allowed:
            raise InterpretationError(f"{what} is refused: it is executed only with allow_custom")

    def function(self, op_name: str, key: str) -> CustomFunction:
        """The Python function that stands for `key`; an error where there is none."""
        self.allow(f'{op_name} "{key}"')
        if (function := self.functions.get(key)) is None:
            raise InterpretationError(
                f'{op_name} "{key}" has no implementation here; pass one in `custom`'
            )
        return function

    def value(self, op: CustomOp | InsOp, operands: Sequence[Data]) -> Data | None:
        """The result of a CUSTOM or INS; None for `!tg.void`."""
        if isinstance(op, InsOp) and not op.is_foreign:
            return execute(op, operands)
        key = op.fmt.data if isinstance(op, CustomOp) else op.mnemonic.data
        value = self.function(op.name, key)(*operands)
        return None if op.result.type == VOID else _result(op, value)
