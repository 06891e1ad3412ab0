"""`min_max`: the interval of values that a value can take.

Each op's rule is a column of the table in `ops/properties/table.py`; this walks the graph for it.
Intervals never exclude a value that the interpreter can produce.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, BlockArgument, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.analysis.validity import Validity
from tgdialect.diagnostics import locate
from tgdialect.ops import tg
from tgdialect.ops.intervals import constant, dtype_range
from tgdialect.ops.properties import Row, rule_of

_MAKING_MEMORY = frozenset({"tg.copy", "tg.contiguous"})


class MinMax(tg.Computed[tg.Interval]):
    """Intervals of values, computed on demand and cached per value.

    The cache is right for as long as the ops it has seen do not change; a pass that rewrites in
    place drops it, or the values it touched, with `forget`.
    """

    def __init__(self, assumed: Mapping[SSAValue, tg.Interval] = {}) -> None:
        """`assumed` are intervals that hold wherever the answers are used, such as under a gate."""
        super().__init__(assumed)
        self._validity = Validity()

    def _sources(self, value: SSAValue) -> Iterable[SSAValue]:
        return tg.operands_of(value) if isinstance(rule_of(value.owner), Row) else ()

    def _compute(self, value: SSAValue) -> tg.Interval:
        owner = value.owner
        if not isinstance(owner, tg.TgOp) and isinstance(owner, Block):
            return _argument_range(value)
        row = rule_of(owner)
        if not isinstance(row, Row):
            return _type_range(value)
        interval = row.min_max(owner, [self._known[o] for o in owner.operands])
        if owner.name in _MAKING_MEMORY and not self._validity[owner.operands[0]]:
            # An invalid cell that is made into memory is 0.
            interval = interval.union(constant(0))
        return interval

    def forget(self, value: SSAValue) -> None:
        """Drop the interval of a value whose operands have changed."""
        self._known.pop(value, None)


class MinMaxOfCells(MinMax):
    """Intervals where a condition with axes holds, as one on the lanes of a vector.

    It says of each cell what holds in that cell alone. So the result of an op that is not
    elementwise, which may read other cells, has the interval that it has without the condition.
    """

    def __init__(self, assumed: Mapping[SSAValue, tg.Interval], outer: MinMax) -> None:
        """`assumed` are intervals under the condition, and `outer` those without it."""
        super().__init__(assumed)
        self._outer = outer

    def _compute(self, value: SSAValue) -> tg.Interval:
        if isinstance(value.owner, tg.ElementwiseOp):
            return super()._compute(value)
        return self._outer[value]


def _type_range(value: SSAValue) -> tg.Interval:
    if isinstance(value.type, TensorType) and (
        dtype := tg.DTYPES.get(tg.tensor(value).element_type)
    ):
        return dtype_range(dtype)
    return constant(0)  # `!tg.void` has no elements.


def _argument_range(value: SSAValue) -> tg.Interval:
    """A function's index argument may carry its bounds."""
    result = _type_range(value)
    attributes = tg.argument_attributes(cast(BlockArgument, value))
    low = tg.integer_attribute(attributes, "tg.min")
    high = tg.integer_attribute(attributes, "tg.max")
    return tg.Interval(
        result.lo if low is None else low, result.hi if high is None else high, nan=result.nan
    )


def keeps_integer(op: tg.CastOp, intervals: MinMax) -> bool:
    """Whether a CAST of an integer to an integer keeps every value that it may have."""
    dtype = tg.dtype_of(op.result)
    is_integer = dtype.is_integer and tg.dtype_of(op.source).is_integer
    return is_integer and intervals[op.source].within(dtype.low, dtype.high)


UNBOUNDED = tg.DTYPES[tg.INDEX].high
"""The greatest i64: an extent with this maximum counts as unbounded."""


def most_elements(buffer: tg.BufferOp, intervals: MinMax) -> int:
    """The product of the greatest extents.

    Raises PassFailedException, located at the buffer, where an extent has no known maximum.
    """
    elements = 1
    for extent in tg.shape_of(buffer.result):
        most = extent if isinstance(extent, int) else None
        if isinstance(extent, SSAValue):
            most = int(max(intervals[extent].hi, 0))
        if most is None or most >= UNBOUNDED:
            message = (
                f"no bound is known for the size of {buffer.result.type}: its dynamic dimensions "
                "need a {tg.max}"
            )
            raise locate(PassFailedException(message), buffer)
        elements *= most
    return elements
