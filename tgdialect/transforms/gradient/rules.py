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
from tgdialect.ops import tg
from tgdialect.ops.dtypes import INDEX, number_attribute
from tgdialect.ops.properties import (
    dtype_of,
    integers,
    place,
    shape_of,
    tensor,
    window,
)
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


@_rule(tg.AddOp)
def _add(b: Builder, op: tg.AddOp, g: SSAValue) -> Gradients:
    return g, g


@_rule(tg.SubOp)
def _sub(b: Builder, op: tg.SubOp, g: SSAValue) -> Gradients:
    return g, b.put(tg.NegOp(g))


@_rule(tg.NegOp)
def _neg(b: Builder, op: tg.NegOp, g: SSAValue) -> Gradients:
    return (b.put(tg.NegOp(g)),)


@_rule(tg.MulOp)
def _mul(b: Builder, op: tg.MulOp, g: SSAValue) -> Gradients:
    return b.put(tg.MulOp(g, op.rhs)), b.put(tg.MulOp(g, op.lhs))


@_rule(tg.MulAccOp)
def _mulacc(b: Builder, op: tg.MulAccOp, g: SSAValue) -> Gradients:
    return b.put(tg.MulOp(g, op.rhs)), b.put(tg.MulOp(g, op.lhs)), g


@_rule(tg.RecipOp)
def _recip(b: Builder, op: tg.RecipOp, g: SSAValue) -> Gradients:
    """-g / x^2."""
    square = b.put(tg.MulOp(op.result, op.result))
    return (b.put(tg.NegOp(b.put(tg.MulOp(g, square)))),)


@_rule(tg.DivOp)
def _div(b: Builder, op: tg.DivOp, g: SSAValue) -> Gradients:
    """g / b and -(g / b) * (a / b)."""
    left = b.put(tg.DivOp(g, op.rhs))
    return left, b.put(tg.NegOp(b.put(tg.MulOp(left, op.result))))


@_rule(tg.MaxOp)
def _max(b: Builder, op: tg.MaxOp, g: SSAValue) -> Gradients:
    """Nothing for the smaller operand; all of it for both, if one is NaN."""
    half = b.put(tg.MulOp(g, b.constant(0.5, g)))
    zero = b.constant(0, g)
    shared = b.put(tg.WhereOp(b.put(tg.CmpEqOp(op.lhs, op.rhs)), half, g))
    return tuple(
        b.put(tg.WhereOp(b.put(tg.CmpLtOp(own, other)), zero, shared))
        for own, other in ((op.lhs, op.rhs), (op.rhs, op.lhs))
    )


@_rule(tg.WhereOp)
def _where(b: Builder, op: tg.WhereOp, g: SSAValue) -> Gradients:
    zero = b.constant(0, g)
    taken = b.put(tg.WhereOp(op.condition, g, zero))
    return None, taken, b.put(tg.WhereOp(op.condition, zero, g))


@_rule(tg.CastOp)
def _cast(b: Builder, op: tg.CastOp, g: SSAValue) -> Gradients:
    return (b.put(tg.CastOp(g, tensor(op.source).element_type)),)


@_rule(tg.Exp2Op)
def _exp2(b: Builder, op: tg.Exp2Op, g: SSAValue) -> Gradients:
    scaled = b.put(tg.MulOp(op.result, b.constant(_LN2, g)))
    return (b.put(tg.MulOp(g, scaled)),)


@_rule(tg.Log2Op, tg.Log10Op)
def _log_of_base(b: Builder, op: tg.Log2Op | tg.Log10Op, g: SSAValue) -> Gradients:
    scale = _LN2 if isinstance(op, tg.Log2Op) else math.log(10)
    return (b.put(tg.DivOp(g, b.put(tg.MulOp(op.source, b.constant(scale, g))))),)


@_rule(tg.ExpOp)
def _exp(b: Builder, op: tg.ExpOp, g: SSAValue) -> Gradients:
    return (b.put(tg.MulOp(g, op.result)),)


@_rule(tg.LogOp)
def _log(b: Builder, op: tg.LogOp, g: SSAValue) -> Gradients:
    return (b.put(tg.DivOp(g, op.source)),)


@_rule(tg.Expm1Op)
def _expm1(b: Builder, op: tg.Expm1Op, g: SSAValue) -> Gradients:
    return (b.put(tg.MulOp(g, b.put(tg.ExpOp(op.source)))),)


@_rule(tg.Log1pOp)
def _log1p(b: Builder, op: tg.Log1pOp, g: SSAValue) -> Gradients:
    return (b.put(tg.DivOp(g, b.put(tg.AddOp(op.source, b.constant(1, g))))),)


@_rule(tg.SoftplusOp)
def _softplus(b: Builder, op: tg.SoftplusOp, g: SSAValue) -> Gradients:
    return (b.put(tg.MulOp(g, b.put(tg.GateOp(b.constant(1, g), op.source)))),)


@_rule(tg.LogAddExpOp)
def _logaddexp(b: Builder, op: tg.LogAddExpOp, g: SSAValue) -> Gradients:
    """g s and g (1 - s) with s = 1 / (1 + e^-(lhs - rhs)), half of it for equal infinities. The
    smaller of s and 1 - s is computed, so that both have all digits."""
    zero, one = b.constant(0, g), b.constant(1, g)
    t = b.put(tg.SubOp(op.lhs, op.rhs))
    t = b.put(tg.WhereOp(b.put(tg.CmpEqOp(op.lhs, op.rhs)), zero, t))
    is_negative = b.put(tg.CmpLtOp(t, zero))
    smaller = b.put(tg.GateOp(one, b.put(tg.WhereOp(is_negative, t, b.put(tg.NegOp(t))))))
    greater = b.put(tg.SubOp(one, smaller))
    return tuple(
        b.put(tg.MulOp(g, b.put(tg.WhereOp(is_negative, *shares))))
        for shares in ((smaller, greater), (greater, smaller))
    )


@_rule(tg.LgammaOp)
def _lgamma(b: Builder, op: tg.LgammaOp, g: SSAValue) -> Gradients:
    return None, g


@_rule(tg.FmodOp)
def _fmod(b: Builder, op: tg.FmodOp, g: SSAValue) -> Gradients:
    """g and -g times the whole quotient."""
    quotient = b.put(tg.TruncOp(b.put(tg.DivOp(op.lhs, op.rhs))))
    return g, b.put(tg.NegOp(b.put(tg.MulOp(g, quotient))))


@_rule(tg.SinOp)
def _sin(b: Builder, op: tg.SinOp, g: SSAValue) -> Gradients:
    return (b.put(tg.MulOp(g, b.put(tg.CosOp(op.source)))),)


@_rule(tg.CosOp)
def _cos(b: Builder, op: tg.CosOp, g: SSAValue) -> Gradients:
    return (b.put(tg.NegOp(b.put(tg.MulOp(g, b.put(tg.SinOp(op.source)))))),)


@_rule(tg.ErfOp, tg.ErfcOp)
def _erf(b: Builder, op: tg.ErfOp | tg.ErfcOp, g: SSAValue) -> Gradients:
    """2 / sqrt(pi) exp(-x^2), or less than 0 of ERFC; it is 0 for infinite x."""
    exponent = b.put(tg.NegOp(b.put(tg.MulOp(op.source, op.source))))
    greatest = math.copysign(2 / math.sqrt(math.pi), 1 if isinstance(op, tg.ErfOp) else -1)
    slope = b.put(tg.MulOp(b.put(tg.ExpOp(exponent)), b.constant(greatest, g)))
    return (b.put(tg.MulOp(g, slope)),)


@_rule(tg.GateOp)
def _gate(b: Builder, op: tg.GateOp, g: SSAValue) -> Gradients:
    """g s and g x s (1 - s) with s = 1 / (1 + e^-t). The smaller of s and 1 - s is computed, so
    that both have all digits."""
    one, x, t = b.constant(1, g), op.factor, op.argument
    is_negative = b.put(tg.CmpLtOp(t, b.constant(0, g)))
    smaller = b.put(tg.GateOp(one, b.put(tg.WhereOp(is_negative, t, b.put(tg.NegOp(t))))))
    greater = b.put(tg.SubOp(one, smaller))
    factor = b.put(tg.MulOp(g, b.put(tg.WhereOp(is_negative, smaller, greater))))
    slope = b.put(tg.MulOp(smaller, b.put(tg.MulOp(greater, x))))
    argument = b.put(tg.MulOp(g, slope))
    return factor, argument, *[argument for _ in op.operands[2:]]


@_rule(tg.GeluOp)
def _gelu(b: Builder, op: tg.GeluOp, g: SSAValue) -> Gradients:
    """g (P(Z < x) + x times the density of Z at x)."""
    x, half = op.source, b.constant(0.5, g)
    scaled = b.put(tg.MulOp(x, b.constant(-math.sqrt(0.5), g)))
    share = b.put(tg.MulOp(b.put(tg.ErfcOp(scaled)), half))
    exponent = b.put(tg.NegOp(b.put(tg.MulOp(b.put(tg.MulOp(x, x)), half))))
    height = b.put(tg.MulOp(x, b.constant(1 / math.sqrt(2 * math.pi), g)))
    slope = b.put(tg.MulAccOp(b.put(tg.ExpOp(exponent)), height, share))
    return (b.put(tg.MulOp(g, slope)),)


@_rule(tg.SqrtOp)
def _sqrt(b: Builder, op: tg.SqrtOp, g: SSAValue) -> Gradients:
    twice = b.put(tg.MulOp(op.result, b.constant(2, g)))
    return (b.put(tg.DivOp(g, twice)),)


@_rule(tg.PowOp)
def _pow(b: Builder, op: tg.PowOp, g: SSAValue) -> Gradients:
    """b a^(b - 1), which is 0 for b = 0, and a^b ln a, which is 0 for a = 0 and b >= 0."""
    zero = b.constant(0, g)
    less = b.put(tg.PowOp(op.lhs, b.put(tg.SubOp(op.rhs, b.constant(1, g)))))
    slope = b.put(tg.MulOp(g, b.put(tg.MulOp(op.rhs, less))))
    base = b.put(tg.WhereOp(b.put(tg.CmpEqOp(op.rhs, zero)), zero, slope))
    growth = b.put(tg.MulOp(g, b.put(tg.MulOp(op.result, b.put(tg.LogOp(op.lhs))))))
    at_zero = b.put(tg.AndOp(b.put(tg.CmpEqOp(op.lhs, zero)), b.put(tg.CmpGeOp(op.rhs, zero))))
    return base, b.put(tg.WhereOp(at_zero, zero, growth))


@_rule(tg.TruncOp, tg.DetachOp)
def _constant(b: Builder, op: tg.TruncOp | tg.DetachOp, g: SSAValue) -> Gradients:
    return (None,) * len(op.operands)


# -- movement ------------------------------------------------------------------------------------


@_rule(tg.ReshapeOp)
def _reshape(b: Builder, op: tg.ReshapeOp, g: SSAValue) -> Gradients:
    return _first(op, b.reshaped(g, shape_of(op.source)))


@_rule(tg.ExpandOp)
def _expand(b: Builder, op: tg.ExpandOp, g: SSAValue) -> Gradients:
    return _first(op, b.summed_to(g, shape_of(op.source)))


@_rule(tg.PermuteOp)
def _permute(b: Builder, op: tg.PermuteOp, g: SSAValue) -> Gradients:
    order = integers(op, "order")
    return (b.put(tg.PermuteOp(g, sorted(range(len(order)), key=order.__getitem__))),)


@_rule(tg.FlipOp)
def _flip(b: Builder, op: tg.FlipOp, g: SSAValue) -> Gradients:
    return (b.put(op.rebuild((g,))),)


@_rule(tg.PadOp)
def _pad(b: Builder, op: tg.PadOp, g: SSAValue) -> Gradients:
    offsets, _ = window(op)
    inside = tg.ShrinkOp(g, b.known(offsets), b.known(shape_of(op.source)))
    return _first(op, b.put(inside))


@_rule(tg.ShrinkOp)
def _shrink(b: Builder, op: tg.ShrinkOp, g: SSAValue) -> Gradients:
    offsets, _ = window(op)
    fill = number_attribute(0, tensor(g).element_type)
    whole = tg.PadOp(g, b.known(offsets), b.known(shape_of(op.source)), fill)
    return _first(op, b.put(whole))


@_rule(tg.StackOp)
def _stack(b: Builder, op: tg.StackOp, g: SSAValue) -> Gradients:
    shape = b.known(shape_of(op.sources[0]))
    none = (0,) * len(shape)
    return [
        b.reshaped(b.put(tg.ShrinkOp(g, (i, *none), (1, *shape))), shape)
        for i in range(len(op.sources))
    ]


@_rule(tg.IndexOp)
def _index(b: Builder, op: tg.IndexOp, g: SSAValue) -> Gradients:
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
            positions = b.put(tg.CastOp(positions, tensor(index).element_type))
        else:
            index = b.put(tg.CastOp(index, INDEX))
        # A scalar index reads one position: no sum, only a mask. The axes after it are those of
        # `g`, which lacks those of the scalar indices to come.
        if not shape_of(index):
            positions = b.reshaped(positions, (size, *(1,) * (len(shape) - axis)))
            mask = b.put(tg.CmpEqOp(index, positions))
            lined = b.reshaped(g, (*shape[:axis], 1, *shape[axis:]))
            g = b.put(tg.WhereOp(mask, lined, zero))
            continue
        # A vector of indices: compare each with each position, and sum over the reads.
        after = shape[axis + 1 :]
        column = b.reshaped(index, (shape[axis], 1, *(1,) * len(after)))
        row = b.reshaped(positions, (1, size, *(1,) * len(after)))
        lined = b.reshaped(g, (*shape[: axis + 1], 1, *after))
        hits = b.put(tg.WhereOp(b.put(tg.CmpEqOp(column, row)), lined, zero))
        total = b.put(tg.ReduceOp(tg.ReduceKind.ADD, hits, [axis]))
        g = b.reshaped(total, (*shape[:axis], size, *after))
    return _first(op, g)


def _first(op: Operation, gradient: SSAValue) -> Gradients:
    """The gradients of an op whose first operand is the only one with a gradient."""
    return (gradient, *(None,) * (len(op.operands) - 1))


@_rule(tg.BitcastOp)
def _bitcast(b: Builder, op: tg.BitcastOp, g: SSAValue) -> Gradients:
    if tensor(op.source).element_type == tensor(op.result).element_type:
        return (g,)
    old, new = dtype_of(op.source).name, dtype_of(op.result).name
    raise locate(PassFailedException(f"a BITCAST from {old} to {new} has no gradient"), op)


# -- reductions ----------------------------------------------------------------------------------


@_rule(tg.ReduceOp)
def _reduce(b: Builder, op: tg.ReduceOp, g: SSAValue) -> Gradients:
    if op.ranges:
        raise locate(PassFailedException("a REDUCE over RANGEs has no gradient"), op)
    shape, x = shape_of(op.source), op.source
    wide = b.expanded(g, shape)
    zero = b.constant(0, g)
    match op.kind.data:
        case tg.ReduceKind.ADD:
            return (wide,)
        case tg.ReduceKind.MAX:
            greatest = b.put(tg.CmpEqOp(x, op.result))
            ones = b.put(tg.CastOp(greatest, tensor(g).element_type))
            count = b.put(tg.ReduceOp(tg.ReduceKind.ADD, ones, _axes(op)))
            return (b.put(tg.WhereOp(greatest, b.put(tg.DivOp(g, count)), zero)),)
        case tg.ReduceKind.MUL:
            return (_product(b, op, g, wide, zero),)


def _product(b: Builder, op: tg.ReduceOp, g: SSAValue, wide: SSAValue, zero: SSAValue) -> SSAValue:
    """The gradient of REDUCE MUL: for each factor the product of the other factors, times g.

    If one factor is 0, only that factor has a gradient other than 0. If two are 0, all gradients
    are 0. An infinite factor makes the gradients of all other factors infinite, and 0 becomes NaN.
    """
    # Classify the factors.
    # A dtype without infinities has NaN here, which nothing is equal to.
    highest = math.inf if math.isinf(dtype_of(g).high) else math.nan
    one, infinity, x = b.constant(1, g), b.constant(highest, g), op.source
    is_zero = b.put(tg.CmpEqOp(x, zero))
    is_below = b.put(tg.CmpEqOp(x, b.constant(-highest, g)))
    is_infinite = b.put(tg.OrOp(b.put(tg.CmpEqOp(x, infinity)), is_below))

    def among_others(condition: SSAValue) -> SSAValue:
        """For each factor, whether the condition holds for one of the other factors."""
        ones = b.put(tg.CastOp(condition, tensor(g).element_type))
        count = b.put(tg.ReduceOp(tg.ReduceKind.ADD, ones, _axes(op)))
        return b.put(tg.CmpNeOp(count, ones))

    # Replace zeros by 1 and infinities by their sign. Then the product of the other factors is the
    # product of all factors divided by this one.
    sign = b.put(tg.WhereOp(is_below, b.constant(-1, g), one))
    filled = b.put(tg.WhereOp(is_zero, one, b.put(tg.WhereOp(is_infinite, sign, x))))
    product = b.put(tg.MulOp(b.put(tg.ReduceOp(tg.ReduceKind.MUL, filled, _axes(op))), g))
    quotient = b.put(tg.DivOp(product, filled))
    # Put back the infinities and zeros of the other factors.
    has_infinity = among_others(is_infinite)
    infinite = b.put(tg.MulOp(quotient, infinity))
    at_zero = b.put(tg.WhereOp(has_infinity, b.constant(math.nan, g), zero))
    elsewhere = b.put(tg.WhereOp(has_infinity, infinite, quotient))
    return b.put(tg.WhereOp(among_others(is_zero), at_zero, elsewhere))


def _axes(op: tg.ReduceOp) -> Sequence[int]:
    return integers(op, "axes")


# -- memory --------------------------------------------------------------------------------------


@_rule(tg.ContiguousOp)
def _same(b: Builder, op: tg.ContiguousOp, g: SSAValue) -> Gradients:
    return (g,)


@_rule(tg.ContiguousBackwardOp)
def _contiguous(b: Builder, op: tg.ContiguousBackwardOp, g: SSAValue) -> Gradients:
    return (b.put(tg.ContiguousOp(g)),)


@_rule(tg.CopyOp)
def _copy(b: Builder, op: tg.CopyOp, g: SSAValue) -> Gradients:
    return (b.moved(g, place(op.source)),)


@_rule(tg.ReplicatedOp)
def _replicated(b: Builder, op: tg.ReplicatedOp, g: SSAValue) -> Gradients:
    """The gradient goes to the first shard. The other shards are copies with gradient 0."""
    whole, axis = b.known(shape_of(op.source)), op.axis.data
    lined = b.reshaped(g, (*whole[:axis], 1, *whole[axis + 1 :]))
    fill = number_attribute(0, tensor(g).element_type)
    first = b.put(tg.PadOp(lined, (0,) * len(whole), whole, fill))
    return (b.moved(first, place(op.source)),)


@_rule(tg.LoadOp)
def _load(b: Builder, op: tg.LoadOp, g: SSAValue) -> Gradients:
    """The gradient goes to the buffer where the gate is true, and to `alt` elsewhere."""
    if op.device is not None:
        g = b.moved(g, place(op.buffer))
    if op.gate is None:
        return (g,)
    zero = b.constant(0, g)
    taken = b.put(tg.WhereOp(op.gate, g, zero))
    return taken, b.put(tg.WhereOp(op.gate, zero, g)), None


@_rule(tg.AfterOp)
def _after(b: Builder, op: tg.AfterOp, g: SSAValue) -> Gradients:
    """An AFTER that sees no write equals its buffer; `memory.py` handles all others."""
    return _first(op, g)
