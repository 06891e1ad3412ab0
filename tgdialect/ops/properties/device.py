"""The device and addrspace columns: rules for the device and address space of an op's result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tgdialect.ops.attributes import AddrSpace, Device
from tgdialect.ops.properties.values import place

DeviceRule = Callable[[Operation], Device]
AddrSpaceRule = Callable[[Operation], AddrSpace | None]


def null(op: Operation) -> None:
    return None


def source(op: Operation) -> Device:
    return place(op.operands[0]).device


def common(op: Operation) -> Device:
    """The device of the operands. All devices that are not null must be equal."""
    return common_of(op.operands)


def common_of(values: Sequence[SSAValue]) -> Device:
    """The device of some values. All devices that are not null must be equal."""
    device: Device = None
    for value in values:
        other = place(value).device
        if other is None or other == device:
            continue
        if device is not None:
            raise VerifyException(
                f"operands are on different devices: {show(device)} and {show(other)}"
            )
        device = other
    return device


def show(device: Device) -> str:
    """A device as error messages print it."""
    if isinstance(device, tuple):
        return f"[{', '.join(device)}]"
    return device or "null"


def argument(op: Operation) -> Device:
    """The device that an op has as a property: one name, or a tuple of names; None without it."""
    match op.properties.get("device"):
        case StringAttr(data=name):
            return name
        case ArrayAttr(data=names):
            return tuple(cast(StringAttr, n).data for n in names)
        case _:
            return None


def loaded(op: Operation) -> Device:
    """The `device` argument, else the device of the buffer, `alt` and the gate."""
    here = common(op)
    return argument(op) or here


def written(op: Operation) -> Device:
    return place(op.results[0]).device


def source_addrspace(op: Operation) -> AddrSpace | None:
    return place(op.operands[0]).addrspace


def written_addrspace(op: Operation) -> AddrSpace | None:
    return place(op.results[0]).addrspace


def loaded_addrspace(op: Operation) -> AddrSpace | None:
    space = op.properties.get("addrspace")
    return AddrSpace(space.data) if isinstance(space, StringAttr) else None
