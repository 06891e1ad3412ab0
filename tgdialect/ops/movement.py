"""Movement ops: no arithmetic; views, indexing and reinterpretation only.

A movement op on memory gives memory: the result has the device and the address space of the source,
and a STORE to it writes the cells that it shows.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl import irdl
from xdsl.dialects.builtin import DYNAMIC_INDEX, I64, DenseArrayBase, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.fast_xdsl.unchecked import segments
from tgdialect.ops.base import INDEX_SCALAR, SIGNATURE, TENSOR, TgOp, Value, ValueOp
from tgdialect.ops.canonicalization import HasTgCanonicalization
from tgdialect.ops.dtypes import check_representable
from tgdialect.ops.properties import (
    NAME_THE_EXTENT,
    Dim,
    UnknownDim,
    dtype_of,
    number,
    static_indices,
    tensor,
    type_of_number,
)
from tgdialect.ops.syntax import DynamicIndexList

MixedDims = Sequence[Dim]
"""Extents or offsets: integers, or `tensor<index>` values."""


def split(dims: MixedDims) -> tuple[DenseArrayBase[I64], list[SSAValue]]:
    """A mixed list as the static array with markers, and the values in order."""
    for dim in dims:
        if isinstance(dim, UnknownDim):
            raise VerifyException(
                f"no index value is known for the extent of axis {dim.axis} of a {dim.value.type}; "
                f"{NAME_THE_EXTENT}"
            )
    static = [d if isinstance(d, int) else DYNAMIC_INDEX for d in dims]
    return static_indices(tuple(static)), [d for d in dims if isinstance(d, SSAValue)]


class MovementOp(ValueOp, ABC):
    """A view of one source."""

    custom_directives = (*TgOp.custom_directives, DynamicIndexList)

    traits = irdl.traits_def(HasTgCanonicalization())

    @property
    def is_valid_by_types(self) -> bool:
        # Extents, offsets and indices may be values.
        return len(self.operands) == 1


@op_definition
class PermuteOp(MovementOp):
    """PERMUTE (T,), axis order: axis i of the result is axis order[i] of T.

    `%1 = tg.permute %0 [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>`
    """

    name = "tg.permute"

    source = irdl.operand_def(TENSOR)
    order = irdl.prop_def(DenseArrayBase.constr(i64))

    assembly_format = f"$source custom<Integers>($order) {SIGNATURE}"

    def __init__(self, source: Value, order: Sequence[int]):
        self.infer((source,), {"order": static_indices(tuple(order))})


@op_definition
class FlipOp(MovementOp):
    """FLIP (T,), bools: reverse along the flagged axes.

    `%1 = tg.flip %0 [true, false] : tensor<4x8xf32>`
    """

    name = "tg.flip"

    source = irdl.operand_def(TENSOR)
    flags = irdl.prop_def(DenseArrayBase.constr(i1))

    assembly_format = f"$source custom<Integers>($flags) {SIGNATURE}"

    def __init__(self, source: Value, flags: Sequence[bool]):
        self.infer((source,), {"flags": DenseArrayBase.from_list(i1, [int(f) for f in flags])})


class ResizeOp(MovementOp, ABC):
    """A view whose new shape is an argument; its dynamic extents are index operands."""

    source = irdl.operand_def(TENSOR)
    dims = irdl.var_operand_def(INDEX_SCALAR)
    shape = irdl.prop_def(DenseArrayBase.constr(i64))

    assembly_format = (
        "$source custom<DynamicIndexList>($dims, $shape) attr-dict `:` "
        "type($source) `->` type($result)"
    )

    def __init__(self, source: Value, shape: MixedDims):
        static, dynamic = split(shape)
        self.infer((source, *dynamic), {"shape": static})


@op_definition
class ReshapeOp(ResizeOp):
    """RESHAPE (T, s'): reinterpret in row-major order, with the same number of elements.

    `%1 = tg.reshape %0 [8, 4] : tensor<4x8xf32> -> tensor<8x4xf32>`
    """

    name = "tg.reshape"


@op_definition
class ExpandOp(ResizeOp):
    """EXPAND (T, s'): repeat size-1 axes.

    `%1 = tg.expand %0 [4, 8] : tensor<4x1xf32> -> tensor<4x8xf32>`
    """

    name = "tg.expand"


class WindowOp(MovementOp, ABC):
    """A view with an offset and a new extent per axis."""

    source = irdl.operand_def(TENSOR)
    offset_dims = irdl.var_operand_def(INDEX_SCALAR)
    dims = irdl.var_operand_def(INDEX_SCALAR)
    offsets = irdl.prop_def(DenseArrayBase.constr(i64))
    shape = irdl.prop_def(DenseArrayBase.constr(i64))

    irdl_options = (irdl.AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self, source: Value, offsets: MixedDims, shape: MixedDims, fill: Attribute | None = None
    ):
        static_offsets, dynamic_offsets = split(offsets)
        static_shape, dynamic_shape = split(shape)
        self.infer(
            (source, *dynamic_offsets, *dynamic_shape),
            {
                "offsets": static_offsets,
                "shape": static_shape,
                "fill": fill,
                "operandSegmentSizes": segments(1, len(dynamic_offsets), len(dynamic_shape)),
            },
        )


@op_definition
class PadOp(WindowOp):
    """PAD (T, o, s'): place T at offset o in an output of shape s' whose other cells are invalid.

    Reductions skip invalid cells, STORE does not write them, and in memory they are 0. With `fill`
    these cells are valid and have that value.

    `%1 = tg.pad %0 at [0, 2] to [4, 12] : tensor<4x8xf32> -> tensor<4x12xf32>`
    `%1 = tg.pad %0 at [1] to [6] fill 1.0 : f32 : tensor<4xf32> -> tensor<6xf32>`
    """

    name = "tg.pad"

    fill = irdl.opt_prop_def(irdl.AnyAttr())

    assembly_format = (
        "$source `at` custom<DynamicIndexList>($offset_dims, $offsets) "
        "`to` custom<DynamicIndexList>($dims, $shape) (`fill` $fill^)? attr-dict `:` "
        "type($source) `->` type($result)"
    )

    def verify_rule(self) -> None:
        if self.fill is None:
            return
        dtype = tensor(self.source).element_type
        value = number(self.fill)
        if (type := type_of_number(self.fill)) != dtype:
            raise VerifyException(f"the fill is {type}, the tensor {dtype}")
        check_representable(dtype_of(self.source), value)


@op_definition
class ShrinkOp(WindowOp):
    """SHRINK (T, o, s'): keep s' elements from offset o on, per axis. The inverse of PAD.

    `%1 = tg.shrink %0 at [0, 2] to [4, 8] : tensor<4x12xf32> -> tensor<4x8xf32>`
    """

    name = "tg.shrink"

    assembly_format = (
        "$source `at` custom<DynamicIndexList>($offset_dims, $offsets) "
        "`to` custom<DynamicIndexList>($dims, $shape) attr-dict `:` "
        "type($source) `->` type($result)"
    )

    def __init__(self, source: Value, offsets: MixedDims, shape: MixedDims):
        super().__init__(source, offsets, shape)


@op_definition
class IndexOp(MovementOp):
    """INDEX (T, i0, i1, ...): index from the left; () removes an axis, (k,) makes it k.

    If T is memory the result is a location, to be loaded or stored. Reading out of bounds gives 0,
    and writing out of bounds does nothing.

    `%2 = tg.index %0[%1] : (tensor<4x8xf32>, tensor<index>) -> tensor<8xf32>`
    """

    name = "tg.index"

    source = irdl.operand_def(TENSOR)
    indices = irdl.var_operand_def(TENSOR)

    assembly_format = f"$source `[` $indices `]` {SIGNATURE}"

    def __init__(self, source: Value, indices: Sequence[Value]):
        self.infer((source, *indices))

    def verify_rule(self) -> None:
        for position, index in enumerate(self.indices):
            if not (dtype := dtype_of(index)).is_integer:
                raise VerifyException(f"index {position} is of {dtype.name}, not an integer")


@op_definition
class StackOp(MovementOp):
    """STACK (T0, T1, ...): join along a new leading axis. All shapes and dtypes match.

    `%2 = tg.stack %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>`
    """

    name = "tg.stack"

    sources = irdl.var_operand_def(TENSOR)

    assembly_format = f"$sources {SIGNATURE}"

    def __init__(self, sources: Sequence[Operation | SSAValue]):
        self.infer(sources)

    def verify_rule(self) -> None:
        dtypes = [dtype_of(v).name for v in self.sources]
        for dtype in dtypes[1:]:
            if dtype != dtypes[0]:
                raise VerifyException(f"operands have different dtypes: {dtypes[0]} and {dtype}")


@op_definition
class BitcastOp(MovementOp):
    """BITCAST (T,), dtype: reinterpret storage, with the same number of bytes.

    `%1 = tg.bitcast %0 to i32 : tensor<4xf32> -> tensor<4xi32>`
    `%1 = tg.bitcast %0 to ui8 : tensor<4xf32> -> tensor<16xui8>`
    """

    name = "tg.bitcast"

    source = irdl.operand_def(TENSOR)
    dtype = irdl.prop_def(irdl.AnyAttr())

    assembly_format = f"$source `to` $dtype {SIGNATURE}"

    def __init__(self, source: Value, dtype: Attribute):
        self.infer((source,), {"dtype": dtype})
