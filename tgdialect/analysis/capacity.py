"""The greatest number of elements of a buffer of dynamic shape: the size of its storage."""

from __future__ import annotations

from xdsl.ir import SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.min_max import MinMax
from tgdialect.diagnostics import locate
from tgdialect.ops import tg
from tgdialect.ops.properties import shape_of

_UNBOUNDED = 2**63 - 1
"""The greatest i64: an extent with this maximum counts as unbounded."""


def most_elements(buffer: tg.BufferOp, intervals: MinMax) -> int:
    """The product of the greatest extents.

    Raises PassFailedException, located at the buffer, where an extent has no known maximum.
    """
    elements = 1
    for extent in shape_of(buffer.result):
        most = extent if isinstance(extent, int) else None
        if isinstance(extent, SSAValue):
            most = int(max(intervals[extent].hi, 0))
        if most is None or most >= _UNBOUNDED:
            message = (
                f"no bound is known for the size of {buffer.result.type}: its dynamic dimensions "
                "need a {tg.max}"
            )
            raise locate(PassFailedException(message), buffer)
        elements *= most
    return elements
