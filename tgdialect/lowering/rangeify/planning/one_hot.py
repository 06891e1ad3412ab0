"""The masks of one-hot sums (`analysis/one_hot.py`), which fusion never stores."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.affine.positions import depends_of
from tgdialect.analysis.one_hot import paths_to_comparisons
from tgdialect.lowering.rangeify.planning.demand import Demand, Demands
from tgdialect.ops import tg
from tgdialect.ops.properties import integers, shape_of


def one_hot_mask(
    demands: Demands, op: tg.ReduceOp, constants: set[Operation]
) -> frozenset[Operation]:
    """The ops of the one-hot mask of a sum, from its operand to the comparison; empty if it has
    none.

    One side of the comparison depends on the axis and on no memory. The other side does not depend
    on the axis.
    """
    if not (paths := list(paths_to_comparisons(op))):
        return frozenset()
    index = demands.loops(shape_of(op.source))
    along = {loop for loop, _ in depends_of(*(index[axis] for axis in integers(op, "axes")))}
    for path in paths:
        demand = Demand(op, op.source, index)
        for owner in path[1:]:
            demand = next(d for d in demands.operands(demand) if d.value.owner is owner)
        left, right = demands.operands(demand)
        if any(
            _counts(one, along, constants) and not along & {d[0] for d in other.depends}
            for one, other in ((left, right), (right, left))
        ):
            return frozenset(path)
    return frozenset()


def _counts(demand: Demand, along: Iterable[object], constants: set[Operation]) -> bool:
    """Whether a value depends on an axis, and on nothing that is unknown when the kernel is
    compiled."""
    value: SSAValue = demand.value
    return value.owner in constants and bool(set(along) & {d[0] for d in demand.depends})
