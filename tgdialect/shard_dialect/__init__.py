"""Upstream's dialect of programs that every device of a grid runs, as far as xDSL lacks it.

Names, properties and assembly are upstream MLIR's, so `mlir-opt` reads what is printed, and we read
what it prints.

`SHARD_WITH_GAPS` is the `shard` dialect with the collectives that xDSL 0.74 does not have.

Source: MLIR's documentation of the dialect 'shard', which LLVM 19 and 20 call 'mesh'.
"""

from __future__ import annotations

from abc import ABC

from xdsl.dialects import shard
from xdsl.dialects.builtin import IndexTypeConstr, IntegerAttr, TensorType
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tgdialect.fast_xdsl.formats import op_definition

_TENSOR = TensorType[Attribute]
_AXIS = IntegerAttr.constr(IndexTypeConstr)


def _format(arguments: str) -> str:
    return (
        f"$input `on` $grid (`grid_axes` `=` $grid_axes^)? {arguments} attr-dict `:` "
        "type($input) `->` type($result)"
    )


class _CollectiveOp(shard.CollectiveCommunicationOp, ABC):
    input = operand_def(_TENSOR)
    result = result_def(_TENSOR)

    traits = traits_def(Pure())


@op_definition
class AllGatherOp(_CollectiveOp):
    """The concatenation of the values of all devices along `gather_axis`, on each device.

    ```mlir
    %1 = shard.all_gather %0 on @devices grid_axes = [0] gather_axis = 0
      : tensor<2xf32> -> tensor<8xf32>
    ```
    """

    name = "shard.all_gather"

    gather_axis = prop_def(_AXIS)

    assembly_format = _format("`gather_axis` `=` $gather_axis")


@op_definition
class AllToAllOp(_CollectiveOp):
    """Each value is split along `split_axis`, part k goes to device k, and the parts that a device
    gets are concatenated along `concat_axis`.

    ```mlir
    %1 = shard.all_to_all %0 on @devices grid_axes = [0] split_axis = 0 concat_axis = 1
      : tensor<4x2xf32> -> tensor<1x8xf32>
    ```
    """

    name = "shard.all_to_all"

    split_axis = prop_def(_AXIS)
    concat_axis = prop_def(_AXIS)

    assembly_format = _format("`split_axis` `=` $split_axis `concat_axis` `=` $concat_axis")


@op_definition
class ReduceScatterOp(_CollectiveOp):
    """The reduction of the values of all devices, of which device k gets part k along
    `scatter_axis`.

    ```mlir
    %1 = shard.reduce_scatter %0 on @devices grid_axes = [0] reduction = <max> scatter_axis = 0
      : tensor<8xf32> -> tensor<2xf32>
    ```
    """

    name = "shard.reduce_scatter"

    reduction = prop_def(
        shard.ReductionKindAttr, default_value=shard.ReductionKindAttr(shard.ReductionKind.SUM)
    )
    scatter_axis = prop_def(_AXIS)

    assembly_format = _format("(`reduction` `=` $reduction^)? `scatter_axis` `=` $scatter_axis")


@op_definition
class AllSliceOp(_CollectiveOp):
    """Part k along `slice_axis`, on device k, of a value that all devices have.

    ```mlir
    %1 = shard.all_slice %0 on @devices grid_axes = [0] slice_axis = 0
      : tensor<8xf32> -> tensor<2xf32>
    ```
    """

    name = "shard.all_slice"

    slice_axis = prop_def(_AXIS)

    assembly_format = _format("`slice_axis` `=` $slice_axis")


SHARD_WITH_GAPS = Dialect(
    "shard",
    [*shard.Shard.operations, AllGatherOp, AllSliceOp, AllToAllOp, ReduceScatterOp],
    [*shard.Shard.attributes],
)
"""xDSL's dialect with the ops above."""
