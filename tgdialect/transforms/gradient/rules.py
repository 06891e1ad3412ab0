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
from typing import Any

from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from tgdialect.diagnostics import locate
from tgdialect.ops import tg
from tgdialect.transforms.builder import Builder
from tgdialect.transforms.tg_semantics import Tg, TgSemantics

Gradients = Sequence[SSAValue | None]
Rule = Callable[[Builder, Any, SSAValue], Gradients]

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


# -- movement and memory -------------------------------------------------------------------------


def _permute(b: Builder, op: tg.PermuteOp, g: SSAValue) -> SSAValue:
    order = tg.integers(op, "order")
    return b.put(tg.PermuteOp(g, sorted(range(len(order)), key=order.__getitem__)))


def _pad(b: Builder, op: tg.PadOp, g: SSAValue) -> SSAValue:
    offsets, _ = tg.window(op)
    return b.put(tg.ShrinkOp(g, b.known(offsets), b.known(tg.shape_of(op.source))))


def _shrink(b: Builder, op: tg.ShrinkOp, g: SSAValue) -> SSAValue:
    offsets, _ = tg.window(op)
    fill = tg.number_attribute(0, tg.tensor(g).element_type)
    return b.put(tg.PadOp(g, b.known(offsets), b.known(tg.shape_of(op.source)), fill))


def _index(b: Builder, op: tg.IndexOp, g: SSAValue) -> SSAValue:
    """Add the gradient of each read to the cell that was read.

    This is the specification's scatter_add: a sum over one-hot masks, axis by axis.
    """
    whole = b.known(tg.shape_of(op.source))
    zero = b.constant(0, g)
    for axis, index in enumerate(op.indices):
        size, shape = whole[axis], tg.shape_of(g)
        positions = b.positions(size)
        # Compare in the dtype of the index, unless positions would wrap in it.
        if isinstance(size, int) and size - 1 <= tg.dtype_of(index).high:
            positions = b.put(tg.CastOp(positions, tg.tensor(index).element_type))
        else:
            index = b.put(tg.CastOp(index, tg.INDEX))
        # A scalar index reads one position: no sum, only a mask. The axes after it are those of
        # `g`, which lacks those of the scalar indices to come.
        if not tg.shape_of(index):
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
    return g


def _bitcast(b: Builder, op: tg.BitcastOp, g: SSAValue) -> SSAValue:
    if tg.tensor(op.source).element_type == tg.tensor(op.result).element_type:
        return g
    old, new = tg.dtype_of(op.source).name, tg.dtype_of(op.result).name
    raise locate(PassFailedException(f"a BITCAST from {old} to {new} has no gradient"), op)


def _replicated(b: Builder, op: tg.ReplicatedOp, g: SSAValue) -> SSAValue:
    """The gradient goes to the first shard. The other shards are copies with gradient 0."""
    whole, axis = b.known(tg.shape_of(op.source)), op.axis.data
    lined = b.reshaped(g, (*whole[:axis], 1, *whole[axis + 1 :]))
    fill = tg.number_attribute(0, tg.tensor(g).element_type)
    first = b.put(tg.PadOp(lined, (0,) * len(whole), whole, fill))
    return b.moved(first, tg.place(op.source))


# -- reductions ----------------------------------------------------------------------------------


def _reduce(b: Builder, op: tg.ReduceOp, gradient: SSAValue) -> SSAValue:
    if op.ranges:
        raise locate(PassFailedException("a REDUCE over RANGEs has no gradient"), op)
    wide = b.expanded(gradient, tg.shape_of(op.source))
    x, y, g = map(TgSemantics(b).value, (op.source, op.result, gradient))
    zero = g.constant(0)

    def reduced(kind: tg.ReduceKind, source: Tg) -> Tg:
        total = b.put(tg.ReduceOp(kind, source.handle, tg.integers(op, "axes")))
        return TgSemantics(b).value(total)

    match op.kind.data:
        case tg.ReduceKind.ADD:
            return wide
        case tg.ReduceKind.MAX:
            greatest = x.eq(y)
            count = reduced(tg.ReduceKind.ADD, greatest.cast(g.dtype))
            return greatest.where(g / count, zero).handle
        case tg.ReduceKind.MUL:
            highest = math.inf if math.isinf(tg.dtype_of(gradient).high) else math.nan
            return _product(x, g, highest, reduced).handle


def _product(x: Tg, g: Tg, highest: float, reduced: Callable[[tg.ReduceKind, Tg], Tg]) -> Tg:
    """The gradient of REDUCE MUL: for each factor the product of the other factors, times g.

    If one factor is 0, only that factor has a gradient other than 0. If two are 0, all gradients
    are 0. An infinite factor makes the gradients of all other factors infinite, and 0 becomes NaN.
    `highest` is the infinity, or of a dtype without infinities NaN, which nothing is equal to.
    """
    # Classify the factors.
    zero, one, infinity = (g.constant(value) for value in (0, 1, highest))
    is_zero = x.eq(zero)
    is_below = x.eq(-highest)
    is_infinite = x.eq(infinity) | is_below

    def among_others(condition: Tg) -> Tg:
        """For each factor, whether the condition holds for one of the other factors."""
        ones = condition.cast(g.dtype)
        return reduced(tg.ReduceKind.ADD, ones).ne(ones)

    # Replace zeros by 1 and infinities by their sign. Then the product of the other factors is the
    # product of all factors divided by this one.
    sign = is_below.where(g.constant(-1), one)
    filled = is_zero.where(one, is_infinite.where(sign, x))
    quotient = reduced(tg.ReduceKind.MUL, filled) * g / filled
    # Put back the infinities and zeros of the other factors.
    has_infinity = among_others(is_infinite)
    infinite = quotient * infinity
    at_zero = has_infinity.where(g.constant(math.nan), zero)
    elsewhere = has_infinity.where(infinite, quotient)
    return among_others(is_zero).where(at_zero, elsewhere)


# -- all ops -------------------------------------------------------------------------------------

_OF_FIRST: Mapping[type[Operation], Callable[[Builder, Any, SSAValue], SSAValue]] = {
    tg.ReshapeOp: lambda b, op, g: b.reshaped(g, tg.shape_of(op.source)),
    tg.ExpandOp: lambda b, op, g: b.summed_to(g, tg.shape_of(op.source)),
    tg.PermuteOp: _permute,
    tg.FlipOp: lambda b, op, g: b.put(op.rebuild((g,))),
    tg.PadOp: _pad,
    tg.ShrinkOp: _shrink,
    tg.IndexOp: _index,
    tg.BitcastOp: _bitcast,
    tg.ReduceOp: _reduce,
    tg.ContiguousOp: lambda b, op, g: g,
    tg.ContiguousBackwardOp: lambda b, op, g: b.put(tg.ContiguousOp(g)),
    tg.CopyOp: lambda b, op, g: b.moved(g, tg.place(op.source)),
    tg.ReplicatedOp: _replicated,
    # An AFTER that sees no write equals its buffer; `memory.py` handles all others.
    tg.AfterOp: lambda b, op, g: g,
}
"""The rules of ops whose first operand is the only one with a gradient."""


def _first(b: Builder, op: Operation, g: SSAValue) -> Gradients:
    return (_OF_FIRST[type(op)](b, op, g), *(None,) * (len(op.operands) - 1))


def _elementwise(b: Builder, op: Operation, g: SSAValue) -> Gradients:
    values = map(TgSemantics(b).value, (g, op.results[0], *op.operands))
    parts = _ELEMENTWISE[type(op)](*values)
    return [None if part is None else part.handle for part in parts]


def _stack(b: Builder, op: tg.StackOp, g: SSAValue) -> Gradients:
    shape = b.known(tg.shape_of(op.sources[0]))
    none = (0,) * len(shape)
    return [
        b.reshaped(b.put(tg.ShrinkOp(g, (i, *none), (1, *shape))), shape)
        for i in range(len(op.sources))
    ]


def _load(b: Builder, op: tg.LoadOp, g: SSAValue) -> Gradients:
    """The gradient goes to the buffer where the gate is true, and to `alt` elsewhere."""
    if op.device is not None:
        g = b.moved(g, tg.place(op.buffer))
    if op.gate is None:
        return (g,)
    zero = b.constant(0, g)
    taken = b.put(tg.WhereOp(op.gate, g, zero))
    return taken, b.put(tg.WhereOp(op.gate, zero, g)), None


RULES: Mapping[type[Operation], Rule] = {
    **dict.fromkeys(_ELEMENTWISE, _elementwise),
    **dict.fromkeys(_OF_FIRST, _first),
    tg.StackOp: _stack,
    tg.LoadOp: _load,
    tg.DetachOp: lambda b, op, g: (None,),
}
"""The rule of each differentiable op; `reverse.py` handles FUNCTION and CALL."""
