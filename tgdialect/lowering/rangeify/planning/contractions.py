"""Which reductions are long, which are products of matrices, and what surrounds a product; and the
masks of one-hot sums (`analysis/one_hot.py`), which fusion never stores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xdsl.ir import Operation, SSAValue

from tgdialect.analysis.affine.positions import loops_of, trips_of
from tgdialect.analysis.one_hot import paths_to_comparisons
from tgdialect.analysis.parts import REPAID
from tgdialect.lowering.rangeify.planning.demand import Demand, Demands
from tgdialect.ops import tg
from tgdialect.ops.reduce import ALU


def is_long(demands: Demands, op: tg.ReduceOp) -> bool:
    """Whether a reduction is worth a buffer of its result: a shorter one counts as elementwise
    work, which is cheap enough to be computed again (a 2x2 pool, a small dot product)."""
    steps = all_elements(demands, op, op.source).trips
    return steps > REPAID * all_elements(demands, op, op.result).trips


def all_elements(demands: Demands, root: Operation, value: SSAValue) -> Demand:
    """The demand for a value in a new loop for each of its axes."""
    return Demand(root, value, demands.loops(tg.shape_of(value)))


def summed_product(op: tg.ReduceOp) -> tg.MulOp | None:
    """The product that a reduction sums, whose axes RESHAPEs may have divided into parts."""
    owner = tg.behind(op.source, tg.ReshapeOp).owner
    return owner if isinstance(owner, tg.MulOp) else None


def is_product(demands: Demands, op: tg.ReduceOp) -> bool:
    """Whether a reduction is a product of matrices or a convolution: it multiplies two operands,
    and each element of either is used for several results."""
    if summed_product(op) is None:
        return False
    product = all_elements(demands, op, op.source)
    while not isinstance(product.value.owner, tg.MulOp):
        (product,) = demands.operands(product)
    for factor in demands.operands(product):
        while isinstance(factor.value.owner, tg.MovementOp):
            factor = next(iter(demands.operands(factor)))
        if len(factor.depends) == len(product.depends):
            return False
    return True


def has_narrow_factor(product: tg.ReduceOp) -> bool:
    """Whether an operand of a product has elements of 16 bits or less before it is converted: what
    matrix instructions take."""
    factors = summed_product(product)
    assert factors is not None
    values = list(factors.operands)
    for factor in factors.operands:
        values += (op.operands[0] for op in tg.through(factor, tg.MovementOp, tg.CastOp))
    return any(tg.dtype_of(value).itemsize <= 2 for value in values)


def is_contraction(demands: Demands, reductions: Iterable[Demand], row: Demand) -> bool:
    """Whether filling the buffer of `row` runs a long reduction for each of its elements."""
    elements = trips_of(row.depends)
    return any(
        demand.trips >= elements
        and next(iter(demands.operands(demand))).trips > REPAID * demand.trips
        for demand in reductions
    )


def only_users(op: Operation) -> Iterator[Operation]:
    """The elementwise ops, and the views of as many cells, through which alone a result is used, in
    order."""
    while len(users := {*tg.users_of(op)}) == 1:
        (user,) = users
        if isinstance(user, tg.ElementwiseOp):
            if tg.tensor(user.result).get_shape() != tg.shape_of(op.results[0]):
                return
        elif not isinstance(user, tg.ReshapeOp | tg.PermuteOp | tg.FlipOp):
            return
        yield user
        op = user


def epilogue(op: Operation) -> Sequence[Operation]:
    """An op and the elementwise ops through which alone its result is used, in order."""
    return [op, *(user for user in only_users(op) if isinstance(user, tg.ElementwiseOp))]


def whole_total(op: tg.ReduceOp) -> Operation:
    """The total of a reduction and of values that need no other reduction, as the sum of both, or
    the maximum."""
    last: Operation = op
    for user in only_users(op):
        if isinstance(user, tg.ElementwiseOp):
            others = [
                tg.behind(v, tg.MovementOp).owner for v in user.operands if v is not last.results[0]
            ]
            if not isinstance(user, ALU[op.kind.data]) or any(
                isinstance(each, tg.ReduceOp) for each in others
            ):
                break
        last = user
    return last


def one_hot_mask(
    demands: Demands, op: tg.ReduceOp, constants: set[Operation]
) -> frozenset[Operation]:
    """The ops of the one-hot mask of a sum, from its operand to the comparison; empty if it has
    none.

    One side of the comparison depends on the axis and on no memory. The other side does not depend
    on the axis.
    """
    paths = list(paths_to_comparisons(op))
    if op.kind.data is not tg.ReduceKind.ADD or not paths:
        return frozenset()
    index = demands.loops(tg.shape_of(op.source))
    along = loops_of(*(index[axis] for axis in tg.integers(op, "axes")))
    for path in paths:
        demand = Demand(op, op.source, index)
        for owner in path[1:]:
            demand = next(d for d in demands.operands(demand) if d.value.owner is owner)
        left, right = demands.operands(demand)
        for one, other in ((left, right), (right, left)):
            changes, others = (loops_of(*each.at) for each in (one, other))
            # It counts along the axis, and nothing is unknown when the kernel is compiled.
            if one.value.owner in constants and along & changes and not along & others:
                return frozenset(path)
    return frozenset()
