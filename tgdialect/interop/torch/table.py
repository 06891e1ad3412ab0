"""The table of ATen ops: a rule for each overload that programs have."""

from __future__ import annotations

from tgdialect.interop.torch.ops.control import CONTROL
from tgdialect.interop.torch.ops.creation import CREATION
from tgdialect.interop.torch.ops.elementwise import ELEMENTWISE
from tgdialect.interop.torch.ops.indexing import INDEXING
from tgdialect.interop.torch.ops.linalg import LINALG
from tgdialect.interop.torch.ops.movement import MOVEMENT
from tgdialect.interop.torch.ops.neural import NEURAL
from tgdialect.interop.torch.ops.products import PRODUCTS
from tgdialect.interop.torch.ops.reduction import REDUCTION
from tgdialect.interop.torch.rules import Table

TABLE: Table = {
    **ELEMENTWISE,
    **REDUCTION,
    **MOVEMENT,
    **INDEXING,
    **CREATION,
    **PRODUCTS,
    **LINALG,
    **NEURAL,
    **CONTROL,
}
