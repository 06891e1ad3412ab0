"""Vectors of indices: their affine form, and the contiguous vectors of memory that cover them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, TypeGuard

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Block, Operation, SSAValue

from tgdialect.ops import tg
from tgdialect.ops.affine import Linear
from tgdialect.ops.folding import constant_attribute


class LaneIndices(NamedTuple):
    """One index for each lane: a sum of scalars that all lanes share, plus a constant per lane."""

    scalars: Linear
    """The shared sum. Its constant is 0, because `numbers` includes it."""
    numbers: Sequence[int]
    """The constant of each lane: a `range` where all are equally far apart."""

    @property
    def is_ramp(self) -> bool:
        """Whether each index is one more than the index in the lane before."""
        return is_ramp(self.numbers)


def is_ramp(numbers: Sequence[int]) -> bool:
    """Whether each number is one more than the one before it."""
    return isinstance(numbers, range) and (numbers.step == 1 or len(numbers) == 1)


def compact(numbers: Sequence[int] | NDArray[np.int64]) -> Sequence[int]:
    """Numbers as a `range` where all are equally far apart, and otherwise as a tuple. A matrix in
    memory has thousands of lanes: nothing should look at each of them in turn."""
    array = np.asarray(numbers, np.int64)
    if array.size == 1:
        return range(first := int(array[0]), first + 1)
    steps = np.diff(array)
    if array.size and (step := int(steps[0])) and (steps == step).all():
        return range(first := int(array[0]), first + step * array.size, step)
    return tuple(array.tolist())


def shifted(numbers: Sequence[int], distance: int) -> Sequence[int]:
    """Numbers with another one added to each."""
    if isinstance(numbers, range):
        return range(numbers.start + distance, numbers.stop + distance, numbers.step)
    return tuple(number + distance for number in numbers)


def lane_indices(index: SSAValue) -> LaneIndices | None:
    """The affine form of a vector of indices: a VCONST or a STACK of constants, to which scalars
    (or scalars broadcast to vectors) may have been added. None for other vectors."""
    # Peel off the scalars that are added.
    added: list[SSAValue] = []
    while isinstance(op := index.owner, tg.AddOp):
        left, right = op.operands
        scalars = scalar_of(left), scalar_of(right)
        if (scalars[0] is None) == (scalars[1] is None):
            return None
        index = right if scalars[1] is None else left
        added += [scalar for scalar in scalars if scalar is not None]
    numbers = _lane_constants(op)
    if numbers is None:
        return None
    # Sum them up; constants go to the lanes.
    total: Linear = tg.Affine()
    for scalar in reversed(added):
        attribute = constant_attribute(scalar)
        total += tg.Affine({scalar: 1}) if attribute is None else int(tg.number(attribute))
    return LaneIndices(tg.Affine(total.terms), shifted(numbers, total.constant))


def scalar_of(value: SSAValue) -> SSAValue | None:
    """The scalar that a value is or is broadcast from; None for other values and for memory."""
    while tg.tensor(value).get_shape():
        if not isinstance(op := value.owner, tg.ExpandOp | tg.ReshapeOp):
            return None
        value = op.operands[0]
    return None if tg.is_memory(value) else value


def _lane_constants(op: Operation | Block) -> Sequence[int] | None:
    """The lanes of a VCONST or of a STACK of constants; None for other ops."""
    if isinstance(op, tg.VConstOp):
        return _lanes_of(op.values.data.data)
    if not isinstance(op, tg.StackOp) or tg.tensor(op.sources[0]).get_shape():
        return None
    attributes = [constant_attribute(source) for source in op.sources]
    numbers = [int(tg.number(a)) for a in attributes if a is not None]
    return compact(numbers) if len(numbers) == len(attributes) else None


@lru_cache
def _lanes_of(data: bytes) -> Sequence[int]:
    """The lanes of a VCONST, cached: each analysis asks for them, and many VCONSTs are equal."""
    return compact(np.frombuffer(data, "<i8"))


def only_locates(op: Operation) -> bool:
    """Whether an op computes lane indices whose only users, through further ADDs, are INDEXes of
    memory."""
    if not isinstance(op, tg.VConstOp) and not (
        isinstance(op, tg.AddOp) and lane_indices(op.result)
    ):
        return False
    walk: tg.Walk[Operation] = tg.Walk([op])
    for each in walk:
        for use in each.results[0].uses:
            user = use.operation
            if isinstance(user, tg.AddOp) and (user in walk.seen or lane_indices(user.result)):
                walk.add([user])
            elif not isinstance(user, tg.IndexOp) or not tg.is_memory(user.source):
                return False
    return True


def is_near(step: int | None, lanes: int) -> TypeGuard[int]:
    """Whether `lanes` elements `step` apart are loaded by contiguous vectors and shuffles, instead
    of one by one: a vector must contain two of them or more."""
    return step is not None and 2 * abs(step) <= lanes


def covering(offsets: Sequence[int]) -> Sequence[int]:
    """The first offsets of contiguous vectors that cover all of `offsets` and nothing outside their
    range. A vector has as many elements as there are offsets.

    Empty if the vectors would read before the least offset, or if there would be more than half as
    many vectors as offsets (for a ramp, `is_near`).
    """
    lanes, beyond = len(offsets), max(offsets) + 1
    starts: list[int] = []
    for offset in sorted(offsets):
        if not starts or offset >= starts[-1] + lanes:
            starts.append(min(offset, beyond - lanes))
    is_within = starts[0] >= min(offsets)
    return starts if is_within and 2 * len(starts) <= lanes else ()
