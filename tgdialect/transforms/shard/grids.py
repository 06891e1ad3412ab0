"""Grids: the tuples of devices of a program, as `shard.grid` ops."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple, cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, ModuleOp, StringAttr, i16, i64
from xdsl.dialects.shard import GridOp, ShardAxesAttr
from xdsl.utils.exceptions import VerifyException

from tgdialect.ops import tg
from tgdialect.ops.attributes import PROCESS
from tgdialect.ops.numbering import next_symbol, symbols

DEVICES = "tg.devices"
"""The attribute of a `shard.grid` that names its devices in order of their number."""
WORLD = "devices"
"""The name of the grid of all devices of a program."""
AXES: ShardAxesAttr = DenseArrayBase.from_list(i16, [0])
"""The `grid_axes` of each collective: a grid has one axis."""


class Grid(NamedTuple):
    """The devices that take part in a collective, and the symbol of their `shard.grid`."""

    name: str
    devices: tuple[str, ...]

    @classmethod
    def of(cls, op: GridOp) -> Grid:
        """The grid of an op. Raises VerifyException if the op does not name its devices."""
        names = op.attributes.get(DEVICES)
        if not isinstance(names, ArrayAttr):
            raise VerifyException(f"the grid has no attribute {DEVICES}")
        devices = tuple(n.data for n in cast("ArrayAttr[StringAttr]", names))
        if op.shape.get_values() != (len(devices),):
            raise VerifyException(f"the grid has not one axis of its {len(devices)} devices")
        return cls(op.sym_name.data, devices)

    def op(self) -> GridOp:
        """`shard.grid @name(shape = n) {tg.devices = [...]}`."""
        return GridOp.create(
            properties={
                "sym_name": StringAttr(self.name),
                "shape": DenseArrayBase.from_list(i64, [len(self.devices)]),
            },
            attributes={DEVICES: ArrayAttr(StringAttr(d) for d in self.devices)},
        )


class Grids:
    """The grid of all devices of a module, and one for each other tuple.

    Where devices are processes of MPI, `MPI:k` is the one of rank k, and any other device, as
    "CPU", is in no grid: each process has its own.
    """

    def __init__(self, module: ModuleOp, processes: Callable[[], int] = lambda: 0) -> None:
        """`processes` gives the number of processes of MPI, where it is known: it is asked for if
        the module names one."""
        self._module = module
        found = list(dict.fromkeys(_devices(module)))
        tuples = [d for d in found if isinstance(d, tuple)]
        tuples.sort(key=len, reverse=True)
        named = (name for d in (*tuples, *found) for name in ((d,) if isinstance(d, str) else d))
        self._known: dict[tuple[str, ...], Grid] = {}
        names = list(dict.fromkeys(named))
        if any(map(tg.is_process, names)):
            count = max(
                processes(), 1 + max(int(n[len(PROCESS) :]) for n in names if tg.is_process(n))
            )
            names = [f"{PROCESS}{rank}" for rank in range(count)]
        self.is_sharded = bool(tuples) or len(names) > 1 or any(map(tg.is_process, names))
        self.world = self[tuple(names)] if self.is_sharded else Grid(WORLD, tuple(names))

    def is_everywhere(self, device: tg.Device) -> bool:
        """Whether each device has its own of a device."""
        return isinstance(device, str) and device not in self.world.devices

    def __getitem__(self, devices: tuple[str, ...]) -> Grid:
        """The grid of a tuple of devices, whose op is inserted into the module."""
        if devices not in self._known:
            taken = symbols(self._module)
            name = next_symbol(WORLD, len(self._known), taken) if WORLD in taken else WORLD
            self._known[devices] = grid = Grid(name, devices)
            if devices:
                body = self._module.body.block
                last = next((o for o in body.ops if not isinstance(o, GridOp)), None)
                if last is None:
                    body.add_op(grid.op())
                else:
                    body.insert_op_before(grid.op(), last)
        return self._known[devices]


def grids_of(module: ModuleOp) -> dict[str, Grid]:
    """The grids of a module, by name."""
    return {(g := Grid.of(op)).name: g for op in module.ops if isinstance(op, GridOp)}


def _devices(module: ModuleOp) -> Iterator[str | tuple[str, ...]]:
    for op in module.walk():
        inside = (t for region in op.regions for block in region.blocks for t in block.arg_types)
        for type in filter(tg.is_tensor, (*inside, *op.result_types)):
            with suppress(VerifyException):  # An encoding of another dialect.
                if (device := tg.place_of(type).device) is not None:
                    yield device
