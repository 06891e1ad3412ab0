"""Vectors of indices: how they are computed, and which vectors of memory have what they name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeGuard

from xdsl.ir import Block, Operation, SSAValue

from tgdialect.ops.affine import Affine, Linear
from tgdialect.ops.elementwise import AddOp
from tgdialect.ops.folding import constant_attribute
from tgdialect.ops.movement import ExpandOp, IndexOp, ReshapeOp, StackOp
from tgdialect.ops.properties import integers, is_memory, number, tensor
from tgdialect.ops.source import VConstOp


class LaneIndices(NamedTuple):
    """Indices, one for each lane: a sum of scalars that all share, and a number for each."""

    scalars: Linear
    """The constant is 0: it is part of the numbers."""
    numbers: tuple[int, ...]

    @property
    def is_ramp(self) -> bool:
        """Whether each is one more than the one before."""
        first = self.numbers[0]
        return self.numbers == tuple(range(first, first + len(self.numbers)))


def lane_indices(index: SSAValue) -> LaneIndices | None:
    """What the indices in a vector are, of a VCONST, or a STACK of constants, to which scalars may
    have been added, repeated or not; None of others."""
    added: list[SSAValue] = []
    while isinstance(op := index.owner, AddOp):
        left, right = op.operands
        scalars = scalar_of(left), scalar_of(right)
        if (scalars[0] is None) == (scalars[1] is None):
            return None
        index = right if scalars[1] is None else left
        added += [scalar for scalar in scalars if scalar is not None]
    numbers = _lane_constants(op)
    if numbers is None:
        return None
    total: Linear = Affine()
    for scalar in reversed(added):
        attribute = constant_attribute(scalar)
        total += Affine({scalar: 1}) if attribute is None else int(number(attribute))
    return LaneIndices(Affine(total.terms), tuple(n + total.constant for n in numbers))


def scalar_of(value: SSAValue) -> SSAValue | None:
    """The scalar that a value is, or that is in every lane of it; None of others."""
    while tensor(value).get_shape():
        if not isinstance(op := value.owner, ExpandOp | ReshapeOp):
            return None
        value = op.operands[0]
    return None if is_memory(value) else value


def _lane_constants(op: Operation | Block) -> tuple[int, ...] | None:
    """The numbers of a VCONST, or of a STACK of constants; None of others."""
    if isinstance(op, VConstOp):
        return integers(op, "values")
    if not isinstance(op, StackOp) or tensor(op.sources[0]).get_shape():
        return None
    attributes = [constant_attribute(source) for source in op.sources]
    numbers = tuple(int(number(a)) for a in attributes if a is not None)
    return numbers if len(numbers) == len(attributes) else None


def only_locates(op: Operation) -> bool:
    """Whether an op computes the indices of lanes that nothing but INDEXes of memory use."""
    if not isinstance(op, VConstOp) and not (isinstance(op, AddOp) and lane_indices(op.result)):
        return False
    sums: set[Operation] = {op}
    stack: list[Operation] = [op]
    while stack:
        for use in stack.pop().results[0].uses:
            user = use.operation
            if isinstance(user, AddOp):
                if user not in sums:
                    if lane_indices(user.result) is None:
                        return False
                    sums.add(user)
                    stack.append(user)
            elif not isinstance(user, IndexOp) or not is_memory(user.source):
                return False
    return True


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
