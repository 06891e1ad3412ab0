"""Tensors as variables: assignment, writes through views, and moves to other devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, cast
from weakref import ref

from tgdialect.frontend.arrays import array_of
from tgdialect.frontend.base import DTypeError, Number, TensorBase, check_tensors
from tgdialect.frontend.elementwise import Elementwise
from tgdialect.frontend.graph import Node, apply, same
from tgdialect.frontend.movement import Movement
from tgdialect.frontend.realization import lose
from tgdialect.frontend.tracing import note_change
from tgdialect.frontend.views import NO_VIEW, View, owner, shown, view_of, written
from tgdialect.ops import tg
from tgdialect.runtime.devices.device import DEVICES


class State(Elementwise, Movement):
    """Assignment. A view, which is `x[...]` with slices and numbers or the result of a movement
    method, passes a write on to the tensor whose cells it shows."""

    __slots__ = ()

    def assign(self, x: Self | Number | Sequence[Any]) -> Self:
        """Set the value to another one of this shape and dtype."""
        device = self.node.device
        where = device if isinstance(device, str) else None
        new = x if isinstance(x, TensorBase) else self._of_array(array_of(x, self.dtype), where)
        if new.dtype != self.dtype:
            raise DTypeError(f"assign dtype mismatch: {new.dtype.name} to {self.dtype.name}")
        new = new._broadcast_to(self.shape).detach()._at(device, self.node.axis)
        self.adopt(new.node.copy(False))
        return self

    def replace(self, x: Self) -> Self:
        """Set the value to another one of this shape, with its history for gradients."""
        check_tensors(x)
        if x.shape != self.shape:
            raise ValueError(f"replace {self.shape} by {x.shape}")
        self._rebind(same(x.node))
        self._update_views()
        return self

    def to_(self, device: str | tuple[str, ...] | None) -> Self:
        """Move this tensor, and its `grad`, to a device; None is the default device.

        A tensor that requires a gradient has no history afterwards. Raises DeviceError for a device
        that does not exist.
        """
        if self.grad is not None:
            self.grad.to_(device)
        return self._moved(self.to(device))

    def _moved(self, moved: Self) -> Self:
        """Take the value of this tensor on other devices."""
        if moved is self:
            return self
        if self.requires_grad:
            moved = moved.detach()
        node = moved.node.copy(moved.node.is_tracked or self.requires_grad)
        node.view = NO_VIEW
        self._rebind(node)
        return self

    def clone(self, device: str | tuple[str, ...] | None = None) -> Self:
        """The same value, and the same `grad`, in memory of its own, by default on this device."""
        new = (self if device is None else self.to(device)).contiguous()
        new.grad = None if self.grad is None else self.grad.clone(device)
        return new

    # -- several devices ---------------------------------------------------------------------------
    #
    # An op on tensors of several devices runs on all of these: each computes its own part, and
    # devices exchange the cells that they need of others. Tensors of which operators take cells at
    # the same coordinates are split along the same axis, or not at all.

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

    def shard_like(self, y: State) -> Self:
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

    # -- nodes -------------------------------------------------------------------------------------

    def adopt(self, node: Node) -> None:
        """Take a node that no other tensor has, without history."""
        node.is_tracked = self.requires_grad
        self._write(node)

    def expire(self, reason: str) -> None:
        """Have no value any more; `reason` is the error for those who ask for it."""
        node = self.node.copy(False)
        lose(node, reason)
        self._rebind(node)

    def _rebind(self, node: Node) -> None:
        """Take a node that no other tensor has."""
        note_change(self)
        node.owner = ref(self)
        self.node = node

    def _write(self, node: Node) -> None:
        """Take a node that no other tensor has. If this is a view, write to the tensor that it
        shows instead."""
        base, view = self, view_of(self.node)
        if view:
            # Undo the ops of the view one by one: `node` becomes the new value of the base tensor.
            base = cast(Self, owner(view))
            sources = shown(view, base.node)[:-1]
            for step, source in zip(view, reversed(sources), strict=True):
                node = written(step, source, node)
            if base.node.is_tracked and any(
                isinstance(step.prototype, tg.DetachOp) for step in view
            ):
                if not base.requires_grad:
                    raise RuntimeError("a write through detach() to a tensor that has a history")
                node = apply(tg.DetachOp, node)
                node.is_tracked = True
        node.view = NO_VIEW
        base._rebind(node)
        base._update_views()

    def _update_views(self) -> None:
        """Let the views of this tensor show its present value."""
        for reference in list(self.views or ()):
            if isinstance(tensor := reference(), State):
                tensor._show(self)

    def _show(self, base: State) -> None:
        """Compute this tensor, if it is a view of `base`, and the views in between, from the
        present value of `base`."""
        view = view_of(self.node)
        if not view or owner(view) is not base:
            return
        values = shown(view, base.node)
        for i, step in enumerate(view[:-1]):
            between = None if step.owner is None else step.owner()
            if isinstance(between, State) and _is_view_of(between, base, view[i + 1 :]):
                between._rebind(values[-2 - i])
        values[-1].is_tracked |= self.requires_grad
        self._rebind(values[-1])


def _is_view_of(tensor: State, base: State, steps: View) -> bool:
    """Whether a tensor is still this view of `base`."""
    view = view_of(tensor.node)
    if not view or cast(State, owner(view)) is not base or len(view) != len(steps):
        return False
    return all(a.prototype is b.prototype for a, b in zip(view, steps, strict=True))
