"""`tinygrad.Device`: our devices, and what tests ask of the renderer of one."""

from __future__ import annotations

import re
from typing import Any

import tgdialect as tg
from tgdialect.runtime.devices.device import Devices as OurDevices
from tinygrad_shim.dtypes import DTypes
from tinygrad_shim.internals import Internal


class _Everything:
    """What has every member."""

    def __contains__(self, _: object) -> bool:
        return True


class _Renderer(Internal):
    """A renderer that supports every dtype, and is none of tinygrad's classes."""

    has_local = has_shared = has_threads = False
    supports_float4 = True
    device = "CPU"
    tensor_cores = ()
    code_for_op = _Everything()

    def supported_dtypes(self) -> set[Any]:
        return set(DTypes.all)


class _Opened:
    """A device."""

    def __init__(self, name: str) -> None:
        self.device = name
        self.renderer = _Renderer("renderer")
        self.graph = None

    def __getattr__(self, name: str) -> Internal:
        return Internal(f"Device.{name}")

    def synchronize(self) -> None: ...


class Devices:
    """All devices."""

    @property
    def DEFAULT(self) -> str:
        return tg.Device.DEFAULT

    def __getitem__(self, name: str) -> _Opened:
        return _Opened(tg.Device[name].name)

    def canonicalize(self, name: str | None) -> str:
        return tg.Device[name or tg.Device.DEFAULT].name

    def __getattr__(self, name: str) -> Internal:
        return Internal(f"Device.{name}")


Device = Devices()


def extend_devices() -> None:
    """Take tinygrad's devices for tests, one that runs nothing and one that is Python, for places
    of the host: "NULL:1" is "CPU:1"."""
    canonicalize = OurDevices.canonicalize

    def call(self: OurDevices, name: str) -> str:
        if isinstance(name, str):
            name = re.sub("^(NULL|PYTHON)(?=:|$)", "CPU", name)
        return canonicalize(self, name)

    OurDevices.canonicalize = call
