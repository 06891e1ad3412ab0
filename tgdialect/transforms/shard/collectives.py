"""How the ops of the `shard` dialect are made, and what their properties are called."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, FlatSymbolRefAttr, IntegerAttr, SymbolRefAttr, i64
from xdsl.dialects.shard import (
    CollectiveCommunicationOp,
    GatherOp,
    ReductionKind,
    ReductionKindAttr,
    ScatterOp,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tgdialect.ops import tg
from tgdialect.shard_dialect import AllGatherOp, AllSliceOp, AllToAllOp, ReduceScatterOp
from tgdialect.transforms.shard.grids import AXES, Grid

REDUCTIONS = {
    tg.ReduceKind.ADD: ReductionKind.SUM,
    tg.ReduceKind.MUL: ReductionKind.PRODUCT,
    tg.ReduceKind.MAX: ReductionKind.MAX,
}
"""The reduction of a collective for each kind of REDUCE."""
SPLIT: dict[type[Operation], str] = {
    AllSliceOp: "slice_axis",
    AllToAllOp: "split_axis",
    ReduceScatterOp: "scatter_axis",
    ScatterOp: "scatter_axis",
}
"""The property that is the axis along which part k goes to device k."""
JOINED: dict[type[Operation], str] = {
    AllToAllOp: "concat_axis",
    AllGatherOp: "gather_axis",
    GatherOp: "gather_axis",
}
"""The property that is the axis along which the parts of all devices are joined."""


def collective(
    kind: type[CollectiveCommunicationOp],
    value: SSAValue,
    grid: Grid,
    *,
    split: int | None = None,
    joined: int | None = None,
    reduction: tg.ReduceKind | None = None,
    device: str | None = None,
    **numbers: int,
) -> CollectiveCommunicationOp:
    """A collective of a value of each device of a grid.

    Args:
        split: the axis of SPLIT.
        joined: the axis of JOINED.
        reduction: how the values of all devices are reduced.
        device: the device of the result; by default each has its own.
        numbers: properties that are the number of a device: root, source or destination.
    """
    name: FlatSymbolRefAttr = SymbolRefAttr(grid.name)
    properties: dict[str, Attribute] = {"grid": name, "grid_axes": AXES}
    if reduction is not None:
        properties["reduction"] = ReductionKindAttr(REDUCTIONS[reduction])
    shape, n = list(tg.tensor(value).get_shape()), len(grid.devices)
    if split is not None:
        assert shape[split] % n == 0
        shape[split] //= n
        properties[SPLIT[kind]] = IntegerAttr.from_index_int_value(split)
    if joined is not None:
        shape[joined] *= n
        properties[JOINED[kind]] = IntegerAttr.from_index_int_value(joined)
    for name_, number in numbers.items():
        properties[name_] = DenseArrayBase.from_list(i64, [number])
    type = tg.tensor_type(tg.tensor(value).element_type, tuple(shape), tg.PlaceAttr.of(device))
    return kind.create(operands=[value], result_types=[type], properties=properties)
