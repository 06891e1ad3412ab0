"""Operators in place, and `x[...] = y`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar, cast

from tgdialect.frontend import dtypes
from tgdialect.frontend.arrays import array_of
from tgdialect.frontend.base import Number, Operand, TensorBase
from tgdialect.frontend.graph import Node, same
from tgdialect.frontend.indexing import reach_of
from tgdialect.frontend.linear_algebra import LinearAlgebra
from tgdialect.frontend.sorting import Sorting
from tgdialect.frontend.state import State
from tgdialect.frontend.symbolic import SymInt, greatest, smaller

E = TypeVar("E", bound="InPlace")

_FEW = 512
"""The most positions that are compared with every cell; more of them are sorted. Larger:
comparisons take longer than a sort; smaller: sorts take longer than comparisons, and compile for
longer."""


def _in_place(method: Callable[[Any, Any], Any]) -> Callable[[E, Any], E]:
    """The operator that sets a tensor to the result of a method."""
    return lambda self, x: self._become(method(self, x))  # pyright: ignore[reportPrivateUsage]


class InPlace(LinearAlgebra, Sorting, State):
    """Operators that set the value of their tensor to their result, and writes to cells. Cells that
    are not written keep their value."""

    __slots__ = ()

    def _become(self, new: Self) -> Self:
        """Set the value to the result of an operator, of this shape and kind of dtype. For a tensor
        that requires a gradient, the new value has no history, as in `assign`."""
        if new.shape != self.shape:
            raise ValueError(f"{self.shape} cannot become {new.shape} in place")
        kinds = [(dtype.is_float, dtype.is_bool) for dtype in (self.dtype, new.dtype)]
        if kinds[0] != kinds[1]:
            raise TypeError(f"{self.dtype.name} cannot become {new.dtype.name} in place")
        new = new.cast(self.dtype)
        if self.requires_grad:
            return self.assign(new)
        self._write(same(new.node) if new is self else new.node)
        return self

    def masked_fill_(self, mask: Self, value: Self | Number) -> Self:
        """Set the cells where the mask is true to a value."""
        return self._become(self.masked_fill(mask, value))

    def __ifloordiv__(self, x: Self | Operand) -> Self:
        return self._become(self.div(x, rounding_mode="floor"))

    __iadd__, __isub__ = _in_place(LinearAlgebra.add), _in_place(LinearAlgebra.sub)
    __imul__, __itruediv__ = _in_place(LinearAlgebra.mul), _in_place(LinearAlgebra.div)
    __imod__, __ipow__ = _in_place(LinearAlgebra.mod), _in_place(LinearAlgebra.pow)
    __imatmul__ = _in_place(LinearAlgebra.matmul)
    __iand__, __ior__ = _in_place(LinearAlgebra.bitwise_and), _in_place(LinearAlgebra.bitwise_or)
    __ixor__ = _in_place(LinearAlgebra.bitwise_xor)
    __ilshift__, __irshift__ = _in_place(LinearAlgebra.lshift), _in_place(LinearAlgebra.rshift)

    # -- cells -------------------------------------------------------------------------------------

    def __setitem__(self, indices: Any, value: Self | Number | Sequence[Any]) -> None:
        if isinstance(value, TensorBase):
            given = value.cast(self.dtype)
        elif isinstance(cast(object, value), bool | int | float):
            given = self._constant(cast(Number, value))
        else:
            given = self._of_array(array_of(value, self.dtype))
        if isinstance(indices, TensorBase) and indices.dtype.is_bool and given.numel() == 1:
            self._write(self._set_masked(cast(Self, indices), given).node)
            return
        entries = self._entries(indices)
        shown = self[tuple(entries)]
        if isinstance(value, TensorBase) and _is_same(value.node, shown.node):
            return  # `x[...] += y` has already written to x, through the view `x[...]`.
        given = given._broadcast_to(shown.shape) if shown.ndim else given.reshape(())
        if shown.numel() == 0:
            return
        if any(isinstance(entry, TensorBase) for entry in entries):
            # Replace cells of the view that the slices make, then the view.
            entries = [entry for entry in entries if entry is not None]
            slices = [slice(None) if isinstance(e, TensorBase) else e for e in entries]
            window, tensors = self._window(entries)
            given = window._put(tensors, given.reshape(window._pick(tensors).shape))
            entries = slices
        self._write(self._set_window(entries, given).node)

    def __delitem__(self, indices: Any) -> None:
        raise TypeError("cells of a tensor cannot be deleted")

    def _set_masked(self, mask: Self, value: Self) -> Self:
        """This tensor with one value where a mask of its first axes is true."""
        if mask.shape != self.shape[: mask.ndim]:
            raise IndexError(f"a mask of shape {mask.shape} for a tensor of shape {self.shape}")
        mask = mask.reshape((*mask.shape, *(1 for _ in self.shape[mask.ndim :])))
        return mask.where(value.reshape(()), self)

    # -- slices and numbers ------------------------------------------------------------------------

    def _set_window(self, entries: Sequence[Any], given: Self) -> Self:
        """This tensor with the cells of slices and numbers replaced: the new cells are spread to
        this shape, and selected by a mask that is spread alike."""
        shape: list[int] = []
        bounds: list[tuple[int, int]] = []
        flips: list[int] = []
        for axis, entry in enumerate(e for e in entries if e is not None):
            start, end, step = reach_of(entry, self.shape[axis], axis)
            shape.append(-(-(end - start) // abs(step)))
            # Where the last one is, if there is one: the cells are within the axis also if not.
            first = start if step > 0 else smaller(end - 1 + step * (shape[-1] - 1), end)
            bounds.append((first, abs(step)))
            flips += [axis] if step < 0 else []
        new = given.reshape(shape).flip(flips)
        mask = self.full(new.shape, True, dtypes.bool_)
        return mask._spread(bounds, self.shape).where(new._spread(bounds, self.shape), self)

    def _spread(self, bounds: Sequence[tuple[int, int]], shape: Sequence[int]) -> Self:
        """The cells moved to start, start + step, ... of each axis, with zeros elsewhere."""
        x = self._dilated([step for _, step in bounds])
        return x._placed([start for start, _ in bounds], shape, 0)

    # -- tensors of positions ----------------------------------------------------------------------

    def _put(self, tensors: Sequence[tuple[int, Self]], values: Self) -> Self:
        """This tensor with the cells that `_pick` gives replaced. The last of several values for a
        cell wins, and positions outside of this tensor are left out."""
        # The indexed axes come first, merged into one of rows.
        axes = [axis for axis, _ in tensors]
        rest = [i for i in range(self.ndim) if i not in axes]
        extents = [self.shape[a] for a in axes]
        rows = self._rows(axes)
        cells = rows.shape[1:]
        # A row of values for each position.
        indices = tensors[0][1]._broadcasted(*(t for _, t in tensors[1:]))
        rank, before = indices[0].ndim, sum(i < axes[0] for i in rest)
        if axes == list(range(axes[0], axes[0] + len(axes))):
            values = values.movedim([*range(before, before + rank)], [*range(rank)])
        count = indices[0].numel()
        values = values.reshape((count, *cells))
        places = self._linear(indices, extents).reshape((count,))
        # For each row the last of its values, if there is one.
        last = places._last_entries(rows.shape[0])
        taken = values._indexed(last - 1)
        is_hit = (last > 0).reshape((rows.shape[0], *(1 for _ in rest)))
        new = is_hit.where(taken, rows).reshape((*extents, *cells))
        return new.permute([[*axes, *rest].index(axis) for axis in range(self.ndim)])

    def _last_entries(self, count: int) -> Self:
        """For each number below `count`, 1 + the last place where it is in this tensor of one axis;
        0 if it is nowhere."""
        k = self.shape[0]
        numbers = self.arange(count)
        # A sort of a symbolic axis takes the time of its greatest extent.
        if greatest(k) <= _FEW or isinstance(k, SymInt):
            order = self.arange(1, k + 1)
            return numbers.reshape((count, 1)).eq(self).where(order, 0).max(1)
        # Sort, keeping the order of equal ones. Then search for how many are not greater.
        order = self.argsort(0).contiguous()
        ordered = self._indexed(order).contiguous()
        found = ordered._bisected(numbers)
        at = (found - 1).maximum(0)
        is_there = ordered._indexed(at).eq(numbers) & (found > 0)
        return is_there.where(order._indexed(at) + 1, 0)


def _is_same(a: Node, b: Node) -> bool:
    """Whether two nodes are the same chain of ops on the same value."""
    while a is not b:
        if a.prototype is None or (a.prototype, a.operands[1:]) != (b.prototype, b.operands[1:]):
            return False
        if not a.operands:
            return True
        a, b = next(iter(a.operands)), next(iter(b.operands))
    return True
