"""Vectors of indices: how they are computed, and which vectors of memory have what they name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeGuard

from xdsl.ir import Operation, SSAValue

from tgdialect.ops.elementwise import AddOp
from tgdialect.ops.folding import constant_attribute
from tgdialect.ops.movement import IndexOp, StackOp
from tgdialect.ops.properties import integers, is_memory, number, tensor
from tgdialect.ops.source import VConstOp


class LaneIndices(NamedTuple):
    """Indices, one for each lane: a sum of scalars, and a number for each."""

    terms: tuple[SSAValue, ...]
    numbers: tuple[int, ...]

    @property
    def is_ramp(self) -> bool:
        """Whether each is one more than the one before."""
        first = self.numbers[0]
        return self.numbers == tuple(range(first, first + len(self.numbers)))


def lane_indices(index: SSAValue) -> LaneIndices | None:
    """What the indices in a vector are, of a VCONST, or a STACK of constants, to which scalars may
    have been added; None of others."""
    op = index.owner
    if isinstance(op, VConstOp):
        return LaneIndices((), integers(op, "values"))
    if isinstance(op, AddOp):
        for vector, scalar in (op.operands, reversed(op.operands)):
            if tensor(scalar).get_shape() or (found := lane_indices(vector)) is None:
                continue
            if (attribute := constant_attribute(scalar)) is None:
                return found._replace(terms=(*found.terms, scalar))
            more = int(number(attribute))
            return found._replace(numbers=tuple(n + more for n in found.numbers))
    if not isinstance(op, StackOp) or tensor(op.sources[0]).get_shape():
        return None
    attributes = [constant_attribute(source) for source in op.sources]
    numbers = tuple(int(number(a)) for a in attributes if a is not None)
    return LaneIndices((), numbers) if len(numbers) == len(attributes) else None


def only_locates(op: Operation) -> bool:
    """Whether an op computes the indices of lanes that nothing but INDEXes of memory use."""
    if not isinstance(op, VConstOp) and not (isinstance(op, AddOp) and lane_indices(op.result)):
        return False
    return all(
        only_locates(use.operation)
        if isinstance(use.operation, AddOp)
        else isinstance(use.operation, IndexOp) and is_memory(use.operation.source)
        for use in op.result.uses
    )


def is_near(step: int | None, lanes: int) -> TypeGuard[int]:
    """Whether elements that are so far apart are picked out of vectors that have all of them."""
    return step is not None and 2 * abs(step) <= lanes


def covering(offsets: Sequence[int]) -> Sequence[int]:
    """Where vectors of as many elements begin that have the elements at all of these offsets and
    none beyond; none if it takes more of them than is worth while (`is_near`, of a ramp)."""
    lanes, beyond = len(offsets), max(offsets) + 1
    starts: list[int] = []
    for offset in sorted(offsets):
        if not starts or offset >= starts[-1] + lanes:
            starts.append(min(offset, beyond - lanes))
    is_within = starts[0] >= min(offsets)
    return starts if is_within and 2 * len(starts) <= lanes else ()
