"""`Variable`, and `UOp.variable`, which is the same."""

from __future__ import annotations

from collections.abc import Mapping

import tgdialect as tg
from tgdialect.frontend.symbolic import Atom, SymInt
from tinygrad_shim.internals import Internal

Variable = tg.Variable


class _UOp(Internal):
    """tinygrad's UOp, of which only variables are public."""

    variable = staticmethod(Variable)

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, SymInt)


UOp = _UOp("UOp")


def sym_infer(size: int | SymInt, values: Mapping[str, int]) -> int:
    """A size for the values of variables by their names."""
    if isinstance(size, int):
        return size
    return size.substituted(
        {a: Atom(a.variable, values[a.variable.name]) for a in size.atoms}
    ).value


def extend_variable() -> None:
    """Give our variables tinygrad's name for the name."""
    Variable.expr = property(lambda self: self.name)  # pyright: ignore
