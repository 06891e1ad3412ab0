"""The `tg` dialect."""

from __future__ import annotations

from xdsl.ir import Dialect

from tgdialect.ops.families import ATTRIBUTES, OPERATIONS
from tgdialect.ops.folding import ConstantMaterialization
from tgdialect.ops.instructions import INSTRUCTIONS
from tgdialect.targets import MOST
from tgdialect.targets.attribute import TargetAttr
from tgdialect.targets.instructions import signatures

TG = Dialect("tg", OPERATIONS, [*ATTRIBUTES, TargetAttr], [ConstantMaterialization()])
"""Every op, type and attribute of the dialect."""

INSTRUCTIONS.update(signatures(MOST.values()))
