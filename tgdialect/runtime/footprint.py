"""The memory of a call, known before any of it is allocated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, fields
from typing import Any, overload

import numpy as np

from tgdialect.ops.expressions import arguments_of, evaluate
from tgdialect.runtime.program import Parameter
from tgdialect.runtime.text import aligned, show_bytes

UNBOUNDED = np.iinfo(np.int64).max
"""The upper bound of a scalar that has none."""


@dataclass(frozen=True)
class DeviceFootprint:
    """The bytes that a call takes on one device.

    `workspace` is for intermediate results: on CPUs as large as the sizes need, if it is not small.
    `persistent` is for values derived from constant arguments, and for the program's BINARYs,
    `buffers` for its BUFFERs: both stay between calls. `mapped` are bytes of files, which the
    system reads when they are used, and lets go of when memory is short: no part of `peak`.
    """

    device: str
    arguments: int
    results: int
    workspace: int = 0
    persistent: int = 0
    buffers: int = 0
    mapped: int = 0

    @property
    def peak(self) -> int:
        """All of them, which are there at the same time, without what is mapped."""
        return sum(getattr(self, field.name) for field in fields(self)[1:]) - self.mapped


@dataclass(frozen=True)
class Footprint(Sequence[DeviceFootprint]):
    """The memory of a call on each device; printed, a table.

    `sizes` are the scalar arguments that it is for, by name, and `at_most` has those among them
    that are upper bounds.
    """

    devices: tuple[DeviceFootprint, ...]
    sizes: Mapping[str, int]
    at_most: frozenset[str]

    @overload
    def __getitem__(self, index: int) -> DeviceFootprint: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[DeviceFootprint]: ...

    def __getitem__(self, index: int | slice) -> DeviceFootprint | Sequence[DeviceFootprint]:
        return self.devices[index]

    def __len__(self) -> int:
        return len(self.devices)

    @property
    def peak(self) -> int:
        """The bytes on all devices."""
        return sum(device.peak for device in self.devices)

    def __str__(self) -> str:
        names = (*(field.name for field in fields(DeviceFootprint)), "peak")
        cells = [[getattr(device, name) for name in names] for device in self.devices]
        rows = [[row[0], *map(show_bytes, row[1:])] for row in cells]
        sizes = (
            f"{name} {'<=' if name in self.at_most else '='} {size}"
            for name, size in self.sizes.items()
        )
        return "\n".join(filter(None, (aligned([names, *rows]), ", ".join(sizes))))


def footprint_of(
    parameters: Sequence[Parameter], device: str, frame: Sequence[Any], mapped: int = 0
) -> DeviceFootprint:
    """The memory of a program's parameters on one device. `frame` has the scalars by position, and
    `mapped` of the BINARYs' bytes are in files."""

    def total(*roles: str) -> int:
        return sum(p.nbytes_for(frame) for p in parameters if p.role in roles)

    persistent, buffers = total("persistent", "data") - mapped, total("buffer")
    return DeviceFootprint(
        device, total("input"), total("output"), total("workspace"), persistent, buffers, mapped
    )


def known_sizes(
    parameters: Sequence[Parameter], given: Mapping[str, int]
) -> tuple[list[int | None], Mapping[str, int], frozenset[str]]:
    """The scalars by position, and what a `Footprint` says about them: those given by name, and
    upper bounds of the others.

    Raises TypeError for the name of no scalar, ValueError for a value out of bounds, or none for a
    scalar that is an extent and has no bound.
    """
    numbers = [(i, p) for i, p in enumerate(parameters) if p.role == "scalar"]
    scalars = {p.name: (i, p) for i, p in numbers if p.computed is None}
    if unknown := given.keys() - scalars.keys():
        there_are = ", ".join(scalars) or "none"
        raise TypeError(f"{', '.join(sorted(unknown))}: no size of the program; it has {there_are}")
    extents = {position for p in parameters for position in p.dims}
    extents |= {i for _, p in numbers for i in arguments_of(p.computed or ())}
    frame: list[int | None] = [None] * len(parameters)
    sizes: dict[str, int] = {}
    for name, (position, parameter) in scalars.items():
        if name in given:
            frame[position] = parameter.number(given[name])
        elif position not in extents:
            continue
        elif parameter.high == UNBOUNDED:
            raise ValueError(f"{name} has no upper bound: give its value")
        else:
            frame[position] = max(parameter.high, 0)
        sizes[name] = frame[position] or 0
    compute_sizes(parameters, frame, {i for i, p in numbers if p.name in given})
    return frame, sizes, frozenset(sizes.keys() - given.keys())


def compute_sizes(parameters: Sequence[Parameter], frame: list[Any], known: Set[int]) -> None:
    """Put the sizes that are computed into a frame: exact ones if the scalars in `known` positions
    decide them, else their upper bounds."""
    exact = {*known}
    for position, parameter in enumerate(parameters):
        if (formula := parameter.computed) is None:
            continue
        if exact.issuperset(arguments_of(formula)):
            frame[position] = evaluate(formula, frame)
            exact.add(position)
        else:
            frame[position] = parameter.high
