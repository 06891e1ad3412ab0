"""Movement ops as index arithmetic.

A movement op moves no data here. It maps the index of an element of its result to the index of the
element of its source. For a PAD the index may lie outside of the source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from xdsl.ir import Operation

from tgdialect.analysis.affine.positions import ZERO, Index, Position, Positions
from tgdialect.ops import tg
from tgdialect.ops.properties import product, same_size


def moved(positions: Positions, op: tg.MovementOp, index: Index) -> Index | None:
    """The index in a movement op's source, given the index of an element of its result.

    None for INDEX, STACK and BITCAST, which are more than a map of indices.
    """
    source = tg.shape_of(op.operands[0])
    match op:
        case tg.PermuteOp():
            at = dict(zip(tg.integers(op, "order"), index, strict=True))
            return tuple(at[axis] for axis in range(len(index)))
        case tg.FlipOp():  # i becomes n - 1 - i on a flagged axis.
            return tuple(
                positions.sub(positions.dim(extent) - 1, i) if flag else i
                for i, extent, flag in zip(index, source, tg.integers(op, "flags"), strict=True)
            )
        case tg.ReshapeOp():
            return _reshaped(positions, index, tg.shape_of(op.result), source)
        case tg.ExpandOp():
            return broadcast(index, tg.shape_of(op.result), source)
        case tg.ShrinkOp() | tg.PadOp():
            offsets = map(positions.dim, tg.window(op)[0])
            combined = positions.add if isinstance(op, tg.ShrinkOp) else positions.sub
            return tuple(map(combined, index, offsets))
        case _:
            return None


def broadcast(index: Index, shape: tg.Shape, source: tg.Shape) -> Index:
    """EXPAND and implicit broadcast: an expanded axis of size 1 is read at 0, and leading axes that
    the source does not have are dropped."""
    missing = len(shape) - len(source)
    aligned = zip(index[missing:], shape[missing:], source, strict=True)
    return tuple(ZERO if extent == 1 and result != 1 else i for i, result, extent in aligned)


def operand_indices(
    positions: Positions, op: Operation, index: Index
) -> Iterator[tuple[int, Index]]:
    """The operands of an elementwise or movement op that an element of its result needs, by their
    numbers, and the index of the element of each. None of an INDEX, STACK or BITCAST."""
    if isinstance(op, tg.MovementOp):
        if (where := moved(positions, op, index)) is not None:
            yield 0, where
    else:
        shape = tg.shape_of(op.results[0])
        for number, operand in enumerate(op.operands):
            yield number, broadcast(index, shape, tg.shape_of(operand))


def _reshaped(positions: Positions, index: Index, shape: tg.Shape, source: tg.Shape) -> Index:
    """RESHAPE: through the row-major position, within each group of axes that merge or split."""
    result = [ZERO] * len(source)
    for new_axes, old_axes in axis_groups(shape, source):
        if not new_axes or not old_axes:
            continue  # The group has one cell: its symbolic extents are 1.
        new_extents = [shape[a] for a in new_axes]
        old_extents = [source[a] for a in old_axes]
        group = [index[a] for a in new_axes]
        if new_extents != old_extents:
            row_major = _flattened(positions, group, new_extents)
            group = _unflattened(positions, row_major, old_extents)
        for axis, i in zip(old_axes, group, strict=True):
            result[axis] = i
    return tuple(result)


def axis_groups(shape: tg.Shape, source: tg.Shape) -> list[tuple[list[int], list[int]]]:
    """The shortest runs of axes of both shapes with equal numbers of elements; axes of size 1 are
    left out."""
    is_static = all(type(extent) is int for extent in (*shape, *source))
    return _static_groups(shape, source) if is_static else _find_groups(shape, source)


def _find_groups(shape: tg.Shape, source: tg.Shape) -> list[tuple[list[int], list[int]]]:
    new = [axis for axis, extent in enumerate(shape) if extent != 1]
    old = [axis for axis, extent in enumerate(source) if extent != 1]
    if 0 in shape:
        return [(new, old)]
    # Start a run with one axis of each shape, and extend the smaller run until the sizes agree.
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


_static_groups = lru_cache(_find_groups)


def _flattened(
    positions: Positions, index: Sequence[Position], extents: Sequence[tg.Dim]
) -> Position:
    """The row-major position: Horner's scheme over the axes."""
    position, *rest = index
    for i, extent in zip(rest, extents[1:], strict=True):
        position = positions.add(positions.mul(position, positions.dim(extent)), i)
    return position


def _unflattened(
    positions: Positions, position: Position, extents: Sequence[tg.Dim]
) -> list[Position]:
    """The index per axis of a row-major position, from the last axis to the first."""
    result: list[Position] = []
    for extent in reversed(extents[1:]):
        position, last = positions.divided(position, positions.dim(extent))
        result.append(last)
    return [position, *reversed(result)]
