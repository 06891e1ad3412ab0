"""Canonicalisation of movements: those that move nothing, and two of a kind in a row.

Where a value is sharded, two reshapes may place the shard boundary where one cannot: those stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tgdialect.analysis.validity import Validity
from tgdialect.ops import tg
from tgdialect.ops.folding import constant_attribute
from tgdialect.ops.movement import MovementOp
from tgdialect.ops.ordering import dependent_ranges
from tgdialect.ops.properties import (
    Dim,
    Shape,
    dtype_of,
    integers,
    mixed,
    place,
    same_shape,
    shape_of,
    tensor,
    window,
)


def _replace(op: MovementOp, new: MovementOp, rewriter: PatternRewriter) -> None:
    """Replace an op by one that shows the same cells; not where only the place differs."""
    new.location = op.location
    if new.result.type == op.result.type:
        rewriter.replace(op, new)


class SameType(RewritePattern):
    """A reshape, expand, shrink, pad, bitcast or cast to the type that is there already. A cast of
    memory stays, because it is a read."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        source, result = op.operands[0], op.results[0]
        if source.type == result.type and same_shape(shape_of(source), shape_of(result)):
            rewriter.replace(op, (), (source,))


class TrivialPermute(RewritePattern):
    """A permute that keeps every axis in its place."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tg.PermuteOp, rewriter: PatternRewriter) -> None:
        order = integers(op, "order")
        if order == tuple(range(len(order))):
            rewriter.replace(op, (), (op.source,))


class TrivialFlip(RewritePattern):
    """A flip of no axis, or of axes of size 1, which need no flag."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tg.FlipOp, rewriter: PatternRewriter) -> None:
        flags, shape = integers(op, "flags"), tensor(op.source).get_shape()
        needed = [bool(flag) and extent != 1 for flag, extent in zip(flags, shape, strict=True)]
        if not any(needed):
            rewriter.replace(op, (), (op.source,))
        elif sum(needed) < sum(map(bool, flags)):
            _replace(op, tg.FlipOp(op.source, needed), rewriter)


class TwoOfAKind(RewritePattern):
    """Two movements of one kind in a row are one."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        inner = op.operands[0].owner
        if isinstance(inner, type(op)) and (new := _JOINED[type(op)](op, inner)) is not None:
            _replace(cast(MovementOp, op), new, rewriter)


def _flipped(op: tg.FlipOp, inner: tg.FlipOp) -> MovementOp:
    pairs = zip(integers(inner, "flags"), integers(op, "flags"), strict=True)
    return tg.FlipOp(inner.source, [bool(a) != bool(b) for a, b in pairs])


def _reshaped(op: tg.ReshapeOp, inner: tg.ReshapeOp) -> MovementOp | None:
    if place(inner.source).axis is not None:
        return None
    return tg.ReshapeOp(inner.source, mixed(op, "shape", op.dims))


def _shrunk(op: tg.ShrinkOp, inner: tg.ShrinkOp) -> MovementOp | None:
    offsets, shape = window(op)
    total = _sum(window(inner)[0], offsets)
    return None if total is None else tg.ShrinkOp(inner.source, total, shape)


def _padded(op: tg.PadOp, inner: tg.PadOp) -> MovementOp | None:
    offsets, shape = window(op)
    total = _sum(window(inner)[0], offsets)
    if total is None or inner.fill != op.fill:
        return None
    return tg.PadOp(inner.source, total, shape, op.fill)


def _bitcast(op: tg.BitcastOp, inner: tg.BitcastOp) -> MovementOp | None:
    """Between sizes an invalid cell would spread on the way."""
    sizes = {dtype_of(v).itemsize for v in (inner.source, inner.result, op.result)}
    is_one = len(sizes) == 1 or Validity()[inner.source]
    return tg.BitcastOp(inner.source, op.dtype) if is_one else None


_JOINED: Mapping[type[Operation], Callable[[Any, Any], MovementOp | None]] = {
    tg.PermuteOp: lambda op, inner: tg.PermuteOp(
        inner.source, [integers(inner, "order")[axis] for axis in integers(op, "order")]
    ),
    tg.FlipOp: _flipped,
    tg.ReshapeOp: _reshaped,
    tg.ExpandOp: lambda op, inner: tg.ExpandOp(inner.source, mixed(op, "shape", op.dims)),
    tg.ShrinkOp: _shrunk,
    tg.PadOp: _padded,
    tg.BitcastOp: _bitcast,
}
"""The op that an op on an inner one of its kind is; None if there is none."""


def _sum(a: Shape, b: Shape) -> list[Dim] | None:
    """Offsets added; a dynamic one only to 0."""
    total: list[Dim] = []
    for x, y in zip(a, b, strict=True):
        if isinstance(x, int) and isinstance(y, int):
            total.append(x + y)
        elif y == 0:
            total.append(x)
        elif x == 0:
            total.append(y)
        else:
            return None
    return total


class ShrinkOfPad(RewritePattern):
    """shrink(pad(x)) that shows cells of x only is shrink(x), or x where it shows them all."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tg.ShrinkOp, rewriter: PatternRewriter) -> None:
        pad = op.source.owner
        if not isinstance(pad, tg.PadOp):
            return
        offsets, shape = window(op)
        padding, source = window(pad)[0], shape_of(pad.source)
        aligned = same_shape(offsets, padding) and same_shape(shape, source)
        if aligned and op.result.type == pad.source.type:
            rewriter.replace(op, (), (pad.source,))
            return
        inside: list[int] = []
        for o, p, new, old in zip(offsets, padding, shape, source, strict=True):
            if not (
                isinstance(o, int)
                and isinstance(p, int)
                and isinstance(new, int)
                and isinstance(old, int)
                and 0 <= o - p <= old - new
            ):
                return
            inside.append(o - p)
        _replace(op, tg.ShrinkOp(pad.source, inside, shape), rewriter)


class IndexOfNothing(RewritePattern):
    """An index with no indices."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tg.IndexOp, rewriter: PatternRewriter) -> None:
        if not op.indices:
            rewriter.replace(op, (), (op.source,))


class IndexOfStack(RewritePattern):
    """index(stack(x0, x1, ...), [i, ...]) is index(xi, [...]) for a constant i in range."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tg.IndexOp, rewriter: PatternRewriter) -> None:
        stack = op.source.owner
        if not isinstance(stack, tg.StackOp) or not op.indices:
            return
        index = constant_attribute(op.indices[0])
        if not isinstance(index, IntegerAttr) or not 0 <= index.value.data < len(stack.sources):
            return
        source, indices = stack.sources[index.value.data], op.indices[1:]
        if not dependent_ranges(stack.result) <= dependent_ranges(source):
            return  # an END or REDUCE may need those of the other sources
        if indices:
            _replace(op, tg.IndexOp(source, indices), rewriter)
        elif source.type == op.result.type:
            rewriter.replace(op, (), (source,))


PATTERNS: dict[str, tuple[RewritePattern, ...]] = {
    "tg.permute": (TrivialPermute(), TwoOfAKind()),
    "tg.flip": (TrivialFlip(), TwoOfAKind()),
    "tg.reshape": (SameType(), TwoOfAKind()),
    "tg.expand": (SameType(), TwoOfAKind()),
    "tg.pad": (SameType(), TwoOfAKind()),
    "tg.shrink": (SameType(), TwoOfAKind(), ShrinkOfPad()),
    "tg.index": (IndexOfNothing(), IndexOfStack()),
    "tg.bitcast": (SameType(), TwoOfAKind()),
}
