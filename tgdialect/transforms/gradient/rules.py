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
from tgdialect.transforms.tg_semantics import Tg, TgSemantics

Gradients = Sequence[SSAValue | None]
Rule = Callable[[Builder, Any, SSAValue], Gradients]
OpT = TypeVar("OpT", bound=Operation)

_RULES: dict[type[Operation], Rule] = {}
RULES: Mapping[type[Operation], Rule] = _RULES
"""The rule of each differentiable op; `reverse.py` handles FUNCTION and CALL."""


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


Parts = Sequence[Tg | None]
UnaryRule = Callable[[Tg, Tg, Tg], Parts]


def _maximum(g: Tg, y: Tg, a: Tg, b: Tg) -> Parts:
    """Nothing for the smaller operand; all of it for both, if one is NaN."""
    half, zero = g * 0.5, g.constant(0)
    shared = a.eq(b).where(half, g)
    return (a < b).where(zero, shared), (b < a).where(zero, shared)


def _where(g: Tg, y: Tg, condition: Tg, a: Tg, b: Tg) -> Parts:
    zero = g.constant(0)
    return None, condition.where(g, zero), condition.where(zero, g)


def _quotient(g: Tg, y: Tg, a: Tg, b: Tg) -> Parts:
    """g / b and -(g / b) * (a / b)."""
    left = g / b
    return left, -(left * y)


def _shares(t: Tg, one: Tg) -> tuple[Tg, Tg, Tg]:
    """Whether t is negative, and the smaller and the greater one of s and 1 - s with
    s = 1 / (1 + e^-t). The smaller one is computed, so that both have all digits."""
    is_negative = t < 0
    smaller = one.applied("gate", is_negative.where(t, -t))
    return is_negative, smaller, one - smaller


def _log_of_sum(g: Tg, y: Tg, a: Tg, b: Tg) -> Parts:
    """g s and g (1 - s) with s = 1 / (1 + e^-(a - b)), half of it for equal infinities."""
    zero, one, difference = g.constant(0), g.constant(1), a - b
    is_negative, smaller, greater = _shares(a.eq(b).where(zero, difference), one)
    return g * is_negative.where(smaller, greater), g * is_negative.where(greater, smaller)


def _gate(g: Tg, y: Tg, x: Tg, t: Tg, *lost: Tg) -> Parts:
    """g s and g x s (1 - s) with s = 1 / (1 + e^-t)."""
    is_negative, smaller, greater = _shares(t, g.constant(1))
    factor = g * is_negative.where(smaller, greater)
    argument = g * (smaller * (greater * x))
    return factor, argument, *[argument for _ in lost]


def _remainder(g: Tg, y: Tg, a: Tg, b: Tg) -> Parts:
    """g and -g times the whole quotient."""
    return g, -(g * (a / b).trunc())


def _error_function(sign: int) -> UnaryRule:
    """2 / sqrt(pi) exp(-x^2), or less than 0 of ERFC; it is 0 for infinite x."""
    return lambda g, y, x: (g * ((-(x * x)).applied("exp") * (sign * 2 / math.sqrt(math.pi))),)


def _gelu(g: Tg, y: Tg, x: Tg) -> Parts:
    """g (P(Z < x) + x times the density of Z at x)."""
    half = g.constant(0.5)
    share = (x * -math.sqrt(0.5)).applied("erfc") * half
    exponent = -(x * x * half)
    height = x * (1 / math.sqrt(2 * math.pi))
    return (g * exponent.applied("exp").mulacc(height, share),)


def _power(g: Tg, y: Tg, a: Tg, b: Tg) -> Parts:
    """b a^(b - 1), which is 0 for b = 0, and a^b ln a, which is 0 for a = 0 and b >= 0."""
    zero = g.constant(0)
    slope = g * (b * a.applied("pow", b - 1))
    base = b.eq(zero).where(zero, slope)
    growth = g * (y * a.applied("log"))
    return base, (a.eq(zero) & (b >= zero)).where(zero, growth)


_UNARY: Mapping[type[Operation], UnaryRule] = {
    tg.NegOp: lambda g, y, x: (-g,),
    tg.RecipOp: lambda g, y, x: (-(g * (y * y)),),
    tg.CastOp: lambda g, y, x: (g.applied("cast", dtype=x.dtype),),
    tg.Exp2Op: lambda g, y, x: (g * (y * math.log(2)),),
    tg.Log2Op: lambda g, y, x: (g / (x * math.log(2)),),
    tg.Log10Op: lambda g, y, x: (g / (x * math.log(10)),),
    tg.ExpOp: lambda g, y, x: (g * y,),
    tg.LogOp: lambda g, y, x: (g / x,),
    tg.Expm1Op: lambda g, y, x: (g * x.applied("exp"),),
    tg.Log1pOp: lambda g, y, x: (g / (x + 1),),
    tg.SoftplusOp: lambda g, y, x: (g * g.constant(1).applied("gate", x),),
    tg.SinOp: lambda g, y, x: (g * x.applied("cos"),),
    tg.CosOp: lambda g, y, x: (-(g * x.applied("sin")),),
    tg.ErfOp: _error_function(1),
    tg.ErfcOp: _error_function(-1),
    tg.GeluOp: _gelu,
    tg.SqrtOp: lambda g, y, x: (g / (y * 2),),
    tg.TruncOp: lambda g, y, x: (None,),
}
_BINARY: Mapping[type[Operation], Callable[[Tg, Tg, Tg, Tg], Parts]] = {
    tg.AddOp: lambda g, y, a, b: (g, g),
    tg.SubOp: lambda g, y, a, b: (g, -g),
    tg.MulOp: lambda g, y, a, b: (g * b, g * a),
    tg.DivOp: _quotient,
    tg.MaxOp: _maximum,
    tg.LogAddExpOp: _log_of_sum,
    tg.LgammaOp: lambda g, y, x, approximation: (None, g),
    tg.FmodOp: _remainder,
    tg.PowOp: _power,
}
_TERNARY: Mapping[type[Operation], Callable[[Tg, Tg, Tg, Tg, Tg], Parts]] = {
    tg.MulAccOp: lambda g, y, a, b, c: (g * b, g * a, g),
    tg.WhereOp: _where,
}
_ELEMENTWISE: Mapping[type[Operation], Callable[..., Parts]] = {
    **_UNARY,
    **_BINARY,
    **_TERNARY,
    tg.GateOp: _gate,
}
"""For each elementwise op, (g, y, *operands) -> the gradients of the operands."""


@_rule(*_ELEMENTWISE)
def _elementwise(b: Builder, op: Operation, g: SSAValue) -> Gradients:
    values = map(TgSemantics(b).value, (g, op.results[0], *op.operands))
    parts = _ELEMENTWISE[type(op)](*values)
    return [None if part is None else part.handle for part in parts]


@_rule(tg.DetachOp)
def _detach(b: Builder, op: tg.DetachOp, g: SSAValue) -> Gradients:
    return (None,)


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
