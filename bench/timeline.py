"""How long a program on several devices takes: its steps on the timeline of one device.

Devices are alike, and so are their shares of the work. A step that some devices run is counted as
if all did.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, get_args

from xdsl.dialects.func import FuncOp

from tgdialect.analysis.communication import Algorithm, Link, seconds
from tgdialect.analysis.estimates import Estimates, estimate_tensors
from tgdialect.runtime.distributed.exchange import Exchange
from tgdialect.runtime.distributed.program import CallStep, ExchangeStep, ShardedProgram


class DeviceModel(NamedTuple):
    """The speed of each device, and its connection to the others.

    Attributes:
        flops: arithmetic on floats.
        memory: bytes that it reads or writes.
        link: its connection.
        overlaps: whether it computes while bytes are sent.
        overhead: what each step takes beyond its work, in seconds.
    """

    flops: float
    memory: float
    link: Link
    overlaps: bool = True
    overhead: float = 0.0

    def compute_seconds(self, work: Estimates) -> float:
        """How long a device computes: kernels that wait for arithmetic follow others that wait for
        memory."""
        return work.flops / self.flops + work.bytes / self.memory

    def exchange_seconds(self, exchange: Exchange, algorithm: Algorithm | None = None) -> float:
        """How long a collective takes; by default by the faster algorithm."""
        size = exchange.operand_bytes
        devices = len(exchange.members)
        choices = get_args(Algorithm) if algorithm is None else (algorithm,)
        return min(seconds(exchange.kind, size, devices, self.link, a) for a in choices)


class TimedStep(NamedTuple):
    """A step on the timeline, from its start to its end in seconds."""

    name: str
    is_exchange: bool
    start: float
    end: float


class Timeline(NamedTuple):
    """A run of a program.

    Attributes:
        seconds: from its beginning to its end.
        spans: its steps.
    """

    seconds: float
    spans: Sequence[TimedStep]

    @property
    def compute(self) -> float:
        """The seconds in which the device computes."""
        return sum(s.end - s.start for s in self.spans if not s.is_exchange)

    @property
    def exchange(self) -> float:
        """The seconds in which bytes are sent, some of them while the device computes."""
        return sum(s.end - s.start for s in self.spans if s.is_exchange)

    @property
    def waiting(self) -> float:
        """The seconds in which the device does not compute."""
        return self.seconds - self.compute


def works(program: ShardedProgram) -> dict[str, Estimates]:
    """The work of each part of a program, on one device."""
    found: dict[str, Estimates] = {}
    for name, module in program.parts.items():
        function = module.body.block.first_op
        assert isinstance(function, FuncOp)
        found[name] = estimate_tensors(function.body.block)
    return found


def timeline(
    program: ShardedProgram, machine: DeviceModel, algorithm: Algorithm | None = None
) -> Timeline:
    """A run of a program as `runtime/distributed/runner.py` executes it: an exchange starts when
    its operand is there and those before are done, and is waited for where its result is used."""
    work = works(program)
    ready: dict[int, float] = {}
    spans: list[TimedStep] = []
    now = link_is_free = 0.0
    for step in program.steps:
        now = max([now, *(ready.pop(o) for o in step.operands if o in ready)])
        match step:
            case CallStep():
                end = now + machine.compute_seconds(work[step.name]) + machine.overhead
                spans.append(TimedStep(step.name, False, now, end))
                now = end
            case ExchangeStep():
                start = max(now, link_is_free)
                taken = machine.exchange_seconds(step.exchange, algorithm) + machine.overhead
                link_is_free = start + taken
                spans.append(TimedStep(step.exchange.kind.value, True, start, link_is_free))
                ready[step.results[0]] = link_is_free
                if not machine.overlaps:
                    now = link_is_free
            case _:
                pass
    return Timeline(max([now, *(ready[v] for v in program.returned if v in ready)]), spans)
