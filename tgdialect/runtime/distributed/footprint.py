"""How much memory each device of a program on several devices needs in a call."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tgdialect.runtime.distributed.program import (
    CallStep,
    ExchangeStep,
    Extent,
    Place,
    ReshapeStep,
    ShardedProgram,
)
from tgdialect.runtime.executable import Executable
from tgdialect.runtime.footprint import DeviceFootprint
from tgdialect.runtime.program import Parameter


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
    most = 0
    for step in program.steps:
        workspace, made = 0, [0] * len(step.results)
        match step:
            case CallStep() if rank in step.members:
                part = parts[step.name]
                frame: list[Any] = [None] * len(part.parameters)
                for position, operand in enumerate(step.operands):
                    if part.inputs[position].role == "scalar":
                        frame[position] = numbers.get(operand, part.inputs[position].high)
                made = [p.nbytes_for(frame) for p in part.outputs]
                (used,) = part.footprints(frame)
                workspace, persistent[step.name] = used.workspace, used.persistent
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
    name = program.devices[rank]
    kept = sum(persistent.values())
    return DeviceFootprint(name, sum(arguments), results, max(most - results, 0), kept, buffers)


def _own_bytes(parameter: Parameter, place: Place, rank: int, scalars: Sequence[Any]) -> int:
    """The bytes of a device's own part of an input."""
    if parameter.role == "scalar" or (place.devices and rank not in place.devices):
        return 0
    parts = len(place.devices) if place.axis is not None else 1
    return parameter.nbytes_for(scalars) // parts
