"""The table of ATen ops: a rule for each overload that programs have."""

from __future__ import annotations

from tgdialect.interop.torch.ops.bessel import BESSEL
from tgdialect.interop.torch.ops.complex_numbers import COMPLEX as COMPLEX
from tgdialect.interop.torch.ops.control import CONTROL
from tgdialect.interop.torch.ops.creation import CREATION
from tgdialect.interop.torch.ops.elementwise import ELEMENTWISE
from tgdialect.interop.torch.ops.gamma import GAMMA
from tgdialect.interop.torch.ops.histograms import HISTOGRAMS
from tgdialect.interop.torch.ops.indexing import INDEXING
from tgdialect.interop.torch.ops.linalg import LINALG
from tgdialect.interop.torch.ops.movement import MOVEMENT
from tgdialect.interop.torch.ops.neural import NEURAL
from tgdialect.interop.torch.ops.products import PRODUCTS
from tgdialect.interop.torch.ops.reduction import REDUCTION
from tgdialect.interop.torch.ops.special import SPECIAL
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
    **BESSEL,
    **GAMMA,
    **SPECIAL,
    **HISTOGRAMS,
    **CONTROL,
}
