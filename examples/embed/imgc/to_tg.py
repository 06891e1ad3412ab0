"""`img-to-tg`: rewrites image filters into tensor ops of the `tg` dialect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, f32, i32
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import PassFailedException

from imgc.dialect import BlendOp, Blur3x3Op, HistogramOp, ThresholdOp, image_shape
from tgdialect.diagnostics import begins, locate
from tgdialect.ops import tg


def blend(b: tg.OpBuilder, op: BlendOp) -> SSAValue:
    difference = b.put(tg.SubOp(op.b, op.a))
    return b.put(tg.AddOp(op.a, b.put(tg.MulOp(difference, b.put(tg.ConstOp(op.weight))))))


def blur3x3(b: tg.OpBuilder, op: Blur3x3Op) -> SSAValue:
    """The sums of three rows, then of three columns, divided by 9."""
    height, width = image_shape(op.image)
    total = op.image
    for axis, shape in enumerate(((height - 2, width), (height - 2, width - 2))):
        first, second, third = (
            b.put(tg.ShrinkOp(total, [i if a == axis else 0 for a in range(2)], shape))
            for i in range(3)
        )
        total = b.put(tg.AddOp(b.put(tg.AddOp(first, second)), third))
    return b.put(tg.MulOp(total, b.put(tg.ConstOp(1 / 9, f32))))


def threshold(b: tg.OpBuilder, op: ThresholdOp) -> SSAValue:
    is_bright = b.put(tg.CmpLtOp(b.put(tg.ConstOp(op.level)), op.image))
    return b.put(tg.CastOp(is_bright, f32))


def histogram(b: tg.OpBuilder, op: HistogramOp) -> SSAValue:
    """The number of pixels in each interval; a pixel of 1.0 counts in the last."""
    height, width = image_shape(op.image)
    (count,) = op.result.type.get_shape()
    pixels = b.put(tg.ReshapeOp(op.image, [height * width, 1]))
    scaled = b.put(tg.MulOp(pixels, b.put(tg.ConstOp(count, f32))))
    last = b.put(tg.ConstOp(count - 1, i32))
    interval = b.put(tg.CastOp(scaled, i32))
    interval = b.put(tg.WhereOp(b.put(tg.CmpLtOp(interval, last)), interval, last))
    intervals = b.put(tg.StackOp([b.put(tg.ConstOp(i, i32)) for i in range(count)]))
    is_in = b.put(tg.CastOp(b.put(tg.CmpEqOp(interval, intervals)), i32))
    counts = b.put(tg.ReduceOp(tg.ReduceKind.ADD, is_in, [0]))
    return b.put(tg.ReshapeOp(counts, [count]))


LOWERINGS: dict[type[Operation], Callable[[tg.OpBuilder, Any], SSAValue]] = {
    BlendOp: blend,
    Blur3x3Op: blur3x3,
    ThresholdOp: threshold,
    HistogramOp: histogram,
}


@dataclass(frozen=True)
class ImgToTgPass(ModulePass):
    """Rewrite image filters into tensor ops."""

    name = "img-to-tg"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for filter in list(op.walk()):
            if (lower := LOWERINGS.get(type(filter))) is None:
                continue
            if DYNAMIC_INDEX in image_shape(filter.operands[0]):
                raise locate(PassFailedException("the size of the image is not known"), filter)
            if not begins("lower", filter):  # `tg-bisect` stops the pass here.
                continue
            Rewriter.replace_op(filter, [], [lower(tg.OpBuilder.before(filter), filter)])
