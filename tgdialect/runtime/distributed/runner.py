"""The steps of a program on one device."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from tgdialect.runtime.devices.array import DeviceArray
from tgdialect.runtime.devices.device import Device
from tgdialect.runtime.distributed.exchange import FROM_ROOT, Communicator, Exchange, Pending
from tgdialect.runtime.distributed.program import (
    CallStep,
    ExchangeStep,
    ProgramStep,
    ReshapeStep,
    ShardedProgram,
)
from tgdialect.runtime.executable import Executable

Action = Callable[[list[Any], Communicator], None]
"""Executes a step, given the values by their numbers."""
Clock = Callable[[int, float], None]
"""Takes the number of a step and the seconds that it took."""


class Runner:
    """One device of a program: its executables, and its BUFFERs."""

    def __init__(
        self, program: ShardedProgram, parts: Mapping[str, Executable], device: Device, rank: int
    ) -> None:
        self.program, self.parts, self.device, self.rank = program, parts, device, rank
        self._is_host = device.is_host
        self._buffers: dict[int, Any] = {}
        self._ranks = [m.index(rank) if rank in m else 0 for m in program.ranks]
        self._has_buffers = bool(program.buffers)
        self._unknown = [None for step in program.steps for _ in step.results]
        following = [*program.steps[1:], None]
        self._actions = [
            (self._action(step, after), step.dropped)
            for step, after in zip(program.steps, following, strict=False)
        ]

    def run(
        self, communicator: Communicator, inputs: Sequence[Any], clock: Clock | None = None
    ) -> list[Any]:
        """The results of this device, given its own part of each input."""
        values = [*inputs, *self._ranks]
        if self._has_buffers:
            values += [self._buffer(i, inputs) for i in range(len(self.program.buffers))]
        values += self._unknown
        for number, (act, dropped) in enumerate(self._actions):
            start = 0.0 if clock is None else time.perf_counter()
            act(values, communicator)
            if clock is not None:  # Wait for the results of the step.
                for result in self.program.steps[number].results:
                    self._value(result, values)
                clock(number, time.perf_counter() - start)
            for value in dropped:
                values[value] = None
        return [self._value(number, values) for number in self.program.returned]

    def _buffer(self, number: int, inputs: Sequence[Any]) -> Any:
        """A BUFFER: the last call's if it has the shape of this one, else zeros."""
        parameter = self.program.buffers[number]
        known, shape = self._buffers.get(number), parameter.shape_for(inputs)
        if known is None or known.shape != shape:
            known = self.device.array(np.zeros(shape, parameter.dtype))
            self._buffers[number] = known
        return known

    def _action(self, step: ProgramStep, after: ProgramStep | None) -> Action:
        """Executes a step on this device. A collective that the step after it needs, if any, is
        waited for at once."""
        match step:
            case CallStep() if self.rank in step.members:
                return partial(self._call, self.parts[step.name], step)
            case ExchangeStep() if self.rank in step.exchange.members:
                return self._exchange(step, after is None or step.results[0] in after.operands)
            case ReshapeStep():
                return self._reshape(step)
            case _:
                return partial(self._skip, step)

    def _call(
        self, part: Executable, step: CallStep, values: list[Any], communicator: Communicator
    ) -> None:
        found = part.resident(*[self._value(o, values) for o in step.operands])
        results = [found] if len(step.results) == 1 else found or ()
        for number, result in zip(step.results, results, strict=True):
            values[number] = result
        communicator.progress()

    def _exchange(self, step: ExchangeStep, is_needed: bool) -> Action:
        known, source, result = step.exchange, step.operands[0], step.results[0]
        is_static = not step.shape
        gives = known.kind not in FROM_ROOT or known.members[known.root] == self.rank
        is_host = self._is_host

        def exchange(values: list[Any], communicator: Communicator) -> None:
            wanted = known if is_static else self._sized(step, values)
            value = values[source] if gives else None
            if isinstance(value, Pending):
                value = self._value(source, values)
            if not (is_host or communicator.takes_device_arrays) and isinstance(value, DeviceArray):
                value = value.numpy()
            if is_needed:
                found = communicator.execute(wanted, value)
                values[result] = found if is_host else self._placed(found)
            else:
                values[result] = communicator.start(wanted, value)

        return exchange

    def _reshape(self, step: ReshapeStep) -> Action:
        (source, *sizes), result = step.operands, step.results[0]
        shape: Any = step.shape

        def reshape(values: list[Any], communicator: Communicator) -> None:
            value = self._value(source, values)
            wanted = shape
            if sizes:
                rest = iter([self._value(size, values) for size in sizes])
                wanted = tuple(int(next(rest)) if d is None else d for d in shape)
            if isinstance(value, DeviceArray):
                value = value.reshaped(wanted)
            elif value is not None:
                value = value.reshape(wanted)
            values[result] = value

        return reshape

    def _skip(self, step: ProgramStep, values: list[Any], communicator: Communicator) -> None:
        """This device takes no part."""
        for result in step.results:
            values[result] = None

    @staticmethod
    def _sized(step: ExchangeStep, values: list[Any]) -> Exchange:
        """The collective with the extents of this call."""
        shape, result = (
            tuple(int(values[e.number]) if e.is_dynamic else e.number for e in extents)
            for extents in (step.shape, step.result)
        )
        return step.exchange._replace(shape=shape, result=result)

    def _value(self, number: int, values: list[Any]) -> Any:
        value = values[number]
        if isinstance(value, Pending):
            value = values[number] = self._placed(value.wait())
        return value

    def _placed(self, value: Any) -> Any:
        """The result of a collective in the memory of this device."""
        return value if value is None or self._is_host else self.device.array(value)
