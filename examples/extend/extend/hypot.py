"""The dialect `ext`, of one elementwise op."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Dialect
from xdsl.irdl import traits_def
from xdsl.traits import Commutative

from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.ops.elementwise import BinaryOp, Domain
from tgdialect.ops.properties import TABLE, Rules


@op_definition
class HypotOp(BinaryOp):
    """The square root of a² + b², which overflows only if the result does; NaN if either is NaN.

    `%2 = ext.hypot %0, %1 : tensor<4xf32>`
    """

    name = "ext.hypot"
    traits = traits_def(Commutative())
    DOMAIN: ClassVar[Domain] = Domain.FLOAT
    RULES: ClassVar[Rules] = {"ext.hypot": TABLE["tg.pow"]}  # Its type follows from these rules.


EXT = Dialect("ext", [HypotOp])
