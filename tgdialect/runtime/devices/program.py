"""A program compiled for a device, as data: its parameters, its kernels, and a command buffer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from tgdialect.runtime.expressions import Expression
from tgdialect.runtime.program import (
    Parameter,
    decoded_parameters,
    encoded_parameters,
    packed,
    unpacked,
)
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
    def of(cls, fields: Sequence[Any]) -> Launch:
        """A launch from JSON, which has lists for tuples."""
        kernel, (x, y, z), arguments = fields
        return cls(kernel, (tuple(x), tuple(y), tuple(z)), tuple(map(_argument, arguments)))


def _argument(fields: Sequence[Any]) -> View | Expression:
    """An argument from JSON: only a view has lists inside."""
    if not any(isinstance(field, list) for field in fields):
        return tuple(fields)
    parameter, offset, nbytes = fields
    return View(parameter, tuple(offset), tuple(nbytes))


@dataclass(frozen=True, slots=True)
class DeviceProgram:
    """Kernels, and the launches of a call in order. The first `once` of these compute values
    derived from constant arguments: they run only in the first call with these constants."""

    parameters: tuple[Parameter, ...]
    kernels: tuple[DeviceKernel, ...]
    launches: tuple[Launch, ...]
    once: int = 0
    windows: tuple[Window, ...] = ()
    """Bounds that the scalars of a call have to satisfy."""

    def to_bytes(self) -> bytes:
        """The program as bytes."""
        kernels = [asdict(kernel) for kernel in self.kernels]
        codes = [kernel.pop("code") for kernel in kernels]
        parameters, data = encoded_parameters(self.parameters)
        entries = {
            "parameters": parameters,
            "kernels": kernels,
            "launches": self.launches,
            "once": self.once,
            "windows": self.windows,
        }
        return packed(entries, [*codes, *data])

    @classmethod
    def from_bytes(cls, data: bytes) -> DeviceProgram:
        """The inverse of `to_bytes`. Raises ValueError, KeyError or TypeError for other bytes."""
        entries, codes = unpacked(data)
        count = len(entries["kernels"])
        kernels = [
            DeviceKernel(code=code, **{k: _frozen(v) for k, v in kernel.items()})
            for kernel, code in zip(entries["kernels"], codes[:count], strict=True)
        ]
        return cls(
            decoded_parameters(entries["parameters"], codes[count:]),
            tuple(kernels),
            tuple(map(Launch.of, entries["launches"])),
            entries["once"],
            tuple(map(Window.of, entries["windows"])),
        )


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
