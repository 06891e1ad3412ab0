"""The steps of a program on one device."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tgdialect.runtime.devices.array import DeviceArray
from tgdialect.runtime.devices.device import Device
from tgdialect.runtime.distributed.communicator import Communicator, Pending
from tgdialect.runtime.distributed.exchange import FROM_ROOT, Exchange
from tgdialect.runtime.distributed.program import (
    CallStep,
    ExchangeStep,
    ProgramStep,
    ReshapeStep,
    ShardedProgram,
)
from tgdialect.runtime.executable import Executable

Clock = Callable[[int, float], None]
"""Takes the number of a step and the seconds that it took."""


class Runner:
    """One device of a program: its executables, and its BUFFERs."""

    def __init__(
        self, program: ShardedProgram, parts: Mapping[str, Executable], device: Device, rank: int
    ) -> None:
        self.program, self.parts, self.device, self.rank = program, parts, device, rank
        self._buffers: dict[int, Any] = {}
        self._ranks = [m.index(rank) if rank in m else 0 for m in program.ranks]

    def run(
        self, communicator: Communicator, inputs: Sequence[Any], clock: Clock | None = None
    ) -> list[Any]:
        """The results of this device, given its own part of each input."""
        buffers = [self._buffer(number, inputs) for number in range(len(self.program.buffers))]
        values: dict[int, Any] = dict(enumerate([*inputs, *self._ranks, *buffers]))
        for number, step in enumerate(self.program.steps):
            start = time.perf_counter()
            self._run(step, values, communicator)
            for dropped in step.dropped:
                values.pop(dropped, None)
            if clock is not None:
                for result in step.results:
                    self._value(result, values)
                clock(number, time.perf_counter() - start)
            communicator.progress()
        return [self._value(number, values) for number in self.program.returned]

    def _buffer(self, number: int, inputs: Sequence[Any]) -> Any:
        """A BUFFER: the last call's if it has the shape of this one, else zeros."""
        parameter = self.program.buffers[number]
        known, shape = self._buffers.get(number), parameter.shape_for(inputs)
        if known is None or known.shape != shape:
            known = self.device.array(np.zeros(shape, parameter.dtype))
            self._buffers[number] = known
        return known

    def _run(self, step: ProgramStep, values: dict[int, Any], communicator: Communicator) -> None:
        match step:
            case CallStep() if self.rank in step.members:
                given = [self._value(o, values) for o in step.operands]
                found = self.parts[step.name].resident(*given)
                results = [found] if len(step.results) == 1 else found or ()
                values.update(zip(step.results, results, strict=True))
            case ExchangeStep() if self.rank in step.exchange.members:
                exchange = self._sized(step, values)
                root = exchange.members[exchange.root]
                is_given = exchange.kind not in FROM_ROOT
                value = None
                if is_given or root == self.rank:
                    value = self._value(step.operands[0], values)
                    if isinstance(value, DeviceArray) and not communicator.takes_device_arrays:
                        value = value.numpy()
                values[step.results[0]] = communicator.start(exchange, value)
            case ReshapeStep():
                value, *extents = [self._value(o, values) for o in step.operands]
                rest = iter(extents)
                shape = tuple(int(next(rest)) if d is None else d for d in step.shape)
                values[step.results[0]] = None if value is None else _reshaped(value, shape)
            case _:
                # This device takes no part.
                values.update((result, None) for result in step.results)

    @staticmethod
    def _sized(step: ExchangeStep, values: dict[int, Any]) -> Exchange:
        """The collective with the extents of this call."""
        if not step.shape:
            return step.exchange
        shape, result = (
            tuple(int(values[e.number]) if e.is_dynamic else e.number for e in extents)
            for extents in (step.shape, step.result)
        )
        return step.exchange._replace(shape=shape, result=result)

    def _value(self, number: int, values: dict[int, Any]) -> Any:
        value = values[number]
        if isinstance(value, Pending):
            value = value.wait()
            if value is not None:
                value = self.device.array(value)
            values[number] = value
        return value


def _reshaped(value: Any, shape: tuple[int, ...]) -> Any:
    return value.reshaped(shape) if isinstance(value, DeviceArray) else value.reshape(shape)
