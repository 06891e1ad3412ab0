"""Views of memory, locations in it, and movements by a pair of numbers for each axis."""

from __future__ import annotations

from abc import ABC
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, DenseArrayBase, i64
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import AnyOf, operand_def, opt_operand_def, prop_def, result_def, traits_def

from tgdialect.fast_xdsl.definitions import op_definition
from tgdialect.legacy.attributes import ViewAttr
from tgdialect.legacy.base import LegacyOp, PureOp
from tgdialect.legacy.ops.framework import DeviceOp
from tgdialect.legacy.rules import made_by, producer, require
from tgdialect.ops import tg
from tgdialect.ops.base import TENSOR, VOID_EDGE


@op_definition
class ViewOp(LegacyOp, op="view", syntax="($source^)? $views"):
    """VIEW (u?), views: a ShapeTracker: how a shape is read out of the memory below it.

    Several views are merged ones: each is a view of the elements of the one before it in row-major
    order, and the first is a view of the source.

    Arguments: the views.
    Sources: memory or a value; a DEVICE, for a CONST there; none, for LOAD, STORE and VALID.
    Stage: lowering, scheduling.
    Becomes: reshape, permute, expand, pad, shrink and flip; `tg.index` at computed positions where
    no chain of these says it.

    `%1 = tg_legacy.view %0 [#tg_legacy.view<[4, 6], strides = [1, 4]>]
      : tensor<24xf32> -> tensor<4x6xf32>`
    """

    source = opt_operand_def(AnyOf((TENSOR, VOID_EDGE)))
    views = prop_def(ArrayAttr[ViewAttr])
    result = result_def(AnyOf((TENSOR, VOID_EDGE)))

    traits = traits_def(tg.PureInGraph())

    @property
    def device(self) -> Operation | None:
        """The DEVICE that this is a view of."""
        owner = None if self.source is None else self.source.owner
        return owner if isinstance(owner, DeviceOp) else None

    def verify_rule(self) -> None:
        require(bool(self.views.data), "a VIEW has at least one view")
        size = None
        if self.device is not None:
            size = 1  # The constant.
        elif self.source is not None:
            rule = "a VIEW is of memory, of a value, or of a DEVICE, not of "
            require(tg.is_tensor(self.source.type), f"{rule}{producer(self.source)}")
            size = known_size(self.source)
        self.verify_positions(size)

    def verify_positions(self, size: int | None) -> None:
        """Raise unless all positions are among `size` elements, None if these are not known."""
        for view in self.views:
            if size is not None and (positions := view.positions) is not None:
                first, end = positions
                is_inside = first >= 0 and end <= size
                require(is_inside, f"the view has positions {first} to {end - 1} of {size}")
            size = prod(view.shape)


def known_size(value: SSAValue) -> int | None:
    """The number of elements of a tensor; None if an extent is dynamic."""
    shape = tg.tensor(value).get_shape()
    return None if DYNAMIC_INDEX in shape else prod(shape)


@op_definition
class IndexOp(PureOp, op="index", syntax="$buffer `,` $position (`valid` $valid^)?"):
    """INDEX (buffer, position, valid?): the location of an element, or of each of a vector.

    Where `valid` is false a LOAD gives its alternative, and a STORE writes nothing.

    Arguments: none.
    Sources: memory of one axis, an integer, and a bool.
    Stage: lowering, codegen.
    Becomes: `tg.index`; `valid` is a gate of the LOAD or STORE that takes the location.

    `%2 = tg_legacy.index %0, %1 valid %v
      : (tensor<24xf32, #tg.place<global>>, tensor<i32>, tensor<i1>)
      -> tensor<f32, #tg.place<global>>`
    """

    buffer = operand_def(TENSOR)
    position = operand_def(TENSOR)
    valid = opt_operand_def(TENSOR)

    def verify_rule(self) -> None:
        verify_flat_memory(self.buffer)
        require(
            tg.dtype_of(self.position).is_integer and len(tg.shape_of(self.position)) <= 1,
            f"a position is an integer or a vector of them, not {self.position.type}",
        )
        if self.valid is not None:
            verify_condition(self.valid, self.position)


def verify_flat_memory(value: SSAValue) -> None:
    """Raise unless a value is memory of one axis that is not sharded."""
    is_flat = tg.is_memory(value) and len(tg.shape_of(value)) == 1 and tg.place(value).axis is None
    require(is_flat, f"expected memory of one axis on one device, got {value.type}")


def verify_condition(condition: SSAValue, of: SSAValue) -> None:
    """Raise unless a value is bool, of shape () or the shape of another value."""
    type, shape = tg.tensor(condition), tg.shape_of(condition)
    is_bool = type.element_type == tg.BOOL and (not shape or tg.same_shape(shape, tg.shape_of(of)))
    shapes = " or ".join(dict.fromkeys(("()", tg.show_shape(tg.shape_of(of)))))
    require(is_bool, f"a condition is bool, of shape {shapes}, not {type}")


@op_definition
class ValidOp(PureOp, op="valid", syntax="$view"):
    """VALID (view): for each element of a view whether its mask, if it has one, has it.

    Arguments: none.
    Sources: a VIEW.
    Stage: lowering.
    Becomes: the gate that the mask stands for: `tg.pad` of true with false.

    `%1 = tg_legacy.valid %0 : !tg.void -> tensor<4x6xi1>`
    """

    view = operand_def(AnyOf((TENSOR, VOID_EDGE)))

    def verify_rule(self) -> None:
        made_by(self.view, ViewOp, "the source of VALID is a VIEW, not ")


@op_definition
class GepOp(PureOp, op="gep", syntax="$vector custom<Integers>($lanes)"):
    """GEP (vector,), lanes: some lanes of a vector; one of them is a scalar.

    Arguments: the positions of the lanes.
    Sources: a vector.
    Stage: codegen.
    Becomes: `tg.index` with constants.

    `%1 = tg_legacy.gep %0 [3] : tensor<4xf32> -> tensor<f32>`
    """

    vector = operand_def(TENSOR)
    lanes = prop_def(DenseArrayBase.constr(i64))

    def verify_rule(self) -> None:
        shape, type = tg.tensor(self.vector).get_shape(), self.vector.type
        is_vector = not tg.is_memory(self.vector) and len(shape) == 1 and shape[0] != DYNAMIC_INDEX
        require(is_vector, f"GEP takes a vector, not {type}")
        lanes = self.lanes.get_values()
        require(bool(lanes), "GEP takes at least one lane")
        for lane in lanes:
            require(0 <= lane < shape[0], f"the vector has no lane {lane}: {type}")


class PairsOp(PureOp, ABC):
    """A movement with a pair of numbers for each axis."""

    source = operand_def(TENSOR)
    pairs = prop_def(ArrayAttr[ArrayAttr[tg.NumberAttr]])

    assembly_format = (
        "$source custom<AxisSizes>($pairs) attr-dict `:` type($source) `->` type($result)"
    )


@op_definition
class PadOp(PairsOp, op="pad"):
    """PAD (u), pairs: put zeros around the elements, so many before and after them on each axis.

    Arguments: for each axis, how many zeros come before and after.
    Sources: what is padded.
    Stage: high level, lowering.
    Becomes: `tg.pad` with `fill 0`.

    `%1 = tg_legacy.pad %0 [[1, 2]] : tensor<4xf32> -> tensor<7xf32>`
    """


@op_definition
class ShrinkOp(PairsOp, op="shrink"):
    """SHRINK (u), pairs: the elements from the first number of an axis up to the second.

    Arguments: for each axis, the first index and the one after the last.
    Sources: what is shrunk.
    Stage: high level, lowering.
    Becomes: `tg.shrink`.

    `%1 = tg_legacy.shrink %0 [[1, 3]] : tensor<4xf32> -> tensor<2xf32>`
    """
