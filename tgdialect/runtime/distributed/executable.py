"""From a module with values on several devices to an executable, and calls of it."""

from __future__ import annotations

import hashlib
import math
import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.dialects.func import FuncOp
from xdsl.traits import SymbolTable

from tgdialect.analysis.communication import Collective
from tgdialect.ops import tg
from tgdialect.ops.numpy_dtypes import Array
from tgdialect.runtime.devices.device import DEVICES, Device
from tgdialect.runtime.devices.driver import DeviceError
from tgdialect.runtime.distributed.array import ShardedArray
from tgdialect.runtime.distributed.exchange import Communicator, Exchange, Intent, RankError
from tgdialect.runtime.distributed.mpi import launched_size, mpi_communicator
from tgdialect.runtime.distributed.nccl import NcclCommunicator, NcclLink, nccl_links
from tgdialect.runtime.distributed.program import (
    CallStep,
    ExchangeStep,
    Extent,
    Place,
    ReshapeStep,
    ShardedProgram,
    program_of,
)
from tgdialect.runtime.distributed.runner import Clock, Runner
from tgdialect.runtime.distributed.threads import Team
from tgdialect.runtime.executable import Executable, ParameterSlot, listed, returned
from tgdialect.runtime.footprint import DeviceFootprint, compute_sizes
from tgdialect.runtime.program import HOST, Parameter
from tgdialect.runtime.windows import Window
from tgdialect.targets import MPI
from tgdialect.transforms.shard.grids import WORLD, grids_of
from tgdialect.transforms.shard.lower import lower_shards
from tgdialect.transforms.shard.propagate import ShardPass, shard
from tgdialect.transforms.shard.raise_collectives import raise_collectives
from tgdialect.transforms.shard.split import split_collectives

if TYPE_CHECKING:
    from tgdialect.runtime.inspection import Kernel
    from tgdialect.runtime.profile import Profile


class ShardedExecutable(Executable):
    """A program that several devices run: threads of this process, or processes by MPI.

    Call it with the whole of each input, as an array of NumPy, of which each device takes its own
    part, or with `ShardedArray`s. By MPI, all processes make the same calls with the same arrays.
    """

    def __init__(
        self,
        program: ShardedProgram,
        parts: Mapping[str, Mapping[str, Executable]],
        devices: Mapping[int, Device],
        stages: Mapping[str, ModuleOp],
        *,
        by_mpi: bool,
        links: Sequence[NcclLink] = (),
    ) -> None:
        """`devices` are those of this process, by their numbers, and `parts` has the executable of
        each part by the name of the device, then of the part. `links` connect GPUs directly: one
        for each device of this process, or none."""
        parameters = [i.parameter for i in program.inputs]
        parameters += [r.parameter for r in program.results]
        super().__init__(parameters, cast("Sequence[Window]", ()), _no_build, ("", ""))
        self.program = program
        self._parts = parts
        self._stages = stages
        self._by_mpi = by_mpi
        self._links = links
        self._runners = [Runner(program, parts[d.name], d, rank) for rank, d in devices.items()]
        self._pool: tuple[int, ThreadPoolExecutor] | None = None
        """The threads of the devices, and the process that has them."""
        self._key = hashlib.sha256(program.text.encode()).digest()
        self._groups = frozenset(e.members for e in self.exchanges if len(e.members) > 1)
        self.bytes_sent = 0
        """How many bytes the devices of this process have sent to others in all calls."""

    @property
    def kernels(self) -> Sequence[Kernel]:
        return [k for part in self._own_parts.values() for k in part.kernels]

    @property
    def _own_parts(self) -> Mapping[str, Executable]:
        """The parts of the program, as they are compiled for the first device."""
        return self._parts[self._runners[0].device.name]

    @property
    def exchanges(self) -> Sequence[Exchange]:
        """The collectives of a call, in the order in which they start."""
        return [s.exchange for s in self.program.steps if isinstance(s, ExchangeStep)]

    def footprints(self, frame: Sequence[Any]) -> tuple[DeviceFootprint, ...]:
        return tuple(
            device_footprint(
                self.program, runner.parts, runner.rank, frame[: len(self.program.inputs)]
            )
            for runner in self._runners
        )

    def module(self, stage: str) -> ModuleOp:
        if stage not in self._stages:
            there_are = ", ".join(self._stages)
            raise ValueError(f"there is no stage {stage!r}; there are: {there_are}")
        return self._stages[stage]

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        arrays = tuple(self.completed(arrays))
        found = self._run(arrays)
        results = [v.numpy() if isinstance(v, ShardedArray) else np.asarray(v) for v in found]
        if (given := listed(out)) is not None:
            self._check_out_count(given)
            scalars = self._scalars(arrays)
            for array, (_, parameter), result in zip(given, self._results, results, strict=True):
                parameter.check_out(array, scalars)
                array[...] = result
            results = given
        return returned(results)

    def resident(self, *arrays: Any) -> Any:
        return returned(self._run(self.completed(arrays)))

    def profile(self, *arrays: Any, out: Any = None, seconds: float = 1.0) -> Profile:
        from tgdialect.runtime.inspection import KernelTime
        from tgdialect.runtime.profile import Profile

        arrays, steps = tuple(self.completed(arrays)), self.program.steps
        times: list[list[float]] = []
        whole: list[float] = []

        def run() -> None:
            taken = [0.0] * len(steps)
            start = time.perf_counter()
            self._run(arrays, taken.__setitem__)
            whole.append(time.perf_counter() - start)
            times.append(taken)

        # All processes make as many runs: the number is not decided by a clock of each.
        run()
        first = self.slowest(whole[0])
        for _ in range(max(3, min(int(seconds / max(first, 1e-6)), 1000))):
            run()
        medians = [statistics.median(t[i] for t in times[1:]) for i in range(len(steps))]
        parts = self._own_parts
        rows: list[KernelTime] = []
        for step, taken in zip(steps, medians, strict=True):
            if isinstance(step, CallStep):
                name, kernels = step.name, parts[step.name].kernels
                work = sum(k.flops for k in kernels), sum(k.bytes for k in kernels)
            elif isinstance(step, ExchangeStep):
                name, exchange = step.exchange.kind.value, step.exchange
                work = 0, exchange.bytes_sent // len(exchange.members)
            else:
                continue
            share = taken / max(sum(medians), 1e-12)
            rows.append(KernelTime(name, 1, taken, share, False, *work, ()))
        return Profile(tuple(rows), statistics.median(whole[1:]), len(whole) - 1)

    def slowest(self, seconds: float) -> float:
        if not self._by_mpi:
            return seconds
        here, value = mpi_communicator(), np.array([seconds])
        everyone = tuple(range(here.size))
        how = Exchange(Collective.ALL_REDUCE, everyone, (1,), value.dtype, (1,), reduction="max")
        intent = Intent(lambda: "compares times", b"times")
        return float(here.call(intent, lambda: here.start(how, value).wait())[0])

    # -- a call

    def _run(self, arrays: Sequence[Any], clock: Clock | None = None) -> list[Any]:
        """The results, where they are."""
        communicators = self._communicators()
        with communicators[0].lock:
            try:
                scalars, given = self._call_frame(arrays)
                inputs = [given.get(i, scalars[i]) for i in range(len(self.program.inputs))]
            except Exception as error:
                communicators[0].refuse(error)
                raise
            before = sum(c.bytes_sent for c in communicators)
            found = self._on_all(communicators, inputs, clock)
            self.bytes_sent += sum(c.bytes_sent for c in communicators) - before
            values = zip(*found, strict=True)
            return [self._joined(i, [*each], scalars) for i, each in enumerate(values)]

    def _communicators(self) -> Sequence[Communicator]:
        hosts = [mpi_communicator()] if self._by_mpi else Team(len(self._runners)).communicators()
        nccl = [NcclCommunicator(link, h) for link, h in zip(self._links, hosts, strict=False)]
        return nccl or hosts

    def _intent(self, inputs: Sequence[Any]) -> Intent:
        """A call with these inputs, which all devices make together."""
        numbers = tuple(
            v.origin if isinstance(v, ShardedArray) else v if isinstance(v, int) else None
            for v in inputs
        )

        def described() -> str:
            given: list[str] = []
            for (parameter, _), number in zip(self.program.inputs, numbers, strict=True):
                text = f"{parameter.name} = {number}" if isinstance(number, int) else str(parameter)
                given.append(f"{text} of call {number[0]}" if isinstance(number, tuple) else text)
            return f"runs program {self._key.hex()[:6]} ({', '.join(given)})"

        return Intent(described, self._key, numbers, self._groups)

    def _on_all(
        self, communicators: Sequence[Communicator], inputs: Sequence[Any], clock: Clock | None
    ) -> list[list[Any]]:
        """The results of each device of this process."""
        runners = self._runners
        intent = self._intent(inputs)

        def run(position: int) -> list[Any]:
            runner, communicator = runners[position], communicators[position]

            def steps() -> list[Any]:
                own = [self._own(i, value, runner) for i, value in enumerate(inputs)]
                found = runner.run(communicator, own, clock if position == 0 else None)
                self._write_back(inputs, own, runner)
                return found

            return communicator.call(intent, steps)

        if len(runners) == 1:
            return [run(0)]
        if self._pool is None or self._pool[0] != os.getpid():  # A child of `fork` has no threads.
            pool = ThreadPoolExecutor(len(runners), thread_name_prefix="tg-device")
            self._pool = os.getpid(), pool
        futures = [self._pool[1].submit(run, position) for position in range(len(runners))]
        errors = [e for f in futures if (e := f.exception()) is not None]
        if errors:
            raise min(errors, key=lambda error: isinstance(error, RankError))
        return [future.result() for future in futures]

    # -- inputs

    def _given(self, slot: ParameterSlot, value: Any) -> Any:
        """An input that fits the signature: the whole, or a ShardedArray."""
        parameter, place = self.program.inputs[slot.position]
        if isinstance(value, ShardedArray):
            parameter.check(value)
            if (value.devices, value.axis) == (self._names(place), place.axis):
                return value
            value = value.numpy()
        return parameter.array(value)

    def _names(self, place: Place) -> tuple[str, ...]:
        return tuple(self.program.devices[d] for d in place.devices)

    def _own(self, number: int, value: Any, runner: Runner) -> Any:
        """A device's own part of an input; None if it has none."""
        parameter, place = self.program.inputs[number]
        if parameter.role == "scalar" or not place.has(runner.rank):
            return value if parameter.role == "scalar" else None
        if isinstance(value, ShardedArray):
            return value.shards[self.program.devices[runner.rank]]
        own = place.part_of(value, runner.rank)
        if not parameter.by_reference:
            # In-place changes after the call do not show: programs read inputs within a call.
            own = np.require(own, requirements=("C", "A"))
            return own if runner.device.is_host else runner.device.array(own)
        return runner.device.array(np.array(own, order="C"))

    def _write_back(self, inputs: Sequence[Any], own: Sequence[Any], runner: Runner) -> None:
        """Copy what the program has written to the caller's arrays."""
        for value, mine, (parameter, place) in zip(inputs, own, self.program.inputs, strict=True):
            if not parameter.by_reference or mine is None:
                continue
            if isinstance(value, ShardedArray):
                value.origin = self._origin(-1)
            elif place.axis is not None or runner.rank in place.devices[:1] or not place.devices:
                place.part_of(value, runner.rank)[...] = np.asarray(mine)

    # -- results

    def _joined(self, number: int, values: list[Any], scalars: Sequence[Any]) -> Any:
        """A result of all devices of this process: a ShardedArray if several devices have it, or
        one of another process."""
        parameter, place = self.program.results[number]
        ranks = [runner.rank for runner in self._runners]
        if not place.devices:
            return values[0]
        if place.is_single and not self._by_mpi:
            return values[ranks.index(place.devices[0])]
        devices = self._names(place)
        own = {self.program.devices[r]: v for r, v in zip(ranks, values, strict=True)}
        shards = {device: value for device, value in own.items() if device in devices}
        return ShardedArray(
            parameter.shape_for(scalars),
            parameter.dtype,
            devices[0] if place.is_single else devices,
            place.axis,
            shards,
            self._gathered if self._by_mpi else None,
            self._origin(number),
        )

    def _origin(self, number: int) -> tuple[int, int]:
        """Where the result of a number of this call comes from."""
        return (mpi_communicator().agreement.number, number) if self._by_mpi else (0, number)

    def _gathered(self, array: ShardedArray) -> Array:
        """The whole of an array whose parts are in several processes, in each of them."""
        communicator = mpi_communicator()
        everyone = tuple(range(communicator.size))
        members = tuple(self.program.devices.index(d) for d in array.devices)
        own = next((np.asarray(shard) for shard in array.shards.values()), None)
        if array.axis is None and members == everyone:
            assert own is not None
            return own

        def exchanged() -> Array:
            found, shape, dtype = own, array.shape, array.dtype
            if array.axis is not None and own is not None:
                kind = Collective.ALL_GATHER
                exchange = Exchange(kind, members, own.shape, own.dtype, shape, array.axis)
                found = communicator.start(exchange, own).wait()
            if members != everyone:
                kind = Collective.BROADCAST
                exchange = Exchange(kind, everyone, shape, dtype, shape, root=members[0])
                given = found if communicator.rank == members[0] else None
                found = communicator.start(exchange, given).wait()
            assert found is not None
            return found

        numbers = (*array.shape, array.dtype.name, array.axis, *members, array.origin)
        groups = frozenset({members} if len(members) > 1 else ())
        said = partial("reads {!r} of call {}".format, array, array.origin[0])
        return communicator.call(Intent(said, b"read", numbers, groups), exchanged)


def _no_build() -> Any:
    raise AssertionError("a program on several devices is several compilations")


def device_footprint(
    program: ShardedProgram, parts: Mapping[str, Executable], rank: int, scalars: Sequence[Any]
) -> DeviceFootprint:
    """The memory of one device, whose executables are `parts`. `scalars` are those of the inputs.

    The workspace is what the step that needs most has beyond arguments and results: values between
    steps, and the workspace of a part. What a communicator buffers is not counted.
    """
    ranks = [members.index(rank) if rank in members else 0 for members in program.ranks]
    numbers = dict(enumerate([*scalars, *ranks]))
    arguments = [_own_bytes(p, place, rank, scalars) for p, place in program.inputs]
    first = len(numbers) + len(program.buffers)
    live = dict.fromkeys(range(first), 0)
    """The bytes of values; inputs and BUFFERs, which live longer, are counted apart."""
    persistent: dict[str, int] = {}
    mapped: dict[str, int] = {}
    most = 0
    for step in program.steps:
        workspace, made = 0, [0] * len(step.results)
        match step:
            case CallStep() if rank in step.members:
                part = parts[step.name]
                frame: list[Any] = [None] * len(part.parameters)
                known: set[int] = set()
                for position, operand in enumerate(step.operands):
                    if part.inputs[position].role == "scalar":
                        if (number := numbers.get(operand)) is None:
                            number = part.inputs[position].high
                        else:
                            known.add(position)
                        frame[position] = number
                compute_sizes(part.parameters, frame, known)
                made = [p.nbytes_for(frame) for p in part.outputs]
                (used,) = part.footprints(frame)
                workspace, persistent[step.name] = used.workspace, used.persistent
                mapped[step.name] = used.mapped
            case ExchangeStep() if rank in step.exchange.members:
                exchange = step.exchange
                extents = step.result or [Extent(number) for number in exchange.result]
                shape = (numbers[e.number] if e.is_dynamic else e.number for e in extents)
                made = [exchange.dtype.itemsize * math.prod(shape)]
            case ReshapeStep():  # It shares the memory of its operand, which may be dropped now.
                made = [live[step.operands[0]]]
            case _:
                pass
        live.update(zip(step.results, made, strict=True))
        most = max(most, sum(live.values()) + workspace)
        for dropped in step.dropped:
            live.pop(dropped, None)
    returned = {number for number in program.returned if number >= first}
    results = sum(live[number] for number in returned)
    buffers = sum(parameter.nbytes_for(scalars) for parameter in program.buffers)
    return DeviceFootprint(
        device=program.devices[rank],
        arguments=sum(arguments),
        results=results,
        workspace=max(most - results, 0),
        persistent=sum(persistent.values()),
        buffers=buffers,
        mapped=sum(mapped.values()),
    )


def _own_bytes(parameter: Parameter, place: Place, rank: int, scalars: Sequence[Any]) -> int:
    """The bytes of a device's own part of an input."""
    if parameter.role == "scalar" or not place.has(rank):
        return 0
    parts = len(place.devices) if place.axis is not None else 1
    return parameter.nbytes_for(scalars) // parts


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
    by_mpi = target == MPI or all(map(tg.is_process, program.devices))
    if by_mpi:
        communicator = mpi_communicator()
        size, wanted = communicator.size, len(program.devices)
        if size != wanted:
            start = "" if launched_size() > 1 else f"; start it by mpiexec -n {wanted}"
            raise DeviceError(f"the program has {wanted} devices, and MPI {size} processes{start}")
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
    walk = tg.Walk([entry])
    for name in walk:
        function = SymbolTable.lookup_symbol(module, name)
        for op in () if function is None else function.walk():
            if isinstance(op, FuncCallOp | tg.CallOp):
                walk.add([op.callee.string_value()])
    for op in list(module.ops):
        if isinstance(op, FuncOp) and op.sym_name.data not in walk.seen:
            module.body.block.erase_op(op, safe_erase=False)
    return module


def _device(name: str, target: str | None) -> Device:
    """The device of this process that a name of the program stands for. Raises DeviceError if there
    is none."""
    device = DEVICES[target or name]
    return DEVICES[HOST] if device.is_host and target is None else device
