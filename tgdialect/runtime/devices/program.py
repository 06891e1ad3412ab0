"""A program compiled for a device, as data: its parameters, its kernels, and a command buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from tgdialect.ops.expressions import Expression
from tgdialect.runtime.program import CompiledProgram, Entries
from tgdialect.runtime.windows import Window


@dataclass(frozen=True, slots=True)
class DeviceKernel:
    """A kernel: text that the device's driver compiles, or a binary that it loads.

    `symbol` is its name in the code. `scalars` has, for each parameter, the name of its dtype, or
    None for memory. `written` are the positions of the parameters that it stores to. `workgroup`
    has the number of work items of a workgroup in x, y and z.
    """

    name: str
    symbol: str
    code: bytes
    is_binary: bool
    scalars: tuple[str | None, ...]
    written: tuple[int, ...]
    workgroup: tuple[int, int, int]
    local: int = 0
    """The bytes of LOCAL memory that a launch allocates, besides those that the code declares."""

    @property
    def is_ptx(self) -> bool:
        """Whether the code is PTX: every module of that has the directive."""
        return not self.is_binary and b".target" in self.code

    @property
    def text(self) -> str:
        """The source."""
        return self.code.decode()


class View(NamedTuple):
    """Memory as an argument: `nbytes` of a parameter, given by its position, from an offset on."""

    parameter: int
    offset: Expression
    nbytes: Expression


class Launch(NamedTuple):
    """A call of a kernel: the numbers of workgroups in x, y and z, and its arguments: views of
    memory, and scalars."""

    kernel: int
    groups: tuple[Expression, Expression, Expression]
    arguments: tuple[View | Expression, ...]

    @classmethod
    def of(cls, kernel: int, groups: Any, arguments: Sequence[Any]) -> Launch:
        """A launch of a packed program, which has tuples for views: only these have some inside."""
        views = (any(isinstance(part, tuple) for part in each) for each in arguments)
        given = (View(*a) if is_view else a for a, is_view in zip(arguments, views, strict=True))
        return cls(kernel, groups, tuple(given))


@dataclass(frozen=True, slots=True)
class DeviceProgram(CompiledProgram):
    """Kernels, and the launches of a call in order. The first `once` of these compute values
    derived from constant arguments: they run only in the first call with these constants."""

    kernels: tuple[DeviceKernel, ...]
    launches: tuple[Launch, ...]
    once: int = 0
    windows: tuple[Window, ...] = ()
    """Bounds that the scalars of a call have to satisfy."""

    entries: ClassVar[Entries] = {
        "kernels": lambda each: DeviceKernel(**each),
        "launches": lambda each: Launch.of(*each),
    }
