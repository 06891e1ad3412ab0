"""How the ops of the `shard` dialect are made, and the bytes that they move."""

from __future__ import annotations

from collections.abc import Sequence

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
    shape: Sequence[int],
    grid: Grid,
    device: str | None = None,
    **properties: Attribute,
) -> CollectiveCommunicationOp:
    """An op whose result has a shape, on one device or on each."""
    name: FlatSymbolRefAttr = SymbolRefAttr(grid.name)
    type = tensor_type(tensor(value).element_type, tuple(shape), tg.PlaceAttr.of(device))
    return kind.create(
        operands=[value],
        result_types=[type],
        properties={"grid": name, "grid_axes": AXES, **properties},
    )


def _shape(value: SSAValue, axis: int, times: int = 1, parts: int = 1) -> list[int]:
    """The shape of a value, with one extent multiplied and divided."""
    shape = list(tensor(value).get_shape())
    assert shape[axis] % parts == 0
    shape[axis] = shape[axis] * times // parts
    return shape


def _number(number: int) -> Attribute:
    return IntegerAttr.from_index_int_value(number)


def _numbers(number: int) -> Attribute:
    return DenseArrayBase.from_list(i64, [number])


def _kind(kind: tg.ReduceKind) -> Attribute:
    return ReductionKindAttr(REDUCTIONS[kind])


def all_slice(value: SSAValue, axis: int, grid: Grid) -> CollectiveCommunicationOp:
    """The device's own part, along an axis, of a value that all have."""
    shape = _shape(value, axis, parts=len(grid.devices))
    return _made(AllSliceOp, value, shape, grid, slice_axis=_number(axis))


def all_to_all(value: SSAValue, split: int, concat: int, grid: Grid) -> CollectiveCommunicationOp:
    """Part k along `split` goes to device k; what a device gets is joined along `concat`."""
    shape, n = list(tensor(value).get_shape()), len(grid.devices)
    shape[split] //= n
    shape[concat] *= n
    return _made(
        AllToAllOp, value, shape, grid, split_axis=_number(split), concat_axis=_number(concat)
    )


def all_gather(value: SSAValue, axis: int, grid: Grid) -> CollectiveCommunicationOp:
    """The values of all devices, joined along an axis."""
    shape = _shape(value, axis, times=len(grid.devices))
    return _made(AllGatherOp, value, shape, grid, gather_axis=_number(axis))


def all_reduce(value: SSAValue, kind: tg.ReduceKind, grid: Grid) -> CollectiveCommunicationOp:
    """The reduction of the values of all devices."""
    return _made(AllReduceOp, value, tensor(value).get_shape(), grid, reduction=_kind(kind))


def reduce_scatter(
    value: SSAValue, kind: tg.ReduceKind, axis: int, grid: Grid
) -> CollectiveCommunicationOp:
    """The device's own part, along an axis, of the reduction of the values of all devices."""
    shape = _shape(value, axis, parts=len(grid.devices))
    return _made(
        ReduceScatterOp, value, shape, grid, reduction=_kind(kind), scatter_axis=_number(axis)
    )


def scatter(value: SSAValue, axis: int, root: int, grid: Grid) -> CollectiveCommunicationOp:
    """The device's own part, along an axis, of a value of device number `root`."""
    shape = _shape(value, axis, parts=len(grid.devices))
    return _made(ScatterOp, value, shape, grid, scatter_axis=_number(axis), root=_numbers(root))


def broadcast(value: SSAValue, root: int, grid: Grid) -> CollectiveCommunicationOp:
    """A value of device number `root`, on each device."""
    return _made(BroadcastOp, value, tensor(value).get_shape(), grid, root=_numbers(root))


def gather(value: SSAValue, axis: int, root: int, grid: Grid) -> CollectiveCommunicationOp:
    """On device number `root`, the values of all devices joined along an axis."""
    shape = _shape(value, axis, times=len(grid.devices))
    device = grid.devices[root]
    return _made(
        GatherOp, value, shape, grid, device, gather_axis=_number(axis), root=_numbers(root)
    )


def reduce(
    value: SSAValue, kind: tg.ReduceKind, root: int, grid: Grid
) -> CollectiveCommunicationOp:
    """On device number `root`, the reduction of the values of all devices."""
    shape, device = tensor(value).get_shape(), grid.devices[root]
    return _made(ReduceOp, value, shape, grid, device, reduction=_kind(kind), root=_numbers(root))


def send(value: SSAValue, source: str, destination: str, grid: Grid) -> CollectiveCommunicationOp:
    """Send a value of one device to another; the result is the value."""
    where = _numbers(grid.devices.index(destination))
    return _made(SendOp, value, tensor(value).get_shape(), grid, source, destination=where)


def receive(sent: SSAValue, source: str, destination: str, grid: Grid) -> CollectiveCommunicationOp:
    """The value that `send` has sent, on its destination."""
    where = _numbers(grid.devices.index(source))
    return _made(RecvOp, sent, tensor(sent).get_shape(), grid, destination, source=where)
