"""The `shard` dialect: xDSL's, with the collectives of upstream's that xDSL lacks."""

from __future__ import annotations

from xdsl.dialects import shard
from xdsl.dialects.builtin import IndexTypeConstr, IntegerAttr, TensorType
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tgdialect.fast_xdsl.formats import op_definition

_TENSOR = TensorType[Attribute]
_AXIS = IntegerAttr.constr(IndexTypeConstr)


@op_definition
class AllGatherOp(shard.CollectiveCommunicationOp):
    """The concatenation of the values of all devices along `gather_axis`, on each device.

    ```mlir
    %1 = shard.all_gather %0 on @devices grid_axes = [0] gather_axis = 0
      : tensor<2xf32> -> tensor<8xf32>
    ```
    """

    name = "shard.all_gather"

    input = operand_def(_TENSOR)
    gather_axis = prop_def(_AXIS)
    result = result_def(_TENSOR)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `on` $grid (`grid_axes` `=` $grid_axes^)? `gather_axis` `=` $gather_axis "
        "attr-dict `:` type($input) `->` type($result)"
    )


@op_definition
class AllToAllOp(shard.CollectiveCommunicationOp):
    """Each value is split along `split_axis`, part k goes to device k, and the parts that a device
    gets are concatenated along `concat_axis`.

    ```mlir
    %1 = shard.all_to_all %0 on @devices grid_axes = [0] split_axis = 0 concat_axis = 1
      : tensor<4x2xf32> -> tensor<1x8xf32>
    ```
    """

    name = "shard.all_to_all"

    input = operand_def(_TENSOR)
    split_axis = prop_def(_AXIS)
    concat_axis = prop_def(_AXIS)
    result = result_def(_TENSOR)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `on` $grid (`grid_axes` `=` $grid_axes^)? `split_axis` `=` $split_axis "
        "`concat_axis` `=` $concat_axis attr-dict `:` type($input) `->` type($result)"
    )


@op_definition
class ReduceScatterOp(shard.CollectiveCommunicationOp):
    """The reduction of the values of all devices, of which device k gets part k along
    `scatter_axis`.

    ```mlir
    %1 = shard.reduce_scatter %0 on @devices grid_axes = [0] reduction = <max> scatter_axis = 0
      : tensor<8xf32> -> tensor<2xf32>
    ```
    """

    name = "shard.reduce_scatter"

    input = operand_def(_TENSOR)
    reduction = prop_def(
        shard.ReductionKindAttr, default_value=shard.ReductionKindAttr(shard.ReductionKind.SUM)
    )
    scatter_axis = prop_def(_AXIS)
    result = result_def(_TENSOR)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `on` $grid (`grid_axes` `=` $grid_axes^)? (`reduction` `=` $reduction^)? "
        "`scatter_axis` `=` $scatter_axis attr-dict `:` type($input) `->` type($result)"
    )


@op_definition
class AllSliceOp(shard.CollectiveCommunicationOp):
    """Part k along `slice_axis`, on device k, of a value that all devices have.

    ```mlir
    %1 = shard.all_slice %0 on @devices grid_axes = [0] slice_axis = 0
      : tensor<8xf32> -> tensor<2xf32>
    ```
    """

    name = "shard.all_slice"

    input = operand_def(_TENSOR)
    slice_axis = prop_def(_AXIS)
    result = result_def(_TENSOR)

    traits = traits_def(Pure())

    assembly_format = (
        "$input `on` $grid (`grid_axes` `=` $grid_axes^)? `slice_axis` `=` $slice_axis "
        "attr-dict `:` type($input) `->` type($result)"
    )


SHARD_WITH_GAPS = Dialect(
    "shard",
    [*shard.Shard.operations, AllGatherOp, AllSliceOp, AllToAllOp, ReduceScatterOp],
    [*shard.Shard.attributes],
)
"""xDSL's dialect with the ops above."""
