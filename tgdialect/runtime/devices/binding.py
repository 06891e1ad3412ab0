"""Launches with the values of a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tgdialect.runtime.devices.driver import Command, Span
from tgdialect.runtime.devices.program import Launch, View
from tgdialect.runtime.expressions import evaluate


def bound(launches: Sequence[Launch], frame: Sequence[Any]) -> Sequence[Command]:
    """The commands of launches; one without workgroups is left out.

    `frame` has the spans and the scalars of a call, by the positions of the parameters.
    """
    commands: list[Command] = []
    for kernel, groups, arguments in launches:
        x, y, z = (max(evaluate(count, frame), 0) for count in groups)
        if not x * y * z:
            continue
        values = (
            _part(frame[a.parameter], evaluate(a.offset, frame), evaluate(a.nbytes, frame))
            if isinstance(a, View)
            else evaluate(a, frame)
            for a in arguments
        )
        commands.append(Command(kernel, (x, y, z), tuple(values)))
    return commands


def _part(span: Span, offset: int, nbytes: int) -> Span:
    return Span(span.block, span.offset + offset, nbytes)
