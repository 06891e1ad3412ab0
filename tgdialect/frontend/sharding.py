"""Tensors on several devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from tgdialect.frontend.state import State
from tgdialect.ops import tg
from tgdialect.runtime.devices.device import DEVICES


class Sharding(State):
    """Splitting a tensor among devices, and copying it to each of them.

    What is computed from such tensors is computed on all of their devices: each has its own part,
    and what a device needs of others is exchanged. Tensors of which operators take cells at the
    same coordinates are split along the same axis, or not at all.
    """

    __slots__ = ()

    @property
    def axis(self) -> int | None:
        """The axis that is split among the devices; None if each has the whole."""
        return self.node.axis

    def shard(self, devices: Sequence[str], axis: int | None = None) -> Self:
        """This value in equal parts along an axis, one on each device; by default a copy on each.

        Raises ValueError if the axis does not split into so many parts, DeviceError for devices
        that do not exist.
        """
        resolved = axis + self.ndim if axis is not None and axis < 0 else axis
        return self._on_devices(tuple(devices), resolved)

    def shard_(self, devices: Sequence[str], axis: int | None = None) -> Self:
        """Split this tensor, and its `grad`, as `shard`. Afterwards a tensor that requires a
        gradient has no history."""
        if self.grad is not None:
            self.grad.shard_(devices, axis)
        return self._moved(self.shard(devices, axis))

    def shard_like(self, y: Sharding) -> Self:
        """This value on the devices of another tensor, in the same parts."""
        device = y.node.device
        return self.shard(device, y.axis) if isinstance(device, tuple) else self.to(y.device)

    def copy(self, device: str | Sequence[str]) -> Self:
        """COPY: this value on a device, or in equal parts along axis 0 on several."""
        names = DEVICES[device].name if isinstance(device, str) else DEVICES.names(device)
        if isinstance(names, str):
            return self.to(names)
        return self if (self.node.device, self.axis) == (names, 0) else self._on_devices(names, 0)

    def replicated(self, axis: int = 0) -> Self:
        """REPLICATED: without the split axis, which has one entry for each device: the entries are
        copies of one value. Raises ValueError if that is another axis."""
        return self._apply(tg.ReplicatedOp, self.node, axis)
