"""From a module with values on several devices to an executable."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.dialects.func import FuncOp
from xdsl.traits import SymbolTable

from tgdialect.ops import tg
from tgdialect.ops.attributes import is_process
from tgdialect.ops.walk import Walk
from tgdialect.runtime.devices.device import DEVICES, Device
from tgdialect.runtime.devices.driver import DeviceError
from tgdialect.runtime.distributed.executable import ShardedExecutable
from tgdialect.runtime.distributed.mpi import launched_size, mpi_communicator
from tgdialect.runtime.distributed.nccl import nccl_links
from tgdialect.runtime.distributed.program import ShardedProgram, program_of
from tgdialect.runtime.executable import Executable
from tgdialect.runtime.program import HOST
from tgdialect.targets import MPI
from tgdialect.transforms.shard.grids import WORLD, grids_of
from tgdialect.transforms.shard.lower import lower_shards
from tgdialect.transforms.shard.propagate import ShardPass, shard
from tgdialect.transforms.shard.raise_collectives import raise_collectives
from tgdialect.transforms.shard.split import split_collectives

CompilePart = Callable[[ModuleOp, str, str | None], Executable]
"""Compiles the function of that name of a module for the device of that name, or the one that the
module names."""


def build(module: ModuleOp, entry: str, target: str | None, compile: CompilePart) -> Executable:
    """Compile the function `entry` of a module with values on several devices.

    Args:
        module: the program at level `tensor`.
        entry: the function.
        target: "mpi", if device number k is the process of rank k, whatever its name; else the
            device that each device's own program runs on, by default the device itself.
        compile: how a part is compiled.

    Raises DeviceError if there is no such device, or if MPI has not started a process for each.
    """
    stages = sharded_stages(module, entry, processes=lambda: mpi_communicator().size)
    split = list(stages.values())[-1]
    if WORLD not in grids_of(split):  # Only functions that `entry` does not call are sharded.
        return compile(_reachable(module, entry), entry, target)
    program = program_of(split, entry)
    by_mpi = _is_by_mpi(program, target)
    if by_mpi:
        communicator = mpi_communicator()
        _check_size(program, communicator.size)
        used = {communicator.rank: DEVICES.own(communicator.local_rank)}
    else:
        used = {rank: _device(name, target) for rank, name in enumerate(program.devices)}
    kinds = {device.name: device for device in used.values()}
    # Processes with one object cache share the work: each begins with another part.
    own = list(program.parts.items())
    first = min(used) % max(len(own), 1)
    own = [*own[first:], *own[:first]]
    parts = {name: {part: compile(m, part, name) for part, m in own} for name in kinds}
    links = nccl_links(list(used.values()), mpi_communicator() if by_mpi else None)
    return ShardedExecutable(program, parts, used, stages, by_mpi=by_mpi, links=links)


def sharded_stages(
    module: ModuleOp,
    entry: str,
    options: ShardPass | None = None,
    processes: Callable[[], int] = lambda: 0,
) -> dict[str, ModuleOp]:
    """The function `entry` of a module after each pass for programs on several devices.

    `options` are those of `tg-shard`; `processes` gives the number of ranks of MPI.
    """
    stages: dict[str, ModuleOp] = {}
    module = _reachable(module, entry)
    for name, apply in (
        ("tg-shard", partial(shard, options=options)),
        ("tg-lower-shards", partial(lower_shards, processes=processes)),
        ("tg-raise-collectives", raise_collectives),
        ("tg-split-collectives", split_collectives),
    ):
        apply(module)
        stages[name] = module.clone()
    return stages


def _reachable(module: ModuleOp, entry: str) -> ModuleOp:
    """A copy of a module with the function `entry` and what it calls alone."""
    module = module.clone()
    walk = Walk([entry])
    for name in walk:
        function = SymbolTable.lookup_symbol(module, name)
        if function is None:
            continue
        calls = (op for op in function.walk() if isinstance(op, FuncCallOp | tg.CallOp))
        walk.add(op.callee.string_value() for op in calls)
    for op in list(module.ops):
        if isinstance(op, FuncOp) and op.sym_name.data not in walk.seen:
            module.body.block.erase_op(op, safe_erase=False)
    return module


def _is_by_mpi(program: ShardedProgram, target: str | None) -> bool:
    if target == MPI:
        return True
    return all(map(is_process, program.devices))


def _check_size(program: ShardedProgram, size: int) -> None:
    """Raise DeviceError unless each device of a program is a process."""
    wanted = len(program.devices)
    if size != wanted:
        start = "" if launched_size() > 1 else f"; start it by mpiexec -n {wanted}"
        raise DeviceError(f"the program has {wanted} devices, and MPI {size} processes{start}")


def _device(name: str, target: str | None) -> Device:
    """The device of this process that a name of the program stands for. Raises DeviceError if there
    is none."""
    if target is not None:
        return DEVICES[target]
    device = DEVICES[name]
    return DEVICES[HOST] if device.is_host else device
