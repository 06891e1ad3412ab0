"""How tensors lie in memory, and which of PyTorch's layouts programs take as they are.

A program reads and writes contiguous arrays. A tensor whose axes lie in memory in another order is
an array with its axes in that order, and one that repeats its cells is an array of these cells: so
neither is copied.
"""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# PyTorch's types are partial.

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from tgdialect.frontend.tensor import Tensor
from tgdialect.interop.torch.sizes import expression_of


@dataclass(frozen=True)
class MemoryLayout:
    """The order of a tensor's axes in memory, from the outermost on; those in `repeated` have one
    cell that stands for all."""

    order: tuple[int, ...]
    repeated: tuple[int, ...] = ()

    @cached_property
    def inverse(self) -> tuple[int, ...]:
        """The place in memory of each axis."""
        return tuple(self.order.index(axis) for axis in range(len(self.order)))

    @cached_property
    def is_plain(self) -> bool:
        """Whether it is that of a contiguous tensor."""
        return not self.repeated and self.order == tuple(range(len(self.order)))

    def extents(self, shape: Sequence[Any]) -> list[Any]:
        """The shape of the array in memory."""
        return [1 if axis in self.repeated else shape[axis] for axis in self.order]

    def strides(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The strides of a tensor of this shape."""
        found, stride = [0] * len(shape), 1
        for axis in reversed(self.order):
            if axis not in self.repeated:
                found[axis] = stride
                stride *= max(shape[axis], 1)
        return tuple(found)

    def array(self, value: torch.Tensor) -> torch.Tensor:
        """A tensor as a contiguous one, as it lies in memory; a copy if it lies there otherwise."""
        for axis in self.repeated:
            value = value.narrow(axis, 0, 1)
        return value.permute(self.order).contiguous()

    def of_array(self, value: Any, shape: Sequence[Any]) -> Any:
        """The inverse of `array`, of a tensor of ours or of PyTorch's."""
        if self.is_plain:
            return value
        value = value.permute(self.inverse)
        return value.expand(tuple(shape)) if self.repeated else value

    def laid_out(self, value: Tensor) -> Tensor:
        """`array` of a tensor of ours."""
        if self.is_plain:
            return value
        for axis in self.repeated:
            value = value[(*[slice(None)] * axis, slice(0, 1))]
        return value.permute(self.order)


def layout_of(value: torch.Tensor) -> MemoryLayout:
    """The layout of a tensor that PyTorch has traced; that of a contiguous one if it has gaps, or
    if that depends on the values of sizes."""
    plain = MemoryLayout(tuple(range(value.ndim)))
    shape = [expression_of(extent) for extent in value.shape]
    strides = [expression_of(stride) for stride in value.stride()]
    if any(extent == 0 for extent in shape) or _are_dense(range(value.ndim), shape, strides):
        return plain
    repeated = tuple(a for a in range(value.ndim) if strides[a] == 0 and shape[a] != 1)
    hints = [_hint(stride) for stride in value.stride()]
    order = sorted(range(value.ndim), key=lambda axis: (-hints[axis], axis))
    found = MemoryLayout(tuple(order), repeated)
    cells = [1 if axis in repeated else extent for axis, extent in enumerate(shape)]
    return found if _are_dense(order, cells, strides) else plain


def _are_dense(order: Sequence[int], shape: Sequence[Any], strides: Sequence[Any]) -> bool:
    """Whether a tensor whose axes lie in this order has no gaps."""
    expected: Any = 1
    for axis in reversed(order):
        if shape[axis] == 1:
            continue
        if strides[axis] != expected and (strides[axis] - expected).expand() != 0:
            return False
        expected = expected * shape[axis]
    return True


def _hint(size: int | torch.SymInt) -> int:
    """A value that a size has had."""
    return int(size.node.hint or 0) if isinstance(size, torch.SymInt) else size
