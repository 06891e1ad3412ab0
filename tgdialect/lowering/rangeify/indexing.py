"""Index arithmetic: what a movement op does to the index at which it is read.

Movement ops never move data here. Each one turns the index of an element of its result into the
index of an element of its source, and perhaps a condition for that element to exist.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from xdsl.ir import SSAValue

from tgdialect.ops.properties import Dim, Shape, product, same_size

Index = tuple[SSAValue, ...]
"""One `tensor<index>` value per axis."""


class IndexEmitter(Protocol):
    """Emits index arithmetic, folding what is trivial."""

    def dim(self, dim: Dim) -> SSAValue:
        """The extent as an index value."""
        ...

    def add(self, a: Dim, b: Dim) -> SSAValue: ...

    def sub(self, a: Dim, b: Dim) -> SSAValue: ...

    def mul(self, a: Dim, b: Dim) -> SSAValue: ...

    def idiv(self, a: Dim, b: Dim) -> SSAValue: ...

    def mod(self, a: Dim, b: Dim) -> SSAValue: ...

    def in_range(self, index: SSAValue, extent: Dim) -> SSAValue | None:
        """0 <= index < extent; None where that is proven."""
        ...

    def both(self, a: SSAValue | None, b: SSAValue | None) -> SSAValue | None:
        """The conjunction of two conditions; None is true."""
        ...


def permuted(index: Index, order: Sequence[int]) -> Index:
    """Axis k of the result is axis order[k] of the source."""
    source = dict(zip(order, index, strict=True))
    return tuple(source[axis] for axis in range(len(order)))


def flipped(emit: IndexEmitter, index: Index, shape: Shape, flags: Sequence[int]) -> Index:
    """i becomes n - 1 - i on a flagged axis."""
    return tuple(
        emit.sub(emit.sub(extent, 1), i) if flag else i
        for i, extent, flag in zip(index, shape, flags, strict=True)
    )


def broadcast(emit: IndexEmitter, index: Index, shape: Shape, source: Shape) -> Index:
    """EXPAND, and the implicit broadcast: a size-1 axis is read at 0, missing axes are dropped."""
    missing = len(shape) - len(source)
    aligned = zip(index[missing:], shape[missing:], source, strict=True)
    return tuple(emit.dim(0) if extent == 1 and result != 1 else i for i, result, extent in aligned)


def shifted(emit: IndexEmitter, index: Index, offsets: Shape) -> Index:
    """SHRINK: i becomes i + o."""
    return tuple(emit.add(i, o) for i, o in zip(index, offsets, strict=True))


def padded(
    emit: IndexEmitter, index: Index, offsets: Shape, source: Shape
) -> tuple[Index, SSAValue | None]:
    """PAD: i becomes i - o, which exists where it is in range."""
    result = tuple(
        i if isinstance(o, int) and o == 0 else emit.sub(i, o)
        for i, o in zip(index, offsets, strict=True)
    )
    exists = None
    for i, extent in zip(result, source, strict=True):
        exists = emit.both(exists, emit.in_range(i, extent))
    return result, exists


def reshaped(emit: IndexEmitter, index: Index, shape: Shape, source: Shape) -> Index:
    """RESHAPE: through the row-major position, but only within groups of axes that truly mix."""
    result = [emit.dim(0)] * len(source)
    for new_axes, old_axes in _groups(shape, source):
        new_extents = [shape[a] for a in new_axes]
        old_extents = [source[a] for a in old_axes]
        group = [index[a] for a in new_axes]
        if new_extents != old_extents:
            group = _unflattened(emit, _flattened(emit, group, new_extents), old_extents)
        for axis, i in zip(old_axes, group, strict=True):
            result[axis] = i
    return tuple(result)


def _groups(shape: Shape, source: Shape) -> list[tuple[list[int], list[int]]]:
    """The finest runs of axes of both shapes with equal products, axes of size 1 left out."""
    new = [axis for axis, extent in enumerate(shape) if extent != 1]
    old = [axis for axis, extent in enumerate(source) if extent != 1]
    if 0 in shape:
        return [(new, old)]
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(new) or j < len(old):
        first_i, first_j = i, j
        i, j = i + 1, j + 1
        while True:
            new_run = tuple(shape[a] for a in new[first_i:i])
            old_run = tuple(source[a] for a in old[first_j:j])
            if same_size(new_run, old_run):
                break
            n_static, n_dynamic = product(new_run)
            o_static, o_dynamic = product(old_run)
            smaller = (len(n_dynamic), n_static) < (len(o_dynamic), o_static)
            if j >= len(old) or (smaller and i < len(new)):
                i += 1
            else:
                j += 1
        groups.append((new[first_i:i], old[first_j:j]))
    return groups


def _flattened(emit: IndexEmitter, index: Sequence[SSAValue], extents: Sequence[Dim]) -> SSAValue:
    """The row-major position: Horner's scheme over the axes."""
    position, *rest = index
    for i, extent in zip(rest, extents[1:], strict=True):
        position = emit.add(emit.mul(position, extent), i)
    return position


def _unflattened(emit: IndexEmitter, position: SSAValue, extents: Sequence[Dim]) -> list[SSAValue]:
    """The index per axis of a row-major position, from the last axis to the first."""
    result: list[SSAValue] = []
    for extent in reversed(extents[1:]):
        result.append(emit.mod(position, extent))
        position = emit.idiv(position, extent)
    return [position, *reversed(result)]
