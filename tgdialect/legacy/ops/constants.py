"""Constants."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute
from xdsl.irdl import AnyAttr, operand_def, prop_def

from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.legacy.base import PureOp
from tgdialect.legacy.ops.indexing import ViewOp
from tgdialect.legacy.rules import made_by, producer, require
from tgdialect.ops.base import VOID_EDGE
from tgdialect.ops.dtypes import check_representable
from tgdialect.ops.properties import dtype_of, number


@op_definition
class ConstOp(PureOp):
    """CONST (view), value: a constant of a shape, on a device.

    Arguments: the value.
    Sources: a VIEW of a DEVICE. A CONST without a source is `tg.const`.
    Stage: all.
    Becomes: `tg.const`, expanded to the shape of the view, and copied to the device.

    `%2 = tg_legacy.const 1.5 : tensor<4x4xf32, #tg.place<"CPU">> on %view`
    """

    name = "tg_legacy.const"

    value = prop_def(AnyAttr())
    view = operand_def(VOID_EDGE)

    assembly_format = "custom<Constant>($value, type($result)) `on` $view attr-dict"

    def verify_rule(self) -> None:
        rule = "the source of a CONST is a VIEW of a DEVICE, not "
        view = made_by(self.view, ViewOp, rule)
        require(view.device is not None, f"{rule}{producer(self.view)}")
        check_representable(dtype_of(self.result), number(self.value))


@op_definition
class VConstOp(PureOp):
    """VCONST (), values: a vector of constants.

    Arguments: the values.
    Sources: none.
    Stage: all.
    Becomes: `tg.stack` of constants; `tg.vconst` for a vector of indices.

    `%0 = tg_legacy.vconst [1.0, 2.0] : tensor<2xf32>`
    """

    name = "tg_legacy.vconst"

    values = prop_def(ArrayAttr[Attribute])

    assembly_format = "custom<Numbers>($values, type($result)) attr-dict"

    def verify_rule(self) -> None:
        for value in self.values:
            check_representable(dtype_of(self.result), number(value))
