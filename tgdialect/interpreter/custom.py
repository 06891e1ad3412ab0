"""CUSTOM, CUSTOMFUNCTION and INS: code that is not the dialect's own arithmetic.

It is refused unless the caller allows it, and then runs as the Python function that the caller gives
for it: by a CUSTOM's format, an INS's mnemonic, or the symbol of a CUSTOMFUNCTION.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from xdsl.utils.exceptions import InterpretationError

CustomFunction = Callable[..., Any]
"""Takes one NumPy array per argument.

Of a CUSTOM or INS it returns the array of the result, or None for `!tg.void`; in a kernel the
arrays have leading axes that stand for loops and broadcast. Of a CUSTOMFUNCTION it changes the arrays
of memory arguments in place.
"""


@dataclass(frozen=True)
class CustomCode:
    """Whether custom code is allowed, and what it is."""

    allowed: bool = False
    functions: Mapping[str, CustomFunction] = field(default_factory=dict[str, CustomFunction])

    def function(self, op_name: str, key: str) -> CustomFunction:
        """The Python function that stands for `key`; an error where there is none."""
        if not self.allowed:
            raise InterpretationError(
                f'{op_name} "{key}" is refused: custom code runs only with allow_custom'
            )
        if (function := self.functions.get(key)) is None:
            raise InterpretationError(
                f'{op_name} "{key}" has no implementation here; pass one in `custom`'
            )
        return function
