"""How the ops of the `shard` dialect are made, and the bytes that they move."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import DenseArrayBase, FlatSymbolRefAttr, IntegerAttr, SymbolRefAttr, i64
from xdsl.dialects.shard import (
    AllReduceOp,
    BroadcastOp,
    CollectiveCommunicationOp,
    GatherOp,
    RecvOp,
    ReduceOp,
    ReductionKind,
    ReductionKindAttr,
    ScatterOp,
    SendOp,
)
from xdsl.ir import Attribute, SSAValue

from tgdialect.ops import tg
from tgdialect.ops.properties import tensor, tensor_type
from tgdialect.shard_dialect import AllGatherOp, AllSliceOp, AllToAllOp, ReduceScatterOp
from tgdialect.transforms.shard.grids import AXES, Grid

REDUCTIONS = {
    tg.ReduceKind.ADD: ReductionKind.SUM,
    tg.ReduceKind.MUL: ReductionKind.PRODUCT,
    tg.ReduceKind.MAX: ReductionKind.MAX,
}
"""The reduction of a collective for each kind of REDUCE."""


def _made(
    kind: type[CollectiveCommunicationOp],
    value: SSAValue,
    grid: Grid,
    properties: Mapping[str, Attribute],
    device: str | None = None,
    *,
    split: int | None = None,
    joined: int | None = None,
) -> CollectiveCommunicationOp:
    """An op whose result is on one device or on each, of as many cells as the operand, but that
    devices split one axis and join another."""
    name: FlatSymbolRefAttr = SymbolRefAttr(grid.name)
    shape, n = list(tensor(value).get_shape()), len(grid.devices)
    if split is not None:
        assert shape[split] % n == 0
        shape[split] //= n
    if joined is not None:
        shape[joined] *= n
    type = tensor_type(tensor(value).element_type, tuple(shape), tg.PlaceAttr.of(device))
    return kind.create(
        operands=[value],
        result_types=[type],
        properties={"grid": name, "grid_axes": AXES, **properties},
    )


def _number(number: int) -> Attribute:
    return IntegerAttr.from_index_int_value(number)


def _numbers(number: int) -> Attribute:
    return DenseArrayBase.from_list(i64, [number])


def _kind(kind: tg.ReduceKind) -> Attribute:
    return ReductionKindAttr(REDUCTIONS[kind])


def all_slice(value: SSAValue, axis: int, grid: Grid) -> CollectiveCommunicationOp:
    """The device's own part, along an axis, of a value that all have."""
    return _made(AllSliceOp, value, grid, {"slice_axis": _number(axis)}, split=axis)


def all_to_all(value: SSAValue, split: int, concat: int, grid: Grid) -> CollectiveCommunicationOp:
    """Part k along `split` goes to device k; what a device gets is joined along `concat`."""
    axes = {"split_axis": _number(split), "concat_axis": _number(concat)}
    return _made(AllToAllOp, value, grid, axes, split=split, joined=concat)


def all_gather(value: SSAValue, axis: int, grid: Grid) -> CollectiveCommunicationOp:
    """The values of all devices, joined along an axis."""
    return _made(AllGatherOp, value, grid, {"gather_axis": _number(axis)}, joined=axis)


def all_reduce(value: SSAValue, kind: tg.ReduceKind, grid: Grid) -> CollectiveCommunicationOp:
    """The reduction of the values of all devices."""
    return _made(AllReduceOp, value, grid, {"reduction": _kind(kind)})


def reduce_scatter(
    value: SSAValue, kind: tg.ReduceKind, axis: int, grid: Grid
) -> CollectiveCommunicationOp:
    """The device's own part, along an axis, of the reduction of the values of all devices."""
    properties = {"reduction": _kind(kind), "scatter_axis": _number(axis)}
    return _made(ReduceScatterOp, value, grid, properties, split=axis)


def scatter(value: SSAValue, axis: int, root: int, grid: Grid) -> CollectiveCommunicationOp:
    """The device's own part, along an axis, of a value of device number `root`."""
    properties = {"scatter_axis": _number(axis), "root": _numbers(root)}
    return _made(ScatterOp, value, grid, properties, split=axis)


def broadcast(value: SSAValue, root: int, grid: Grid) -> CollectiveCommunicationOp:
    """A value of device number `root`, on each device."""
    return _made(BroadcastOp, value, grid, {"root": _numbers(root)})


def gather(value: SSAValue, axis: int, root: int, grid: Grid) -> CollectiveCommunicationOp:
    """On device number `root`, the values of all devices joined along an axis."""
    properties = {"gather_axis": _number(axis), "root": _numbers(root)}
    return _made(GatherOp, value, grid, properties, grid.devices[root], joined=axis)


def reduce(
    value: SSAValue, kind: tg.ReduceKind, root: int, grid: Grid
) -> CollectiveCommunicationOp:
    """On device number `root`, the reduction of the values of all devices."""
    properties = {"reduction": _kind(kind), "root": _numbers(root)}
    return _made(ReduceOp, value, grid, properties, grid.devices[root])


def send(value: SSAValue, source: str, destination: str, grid: Grid) -> CollectiveCommunicationOp:
    """Send a value of one device to another; the result is the value."""
    where = _numbers(grid.devices.index(destination))
    return _made(SendOp, value, grid, {"destination": where}, source)


def receive(sent: SSAValue, source: str, destination: str, grid: Grid) -> CollectiveCommunicationOp:
    """The value that `send` has sent, on its destination."""
    where = _numbers(grid.devices.index(source))
    return _made(RecvOp, sent, grid, {"source": where}, destination)
