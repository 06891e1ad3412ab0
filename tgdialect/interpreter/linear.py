"""A LINEAR of a host program: its ops one after the other, on live memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.ir import SSAValue

from tgdialect.interpreter.execution import run_block
from tgdialect.interpreter.host_values import HostValue, TensorValue, VersionedView
from tgdialect.interpreter.kernel import LiveValue
from tgdialect.interpreter.live import LiveMemory, LiveView
from tgdialect.interpreter.run_context import RunContext
from tgdialect.interpreter.versions import Journal, Stores, VersionedMemory
from tgdialect.ops import tg
from tgdialect.ops.numpy_dtypes import Array


def captured(op: tg.LinearOp, known: Mapping[SSAValue, HostValue]) -> Mapping[SSAValue, HostValue]:
    """The values from outside that the ops of a LINEAR take."""
    return {
        operand: known[operand]
        for inner in op.body.walk()
        for operand in inner.operands
        if operand in known
    }


def run_linear(
    context: RunContext,
    op: tg.LinearOp,
    outer: Mapping[SSAValue, HostValue],
    arguments: Sequence[HostValue],
    journal: Journal,
) -> Sequence[tuple[VersionedMemory, Array, Array]]:
    """Run a LINEAR on what it captures and the arguments of its PARAMs, by slot.

    Returns, for each memory that it stores to, the new contents and a mask of written elements.
    """
    views = [v for v in (*outer.values(), *arguments) if isinstance(v, VersionedView)]
    versions: dict[VersionedMemory, Stores] = {}
    for view in views:
        versions[view.memory] = versions.get(view.memory, 0) | view.version
    lived: dict[VersionedMemory, LiveMemory] = {}

    def live(value: HostValue) -> LiveValue:
        if isinstance(value, TensorValue):
            return value.array
        return (
            LiveView(lived[value.memory], value.cell_map)
            if isinstance(value, VersionedView)
            else None
        )

    def bind(snapshots: bool) -> tuple[list[LiveValue], dict[SSAValue, LiveValue]]:
        for memory, version in versions.items():
            contents = memory.contents(version, journal)
            lived[memory] = LiveMemory(contents.copy(), memory.dtype, name=memory.name)
            lived[memory].written = np.zeros(contents.size, np.bool_)
        return (
            [live(value) for value in arguments],
            {operand: live(value) for operand, value in outer.items()},
        )

    run_block(op.body.block, context, graph=False, bind=bind)
    return [
        (memory, now.contents, now.written.reshape(now.shape))
        for memory, now in lived.items()
        if now.written is not None and now.written.any()
    ]
