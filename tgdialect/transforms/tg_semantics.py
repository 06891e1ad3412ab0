"""The semantics of recipes that builds ops."""

from __future__ import annotations

from typing import cast

from xdsl.ir import SSAValue

from tgdialect.ops import tg
from tgdialect.ops.elementwise import OPS
from tgdialect.transforms.recipe import Dtype, RecipeValue

Tg = RecipeValue[SSAValue]
"""A value of the IR in a recipe."""


class TgSemantics:
    """Builds tg ops, in the order in which a recipe applies them. Equal constants are one op."""

    def __init__(self, builder: tg.UniquingBuilder) -> None:
        self._builder = builder

    def constant(self, value: int | float, dtype: Dtype) -> SSAValue:
        return self._builder.emit(tg.ConstOp, tg.number_attribute(value, tg.TYPES[dtype]))

    def apply(self, primitive: str, operands: tuple[SSAValue, ...], dtype: Dtype) -> SSAValue:
        match primitive:
            case "cast":
                return self._builder.put(tg.CastOp(operands[0], tg.TYPES[dtype]))
            case "bitcast":
                return self._builder.put(tg.BitcastOp(operands[0], tg.TYPES[dtype]))
            case _:
                return self._builder.put(OPS[f"tg.{primitive}"](*operands))

    def value(self, handle: SSAValue) -> Tg:
        """A value of the IR."""
        return RecipeValue(self, handle, cast(Dtype, tg.dtype_of(handle).name))
