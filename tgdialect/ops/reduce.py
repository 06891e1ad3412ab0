"""Reduce ops: collapse axes to size 1."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, UnitAttr, i64
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, opt_prop_def, prop_def, traits_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

from tgdialect.diagnostics import facts
from tgdialect.fast_xdsl import unchecked
from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.ops.attributes import ReduceKind, ReduceKindAttr, WmmaAttr
from tgdialect.ops.base import INDEX_SCALAR, TENSOR, Value, ValueOp
from tgdialect.ops.canonicalization import HasTgCanonicalization
from tgdialect.ops.dtypes import F32, DType, dtype_row
from tgdialect.ops.elementwise import AddOp, MaxOp, MulOp
from tgdialect.ops.ordering import RangeOp, dependent_ranges
from tgdialect.ops.properties import static_indices, tensor

ALU: dict[ReduceKind, type[AddOp | MulOp | MaxOp]] = {
    ReduceKind.ADD: AddOp,
    ReduceKind.MUL: MulOp,
    ReduceKind.MAX: MaxOp,
}
"""The elementwise op of each kind of reduction."""


def identity(kind: ReduceKind, dtype: DType) -> int | float:
    """The identity of a reduction: 0, 1, or the least value of the dtype."""
    match kind:
        case ReduceKind.ADD:
            return 0
        case ReduceKind.MUL:
            return 1
        case ReduceKind.MAX:
            return dtype.low


@op_definition
class ReduceOp(ValueOp):
    """REDUCE (T, r0, r1, ...), op, axes: reduce T along axes and over ranges.

    Each axis in `axes` becomes 1; ranges do not change the shape. Invalid cells are skipped, and an
    empty reduction gives the identity of `op`. On floats the order is free for add and mul unless
    `ordered` is set; f16, bf16 and fp8 accumulate in f32. A sum begins with +0: it is never -0. On
    bools add is or, mul is and, max is or.

    A max of floats that is `relaxed` may be any of the elements if one of them is NaN, and either
    zero if it is zero, as with WebAssembly's `relaxed_max`. A processor may need one instruction
    for a step of it, and six for one of the exact maximum.

    `wmma` says that WMMAs compute this sum of products (OptOp TC): the fragment of C that a thread
    of the WARP range holds is in the UPCAST ranges with the ids of `on`, the last of which is the
    range of K. The threads' products are not rounded to the dtype of the factors.

    `%1 = tg.reduce add %0 [1] : tensor<4x8xf32> -> tensor<4x1xf32>`
    `%1 = tg.reduce max %0 [] over %r : tensor<f32> -> tensor<f32>`
    """

    name = "tg.reduce"

    kind = prop_def(ReduceKindAttr, prop_name="op")
    axes = prop_def(DenseArrayBase.constr(i64))
    ordered = opt_prop_def(UnitAttr)
    relaxed = opt_prop_def(UnitAttr)
    wmma = opt_prop_def(WmmaAttr)
    fragment = opt_prop_def(DenseArrayBase.constr(i64))
    source = operand_def(TENSOR)
    ranges = var_operand_def(INDEX_SCALAR)

    traits = traits_def(HasTgCanonicalization())

    assembly_format = (
        "$op $source custom<Integers>($axes) (`over` $ranges^)? (`ordered` $ordered^)? "
        "(`relaxed` $relaxed^)? "
        "(`wmma` $wmma^ `on` custom<Integers>($fragment))? attr-dict "
        "`:` type($source) `->` type($result)"
    )

    def __init__(
        self,
        kind: ReduceKind,
        source: Value,
        axes: Sequence[int] = (),
        ranges: Sequence[Value] = (),
        *,
        ordered: bool = False,
        relaxed: bool = False,
    ):
        self.infer(
            (source, *ranges),
            {
                "op": unchecked.made(ReduceKindAttr, data=kind),
                "axes": static_indices(tuple(axes)),
                "ordered": UnitAttr() if ordered else None,
                "relaxed": UnitAttr() if relaxed else None,
            },
        )

    def over(self, source: Value, axes: Sequence[int], ranges: Sequence[Value]) -> ReduceOp:
        """The same reduction of another operand or of fewer loops, by the same instructions."""
        op = ReduceOp(self.kind.data, source, axes, ranges)
        op.properties = {**self.properties, **op.properties}
        return op

    def verify_rule(self) -> None:
        is_float = dtype_row(tensor(self.source).element_type).is_float
        if self.relaxed is not None and not (is_float and self.kind.data is ReduceKind.MAX):
            raise VerifyException("only a max of floats is relaxed")
        if not self.ranges:
            return
        open_ranges = dependent_ranges(self.source, facts(RangeOp))
        if len({*self.ranges}) < len(self.ranges):
            raise VerifyException("a REDUCE goes over each range once")
        for range in self.ranges:
            if not isinstance(range.owner, RangeOp):
                raise VerifyException("a REDUCE goes over RANGEs only")
            if range.owner not in open_ranges:
                raise VerifyException(
                    "a REDUCE goes over a range that its operand does not depend on"
                )


def accumulated_dtype(op: ReduceOp) -> Attribute:
    """The dtype that a REDUCE accumulates in: f32 for sums and products of narrower floats, which
    round. MAX does not."""
    element_type = tensor(op.source).element_type
    dtype = dtype_row(element_type)
    is_narrow = dtype.is_float and dtype.bits < 32 and op.kind.data is not ReduceKind.MAX
    return F32 if is_narrow else element_type
