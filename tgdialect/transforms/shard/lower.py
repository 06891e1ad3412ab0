"""`tg-lower-shards`: from a program on several devices to the one that each of them runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.dialects.shard import (
    AllReduceOp,
    BroadcastOp,
    CollectiveCommunicationOp,
    GatherOp,
    RecvOp,
    ScatterOp,
    SendOp,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from tgdialect.analysis.symbols import own_functions
from tgdialect.analysis.validity import Validity
from tgdialect.ops import tg
from tgdialect.ops.movement import MixedDims
from tgdialect.ops.source import parameters
from tgdialect.shard_dialect import AllGatherOp, AllSliceOp, AllToAllOp
from tgdialect.transforms.shard.collectives import collective
from tgdialect.transforms.shard.extents import name_extents
from tgdialect.transforms.shard.grids import Grid, Grids
from tgdialect.transforms.substitution import Flattening

INPUTS, RESULTS = "tg.inputs", "tg.results"
"""The attributes of a lowered function that say where its arguments and results were: a `#tg.place`
for each."""
SELF = "SELF"
"""The device of a BUFFER that each device has."""


@dataclass(frozen=True)
class LowerShardsPass(ModulePass):
    """Turn each function with values on several devices into the program that every device runs.

    A sharded value becomes the device's own part of it, and a replicated one the whole. COPY, LOAD
    to other devices, and REDUCE of the sharding axis become collectives of the `shard` dialect.
    Values on one device keep its name. FUNCTIONs and calls are substituted.
    """

    name = "tg-lower-shards"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        lower_shards(op)


def lower_shards(module: ModuleOp, processes: Callable[[], int] = lambda: 0) -> None:
    """Apply the pass; `processes` gives the number of processes of MPI if it is known. A module
    that names one device at most, which is no process of MPI, stays as it is."""
    grids = Grids(module, processes)
    if not grids.is_sharded:
        return
    functions = list(own_functions(module))
    entries = [f for f in functions if f.sym_visibility != StringAttr("private")]
    lowered = [_Lowering(f, grids).run() for f in entries]
    for old, new in zip(entries, lowered, strict=True):
        module.body.block.insert_op_before(new, old)
    for old in functions:
        module.body.block.erase_op(old, safe_erase=False)


def local_type(type: Attribute) -> Attribute:
    """The type of a device's own part of a value."""
    if not tg.is_tensor(type):
        return type
    where = tg.place_of(type)
    if not isinstance(where.device, tuple):
        return type
    shape = list(type.get_shape())
    if where.axis is not None:
        shape[where.axis] //= len(where.device)
    return tg.tensor_type(type.element_type, tuple(shape), tg.PlaceAttr.of(None, where.addrspace))


class _Lowering(Flattening):
    """The lowering of one function."""

    def __init__(self, function: FuncOp, grids: Grids) -> None:
        super().__init__(function, lambda value: local_type(value.type))
        self.grids = grids
        self.validity = Validity()

    def run(self) -> FuncOp:
        old, new = self.function, super().run()
        new.res_attrs = None
        sizes = [tg.tensor_type(tg.INDEX)] * name_extents(new)
        new.attributes[INPUTS] = _places([*_inputs(old), *sizes])
        new.attributes[RESULTS] = _places(old.function_type.outputs.data)
        return new

    # -- ops

    def converted(self, op: tg.TgOp) -> SSAValue:
        new = self.lowered(op)
        new.name_hint = new.name_hint or op.results[0].name_hint
        wanted, found = local_type(op.results[0].type), new.type
        if tg.is_tensor(wanted) and tg.is_tensor(found) and wanted.get_shape() != found.get_shape():
            raise self.error(f"{op.name} of sharded values gives {found}, not {wanted}", op)
        return new

    def lowered(self, op: tg.TgOp) -> SSAValue:
        """The device's own part of the result of an op."""
        values = [self.values[v] for v in op.operands]
        match op:
            case tg.CopyOp():
                whole = self.in_memory(values[0], op.source)
                return self.moved(whole, tg.place(op.source), tg.place(op.result).device)
            case tg.LoadOp() if "device" in op.properties:
                here = self.put(tg.LoadOp(*self.aligned(op, values)))
                return self.moved(here, tg.place(op.buffer), tg.place(op.result).device)
            case tg.ReplicatedOp():
                shape = self.mixed(tg.shape_of(op.result))
                return self.put(tg.ReshapeOp(values[0], shape))
            case tg.ReduceOp():
                return self.reduced(op, values[0])
            case tg.ResizeOp():
                return self.put(type(op)(values[0], self.extents(op)))
            case tg.ShrinkOp():
                return self.put(tg.ShrinkOp(values[0], self.offsets(op), self.extents(op)))
            case tg.PadOp():
                return self.put(tg.PadOp(values[0], self.offsets(op), self.extents(op), op.fill))
            case tg.IndexOp():
                return self.put(op.rebuild(values))
            case tg.BufferOp():
                return self.put(op.rebuild(values, _on_itself(local_type(op.result.type))))
            case _:
                written = local_type(op.results[0].type) if tg.is_type_written(op) else None
                new = op.rebuild(self.aligned(op, values), written)
                new.attributes.update(op.attributes)
                return self.put(new)

    def put(self, op: Operation) -> SSAValue:
        return self.builder.put(op)

    def extents(self, op: tg.ResizeOp | tg.WindowOp) -> MixedDims:
        """The new extents of a view, of which a sharded one is the device's own part."""
        dims = self.mixed(tg.mixed(op, "shape", op.dims))
        where = tg.place(op.result)
        if isinstance(where.device, tuple) and where.axis is not None:
            extent = dims[where.axis]
            assert isinstance(extent, int), "the type says that it is static"
            dims[where.axis] = extent // len(where.device)
        return dims

    def offsets(self, op: tg.WindowOp) -> MixedDims:
        return self.mixed(tg.mixed(op, "offsets", op.offset_dims))

    def mixed(self, dims: Sequence[tg.Dim]) -> list[int | SSAValue]:
        return [self.values[d] if isinstance(d, SSAValue) else d for d in dims]  # pyright: ignore

    def aligned(self, op: tg.TgOp, values: Sequence[SSAValue]) -> list[SSAValue]:
        """The operands of an op that takes cells at the same coordinates of all: where some are
        sharded, the device's own part of those that each device has whole."""
        operands = [v for v in op.operands if tg.is_tensor(v.type)]
        rank = max((len(tg.tensor(v).shape) for v in operands), default=0)
        sharded = [
            (where.device, where.axis + rank - len(tg.tensor(v).shape))
            for v in operands
            if (where := tg.place(v)).axis is not None
        ]
        if not sharded:
            return list(values)
        devices, axis = sharded[0]
        assert isinstance(devices, tuple)
        grid = self.grids[devices]
        result: list[SSAValue] = []
        for old, new in zip(op.operands, values, strict=True):
            if tg.is_tensor(old.type) and tg.place(old).axis is None:
                own = axis - rank + len(tg.tensor(old).shape)
                if own >= 0 and tg.tensor(old).get_shape()[own] != 1:
                    new = self.collective(AllSliceOp, new, grid, split=own)
            result.append(new)
        return result

    def reduced(self, op: tg.ReduceOp, value: SSAValue) -> SSAValue:
        """A REDUCE of the device's own part, and then over all devices if it has the sharding
        axis. One in order needs the whole value."""
        where = tg.place(op.source)
        if where.axis is None or where.axis not in op.axes.get_values():
            return self.put(op.rebuild([value]))
        assert isinstance(where.device, tuple)
        grid = self.grids[where.device]
        if op.ordered is not None:
            return self.put(
                op.rebuild([self.collective(AllGatherOp, value, grid, joined=where.axis)])
            )
        own = self.put(op.rebuild([value]))
        return self.collective(AllReduceOp, own, grid, reduction=op.kind.data)

    # -- moves

    def in_memory(self, value: SSAValue, old: SSAValue) -> SSAValue:
        """The operand of a COPY: invalid cells of a value are 0 in memory."""
        return value if self.validity[old] else self.put(tg.ContiguousOp(value))

    def moved(self, value: SSAValue, where: tg.PlaceAttr, target: tg.Device) -> SSAValue:
        """A value on other devices: to a tuple it is sharded along axis 0."""
        source, axis = where.device, where.axis
        if self.grids.is_everywhere(source):
            source = None
        if isinstance(target, str):
            return self.moved_to_one(value, source, axis, target)
        assert target is not None
        grid = self.grids[target]
        if source == target and axis is not None:
            if axis == 0:
                return self.put(tg.ContiguousOp(value))
            return self.collective(AllToAllOp, value, grid, split=0, joined=axis)
        if source is None or (
            isinstance(source, tuple) and {*target} <= {*source} and axis is None
        ):
            return self.collective(AllSliceOp, value, grid, split=0)
        if not isinstance(source, str):
            root = next((d for d in target if d in source), target[0])
            value, source = self.moved_to_one(value, source, axis, root), root
        elif source not in target:
            value, source = self.transferred(value, source, target[0]), target[0]
        return self.collective(ScatterOp, value, grid, split=0, root=target.index(source))

    def moved_to_one(
        self, value: SSAValue, source: tg.Device, axis: int | None, target: str
    ) -> SSAValue:
        if self.grids.is_everywhere(target):
            return self.put(tg.CopyOp(self.on_all(value, source, axis), target))
        if source is None or source == target:
            return self.put(tg.CopyOp(value, target, clone=source == target))
        if isinstance(source, str):
            return self.transferred(value, source, target)
        root = target if target in source else source[0]
        if axis is None:
            value = self.put(tg.CopyOp(value, root))
        else:
            value = self.gathered(value, source, axis, root)
        return value if root == target else self.transferred(value, root, target)

    def on_all(self, value: SSAValue, source: tg.Device, axis: int | None) -> SSAValue:
        """The whole of a value, on each device that there is."""
        world = self.grids.world
        if isinstance(source, tuple) and axis is not None:
            if source == world.devices:
                return self.collective(AllGatherOp, value, self.grids[source], joined=axis)
            value, source = self.gathered(value, source, axis, source[0]), source[0]
        elif isinstance(source, tuple) and source != world.devices:
            value, source = self.put(tg.CopyOp(value, source[0])), source[0]
        if isinstance(source, str):
            root = world.devices.index(source)
            return self.collective(BroadcastOp, value, world, root=root)
        return value

    def transferred(self, value: SSAValue, source: str, destination: str) -> SSAValue:
        world = self.grids.world
        at = world.devices.index
        sent = self.collective(SendOp, value, world, device=source, destination=at(destination))
        return self.collective(RecvOp, sent, world, device=destination, source=at(source))

    def gathered(self, value: SSAValue, source: tuple[str, ...], axis: int, root: str) -> SSAValue:
        """On one device of a tuple, the parts of all joined along an axis."""
        grid, number = self.grids[source], source.index(root)
        return self.collective(GatherOp, value, grid, joined=axis, device=root, root=number)

    def collective(
        self, kind: type[CollectiveCommunicationOp], value: SSAValue, grid: Grid, **given: Any
    ) -> SSAValue:
        return self.put(collective(kind, value, grid, **given))


def _on_itself(type: Attribute) -> Attribute:
    """The type of memory on each device, if it is on none."""
    assert tg.is_tensor(type)
    where = tg.place_of(type)
    if where.device is not None:
        return type
    return tg.tensor_type(
        type.element_type, type.get_shape(), tg.PlaceAttr.of(SELF, where.addrspace)
    )


def _inputs(function: FuncOp) -> list[Attribute]:
    """The types of what a function takes: its arguments, then its PARAMs."""
    block = function.body.block
    return [*block.arg_types, *(param.result.type for param in parameters(block))]


def _places(types: Sequence[Attribute]) -> ArrayAttr[tg.PlaceAttr]:
    return ArrayAttr(tg.place_of(t) if tg.is_tensor(t) else tg.PlaceAttr.of() for t in types)
