"""Views: values that show cells of a tensor, and writes to the tensor through them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, cast
from weakref import ref

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block

from tgdialect.frontend import dtypes
from tgdialect.frontend.graph import Node, Shape, apply, constant, interned, made
from tgdialect.frontend.symbolic import Dim, value_of
from tgdialect.ops import tg
from tgdialect.ops.numpy_dtypes import Array

_VIEWS = (
    tg.BitcastOp,
    tg.DetachOp,
    tg.ExpandOp,
    tg.FlipOp,
    tg.PermuteOp,
    tg.ReshapeOp,
    tg.ShrinkOp,
)
"""The ops whose results show cells of their source. PAD is one only if the padding is cut off."""


@dataclass(frozen=True, slots=True)
class Step:
    """One op of a view, without its source."""

    prototype: tg.TgOp
    sizes: tuple[Node, ...]
    """The operands after the source."""
    extents: Shape | None
    owner: Callable[[], object] | None
    """The owner of the source."""


class HasViews(Protocol):
    """A tensor: `views` are those that were made as views of it."""

    views: list[ref[HasViews]] | None


View = tuple[Step, ...]
"""The ops from a value to the tensor whose cells it shows, the last op first."""
NO_VIEW: View = ()
_FEW_VIEWS = 32
"""The views that are gone are removed from a tensor's list when it reaches this length, and each
power of two above, so that adding one takes constant time on average and the list is at most twice
as long as needed."""


def view_of(node: Node) -> View:
    """The longest view that ends in a tensor which is alive; empty if there is none."""
    steps: list[Step] = []
    while node.view is None and isinstance(node.prototype, _VIEWS) and node.operands:
        steps.append(_step(node))
        node = node.operands[0]
    steps += node.view or ()
    while steps and (steps[-1].owner is None or steps[-1].owner() is None):
        steps.pop()
    return tuple(steps)


def register_view(tensor: HasViews, node: Node) -> None:
    """Tell the tensors whose cells a new tensor's node shows, if there are any."""
    if node.view is None and not isinstance(node.prototype, _VIEWS):
        return
    reference = ref(tensor)
    # Without steps of its own: most tensors are never written through their views.
    while node.view is None and isinstance(node.prototype, _VIEWS) and node.operands:
        node = node.operands[0]
        if node.owner is not None and (source := node.owner()) is not None:
            _add_view(cast(HasViews, source), reference)
    for step in node.view or ():
        if step.owner is not None and (source := step.owner()) is not None:
            _add_view(cast(HasViews, source), reference)


def _add_view(source: HasViews, reference: ref[HasViews]) -> None:
    views = source.views
    if views is None:
        views = source.views = []
    views.append(reference)
    count = len(views)
    if count >= _FEW_VIEWS and count & (count - 1) == 0:
        views[:] = [view for view in views if view() is not None]


def owner(view: View) -> object:
    """The tensor whose cells a view shows."""
    last = view[-1].owner
    assert last is not None
    return last()


def mark_view(node: Node) -> None:
    """Make a PAD count as a view: its caller cuts the padding off."""
    if isinstance(node.prototype, tg.PadOp) and node.operands:  # No PAD is made for no padding.
        node.view = (_step(node), *view_of(node.operands[0]))


def shown(view: View, base: Node) -> list[Node]:
    """The result of each op of a view, applied to a value of its tensor, which comes first."""
    nodes = [base]
    for step in reversed(view):
        prototype = _placed_prototype(step.prototype, nodes[-1])
        nodes.append(made(prototype, (nodes[-1], *step.sizes), step.extents))
        if isinstance(step.prototype, tg.PadOp):
            mark_view(nodes[-1])
    return nodes


def _placed_prototype(prototype: tg.TgOp, source: Node) -> tg.TgOp:
    """The prototype of an op on a source that names other devices than its own does."""
    first, *rest = prototype.operands
    if first.type == source.type:
        return prototype
    return interned(prototype.rebuild(Block(arg_types=[source.type, *(o.type for o in rest)]).args))


def written(step: Step, source: Node, new: Node) -> Node:
    """The inverse of an op of a view: a value like `source` from which the op makes `new`.

    Raises RuntimeError if the result shows a cell of the source several times.
    """
    op = step.prototype
    match op:
        case tg.DetachOp():
            return new
        case tg.BitcastOp():
            return apply(tg.BitcastOp, new, source.tensor_type.element_type)
        case tg.ReshapeOp():
            return apply(tg.ReshapeOp, new, source.shape)
        case tg.PermuteOp():
            return apply(tg.PermuteOp, new, tuple(np.argsort(op.order.get_values()).tolist()))
        case tg.FlipOp():
            return apply(tg.FlipOp, new, tuple(bool(flag) for flag in op.flags.get_values()))
        case tg.PadOp():
            return apply(tg.ShrinkOp, new, _offsets(op, step.sizes), source.shape)
        case tg.ShrinkOp():
            offsets, bool_ = _offsets(op, step.sizes), dtypes.bool_
            mask = apply(tg.ReshapeOp, constant(True, bool_), (1,) * len(new.shape))
            mask = _placed(apply(tg.ExpandOp, mask, new.shape), offsets, source.shape)
            return apply(tg.WhereOp, mask, _placed(new, offsets, source.shape), source)
        case _:
            raise RuntimeError(
                f"a write to an expanded tensor of shape {new.shape}, which shows one cell of "
                f"shape {source.shape} several times: .clone() has cells of its own"
            )


def shared_cells(node: Node) -> Array | None:
    """The memory of an array of the host that a node shows by SHRINKs and RESHAPEs, if its cells
    are contiguous there; else None, also if the view is not inside of the array."""
    steps: list[Node] = []
    while isinstance(node.prototype, tg.ShrinkOp | tg.ReshapeOp) and node.data is None:
        steps.append(node)
        node = next(iter(node.operands))
    array = node.data
    if not steps or not isinstance(array, np.ndarray):
        return None
    for step in reversed(steps):
        shape = tuple(map(value_of, step.shape))
        if isinstance(op := step.prototype, tg.ShrinkOp):
            starts = tuple(map(value_of, _offsets(op, step.operands[1:])))
            stops = [start + extent for start, extent in zip(starts, shape, strict=True)]
            if min(starts, default=0) < 0 or any(map(operator.gt, stops, array.shape)):
                return None
            array = array[tuple(map(slice, starts, stops))]
            if not array.flags.c_contiguous:
                return None
        array = array.reshape(shape)
    return array


def _step(node: Node) -> Step:
    assert node.prototype is not None
    source = next(iter(node.operands))
    return Step(node.prototype, node.operands[1:], node.extents, source.owner)


def _offsets(op: tg.WindowOp, sizes: Sequence[Node]) -> tuple[Dim, ...]:
    """The offsets of an op's window; the dynamic ones are the first of its sizes."""
    symbolic = (cast(Dim, node.size) for node in sizes)
    return tuple(
        next(symbolic) if offset == DYNAMIC_INDEX else int(offset)
        for offset in op.offsets.get_values()
    )


def _placed(node: Node, offsets: tuple[Dim, ...], shape: Shape | tuple[int, ...]) -> Node:
    """Cells at an offset in a larger shape of zeros."""
    element_type = node.tensor_type.element_type
    zero = 0.0 if node.dtype.is_float else 0
    return apply(tg.PadOp, node, offsets, tuple(shape), tg.number_attribute(zero, element_type))
