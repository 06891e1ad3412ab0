"""The gradient of each op: what its operands get, given what its result gets.

For a result y = f(x, ...) and the gradient g of a scalar with respect to y, a rule gives the
gradient with respect to each operand, or None for one that has none: an integer, a bool, or what
the result is constant in. A gradient is of its operand's shape, but rules of elementwise ops leave
that to `reverse.py`, which sums over what was broadcast.

Where a function has no derivative this takes what PyTorch does: half for each of two equal operands
of MAX, equal parts for all that REDUCE MAX finds, 0 for TRUNC.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import locate
from tgdialect.ops.attributes import ReduceKind
from tgdialect.ops.dtypes import number_attribute
from tgdialect.ops.elementwise import (
    AddOp,
    AndOp,
    CastOp,
    CmpEqOp,
    CmpGeOp,
    CmpLtOp,
    CmpNeOp,
    DivOp,
    Exp2Op,
    Log2Op,
    MaxOp,
    MulAccOp,
    MulOp,
    NegOp,
    OrOp,
    PowOp,
    RecipOp,
    SinOp,
    SqrtOp,
    SubOp,
    TruncOp,
    WhereOp,
)
from tgdialect.ops.marker import ContiguousBackwardOp, ContiguousOp, DetachOp
from tgdialect.ops.memory import CopyOp, LoadOp
from tgdialect.ops.movement import (
    BitcastOp,
    ExpandOp,
    FlipOp,
    IndexOp,
    PadOp,
    PermuteOp,
    ReshapeOp,
    ShrinkOp,
    StackOp,
)
from tgdialect.ops.multi import ReplicatedOp
from tgdialect.ops.ordering import AfterOp
from tgdialect.ops.properties import (
    dtype_of,
    integers,
    place,
    shape_of,
    tensor,
    window,
)
from tgdialect.ops.reduce import ReduceOp
from tgdialect.transforms.gradient.builder import Builder

Gradients = Sequence[SSAValue | None]
Rule = Callable[[Builder, Any, SSAValue], Gradients]
OpT = TypeVar("OpT", bound=Operation)

_RULES: dict[type[Operation], Rule] = {}
RULES: Mapping[type[Operation], Rule] = _RULES
"""The rule of each op that has one; those of FUNCTION and CALL are in `reverse.py`."""

_LN2 = math.log(2)


def _rule(
    *ops: type[OpT],
) -> Callable[[Callable[[Builder, OpT, SSAValue], Gradients]], Rule]:
    def register(function: Callable[[Builder, OpT, SSAValue], Gradients]) -> Rule:
        for op in ops:
            _RULES[op] = function
        return function

    return register


# -- elementwise ---------------------------------------------------------------------------------


@_rule(AddOp)
def _add(b: Builder, op: AddOp, g: SSAValue) -> Gradients:
    return g, g


@_rule(SubOp)
def _sub(b: Builder, op: SubOp, g: SSAValue) -> Gradients:
    return g, b.insert(NegOp(g))


@_rule(NegOp)
def _neg(b: Builder, op: NegOp, g: SSAValue) -> Gradients:
    return (b.insert(NegOp(g)),)


@_rule(MulOp)
def _mul(b: Builder, op: MulOp, g: SSAValue) -> Gradients:
    return b.insert(MulOp(g, op.rhs)), b.insert(MulOp(g, op.lhs))


@_rule(MulAccOp)
def _mulacc(b: Builder, op: MulAccOp, g: SSAValue) -> Gradients:
    return b.insert(MulOp(g, op.rhs)), b.insert(MulOp(g, op.lhs)), g


@_rule(RecipOp)
def _recip(b: Builder, op: RecipOp, g: SSAValue) -> Gradients:
    """-g / x^2."""
    square = b.insert(MulOp(op.result, op.result))
    return (b.insert(NegOp(b.insert(MulOp(g, square)))),)


@_rule(DivOp)
def _div(b: Builder, op: DivOp, g: SSAValue) -> Gradients:
    """g / b and -(g / b) * (a / b)."""
    left = b.insert(DivOp(g, op.rhs))
    return left, b.insert(NegOp(b.insert(MulOp(left, op.result))))


@_rule(MaxOp)
def _max(b: Builder, op: MaxOp, g: SSAValue) -> Gradients:
    half = b.insert(MulOp(g, b.constant(0.5, g)))
    zero = b.constant(0, g)
    shared = b.insert(WhereOp(b.insert(CmpEqOp(op.lhs, op.rhs)), half, zero))
    return tuple(
        b.insert(WhereOp(b.insert(CmpLtOp(low, high)), g, shared))
        for low, high in ((op.rhs, op.lhs), (op.lhs, op.rhs))
    )


@_rule(WhereOp)
def _where(b: Builder, op: WhereOp, g: SSAValue) -> Gradients:
    zero = b.constant(0, g)
    taken = b.insert(WhereOp(op.condition, g, zero))
    return None, taken, b.insert(WhereOp(op.condition, zero, g))


@_rule(CastOp)
def _cast(b: Builder, op: CastOp, g: SSAValue) -> Gradients:
    return (b.insert(CastOp(g, tensor(op.source).element_type)),)


@_rule(Exp2Op)
def _exp2(b: Builder, op: Exp2Op, g: SSAValue) -> Gradients:
    scaled = b.insert(MulOp(op.result, b.constant(_LN2, g)))
    return (b.insert(MulOp(g, scaled)),)


@_rule(Log2Op)
def _log2(b: Builder, op: Log2Op, g: SSAValue) -> Gradients:
    scaled = b.insert(MulOp(op.source, b.constant(_LN2, g)))
    return (b.insert(DivOp(g, scaled)),)


@_rule(SinOp)
def _sin(b: Builder, op: SinOp, g: SSAValue) -> Gradients:
    """cos x = 1 - 2 sin^2 (x / 2): half of x is exact, a quarter turn more of it would not be."""
    half = b.insert(SinOp(b.insert(MulOp(op.source, b.constant(0.5, g)))))
    square = b.insert(MulOp(half, half))
    twice = b.insert(MulOp(square, b.constant(2, g)))
    return (b.insert(MulOp(g, b.insert(SubOp(b.constant(1, g), twice)))),)


@_rule(SqrtOp)
def _sqrt(b: Builder, op: SqrtOp, g: SSAValue) -> Gradients:
    twice = b.insert(MulOp(op.result, b.constant(2, g)))
    return (b.insert(DivOp(g, twice)),)


@_rule(PowOp)
def _pow(b: Builder, op: PowOp, g: SSAValue) -> Gradients:
    """b a^(b - 1), which is 0 for b = 0, and a^b ln a, which is 0 for a = 0 and b >= 0."""
    zero = b.constant(0, g)
    less = b.insert(PowOp(op.lhs, b.insert(SubOp(op.rhs, b.constant(1, g)))))
    slope = b.insert(MulOp(g, b.insert(MulOp(op.rhs, less))))
    base = b.insert(WhereOp(b.insert(CmpEqOp(op.rhs, zero)), zero, slope))
    logarithm = b.insert(MulOp(b.insert(Log2Op(op.lhs)), b.constant(_LN2, g)))
    growth = b.insert(MulOp(g, b.insert(MulOp(op.result, logarithm))))
    at_zero = b.insert(AndOp(b.insert(CmpEqOp(op.lhs, zero)), b.insert(CmpGeOp(op.rhs, zero))))
    return base, b.insert(WhereOp(at_zero, zero, growth))


@_rule(TruncOp, DetachOp)
def _constant(b: Builder, op: TruncOp | DetachOp, g: SSAValue) -> Gradients:
    return (None,) * len(op.operands)


# -- movement ------------------------------------------------------------------------------------


@_rule(ReshapeOp)
def _reshape(b: Builder, op: ReshapeOp, g: SSAValue) -> Gradients:
    return _first(op, b.reshaped(g, shape_of(op.source)))


@_rule(ExpandOp)
def _expand(b: Builder, op: ExpandOp, g: SSAValue) -> Gradients:
    return _first(op, b.summed_to(g, shape_of(op.source)))


@_rule(PermuteOp)
def _permute(b: Builder, op: PermuteOp, g: SSAValue) -> Gradients:
    order = integers(op, "order")
    return (b.insert(PermuteOp(g, sorted(range(len(order)), key=order.__getitem__))),)


@_rule(FlipOp)
def _flip(b: Builder, op: FlipOp, g: SSAValue) -> Gradients:
    return (b.insert(op.rebuild((g,))),)


@_rule(PadOp)
def _pad(b: Builder, op: PadOp, g: SSAValue) -> Gradients:
    offsets, _ = window(op)
    inside = ShrinkOp(g, b.known(offsets), b.known(shape_of(op.source)))
    return _first(op, b.insert(inside))


@_rule(ShrinkOp)
def _shrink(b: Builder, op: ShrinkOp, g: SSAValue) -> Gradients:
    offsets, _ = window(op)
    fill = number_attribute(0, tensor(g).element_type)
    whole = PadOp(g, b.known(offsets), b.known(shape_of(op.source)), fill)
    return _first(op, b.insert(whole))


@_rule(StackOp)
def _stack(b: Builder, op: StackOp, g: SSAValue) -> Gradients:
    shape = b.known(shape_of(op.sources[0]))
    none = (0,) * len(shape)
    return [
        b.reshaped(b.insert(ShrinkOp(g, (i, *none), (1, *shape))), shape)
        for i in range(len(op.sources))
    ]


@_rule(IndexOp)
def _index(b: Builder, op: IndexOp, g: SSAValue) -> Gradients:
    """Each cell gets the sum over the places that have read it: one-hot masks, as the specification
    writes scatter_add."""
    whole = b.known(shape_of(op.source))
    zero = b.constant(0, g)
    for axis, index in enumerate(op.indices):
        size, shape = whole[axis], shape_of(g)
        positions = b.insert(CastOp(b.positions(size), tensor(index).element_type))
        rest = len(whole) - axis - 1
        positions = b.reshaped(positions, (size, *(1,) * rest))
        if not shape_of(index):
            mask = b.insert(CmpEqOp(index, positions))
            lined = b.reshaped(g, (*shape[:axis], 1, *shape[axis:]))
            g = b.insert(WhereOp(mask, lined, zero))
            continue
        after = shape[axis + 1 :]
        column = b.reshaped(index, (shape[axis], 1, *(1,) * len(after)))
        row = b.reshaped(positions, (1, size, *(1,) * len(after)))
        lined = b.reshaped(g, (*shape[: axis + 1], 1, *after))
        hits = b.insert(WhereOp(b.insert(CmpEqOp(column, row)), lined, zero))
        total = b.insert(ReduceOp(ReduceKind.ADD, hits, [axis]))
        g = b.reshaped(total, (*shape[:axis], size, *after))
    return _first(op, g)


def _first(op: Operation, gradient: SSAValue) -> Gradients:
    return (gradient, *(None,) * (len(op.operands) - 1))


@_rule(BitcastOp)
def _bitcast(b: Builder, op: BitcastOp, g: SSAValue) -> Gradients:
    if tensor(op.source).element_type == tensor(op.result).element_type:
        return (g,)
    old, new = dtype_of(op.source).name, dtype_of(op.result).name
    raise locate(PassFailedException(f"a BITCAST from {old} to {new} has no gradient"), op)


# -- reductions ----------------------------------------------------------------------------------


@_rule(ReduceOp)
def _reduce(b: Builder, op: ReduceOp, g: SSAValue) -> Gradients:
    if op.ranges:
        raise locate(PassFailedException("a REDUCE over RANGEs has no gradient"), op)
    shape, x = shape_of(op.source), op.source
    wide = b.expanded(g, shape)
    zero = b.constant(0, g)
    match op.kind.data:
        case ReduceKind.ADD:
            return (wide,)
        case ReduceKind.MAX:
            greatest = b.insert(CmpEqOp(x, op.result))
            ones = b.insert(CastOp(greatest, tensor(g).element_type))
            count = b.insert(ReduceOp(ReduceKind.ADD, ones, _axes(op)))
            return (b.insert(WhereOp(greatest, b.insert(DivOp(g, count)), zero)),)
        case ReduceKind.MUL:
            return (_product(b, op, g, wide, zero),)


def _product(b: Builder, op: ReduceOp, g: SSAValue, wide: SSAValue, zero: SSAValue) -> SSAValue:
    """The product of all others: with one factor 0, only that has a gradient, with two none has.
    Infinite factors are infinite for all others."""
    one, infinity, x = b.constant(1, g), b.constant(math.inf, g), op.source
    is_zero = b.insert(CmpEqOp(x, zero))
    is_below = b.insert(CmpEqOp(x, b.constant(-math.inf, g)))
    is_infinite = b.insert(OrOp(b.insert(CmpEqOp(x, infinity)), is_below))

    def among_others(condition: SSAValue) -> SSAValue:
        """Whether one of the other factors meets a condition."""
        ones = b.insert(CastOp(condition, tensor(g).element_type))
        count = b.insert(ReduceOp(ReduceKind.ADD, ones, _axes(op)))
        return b.insert(CmpNeOp(count, ones))

    # Without zeros and infinities, of which the sign stays, the quotient is the product of others.
    sign = b.insert(WhereOp(is_below, b.constant(-1, g), one))
    filled = b.insert(WhereOp(is_zero, one, b.insert(WhereOp(is_infinite, sign, x))))
    product = b.insert(MulOp(b.insert(ReduceOp(ReduceKind.MUL, filled, _axes(op))), g))
    quotient = b.insert(DivOp(product, filled))
    has_infinity = among_others(is_infinite)
    infinite = b.insert(MulOp(quotient, infinity))
    at_zero = b.insert(WhereOp(has_infinity, b.constant(math.nan, g), zero))
    elsewhere = b.insert(WhereOp(has_infinity, infinite, quotient))
    return b.insert(WhereOp(among_others(is_zero), at_zero, elsewhere))


def _axes(op: ReduceOp) -> Sequence[int]:
    return integers(op, "axes")


# -- memory --------------------------------------------------------------------------------------


@_rule(ContiguousOp)
def _same(b: Builder, op: ContiguousOp, g: SSAValue) -> Gradients:
    return (g,)


@_rule(ContiguousBackwardOp)
def _contiguous(b: Builder, op: ContiguousBackwardOp, g: SSAValue) -> Gradients:
    return (b.insert(ContiguousOp(g)),)


@_rule(CopyOp)
def _copy(b: Builder, op: CopyOp, g: SSAValue) -> Gradients:
    return (b.moved(g, place(op.source)),)


@_rule(ReplicatedOp)
def _replicated(b: Builder, op: ReplicatedOp, g: SSAValue) -> Gradients:
    """The value is its first shard; the others are copies, whose gradients are 0."""
    whole, axis = b.known(shape_of(op.source)), op.axis.data
    lined = b.reshaped(g, (*whole[:axis], 1, *whole[axis + 1 :]))
    fill = number_attribute(0, tensor(g).element_type)
    first = b.insert(PadOp(lined, (0,) * len(whole), whole, fill))
    return (b.moved(first, place(op.source)),)


@_rule(LoadOp)
def _load(b: Builder, op: LoadOp, g: SSAValue) -> Gradients:
    """LOAD: the gradient where the gate is true goes to the buffer, elsewhere to `alt`."""
    if op.device is not None:
        g = b.moved(g, place(op.buffer))
    if op.gate is None:
        return (g,)
    zero = b.constant(0, g)
    taken = b.insert(WhereOp(op.gate, g, zero))
    return taken, b.insert(WhereOp(op.gate, zero, g)), None


@_rule(AfterOp)
def _after(b: Builder, op: AfterOp, g: SSAValue) -> Gradients:
    """An AFTER that sees no write is its buffer; `memory.py` has the others."""
    return _first(op, g)
