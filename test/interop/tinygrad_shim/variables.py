"""`Variable`, and `UOp.variable`, which is the same."""

from __future__ import annotations

import tgdialect as tg
from tgdialect.frontend.symbolic import SymInt
from tinygrad_shim.internals import Internal

Variable = tg.Variable


class _UOp(Internal):
    """tinygrad's UOp, of which only variables are public."""

    variable = staticmethod(Variable)

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, SymInt)


UOp = _UOp("UOp")
