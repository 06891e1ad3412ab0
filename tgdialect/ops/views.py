"""The cells of memory that a view shows, and that a STORE to it writes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Operation, SSAValue

from tgdialect.ops.base import TgOp
from tgdialect.ops.movement import MovementOp, ShrinkOp
from tgdialect.ops.ordering import AfterOp
from tgdialect.ops.properties import integers, is_memory, polynomial, tensor, window
from tgdialect.ops.source import BufferOp, ParamOp
from tgdialect.ops.walk import behind, through


def memory_of(location: SSAValue) -> SSAValue:
    """The buffer, parameter or argument that a location or view belongs to."""
    return behind(location, MovementOp, AfterOp)


def is_storage(value: SSAValue) -> bool:
    """Whether a value is a buffer, a parameter or an argument that is memory, in any version."""
    if not is_memory(value):
        return False
    owner = behind(value, AfterOp).owner
    # The operands of a BUFFER or a PARAM are its dynamic extents.
    is_view = isinstance(owner, TgOp) and owner.operands
    return not is_view or isinstance(owner, BufferOp | ParamOp)


def movements(location: SSAValue) -> Iterator[MovementOp]:
    """The movements between a location and its memory, in any version; the last comes first."""
    views = through(location, MovementOp, AfterOp)
    return (view for view in views if isinstance(view, MovementOp))


def versions(location: SSAValue) -> Iterator[AfterOp]:
    """The AFTERs between a location and its memory, the last first."""
    return (view for view in through(location, MovementOp, AfterOp) if isinstance(view, AfterOp))


def views_of(argument: SSAValue) -> tuple[SSAValue, Sequence[MovementOp]]:
    """The buffer or argument that memory is a view of, and the movements from there on."""
    return memory_of(argument), [*movements(argument)][::-1]


def are_disjoint(a: SSAValue, b: SSAValue) -> bool:
    """Whether two views of one memory are known to show different cells of it.

    They are windows, as rows of a stack, whose offsets along an axis differ by the extent of a
    window at least; or windows of one cell, whose offsets have a difference that is no multiple of
    the greatest common divisor of its factors, as n and 1 - n have: the GCD test of Banerjee,
    "Dependence Analysis for Supercomputing" (1988).
    """
    first, second = _window(a), _window(b)
    if first is None or second is None:
        return False
    pairs = (zip(*window(op), strict=True) for op in (first, second))
    for (low, extent), (high, other) in zip(*pairs, strict=True):
        if not (isinstance(extent, int) and isinstance(other, int)):
            continue
        distance = polynomial(high) - polynomial(low)
        if not distance.terms:
            if distance.constant >= extent or -distance.constant >= other:
                return True
        elif extent == other == 1 and distance.constant % distance.divisor:
            return True
    return False


def _window(view: SSAValue) -> ShrinkOp | None:
    """The SHRINK of whole memory that a view is within."""
    first = [*movements(view)][-1:]
    return first[0] if first and isinstance(first[0], ShrinkOp) else None


def is_repeated(location: SSAValue) -> bool:
    """Whether a view may show a cell of memory more than once, because of an EXPAND."""
    views = [*movements(location)]
    repeated: set[int] = set()
    if any(view.name == "tg.expand" for view in views):
        for view in reversed(views):
            repeated = _repeated_axes(view, repeated)
    return bool(repeated) and 0 not in tensor(location).get_shape()


def _repeated_axes(view: Operation, repeated: set[int]) -> set[int]:
    """The axes of a view along which cells repeat, given those of its source."""
    new = tensor(view.results[0]).get_shape()
    old = tensor(view.operands[0]).get_shape()
    match view.name:
        case "tg.expand":
            repeated = repeated | {axis for axis in range(len(new)) if old[axis] != new[axis]}
        case "tg.permute":
            repeated = {integers(view, "order").index(axis) for axis in repeated}
        case "tg.index":
            repeated = _indexed(view, repeated)
        case "tg.reshape" if repeated:
            # Conservative: any axis of the result may be one of the repeated ones.
            repeated = set(range(len(new)))
        case _:
            pass
    return {axis for axis in repeated if new[axis] != 1}


def _indexed(view: Operation, repeated: set[int]) -> set[int]:
    """The repeated axes after INDEX: an index of shape () drops its axis, one of shape (k,) keeps
    it."""
    result: set[int] = set()
    position = 0
    for axis in range(len(tensor(view.operands[0]).shape)):
        is_index = axis < len(view.operands) - 1
        if is_index and not tensor(view.operands[axis + 1]).shape.data:
            continue
        if axis in repeated:
            result.add(position)
        position += 1
    return result
