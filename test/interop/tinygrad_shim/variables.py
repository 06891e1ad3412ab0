"""`Variable`, and `UOp.variable`, which is the same."""

from __future__ import annotations

import tgdialect as tg
from tinygrad_shim.internals import Internal

Variable = tg.Variable


class _UOp(Internal):
    """tinygrad's UOp, of which only variables are public."""

    variable = staticmethod(Variable)


UOp = _UOp("UOp")
