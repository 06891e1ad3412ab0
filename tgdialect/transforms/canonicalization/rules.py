"""Canonicalisation of movements, REDUCE, COPY, GETTUPLE and the markers: a function for each rule.

Where a value is sharded, two reshapes may place the shard boundary where one cannot: those stay. A
reduction makes invalid cells valid, which no rule may lose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from tgdialect.analysis.validity import Validity
from tgdialect.analysis.zeros import may_be_negative_zero
from tgdialect.ops import tg
from tgdialect.ops.folding import constant_attribute
from tgdialect.ops.properties import device_argument
from tgdialect.transforms.simplify.matching import repeated

Rule = Callable[[Any], SSAValue | Operation | Sequence[Operation] | None]
"""Gives the value that replaces an op's result, or the ops that compute it, the last one last; None
where the rule does not apply."""


class Replacement(RewritePattern):
    """Replaces an op as a rule says, unless the type is another one: the place may differ."""

    def __init__(self, rule: Rule) -> None:
        self._rule = rule
        self.name = rule.__name__

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        new = self._rule(op)
        if new is None:
            return
        if isinstance(new, SSAValue):
            ops, value = (), new
        else:
            ops = (new,) if isinstance(new, Operation) else new
            value = ops[-1].results[0]
        for each in ops:
            each.location = op.location
        if value.type == op.results[0].type:
            rewriter.replace(op, ops, (value,))


def same_type(op: Operation) -> SSAValue | None:
    """A reshape, expand, shrink, pad, bitcast or cast to the type that is there already. A cast of
    memory stays, because it is a read."""
    source = op.operands[0]
    return source if tg.same_shape(tg.shape_of(source), tg.shape_of(op.results[0])) else None


# -- movements -----------------------------------------------------------------------------------


def _trivial_permute(op: tg.PermuteOp) -> SSAValue | None:
    """A permute that keeps every axis in its place."""
    order = tg.integers(op, "order")
    return op.source if order == tuple(range(len(order))) else None


def _trivial_flip(op: tg.FlipOp) -> SSAValue | Operation | None:
    """A flip of no axis, or of axes of size 1, which need no flag."""
    flags, shape = tg.integers(op, "flags"), tg.tensor(op.source).get_shape()
    needed = [bool(flag) and extent != 1 for flag, extent in zip(flags, shape, strict=True)]
    if not any(needed):
        return op.source
    return tg.FlipOp(op.source, needed) if sum(needed) < sum(map(bool, flags)) else None


def _two_of_a_kind(op: Operation) -> Operation | None:
    """Two movements of one kind in a row are one."""
    inner = op.operands[0].owner
    return _JOINED[type(op)](op, inner) if isinstance(inner, type(op)) else None


def _flipped(op: tg.FlipOp, inner: tg.FlipOp) -> Operation:
    pairs = zip(tg.integers(inner, "flags"), tg.integers(op, "flags"), strict=True)
    return tg.FlipOp(inner.source, [bool(a) != bool(b) for a, b in pairs])


def _reshaped(op: tg.ReshapeOp, inner: tg.ReshapeOp) -> Operation | None:
    if tg.place(inner.source).axis is not None:
        return None
    return tg.ReshapeOp(inner.source, tg.mixed(op, "shape", op.dims))


def _shrunk(op: tg.ShrinkOp, inner: tg.ShrinkOp) -> Operation | None:
    offsets, shape = tg.window(op)
    total = _sum(tg.window(inner)[0], offsets)
    return None if total is None else tg.ShrinkOp(inner.source, total, shape)


def _padded(op: tg.PadOp, inner: tg.PadOp) -> Operation | None:
    offsets, shape = tg.window(op)
    total = _sum(tg.window(inner)[0], offsets)
    if total is None or inner.fill != op.fill:
        return None
    return tg.PadOp(inner.source, total, shape, op.fill)


def _bitcast(op: tg.BitcastOp, inner: tg.BitcastOp) -> Operation | None:
    """Between sizes an invalid cell would spread on the way."""
    sizes = {tg.dtype_of(v).itemsize for v in (inner.source, inner.result, op.result)}
    is_one = len(sizes) == 1 or Validity()[inner.source]
    return tg.BitcastOp(inner.source, op.dtype) if is_one else None


_JOINED: Mapping[type[Operation], Callable[[Any, Any], Operation | None]] = {
    tg.PermuteOp: lambda op, inner: tg.PermuteOp(
        inner.source, [tg.integers(inner, "order")[axis] for axis in tg.integers(op, "order")]
    ),
    tg.FlipOp: _flipped,
    tg.ReshapeOp: _reshaped,
    tg.ExpandOp: lambda op, inner: tg.ExpandOp(inner.source, tg.mixed(op, "shape", op.dims)),
    tg.ShrinkOp: _shrunk,
    tg.PadOp: _padded,
    tg.BitcastOp: _bitcast,
}
"""The op that an op on an inner one of its kind is; None if there is none."""


def _sum(a: tg.Shape, b: tg.Shape) -> list[tg.Dim] | None:
    """Offsets added; a dynamic one only to 0."""
    total: list[tg.Dim] = []
    for x, y in zip(a, b, strict=True):
        if isinstance(x, int) and isinstance(y, int):
            total.append(x + y)
        elif x == 0 or y == 0:
            total.append(x if y == 0 else y)
        else:
            return None
    return total


def _shrink_of_pad(op: tg.ShrinkOp) -> SSAValue | Operation | None:
    """shrink(pad(x)) that shows cells of x only is shrink(x), or x where it shows them all."""
    pad = op.source.owner
    if not isinstance(pad, tg.PadOp):
        return None
    offsets, shape = tg.window(op)
    padding, source = tg.window(pad)[0], tg.shape_of(pad.source)
    aligned = tg.same_shape(offsets, padding) and tg.same_shape(shape, source)
    if aligned and op.result.type == pad.source.type:
        return pad.source
    inside: list[int] = []
    for o, p, new, old in zip(offsets, padding, shape, source, strict=True):
        match o, p, new, old:
            case int(), int(), int(), int() if 0 <= o - p <= old - new:
                inside.append(o - p)
            case _:
                return None
    return tg.ShrinkOp(pad.source, inside, shape)


def _index_by_nothing(op: tg.IndexOp) -> SSAValue | None:
    """An INDEX without indices is what it indexes."""
    return None if op.indices else op.source


def _index_of_stack(op: tg.IndexOp) -> SSAValue | Operation | None:
    """index(stack(x0, x1, ...), [i, ...]) is index(xi, [...]) for a constant i in range."""
    stack = op.source.owner
    if not isinstance(stack, tg.StackOp) or not op.indices:
        return None
    index = constant_attribute(op.indices[0])
    if not isinstance(index, IntegerAttr) or not 0 <= index.value.data < len(stack.sources):
        return None
    source, indices = stack.sources[index.value.data], op.indices[1:]
    if not tg.dependent_ranges(stack.result) <= tg.dependent_ranges(source):
        return None  # an END or REDUCE may need those of the other sources
    return tg.IndexOp(source, indices) if indices else source


# -- REDUCE --------------------------------------------------------------------------------------


def _reduce_of_nothing(op: tg.ReduceOp) -> SSAValue | Sequence[Operation] | None:
    """A reduction over no range and axes of size 1 is its source, if that is valid.

    A sum is never -0: of a source that may be, it is `source + 0.0`.
    """
    shape = tg.tensor(op.source).get_shape()
    if op.ranges or any(shape[axis] != 1 for axis in tg.integers(op, "axes")):
        return None
    if op.source.type != op.result.type or not Validity()[op.source]:
        return None
    if op.kind.data is not tg.ReduceKind.ADD or not may_be_negative_zero(op.source):
        return op.source
    new: list[Operation] = []

    def put(each: Operation) -> SSAValue:
        new.append(each)
        return each.results[0]

    zero = put(tg.ConstOp(0, tg.tensor(op.source).element_type))
    if (zeros := repeated(zero, op.source.type, put)) is None:
        return None
    return [*new, tg.AddOp(op.source, zeros)]


def _reduce_of_unit_axis(op: tg.ReduceOp) -> Operation | None:
    """Axes of size 1 need not be reduced where others, or ranges, are."""
    shape, axes = tg.tensor(op.source).get_shape(), tg.integers(op, "axes")
    kept = [axis for axis in axes if shape[axis] != 1]
    return _reduced(op, kept, op) if len(kept) < len(axes) and (kept or op.ranges) else None


def _reduce_of_reduce(op: tg.ReduceOp) -> Operation | None:
    """Two reductions of one kind are one if the order is free and nothing is rounded between."""
    inner = op.source.owner
    if not isinstance(inner, tg.ReduceOp) or inner.kind != op.kind or op.ranges or inner.ranges:
        return None
    dtype = tg.dtype_of(op.source)
    exact = not dtype.is_float or op.kind.data is tg.ReduceKind.MAX
    ordered = op.ordered is not None or inner.ordered is not None
    if not exact and (ordered or dtype.bits < 32):
        return None
    return _reduced(op, sorted({*tg.integers(inner, "axes"), *tg.integers(op, "axes")}), inner)


def _reduced(op: tg.ReduceOp, axes: list[int], source: tg.ReduceOp) -> Operation:
    """Reduce what `source` reduces, over `axes` and the ranges of `op`."""
    ordered = op.ordered is not None or source.ordered is not None
    return tg.ReduceOp(op.kind.data, source.source, axes, op.ranges, ordered=ordered)


# -- markers, COPY and GETTUPLE ------------------------------------------------------------------


def _repeated_marker(op: Operation) -> SSAValue | None:
    """contiguous(contiguous(x)) is contiguous(x); likewise the others."""
    inner = op.operands[0]
    return inner if isinstance(inner.owner, type(op)) else None


def _copy_of_copy(op: tg.CopyOp) -> SSAValue | Operation | None:
    """copy(copy(x, A), B) is copy(x, B), and copy(copy(x, A), A) is copy(x, A), but for clones."""
    inner = op.source.owner
    if not isinstance(inner, tg.CopyOp) or op.forced is not None:
        return None
    if op.result.type == inner.result.type:
        return inner.result
    device = device_argument(op)
    return tg.CopyOp(inner.source, device) if device is not None and inner.forced is None else None


def _element_of_tuple(op: tg.GetTupleOp) -> SSAValue | None:
    """gettuple(tuple(..., v, ...), i) is v, and gettuple(function(..., a, ...), i) is a where the
    body returns its parameter as it is."""
    match op.source.owner:
        case tg.TupleOp() as source:
            return source.values[op.index.data]
        case tg.FunctionOp() as function if isinstance(
            last := function.body.block.last_op, tg.TupleOp
        ) and isinstance(param := last.values[op.index.data].owner, tg.ParamOp):
            return function.arguments[param.slot.data]
        case _:
            return None


_RULES: Mapping[str, Sequence[Rule]] = {
    "tg.permute": (_trivial_permute, _two_of_a_kind),
    "tg.flip": (_trivial_flip, _two_of_a_kind),
    "tg.reshape": (same_type, _two_of_a_kind),
    "tg.expand": (same_type, _two_of_a_kind),
    "tg.pad": (same_type, _two_of_a_kind),
    "tg.shrink": (same_type, _two_of_a_kind, _shrink_of_pad),
    "tg.index": (_index_by_nothing, _index_of_stack),
    "tg.bitcast": (same_type, _two_of_a_kind),
    "tg.reduce": (_reduce_of_nothing, _reduce_of_unit_axis, _reduce_of_reduce),
    **dict.fromkeys(("tg.contiguous", "tg.contiguous_backward", "tg.detach"), (_repeated_marker,)),
    "tg.copy": (_copy_of_copy,),
    "tg.gettuple": (_element_of_tuple,),
}
PATTERNS: Mapping[str, tuple[RewritePattern, ...]] = {
    name: tuple(map(Replacement, rules)) for name, rules in _RULES.items()
}
