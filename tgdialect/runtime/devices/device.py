"""`Device`: a place that programs name, as "CPU", "CL:0" or "CUDA:1"; and the devices there are."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple, cast

import numpy as np

from tgdialect.environment import DEVICE
from tgdialect.runtime.devices.array import DeviceArray
from tgdialect.runtime.devices.driver import DeviceError, Driver, Limits
from tgdialect.runtime.dlpack import host_array
from tgdialect.runtime.program import HOST

PROCESS = "MPI"
"""The kind of devices that are processes of MPI (`runtime/distributed`)."""
DLPACK_CUDA = 2
"""DLPack's number of NVIDIA's GPUs."""


class _Kind(NamedTuple):
    """A kind of devices: the package that drives them, the extra that installs it, and the targets
    that they run, by the name before a colon."""

    package: str
    extra: str
    target: str
    counted: Callable[[], int]
    open: Callable[[str, int], Driver]


def _driver(module: str) -> tuple[Callable[[], int], Callable[[str, int], Driver]]:
    """How many devices a driver has, and how one is opened, by functions of its module, which is
    imported when it is needed."""

    def late(name: str) -> Callable[..., Any]:
        path = f"tgdialect.runtime.devices.{module}"
        return lambda *given: getattr(import_module(path), name)(*given)

    return late("device_count"), late("open_device")


KINDS: Mapping[str, _Kind] = {
    "CL": _Kind("pyopencl", "opencl", "opencl", *_driver("opencl")),
    "CUDA": _Kind("cuda.bindings", "cuda", "nvidia", *_driver("cuda")),
}
"""The kinds of devices other than the host, by the first part of their names."""


class Device:
    """A place that programs name. The host, "CPU", has arrays of NumPy for memory."""

    def __init__(self, name: str, kind: _Kind | None, number: int = 0) -> None:
        self.name = name
        self._kind = kind
        self._number = number
        self._driver: Driver | None = None
        self._process = 0
        self._lock = threading.Lock()

    @property
    def is_host(self) -> bool:
        """Whether this is the CPU that Python runs on."""
        return self._kind is None

    @property
    def driver(self) -> Driver:
        """The connection to the device, which is made when it is first asked for.

        Raises DeviceError in a child of `fork`: no driver survives that.
        """
        if self._driver is None:
            assert self._kind is not None, "the host needs no driver"
            with self._lock:
                if self._driver is None:
                    self._process = os.getpid()
                    self._driver = self._kind.open(self.name, self._number)
        if self._process != os.getpid():
            raise DeviceError(
                f"{self.name} was opened before this process was forked: use another start method "
                "of multiprocessing, as 'spawn'"
            )
        return self._driver

    @property
    def limits(self) -> Limits:
        """The limits of the device; those of the host are not known."""
        return self.driver.limits

    @property
    def target(self) -> str:
        """The name of the target that programs for this device are compiled for."""
        return "cpu" if self.is_host else self.driver.target

    def array(self, value: Any) -> Any:
        """A copy of an array of NumPy in the memory of this device; without a copy, an array that
        is there: a `DeviceArray`, or one of another library that has DLPack.

        On the host, an array of NumPy. Raises TypeError for what is no array of numbers.
        """
        if self.is_host:
            return value.numpy() if isinstance(value, DeviceArray) else host_array(value)
        if isinstance(value, DeviceArray):
            return value.to(self.driver)
        if is_on(self.driver, value):
            return DeviceArray.from_dlpack(self.driver, value)
        return DeviceArray.of(self.driver, host_array(value))

    def copied(self, value: Any) -> Any:
        """A copy of an array of the host or of a device in the memory of this device."""
        found = self.array(value)
        return found.copy() if found is value else found

    def synchronize(self) -> None:
        """Wait until the device has done all that it was asked for."""
        if not self.is_host:
            self.driver.synchronize()

    def __repr__(self) -> str:
        return f"<Device {self.name}>"


def _place_of(value: Any) -> tuple[int, int] | None:
    """DLPack's type and number of the device of another library's array; None if it says none."""
    if isinstance(value, np.ndarray) or not hasattr(value, "__dlpack_device__"):
        return None
    kind, number = value.__dlpack_device__()
    return int(kind), int(number)


def is_on(driver: Driver, value: Any) -> bool:
    """Whether an array of another library is in the memory of a device."""
    return _place_of(value) == driver.dlpack_device


def on_a_device(value: Any) -> DeviceArray | None:
    """An array in the memory of a device other than the host, without a copy: a `DeviceArray`, or
    one of another library on a GPU. None for any other value."""
    if isinstance(value, DeviceArray):
        return value
    place = _place_of(value)
    if place is None or place[0] != DLPACK_CUDA:
        return None
    return DeviceArray.from_dlpack(DEVICES[f"CUDA:{place[1]}"].driver, value)


class Devices:
    """The devices of this machine: `Device["CL:0"]`, `list(Device)`, `Device.DEFAULT`."""

    def __init__(self) -> None:
        self._known: dict[str, Device] = {HOST: Device(HOST, None)}
        self._lock = threading.Lock()

    @property
    def DEFAULT(self) -> str:
        """The name of the device for tensors and programs that name none: `TG_DEVICE`, or "CPU".

        Raises SettingError if the variable has a name that no device could have.
        """
        return self.canonicalize(DEVICE.get())

    def own(self, process: int) -> Device:
        """The default device of one of several processes of this machine. If `TG_DEVICE` names a
        kind without a number, as "CUDA", the processes take the devices of that kind in turn.

        Raises DeviceError if there is no such device.
        """
        kind = DEVICE.get().upper()
        if kind in KINDS and (count := _count(kind)):
            return self[f"{kind}:{process % count}"]
        return self[self.DEFAULT]

    def canonicalize(self, name: str) -> str:
        """The full name of a device: "CL" and "cl:0" are "CL:0", and "CPU:0" is "CPU".

        Raises DeviceError for a name that no device could have, TypeError for what is no name.
        """
        if not isinstance(cast(object, name), str):
            raise TypeError(f"the name of a device is a string, not {type(name).__name__}")
        kind, colon, number = name.upper().partition(":")
        is_known = kind in (HOST, PROCESS) or kind in KINDS
        if not is_known or (colon and not re.fullmatch("[0-9]+", number)):
            there_are = ", ".join((HOST, *(f"{kind}:0" for kind in (*KINDS, PROCESS))))
            raise DeviceError(f"{name!r} is no device: the names are as {there_are}")
        return HOST if kind == HOST and not int(number or 0) else f"{kind}:{int(number or 0)}"

    def names(self, devices: Sequence[str]) -> tuple[str, ...]:
        """The full names of several devices, each of which has a part of a tensor.

        Raises DeviceError for a name that no device could have, or that occurs twice.
        """
        found = tuple(map(self.canonicalize, devices))
        if not found or len(set(found)) < len(found):
            raise DeviceError(f"one or more distinct devices, not {', '.join(found) or 'none'}")
        return found

    def __getitem__(self, name: str) -> Device:
        """A device by its name. Raises DeviceError if there is no such device, with the reason.

        "CPU:1" and so on are further places of the host, and "MPI:1" is a process.
        """
        full = self.canonicalize(name)
        if full not in self._known:
            prefix, _, number = full.partition(":")
            if prefix in (HOST, PROCESS):
                return self._known.setdefault(full, Device(full, None, int(number)))
            kind = KINDS[prefix]
            if int(number) >= _count(prefix):
                raise DeviceError(f"there is no device {full}: {reason_for_none(prefix)}")
            with self._lock:
                self._known.setdefault(full, Device(full, kind, int(number)))
        return self._known[full]

    def __iter__(self) -> Iterator[Device]:
        """All devices of this machine, the host first."""
        yield self[HOST]
        for prefix in KINDS:
            for number in range(_count(prefix)):
                yield self[f"{prefix}:{number}"]

    def for_target(self, target: str) -> Device:
        """The device that runs programs for a target: the default device if it does, else the first
        that does. Raises DeviceError if there is none."""
        kind = target.partition(":")[0]
        for prefix, each in KINDS.items():
            if each.target == kind:
                default = self.DEFAULT
                return self[default if default.startswith(prefix) else prefix]
        raise DeviceError(f"no device here runs programs for {target}")


def _count(prefix: str) -> int:
    """How many devices of a kind there are; 0 without the package that drives them."""
    kind = KINDS[prefix]
    return kind.counted() if find_spec(kind.package.partition(".")[0]) is not None else 0


def reason_for_none(prefix: str) -> str:
    """Why a kind of devices has no more of them, or what to install."""
    kind, count = KINDS[prefix], _count(prefix)
    if find_spec(kind.package.partition(".")[0]) is None:
        return f"pip install 'tgdialect[{kind.extra}]' first"
    if not count:
        return "no driver of this kind has a device"
    return "the only one is 0" if count == 1 else f"they are 0 to {count - 1}"


DEVICES = Devices()
"""The devices of this machine."""
