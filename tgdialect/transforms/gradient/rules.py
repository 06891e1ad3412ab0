"""The gradient rule of each op: the gradients of its operands, given that of its result.

For a result y = f(x, ...) and the gradient g of a scalar with respect to y, a rule returns the
gradient with respect to each operand. It returns None for an operand without a gradient: an
integer, a bool, or an operand in which the result is constant. A gradient has the shape of its
operand. Rules of elementwise ops may return the result's shape, which `reverse.py` sums over the
broadcast axes.

Where a function has no derivative the rules follow PyTorch. Two equal operands of MAX get half
each, all maxima of a REDUCE MAX get equal parts, and TRUNC has gradient 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import locate
from tgdialect.ops.attributes import ReduceKind
from tgdialect.ops.dtypes import INDEX, number_attribute
from tgdialect.ops.elementwise import (
    AddOp,
    AndOp,
    CastOp,
    CmpEqOp,
    CmpGeOp,
    CmpLtOp,
    CmpNeOp,
    CosOp,
    DivOp,
    ErfcOp,
    ErfOp,
    Exp2Op,
    Expm1Op,
    ExpOp,
    FmodOp,
    GateOp,
    GeluOp,
    LgammaOp,
    Log1pOp,
    Log2Op,
    Log10Op,
    LogAddExpOp,
    LogOp,
    MaxOp,
    MulAccOp,
    MulOp,
    NegOp,
    OrOp,
    PowOp,
    RecipOp,
    SinOp,
    SoftplusOp,
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
"""The rule of each differentiable op; `reverse.py` handles FUNCTION and CALL."""

_LN2 = math.log(2)
"""ln 2, by which derivatives of EXP2 and LOG2 differ from those of exp and ln."""


def _rule(
    *ops: type[OpT],
) -> Callable[[Callable[[Builder, OpT, SSAValue], Gradients]], Rule]:
    """Register a function as the rule of some ops."""

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
    return g, b.put(NegOp(g))


@_rule(NegOp)
def _neg(b: Builder, op: NegOp, g: SSAValue) -> Gradients:
    return (b.put(NegOp(g)),)


@_rule(MulOp)
def _mul(b: Builder, op: MulOp, g: SSAValue) -> Gradients:
    return b.put(MulOp(g, op.rhs)), b.put(MulOp(g, op.lhs))


@_rule(MulAccOp)
def _mulacc(b: Builder, op: MulAccOp, g: SSAValue) -> Gradients:
    return b.put(MulOp(g, op.rhs)), b.put(MulOp(g, op.lhs)), g


@_rule(RecipOp)
def _recip(b: Builder, op: RecipOp, g: SSAValue) -> Gradients:
    """-g / x^2."""
    square = b.put(MulOp(op.result, op.result))
    return (b.put(NegOp(b.put(MulOp(g, square)))),)


@_rule(DivOp)
def _div(b: Builder, op: DivOp, g: SSAValue) -> Gradients:
    """g / b and -(g / b) * (a / b)."""
    left = b.put(DivOp(g, op.rhs))
    return left, b.put(NegOp(b.put(MulOp(left, op.result))))


@_rule(MaxOp)
def _max(b: Builder, op: MaxOp, g: SSAValue) -> Gradients:
    """Nothing for the smaller operand; all of it for both, if one is NaN."""
    half = b.put(MulOp(g, b.constant(0.5, g)))
    zero = b.constant(0, g)
    shared = b.put(WhereOp(b.put(CmpEqOp(op.lhs, op.rhs)), half, g))
    return tuple(
        b.put(WhereOp(b.put(CmpLtOp(own, other)), zero, shared))
        for own, other in ((op.lhs, op.rhs), (op.rhs, op.lhs))
    )


@_rule(WhereOp)
def _where(b: Builder, op: WhereOp, g: SSAValue) -> Gradients:
    zero = b.constant(0, g)
    taken = b.put(WhereOp(op.condition, g, zero))
    return None, taken, b.put(WhereOp(op.condition, zero, g))


@_rule(CastOp)
def _cast(b: Builder, op: CastOp, g: SSAValue) -> Gradients:
    return (b.put(CastOp(g, tensor(op.source).element_type)),)


@_rule(Exp2Op)
def _exp2(b: Builder, op: Exp2Op, g: SSAValue) -> Gradients:
    scaled = b.put(MulOp(op.result, b.constant(_LN2, g)))
    return (b.put(MulOp(g, scaled)),)


@_rule(Log2Op, Log10Op)
def _log_of_base(b: Builder, op: Log2Op | Log10Op, g: SSAValue) -> Gradients:
    scale = _LN2 if isinstance(op, Log2Op) else math.log(10)
    return (b.put(DivOp(g, b.put(MulOp(op.source, b.constant(scale, g))))),)


@_rule(ExpOp)
def _exp(b: Builder, op: ExpOp, g: SSAValue) -> Gradients:
    return (b.put(MulOp(g, op.result)),)


@_rule(LogOp)
def _log(b: Builder, op: LogOp, g: SSAValue) -> Gradients:
    return (b.put(DivOp(g, op.source)),)


@_rule(Expm1Op)
def _expm1(b: Builder, op: Expm1Op, g: SSAValue) -> Gradients:
    return (b.put(MulOp(g, b.put(ExpOp(op.source)))),)


@_rule(Log1pOp)
def _log1p(b: Builder, op: Log1pOp, g: SSAValue) -> Gradients:
    return (b.put(DivOp(g, b.put(AddOp(op.source, b.constant(1, g))))),)


@_rule(SoftplusOp)
def _softplus(b: Builder, op: SoftplusOp, g: SSAValue) -> Gradients:
    return (b.put(MulOp(g, b.put(GateOp(b.constant(1, g), op.source)))),)


@_rule(LogAddExpOp)
def _logaddexp(b: Builder, op: LogAddExpOp, g: SSAValue) -> Gradients:
    """g s and g (1 - s) with s = 1 / (1 + e^-(lhs - rhs)), half of it for equal infinities. The
    smaller of s and 1 - s is computed, so that both have all digits."""
    zero, one = b.constant(0, g), b.constant(1, g)
    t = b.put(SubOp(op.lhs, op.rhs))
    t = b.put(WhereOp(b.put(CmpEqOp(op.lhs, op.rhs)), zero, t))
    is_negative = b.put(CmpLtOp(t, zero))
    smaller = b.put(GateOp(one, b.put(WhereOp(is_negative, t, b.put(NegOp(t))))))
    greater = b.put(SubOp(one, smaller))
    return tuple(
        b.put(MulOp(g, b.put(WhereOp(is_negative, *shares))))
        for shares in ((smaller, greater), (greater, smaller))
    )


@_rule(LgammaOp)
def _lgamma(b: Builder, op: LgammaOp, g: SSAValue) -> Gradients:
    return None, g


@_rule(FmodOp)
def _fmod(b: Builder, op: FmodOp, g: SSAValue) -> Gradients:
    """g and -g times the whole quotient."""
    quotient = b.put(TruncOp(b.put(DivOp(op.lhs, op.rhs))))
    return g, b.put(NegOp(b.put(MulOp(g, quotient))))


@_rule(SinOp)
def _sin(b: Builder, op: SinOp, g: SSAValue) -> Gradients:
    return (b.put(MulOp(g, b.put(CosOp(op.source)))),)


@_rule(CosOp)
def _cos(b: Builder, op: CosOp, g: SSAValue) -> Gradients:
    return (b.put(NegOp(b.put(MulOp(g, b.put(SinOp(op.source)))))),)


@_rule(ErfOp, ErfcOp)
def _erf(b: Builder, op: ErfOp | ErfcOp, g: SSAValue) -> Gradients:
    """2 / sqrt(pi) exp(-x^2), or less than 0 of ERFC; it is 0 for infinite x."""
    exponent = b.put(NegOp(b.put(MulOp(op.source, op.source))))
    greatest = math.copysign(2 / math.sqrt(math.pi), 1 if isinstance(op, ErfOp) else -1)
    slope = b.put(MulOp(b.put(ExpOp(exponent)), b.constant(greatest, g)))
    return (b.put(MulOp(g, slope)),)


@_rule(GateOp)
def _gate(b: Builder, op: GateOp, g: SSAValue) -> Gradients:
    """g s and g x s (1 - s) with s = 1 / (1 + e^-t). The smaller of s and 1 - s is computed, so
    that both have all digits."""
    one, x, t = b.constant(1, g), op.factor, op.argument
    is_negative = b.put(CmpLtOp(t, b.constant(0, g)))
    smaller = b.put(GateOp(one, b.put(WhereOp(is_negative, t, b.put(NegOp(t))))))
    greater = b.put(SubOp(one, smaller))
    factor = b.put(MulOp(g, b.put(WhereOp(is_negative, smaller, greater))))
    slope = b.put(MulOp(smaller, b.put(MulOp(greater, x))))
    argument = b.put(MulOp(g, slope))
    return factor, argument, *[argument for _ in op.operands[2:]]


@_rule(GeluOp)
def _gelu(b: Builder, op: GeluOp, g: SSAValue) -> Gradients:
    """g (P(Z < x) + x times the density of Z at x)."""
    x, half = op.source, b.constant(0.5, g)
    scaled = b.put(MulOp(x, b.constant(-math.sqrt(0.5), g)))
    share = b.put(MulOp(b.put(ErfcOp(scaled)), half))
    exponent = b.put(NegOp(b.put(MulOp(b.put(MulOp(x, x)), half))))
    height = b.put(MulOp(x, b.constant(1 / math.sqrt(2 * math.pi), g)))
    slope = b.put(MulAccOp(b.put(ExpOp(exponent)), height, share))
    return (b.put(MulOp(g, slope)),)


@_rule(SqrtOp)
def _sqrt(b: Builder, op: SqrtOp, g: SSAValue) -> Gradients:
    twice = b.put(MulOp(op.result, b.constant(2, g)))
    return (b.put(DivOp(g, twice)),)


@_rule(PowOp)
def _pow(b: Builder, op: PowOp, g: SSAValue) -> Gradients:
    """b a^(b - 1), which is 0 for b = 0, and a^b ln a, which is 0 for a = 0 and b >= 0."""
    zero = b.constant(0, g)
    less = b.put(PowOp(op.lhs, b.put(SubOp(op.rhs, b.constant(1, g)))))
    slope = b.put(MulOp(g, b.put(MulOp(op.rhs, less))))
    base = b.put(WhereOp(b.put(CmpEqOp(op.rhs, zero)), zero, slope))
    growth = b.put(MulOp(g, b.put(MulOp(op.result, b.put(LogOp(op.lhs))))))
    at_zero = b.put(AndOp(b.put(CmpEqOp(op.lhs, zero)), b.put(CmpGeOp(op.rhs, zero))))
    return base, b.put(WhereOp(at_zero, zero, growth))


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
    return (b.put(PermuteOp(g, sorted(range(len(order)), key=order.__getitem__))),)


@_rule(FlipOp)
def _flip(b: Builder, op: FlipOp, g: SSAValue) -> Gradients:
    return (b.put(op.rebuild((g,))),)


@_rule(PadOp)
def _pad(b: Builder, op: PadOp, g: SSAValue) -> Gradients:
    offsets, _ = window(op)
    inside = ShrinkOp(g, b.known(offsets), b.known(shape_of(op.source)))
    return _first(op, b.put(inside))


@_rule(ShrinkOp)
def _shrink(b: Builder, op: ShrinkOp, g: SSAValue) -> Gradients:
    offsets, _ = window(op)
    fill = number_attribute(0, tensor(g).element_type)
    whole = PadOp(g, b.known(offsets), b.known(shape_of(op.source)), fill)
    return _first(op, b.put(whole))


@_rule(StackOp)
def _stack(b: Builder, op: StackOp, g: SSAValue) -> Gradients:
    shape = b.known(shape_of(op.sources[0]))
    none = (0,) * len(shape)
    return [
        b.reshaped(b.put(ShrinkOp(g, (i, *none), (1, *shape))), shape)
        for i in range(len(op.sources))
    ]


@_rule(IndexOp)
def _index(b: Builder, op: IndexOp, g: SSAValue) -> Gradients:
    """Add the gradient of each read to the cell that was read.

    This is the specification's scatter_add: a sum over one-hot masks, axis by axis.
    """
    whole = b.known(shape_of(op.source))
    zero = b.constant(0, g)
    for axis, index in enumerate(op.indices):
        size, shape = whole[axis], shape_of(g)
        positions = b.positions(size)
        # Compare in the dtype of the index, unless positions would wrap in it.
        if isinstance(size, int) and size - 1 <= dtype_of(index).high:
            positions = b.put(CastOp(positions, tensor(index).element_type))
        else:
            index = b.put(CastOp(index, INDEX))
        # A scalar index reads one position: no sum, only a mask. The axes after it are those of
        # `g`, which lacks those of the scalar indices to come.
        if not shape_of(index):
            positions = b.reshaped(positions, (size, *(1,) * (len(shape) - axis)))
            mask = b.put(CmpEqOp(index, positions))
            lined = b.reshaped(g, (*shape[:axis], 1, *shape[axis:]))
            g = b.put(WhereOp(mask, lined, zero))
            continue
        # A vector of indices: compare each with each position, and sum over the reads.
        after = shape[axis + 1 :]
        column = b.reshaped(index, (shape[axis], 1, *(1,) * len(after)))
        row = b.reshaped(positions, (1, size, *(1,) * len(after)))
        lined = b.reshaped(g, (*shape[: axis + 1], 1, *after))
        hits = b.put(WhereOp(b.put(CmpEqOp(column, row)), lined, zero))
        total = b.put(ReduceOp(ReduceKind.ADD, hits, [axis]))
        g = b.reshaped(total, (*shape[:axis], size, *after))
    return _first(op, g)


def _first(op: Operation, gradient: SSAValue) -> Gradients:
    """The gradients of an op whose first operand is the only one with a gradient."""
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
            greatest = b.put(CmpEqOp(x, op.result))
            ones = b.put(CastOp(greatest, tensor(g).element_type))
            count = b.put(ReduceOp(ReduceKind.ADD, ones, _axes(op)))
            return (b.put(WhereOp(greatest, b.put(DivOp(g, count)), zero)),)
        case ReduceKind.MUL:
            return (_product(b, op, g, wide, zero),)


def _product(b: Builder, op: ReduceOp, g: SSAValue, wide: SSAValue, zero: SSAValue) -> SSAValue:
    """The gradient of REDUCE MUL: for each factor the product of the other factors, times g.

    If one factor is 0, only that factor has a gradient other than 0. If two are 0, all gradients
    are 0. An infinite factor makes the gradients of all other factors infinite, and 0 becomes NaN.
    """
    # Classify the factors.
    # A dtype without infinities has NaN here, which nothing is equal to.
    highest = math.inf if math.isinf(dtype_of(g).high) else math.nan
    one, infinity, x = b.constant(1, g), b.constant(highest, g), op.source
    is_zero = b.put(CmpEqOp(x, zero))
    is_below = b.put(CmpEqOp(x, b.constant(-highest, g)))
    is_infinite = b.put(OrOp(b.put(CmpEqOp(x, infinity)), is_below))

    def among_others(condition: SSAValue) -> SSAValue:
        """For each factor, whether the condition holds for one of the other factors."""
        ones = b.put(CastOp(condition, tensor(g).element_type))
        count = b.put(ReduceOp(ReduceKind.ADD, ones, _axes(op)))
        return b.put(CmpNeOp(count, ones))

    # Replace zeros by 1 and infinities by their sign. Then the product of the other factors is the
    # product of all factors divided by this one.
    sign = b.put(WhereOp(is_below, b.constant(-1, g), one))
    filled = b.put(WhereOp(is_zero, one, b.put(WhereOp(is_infinite, sign, x))))
    product = b.put(MulOp(b.put(ReduceOp(ReduceKind.MUL, filled, _axes(op))), g))
    quotient = b.put(DivOp(product, filled))
    # Put back the infinities and zeros of the other factors.
    has_infinity = among_others(is_infinite)
    infinite = b.put(MulOp(quotient, infinity))
    at_zero = b.put(WhereOp(has_infinity, b.constant(math.nan, g), zero))
    elsewhere = b.put(WhereOp(has_infinity, infinite, quotient))
    return b.put(WhereOp(among_others(is_zero), at_zero, elsewhere))


def _axes(op: ReduceOp) -> Sequence[int]:
    return integers(op, "axes")


# -- memory --------------------------------------------------------------------------------------


@_rule(ContiguousOp)
def _same(b: Builder, op: ContiguousOp, g: SSAValue) -> Gradients:
    return (g,)


@_rule(ContiguousBackwardOp)
def _contiguous(b: Builder, op: ContiguousBackwardOp, g: SSAValue) -> Gradients:
    return (b.put(ContiguousOp(g)),)


@_rule(CopyOp)
def _copy(b: Builder, op: CopyOp, g: SSAValue) -> Gradients:
    return (b.moved(g, place(op.source)),)


@_rule(ReplicatedOp)
def _replicated(b: Builder, op: ReplicatedOp, g: SSAValue) -> Gradients:
    """The gradient goes to the first shard. The other shards are copies with gradient 0."""
    whole, axis = b.known(shape_of(op.source)), op.axis.data
    lined = b.reshaped(g, (*whole[:axis], 1, *whole[axis + 1 :]))
    fill = number_attribute(0, tensor(g).element_type)
    first = b.put(PadOp(lined, (0,) * len(whole), whole, fill))
    return (b.moved(first, place(op.source)),)


@_rule(LoadOp)
def _load(b: Builder, op: LoadOp, g: SSAValue) -> Gradients:
    """The gradient goes to the buffer where the gate is true, and to `alt` elsewhere."""
    if op.device is not None:
        g = b.moved(g, place(op.buffer))
    if op.gate is None:
        return (g,)
    zero = b.constant(0, g)
    taken = b.put(WhereOp(op.gate, g, zero))
    return taken, b.put(WhereOp(op.gate, zero, g)), None


@_rule(AfterOp)
def _after(b: Builder, op: AfterOp, g: SSAValue) -> Gradients:
    """An AFTER that sees no write equals its buffer; `memory.py` handles all others."""
    return _first(op, g)
